# SPDX-License-Identifier: BSD-3-Clause
"""What is written into control groups of either version. The real ones are tried in test_lifecycle.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.lab import cgroups, limits
from vaiven.lab.swap import Area
from vaiven.lab.topology import HostSpec, Swap

SPEC = HostSpec(name="small", memory_mb=32, cpu_share=0.25)


def contents(group: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in group.iterdir()}


def test_version_2_is_one_group_with_both_controllers(tmp_path, monkeypatch) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (tmp_path, 2), "cpu": (tmp_path, 2)})
    joins, warnings = limits.create("owner", SPEC)
    assert warnings == () and joins == (str(tmp_path / "vaiven-owner-small" / "cgroup.procs"),)
    assert contents(tmp_path / "vaiven-owner-small") == {"memory.max": "32000000", "cpu.max": "5000 20000"}
    assert (tmp_path / "cgroup.subtree_control").read_text() == "cpu memory pids\n"


@pytest.mark.parametrize(
    ("version", "slows", "file", "alone", "more", "io"),
    [
        (1, "blkio", "memory.memsw.limit_in_bytes", "32000000", "96000000", None),
        (2, "io", "memory.swap.max", "0", "64000000", "7:3 rbps=2500000 wbps=2500000"),
    ],
)
def test_what_a_host_swaps_is_limited_too_where_the_kernel_counts_it(
    version: int, slows: str, file: str, alone: str, more: str, io: str | None, tmp_path: Path, monkeypatch
) -> None:
    """Nothing, without an area of its lab's: else it would go to that of the machine."""
    small = HostSpec(name="small", memory_mb=32)
    (tmp_path / "cgroup.subtree_control").write_text("memory io\n")
    monkeypatch.setattr(cgroups, "mounted", lambda: dict.fromkeys(("memory", slows), (tmp_path, version)))
    group = tmp_path / "vaiven-owner-small"
    group.mkdir()
    (group / file).write_text("max")
    assert limits.create("owner", small)[1] == () and contents(group)[file] == alone
    area = Area("/dev/loop3", "7:3", Swap(size_mb=64, byte_ns=400))
    assert limits.create("owner", small, area)[1] == () and contents(group)[file] == more
    assert contents(group).get("io.max") == io


def test_version_2_hands_a_controller_down_when_it_must(tmp_path, monkeypatch) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("\n")
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (tmp_path, 2)})
    limits.create("owner", HostSpec(name="small", memory_mb=32))
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory"


def test_version_1_is_a_group_in_each_hierarchy(tmp_path, monkeypatch) -> None:
    roots = {name: (tmp_path / name, 1) for name in ("memory", "cpu")}
    for root, _ in roots.values():
        root.mkdir()
    monkeypatch.setattr(cgroups, "mounted", lambda: roots)
    joins, warnings = limits.create("owner", SPEC)
    assert warnings == ()
    assert joins == tuple(str(root / "vaiven-owner-small" / "cgroup.procs") for root, _ in roots.values())
    assert contents(tmp_path / "memory" / "vaiven-owner-small") == {"memory.limit_in_bytes": "32000000"}
    cpu = {"cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "5000"}
    assert contents(tmp_path / "cpu" / "vaiven-owner-small") == cpu


def test_a_plain_host_has_no_group(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (tmp_path, 1), "cpu": (tmp_path, 1)})
    assert limits.create("owner", HostSpec(name="plain")) == ((), ())
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_mounted_or_not_allowed_is_a_warning(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (tmp_path / "nosuch", 1)})
    joins, warnings = limits.create("owner", SPEC)
    assert joins == ()
    assert warnings == (
        "small: its memory is not limited: No such file or directory",
        "small: its cpu is not limited: no hierarchy with the controller cpu is mounted",
    )


def test_groups_are_removed_by_owner_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (tmp_path, 1), "cpu": (tmp_path, 1)})
    for name in ("vaiven-mine-a", "vaiven-mine-b", "vaiven-other-a", "system"):
        (tmp_path / name).mkdir()
    limits.remove("mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["system", "vaiven-other-a"]


def test_a_group_that_stays_busy_is_an_error(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cgroups, "mounted", lambda: {"memory": (tmp_path, 1)})
    monkeypatch.setattr(limits, "_BUSY_S", 0.05)
    monkeypatch.setattr(limits, "_removed", lambda group: False)
    (tmp_path / "vaiven-mine-a").mkdir()
    with pytest.raises(VaivenError) as caught:
        limits.remove("mine")
    assert caught.value.code == "no-end" and "vaiven-mine-a" in caught.value.what
