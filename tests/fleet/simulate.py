# SPDX-License-Identifier: LGPL-2.1-or-later
"""Replays recordings as the logs of many hosts, ships them, and measures the shipment.

simulate.py FOLDER HOSTS SECONDS FACTOR SHIPPERS URL,URL NAME=PID... -- SHIP... -- LOG...

This one process simulates all hosts. A host repeats one of the recordings LOG. Each repetition is a
log of its own, as if the host rotated its logs: a copy with another UUID and with the name of the
host, hostN. The process appends a block to the log when the last event of the block would have
occurred: FACTOR times as fast as in the recording. The begins of the first logs are spread over the
duration of their recording, but at most over SPREAD seconds, a variable of the environment. After
SECONDS no host begins a further log.

SHIPPERS processes SHIP ship the folders FOLDER/1, FOLDER/2 and so on, with the positions in FOLDER/state.
The position of a log says when the server has confirmed a block. The processor time of the processes
NAME=PID is that between two moments: when all hosts have a log, and SECONDS after the begin.

The file FOLDER/summary gets the numbers of logs, of events, and of the least and the most events of a host.
"""
import atexit
import hashlib
import heapq
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
import urllib.request

HEADER = 4096
STUCK_S = 180  # without any progress
folder, hosts, seconds, factor, shippers = (sys.argv[1], int(sys.argv[2]), float(sys.argv[3]),
                                            float(sys.argv[4]), int(sys.argv[5]))
urls = sys.argv[6].split(",")
rest = sys.argv[7:]
begin_ship = rest.index("--")
begin_logs = rest.index("--", begin_ship + 1)
watched = dict(word.split("=") for word in rest[:begin_ship])
ship, paths = rest[begin_ship + 1:begin_logs], rest[begin_logs + 1:]
CRC = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    CRC.append(byte)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


def hash_bytes(number, data):
    for byte in data:
        number = (number ^ byte) * 0x100000001b3 % 2 ** 64
    return number


class Recording:
    """The steps of a log: (seconds from its begin, end in the file, events up to there)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.log_id, begin_ns = struct.unpack_from("=Qq", self.data, 64)
        self.steps, self.events, at, last = [], 0, HEADER, 0.0
        while at < len(self.data):
            magic, kind, header, _, payload = struct.unpack_from("=4sHHII", self.data, at)
            assert magic == b"PXBK", "%s: no block at %d" % (path, at)
            time_max, records = struct.unpack_from("=qI", self.data, at + 56)
            at += header + payload
            if kind == 1:
                last = max(last, (time_max - begin_ns) / 1e9 / factor)
                self.events += records
                self.steps.append((last, at, self.events))
        # The blocks behind the last events, the tail, are a part of the last step.
        self.steps[-1] = (last, at, self.events)
        self.seconds = last


class Log:
    """A log of a host. "waits" are blocks in the file that the server has not confirmed: (time, events)."""

    def __init__(self, host, number, recording):
        self.host, self.number, self.recording = host, number, recording
        name = b"host%d" % (host + 1)
        uuid = hashlib.md5(b"%d %d %d" % (os.getpid(), host, number)).digest()
        head = bytearray(recording.data[:HEADER])
        head[48:64] = uuid
        head[176:240] = name.ljust(64, b"\0")
        head[44:48] = bytes(4)
        head[44:48] = struct.pack("=I", crc32c(head[:3584]))
        self.path = os.path.join(folder, str(host % shippers + 1), "%d.%d.ptl" % (host + 1, number))
        with open(self.path, "wb") as file:
            file.write(head)
        mixed = (hash_bytes(0xcbf29ce484222325, uuid) ^ recording.log_id) * 0x9e3779b97f4a7c15 % 2 ** 64
        self.source = "%016x" % hash_bytes(mixed ^ mixed >> 29, name)
        self.at, self.step, self.waits, self.stored, self.is_complete = HEADER, 0, [], 0, False

    def grow(self, now):
        """Appends the next block. Returns whether the log is whole."""
        _, end, events = self.recording.steps[self.step]
        with open(self.path, "ab") as file:
            file.write(self.recording.data[self.at:end])
        self.at = end
        self.step += 1
        self.waits.append((now, events))
        return self.step == len(self.recording.steps)


POSITION = re.compile(r"posixtrace ship 1\nevents (\d+)\nattempt (\d+) \d+ \d+\nsummary (\d+) (\d+) (\d)\nreplacing (\d+)\n")


class State:
    """The positions of all logs."""

    def __init__(self):
        self.seen, self.inserts, self.lags = {}, 0, []

    def look(self, logs):
        """Reads the positions that have changed. Returns the number of them."""
        changes = 0
        for entry in os.scandir(os.path.join(folder, "state")):
            log = logs.get(entry.name[-16:])
            if not log or len(entry.name) != 33:
                continue
            try:
                changed = entry.stat().st_mtime
                if self.seen.get(entry.name) == changed:
                    continue
                with open(entry.path, encoding="ascii") as file:
                    found = POSITION.match(file.read())
            except FileNotFoundError:
                continue
            if not found or found[2] != "0":
                continue
            self.seen[entry.name] = changed
            changes += 1
            self.note(log, changed, int(found[1]))
            if found[5] == "1" and found[6] == "0" and int(found[1]) == log.recording.events:
                self.inserts += not log.is_complete
                log.is_complete = True
        return changes

    def note(self, log, changed, events):
        self.inserts += events > log.stored
        log.stored = max(log.stored, events)
        while log.waits and log.waits[0][1] <= events:
            released, _ = log.waits.pop(0)
            self.lags.append((released, max(0.0, changed - released)))


def ask(url, sql):
    try:
        with urllib.request.urlopen(url, sql.encode(), 60) as answer:
            return answer.read().decode().split()
    except OSError as error:
        print("%s: %s" % (url, error))
        return []


def used():
    """Processor time in seconds, of each of the processes, of all shippers and of this process."""
    found = {}
    for name, pid in list(watched.items()) + [("shippers", p.pid) for p in processes]:
        try:
            with open("/proc/%s/stat" % pid) as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        found[name] = found.get(name, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    found["this simulation"] = time.process_time()
    return found


recordings = [Recording(path) for path in paths]
longest = min(max(r.seconds for r in recordings), float(os.environ.get("SPREAD") or "inf"))
random.seed(1)
state, logs, queue = State(), {}, []
for host in range(hosts):
    recording = recordings[host % len(recordings)]
    queue.append((min(recording.seconds, longest) * random.random(), host, 0, None))
    os.makedirs(os.path.join(folder, str(host % shippers + 1)), exist_ok=True)
heapq.heapify(queue)
os.makedirs(os.path.join(folder, "state"), exist_ok=True)
for path, recording in zip(paths, recordings):
    print("%s: %d events in %.0f s, %.0f a second, %.1f bytes an event, %d blocks" % (
        os.path.basename(path), recording.events, recording.seconds, recording.events / recording.seconds,
        len(recording.data) / recording.events, len(recording.steps)))
processes = []


def kill_shippers():
    """Also after an exception. A shipper that remained would try to reach its servers for ever."""
    for process in processes:
        if process.poll() is None:
            process.kill()


def end(*_):
    sys.exit(1)


atexit.register(kill_shippers)
signal.signal(signal.SIGTERM, end)
for number in range(shippers):
    with open(os.path.join(folder, "out.%d" % number), "w") as out, open(os.path.join(folder, "err"), "a") as err:
        processes.append(subprocess.Popen(ship + ["--state", os.path.join(folder, "state"), "--follow",
                                                  os.path.join(folder, str(number + 1))], stdout=out, stderr=err))
began = time.time()
fed, bytes_fed, window, totals, behind, parts, replica_behind = 0, 0, [], {}, 0, 0, 0
looked = asked = progressed = began
while queue or not all(log.is_complete for log in logs.values()):
    now = time.time()
    while queue and queue[0][0] <= now - began:
        due, host, number, log = heapq.heappop(queue)
        if not log:
            log = Log(host, number, recordings[host % len(recordings)])
            logs[log.source] = log
            heapq.heappush(queue, (due + log.recording.steps[0][0], host, number, log))
            continue
        start = due - log.recording.steps[log.step][0]
        before, at = (log.recording.steps[log.step - 1][2] if log.step else 0), log.at
        if not log.grow(now):
            heapq.heappush(queue, (start + log.recording.steps[log.step][0], host, number, log))
        elif due < seconds:
            heapq.heappush(queue, (due, host, number + 1, None))
        fed += log.recording.steps[log.step - 1][2] - before
        bytes_fed += log.at - at
    if now - looked >= 1:
        looked = now
        if state.look(logs):
            progressed = now
        behind = max(behind, fed - sum(log.stored for log in logs.values()))
        if any(p.poll() is not None for p in processes):
            print("a shipper has ended")
            end()
        if now - progressed > STUCK_S:
            print("no position has changed for %d s" % STUCK_S)
            end()
    if now - asked >= 5:
        asked = now
        rows = [ask(url, "SELECT sum(rows), count() FROM system.parts WHERE active AND database = 'fleet' AND "
                    "table = 'events_rows'") for url in urls]
        if all(rows):
            parts = max(parts, *(int(row[1]) for row in rows))
            replica_behind = max(replica_behind, max(int(r[0]) for r in rows) - min(int(r[0]) for r in rows))
    if len(window) < 2 and now - began >= (seconds if window else longest):
        window.append((now, used(), fed, bytes_fed, state.inserts, sum(log.stored for log in logs.values())))
    time.sleep(0.05)
ended = time.time()
for process in processes:
    process.terminate()
for process in processes:
    process.wait()
of_host = [0] * hosts
wire = sent = 0
for log in logs.values():
    of_host[log.host] += log.recording.events
for number in range(shippers):
    with open(os.path.join(folder, "out.%d" % number)) as file:
        for found in re.finditer(r": (\d+) events? shipped, (\d+) bytes", file.read()):
            sent += int(found[1])
            wire += int(found[2])
with open(os.path.join(folder, "summary"), "w") as file:
    file.write("%d %d %d %d\n" % (len(logs), sum(of_host), min(of_host), max(of_host)))
print("%d hosts, %d logs, %d events, FACTOR %g: the last event was there %.0f s after it was in its log" % (
    hosts, len(logs), sum(of_host), factor, max(lag for _, lag in state.lags[-hosts:])))
lags = []
if len(window) == 2 and window[0][2] < window[1][2]:
    lags = sorted(lag for released, lag in state.lags if window[0][0] <= released < window[1][0])
if not lags:
    print("nothing was measured while all hosts had a log: SECONDS_ is too short")
else:
    first, last = window
    wall = last[0] - first[0]
    rate, inserts = (last[2] - first[2]) / wall, (last[4] - first[4]) / wall
    print("in %.0f s with all hosts: %.0f events/s, %.1f of each host; %.1f INSERTs/s; %.1f kB/s of logs, %.2f of each host" % (
        wall, rate, rate / hosts, inserts, (last[3] - first[3]) / wall / 1e3, (last[3] - first[3]) / wall / hosts / 1e3))
    for name in sorted(last[1]):
        cores = (last[1][name] - first[1].get(name, 0)) / wall
        print("processor time, %s: %.2f cores, %.2f us an event, %.1f ms an INSERT" % (
            name, cores, cores / rate * 1e6, cores / max(inserts, 0.001) * 1e3))
    print("from the end of a block to its confirmation: median %.1f s, 90 %% %.1f s, 99 %% %.1f s, most %.1f s, of %d blocks" % (
        lags[len(lags) // 2], lags[len(lags) * 9 // 10], lags[len(lags) * 99 // 100], lags[-1], len(lags)))
print("behind at most: %d events of all hosts; a replica behind the other: %d events; parts of events_rows: %d" % (
    behind, replica_behind, parts))
print("on the wire: %.1f bytes an event with the rows of other tables, %d events counted" % (wire / max(sent, 1), sent))
