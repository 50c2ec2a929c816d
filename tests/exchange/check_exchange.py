# SPDX-License-Identifier: LGPL-2.1-or-later
"""The check of posixtrace convert: one rich log in every format, read by other programs.

	python3 check_exchange.py POSIXTRACE RICH_LOG FOLDER [MARKDOWN]

The log is read by readlog.py, which knows lib/log/FORMAT alone. Each format is written by POSIXTRACE
into FOLDER and read by a consumer that is not of this project; what the consumer found is compared
property by property. A cell of the matrix is "equal", the word "lost" with a note that the design
has it so, "n/a" with one, or "DIFFERS", and then the gate fails. A consumer that is not there makes
its row "not run", which is said.

PERFETTO_UI names the folder with engine_bundle.js and trace_processor.wasm, SPEEDSCOPE that of the npm
package speedscope, DUCKDB that of @duckdb/node-api, OTLP that of @opentelemetry/otlp-transformer.
"""
import collections
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import readlog  # noqa: E402
from answers import (SCALARS, answer, answers_of, decode, digest, keys_of, paired,  # noqa: E402
                     parse_schema, roles_of, took_of)
from consumers import (Babeltrace, Csv, Ctf, JsonLines, Log, Parquet, Sqlite,  # noqa: E402
                       is_utf8)
from foreign import (Etw, EtwBack, Evt, EvtBack, Rkh, RkhBack, Tracex, TracexBack,  # noqa: E402
                     handles_of)
from viewers import Chrome, Otlp, Perfetto, Speedscope  # noqa: E402

PROPERTIES = ["events", "names", "order", "first and last", "times", "threads", "handles",
              "addresses", "payloads", "truncation", "late", "fields", "levels", "spans",
              "objects", "losses", "attributes", "ledger"]

CONSUMERS = [("log", Log), ("babeltrace", Babeltrace), ("jsonl", JsonLines), ("csv", Csv),
             ("sqlite", Sqlite), ("parquet", Parquet), ("ctf", Ctf), ("perfetto", Perfetto), ("chrome", Chrome),
             ("speedscope", Speedscope), ("otlp", Otlp), ("evt", Evt), ("evt", EvtBack), ("rkh", Rkh), ("rkh", RkhBack),
             ("tracex", Tracex), ("tracex", TracexBack), ("etw", Etw), ("etw", EtwBack)]

# Formats that need no consumer: they have none of the events of the log.
WITHOUT = {"listing", "folded"}

# ------------------------------------------------------------------ the check


class Gate:
    def __init__(self, tool, path, folder):
        self.tool, self.path, self.folder = tool, path, folder
        self.perfetto = os.environ.get("PERFETTO_UI")
        log = readlog.Log(path)
        self.events, self.wanted = answers_of(log)
        self.schemas = {log.names[n]: parse_schema(t)[0] for n, t in log.schemas.items()}
        self.kinds = {name: {f[2]: (f[0], f[1]) for f in fields}
                      for name, fields in self.schemas.items()}
        self.keys, self.took = keys_of(log), took_of(log)
        spans, self.points = paired(self.events, roles_of(log), self.keys, self.took)
        # A damaged duration that would begin long before the events begins with them.
        least, greatest = min(e.ns for e in self.events), max(e.ns for e in self.events)
        self.base = max(min(least, min(begin for _, begin, _ in spans)), 2 * least - greatest)
        self.spans = collections.Counter()
        for (name, begin, end), count in spans.items():
            self.spans[name, max(begin, self.base), end] += count
        self.role_names = set(roles_of(log))
        self.span_names = {span for _, span in roles_of(log).values()}
        self.formats = subprocess.run([tool, "convert", "--list"], capture_output=True,
                                      text=True, check=True).stdout

    def missing_nul(self, event):
        fields = self.schemas.get(event.name)
        if not fields or fields[-1][:2] != ("str", 0) or event.data.endswith(b"\0"):
            return b""
        values, whole = decode(fields, event.data)
        # It has another class, with its bytes, if any text is not UTF-8.
        return b"\0" if whole and all(is_utf8(value) for value in values.values()) else b""

    def schemas_kind(self, name, field):
        return self.kinds[name][field][0]

    def decode(self, name, data):
        return decode(self.schemas[name], data)[0]

    def encode(self, name, values):
        """The payload of these fields; a last str had its NUL."""
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
        """The value as the reader's format must show it."""
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
        wanted["pids and threads"] = handles_of(self.events)
        wanted["once more"] = "equal"
        shown = consumer.shown or (lambda name: name)
        wanted["points"] = digest((e.ns, shown(e.name), e.address, e.truncated, e.late)
                                  for e in self.points)
        wanted["points' payloads"] = digest((e.ns, e.name, e.data) for e in self.points)
        wanted["pids and handles"] = digest(collections.Counter(
            (e.pid, e.thread) for e in self.events).items())
        return wanted

    def row(self, name, kind):
        consumer = kind(self)
        if kind.suffix and not re.search(r"^%s .*writes" % name, self.formats, re.M):
            return None, "not built"
        if not consumer.available():
            return None, "no consumer here"
        out = self.path # for a reader of logs
        if consumer.suffix:
            out = os.path.join(self.folder, "rich." + consumer.suffix)
            if not os.path.exists(out):
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
                cells[key] = "DIFFERS: not compared"
        return cells, None


def unread(formats):
    """The formats of convert --list that no consumer reads."""
    written = re.findall(r"^(\w+) .*\bwrites\b", formats, re.M)
    return [name for name in written if name not in dict(CONSUMERS) and name not in WITHOUT]


def main():
    gate = Gate(*sys.argv[1:4])
    failed, report = False, []
    for name in unread(gate.formats):
        print("%-11s DIFFERS: no reader; add a Consumer in consumers.py, and a row of CONSUMERS" % name)
        failed = True
    for name, kind in CONSUMERS:
        cells, why = gate.row(name, kind)
        if kind.__name__.endswith("Back"):
            name += " back"
        print("%-11s %s" % (name, kind.__doc__ if cells else "not run: " + why))
        for key, cell in (cells or {}).items():
            report.append((name, key, cell))
            if cell != "equal":
                print("%-11s   %-16s %s" % ("", key, cell))
            failed |= cell.startswith("DIFFERS")
    equal = sum(cell == "equal" for _, _, cell in report)
    print("check-exchange: %d events; %d cells equal, %d lost or n/a by design, %d differ" % (
        gate.wanted["events"], equal,
        sum(cell.startswith(("lost", "n/a")) for _, _, cell in report),
        sum(cell.startswith("DIFFERS") for _, _, cell in report)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
