# SPDX-License-Identifier: BSD-3-Clause
"""A daemon of the other byte order in the virtual machine: Debian's PVM for s390x, under qemu's user mode."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vaiven import resources
from vaiven.lab import topology
from vaiven.run import place
from vaiven.run.place import Place

pytestmark = pytest.mark.slow
LAB = """
name = "unlike"
[fabric]
kind = "switch"
class = "free"
[[hosts]]
name = "m1"
[[hosts]]
name = "m2"
byte_order = "big"
[[hosts]]
name = "m3"
"""


@pytest.fixture(scope="module")
def unlike(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 and m3, which are as this machine is, and m2, which is big-endian."""
    resources.program("vaiven-pvmd-s390x")  # else: tools/foreign-pvm s390x
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAIVEN_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        with place.in_lab(topology.parse(LAB), ()) as found:
            yield found


@pytest.mark.parametrize("route", ["default", "direct"])
@pytest.mark.parametrize(("encoding", "translates"), [("xdr", False), ("trans", True)])
def test_numbers_arrive_as_numbers(launched, unlike, route: str, encoding: str, translates: bool) -> None:
    """The far end checks what it got by its own representation, the near end what came back."""
    sizes = (0, 1, 8, 801, 100_000)
    outcome = launched(unlike, f"pvm-{route}-{encoding}", *sizes, ask="steps", timeout_ms=60_000)
    assert outcome.failure is None, outcome.failure
    assert (outcome.hello["near"]["byte_order"], outcome.hello["far"]["byte_order"]) == ("little", "big")
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [cell.size_bytes for cell in whole] == list(sizes)
    assert all(cell.corrupt == cell.lost == 0 for cell in whole)
    assert whole[-1].out_bytes >= 100_000  # packed: PVM takes nothing from where it lies to such a host
    translate_ns = next(cell.ns for cell in outcome.cells if cell.part == "translate" and cell.size_bytes == 100_000)
    assert (min(translate_ns) > 0) == translates
    assert [cell.translations for cell in whole] == [0, 0, *[1 if translates else 2] * 3]  # below 8 bytes no number


@pytest.mark.parametrize("route", ["default", "direct"])
@pytest.mark.parametrize("encoding", ["xdr", "trans"])
@pytest.mark.parametrize("call", ["mcast", "bcast"])
def test_a_message_for_all_arrives_as_numbers_at_like_and_unlike_hosts(launched, unlike, call, encoding, route) -> None:
    sizes = (1, 8, 801, 100_000)
    """Whichever of them joins a group first, and has its server started: PVM chooses where."""
    stack, to = f"pvm-{call}-{route}-{encoding}", ("m3", "m2") if route == "direct" else ("m2", "m3")
    outcome = launched(unlike, stack, *sizes, fanout=1, to=to, timeout_ms=60_000, cell_ms=2000)
    assert outcome.failure is None, outcome.failure
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [cell.size_bytes for cell in whole] == list(sizes)
    assert all(cell.corrupt == cell.lost == 0 and min(cell.ns) > 0 for cell in whole)


@pytest.mark.parametrize("stack", ["pvm-mcast", "pvm-bcast", "pvm-bcast-default-inplace"])
def test_a_message_for_all_without_encoding_is_refused_when_the_ends_meet(launched, unlike, stack: str) -> None:
    """As soon as the ends are joined, not when somebody has waited for a message in vain."""
    outcome = launched(unlike, stack, 8, fanout=1, to=("m3", "m2"), timeout_ms=60_000)
    assert outcome.failure is not None and outcome.failure.code == "pvm-refused" and outcome.cells == ()
    assert "unlike representations" in outcome.failure.what


@pytest.mark.parametrize("mode", ["default-raw", "default-inplace", "direct-raw", "direct-inplace"])
def test_what_has_no_encoding_is_refused(launched, unlike, mode: str) -> None:
    outcome = launched(unlike, f"pvm-{mode}", 8)
    assert outcome.failure is not None and outcome.failure.code == "pvm-refused"
    assert "unlike representations" in outcome.failure.what
