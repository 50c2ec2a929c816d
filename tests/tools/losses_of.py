# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the times of lost events in an export of posixtrace: losses_of.py FORMAT FILE

One line for each place, in its order: BEGIN_NS END_NS, and of ctf how many events.
"""
import pathlib
import re
import struct
import sys

import otlp as otlp_reader
import spans_of

PACKET = struct.Struct("<I16sIQQQQQQQ")


def ctf(path):
    """Discarded events are lost between the end of the previous packet and that of this one."""
    folder = pathlib.Path(path)
    metadata = (folder / "metadata").read_bytes().decode(errors="replace")
    offset = int(re.search(r"offset_s = (-?\d+)", metadata)[1]) * 10**9
    for stream in sorted(folder.glob("stream_*")):
        data, at, before, known = stream.read_bytes(), 0, None, 0
        while at < len(data):
            head = PACKET.unpack_from(data, at)
            begin, end, bits, discarded = head[4], head[5], head[7], head[9]
            if discarded > known:
                yield offset + (begin if before is None else before), offset + end, discarded - known
            before, known = end, discarded
            at += bits // 8


def perfetto(path):
    """Slices of the track of that name."""
    lost, begun = set(), {}
    with open(path, "rb") as file:
        data = file.read()
    for _, packet in spans_of.fields(data):
        known = dict(spans_of.fields(packet))
        if 60 in known:
            track = dict(spans_of.fields(known[60]))
            if track.get(2) == b"lost events":
                lost.add(track[1])
        event = dict(spans_of.fields(known[11])) if 11 in known else {}
        if event.get(11) not in lost or event[9] == 3:
            continue
        ns = spans_of.signed(known[8])
        if event[9] == 1:
            begun[event[11]] = ns
        else:
            yield begun.pop(event[11]), ns
    assert not begun, "slices without an end"


def otlp(path):
    """Log records of that name which have the times between which events are missing."""
    for _, _, log in otlp_reader.records(otlp_reader.joined(otlp_reader.lines(pathlib.Path(path) / "logs.jsonl"))):
        notes = otlp_reader.attributes(log)
        if log["eventName"] == "posixtrace.lost" and "posixtrace.lost.begin_ns" in notes:
            assert log["severityNumber"] == 13
            yield (notes["posixtrace.lost.begin_ns"], notes["posixtrace.lost.end_ns"],
                   notes.get("posixtrace.lost.count", ""))


for loss in globals()[sys.argv[1]](sys.argv[2]):
    print(*loss)
