# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the conversion of logs of Event Tracing for Windows with known facts about them.

expected JSONL EXPECTED     the events of convert --to jsonl are those of the .expected.json
make CASE FROM TO           a copy of a log with one thing made wrong
exported ETL JSONL [OPT]    what the manual says of an export, and the events of the log in it
golden HEX TO               a golden log as bytes
events JSONL [JSONL]        how many events, or that two have the same ones
"""
import hashlib
import json
import re
import struct
import sys
import uuid
from collections import Counter

sys.dont_write_bytecode = True
from jsonlog import data_of, fail, lines, same  # noqa: E402

KINDS = {1: "SYSTEM32", 2: "SYSTEM64", 10: "FULL32", 20: "FULL64", 18: "EVENT32", 19: "EVENT64"}


def events(all_lines):
    return [line for line in all_lines if "event" in line and line["event"] != "etw_header"]


def raw_of(line):
    """The record: all of the data or, behind decoded fields, the record that its last 8 bytes describe."""
    d = data_of(line)
    if d[-4:] == b"ETWR":
        size = struct.unpack("<I", d[-8:-4])[0]
        return d[-8 - size:-8]
    return d


def record(line):
    """The fields of a record, as this script reads them."""
    d = raw_of(line)
    kind = KINDS[d[2]]
    r = {"header": kind, "size": len(d), "processor": line["cpu"], "pid": line["pid"], "tid": line["tid"],
         "timestamp_raw": struct.unpack("<q", d[16:24])[0]}
    if kind.startswith("FULL"):
        at = 48
        r.update(type=d[4], level=d[5], version=struct.unpack("<H", d[6:8])[0],
                 guid=str(uuid.UUID(bytes_le=d[24:40])))
        r["kernel_time"], r["user_time"] = struct.unpack("<2I", d[40:48])
    elif kind.startswith("EVENT"):
        at = 80
        r["flags"] = struct.unpack("<H", d[4:6])[0]
        r["guid"] = str(uuid.UUID(bytes_le=d[24:40]))
        r["id"], r["version"], r["channel"], r["level"], r["opcode"], r["task"], r["kw"] = \
            struct.unpack("<H4BHQ", d[40:56])
        r["kernel_time"], r["user_time"] = struct.unpack("<2I", d[56:64])
        more = r["flags"] & 1
        while more:
            size, item, more, used = struct.unpack("<4H", d[at:at + 8])
            at += size
            more &= 1
    else:
        at = 32
        r.update(type=d[6], group=d[7])
        r["kernel_time"], r["user_time"] = struct.unpack("<2I", d[24:32])
    r["payload_len"] = len(d) - at
    r["payload_sha256_16"] = hashlib.sha256(d[at:]).hexdigest()[:16]
    return r


def expected(path, expected_path):
    with open(expected_path, encoding="utf-8") as file:
        want = json.load(file)
    got = lines(path)
    head = want["logfile_header"]
    header = data_of([l for l in got if l.get("event") == "etw_header"][0])
    shift = 8 if header[2] == 2 else 0
    same("buffer size, processors, build", list(struct.unpack("<I4x2I", header[32:48])),
         [head["BufferSize"], head["ProviderVersion"], head["NumProcs"]])
    same("start, clock", list(struct.unpack("<qI", header[32 + 0x100 + shift:][:12])),
         [head["StartTime"], head["ReservedFlags"]])
    trace = [l for l in got if "trace" in l][0]
    same("session", trace["trace"], head["SessionName"])
    same("version", trace["generation"],
         "etw %d.%d.%d" % (head["Major"], head["Minor"], head["ProviderVersion"]))

    found = events(got)
    records = [record(line) for line in found]
    same("events", len(found), want["data_events"])
    kinds = Counter(r["header"] for r in records)
    for kind, count in want["records_by_header_type"].items():
        if not kind.startswith("SYSTEM"):
            same(kind, kinds[kind], count)
    same("processes", dict(Counter(str(r["pid"]) for r in records)), want["events_by_pid"])
    same("processors", dict(Counter(str(r["processor"]) for r in records)), want["events_by_processor"])
    classic = [r for r in records if r["header"].startswith("FULL")]
    same("classic", len(classic), want["classic_events"])
    classes = Counter((r["guid"], r["type"], r["level"], r["version"]) for r in classic)
    same("classes", sorted(classes.items()),
         sorted(((c["guid"], c["type"], c["level"], c["version"]), c["count"])
                for c in want["classic_by_guid_type_level_version"]))
    same("providers", dict(Counter(r["guid"] for r in records if r["header"].startswith("EVENT"))),
         want["manifest_by_provider"])
    same("order", [int(l["ns"]) for l in found], sorted(int(l["ns"]) for l in found))
    for part, at in (("first_data_events_by_time", 0), ("last_data_events_by_time", -3)):
        at = max(at, -len(found))
        for i, event in enumerate(want[part]):
            r, line = records[at + i], found[at + i]
            same("%s %d time" % (part, i),
                 (int(line["ns"]) + 11644473600 * 10**9) // 100, event["filetime"])
            for key, value in event.items():
                if key in r:
                    same("%s %d %s" % (part, i, key), r[key], value)


def compare(path, other=None):
    a = events(lines(path))
    if not other:
        print(len(a))
        return
    for line, twin in zip(a, events(lines(other))):
        line.pop("cpu", None)
        twin.pop("cpu", None)
        same("event", line, twin)
    same("events", len(a), len(events(lines(other))))


def put(data, at, form, *values):
    data[at:at + struct.calcsize(form)] = struct.pack(form, *values)


def make(case, source, target):
    with open(source, "rb") as file:
        d = bytearray(file.read())
    first = struct.unpack("<I", d[:4])[0]           # the offset of buffer 1
    shift = 8 if d[74] == 2 else 0
    log = 72 + 32                                   # the log file header
    record_at = first + 72
    if case == "E01":
        d = d[:300]
    elif case == "E01-empty":
        d = d[:0]
    elif case == "E02":
        d[72 + 7] = 3
    elif case == "E02-short":
        put(d, 72 + 4, "<H", 32 + 0x100)
    elif case == "E03":
        put(d, 0, "<I", 40)
    elif case == "E03-long":
        put(d, 0, "<I", len(d) + 1)
    elif case == "E04":
        put(d, first, "<I", 0)
    elif case == "E05":
        d = d[:first + 72 + 200]
    elif case == "E06":
        put(d, first + 0x30, "<I", 0x7fffffff)
    elif case == "E06-small":
        put(d, first + 0x30, "<I", 8)
    elif case == "E07":
        put(d, record_at, "<H", 20)
    elif case == "E07-zero":
        put(d, record_at, "<H", 0)
    elif case == "E08":
        put(d, record_at, "<H", 0xfff0)
    elif case == "E09":
        d[record_at + 3] = 0x55
    elif case == "E10":
        d[record_at + 2] = 99
    elif case == "E11":
        d[first + 72:first + 80] = b"\xff" * 8
    elif case == "E12":
        put(d, 0x2c, "<I", 4)
    elif case == "E12-bound":
        put(d, first + 4, "<I", 0x10000000)
    elif case == "E13":
        put(d, log + 0xf8 + shift, "<q", 0)
    elif case == "E13-cpu":
        put(d, log + 0x108 + shift, "<I", 3)
        put(d, log + 0x34, "<I", 0)
    elif case == "E23":
        d[first + 0x36] = 9                         # no such type of buffer
        put(d, first + 0x2c, "<I", 7)               # nor state
    elif case == "cost":
        put(d, log + 0x18, "<I", 156250)
        at = record_at
        for kernel, user in (0xfffffff0, 50), (8, 51), (4, 90), (10, 90):
            put(d, at + 8, "<2I", 6452, 7644)
            put(d, at + 40, "<2I", kernel, user)
            at += (struct.unpack("<H", d[at:at + 2])[0] + 7) // 8 * 8
    elif case == "spans":                           # all that a thread does, in buffer 1 alone
        d = d[:2 * first]
        put(d, log + 0x18, "<I", 156250)
        put(d, log + 0x24, "<I", 2)
        put(d, log + 0xf8 + shift, "<q", 10 ** 7)
        stamp, at = struct.unpack("<q", d[72 + 16:72 + 24])[0], record_at
        for name, kind, seconds, kernel, user in (
                ("c861d0e2-a2c1-4d36-9f9c-970bab943a12", 1, 1, 0, 0),
                ("c861d0e2-a2c1-4d36-9f9c-970bab943a12", 7, 1.5, 1, 1),
                ("0268a8b6-74fd-4302-9dd0-6e8f1795c0cf", 1, 2, 1, 1),
                ("0268a8b6-74fd-4302-9dd0-6e8f1795c0cf", 2, 2.5, 2, 2),
                ("c861d0e2-a2c1-4d36-9f9c-970bab943a12", 2, 3, 2, 3),
                ("3282fc76-feed-498e-8aa7-e70f459d430e", 1, 4, 2, 3)):
            d[at:at + 48] = struct.pack("<H4BH2Iq16s2I", 48, 20, 0xc0, kind, 4, 0, 5, 6,
                                        stamp + int(seconds * 10 ** 7), uuid.UUID(name).bytes_le, kernel, user)
            at += 48
        for field in 4, 0x30:
            put(d, first + field, "<I", at - first)
    elif case == "E14":
        put(d, log + 0x108 + shift, "<I", 7)
    elif case == "E15":
        put(d, record_at + 80, "<H", 4)
    elif case == "E16":
        put(d, log + 0x24, "<I", 77)
    elif case == "E16-open":
        put(d, log + 0x24, "<I", 0)
    elif case == "E17":
        at = log + 0x110 + shift
        put(d, at, "<H", 0xdc00)
    elif case == "E18":
        put(d, log + 0x2c, "<I", 5)
    elif case == "E19":
        d += b"\xff" * 10
    elif case == "E19-zero":
        d += b"\0" * 100
    elif case == "E20":
        put(d, record_at + 16, "<q", 2**62)
    elif case == "E21":
        put(d, log + 0x0c, "<I", 1)
    elif case == "E22":
        put(d, log + 0x30, "<I", 5)
    elif case == "filetime":                        # every stamp a FILETIME
        put(d, log + 0x108 + shift, "<I", 2)
        put(d, record_at + 16, "<q", 129488146139914267)
    elif case == "lost":                            # a lost-event record
        d[record_at + 4] = 32
        d[record_at + 24:record_at + 40] = uuid.UUID("6a399ae0-4bc6-4de9-870b-3657f8947e7e").bytes_le
    elif case == "backward":                        # the second record is the oldest
        size = struct.unpack("<H", d[record_at:record_at + 2])[0]
        put(d, record_at + (size + 7) // 8 * 8 + 16, "<q",
            struct.unpack("<q", d[record_at + 16:record_at + 24])[0] - 1000)
    elif case == "extension":                       # the second record continues the first
        size = struct.unpack("<H", d[record_at:record_at + 2])[0]
        d[record_at + (size + 7) // 8 * 8 + 4] = 5
    else:
        fail("no case " + case)
    with open(target, "wb") as file:
        file.write(d)


def golden(source, target):
    """A log of tests/golden as bytes: hex digits, "texts", NN*COUNT, and comments."""
    data = b""
    with open(source, encoding="utf-8") as file:
        for line in file:
            for text, pair, count in re.findall(r'#.*|"([^"]*)"|\b([0-9a-f]{2})(?:\*(\d+))?\b', line):
                data += bytes([int(pair, 16)]) * int(count or 1) if pair else text.encode()
    with open(target, "wb") as file:
        file.write(data)


SPACE = uuid.UUID("8f6d2c1e-5b1a-4c57-9a3e-7d0b6f1e2a94")
STREAM = {1: (11, 2), 2: (3, 4), 3: (4, 4), 4: (10, 4), 5: (8, 3), 6: (7, 4), 7: (1, 4), 8: (2, 4)}
SYSTEM = ["posix_trace_error", "posix_trace_start", "posix_trace_stop", "posix_trace_filter",
          "posix_trace_overflow", "posix_trace_resume", "posix_trace_flush_start",
          "posix_trace_flush_stop"]
PAIRS = [("_start", "_stop"), ("_start", "_end"), ("_begin", "_end"), ("_enter", "_exit"),
         ("_enter", "_leave"), ("_entry", "_exit")]


def class_of(name, names):
    """By the rule of the manual, with another implementation of version 5 of UUIDs."""
    if name in SYSTEM:
        return "posixtrace-stream", None
    if name == "posix_trace_unnamed_userevent":
        return "posixtrace-unnamed", 0
    for begin, end in PAIRS:
        for own, other, number in ((begin, end, 1), (end, begin, 2)):
            if name.endswith(own) and len(name) > len(own) and name[:-len(own)] + other in names:
                return name[:-len(own)], number
    return name, 0


def exported(path, log_path, option=""):
    with open(path, "rb") as file:
        d = file.read()
    want = [l for l in lines(log_path) if "event" in l]
    size = 65536
    same("file", len(d) % size, 0)
    count = len(d) // size
    at = 72
    log = d[at + 32:at + 32 + 0x118]
    same("log record", list(d[at + 2:at + 4]) + [d[at + 6], d[at + 7]], [2, 0xc0, 0, 0])
    h0 = struct.unpack("<q", d[at + 16:at + 24])[0]
    same("buffers, processors", struct.unpack("<I", log[0x24:0x28]) + struct.unpack("<I", log[12:16]), (count, 1))
    freq, start, clock, lost = struct.unpack("<2qII", log[0x100:0x118])
    same("clock", (freq, clock), (10**7, 2) if option == "filetime" else (10**9, 1))
    if option != "filetime":
        same("reference", h0, 10**9)
    if want:
        same("start", start, int(want[0]["ns"]) // 100 + 116444736000000000)

    records, types = [], {}
    for i in range(count):
        b = d[i * size:(i + 1) * size]
        filled = struct.unpack("<I", b[0x30:0x34])[0]
        same("buffer", [struct.unpack("<I", b[:4])[0], struct.unpack("<I", b[4:8])[0],
                        struct.unpack("<q", b[0x18:0x20])[0], struct.unpack("<H", b[0x28:0x2a])[0],
                        struct.unpack("<I", b[0x2c:0x30])[0], struct.unpack("<2H", b[0x34:0x38])],
             [size, filled, i, 0, 3, (0x21 if i in (0, count - 1) else 0x20, 0 if i else 4)])
        same("rest of the buffer", b[filled:].strip(b"\xff"), b"")
        at = 72
        while i and at < filled:
            length = struct.unpack("<H", b[at:at + 2])[0]
            records.append(b[at:at + length])
            same("padding", b[at + length:(at + length + 7) // 8 * 8].strip(b"\0"), b"")
            at = (at + length + 7) // 8 * 8

    registry = uuid.uuid5(SPACE, "posixtrace-registry")
    prefix = 0 if option == "plain" else 24
    events, level_of = [], {}
    for r in records:
        same("header", list(r[2:4]) + list(r[40:48]), [20, 0xc0] + [0] * 8)
        guid, kind = uuid.UUID(bytes_le=bytes(r[24:40])), r[4]
        if guid == registry:
            if kind == 10:
                number = struct.unpack("<I", r[48:52])[0]
                types[number] = (bytes(r[72:-1]), uuid.UUID(bytes_le=bytes(r[52:68])),
                                 struct.unpack("<I", r[68:72])[0])
        elif kind == 5:
            events[-1][1] += r[48 + prefix:]
        else:
            events.append([r, bytearray(r[48 + prefix:])])
    names = {name.decode("utf-8", "surrogateescape") for name, guid, kind in types.values()
             if name.decode("utf-8", "surrogateescape") not in SYSTEM}
    for number, (raw, guid, kind) in types.items():
        name = raw.decode("utf-8", "surrogateescape")
        if any("\udc80" <= c <= "\udcff" for c in name):
            continue                                # uuid5 accepts text only
        stem, wanted = class_of(name, names)
        same("class of " + name, guid, uuid.uuid5(SPACE, stem))
        same("type of " + name, kind, STREAM[number][0] if wanted is None else wanted)
    same("events", len(events), len(want))
    for (r, data), line in zip(events, want):
        stamp = struct.unpack("<q", r[16:24])[0]
        tid, pid = struct.unpack("<2I", r[8:16])
        if option == "filetime":
            same("time", stamp, int(line["ns"]) // 100 + 116444736000000000)
        else:
            same("time", (start - 116444736000000000) * 100 + stamp - h0, int(line["ns"]))
        same("process", pid, line["pid"])
        same("data", bytes(data), data_of(line))
        if line["tid"]:
            same("thread", tid, line["tid"])
        if prefix:
            number, truncation, thread, address = struct.unpack("<2I2Q", r[48:72])
            same("name", types[number][0].decode("utf-8", "replace"), line["event"])
            same("class", (uuid.UUID(bytes_le=bytes(r[24:40])), r[4]), types[number][1:])
            same("ids", (thread, address), (int(line["thread"], 16) or line["tid"], int(line["address"], 16)))
            same("truncated", truncation != 0, "truncated" in line)


{"expected": expected, "exported": exported, "events": compare, "golden": golden, "make": make}[sys.argv[1]](*sys.argv[2:])
