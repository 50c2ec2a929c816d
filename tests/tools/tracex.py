# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the conversion of trace buffers of ThreadX with known facts about them.

expected JSONL EXPECTED     the events of convert --to jsonl are those of the .expected.json
same JSONL JSONL            the same events, whatever the byte order of their file
parts TRX TRX               the used parts are the same bytes
make CASE FROM TO           a copy of a dump with one thing made wrong
back JSONL JSONL            what an exported log must give back
lens JSONL JSONL            the same with the length of the data before it
narrow JSONL JSONL          a dump of 64-bit words has the events of the other
spans JSONL                 threads run one at a time and when they say so; mutexes are held from put to put
"""
import json
import struct
import sys
from collections import Counter

sys.dont_write_bytecode = True
from jsonlog import data_of, fail, lines, same  # noqa: E402


def words(line):
    return list(struct.unpack("<8I", data_of(line)))


def events(all_lines):
    return [line for line in all_lines
            if "event" in line and not line["event"].startswith("tracex_header")
            and line["event"] not in ("tracex_object", "tracex_running", "tracex_mutex_held")]


def expected(path, expected_path):
    with open(expected_path, encoding="utf-8") as file:
        want = json.load(file)
    got = lines(path)
    header = struct.unpack("<4I2H7I", data_of([l for l in got if l.get("event") == "tracex_header"][0]))
    same("header", ["0x%x" % word for word in header], list(want["header"].values()))

    slots = [data_of(line) for line in got if line.get("event") == "tracex_object"]
    same("objects", len(slots), len(want["registered_objects"]))
    for data, slot in zip(slots, want["registered_objects"]):
        index, available, kind, r1, r2, pointer, p1, p2 = struct.unpack("<H4B3I", data[:18])
        same("slot", index, slot["slot"])
        same("slot %d" % index, [available, kind, r1, r2, "0x%x" % pointer, p1, p2],
             [slot[key] for key in ("available", "type", "reserved1", "reserved2")] +
             ["0x%x" % int(slot["pointer"], 16), slot["param1"], slot["param2"]])
        name = data[18:].split(b"\0")[0]
        if slot["name"] not in (name.decode("utf-8", "replace"), name.decode("latin-1")):
            fail("slot %d: name %r, wanted %r" % (index, name, slot["name"]))

    found = events(got)
    same("events", len(found), want["events"])
    ids, contexts, cores = Counter(), Counter(), Counter()
    for line in found:
        word = words(line)
        ids[str(word[2] & 0xffff)] += 1
        contexts["0x%x" % word[0]] += 1
        cores[str(word[2] >> 24)] += 1
        same("cpu", line["cpu"], word[2] >> 24)
        same("thread", int(line["thread"], 16), 0 if word[0] in (0xffffffff, 0xf0f0f0f0) else word[0])
    same("ids", dict(ids), want["events_by_id"])
    same("contexts", dict(contexts), {"0x%x" % int(k, 16): v for k, v in want["events_by_context"].items()})
    same("cores", dict(cores), want["events_by_core"])
    same("ticks", int(found[-1]["ns"]), want["total_ticks"])
    for part, at in (("first", 0), ("last", len(found) - 3)):
        for i, event in enumerate(want[part]):
            word = words(found[at + i])
            same("%s %d" % (part, i),
                 [int(event[key], 16) for key in ("context", "priority_field", "event_id_raw")] +
                 [event["timestamp_raw"]] + [int(info, 16) for info in event["info"]], word)
            same("%s %d ticks" % (part, i), int(found[at + i]["ns"]), event["relative_ticks"])


def twins(path, other):
    a, b = lines(path), lines(other)
    for got in a, b:
        for line in got:
            line.pop("trace", None)
    same("twins", a, b)


def parts(path, other):
    """Header, slots that were ever used, entries that were used: the same bytes."""
    def read(name):
        with open(name, "rb") as file:
            data = file.read()
        mask, base, start, r1, size, end, first, last, current = struct.unpack("<3I2H4I", data[4:36])
        slots = [data[i:i + 16 + size] for i in range(start - base, end - base, 16 + size)]
        entries = [data[i:i + 32] for i in range(first - base, last - base, 32)]
        return (data[:48], [(i, s) for i, s in enumerate(slots) if s[1]],
                [(i, e) for i, e in enumerate(entries) if e[:4] != b"\0\0\0\0"])
    same("parts", read(path), read(other))


def back(path, other):
    """For an exported log: names of the side file, times to the tick, threads, 16 bytes of data."""
    a = [l for l in lines(path) if "event" in l]
    b = events(lines(other))
    same("events", len(b), len(a))
    for x, y in zip(a, b):
        if not x["event"].startswith("posix_trace_"):
            same("name", y["event"], x["event"])
        same("time", y["ns"], x["ns"])
        same("process", y["pid"], x["pid"])
        same("thread", int(y["thread"], 16), int(x["thread"], 16) or x["tid"])
        same("data", data_of(y)[16:32], data_of(x)[:16].ljust(16, b"\0"))


def lens(path, other):
    a = [l for l in lines(path) if "event" in l]
    for x, y in zip(a, events(lines(other))):
        data = data_of(x)
        same("length", struct.unpack("<I", data_of(y)[16:20])[0] & 0x3fffffff, len(data))
        same("data", data_of(y)[20:32], data[:12].ljust(12, b"\0"))


def put(data, at, form, *values):
    data[at:at + struct.calcsize(form)] = struct.pack(form, *values)


def make(case, source, target):
    with open(source, "rb") as file:
        d = bytearray(file.read())
    mask, base, start, r1, size, end, first, last, current = struct.unpack("<3I2H4I", d[4:36])
    registry, entries = start - base, first - base
    if case == "T01":
        d[0:4] = b"ELF?"
    elif case == "T02":
        d = d[:47]
    elif case == "T02-tiny":
        d = d[:3]
    elif case == "T02-width":
        put(d, 4, "<I", 0)
        put(d, 36, "<I", 1)
        put(d, 12, "<I", base + 52)
    elif case == "T03":
        put(d, 20, "<I", start - 4)
    elif case == "T04":
        put(d, 20, "<I", end - 4)
    elif case == "T05":
        put(d, 18, "<H", 0)
    elif case == "T05-long":
        put(d, 18, "<H", 1025)
    elif case == "T05-warn":
        put(d, 18, "<H", 80)
    elif case == "T06":
        put(d, 28, "<I", first - 32)
    elif case == "T06-empty":
        put(d, 28, "<I", first)
    elif case == "T07":
        put(d, 28, "<I", last - 8)
    elif case == "T08":
        put(d, 8, "<I", base + 0x1000000)
    elif case == "T08-refused":
        put(d, 8, "<I", base + 0x1000000)
        d = d[:entries + 31]
    elif case == "T09":
        put(d, 12, "<I", base + 16)
    elif case == "T09-buffer":
        put(d, 24, "<I", start + 16)
    elif case == "T10":
        d = d[:entries - 1]
    elif case == "T10-entry":
        d = d[:entries + 31]
    elif case == "T11":
        d = d[:entries + (last - first) * 3 // 4]
    elif case == "T11-refused":
        put(d, 28, "<I", 0xfffffff0)
    elif case == "T12":
        put(d, 32, "<I", last + 32)
    elif case == "T12-odd":
        put(d, 32, "<I", first + 33)
    elif case == "T13":
        put(d, 40, "<I", 0)
    elif case == "T14":
        put(d, entries + (current - first + 64) % (last - first), "<I", 0)
    elif case == "T15":
        put(d, entries + 8, "<I", 190)
    elif case == "T19":
        put(d, entries, "<I", 0x12345678)
    elif case == "T15-zero":
        put(d, entries + 8, "<I", 0)
    elif case == "T15-invalid":
        put(d, entries + 8, "<I", 0xffffffff)
    elif case == "T18-type":
        d[registry + 1] = 29
    elif case == "T18-available":
        d[registry] = 2
    elif case == "T18-name":
        d[registry + 16:registry + 16 + size] = b"n" * size
    elif case == "T18-twice":
        d[registry + 16 + size + 4:registry + 16 + size + 8] = d[registry + 4:registry + 8]
    elif case == "T20":
        put(d, 4, "<I", 0)
    elif case == "T20-odd":
        put(d, 4, "<I", 0xfff0ffff)
    elif case == "T21":
        d += b"\0" * 32
    elif case == "T21-part":
        twin = bytearray(d)
        put(twin, entries + 8, "<I", 5555)
        d += twin
    elif case == "wide":
        d = widen(d)
    elif case == "wide-big":
        d = widen(d, ">")
    elif case == "one":
        put(d, 28, "<I", first + 32)
        put(d, 32, "<I", first + 32)
        d = d[:entries + 32]
    elif case == "smp":                             # the third entry of processor 7, with junk
        put(d, entries + 2 * 32 + 8, "<I", struct.unpack("<I", d[entries + 72:entries + 76])[0] | 0x07550000)
    elif case == "never-used":
        for at in range(entries, entries + last - first, 32):
            put(d, at, "<I", 0)
    elif case == "usb":                             # an id that user events had too
        put(d, entries + 8, "<I", 1030)
        put(d, entries + 32 + 8, "<I", 601)
    elif case == "legacy":
        put(d, entries + 8, "<I", 1030)
    elif case == "no-registry":
        put(d, 20, "<I", start)
        put(d, 24, "<I", start)
        put(d, 28, "<I", start + last - first)
        put(d, 32, "<I", start + current - first)
        d = d[:registry] + d[entries:]
    else:
        fail("no case " + case)
    with open(target, "wb") as file:
        file.write(d)


def widen(d, order="<"):
    """The same dump as a ULONG of 8 bytes makes it; pointers keep their values."""
    mask, base, start, r1, size, end, first, last, current = struct.unpack("<3I2H4I", d[4:36])
    slots, entries = (end - start) // (16 + size), (last - first) // 32
    registry = base + 96
    buffer = registry + slots * (32 + size)
    out = bytearray(struct.pack(order + "4Q2H4x7Q", 0x54585442, mask, base, registry, r1, size, buffer,
                                buffer, buffer + entries * 64, buffer + (current - first) * 2,
                                0xaaaaaaaa, 0xbbbbbbbb, 0xcccccccc))
    for i in range(slots):
        slot = d[start - base + i * (16 + size):][:16 + size]
        out += slot[:4] + bytes(4) + struct.pack(order + "3Q", *struct.unpack("<3I", slot[4:16])) + slot[16:]
    for i in range(entries):
        out += struct.pack(order + "8Q", *struct.unpack("<8I", d[first - base + i * 32:][:32]))
    return out


def narrow(path, other):
    """A wide dump gives the events of the narrow one."""
    a, b = events(lines(path)), events(lines(other))
    same("events", len(a), len(b))
    for x, y in zip(a, b):
        same("wide event", [x["event"], x["ns"], x["thread"], list(struct.unpack("<8Q", data_of(x)))],
             [y["event"], y["ns"], y["thread"], words(y)])


def spans(path):
    """For a buffer of one processor with one mutex for which a thread always waits."""
    got = lines(path)
    entries = [(int(l["ns"]), words(l)) for l in events(got) if len(data_of(l)) == 32]
    runs = [(int(l["ns"]) - l["fields"]["took"], int(l["ns"]), int(l["thread"], 16), l["fields"])
            for l in got if l.get("event") == "tracex_running"]
    held = [(int(l["ns"]), l["fields"]["took"], int(l["thread"], 16))
            for l in got if l.get("event") == "tracex_mutex_held"]
    for before, after in zip(runs, runs[1:]):
        if after[0] < before[1]:
            fail("two threads run at %d" % after[0])
    for begin, end, thread, fields in runs:
        if not any(begin <= ns <= end and word[0] == thread for ns, word in entries):
            fail("%x runs without an entry" % thread)
        same("time of interrupts", 0 <= fields["cpu_time"] <= fields["took"], True)
        isr = [ns for ns, word in entries if begin <= ns <= end and word[0] == 0xffffffff]
        if isr and fields["cpu_time"] == fields["took"] and isr[0] != isr[-1]:
            fail("interrupts of %x are its own" % thread)
    for ns, word in entries:
        if word[0] not in (0xffffffff, 0xf0f0f0f0) and runs[0][0] < ns < runs[-1][1] and \
                not any(begin <= ns <= end and word[0] == thread for begin, end, thread, _ in runs):
            fail("an entry of %x at %d, which does not run" % (word[0], ns))
    puts = [(ns, word[0]) for ns, word in entries if word[2] & 0xffff == 57 and word[6] == 1]
    wanted = [(b, b - a, owner) for (a, _), (b, owner) in zip(puts, puts[1:])]
    # The get of the first waiting thread is older than the buffer.
    same("mutexes", held, wanted[1:])
    print("%d runs, %d times held" % (len(runs), len(held)))


{"expected": expected, "spans": spans, "same": twins, "parts": parts, "make": make, "back": back,
 "lens": lens, "narrow": narrow}[sys.argv[1]](*sys.argv[2:])
