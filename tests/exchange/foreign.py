# SPDX-License-Identifier: LGPL-2.1-or-later
"""Readers of formats of other systems, each written from the definition of that format.

Where a format rounds a time or cuts data, near() puts the log's own value in place of one that is what
rounding or cutting must give; what is not stays, and differs.
"""
import collections
import os
import re
import struct
import subprocess
import uuid

import readlog
from answers import Event, answer, answers_of, digest, without
from consumers import Consumer


def near(found, wanted, is_time, is_data=None):
    """The events found, with times and data of the log if they agree within the format."""
    result = []
    for f, w in zip(found, wanted):
        if is_time(f, w):
            f = f._replace(ns=w.ns)
        if is_data and is_data(f, w):
            f = f._replace(data=w.data)
        result.append(f)
    return result + list(found[len(wanted):])


def handles_of(events):
    return digest(collections.Counter((e.pid, e.thread or e.tid) for e in events).items())


def as_they_are(self, events):
    return events


NO_PLACE = {key: "no place" for key in ("late", "fields", "levels", "spans", "objects", "attributes",
                                        "ledger")}


class Evt(Consumer):
    """A parser of its lines in this file."""
    suffix = "evt"
    lost = {**NO_PLACE, "threads": "tid is a pthread_t, or else the Linux number",
            "handles": "see threads", "names": "not one with the end of a line in it",
            "losses": "comments"}

    def fit(self, events):
        """The name that cannot be written does not become another name."""
        known = {e.name for e in self.gate.events}
        lost = [name for name in known if b"\n" in name or b"\r" in name]
        assert len(lost) <= 1
        return [e if e.name in known or not lost else e._replace(name=lost[0]) for e in events]

    def read(self, path):
        names, events = {}, []
        with open(path, "rb") as file:
            for line in file:
                if line.startswith(b"name "):
                    _, number, name = line.rstrip(b"\n").split(b" ", 2)
                    names[int(number, 16)] = name[1:-1]
                elif line.startswith(b"evt "):
                    events.append(self.event(line.decode(), names))
        events = self.fit(events)
        found = answer(events, **{"pids and threads": handles_of(events)})
        return without(found, "threads", "handles", "late", "fields")

    @staticmethod
    def event(line, names):
        said = dict(item.split("=", 1) for item in line.split()[1:])
        seconds, rest = said["time"].lstrip("-").split(".")
        ns = int(seconds) * 10**9 + int(rest)
        return Event(-ns if said["time"].startswith("-") else ns, names.get(int(said["id"], 16)),
                     int(said.get("pid", 0)), 0, int(said.get("tid", 0)),
                     int(said.get("addr", "0"), 0),
                     b"" if said["data"] == "-" else bytes.fromhex(said["data"]),
                     int(said.get("trunc", 0)) != 0, False, None)


class Rkh(Consumer):
    """A decoder of its frames in this file."""
    suffix = "rkh"
    lost = {**NO_PLACE, "threads": "a pthread_t, or else the Linux number", "handles": "see threads",
            "times": "below 1 us since the epoch before", "first and last": "see times",
            "losses": "by cause alone"}

    def read(self, path):
        events, names, lost = [], {}, 0
        epoch, pid, tid, thread, address, expected = 0, 0, 0, 0, 0, 0
        with open(path, "rb") as file:
            frames = file.read().split(b"\x7e")[1:-1]
        assert frames[0][0] == 0xac
        for frame in frames[1:]:
            frame = re.sub(b"\x7d(.)", lambda m: bytes([m.group(1)[0] ^ 0x20]), frame, flags=re.S)
            assert sum(frame) & 0xff == 0 and frame[1] == expected & 0xff
            expected += 1
            kind, ticks, args = frame[0], struct.unpack_from("<I", frame, 2)[0], frame[6:-1]
            if kind == 0xab:
                names[args[0]] = args[1:-1]
                continue
            items = list(self.items(args))
            if kind == 0xdc:
                low, high, rest = (value for _, _, value in items)
                epoch = struct.unpack("<q", struct.pack("<II", low, high))[0] * 10**9 + rest
                continue
            if kind == 0xdd:
                values = [value for _, _, value in items]
                pid, thread, address = values[0], values[1] | values[2] << 32, values[3] | values[4] << 32
                tid = values[5] if len(values) > 5 else 0
                continue
            if kind == 0xde:
                names[items[0][2]] = items[1][2]
                continue
            number = items.pop(0)[2] if kind == 0xdf else kind - 0xc0
            truncated = bool(items) and items[-1][:2] == (1, 15)
            if truncated:
                items.pop()
            if names[number] == b"posixtrace.account":
                lost = sum(value for i, (_, _, value) in enumerate(items[2:]) if i != 8)
                continue
            assert all(item[0] == 8 for item in items)
            events.append(Event(epoch + ticks * 1000, names[number], pid, tid, thread, address,
                                b"".join(value for _, _, value in items), truncated, False, None))
        events = self.fit(events)
        found = answer(events, losses=lost, **{"pids and threads": handles_of(events)})
        return without(found, "threads", "handles", "late", "fields")

    def fit(self, events):
        return near(events, self.gate.events, lambda f, w: 0 <= w.ns - f.ns < 1000)

    @staticmethod
    def items(args):
        sizes, at = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 12: 8, 13: 8, 14: 4, 15: 8}, 0
        while at < len(args):
            kind, width, at = args[at] & 15, args[at] >> 4, at + 1
            if kind == 7:
                end = args.index(0, at)
                yield kind, width, args[at:end]
                at = end + 1
            elif kind == 8:
                yield kind, width, args[at + 1:at + 1 + args[at]]
                at += 1 + args[at]
            else:
                yield kind, width, int.from_bytes(args[at:at + sizes[kind]], "little")
                at += sizes[kind]


class Tracex(Consumer):
    """A reader of the dump and of its side file in this file."""
    suffix = "trx"
    lost = {**NO_PLACE, "threads": "a pthread_t, or else the Linux number", "handles": "see threads",
            "times": "below the tick, and steps of the clock backward", "first and last": "see times",
            "order": "see times", "payloads": "16 bytes", "names": "user events' in the side file",
            "addresses": "no place", "truncation": "no place", "losses": "no place"}

    def read(self, path):
        with open(path, "rb") as file:
            data = file.read()
        with open(path + ".trxc", "rb") as file:
            side = {int(line.split(b", ")[0]): line.split(b", ")[1] for line in file if b", " in line}
        words = struct.unpack_from("<4I2H7I", data)
        base, first_slot, size, end_slot, first, last = words[2], words[3], words[5], words[6], words[7], words[8]
        threads, base_ns, tick = {}, 0, 1
        for at in range(first_slot - base, end_slot - base, 16 + size):
            kind, pointer, p1, p2 = data[at + 1], *struct.unpack_from("<3I", data, at + 4)
            name = data[at + 16:at + 16 + size].split(b"\0")[0].decode()
            if kind == 1 and ":" in name:
                threads[pointer] = int(name.split(":")[0]), int(name.split(":")[1], 16)
            elif name.startswith("posixtrace tick"):
                tick, base_ns = int(name.split()[2]), p1 * 10**9 + p2
        most, events = None, []
        for at in range(first - base, last - base, 32):
            pointer, _, number, stamp = struct.unpack_from("<4I", data, at)
            pid, thread = threads.get(pointer, (0, 0))
            events.append(Event(base_ns + stamp * tick, side.get(number), pid, 0, thread, 0,
                                data[at + 16:at + 32], False, False, None))
        shift, result = events[0].ns - self.gate.events[0].ns, []
        assert shift % (1 << 32) % 10**9 == 0 or shift == 0 or self.gate.events[0].ns < 0
        for f, w in zip(events, self.gate.events):
            most = w.ns if most is None else max(most, w.ns)
            if 0 <= most - (f.ns - shift) < tick:
                f = f._replace(ns=w.ns)
            if f.data == w.data[:16].ljust(16, b"\0"):
                f = f._replace(data=w.data)
            if f.name == (re.sub(rb"[,\r\n]", b"_", w.name) or b"?"):
                f = f._replace(name=w.name)
            result.append(f)
        events = result + events[len(self.gate.events):]
        found = answer(events, **{"pids and threads": handles_of(events)})
        return without(found, "threads", "handles", "late", "fields", "addresses", "truncation")


class Etw(Consumer):
    """A reader of its buffers and records in this file."""
    suffix = "etl"
    lost = {"threads": "a thread without a Linux number has another", "late": "no place",
            "handles": "of a thread without one its Linux number", "fields": "in the registry's schemas",
            "spans": "types 1 and 2 of a class, nested or not", "objects": "no place",
            "attributes": "in the registry", "ledger": "in the registry, by cause",
            "losses": "by cause alone", "levels": "4 where there is none"}

    fit = as_they_are

    def read(self, path):
        with open(path, "rb") as file:
            data = file.read()
        size = 65536
        start, = struct.unpack_from("<q", data, 72 + 32 + 0x108)
        lost, = struct.unpack_from("<I", data, 72 + 32 + 0x30)
        h0, = struct.unpack_from("<q", data, 72 + 16)
        space = uuid.UUID("8f6d2c1e-5b1a-4c57-9a3e-7d0b6f1e2a94")
        registry = uuid.uuid5(space, "posixtrace-registry").bytes_le
        names, events, levels = {}, [], {}
        for block in range(size, len(data), size):
            filled, at = struct.unpack_from("<I", data, block + 0x30)[0], 72
            while at < filled:
                length, = struct.unpack_from("<H", data, block + at)
                record = data[block + at:block + at + length]
                at = (at + length + 7) // 8 * 8
                if record[24:40] == registry:
                    if record[4] == 10:
                        names[struct.unpack_from("<I", record, 48)[0]] = record[72:-1]
                elif record[4] == 5:
                    events[-1] = events[-1]._replace(data=events[-1].data + record[72:])
                else:
                    event, level = self.event(record, (start - 116444736000000000) * 100 - h0, names)
                    events.append(event)
                    levels[event.name] = level
        found = answer(events, losses=lost, **{"pids and threads": handles_of(events)})
        return without(found, "threads", "handles", "late", "fields")

    @staticmethod
    def event(record, base_ns, names):
        _, pid, stamp = struct.unpack_from("<IIq", record, 8)
        number, truncation, thread, address = struct.unpack_from("<2I2Q", record, 48)
        return Event(base_ns + stamp, names[number], pid, 0, thread, address, record[72:],
                     truncation != 0, False, None), record[5]


class Back(Consumer):
    """Converted back by posixtrace; readlog.py reads the resulting log."""
    of = None
    options = []
    drop = ()  # properties that the format does not have

    def fit(self, events):
        return self.of(self.gate).fit(events)

    def log_of(self, path, target):
        if os.path.exists(target):
            os.unlink(target)
        subprocess.run([self.gate.tool, "convert", path, *self.options, "--to", "log", "-o", target],
                       check=True, stderr=subprocess.DEVNULL)
        log = readlog.Log(target)
        events, found = answers_of(log)
        return events, found

    def read(self, path):
        base = os.path.join(self.gate.folder, "back." + self.of.suffix)
        os.makedirs(base, exist_ok=True)
        events, found = self.log_of(path, base + ".ptl")
        again = os.path.join(base, os.path.basename(path)) # the name of a log may come from it
        if os.path.exists(again):
            os.unlink(again)
        subprocess.run([self.gate.tool, "convert", base + ".ptl", "--to", self.to, "-o", again],
                       check=True, stderr=subprocess.DEVNULL)
        _, twice = self.log_of(again, base + ".again.ptl")
        result = answer(self.fit(events), **{"pids and threads": handles_of(events)})
        for key in "levels", "spans", "objects", "losses", "attributes", "ledger":
            result[key] = found[key]
        result["once more"] = "equal" if found == twice else \
            "differs: " + ", ".join(key for key in found if found[key] != twice[key])
        return without(result, *self.drop)


BACK_LOST = {"threads": "a pthread_t, or else the Linux number", "handles": "see threads",
             "late": "no place", "fields": "no schemas", "levels": "no schemas", "spans": "no schemas",
             "objects": "no place", "attributes": "no place"}


class EvtBack(Back):
    __doc__ = Back.__doc__
    of, suffix, to = Evt, "evt", "evt"
    lost = {**BACK_LOST, "losses": "comments", "ledger": "comments", "names": Evt.lost["names"]}
    drop = ("threads", "handles", "late", "fields", "levels", "spans", "objects", "attributes", "losses",
            "ledger")


class RkhBack(Back):
    __doc__ = Back.__doc__
    of, suffix, to = Rkh, "rkh", "rkh"
    options = ["--max-frame=1048576"]
    lost = {**BACK_LOST, "ledger": "by cause alone", "times": Rkh.lost["times"],
            "first and last": "see times"}
    drop = ("threads", "handles", "late", "fields", "levels", "spans", "objects", "attributes", "ledger")


class TracexBack(Back):
    __doc__ = Back.__doc__
    of, suffix, to = Tracex, "trx", "tracex"
    lost = {**BACK_LOST, **{key: Tracex.lost[key] for key in
                            ("times", "first and last", "order", "payloads", "addresses", "truncation",
                             "losses", "names")},
            "fields": "those of the entries", "objects": "the registry", "ledger": "no place"}
    drop = ("threads", "handles", "late", "fields", "levels", "spans", "objects", "attributes", "ledger",
            "losses", "addresses", "truncation", "names", "times", "order", "payloads", "first and last",
            "pids and threads")

    def fit(self, events):
        return [e for e in events if e.name not in (b"tracex_header", b"tracex_object")]


class EtwBack(Back):
    __doc__ = Back.__doc__
    of, suffix, to = Etw, "etl", "etw"
    lost = {"late": "no place", "ledger": "by cause alone", "objects": "no place"}
    drop = ("late", "ledger", "objects")
