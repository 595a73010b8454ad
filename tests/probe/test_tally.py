# SPDX-License-Identifier: BSD-3-Clause
"""The record "traffic": each end counts its own messages, and what one sent the others got."""

from __future__ import annotations

import pytest

LOOPBACK = ("--iface", "lo")
FEW = ("--samples", "12", "--cell-ms", "4000")


def traffic(end) -> dict:
    (record,) = end.of("traffic")
    assert record["interface"] == "lo" and record["resent"] >= 0
    return record


def mirrored(messages: dict) -> dict:
    other = {"tx": "rx", "rx": "tx"}
    return {f"{other[name[:2]]}{name[2:]}": value for name, value in messages.items()}


@pytest.mark.parametrize(
    ("stack", "sizes", "header_bytes", "more_bytes"),
    [("udp", (8, 3000), 34, 8), ("tcp", (1, 3000), 66, 0), ("tcp-nagle", (64,), 66, 0)],
)
def test_both_ends_of_a_ping_pong_count_the_same(probe, stack, sizes, header_bytes, more_bytes) -> None:
    near, far = probe.pair(stack, "--sizes", ",".join(map(str, sizes)), *FEW, both=LOOPBACK)
    one, other = traffic(near), traffic(far)
    assert (one["end"], other["end"]) == ("near", "far")
    assert one["address"] == other["address"] == "127.0.0.1"
    assert one["header_bytes"] == other["header_bytes"] == header_bytes
    messages = one["messages"]
    assert other["messages"] == mirrored(messages) == messages
    timed = sum(len(cell["rtt_ns"]) * cell["batch"] + cell["warmup"] for cell in near.cells)
    assert messages["tx_messages"] >= timed
    assert messages["tx_bytes"] >= messages["tx_messages"] * (min(sizes) + more_bytes)
    assert messages["tx_frames"] >= messages["tx_messages"]
    assert one["seen"]["tx_bytes"] > 2 * messages["tx_bytes"]  # loopback: both ways
    assert one["printed_bytes"] > 100 and other["printed_bytes"] == 0  # the cells


@pytest.mark.native
def test_the_control_connection_is_counted_by_both_ends(probe) -> None:
    near, far = probe.pair("tcp", "--sizes", "64", *FEW, both=LOOPBACK)
    one, other = traffic(near), traffic(far)
    assert min(*one["control"].values(), *other["control"].values()) > 0
    assert one["seen"]["tx_bytes"] > 2 * one["messages"]["tx_bytes"] + one["control"]["tx_bytes"]


def test_a_train_is_answered_once(probe) -> None:
    near, far = probe.pair("udp", "--ask", "prtt", "--sizes", "64", "--train", "9", *FEW, both=LOOPBACK)
    messages = traffic(near)["messages"]
    assert traffic(far)["messages"] == mirrored(messages)
    trains = sum(len(cell["rtt_ns"]) for cell in near.cells if cell["part"] in ("burst", "spaced"))
    assert messages["tx_messages"] >= messages["rx_messages"] + 8 * trains > 8 * trains > 0


@pytest.mark.parametrize("ask", ["fanout", "stream"])
def test_what_the_near_end_sends_the_far_ends_get(ask_many, ask: str) -> None:
    near, fars = ask_many(ask, "tcp", 2, both=LOOPBACK, sizes=(100,))
    sent = traffic(near)["messages"]
    got = [traffic(far)["messages"] for far in fars]
    assert sum(one["rx_messages"] for one in got) == sent["tx_messages"] > 0
    assert sum(one["tx_messages"] for one in got) == sent["rx_messages"] == 0


@pytest.mark.parametrize("ask", ["exchange", "bisection"])
def test_where_all_send_at_once_each_end_gets_as_much_as_it_sends(ask_many, ask: str) -> None:
    near, fars = ask_many(ask, "tcp", 3, both=LOOPBACK, sizes=(100,))
    sent, *others = (traffic(end)["messages"] for end in (near, *fars))
    assert [one["rx_messages"] for one in others] == [sent["tx_messages"]] * 3 == [sent["rx_messages"]] * 3
    rounds = sum(len(cell["last_ns"]) + cell["warmup"] + cell["late"] for cell in near.cells)
    assert sent["tx_messages"] >= rounds * (3 if ask == "exchange" else 1)


@pytest.mark.parametrize("ask", ["pingpongs", "partners"])
def test_each_end_of_a_pair_counts_what_its_partner_does(ask_many, ask: str) -> None:
    near, fars = ask_many(ask, "tcp", 3, both=LOOPBACK, sizes=(100,))
    ends = [traffic(end)["messages"] for end in (near, *fars)]
    for asks, answers in ((0, 1), (2, 3)):
        assert ends[answers] == mirrored(ends[asks]) and ends[asks]["tx_messages"] > 0


def test_where_not_all_is_counted_nothing_is_said_of_messages(probe) -> None:
    near, far = probe.pair("tcp", "--ask", "connect", *FEW, both=LOOPBACK)
    assert traffic(near)["messages"] is None and traffic(far)["messages"] is None


def test_without_an_interface_there_is_no_record(probe) -> None:
    near, far = probe.pair("tcp", "--sizes", "8", *FEW)
    assert near.of("traffic") == far.of("traffic") == []
