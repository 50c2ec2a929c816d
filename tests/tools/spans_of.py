# SPDX-License-Identifier: LGPL-2.1-or-later
"""Spans that a file of posixtrace has: spans_of.py FORMAT FILE

One line for each name of spans, sorted: NAME COUNT TOTAL_NS. A file in which slices cross, end without a
begin, begin without an end or go back in time is an error.
"""
import collections
import json
import pathlib
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & (1 << 64) - 1, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def stacked(edges):
    """Slices of tracks, made of (time, track, name or None) in the order in which a reader reads them."""
    stacks = collections.defaultdict(list)
    for ns, track, name in sorted(edges, key=lambda edge: edge[0]):
        if name is not None:
            stacks[track].append((name, ns))
            continue
        name, begun = stacks[track].pop()
        yield track, name, ns - begun
    assert not any(stacks.values()), "slices without an end"


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def perfetto(path):
    """Perfetto's trace processor sorts packets by time; those with equal times keep the file's order."""
    names, edges, lost = {}, [], set()
    with open(path, "rb") as file:
        data = file.read()
    for _, packet in fields(data):
        packet = list(fields(packet))
        known = dict(packet)
        for field, value in packet:
            if field == 12:
                for kind, entry in fields(value):
                    entry = dict(fields(entry))
                    if kind == 2:
                        names[entry[1]] = entry[2].decode()
        if 60 in known:
            track = dict(fields(known[60]))
            if track.get(2) == b"lost events":
                lost.add(track[1])
        if 11 not in known:
            continue
        event = dict(fields(known[11]))
        if event[9] == 3 or event[11] in lost:
            continue
        name = event[23].decode() if 23 in event else names[event[10]] if 10 in event else ""
        edges.append((signed(known[8]), event[11], name if event[9] == 1 else None))
    for _, name, ns in stacked(edges):
        yield name, ns


def nanoseconds(text):
    whole, part = text.lstrip("-").split(".")
    return (-1 if text[0] == "-" else 1) * (int(whole) * 1000 + int(part))


def chrome(path):
    edges, ids = [], {}
    with open(path, encoding="utf-8") as file:
        trace = json.load(file, parse_float=str)
    for event in trace["traceEvents"]:
        if event["ph"] in "Mi":
            continue
        ns, thread = nanoseconds(event["ts"]), (event["pid"], event["tid"])
        if event["ph"] == "X":
            edges.append((ns, thread, event["name"]))
            edges.append((ns + nanoseconds(event["dur"]), thread, None))
        elif event["ph"] in "BE":
            edges.append((ns, thread, event["name"] if event["ph"] == "B" else None))
        else:
            key = event["cat"], event["id"]
            if event["ph"] == "b":
                assert key not in ids, "an id twice"
                ids[key] = event["name"], ns
            else:
                name, begun = ids[key]
                assert name == event["name"]
                ids[key] = None
                yield name, ns - begun
    assert not any(ids.values()), "asynchronous slices without an end"
    for _, name, ns in stacked(edges):
        yield name, ns


def speedscope(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    names = [frame["name"] for frame in trace["shared"]["frames"]]
    assert len({profile["name"] for profile in trace["profiles"]}) == len(trace["profiles"])
    for profile in trace["profiles"]:
        stack, at = [], 0
        for event in profile["events"]:
            assert event["at"] >= at, "time goes back"
            at = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], at))
                continue
            frame, begun = stack.pop()
            assert frame == event["frame"], "spans cross"
            yield names[frame], at - begun
        assert not stack and at <= profile["endValue"]


def otlp(path):
    """The start and the end of each span in both encodings, which must be equal."""
    import otlp as reader
    folder = pathlib.Path(path)
    reader.compare(folder)
    for _, _, span in reader.records(reader.joined(reader.lines(folder / "traces.jsonl"))):
        yield span["name"], int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])


def main():
    count, total = collections.Counter(), collections.Counter()
    for name, ns in globals()[sys.argv[1]](sys.argv[2]):
        count[name] += 1
        total[name] += ns
    for name in sorted(count):
        print(name, count[name], total[name])


if __name__ == "__main__":
    main()
