# SPDX-License-Identifier: LGPL-2.1-or-later
"""Formats of viewers, read by the viewer's own reader or by a reader of its file."""
import collections
import json
import math
import os
import re
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import otlp  # noqa: E402
from answers import answer_of, digest
from consumers import ESCAPED, Consumer, plain, typed

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
        first, last, points = math.inf, -math.inf, []
        left = self.gate.spans.copy()
        threads = {row[0]: (int(row[2] or 0), int(row[1])) for row in threads}
        for ts, dur, name, arg, track in slices:
            ts, dur = int(ts), int(dur)
            notes = said[arg]
            if names[track] == "lost events":
                lost += int(notes.get("count", 0))
                continue
            if name == "trace" and names[track] == "stream":
                facts = notes
                continue
            is_whole = name.encode() in self.gate.took
            first, last = min(first, ts + dur if is_whole else ts), max(last, ts + max(dur, 0))
            if left[name, ts, ts + dur] > 0:
                left[name, ts, ts + dur] -= 1
                count += 1 if is_whole else 2
                spans[name, ts, ts + dur] += 1
            else:
                count += 1
                points.append((ts, name.encode(), int(notes.get("address", 0)),
                               "truncated" in notes, "late" in notes))
        return answer_of({
            "events": count, "points": digest(points), "first and last": (first, last), "losses": lost,
            "spans": self.spans_found(spans),
            "attributes": digest(map(repr, (
                facts["name"].encode(), facts["host"].encode(), facts["generation"].encode(),
                facts["clock"].encode(), int(facts["pid"]), int(facts["creation_ns"]))))})


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
        points, data = [], []
        first, last, spans, open_spans = math.inf, -math.inf, collections.Counter(), \
            collections.defaultdict(list)
        open_async = {}
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
            if entry["ph"] == "e" and not entry["args"]:
                name, begun = open_async.pop(entry["id"])
                spans[name, begun, ns] += 1
                last = max(last, ns)
                continue
            count += 1
            if entry["ph"] not in "Xb" or entry["name"].encode() not in self.gate.took:
                first, last = min(first, ns), max(last, ns)
            args = entry["args"]
            handles[entry["pid"], int(args["thread"], 16)] += 1
            if entry["ph"] == "i":
                name = bytes.fromhex(entry["name_hex"]) if "name_hex" in entry else \
                    entry["name"].encode()
                points.append((ns, name, int(args["address"], 16), "truncated" in args, "late" in args))
                data.append((ns, name, self.payload(name, args)))
            if entry["ph"] == "B":
                open_spans[where].append((entry["name"], ns))
            elif entry["ph"] == "E":
                name, begun = open_spans[where].pop()
                assert name == entry["name"]
                spans[name, begun, ns] += 1
            elif entry["ph"] == "b":
                open_async[entry["id"]] = entry["name"], ns
            elif entry["ph"] == "e":
                name, begun = open_async.pop(entry["id"])
                assert name == entry["name"]
                spans[name, begun, ns] += 1
            elif entry["ph"] == "X":
                whole, part = entry["dur"].split(".")
                end = ns + int(whole) * 1000 + int(part)
                last = max(last, end)
                spans[entry["name"], ns, end] += 1
        return answer_of({"events": count, "first and last": (first, last), "losses": lost,
                          "spans": self.spans_found(spans), "points": digest(points),
                          "points' payloads": digest(data),
                          "pids and handles": digest(handles.items())})

    def payload(self, name, args):
        """The bytes, or the fields that the schema gives."""
        if "text" in args or "hex" in args or not args.get("fields"):
            return args["text"].encode() if "text" in args else bytes.fromhex(args.get("hex", ""))
        return self.gate.encode(name, typed(args["fields"], self.gate.kinds[name]))


class Speedscope(Consumer):
    """Python's json, and the schema of speedscope's package if it is installed."""
    suffix = "speedscope"
    lost = {key: "spans alone" for key in
            ("events", "names", "order", "times", "addresses", "payloads", "truncation", "late", "fields")}
    lost.update({"first and last": "from the first event on, in ns", "levels": "no place",
                 "threads": "those with spans",
                 "handles": "see threads", "objects": "names of threads", "ledger": "their sum",
                 "attributes": "the name"})

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        self.validate(trace)
        spans, threads = collections.Counter(), set()
        names = [frame["name"] for frame in trace["shared"]["frames"]]
        for profile in trace["profiles"]:
            stack, at = [], 0
            for event in profile["events"]:
                assert event["at"] >= at, "time goes back"
                at = event["at"]
                if event["type"] == "O":
                    stack.append((event["frame"], at))
                else:
                    frame, begun = stack.pop()
                    assert frame == event["frame"], "spans cross"
                    spans[names[frame], self.gate.base + begun, self.gate.base + at] += 1
            assert not stack and at <= profile["endValue"]
            threads.add(profile["name"])
        assert len(threads) == len(trace["profiles"])
        lost = trace["name"].rsplit(", ", 1)
        return answer_of({"spans": self.spans_found(spans),
                          "losses": int(lost[1].split()[0]) if len(lost) > 1 else 0})

    @staticmethod
    def validate(trace):
        folder = os.environ.get("SPEEDSCOPE")
        if not folder:
            return
        import jsonschema
        with open(os.path.join(folder, "dist", "release", "file-format-schema.json"),
                  encoding="utf-8") as file:
            jsonschema.validate(trace, json.load(file))


class Otlp(Consumer):
    """Python's json, a reader of protobuf in tests/tools/otlp.py, and OpenTelemetry's own; they must agree."""
    suffix = "otlp"
    shown = staticmethod(plain)
    lost = {"names": ESCAPED, "order": "records are grouped by process and scope",
            "handles": "no place", "objects": "names of what a ptr field points to",
            "ledger": "its totals only", "times": "a span's events have the span's times",
            "threads": "numbers of Linux only", "addresses": "see times", "payloads": "see times",
            "truncation": "see times", "late": "see times", "fields": "see times",
            "levels": "a span has none", "attributes": "those of the resource"}

    def decoded(self, folder):
        """The protobuf as OpenTelemetry's own code reads it, if that is there."""
        package = os.environ.get("OTLP")
        if not package or not shutil.which("node"):
            return
        script = pathlib.Path(__file__).resolve().parent / "otlp_decode.js"
        done = subprocess.run(["node", script, package, folder], capture_output=True, text=True, check=True)
        for name, line in zip(otlp.SIGNALS, done.stdout.splitlines()):
            if json.loads(line) != otlp.joined(otlp.lines(folder / (name + ".jsonl"))):
                raise RuntimeError("OpenTelemetry reads other %s" % name)

    def read(self, path):
        folder = pathlib.Path(path)
        otlp.compare(folder)
        self.decoded(folder)
        spans, points, count, lost, account = collections.Counter(), [], 0, 0, None
        first, last = math.inf, -math.inf
        for _, _, span in otlp.records(otlp.joined(otlp.lines(folder / "traces.jsonl"))):
            begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
            is_whole = span["name"].encode() in self.gate.took
            spans[span["name"], begin, end] += 1
            count += 1 if is_whole else 2
            first, last = min(first, end if is_whole else begin), max(last, end)
        for _, _, log in otlp.records(otlp.joined(otlp.lines(folder / "logs.jsonl"))):
            notes, ns = otlp.attributes(log), int(log["timeUnixNano"])
            if log["eventName"] == "posixtrace.account":
                account = notes
                continue
            if log["eventName"] == "posixtrace.lost":
                lost += notes.get("posixtrace.lost.count", 0)
                continue
            count, first, last = count + 1, min(first, ns), max(last, ns)
            points.append((ns, log["eventName"].encode(), int(notes.get("posixtrace.address", "0"), 16),
                           "posixtrace.truncated" in notes, "posixtrace.late" in notes))
        if account["posixtrace.account.lost"] != lost:
            raise RuntimeError("%s, but losses of %d" % (account, lost))
        return answer_of({"events": count, "first and last": self.unclamped(first, last), "losses": lost,
                          "points": digest(self.unclamped_points(points)),
                          "spans": self.spans_found(self.unclamped_spans(spans))})

    # OTLP has no times before 1970: they are 0. If all else is equal, these give the log's own times.

    def unclamped(self, first, last):
        wanted = min(e.ns for e in self.gate.events), max(e.ns for e in self.gate.events)
        return wanted if (max(wanted[0], 0), max(wanted[1], 0)) == (first, last) else (first, last)

    def unclamped_points(self, points):
        wanted = [(e.ns, plain(e.name), e.address, e.truncated, e.late) for e in self.gate.points]
        return wanted if sorted((max(ns, 0), *rest) for ns, *rest in wanted) == sorted(points) else points

    def unclamped_spans(self, spans):
        wanted = collections.Counter()
        for (name, begin, end), count in self.gate.spans.items():
            wanted[name, max(begin, 0), max(end, 0)] += count
        return self.gate.spans if wanted == spans else spans
