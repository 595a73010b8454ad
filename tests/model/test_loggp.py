# SPDX-License-Identifier: BSD-3-Clause
"""LogGP: known parameters come back from trains that they made."""

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.loggp import Trains, loggp

SIZES = np.array([1, 64, 512, 1448, 8192])
L, O_S, O_R, G_MESSAGE, G_BYTE, K = 20e3, 4e3, 5e3, 9e3, 80.0, 10


def trains(count=12, noise=0.002, gap_factor=3.0, sizes=SIZES, latency=L, send_ns=O_S):
    rng = np.random.default_rng(0)
    single = 2 * (latency + O_S + O_R) + 2 * G_BYTE * (sizes - sizes[0])
    gap = gap_factor * (G_MESSAGE + G_BYTE * sizes)
    parts = (
        single,
        single + (K - 1) * (G_MESSAGE + G_BYTE * sizes),
        single + (K - 1) * (O_S + gap),
    )
    shape = (count, sizes.size)
    single, burst, spaced = (p + noise * single * rng.standard_normal(shape) for p in parts)
    send, receive = (o * np.exp(noise * rng.standard_normal(shape)) for o in (send_ns, O_R))
    return Trains("mpi", sizes, K, single, burst, spaced, np.broadcast_to(gap, shape), send, receive)


def test_all_five_come_back():
    found = loggp(trains(), np.random.default_rng(0))
    for name, truth in (("o_s", O_S), ("o_r", O_R), ("g", G_MESSAGE), ("G", G_BYTE), ("L", L)):
        estimate = getattr(found, name)
        assert estimate.value == pytest.approx(truth, rel=0.05), name
        assert estimate.low <= estimate.value <= estimate.high
    assert found.G.unit == "ns/byte" and found.notes == ()
    np.testing.assert_allclose(found.o_s_ns, O_S, rtol=0.1)
    np.testing.assert_allclose(found.o_s_prtt_ns, O_S, rtol=0.1)
    np.testing.assert_allclose(found.gap_ns, G_MESSAGE + G_BYTE * SIZES, rtol=0.1)


def test_a_gap_that_does_not_empty_the_path_is_noticed():
    found = loggp(trains(gap_factor=0.5), np.random.default_rng(0))
    assert any("gap was too short" in note for note in found.notes)


def test_overheads_above_half_a_round_trip_are_noticed_and_l_refused():
    found = loggp(trains(latency=-3e3), np.random.default_rng(0))
    assert "below zero" in found.L.refused and any("exceed half" in note for note in found.notes)


def test_two_ways_to_the_same_overhead_that_disagree_are_noticed():
    found = loggp(trains(send_ns=O_S / 4), np.random.default_rng(0))
    assert any("disagree about o_s" in note for note in found.notes)


def test_words_and_errors():
    few = loggp(trains(count=4), np.random.default_rng(0))
    assert "too few launches" in few.g.refused and few.L.value is None
    assert "too few sizes" in loggp(trains(sizes=SIZES[:2]), np.random.default_rng(0)).G.refused
    whole = trains()
    with pytest.raises(VaivenError):
        Trains("mpi", SIZES, 1, *(whole.single,) * 6)
    with pytest.raises(VaivenError):
        Trains("mpi", SIZES, K, *(whole.single,) * 5, whole.single * np.nan)
    with pytest.raises(VaivenError):
        Trains("mpi", SIZES[1:], K, *(whole.single,) * 6)
