# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads traces and logs of OpenTelemetry, for tests: written from trace.proto, logs.proto, common.proto
and resource.proto of github.com/open-telemetry/opentelemetry-proto, and independent of the writer.

otlp.py show FOLDER          spans as trees, then log records
otlp.py compare FOLDER       the JSON and the protobuf must have the same contents, and be valid
otlp.py ids FOLDER           trace and span identifiers, one span a line
"""
import base64
import json
import math
import pathlib
import re
import struct
import sys

sys.dont_write_bytecode = True
from spans_of import varint  # noqa: E402

ANY = {1: ("stringValue", "string"), 2: ("boolValue", "bool"), 3: ("intValue", "int64"),
       4: ("doubleValue", "double"), 7: ("bytesValue", "bytes")}
ARRAY = {1: ("values", [ANY])}
PAIR = {1: ("key", "string"), 2: ("value", ANY)}
LIST = {1: ("values", [PAIR])}
ANY[5] = ("arrayValue", ARRAY)
ANY[6] = ("kvlistValue", LIST)
SCOPE = {1: ("name", "string"), 2: ("version", "string"), 3: ("attributes", [PAIR]),
         4: ("droppedAttributesCount", "uint32")}
RESOURCE = {1: ("attributes", [PAIR]), 2: ("droppedAttributesCount", "uint32")}
STATUS = {2: ("message", "string"), 3: ("code", "enum")}
LINK = {1: ("traceId", "id"), 2: ("spanId", "id"), 3: ("traceState", "string"), 4: ("attributes", [PAIR]),
        5: ("droppedAttributesCount", "uint32"), 6: ("flags", "fixed32")}
SPAN_EVENT = {1: ("timeUnixNano", "fixed64"), 2: ("name", "string"), 3: ("attributes", [PAIR]),
              4: ("droppedAttributesCount", "uint32")}
SPAN = {1: ("traceId", "id"), 2: ("spanId", "id"), 3: ("traceState", "string"), 4: ("parentSpanId", "id"),
        5: ("name", "string"), 6: ("kind", "enum"), 7: ("startTimeUnixNano", "fixed64"),
        8: ("endTimeUnixNano", "fixed64"), 9: ("attributes", [PAIR]), 10: ("droppedAttributesCount", "uint32"),
        11: ("events", [SPAN_EVENT]), 12: ("droppedEventsCount", "uint32"), 13: ("links", [LINK]),
        14: ("droppedLinksCount", "uint32"), 15: ("status", STATUS), 16: ("flags", "fixed32")}
LOG = {1: ("timeUnixNano", "fixed64"), 2: ("severityNumber", "enum"), 3: ("severityText", "string"),
       5: ("body", ANY), 6: ("attributes", [PAIR]), 7: ("droppedAttributesCount", "uint32"),
       8: ("flags", "fixed32"), 9: ("traceId", "id"), 10: ("spanId", "id"),
       11: ("observedTimeUnixNano", "fixed64"), 12: ("eventName", "string")}
TRACES = {1: ("resourceSpans", [{
    1: ("resource", RESOURCE), 3: ("schemaUrl", "string"),
    2: ("scopeSpans", [{1: ("scope", SCOPE), 2: ("spans", [SPAN]), 3: ("schemaUrl", "string")}])}])}
LOGS = {1: ("resourceLogs", [{
    1: ("resource", RESOURCE), 3: ("schemaUrl", "string"),
    2: ("scopeLogs", [{1: ("scope", SCOPE), 2: ("logRecords", [LOG]), 3: ("schemaUrl", "string")}])}])}
SIGNALS = {"traces": TRACES, "logs": LOGS}
WIRE = {"string": 2, "bytes": 2, "id": 2, "bool": 0, "int64": 0, "uint32": 0, "enum": 0, "double": 1,
        "fixed64": 1, "fixed32": 5}
INTERVALS = ("posixtrace.lost.begin_ns", "posixtrace.lost.end_ns")


# ---- protobuf

def scalar(kind, value):
    if kind == "string":
        return value.decode()
    if kind == "bytes":
        return base64.b64encode(value).decode()
    if kind == "id":
        return value.hex()
    if kind == "bool":
        return value != 0
    if kind == "int64":
        return str(value - (1 << 64) if value >> 63 else value)
    if kind == "fixed64":
        return str(value)
    if kind == "double":
        value = struct.unpack("<d", struct.pack("<Q", value))[0]
        if math.isnan(value):
            return "NaN"
        return ("-" if value < 0 else "") + "Infinity" if math.isinf(value) else value
    return value


def message(data, members):
    """A message as the object that its JSON encoding has."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if size is None:
                assert wire == 2, "wire type %d" % wire
                size, at = varint(data, at)
            assert at + size <= len(data), "a member of %d bytes, but %d are left" % (size, len(data) - at)
            value, at = data[at:at + size], at + size
            if wire != 2:
                value = int.from_bytes(value, "little")
        assert tag >> 3 in members, "member %d of %s" % (tag >> 3, sorted(m[0] for m in members.values()))
        name, kind = members[tag >> 3]
        many = isinstance(kind, list)
        kind = kind[0] if many else kind
        assert wire == (WIRE[kind] if isinstance(kind, str) else 2), "the wire type of " + name
        value = scalar(kind, value) if isinstance(kind, str) else message(value, kind)
        if many:
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, name + " twice"
            found[name] = value
    return found


def requests(path, members):
    """The file as one message: a sequence of messages is their sum."""
    return message(path.read_bytes(), members)


# ---- JSON

def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def joined(objects):
    whole = {}
    for item in objects:
        for name, values in item.items():
            whole.setdefault(name, []).extend(values)
    return whole


def plain(value):
    """An AnyValue as a value of Python."""
    (kind, content), = value.items() if value else [("stringValue", "")]
    if kind == "intValue":
        return int(content)
    if kind == "doubleValue":
        return float(content)
    if kind == "bytesValue":
        return base64.b64decode(content, validate=True)
    if kind == "arrayValue":
        return [plain(item) for item in content.get("values", [])]
    return content


def attributes(of):
    pairs = [(pair["key"], plain(pair["value"])) for pair in of.get("attributes", [])]
    assert len({key for key, _ in pairs}) == len(pairs), "a key twice: %s" % pairs
    return dict(pairs)


def records(whole):
    """Each span or log record with its resource and its scope."""
    for resource in whole.get("resourceSpans", []) + whole.get("resourceLogs", []):
        for scope in resource.get("scopeSpans", []) + resource.get("scopeLogs", []):
            found = scope.get("spans", []) + scope.get("logRecords", [])
            assert found, "an empty scope"
            for record in found:
                yield attributes(resource["resource"]), scope["scope"], record


def is_id(text, digits):
    return re.fullmatch("[0-9a-f]{%d}" % digits, text) and set(text) != {"0"}


def check_span(span, seen):
    assert is_id(span["traceId"], 32), span
    assert is_id(span["spanId"], 16), span
    assert (span["traceId"], span["spanId"]) not in seen, "an identifier twice: %s" % span
    seen.add((span["traceId"], span["spanId"]))
    assert 1 <= span["kind"] <= 5, span
    assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span


def check(folder):
    seen, parents = set(), []
    for _, _, span in records(joined(lines(folder / "traces.jsonl"))):
        check_span(span, seen)
        # A field may name a parent of another process, which is not in the log.
        if "parentSpanId" in span and not span.get("flags", 0) & 0x200 and "parent_span_id" not in attributes(span):
            parents.append((span["traceId"], span["parentSpanId"]))
    for parent in parents:
        assert parent in seen, "there is no parent %s" % (parent,)
    for _, _, log in records(joined(lines(folder / "logs.jsonl"))):
        attributes(log)
        assert "spanId" not in log or is_id(log["traceId"], 32), log
        assert log["eventName"] == log["body"]["stringValue"], log


def compare(folder):
    for signal, members in SIGNALS.items():
        text, binary = joined(lines(folder / (signal + ".jsonl"))), requests(folder / (signal + ".binpb"), members)
        assert text == binary, "%s differ:\n%s\n%s" % (signal, json.dumps(text), json.dumps(binary))
    check(folder)


# ---- as text

MASKED = ("posixtrace.log.uuid",)


def value_text(value):
    if isinstance(value, bytes):
        return "x'%s'" % value.hex()
    return json.dumps(value, ensure_ascii=False)


def pairs_text(pairs):
    return " ".join("%s=%s" % (key, "..." if key in MASKED else value_text(value)) for key, value in pairs.items())


class Names:
    """Short names for identifiers, in the order in which they occur."""

    def __init__(self, letter):
        self.letter, self.known = letter, {}

    def __call__(self, identifier):
        return self.known.setdefault(identifier, "%s%d" % (self.letter, len(self.known) + 1))


def show(folder):
    """Identifiers that the log's number decides have short names; those of fields are shown."""
    trace_name, span_name, resources = Names("T"), Names("S"), Names("R")

    def place(resource, scope):
        key = pairs_text(resource)
        is_new = key not in resources.known
        name = resources(key)
        if is_new:
            print("%s: %s" % (name, key))
        return name, scope["name"] + (" VERSION" if "version" in scope else "")

    spans = list(records(joined(lines(folder / "traces.jsonl"))))
    children, tops = {}, []
    known = {(span["traceId"], span["spanId"]) for _, _, span in spans}
    for item in spans:
        parent = item[2]["traceId"], item[2].get("parentSpanId")
        (children.setdefault(parent, []) if parent in known else tops).append(item)

    def put(item, depth):
        resource, scope, span = item
        where, provider = place(resource, scope)
        extra = ""
        if "parentSpanId" in span and not depth:
            extra += " parent=" + span["parentSpanId"]
        for key in ("flags", "droppedAttributesCount", "status"):
            if key in span:
                extra += " %s=%s" % (key, json.dumps(span[key]))
        for link in span.get("links", []):
            extra += " link=%s/%s" % (trace_name(link["traceId"]), span_name(link["spanId"]))
        start = int(span["startTimeUnixNano"])
        print("%s%s %s %s %r [%s] kind=%d %d+%d%s: %s" % (
            "  " * depth, trace_name(span["traceId"]), span_name(span["spanId"]), where, span["name"], provider,
            span["kind"], start, int(span["endTimeUnixNano"]) - start, extra, pairs_text(attributes(span))))
        inner = children.get((span["traceId"], span["spanId"]), [])
        for child in sorted(inner, key=lambda child: int(child[2]["startTimeUnixNano"])):
            put(child, depth + 1)

    for item in sorted(tops, key=lambda item: int(item[2]["startTimeUnixNano"])):
        put(item, 0)
    for resource, scope, log in records(joined(lines(folder / "logs.jsonl"))):
        where, provider = place(resource, scope)
        extra = "".join(" %s=%s" % (key, log[key]) for key in
                        ("severityNumber", "severityText", "flags", "droppedAttributesCount") if key in log)
        if "traceId" in log:
            extra += " in %s/%s" % (trace_name(log["traceId"]), span_name(log["spanId"]) if "spanId" in log else "-")
        print("%s %s [%s] %s%s: %s" % (where, log["eventName"], provider, log["timeUnixNano"], extra,
                                       pairs_text(attributes(log))))


def ids(folder):
    for _, _, span in records(joined(lines(folder / "traces.jsonl"))):
        print(span["traceId"], span["spanId"], span["name"], span["startTimeUnixNano"])


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    {"show": show, "compare": compare, "ids": ids}[sys.argv[1]](pathlib.Path(sys.argv[2]))
