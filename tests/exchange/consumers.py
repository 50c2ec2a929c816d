# SPDX-License-Identifier: LGPL-2.1-or-later
"""Readers of a log, or of the result of posixtrace convert: one class each."""
import collections
import csv
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess

import readlog
from answers import (CAUSES, Answers, Event, answer, answers_of, decode, digest, lost_of, paired_spans,
                     without)

def typed(fields, kinds):
    """Converts fields of JSON back into values."""
    result = {}
    for name, value in fields.items():
        kind, count = kinds[name]
        if kind == "str":
            value = value.encode()
        elif kind == "bytes":
            value = bytes.fromhex(value)
        elif kind in ("f32", "f64"):
            value = float(value)
        else:
            value = [int(v, 0) if isinstance(v, str) else v for v in value] if count else \
                int(value, 0) if isinstance(value, str) else value
        result[name] = value
    return result


class Consumer:
    """One format and its reader.

    What read() finds must be equal, as far as the format can show it (shown, shown_fields). lost has
    the reasons why a property is not found, or not quite; na those why there can be none.
    """
    suffix = ""
    lost = {}
    na = {}
    shown = None
    shown_fields = None
    ends_text = False # a text at the end of the data gets a NUL if it has none

    def __init__(self, gate):
        self.gate = gate

    def available(self):
        return True

    def kinds(self, name):
        return self.gate.kinds.get(name, {})

    def spans_found(self, spans):
        """For a reader that finds all spans of the log, including events with a duration."""
        return self.gate.wanted["spans"] if spans == self.gate.spans else digest(spans.items())


class Log(Consumer):
    """The log itself, read by readlog.py."""
    suffix = "ptl"

    def read(self, path):
        return answers_of(readlog.Log(path))[1]


def is_utf8(value):
    try:
        return not isinstance(value, bytes) or value.decode() is not None
    except UnicodeDecodeError:
        return False


def replaced(text):
    return text.decode("utf-8", "replace").encode()


class JsonLines(Consumer):
    """Python's json."""
    suffix = "jsonl"
    shown_fields = staticmethod(replaced)
    lost = {"fields": "a str that is no UTF-8 is replaced in fields; hex has its bytes"}

    def read(self, path):
        events, levels, objects, roles, facts, end = [], {}, [], {}, None, None
        with open(path, encoding="utf-8") as file:
            for line in file:
                entry = json.loads(line)
                if "trace" in entry:
                    facts = entry
                elif "type" in entry:
                    name = self.name(entry, "type")
                    if "level" in entry:
                        levels[name] = entry["level"]
                    for phase in "begin", "end":
                        if phase + "s" in entry:
                            roles[name] = (phase, entry[phase + "s"])
                elif "object" in entry:
                    objects.append((entry["pid"], int(entry["pointer"], 16),
                                    self.name(entry, "object")))
                elif "event" in entry:
                    events.append(self.event(entry))
                elif "end" in entry:
                    end = entry
        return answer(
            events, levels=digest(levels.items()), spans=paired_spans(events, roles, self.gate.keys),
            objects=digest(objects), losses=sum(end["ledger"]["lost"].values()),
            attributes=digest(map(repr, (
                facts["trace"].encode(), facts["host"].encode(), facts["generation"].encode(),
                facts["clock"].encode(), facts["pid"], int(facts["created_ns"])))),
            ledger=digest([sorted(self.line(end["ledger"]).items()),
                           sorted((self.name(l, "type"), sorted(self.line(l).items()))
                                  for l in end["types"] if l["called"]),
                           sorted(((l["pid"], l["tid"], int(l["thread"], 16)),
                                   sorted(self.line(l).items())) for l in end["threads"])]))

    @staticmethod
    def line(entry):
        return {"called": entry["called"], "reported": entry["reported"],
                "unread": entry["unread"],
                "lost": [entry["lost"].get(cause, 0) for cause in CAUSES]}

    @staticmethod
    def name(entry, key):
        return bytes.fromhex(entry[key + "_hex"]) if key + "_hex" in entry else \
            entry[key].encode()

    def event(self, entry):
        name = self.name(entry, "event")
        data = entry["text"].encode() if "text" in entry else bytes.fromhex(entry.get("hex", ""))
        assert len(data) == entry["len"]
        fields = typed(entry["fields"], self.kinds(name)) if "fields" in entry else None
        return Event(int(entry["ns"]), name, entry["pid"], entry["tid"],
                     int(entry["thread"], 16), int(entry["address"], 16), data,
                     "truncated" in entry, entry.get("late", False), fields)


class Csv(Consumer):
    """Python's csv."""
    suffix = "csv"
    shown_fields = staticmethod(replaced)
    lost = {"fields": "a str that is no UTF-8 is replaced, and data over 4 KiB has none; hex has all",
            "levels": "no column", "spans": "no column",
            "objects": "no column", "attributes": "no column", "ledger": "its totals only"}

    def read(self, path):
        events, lost = [], 0
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["cause"]:
                    lost += int(row["lost"]) if row["lost"] != "?" else 0
                    continue
                events.append(Event(
                    int(row["ns"]), unescape(row["event"]), int(row["pid"]), int(row["tid"]),
                    int(row["thread"], 16), int(row["address"], 16), bytes.fromhex(row["hex"]),
                    row["truncated"] == "1", row["late"] == "1",
                    typed(json.loads(row["fields"]), self.kinds(unescape(row["event"])))
                    if row["fields"] else None))
        return answer(events, losses=lost)


def unescape(text):
    result = b""
    for match in re.finditer(r"\\\\|\\x([0-9a-f]{2})|\\u([0-9a-f]{4,})|[^\\]+", text):
        if match.group(1):
            result += bytes.fromhex(match.group(1))
        elif match.group(2):
            result += chr(int(match.group(2), 16)).encode()
        else:
            result += b"\\" if match.group(0) == "\\\\" else match.group(0).encode()
    return result


def is_unsafe(c):
    return (c < 0x20 or 0x7f <= c < 0xa0 or c in (0xad, 0x61c, 0xfeff) or
            0x200b <= c <= 0x200f or 0x2028 <= c <= 0x202e or 0x2060 <= c <= 0x206f or
            0xfff0 <= c <= 0xfffb or c & 0xfffe == 0xfffe or 0xe0000 <= c <= 0xe0fff)


def plain(raw):
    """The form of a name in formats that need valid UTF-8."""
    shown, at = b"", 0
    while at < len(raw):
        for size in 1, 2, 3, 4:
            try:
                character = raw[at:at + size].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            character = ""
        if len(character) == 1 and not is_unsafe(ord(character)):
            shown += raw[at:at + size]
            at += size
        else:
            shown += b"\\x%02x" % raw[at]
            at += 1
    return shown


ESCAPED = "what is no printable UTF-8 is escaped"


class Ctf(Consumer):
    """Babeltrace 2, by its Python bindings; it orders events by time."""
    suffix = "ctf"
    shown = staticmethod(plain)
    ends_text = True
    lost = {"names": ESCAPED + "; the environment has the bytes", "order": "of times that fall",
            "payloads": "a text at the end gets the NUL that it lacks",
            "objects": "no place", "attributes": "creation is text", "ledger": "the sum only"}
    na = {"spans": "CTF has none"}

    def available(self):
        return subprocess.run(["/usr/bin/python3", "-c", "import bt2"],
                              capture_output=True).returncode == 0

    def read(self, path):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read_bt2.py")
        done = subprocess.run(["/usr/bin/python3", script, path], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        events, levels, lost = [], {}, 0
        for line in done.stdout.splitlines():
            entry = json.loads(line)
            if "lost" in entry:
                lost += entry["lost"]
                continue
            name = (entry["event"] or "").encode()
            kinds = self.kinds(name)
            if entry["level"] is not None:
                levels[name] = {2: 1, 3: 2, 4: 3, 6: 4, 14: 5}[entry["level"]]
            if "data" in entry:
                data, fields = bytes.fromhex(entry["data"]), None
                if kinds: # truncated, or longer than the schema: the class with the bytes
                    fields = self.gate.decode(name, data)
            else:
                fields = typed(entry["fields"], kinds)
                data = self.gate.encode(name, fields)
            events.append(Event(entry["ns"], name, entry["pid"], entry["tid"], entry["thread"],
                                entry["address"], data, entry["truncated"], entry["late"],
                                fields))
        return without(answer(events, levels=digest(levels.items()), losses=lost), "order")


class Babeltrace(Ctf):
    """Babeltrace 2 with our source plugin; auto-discovered."""
    suffix = None
    lost = {"names": ESCAPED, "payloads": "a text has no NUL", "order": "of times that fall", "objects": "no place",
            "attributes": "name, host and process only", "ledger": "the sum only"}
    shown = staticmethod(lambda name: plain_plugin(name))

    def available(self):
        return os.environ.get("BABELTRACE_PLUGIN_PATH") and super().available()


def plain_plugin(raw):
    """The plugin shows more characters, and escapes all bytes of a name that is not UTF-8."""
    good = is_utf8(raw)
    return b"".join(b"\\x%02x" % c if c < 0x20 or c == 0x7f or (c > 0x7f and not good) else
                    bytes([c]) for c in raw)


class Sqlite(Consumer):
    """Python's sqlite3."""
    suffix = "db"
    shown_fields = staticmethod(replaced)
    lost = {"fields": "a str that is no UTF-8 is replaced in fields; data has its bytes"}

    def read(self, path):
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        names = {row[0]: bytes(row[2]) if row[2] is not None else row[1].encode()
                 for row in db.execute("select id, name, name_bytes from type")}
        roles = {names[row[0]]: (row[1], row[2]) for row in
                 db.execute("select id, phase, span from type where phase is not null")}
        unsigned = lambda number: number & (1 << 64) - 1
        events, kinds = [], {}
        for (ns, kind, pid, tid, handle, address, truncated, late, data, fields) in db.execute(
                "select ns, type, pid, tid, handle, address, truncated, late, data, fields "
                "from event join thread on thread.id = thread order by event.id"):
            name = names[kind]
            events.append(Event(ns, name, pid, tid, unsigned(handle), unsigned(address), bytes(data),
                                bool(truncated), bool(late),
                                typed(json.loads(fields), self.kinds(name)) if fields else None))
        facts = dict(db.execute("select key, value from trace"))
        levels = {names[row[0]]: row[1] for row in
                  db.execute("select id, level from type where level is not null")}
        lines = collections.defaultdict(lambda: {"lost": [0] * len(CAUSES)})
        threads = {row[0]: (row[1], row[2], unsigned(row[3])) for row in
                   db.execute("select id, pid, tid, handle from thread")}
        for kind, thread, called, reported, unread, cause, lost in db.execute(
                "select type, thread, called, reported, unread, cause, lost from ledger"):
            entry = lines[kind, thread]
            if cause is None:
                entry.update(called=called, reported=reported, unread=unread)
            else:
                entry["lost"][CAUSES.index(cause)] = lost
        total = lines.pop((None, None))
        return answer(
            events, levels=digest(levels.items()), spans=paired_spans(events, roles, self.gate.keys),
            objects=digest((row[0], unsigned(row[1]), row[2].encode()) for row in
                           db.execute("select pid, pointer, name from object")),
            losses=lost_of(total),
            attributes=digest(map(repr, (
                facts["name"].encode(), facts["host"].encode(), facts["generation"].encode(),
                facts["clock"].encode(), facts["pid"], facts["creation_ns"]))),
            ledger=digest([
                sorted(total.items()),
                sorted((names[k], sorted(l.items())) for (k, t), l in lines.items()
                       if k and l["called"]),
                sorted((threads[t], sorted(l.items())) for (k, t), l in lines.items() if t)]))


class Parquet(Consumer):
    """DuckDB, in Node."""
    suffix = "parquet"
    shown = staticmethod(lambda raw: raw if is_utf8(raw) else plain(raw))
    lost = {"names": "one that is no UTF-8 is escaped", "fields": "in columns, which test_parquet.sh compares with query",
            "attributes": "the table streams has no generation",
            "ledger": "compared with query by test_parquet.sh"}

    def available(self):
        return os.environ.get("DUCKDB") and shutil.which("node")

    def rows(self, path, *queries):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "duckdb_query.js")
        done = subprocess.run(["node", script, os.environ["DUCKDB"], path, *queries],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return map(json.loads, done.stdout.splitlines())

    def read(self, path):
        events, levels, spans, objects, lost = self.rows(
            path,
            "select time, name, pid, tid, thread, address, hex(data), coalesce(flags, '') "
            "from 'events.parquet'",
            "select name, level from 'types.parquet' where level is not null",
            "select span, \"begin\", \"end\" from 'spans.parquet'",
            "select pid, pointer, name from 'objects.parquet'",
            "select coalesce(sum(count), 0)::bigint from 'ledger.parquet' "
            "where term like 'lost: %' and term <> 'lost: cleared'")
        unsigned = lambda number: int(number) & (1 << 64) - 1
        base = self.gate.base
        return without(answer(
            [Event(int(row[0]), row[1].encode(), int(row[2]), int(row[3]), unsigned(row[4]),
                   unsigned(row[5]), bytes.fromhex(row[6]), "truncated" in row[7], "late" in row[7], None)
             for row in events],
            levels=digest((row[0].encode(), int(row[1])) for row in levels),
            spans=self.spans_found(collections.Counter((row[0], max(int(row[1]), base), int(row[2]))
                                                       for row in spans)),
            objects=digest((int(row[0]), unsigned(row[1]), row[2].encode()) for row in objects),
            losses=int(lost[0][0])), "fields")
