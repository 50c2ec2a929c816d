# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what record --sched and record --sample cost the recorded program: sched.py SOURCE_FOLDER

   compile   a compiler with its children, for six files of this project
   redis     redis-server, which answers redis-benchmark

Each way has PTX_RUNS pairs of short runs: one of the way, and beside it one without a recorder. The
order of all pairs, and the order within each pair, is random, so that a change of the machine's
speed favours no way. PTX_MODES selects programs. cpu is the CPU time of the program, of all its
processes, without that of the recorder; wall is the time until it has ended, or the time of the
benchmark. No call of the C library is recorded, so that the figures are those of these options.

A figure is the median of the pairs, in percent more than plain, with an interval that has the true
median with a probability of at least 95 %. The interval assumes no distribution: its ends are two of
the sorted pairs (the interval of the sign test), and it needs six pairs. The limit is LIMIT percent:

   met         the whole interval is below the limit
   missed      the whole interval is above the limit
   undecided   the limit is in the interval: more pairs or a machine with less noise decide

The line "control" has pairs of two plain runs. Its interval shows the noise of the machine; if it is
far from 0, no other line is usable. The exit status is 1 if a limit is missed. There are 12 verdicts,
so one of them may be a false alarm if a true figure is just at the limit.

The lines of perf are the peers, in the same run: perf record with the same kind of samples, and with
the kernel's events of switches. In a virtual machine, most of the cost of samples is that of the
kernel's timer, which each switch of a sampled thread sets anew; perf pays it, too.
"""
import glob
import math
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

source = os.path.abspath(sys.argv[1])
posixtrace = os.path.abspath(os.environ.get("POSIXTRACE", "../../tools/posixtrace/posixtrace"))
runs = int(os.environ.get("PTX_RUNS", "21"))
modes = os.environ.get("PTX_MODES", "compile redis").split()
tmp = tempfile.mkdtemp(prefix="posixtrace-sched.")
log = os.path.join(tmp, "log")
LIMIT = 3.0  # percent
LIMITED = ["sched, tracefs", "sched, perf", "sample 999"]
WAYS = {
    "control": (None, []),
    "sched, tracefs": ("tracefs", ["--sched"]),
    "sched, perf": ("perf", ["--sched"]),
    "sample 999": ("perf", ["--sample", "999"]),
    "both, tracefs": ("tracefs", ["--sched", "--sample", "999"]),
}
PEERS = {
    "perf, switches": ["-e", "dummy:u", "--switch-events"],
    "perf, sample 999": ["-e", "cpu-clock:u", "-F", "999", "-g"],
}


def perf(way):
    return ["perf", "record", "-q", "-o", os.path.join(tmp, "perf.data")] + PEERS[way] + ["--"]


# perf may be missing, be that of another kernel, or not be permitted.
for way in list(PEERS):
    if not shutil.which("perf") or subprocess.run(perf(way) + ["true"], stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.DEVNULL).returncode:
        del PEERS[way]


def command(way, program):
    """The program, below the recorder unless the way is control, and its environment."""
    if way in PEERS:
        return perf(way) + program, None
    wish, options = WAYS[way]
    environment = dict(os.environ, POSIXTRACE_KERNEL=wish or "")
    if wish is None:
        return program, environment
    return [posixtrace, "record", "-q", "--force", "--trace", "none", "-o", log] + options + \
        ["--"] + program, environment


# The recorded program of compile: runs the compiler, and writes its times.
WORK = """
import os, resource, subprocess, sys, time
begin = time.monotonic()
for file in sys.argv[2:]:
    subprocess.check_call([os.environ.get("CC", "cc").split()[-1], "-O1", "-D_GNU_SOURCE", "-w",
                           "-I" + sys.argv[1] + "/tools/posixtrace", "-I" + sys.argv[1] + "/include",
                           "-c", "-o", "/dev/null", file])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, time.monotonic() - begin)
"""


def compile_files(way):
    top = os.path.join(source, "..", "..")
    files = sorted(glob.glob(top + "/tools/posixtrace/base/*.c"))[:6]
    argv, environment = command(way, [sys.executable, "-c", WORK, top] + files)
    answer = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, check=True)
    return [float(n) for n in answer.stdout.split()[-2:]]


def cpu_of(pid):
    """The CPU time of all threads of a process, in seconds."""
    return sum(int(open(path).read().split()[0]) for path in
               glob.glob("/proc/%d/task/*/schedstat" % pid)) / 1e9


def redis(way):
    """The server's CPU time, and the time of the benchmark."""
    path = os.path.join(tmp, "redis.pid")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    argv, environment = command(way, ["redis-server", "--port", port, "--save", "", "--dir", tmp,
                                      "--pidfile", path, "--daemonize", "no"])
    server = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL)
    try:
        while subprocess.run(["redis-cli", "-p", port, "ping"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            if server.poll() is not None:
                raise subprocess.CalledProcessError(server.returncode, argv)
            time.sleep(0.05)
        pid = int(open(path).read())
        begin, cpu = time.monotonic(), cpu_of(pid)
        subprocess.check_call(["redis-benchmark", "-p", port, "-q", "-t", "get", "-n", "30000",
                               "-c", "20"], stdout=subprocess.DEVNULL)
        return [cpu_of(pid) - cpu, time.monotonic() - begin]
    finally:
        # The recorder ends with the server, which removes its file.
        if os.path.exists(path):
            os.kill(int(open(path).read()), signal.SIGTERM)
        elif server.poll() is None:
            server.terminate()
        server.wait()


def interval(values):
    """The ends of the interval of 95 % for the median, or None if there are too few values."""
    count = len(values)
    rank, outside = 0, 0.5 ** count
    # outside is the probability that at most 'rank' of the values are below the true median.
    while outside <= 0.025:
        rank += 1
        outside += math.comb(count, rank) * 0.5 ** count
    return (sorted(values)[rank - 1], sorted(values)[count - rank]) if rank else None


def verdict(ends):
    if ends and ends[1] <= LIMIT:
        return "met"
    return "missed" if ends and ends[0] > LIMIT else "undecided"


def compare(name, measure):
    """Returns whether a limit is missed."""
    found = {way: [] for way in list(WAYS) + list(PEERS)}
    order = list(found) * runs
    random.shuffle(order)
    plain, missed = [], False
    for way in order:
        if way not in found:
            continue
        turns = [(0, way), (1, "control")]
        random.shuffle(turns)
        pair = [None, None]
        try:
            for place, turn in turns:
                pair[place] = measure(turn)
        except subprocess.CalledProcessError:
            if turn == "control" or found[way]:
                raise
            print("%-8s %-16s not permitted here" % (name, way))
            del found[way]
            continue
        found[way].append([100 * (with_it / without - 1) for with_it, without in zip(*pair)])
        plain.append(pair[1])
    print("%-8s %-16s %8.3f s CPU, %.3f s wall (median)" %
          (name, "plain", *(statistics.median(p[i] for p in plain) for i in range(2))))
    for way, pairs in found.items():
        cells = []
        for i in range(2):
            values = [pair[i] for pair in pairs]
            ends = interval(values)
            answer = verdict(ends) if way in LIMITED else ""
            missed |= answer == "missed"
            cells.append("%6.1f %%  %-17s %-9s" % (
                statistics.median(values), "(%.1f to %.1f)" % ends if ends else "(too few pairs)",
                answer))
        print("%-8s %-16s %s  %s" % (name, way, *cells), flush=True)
    return missed


print("%-8s %-16s %-36s  %s" % ("", "", "    cpu  (95 %)", "   wall  (95 %)"))
status = 0
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    if "compile" in modes:
        status |= compare("compile", compile_files)
    if "redis" not in modes:
        pass
    elif shutil.which("redis-server") and shutil.which("redis-benchmark"):
        status |= compare("redis", redis)
    else:
        print("redis    redis-server and redis-benchmark are not installed")
finally:
    shutil.rmtree(tmp)
sys.exit(status)
