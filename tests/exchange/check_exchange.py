# SPDX-License-Identifier: LGPL-2.1-or-later
"""The gate of posixtrace convert: one rich log in every format, opened by somebody else.

	python3 check_exchange.py POSIXTRACE RICH_LOG FOLDER [MARKDOWN]

The log is read by readlog.py, which knows lib/log/FORMAT alone. Each format is written by POSIXTRACE
into FOLDER and read by a consumer that is not of this project; what the consumer found is compared
property by property. A cell of the matrix is "equal", the word "lost" with a note that the design
has it so, "n/a" with one, or "DIFFERS", and then the gate fails. A consumer that is not there makes
its row "not run", which is said.

PERFETTO_UI names the folder with engine_bundle.js and trace_processor.wasm, SPEEDSCOPE that of the npm
package speedscope.
"""
import collections
import csv
import hashlib
import json
import math
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import readlog  # noqa: E402

PROPERTIES = ["events", "names", "order", "first and last", "times", "threads", "handles",
              "addresses", "payloads", "truncation", "late", "fields", "levels", "spans",
              "objects", "losses", "attributes", "ledger"]

# ------------------------------------------------------------------ what a payload says

SCALARS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i",
           "s64": "q", "x8": "B", "x16": "H", "x32": "I", "x64": "Q", "f32": "f", "f64": "d",
           "bool": "B", "char": "B", "ptr": "Q", "ns": "Q", "time": "q", "errno": "i"}


def parse_schema(text):
    fields, facts = [], {}
    for item in text.decode().split(";"):
        item = item.strip()
        if not item:
            continue
        if item.startswith("@"):
            word, value = item[1:].split(None, 1)
            facts[word] = value.strip()
            continue
        match = re.match(r"(\w+)(?:\[(\d+)\])?\s+(\w+)\s*(?:\{.*\})?$", item)
        fields.append((match.group(1), int(match.group(2) or 0), match.group(3)))
    return fields, facts


def decode(fields, data):
    """The fields as far as the data has them whole, and whether it has all and no more."""
    values, at = {}, 0
    for kind, count, name in fields:
        if kind == "str" and not count:
            if at >= len(data):
                return values, False
            end = data.find(0, at)
            values[name] = bytes(data[at:end if end >= 0 else len(data)])
            at = end + 1 if end >= 0 else len(data)
        elif kind in ("str", "bytes"):
            size = count
            if not count:
                if at + 4 > len(data):
                    return values, False
                size, = struct.unpack_from("=I", data, at)
                at += 4
            if at + size > len(data):
                return values, False
            value = bytes(data[at:at + size])
            values[name] = value.split(b"\0")[0] if kind == "str" else value
            at += size
        else:
            code = SCALARS[kind]
            size = struct.calcsize("=" + code)
            there = min(count or 1, (len(data) - at) // size)
            got = struct.unpack_from("=%d%s" % (there, code), data, at)
            if there:
                values[name] = list(got) if count else got[0]
            if there < (count or 1):
                return values, False
            at += size * there
    return values, at == len(data)


# ------------------------------------------------------------------ the wanted answers

Event = collections.namedtuple("Event", "ns name pid tid thread address data truncated late fields")


class Answers(dict):
    """What a consumer found, by property; what is missing was not looked for."""


def without(answers, *properties):
    for key in properties:
        del answers[key]
    return answers


def digest(items):
    sha = hashlib.sha256()
    for item in sorted(repr(item) for item in items):
        sha.update(item.encode() + b"\n")
    return sha.hexdigest()[:16]


def in_order(events):
    sha = hashlib.sha256()
    for event in events:
        sha.update(repr((event.ns, event.name)).encode())
    return sha.hexdigest()[:16]


def answer(events, **more):
    answers = Answers()
    answers["events"] = len(events)
    answers["names"] = digest(collections.Counter(e.name for e in events).items())
    answers["order"] = in_order(events)
    answers["first and last"] = (min(e.ns for e in events), max(e.ns for e in events))
    answers["times"] = digest((e.ns, e.name) for e in events)
    answers["threads"] = digest(collections.Counter((e.pid, e.tid) for e in events).items())
    answers["handles"] = digest(collections.Counter((e.pid, e.tid, e.thread)
                                                    for e in events).items())
    answers["addresses"] = digest((e.ns, e.name, e.address) for e in events)
    answers["payloads"] = digest((e.ns, e.name, e.data) for e in events)
    answers["truncation"] = digest((e.ns, e.name) for e in events if e.truncated)
    answers["late"] = digest((e.ns, e.name) for e in events if e.late)
    answers["fields"] = digest((e.ns, e.name, sorted(e.fields.items())) for e in events
                               if e.fields)
    answers.update(more)
    return answers


def proven_spans(events, roles):
    """Spans that nest on every thread, as the manual says; losses end what is open."""
    guilty = set()
    while True:
        stacks, spans, again = collections.defaultdict(list), collections.Counter(), False
        for e in events:
            if e.name == b"posix_trace_resume":
                stacks.clear()
            phase, span = roles.get(e.name, (None, None))
            if not phase or span in guilty:
                continue
            stack = stacks[e.pid, e.tid, e.thread]
            if phase == "begin":
                stack.append((span, e.ns))
            elif stack and stack[-1][0] == span:
                spans[span, stack.pop()[1], e.ns] += 1
            elif any(entry[0] == span for entry in stack):
                at = max(i for i, entry in enumerate(stack) if entry[0] == span)
                guilty |= {entry[0] for entry in stack[at:]}
                again = True
                break
        if not again:
            return digest(spans.items())


ENDINGS = [("_start", "_stop"), ("_start", "_end"), ("_begin", "_end"), ("_enter", "_exit"),
           ("_enter", "_leave"), ("_entry", "_exit")]


def roles_of(log):
    roles, names = {}, set(log.names.values())
    for number, name in log.names.items():
        facts = parse_schema(log.schemas[number])[1] if number in log.schemas else {}
        if "begin" in facts:
            roles[name] = ("begin", facts["begin"])
        elif "end" in facts:
            roles[name] = ("end", facts["end"])
        elif number >= 64:
            for begin, end in ENDINGS:
                for phase, mine, other in ("begin", begin, end), ("end", end, begin):
                    stem = name[:-len(mine)]
                    if name.endswith(mine.encode()) and stem and stem + other.encode() in names:
                        roles[name] = (phase, stem.decode())
    return roles


def lost_of(ledger):
    return sum(count for cause, count in enumerate(ledger["lost"]) if cause != 8)


def attributes_of(log):
    return (log.name, log.host, log.generation, log.clock, log.pid, log.creation_ns)


def events_of(log):
    schemas = {number: parse_schema(text)[0] for number, text in log.schemas.items()}
    for e in log.events():
        fields = decode(schemas[e.type], e.data)[0] if e.type in schemas else None
        yield Event(e.ns, log.names[e.type], e.pid, e.tid, e.thread, e.address, bytes(e.data),
                    e.truncated, e.late, fields)


def answers_of(log):
    events = list(events_of(log))
    levels = {log.names[n]: int(parse_schema(t)[1]["level"]) for n, t in log.schemas.items()
              if "level" in parse_schema(t)[1]}
    return events, answer(
        events, levels=digest(levels.items()), spans=proven_spans(events, roles_of(log)),
        objects=digest((pid, pointer, name) for _, pid, pointer, _, name in log.objects),
        losses=lost_of(log.ledger), attributes=digest(map(repr, attributes_of(log))),
        ledger=digest([sorted(log.ledger.items()),
                       sorted((log.names[n], sorted(l.items()))
                              for n, l in log.ledger_types.items()),
                       sorted((k, sorted(l.items()))
                              for k, l in log.ledger_threads.items())]))


# ------------------------------------------------------------------ consumers

CAUSES = ["overwritten", "stream full", "log full", "overwritten in the log", "flush error",
          "no memory", "too many threads", "nested too deep", "cleared", "damaged"]


def typed(fields, kinds):
    """JSON's way to write fields, back into values."""
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
    """One format and who reads it.

    What read() finds must be equal, as far as the format can show it (shown, shown_fields). lost has
    the reasons why a property is not found, or not quite; na those why there can be none.
    """
    suffix = ""
    lost = {}
    na = {}
    shown = None
    shown_fields = None
    ends_text = False # a text at the end of the data gets the NUL that it may lack

    def __init__(self, gate):
        self.gate = gate

    def available(self):
        return True

    def kinds(self, name):
        return self.gate.kinds.get(name, {})


class Log(Consumer):
    """The log once more, by readlog.py."""
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
            events, levels=digest(levels.items()), spans=proven_spans(events, roles),
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
    lost = {"fields": "hex has the data", "levels": "no column", "spans": "no column",
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
                    row["truncated"] == "1", row["late"] == "1", None))
        found = answer(events, losses=lost)
        return without(found, "fields")


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
    """How a name is shown where it has to be safe UTF-8."""
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
                if kinds: # cut, or more than the schema says: the class with the bytes
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
    lost = {"names": ESCAPED, "payloads": "a text is told without its NUL", "order": "of times that fall", "objects": "no place",
            "attributes": "name, host and process only", "ledger": "the sum only"}
    shown = staticmethod(lambda name: plain_plugin(name))

    def available(self):
        return os.environ.get("BABELTRACE_PLUGIN_PATH") and super().available()


def plain_plugin(raw):
    """The plugin shows more characters, and escapes bytes of all of a name that is no UTF-8."""
    good = is_utf8(raw)
    return b"".join(b"\\x%02x" % c if c < 0x20 or c == 0x7f or (c > 0x7f and not good) else
                    bytes([c]) for c in raw)


class Perfetto(Consumer):
    """Perfetto's own trace processor, in Node."""
    suffix = "pftrace"
    shown = staticmethod(plain)
    lost = {"names": ESCAPED, "order": "of times that fall",
            "handles": "a thread that has a Linux number is known by that",
            "levels": "no place", "objects": "names of what a ptr field points to",
            "ledger": "its totals only", "fields": "compared by payloads",
            "late": "an annotation", "times": "a span's end has the span's name",
            "threads": "see handles", "addresses": "by time and name, see times",
            "payloads": "see times", "truncation": "see times"}

    def available(self):
        return self.gate.perfetto and shutil.which("node")

    def read(self, path):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto_query.js")
        queries = [
            "select s.ts, s.dur, s.name, s.arg_set_id, s.track_id from slice s",
            "select arg_set_id, key, coalesce(string_value, int_value, real_value) from args "
            "where key like 'debug.%'",
            "select tt.id, t.tid, p.pid from thread_track tt join thread t using (utid) "
            "left join process p using (upid)",
            "select name, value from stats where severity = 'error' and value > 0",
            "select id, name from track",
        ]
        done = subprocess.run(["node", script, self.gate.perfetto, path, *queries],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        slices, args, threads, errors, tracks = map(json.loads, done.stdout.splitlines())
        if errors:
            raise RuntimeError("the trace processor complains: %s" % errors)
        said = collections.defaultdict(dict)
        for number, key, value in args:
            said[number][key[6:]] = value
        names = dict(tracks)
        count, lost, facts, spans = 0, 0, None, collections.Counter()
        first, last, payloads = math.inf, -math.inf, []
        threads = {row[0]: (int(row[2] or 0), int(row[1])) for row in threads}
        for ts, dur, name, arg, track in slices:
            ts, dur = int(ts), int(dur)
            notes = said[arg]
            if names[track] == "lost events":
                lost += int(notes.get("count", 0)) if not dur else 0
                continue
            if name == "trace" and names[track] == "stream":
                facts = notes
                continue
            first, last = min(first, ts), max(last, ts + max(dur, 0))
            if dur > 0 or (dur < 0 and name in self.gate.span_names):
                count += 2 if dur > 0 and "cut_by_lost_events" not in notes else 1
                if dur > 0 and "cut_by_lost_events" not in notes:
                    spans[name, ts, ts + dur] += 1
            else:
                count += 1
        return answer_of({
            "events": count, "first and last": (first, last), "losses": lost,
            "spans": digest(spans.items()),
            "attributes": digest(map(repr, (
                facts["name"].encode(), facts["host"].encode(), facts["generation"].encode(),
                facts["clock"].encode(), int(facts["pid"]), int(facts["creation_ns"]))))})


def answer_of(known):
    answers = Answers()
    answers.update(known)
    return answers


class Chrome(Consumer):
    """Python's json."""
    suffix = "json"
    lost = {"handles": "a thread is its low bits, or its Linux number", "names": "a span's events have the span's name", "order": "see names",
            "times": "see names", "addresses": "see names", "payloads": "see names",
            "truncation": "see names", "late": "see names", "fields": "see names",
            "threads": "a thread without a Linux number has its handle's low bits",
            "levels": "no place", "objects": "no place", "ledger": "its totals only",
            "attributes": "the time of creation"}

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            trace = json.load(file, parse_float=str)
        base, count, lost, handles = int(trace["otherData"]["base_ns"]), 0, 0, collections.Counter()
        first, last, spans, open_spans = math.inf, -math.inf, collections.Counter(), \
            collections.defaultdict(list)
        for entry in trace["traceEvents"]:
            if entry["ph"] == "M":
                continue
            if entry.get("cat") == "lost":
                lost += entry["args"].get("count", 0)
                continue
            ts = entry["ts"]
            whole, part = ts.lstrip("-").split(".")
            ns = base + (-1 if ts[0] == "-" else 1) * (int(whole) * 1000 + int(part))
            where = entry["pid"], entry["tid"]
            if "cut_by_lost_events" in entry["args"]:
                open_spans[where].pop()
                continue
            count += 1
            first, last = min(first, ns), max(last, ns)
            handles[entry["pid"], int(entry["args"]["thread"], 16)] += 1
            if entry["ph"] == "B":
                open_spans[where].append((entry["name"], ns))
            elif entry["ph"] == "E":
                name, begun = open_spans[where].pop()
                assert name == entry["name"]
                spans[name, begun, ns] += 1
        return answer_of({"events": count, "first and last": (first, last), "losses": lost,
                          "spans": digest(spans.items()),
                          "pids and handles": digest(handles.items())})


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
        lines = collections.defaultdict(lambda: {"lost": [0] * 10})
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
            events, levels=digest(levels.items()), spans=proven_spans(events, roles),
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


CONSUMERS = [("log", Log), ("babeltrace", Babeltrace), ("jsonl", JsonLines), ("csv", Csv), ("sqlite", Sqlite), ("ctf", Ctf),
             ("perfetto", Perfetto), ("chrome", Chrome)]

# ------------------------------------------------------------------ the gate


class Gate:
    def __init__(self, tool, path, folder):
        self.tool, self.path, self.folder = tool, path, folder
        self.perfetto = os.environ.get("PERFETTO_UI")
        log = readlog.Log(path)
        self.events, self.wanted = answers_of(log)
        self.schemas = {log.names[n]: parse_schema(t)[0] for n, t in log.schemas.items()}
        self.kinds = {name: {f[2]: (f[0], f[1]) for f in fields}
                      for name, fields in self.schemas.items()}
        self.span_names = {span for _, span in roles_of(log).values()}
        self.formats = subprocess.run([tool, "convert", "--list"], capture_output=True,
                                      text=True, check=True).stdout

    def missing_nul(self, event):
        fields = self.schemas.get(event.name)
        if not fields or fields[-1][:2] != ("str", 0) or event.data.endswith(b"\0"):
            return b""
        values, whole = decode(fields, event.data)
        # Of another class, with its bytes, if any text is no UTF-8.
        return b"\0" if whole and all(is_utf8(value) for value in values.values()) else b""

    def schemas_kind(self, name, field):
        return self.kinds[name][field][0]

    def decode(self, name, data):
        return decode(self.schemas[name], data)[0]

    def encode(self, name, values):
        """The payload that these fields were in; a last str had its NUL."""
        data = b""
        for kind, count, field in self.schemas[name]:
            value = values[field]
            if kind == "str":
                data += value.ljust(count, b"\0") if count else value + b"\0"
            elif kind == "bytes":
                data += (b"" if count else struct.pack("=I", len(value))) + value
            else:
                data += struct.pack("=%d%s" % (count or 1, SCALARS[kind]),
                                    *(value if count else [value]))
        return data

    def wanted_of(self, consumer):
        """As the consumer's format has to show it."""
        events = self.events
        if consumer.shown:
            events = [e._replace(name=consumer.shown(e.name)) for e in events]
        if consumer.ends_text:
            events = [e._replace(data=e.data + self.missing_nul(e)) for e in events]
        if consumer.shown_fields:
            events = [e._replace(fields=e.fields and {
                key: consumer.shown_fields(value) if isinstance(value, bytes) and
                self.schemas_kind(e.name, key) == "str" else value
                for key, value in e.fields.items()}) for e in events]
        wanted = dict(self.wanted)
        wanted.update(answer(events))
        wanted["pids and handles"] = digest(collections.Counter(
            (e.pid, e.thread) for e in self.events).items())
        return wanted

    def row(self, name, kind):
        consumer = kind(self)
        if kind.suffix and not re.search(r"^%s .*writes" % name, self.formats, re.M):
            return None, "not built"
        if not consumer.available():
            return None, "no consumer here"
        out = self.path # of one that reads logs themselves
        if consumer.suffix:
            out = os.path.join(self.folder, "rich." + consumer.suffix)
            subprocess.run([self.tool, "convert", self.path, "--to", name, "-o", out],
                           check=True)
        found, wanted = consumer.read(out), self.wanted_of(consumer)
        cells = {}
        for key in PROPERTIES + sorted(set(found) - set(PROPERTIES)):
            if key in found and found[key] != wanted[key]:
                cells[key] = "DIFFERS: %s, wanted %s" % (found[key], wanted[key])
            elif key in consumer.lost:
                cells[key] = ("lost in part: " if key in found else "lost: ") + consumer.lost[key]
            elif key in found:
                cells[key] = "equal"
            elif key in consumer.na:
                cells[key] = "n/a: " + consumer.na[key]
            else:
                cells[key] = "DIFFERS: nobody looked"
        return cells, None


def main():
    gate = Gate(*sys.argv[1:4])
    failed, report = False, []
    for name, kind in CONSUMERS:
        cells, why = gate.row(name, kind)
        print("%-10s %s" % (name, kind.__doc__ if cells else "not run: " + why))
        for key, cell in (cells or {}).items():
            report.append((name, key, cell))
            if cell != "equal":
                print("%-10s   %-16s %s" % ("", key, cell))
            failed |= cell.startswith("DIFFERS")
    equal = sum(cell == "equal" for _, _, cell in report)
    print("check-exchange: %d events; %d cells equal, %d lost or n/a by design, %d differ" % (
        gate.wanted["events"], equal,
        sum(cell.startswith(("lost", "n/a")) for _, _, cell in report),
        sum(cell.startswith("DIFFERS") for _, _, cell in report)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
