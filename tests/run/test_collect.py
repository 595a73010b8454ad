# SPDX-License-Identifier: BSD-3-Clause
"""Records are read as ARCHITECTURE.md states them; what is no record is an error, never a guess."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.questions import ALL
from vaiven.run.collect import Story, cells, decode, stacks, untangled

CELL = {
    "type": "cell", "ask": "pingpong", "size_bytes": 64, "batch": 2, "rtt_ns": [28100, 27950], "lost": 1, "late": 3,
    "warmup": 128, "warm": True, "corrupt": 4, "cpu_near_ns": 9100, "cpu_far_ns": None,
    "wire": {"frames": 1, "bytes": 142, "ns": 11360}, "unknown": {"is": "ignored"},
}  # fmt: skip


def test_a_cell_keeps_every_number() -> None:
    (found,) = cells(CELL, 1.5)
    assert found.ns == [28100, 27950, None]
    assert (found.size_bytes, found.batch, found.lost, found.late, found.corrupt, found.warmup) == (64, 2, 1, 3, 4, 128)
    assert (found.cpu_near_ns, found.cpu_far_ns, found.started_s, found.warm) == (9100, None, 1.5, True)
    assert (found.wire_frames, found.wire_bytes, found.wire_ns) == (1, 142, 11360)


def test_the_times_of_each_question() -> None:
    connect = {key: value for key, value in CELL.items() if key not in ("rtt_ns", "wire")}
    assert cells(connect | {"ask": "connect", "connect_ns": [5], "lost": 0, "wire": None}, 0)[0].ns == [5]
    oneway = connect | {"ask": "oneway", "train": 50, "first_ns": [1], "last_ns": [9], "batch": 1, "lost": 0}
    assert (cells(oneway, 0)[0].ns, cells(oneway, 0)[0].batch) == ([9], 50)
    refused = oneway | {"first_ns": [None], "last_ns": [None], "clock": {"kind": "refused", "error_ns": 7, "ends": []}}
    whole = cells(refused, 0)[0]
    assert (whole.ns, whole.clock, whole.clock_error_ns) == ([None], "refused", 7)


@pytest.mark.parametrize(
    ("part", "times"),
    [("one", "rtt_ns"), ("burst", "rtt_ns"), ("spaced", "rtt_ns"), ("send", "send_ns"), ("receive", "receive_ns")],
)
def test_every_part_of_a_prtt_has_its_times(part: str, times: str) -> None:
    bare = {key: value for key, value in CELL.items() if key not in ("rtt_ns", "batch")}
    train = bare | {"ask": "prtt", "part": part, "train": 10, "gap_ns": 900, times: [7, 8]}
    (found,) = cells(train, 0)
    assert (found.ns, found.batch, found.part, found.gap_ns) == ([7, 8, None], 10, part, 900)
    assert found.whole is (part == "one")
    with pytest.raises(VaivenError, match="without times"):
        cells(train | {"part": "other"}, 0)


FIRST = {
    "type": "cell", "ask": "first", "size_bytes": 4000, "connect_ns": [50, 52], "first_ns": [90, 94],
    "second_ns": [80, 82], "warm_ns": [70, 72], "idled_ns": [85, 87],
    "window_segments": {"connect": [1, 1], "first": [3, 5], "second": [6, 6], "warm": [8, 8], "idled": [1, 1]},
    "threshold_segments": [None, 7], "pause_ns": 9, "lost": 0, "late": 0, "resent": [2], "warmup": 20, "warm": True,
    "corrupt": 0, "cpu_near_ns": None, "cpu_far_ns": None, "wire": {"frames": 3, "bytes": 4200, "ns": 336000},
}  # fmt: skip
SEEN = {"segments": [[100, 1, 1, -1, -1, 0], [105, 0, 1, -1, 0, 0], [110, 1, 0, 0, 0, 1448]], "dropped": 1, "why": None}
TRACE = {
    "type": "trace", "ask": "first", "size_bytes": 4000, "segment_bytes": 1448, "began_ns": [108, 200, 300],
    "near": SEEN, "far": {"segments": [], "dropped": 0, "why": "no permission"},
}  # fmt: skip


def test_the_first_message_is_the_whole_of_a_first_and_what_comes_after_are_parts() -> None:
    whole, *parts = cells(FIRST, 2.5)
    assert (whole.ns, whole.part, whole.window_segments, whole.resent) == ([90, 94], "", 4, 2)
    assert [(one.part, one.ns[0], one.window_segments) for one in parts] == [
        ("connect", 50, 1), ("second", 80, 6), ("warm", 70, 8), ("idled", 85, 1),
    ]  # fmt: skip
    assert [one.threshold_segments for one in parts] == [None, None, None, None]  # of half of them nobody knows it
    assert cells(FIRST | {"threshold_segments": [6, 8]}, 0)[-1].threshold_segments == 7


def test_what_was_seen_of_a_connection_is_kept_segment_by_segment() -> None:
    story = Story()
    assert story.hear(json.dumps(TRACE).encode(), 0.0) is None
    (trace,) = story.traces
    assert (trace.size_bytes, trace.segment_bytes, trace.began_ns, trace.dropped) == (
        4000,
        1448,
        (108, 200, 300),
        (1, 0),
    )
    assert trace.near[0] == (100, True, True, -1, -1, 0) and trace.near[2].data_bytes == 1448 and trace.far == ()


@pytest.mark.parametrize(
    "wrong",
    [{"size_bytes": 0}, {"began_ns": [1]}, {"near": None}, {"near": {"segments": [[1, 2]]}}, {"segment_bytes": "x"}],
)
def test_a_trace_that_is_none_is_refused(wrong: dict) -> None:
    with pytest.raises(VaivenError, match="trace record that is not one"):
        Story().hear(json.dumps(TRACE | wrong).encode(), 0.0)


FANOUT = {
    "type": "cell", "ask": "fanout", "size_bytes": 1000, "batch": 1, "far": ["10.1.0.2", "10.1.0.3"],
    "last_ns": [90, 80], "each_ns": [[70, 80], [90, 60]], "missing": [1, 0], "lost": 1, "resent": [3], "late": 0,
    "clock": {"kind": "bounded", "error_ns": 5}, "warmup": 3, "warm": True, "corrupt": 0,
    "cpu_near_ns": 10, "cpu_far_ns": 20, "wire": {"frames": 2, "bytes": 2000, "ns": 160},
}  # fmt: skip


def test_a_fanout_is_the_time_of_its_last_end_and_a_part_for_each() -> None:
    last, first, second = cells(FANOUT, 2.0)
    assert (last.ns, last.part, last.whole, last.lost) == ([90, 80, None], "", True, 1)
    assert (last.resent, last.clock, last.clock_error_ns, last.wire_ns) == (3, "bounded", 5, 160)
    assert (first.ns, first.part, first.whole, first.wire_bytes) == ([70, 80], "to:1", False, None)
    assert (second.ns, second.part, second.size_bytes) == ([90, 60], "to:2", 1000)
    story = Story()
    assert story.hear(json.dumps(FANOUT).encode(), 2.0) == last
    assert len(story.cells) == 3


def test_sessions_that_a_program_sets_up_stand_beside_the_messages() -> None:
    last, _, _, setup = cells(FANOUT | {"setup_ns": [5000, 6000], "cpu_near_ns": None, "cpu_far_ns": None}, 2.0)
    assert (last.ns, last.cpu_near_ns) == ([90, 80, None], None)
    assert (setup.ns, setup.part, setup.whole) == ([5000, 6000], "setup", False)


def test_ping_pongs_at_once_say_for_which_share_of_their_time_they_were() -> None:
    record = {key: value for key, value in FANOUT.items() if key not in ("last_ns", "clock", "resent", "lost")}
    record |= {"ask": "pingpongs", "rtt_ns": [70, 80, 90, 60], "lost": 0}
    whole, first, second = cells(record | {"began_ns": [100, 120], "ended_ns": [300, 290]}, 0)
    assert (whole.ns, whole.overlap) == ([70, 80, 90, 60], 170 / 200)
    assert (first.part, second.part, first.overlap) == ("to:1", "to:2", None)
    assert cells(record | {"began_ns": [0, 200], "ended_ns": [100, 300]}, 0)[0].overlap == 0


def test_an_overlap_keeps_talk_and_work_beside_both() -> None:
    record = {key: value for key, value in CELL.items() if key != "rtt_ns"} | {"ask": "overlap", "batch": 1, "lost": 0}
    both, talk, work = cells(record | {"both_ns": [9, 8], "talk_ns": [5], "work_ns": [6]}, 0)
    assert (both.ns, both.part, both.whole) == ([9, 8], "", True)
    assert (talk.ns, talk.part, work.ns, work.part, work.whole) == ([5], "talk", [6], "work", False)


def test_steps_keep_each_of_them_beside_the_round_trip() -> None:
    times = {"encode_ns": [1], "send_ns": [2], "decode_ns": [3], "translate_ns": [4]}
    counts = {"out_bytes": 64, "in_bytes": 96, "translations": 2}
    record = CELL | {"ask": "steps", "rtt_ns": [9], "lost": 0} | counts | times
    whole, *steps = cells(record, 0)
    assert (whole.ns, whole.part, whole.out_bytes, whole.in_bytes, whole.translations) == ([9], "", 64, 96, 2)
    assert [(step.part, step.ns) for step in steps] == [
        ("encode", [1]),
        ("send", [2]),
        ("decode", [3]),
        ("translate", [4]),
    ]


@pytest.mark.parametrize(
    "change",
    [{"rtt_ns": None}, {"rtt_ns": [1.5]}, {"rtt_ns": "1"}, {"size_bytes": "64"}, {"ask": "other"}, {"lost": None},
     {"wire": {"frames": "one"}}],
)  # fmt: skip
def test_a_cell_that_is_none_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(VaivenError) as caught:
        cells(CELL | change, 0)
    assert caught.value.code == "bad-record"


@pytest.mark.parametrize("line", [b"", b"{", b"[1]", b"Segmentation fault", b"\xff\xfe", b"null"])
def test_a_line_that_is_no_record_is_shown(line: bytes) -> None:
    with pytest.raises(VaivenError) as caught:
        decode(line)
    assert caught.value.code == "bad-record"


def test_another_schema_is_refused() -> None:
    with pytest.raises(VaivenError, match="schema 2") as caught:
        decode(b'{"type":"hello","schema":2}')
    assert caught.value.code == "probe-schema"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_one_error(line: bytes) -> None:
    try:
        assert isinstance(decode(line), dict)
    except VaivenError as error:
        assert error.code in ("bad-record", "probe-schema")


def test_a_story_is_heard_line_by_line() -> None:
    story = Story()
    lines = [
        {"type": "ready", "address": "10.1.0.2", "port": 40001},
        {"type": "hello", "schema": 1, "stack": "tcp"},
        {"type": "warning", "code": "coarse-clock", "text": "a <b>bold</b> word"},
        {"type": "tomorrow"},
        CELL,
        {"type": "bye", "cells": 1},
        {"type": "error", "code": "peer-version", "text": "no", "remedy": None},
    ]
    heard = [story.hear(json.dumps(line).encode() + b"\n", 0.0) for line in lines]
    assert [one is not None for one in heard] == [False, False, False, False, True, False, False]
    assert story.ready["port"] == 40001
    assert story.warnings == [("coarse-clock", "a <b>bold</b> word")]
    assert story.bye
    assert story.error is not None
    assert (story.error.code, story.error.what, story.error.remedy) == ("peer-version", "no", "")


def test_stacks_have_limits_and_the_questions_that_they_answer() -> None:
    def line(stack: str, **facts: object) -> bytes:
        plain = {
            "kernel_echo": False,
            "alone": False,
            "datagram": True,
            "two_writes": False,
            "to_all": False,
            "at_once": False,
        }
        plain["needs"] = None
        record = {"type": "stack", "schema": 1, "probe": "0.1.0", "stack": stack, "size_bytes_min": 0}
        return json.dumps(record | {"size_bytes_max": 9} | plain | facts).encode() + b"\n"

    known = stacks(
        line("icmp", kernel_echo=True, needs="CAP_NET_RAW")
        + line("udp", at_once=True)
        + line("tcp", datagram=False, two_writes=True, at_once=True, own_tcp=True, marks=True)
        + line("raw", to_all=True)
        + line("null", alone=True)
        + line("pvm-direct-xdr", datagram=False, joined=True, steps=True)
        + line("mpich", datagram=False, joined=True, ranked=True, at_once=True, starts=True)
        + line("group", joined=True, to_all=True)
    )
    assert known.version == "0.1.0"
    assert {name: one.questions for name, one in known.stacks.items()} == {
        "icmp": ("pingpong",),
        "udp": (
            "pingpong",
            "oneway",
            "prtt",
            "overlap",
            "fanout",
            "stream",
            "exchange",
            "bisection",
            "pingpongs",
            "partners",
        ),
        "tcp": tuple(one for one in ALL if one not in ("steps", "fft", "matmul")),
        "raw": ("fanout",),
        "group": ("fanout", "matmul"),
        "null": ("pingpong", "prtt"),
        "pvm-direct-xdr": ("pingpong", "prtt", "steps", "fanout", "pingpongs", "partners"),
        "mpich": (
            "pingpong",
            "prtt",
            "overlap",
            "fanout",
            "stream",
            "exchange",
            "bisection",
            "pingpongs",
            "partners",
            "fft",
            "matmul",
        ),
    }
    assert known.stacks["icmp"].needs == "CAP_NET_RAW"
    assert [known.stacks[name].alone for name in ("icmp", "udp", "null")] == [True, False, True]
    with pytest.raises(VaivenError):
        stacks(b"")


def test_what_a_launcher_passes_on_in_pieces_is_put_together() -> None:
    """Of a long record, between whose pieces come whole ones of other ranks."""
    long = b'{"type":"cell","last_ns":[' + b"1000," * 3000 + b'1],"wire":{"frames":1}}\n'
    first, second = b'{"type":"traffic","end":"far"}\n', b'{"type":"warning","code":"one"}\n'
    for cut in (4096, len(long) - len(b'{"frames":1}}\n'), len(long) - 1):  # a piece may begin as a record does
        for between in (first, first + second):
            came = (b"said by the launcher\n" + long[:cut] + between + long[cut:] + b'{"type":"bye"}\n').splitlines(
                True
            )
            others = between.splitlines(True)
            assert list(untangled(came)) == [b"said by the launcher\n", *others, long, b'{"type":"bye"}\n']
    thrice = (long[:4096] + first + long[4096:8192] + second + long[8192:]).splitlines(True)
    assert list(untangled(thrice)) == [first, second, long]
    assert list(untangled([long[:4096]])) == [long[:4096]]
