# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what record --sched and record --sample cost the recorded program: sched.py SOURCE_FOLDER

   compile   a compiler with its children, for some twenty files of this project
   redis     redis-server, which answers redis-benchmark

Each way is run beside a plain run, PTX_RUNS times, in turn. cpu is the CPU time of the program, of
all its processes, without that of the recorder; wall is the time until it has ended, or the time of
the benchmark. Both are in percent more than plain: the median of the pairs, and that of the least
run of each. PTX_MODES selects programs. No call of the C library is recorded, so that the figures are
those of these options.

The lines of perf are the peers, in the same run: perf record with the same kind of samples, and with
the kernel's events of switches. In a virtual machine, most of the cost of samples is that of the
kernel's timer, which each switch of a sampled thread sets anew; perf pays it, too.
"""
import glob
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

source = os.path.abspath(sys.argv[1])
posixtrace = os.path.abspath(os.environ.get("POSIXTRACE", "../../tools/posixtrace/posixtrace"))
runs = int(os.environ.get("PTX_RUNS", "9"))
modes = os.environ.get("PTX_MODES", "compile redis").split()
tmp = tempfile.mkdtemp(prefix="posixtrace-sched.")
log = os.path.join(tmp, "log")
WAYS = {
    "plain": (None, []),
    "sched, tracefs": ("", ["--sched"]),
    "sched, perf": ("perf", ["--sched"]),
    "sample 999": ("perf", ["--sample", "999"]),
    "both, tracefs": ("", ["--sched", "--sample", "999"]),
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
    """The program, below the recorder unless the way is plain, and its environment."""
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
    files = sorted(glob.glob(top + "/tools/posixtrace/base/*.c"))
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
    while subprocess.run(["redis-cli", "-p", port, "ping"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL).returncode:
        if server.poll() is not None:
            raise SystemExit("redis-server has not begun")
        time.sleep(0.05)
    pid = int(open(path).read())
    begin, cpu = time.monotonic(), cpu_of(pid)
    subprocess.check_call(["redis-benchmark", "-p", port, "-q", "-t", "get", "-n", "60000", "-c",
                           "20"], stdout=subprocess.DEVNULL)
    figures = [cpu_of(pid) - cpu, time.monotonic() - begin]
    os.kill(pid, 15)
    server.wait()
    return figures


def compare(name, measure):
    found = {way: [] for way in list(WAYS) + list(PEERS)}
    for _ in range(runs):
        for way in list(found):
            try:
                found[way].append(measure(way))
            except subprocess.CalledProcessError:
                print("%-8s %-16s not permitted here" % (name, way))
                del found[way]
    plain = found["plain"]
    print("%-8s %-16s %8.3f s CPU, %.3f s wall at least" %
          (name, "plain", min(cpu for cpu, _ in plain), min(wall for _, wall in plain)))
    for way, figures in found.items():
        if way == "plain":
            continue
        cells = []
        for i in range(2):
            pairs = [100 * (figure[i] / beside[i] - 1) for figure, beside in zip(figures, plain)]
            least = 100 * (min(f[i] for f in figures) / min(f[i] for f in plain) - 1)
            cells += [statistics.median(pairs), least]
        print("%-8s %-16s %7.1f %% %7.1f %%    %7.1f %% %7.1f %%" % (name, way, *cells), flush=True)


print("%-8s %-16s %20s    %20s" % ("", "", "cpu: median, least", "wall: median, least"))
try:
    if "compile" in modes:
        compare("compile", compile_files)
    if "redis" not in modes:
        pass
    elif shutil.which("redis-server") and shutil.which("redis-benchmark"):
        compare("redis", redis)
    else:
        print("redis    redis-server and redis-benchmark are not installed")
finally:
    shutil.rmtree(tmp)
