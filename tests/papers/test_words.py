# SPDX-License-Identifier: BSD-3-Clause
"""The words of claims, on runs in which every time is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy

from vaiven.errors import VaivenError
from vaiven.papers.needs import Needs
from vaiven.papers.words import Reading, spearman, vocabulary

from . import runs

QUIET = runs.World(noise=0.0, resamples=20)


def reading(number: int, **needs: object) -> Reading:
    return Reading(QUIET.candidates[number].measured, Needs(**needs))


@pytest.fixture(scope="module")
def cetad() -> dict[str, Any]:
    return reading(0, sizes=(8, 60_000, 10**6)).words()


def test_times_are_one_way(cetad: dict[str, Any]) -> None:
    seconds = runs.four_ways("icmp", 1000, "sofia")
    assert cetad["t"]("icmp", 1000, "sofia") == pytest.approx(np.full(21, seconds))  # every resample says the same
    assert cetad["alpha"]("icmp", "sofia")[0] == pytest.approx(runs.four_ways("icmp", 8, "sofia"))
    assert cetad["bw"]("icmp", 1000, "sofia")[0] == pytest.approx(1000 / seconds)
    long = 10**7 / runs.four_ways("pvm-default-xdr", 10**7, "paris")
    assert cetad["bwmax"]("pvm-default-xdr", "paris")[0] == pytest.approx(long)
    with pytest.raises(VaivenError, match="to sofia, 1000000 bytes: not measured"):
        cetad["bwmax"]("icmp", "sofia")  # the largest size that the claim names is not there


def test_steps_of_the_processor(cetad: dict[str, Any]) -> None:
    cell = "pvm-direct-xdr", 60_000, "sofia"
    assert cetad["encode"](*cell)[0] == cetad["decode"](*cell)[0] == pytest.approx(60e-6)
    assert cetad["translate"](*cell) == pytest.approx(np.zeros(21))
    assert cetad["coding"](*cell)[0] == pytest.approx(120e-6)
    assert cetad["held"](*cell) == 60_016 and cetad["held"]("pvm-direct-inplace", 8, "sofia") == 0


def test_hosts_by_what_they_are(cetad: dict[str, Any]) -> None:
    assert set(cetad["HOSTS"]) == set(runs.START) and set(cetad["SAME_REP"]) == set(runs.LIKE)
    assert set(cetad["OTHER_REP"]) == {"paris", "sofia", "cetad", "prited"}
    assert set(cetad["DEFECT_HOSTS"]) == set(runs.DEFECT) and len(cetad["OK_HOSTS"]) == 7
    assert set(cetad["SMALL_MEM_HOSTS"]) == set(runs.SMALL)
    assert cetad["LINK"] == 1.25e6 and cetad["MiB"] == 2**20 and cetad["NEXT_SIZES"] == ((8, 60_000), (60_000, 10**6))
    assert cetad["slowness"]("tilcara") == pytest.approx(130e-6) and cetad["slowness"]("purmamarca") == 0


def test_of_several_connections_and_processes_at_once() -> None:
    streams = reading(12, stacks=("openmpi",)).words()["streams"]
    assert streams("openmpi", 20_000, 4)[0] == pytest.approx(80_000 / runs.over_mpi(80_000))
    over_tcp = reading(15, question="partners").words()["over_tcp"]
    assert over_tcp(1472, 8) == pytest.approx(np.full(21, runs.OVER_TCP_AMONG[1472]))
    with pytest.raises(VaivenError, match="among 6 processes, 64 bytes: not measured"):
        over_tcp(64, 6)
    between = reading(14).words()
    assert between["over_tcp"](1500, "alicante2") == pytest.approx(np.full(21, runs.OVER_TCP[1500]))
    assert between["t"]("openmpi-llc", 1500, "alicante2")[0] == pytest.approx(runs.OVER_TCP[1500] * runs.over_mpi(1500))
    with pytest.raises(VaivenError, match="from alicante1 to alicante2, 1501 bytes: not measured"):
        between["over_tcp"](1501, "alicante2")


def test_a_program_is_told_by_its_processes() -> None:
    words = reading(16, question="fft", stacks=("openmpi", "openmpi-llc"), sizes=(runs.FFT_BYTES,)).words()
    assert words["AT_ONCE"] == (2, 4, 8, 16)
    for processes, seconds in runs.FFT_S.items():
        assert words["fft"]("openmpi", processes) == pytest.approx(np.full(21, seconds))  # not the slowest
        assert words["fft_over_tcp"](processes)[0] == pytest.approx(runs.FFT_OVER_TCP[processes])
        assert words["fft_deviation"]("openmpi", processes)[0] == pytest.approx(0.04)
    with pytest.raises(VaivenError, match=r"fft of 6 processes over openmpi, 8388608 bytes: not measured"):
        words["fft"]("openmpi", 6)
    product = reading(17, question="matmul", stacks=("pvm-direct-raw",)).words()
    share = product["communicating"]("pvm-direct-raw", 2**23, 4) / product["matmul"]("pvm-direct-raw", 2**23, 4)
    assert share[0] == pytest.approx(0.6) and product["AT_ONCE"] == (2, 4, 8)


def test_welch_judges_the_means_of_launches() -> None:
    noisy = runs.World(noise=0.01, resamples=20)
    welch_p = Reading(noisy.candidates[14].measured, Needs()).words()["welch_p"]
    means = {
        stack: [row["ns_mean"] for cell, blocks in noisy.candidates[14].measured.cells.items()
                for row in blocks.values() if (cell.stack, cell.size_bytes) == (stack, 512)]
        for stack in ("openmpi", "openmpi-llc")
    }  # fmt: skip
    wanted = scipy.stats.ttest_ind(*(np.log(one) for one in means.values()), equal_var=False).pvalue
    found = welch_p("openmpi", "openmpi-llc", 512, "alicante2")
    assert found.shape == (21,) and found[0] == pytest.approx(wanted)


def test_every_machine_is_each_that_is_named() -> None:
    assert reading(0, hosts=("prited",)).words()["HOSTS"] == ("prited",)
    d = reading(10, hosts=("axp", "k6ii")).words()
    assert d["CLASSES"] == ("axp", "k6ii") and d["PAIRS"] == (("axp", "axp"), ("axp", "k6ii"), ("k6ii", "k6ii"))


def test_one_message_that_was_held_up_changes_no_time_per_byte() -> None:
    """Of a hundred messages one that takes 10 ms triples the mean of a short one."""
    run = QUIET.run(runs.manifest("alicante"), runs.b_tau(True))
    for cell, blocks in run.measured.cells.items():
        for row in blocks.values():
            row["ns_mean"] *= 3 if cell.size_bytes == 1 else 1
    found = Reading(run.measured, Needs()).words()["tau"]("openmpi", 256, "alicante2")
    assert found == pytest.approx(np.full(21, (runs.over_mpi(256) - runs.over_mpi(1)) / 255))


def test_broadcasts() -> None:
    words = reading(2, stacks=("group", "pvm-mcast"), sizes=(8, 10**6)).words()
    assert words["R"] == tuple(range(1, 10)) and words["NEXT_R"][0] == (1, 2)
    assert words["tb"]("group", 8, 9)[0] == pytest.approx(0.0016 + 0.0009 + 8 / 1.19e6)
    assert words["bwb"]("group", 10**6, 9)[0] == pytest.approx(1e6 / (0.0025 + 1e6 / 1.19e6))
    alone = 0.0016 * 2.2**0.8 + 0.0001
    assert words["to_one"]("group", 8, "prited")[0] == pytest.approx(alone + 8 / 1.19e6)
    assert words["rate_to_one"]("group", "prited")[0] == pytest.approx(1e6 / (alone + 1e6 / 1.19e6))
    assert words["crossed"]("group", 5)[0] == pytest.approx(1.05)


def test_several_at_once() -> None:
    exchange = reading(5, stacks=("tcp",)).words()
    assert exchange["AT_ONCE"] == (2, 3, 4, 5, 6)
    assert exchange["exchange"]("tcp", 10**5, 4)[0] == pytest.approx(12e5 / (0.95 * 1.25e6))
    pairs = reading(6).words()["beside"]("tcp", 10**6)
    assert len(pairs) == 4 and pairs[3][0] == pytest.approx(1e6 / (0.94 * 12.5e6))
    d = reading(10).words()
    assert d["at_once"]("openmpi", 4, "p2mmx", "axp", 2)[0] == pytest.approx(
        1.7 * d["at_once"]("openmpi", 4, "axp", "p2mmx", 1)[0]
    )


def test_lines_and_points() -> None:
    c = reading(8, sizes=(256, 65_536, 2**20)).words()
    assert c["slope"]("openmpi", "alicante2")[0] == pytest.approx(0.0828e-6, rel=1e-3)
    assert c["intercept"]("openmpi", "alicante2")[0] == pytest.approx(320e-6, rel=1e-2)
    assert c["off"]("openmpi-nagle", "alicante2")[0] == 3 and c["off"]("openmpi", "alicante2")[0] == 0
    b = reading(7).words()
    assert b["tau"]("openmpi", 2**22, "alicante2")[0] == pytest.approx(0.0828e-6, rel=1e-3)
    assert b["sizes"]("openmpi", 2, 2000) == (256, 512, 1024)
    d = reading(10).words()
    line = "openmpi", 0, 100, "axp", "k6ii"
    assert d["rtt"]("openmpi", 4, "axp", "k6ii")[0] == pytest.approx(2 * (110e-6 + 0.64e-6))
    assert d["rtt_slope"](*line)[0] == pytest.approx(0.32e-6) and d["rtt_r2"](*line)[0] == pytest.approx(1)
    assert d["rtt_step"]("openmpi", 100, 3000, "axp", "axp")[0] == 1450


def test_frames_and_how_launches_move() -> None:
    cetad = reading(0).words()
    assert cetad["frames"]("tcp", 10**6) == 685 and cetad["frame_bytes"]("tcp", 10**6) == 10**6 + 78 * 685
    noisy = Reading(runs.World(resamples=20).candidates[9].measured, Needs()).words()
    moves = [noisy["moves"]("openmpi", 64, "alicante2", of)[0] for of in ("minimum", "mean")]
    assert 0 < moves[0] < moves[1] < 0.1


def test_rank_correlation() -> None:
    rising = [np.array([1.0, 4.0]), np.array([2.0, 3.0]), np.array([3.0, 2.0]), np.array([4.0, 1.0])]
    assert spearman([1, 2, 3, 4], rising) == pytest.approx([1, -1])
    assert spearman([1, 1, 2, 2], [1, 2, 3, 4]) == pytest.approx([2 / np.sqrt(5)])
    with pytest.raises(VaivenError, match="four hosts"):
        spearman([1, 2, 3], [1, 2, 3])


def test_the_vocabulary_is_that_of_every_run(cetad: dict[str, Any]) -> None:
    assert vocabulary() == set(cetad)
