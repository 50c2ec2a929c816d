# SPDX-License-Identifier: LGPL-2.1-or-later
"""A collector of OpenTelemetry that fails on purpose: fake_collector.py RESULT [FAULT...]

It prints its port, and answers requests of OTLP over HTTP. Each request meets the next FAULT;
without further ones it succeeds:

    429, 502, 503, 504   that status, nothing stored; 503:N asks for a pause of N seconds
    400, 401, 404, 413, 500   a status after which a client must not repeat the request
    cut         the connection ends without an answer, nothing stored
    cut-stored  the same, but the records are stored
    half        the connection ends after a half of the request was read
    short       success, but the connection ends before the end of the answer; the records are stored
    slow        no answer until the client has gone; the records are stored
    partial     success, but one record is rejected
    warning     success with a warning and no rejected record
    redirect    a redirection to another server
    long        an error with a megabyte of control characters
    garbage     success with an answer that is no message
    none        no fault

RESULT, a file, has after each request one line for each fact: the number of requests, of spans and
of log records that were stored, how many of each are there when records with an equal identifier
count once, and the headers X-Token, Authorization and Content-Encoding of the last request. Its bodies may
be compressed by gzip; the number of bytes is that of the bodies as they arrive.
"""
import gzip
import http.server
import os
import select
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fake_server  # noqa: E402
from spans_of import varint  # noqa: E402

result, faults = sys.argv[1], sys.argv[2:]
stored = {"traces": [], "logs": []}
counts = {"requests": 0, "rejected": 0, "bytes": 0}
seen = {}
# Each connection has a thread: a client whose connection was cut may send again before the thread of
# the old one has written the result.
writing = threading.Lock()


def members(data):
    """The members of a message: field and value, which is bytes or a number."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            assert at + length <= len(data)
            value, at = data[at:at + length], at + length
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield tag >> 3, value


def of(data, field):
    return [value for number, value in members(data) if number == field]


def pairs(data, field):
    """The attributes in this field whose values are texts."""
    found = {}
    for pair in of(data, field):
        text = of(of(pair, 2)[0], 1)
        if text:
            found[of(pair, 1)[0].decode()] = text[0].decode()
    return found


def records(signal, data):
    """The host and the identifier of each record of a request."""
    found = []
    for resource in of(data, 1):
        host = pairs(of(resource, 1)[0], 1).get("host.name", "")
        for scope in of(resource, 2):
            for record in of(scope, 2):
                if signal == "traces":
                    identifier = (of(record, 1)[0] + of(record, 2)[0]).hex()
                    assert len(identifier) == 48
                else:
                    identifier = pairs(record, 6)["log.record.uid"]
                found.append((host, identifier))
    return found


def field(number, data):
    """A member that has bytes, shorter than 128 bytes, or a number below 128."""
    if isinstance(data, int):
        return bytes([number << 3, data])
    return bytes([number << 3 | 2, len(data)]) + data


def write_result():
    facts = dict(counts, **seen)
    for signal, found in stored.items():
        facts[signal] = len(found)
        facts["different-" + signal] = len(set(found))
    facts["hosts"] = ",".join(sorted({host for found in stored.values() for host, _ in found}))
    with open(result + ".new", "w", encoding="utf-8") as file:
        for name in sorted(facts):
            file.write("%s %s\n" % (name, facts[name]))
    os.rename(result + ".new", result)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body, more=()):
        self.send_response(status)
        for name, value in more:
            self.send_header(name, value)
        if "Content-Length" not in dict(more):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        signal = self.path.rsplit("/", 1)[1]
        prefix = os.environ.get("FAKE_PATH", "")
        length = int(self.headers["Content-Length"])
        fault = faults.pop(0) if faults else "none"
        counts["requests"] += 1
        seen["token"] = self.headers.get("X-Token", "")
        seen["authorization"] = self.headers.get("Authorization", "")
        if fault == "half":
            self.rfile.read(length // 2)
            self.close_connection = True
            return
        data = self.rfile.read(length)
        if len(data) < length:  # the client has gone
            self.close_connection = True
            return
        seen["encoding"] = self.headers.get("Content-Encoding", "none")
        counts["bytes"] += len(data)
        if seen["encoding"] == "gzip":
            data = gzip.decompress(data)
        if self.path != prefix + "/v1/" + signal or signal not in stored or \
                self.headers["Content-Type"] != "application/x-protobuf":
            self.reply(404, b"404 page not found\n")
            return
        found = records(signal, data)
        assert 0 < len(found) <= 1024
        body, status, more = b"", 200, []
        name, _, pause = fault.partition(":")
        if name.isdigit():
            status = int(name)
            body = field(2, b"the reason of status %d\x1b[31m" % status)
            more = [("Retry-After", pause)] if pause else []
            found = []
        elif fault == "partial":
            body = field(1, field(1, 1) + field(2, b"one record is too old"))
            counts["rejected"] += 1
            found = found[1:]
        elif fault == "warning":
            body = field(1, field(2, b"please send less"))
        elif fault == "garbage":
            body = b"\xff" * 20
        elif fault == "redirect":
            status, more, found = 302, [("Location", "http://127.0.0.1:1/")], []
        elif fault == "long":
            status, body, found = 503, b"\x1b[31m\0" * 200000, []
        elif fault == "cut":
            found = []
        with writing:
            stored[signal] += found
            write_result()
        if fault == "slow":
            select.select([self.connection], [], [], 120)
        if fault == "short":
            more = [("Content-Length", "1000")]
        if fault in ("cut", "cut-stored", "slow"):
            self.close_connection = True
            return
        self.reply(status, body, more)
        self.close_connection = fault == "short"


fake_server.serve(Handler)
