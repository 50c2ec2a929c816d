# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what record --sched and record --sample cost a program: sched.py SOURCE_FOLDER

   compile   a compiler with its children, for six files of this project
   redis     redis-server, which answers redis-benchmark

The cost is the processor time that recording adds while the program runs, in percent of the
processor time of the program alone: additional time of the program, and the time of the recorder.
The recorder's beginning before the program, the first second of an attach to redis, and the
recorder's end after the program are not part of it. The
column "begin and end" has them, in s of processor time for a run of the compiler; most of it is the
writing of the log, and grows with the number of events. The cost for other programs of the machine
is no part of it, either: with tracefs, the kernel compares each switch of the machine with a list
of threads, and samples each busy CPU. No call of the C library is recorded, so that the figures are
those of these options. There are two measurements, in the same run:

   direct    Pairs of the program with and without a recorder, side by side, in random order. One
             run of compile is a pair's half. redis-server runs all the time, under load; the
             recorder is attached for a part of a second, and the time for one request is compared.
             The time of a virtual machine varies by 10 % and more from run to run, so that this
             interval is wide. It also lacks a part of the cost: Linux charges the recording of a
             switch to the next thread, and that of a wake-up to the thread that wakes, which may
             be no threads of the program.
   model     sched_probe does one thing many times, and so its recording is a large part of the
             time. This gives the cost of one switch, sample, page fault and start of a program,
             for all threads that pay. The model multiplies these costs by how often the program
             does these things, which its runs above counted, and adds the time of the recorder,
             which the kernel measured in these runs. Switches are measured with warm caches, and
             with 256 KiB of other data between two switches, which the cache of the first level
             does not hold. Samples are measured in user code and in the kernel. The interval
             covers both.

Direct intervals have the true value with a probability of at least 95 %: that of the sign test for
the median of the pairs, which assumes no distribution and needs six pairs. Those of the model are
a bootstrap of its pairs and of the program's: about 95 %, of the noise only. wall is the direct
interval for the duration. A program that never waits takes longer by the cost above, if all
processors are busy, and by less if one is free for the recorder. The limit is 3 percent:

   missed      an interval (direct, wall or model) is above the limit as a whole
   met         none is, and model is below the limit as a whole
   undecided   neither; or direct is above model as a whole, so that the model lacks a cost

The line "control" has pairs without a recorder. Its interval shows the noise of the machine; if it
does not contain 0, no direct interval is usable. The exit status is 1 if a limit is missed. There
are 16 direct intervals, so one of them may be a false alarm if a true figure is just at the limit.
tracefs is the way of a privileged user, and perf that of others. The figures are those of the
machine at this time: on a busy one, a switch costs more, and the recorder's time, which depends on
the duration, is larger in percent of the program's.

The lines of perf are the peers, in the same run: perf record with the same kind of samples, and
with the kernel's events of switches. PTX_RUNS is the number of pairs of each probe, and PTX_PAIRS
that of the direct pairs; PTX_MODES selects programs.
"""
import glob
import json
import math
import os
import random
import re
import resource
import shlex
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
probe = os.path.abspath("sched_probe")
probe_runs = int(os.environ.get("PTX_RUNS", "25"))
direct_runs = int(os.environ.get("PTX_PAIRS", "40"))
modes = os.environ.get("PTX_MODES", "compile redis").split()
tmp = tempfile.mkdtemp(prefix="posixtrace-sched.")
log = os.path.join(tmp, "log")
LIMIT = 3.0           # percent
COLD_BYTES = 256 << 10
SLOT = 0.2            # seconds of a half of a pair of redis
# Seconds of a recorder before that. Its beginning is not part of the cost: up to 0.6 s after its
# start, it needs 15 to 30 ms at once, for example to read /proc for the first waits.
SETTLE = 1.0
RATE = 999            # of samples
PROBE_RATE = 9990     # of samples of the probes of samples, so that their cost is large enough
WAYS = {
    "sched, tracefs": ("tracefs", ["--sched"]),
    "sched, perf": ("perf", ["--sched"]),
    "sample, tracefs": ("tracefs", ["--sample", str(RATE)]),
    "sample, perf": ("perf", ["--sample", str(RATE)]),
}
PEERS = {
    "perf, switches": ["-e", "dummy:u", "--switch-events"],
    "perf, sample": ["-e", "cpu-clock:u", "-F", str(RATE), "-g"],
}


def environment(way):
    return dict(os.environ, POSIXTRACE_KERNEL=WAYS[way][0] if way in WAYS else "")


def perf(way):
    return ["perf", "record", "-q", "-o", os.path.join(tmp, "perf.data")] + PEERS[way]


def recorder(way, rate=RATE):
    """The command that records the program whose command follows."""
    if way == "control":
        return []
    if way in PEERS:
        return perf(way) + ["--"]
    options = [str(rate) if word == str(RATE) else word for word in WAYS[way][1]]
    return [posixtrace, "record", "-q", "--force", "--trace", "none", "-o", log] + options + ["--"]


def run(way, program, rate=RATE, **how):
    """The numbers that the program prints, below the recorder unless the way is control."""
    answer = subprocess.run(recorder(way, rate) + program, env=environment(way), check=True,
                            stdout=subprocess.PIPE, **how)
    return [float(n) for n in answer.stdout.split()]


def used_by_children():
    """The processor time of all children that have ended, and of their children, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def used_by_start():
    """The processor time of a run of posixtrace that does nothing, with a wrapper of libtool."""
    before = used_by_children()
    subprocess.check_call([posixtrace, "--version"], stdout=subprocess.DEVNULL)
    return used_by_children() - before


def logged():
    """The number of the kernel's events in the log, by type, and the number of processes."""
    answer = json.loads(subprocess.check_output([posixtrace, "stat", "--json", log]))
    types = {row["event"]: row["events"] for row in answer["types"]}
    return types, len({row["pid"] for row in answer["threads"]})


def cpu_clock(pid):
    """The processor time of a process, in seconds."""
    return time.clock_gettime((~pid << 3) | 2)


def in_random_order(first, second):
    """Calls both functions, and returns their results in the order of the arguments."""
    if random.random() < 0.5:
        return first(), second()
    answer = second()
    return first(), answer


# ---------------------------------------------------------------- statistics

def median_interval(values):
    """The ends of the interval of 95 % for the median, or None if there are too few values."""
    count = len(values)
    rank, outside = 0, 0.5 ** count
    # outside is the probability that at most 'rank' of the values are below the true median.
    while outside <= 0.025:
        rank += 1
        outside += math.comb(count, rank) * 0.5 ** count
    return (sorted(values)[rank - 1], sorted(values)[count - rank]) if rank else None


# ---------------------------------------------------------------- the cost of one thing

class Echo:
    """The other process of the probe of switches, which is not recorded."""

    def __init__(self, cache):
        there, back = os.pipe(), os.pipe()
        self.files = [back[0], there[1]]
        self.process = subprocess.Popen([probe, "echo", str(cache), str(there[0]), str(back[1])],
                                        pass_fds=[there[0], back[1]])
        for file in there[0], back[1]:
            os.close(file)
        self.arguments = [str(cache)] + [str(n) for n in self.files + [self.process.pid]]

    def end(self):
        for file in self.files:
            os.close(file)
        self.process.wait()


def probe_once(way, mode, chunks, cache):
    """The ns of an operation, and the number of operations."""
    if cache is None:
        return run(way, [probe, mode, str(chunks)],
                   PROBE_RATE if mode in ("spin", "read") else RATE)
    echo = Echo(cache)
    try:
        return run(way, [probe, mode, str(chunks)] + echo.arguments, pass_fds=echo.files)
    finally:
        echo.end()


# name: (mode, chunks, bytes of other data, events of the log that count instead of operations)
PROBES = {
    "switch, warm": ("switch", 60, 0, r"sched\.(in|out|wake)$"),
    "switch, cold": ("switch", 16, COLD_BYTES, r"sched\.(in|out|wake)$"),
    "process": ("spawn", 15, None, None),
    "page fault": ("fault", 40, None, None),
    "sample, user": ("spin", 80, None, r"cpu\.sample$"),
    "sample, kernel": ("read", 80, None, r"cpu\.sample$"),
}
SAMPLED_ONLY = ["page fault", "sample, user", "sample, kernel"]
# The probes that give the lower and the upper end of the model.
VARIANTS = [("switch, warm", "sample, user"), ("switch, cold", "sample, kernel")]


def events_of(types, pattern):
    return sum(count for name, count in types.items() if re.match(pattern, name))


def cost_of(way, name):
    """The additional ns for one event of the log or for one operation, for each pair."""
    mode, chunks, cache, pattern = PROBES[name]
    values = []
    if "sample" in way and mode == "switch":
        pattern = None  # no event of a switch
    for _ in range(probe_runs):
        plain, recorded = in_random_order(lambda: probe_once("control", mode, chunks, cache),
                                          lambda: probe_once(way, mode, chunks, cache))
        share = events_of(logged()[0], pattern) / recorded[1] if pattern else 1
        if share:
            values.append((recorded[0] - plain[0]) / share)
    if not values:
        raise SystemExit("%s: the log of the probe \"%s\" has no events" % (way, name))
    ends = median_interval(values)
    print("%-16s %-14s %9.0f ns %s" % (way, name, statistics.median(values),
                                       "(%.0f to %.0f)" % ends if ends else ""), flush=True)
    return values


# ---------------------------------------------------------------- the programs

class Compile:
    """Each half of a pair is a run."""

    def __init__(self):
        top = os.path.join(source, "..", "..")
        compiler = [word for word in shlex.split(os.environ.get("CC", "cc")) if word != "ccache"]
        compiler += ["-O1", "-D_GNU_SOURCE", "-w", "-I" + top + "/tools/posixtrace",
                     "-I" + top + "/include", "-c", "-o", "/dev/null"]
        files = sorted(glob.glob(top + "/tools/posixtrace/base/*.c"))[:6]
        self.command = [probe, "run", "sh", "-ec", 'for file; do %s "$file"; done' %
                        shlex.join(compiler), "sh"] + files
        self.start = statistics.median(used_by_start() for _ in range(9))
        self.rest, self.rests = 0, {}

    def recorded_run(self, way):
        before = used_by_children()
        answer = run(way, self.command)
        self.rest = used_by_children() - before - answer[0] - answer[4]
        return answer

    def pair(self, way):
        plain, recorded = in_random_order(lambda: run("control", self.command),
                                          lambda: self.recorded_run(way))
        if way not in WAYS:
            return plain, recorded, {}, 0
        self.rests.setdefault(way, []).append(self.rest - self.start)
        types, processes = logged()
        return plain, recorded, types, processes - 2  # sched_probe and the recorder

    def end(self):
        pass


class Redis:
    """The server runs all the time. A half of a pair has the figures for one request."""

    rests = {}

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.server = subprocess.Popen(["redis-server", "--port", str(port), "--save", "", "--dir",
                                        tmp], stdout=subprocess.DEVNULL)
        self.client = None
        try:
            self.connection = self.connect(port)
            self.client = subprocess.Popen(["redis-benchmark", "-p", str(port), "-q", "-t", "get",
                                            "-n", "1000000000", "-c", "20"],
                                           stdout=subprocess.DEVNULL)
            time.sleep(0.5)
        except BaseException:
            self.end()
            raise

    @staticmethod
    def connect(port):
        for _ in range(200):
            try:
                return socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise SystemExit("redis-server does not answer")

    def requests(self):
        self.connection.sendall(b"INFO stats\r\n")
        text = b""
        while b"total_commands_processed:" not in text or not text.endswith(b"\r\n"):
            text += self.connection.recv(65536)
        return int(re.search(rb"total_commands_processed:(\d+)", text)[1])

    def counts(self, recorder_pid):
        """Time, requests, processor time, switches, page faults and the recorder's time."""
        pid = self.server.pid
        switches = sum(int(n) for path in glob.glob("/proc/%d/task/*/status" % pid)
                       for n in re.findall(r"voluntary_ctxt_switches:\s*(\d+)", open(path).read()))
        faults = int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[7])
        return [time.monotonic(), self.requests(), cpu_clock(pid), switches, faults,
                cpu_clock(recorder_pid) if recorder_pid else 0]

    def slot(self, recorder_pid=None):
        """The same list as that of sched_probe run, for one request."""
        before = self.counts(recorder_pid)
        time.sleep(SLOT)
        wall, requests, used, switches, faults, recorders = (
            b - a for a, b in zip(before, self.counts(recorder_pid)))
        return [n / requests for n in (used, wall, switches, faults, recorders)]

    def recorded_slot(self, way):
        """A slot with a recorder. Also returns how many events there are for one request."""
        if way == "control":
            return self.slot(), {}
        if way in PEERS:
            return self.perf_slot(way), {}
        if os.path.exists(log):
            os.unlink(log)
        tracer = subprocess.Popen([posixtrace, "attach", "-q", "--trace", "none", "-o", log, "-p",
                                   str(self.server.pid)] + WAYS[way][1], env=environment(way),
                                  stderr=subprocess.DEVNULL)
        try:
            # The log gets its name when the kernel records.
            while not os.path.exists(log):
                if tracer.poll() is not None:
                    raise subprocess.CalledProcessError(tracer.returncode, "attach")
                time.sleep(0.005)
            first = self.requests()
            time.sleep(SETTLE)
            answer = self.slot(tracer.pid)
            first = self.requests() - first
        finally:
            if tracer.poll() is None:
                tracer.send_signal(signal.SIGINT)
            tracer.wait()
        return answer, {name: count / first for name, count in logged()[0].items()}

    def perf_slot(self, way):
        orders, answers = os.pipe(), os.pipe()
        tracer = subprocess.Popen(perf(way) + ["-p", str(self.server.pid), "-D", "-1", "--control",
                                               "fd:%d,%d" % (orders[0], answers[1])],
                                  pass_fds=[orders[0], answers[1]], stderr=subprocess.DEVNULL)
        os.close(orders[0])
        os.close(answers[1])
        try:
            os.write(orders[1], b"enable\n")
            if not os.read(answers[0], 16):
                raise subprocess.CalledProcessError(1, "perf")
            time.sleep(SETTLE)
            return self.slot(tracer.pid)
        finally:
            if tracer.poll() is None:
                tracer.send_signal(signal.SIGINT)
            tracer.wait()
            os.close(orders[1])
            os.close(answers[0])

    def pair(self, way):
        plain, (recorded, types) = in_random_order(self.slot, lambda: self.recorded_slot(way))
        return plain, recorded, types, 0

    def end(self):
        for process in self.client, self.server:
            if process:
                process.terminate()
                process.wait()


# ---------------------------------------------------------------- direct and model

def direct(pairs, column):
    """The additional time in percent of each pair; that of the processor includes the recorder."""
    return [100 * ((recorded[column] + (0 if column else recorded[4])) / plain[column] - 1)
            for plain, recorded, _, _ in pairs]


def model_parts(way, pairs, costs, processes, variant):
    """The parts of the model in percent, by their names."""
    def often(count):
        """How often the program does something in 1 s of its processor time."""
        return statistics.median(count(recorded, types) / plain[0]
                                 for plain, recorded, types, _ in pairs)

    def percent(name, often_a_second):
        return statistics.median(costs[name]) * often_a_second / 1e7

    switch, sample = variant
    if "sample" in way:
        parts = {
            "switches": percent(switch, often(lambda recorded, _: recorded[2])),
            "page faults": percent("page fault", often(lambda recorded, _: recorded[3])),
            "samples": percent(sample, often(lambda _, types: events_of(types, PROBES[sample][3]))),
        }
    else:
        parts = {"switches": percent(switch, often(lambda _, types:
                                                   events_of(types, PROBES[switch][3])))}
    if processes:
        parts["processes"] = percent("process", often(lambda *_: processes))
    parts["recorder"] = statistics.median(100 * recorded[4] / plain[0]
                                          for plain, recorded, _, _ in pairs)
    return parts


def model(way, pairs, costs, processes):
    """The value of the model, its interval or None, and its parts as a text."""
    sums = [[] for _ in VARIANTS]
    for _ in range(1000):
        drawn = random.choices(pairs, k=len(pairs))
        drawn_costs = {name: random.choices(values, k=len(values))
                       for name, values in costs.items()}
        for variant, totals in zip(VARIANTS, sums):
            totals.append(sum(model_parts(way, drawn, drawn_costs, processes, variant).values()))
    for totals in sums:
        totals.sort()
    ends = min(t[len(t) // 40] for t in sums), max(t[-1 - len(t) // 40] for t in sums)
    if min(map(len, [pairs] + list(costs.values()))) < 6:
        ends = None
    parts = [model_parts(way, pairs, costs, processes, variant) for variant in VARIANTS]
    means = {name: statistics.mean(p[name] for p in parts) for name in parts[0]}
    return sum(means.values()), ends, ", ".join("%s %.2f" % pair for pair in means.items())


def verdict(direct_ends, wall_ends, model_ends):
    if any(ends and ends[0] > LIMIT for ends in (direct_ends, wall_ends, model_ends)):
        return "missed"
    if not model_ends or direct_ends and direct_ends[0] > model_ends[1]:
        return "undecided"
    return "met" if model_ends[1] <= LIMIT else "undecided"


def cell(values, ends):
    return "%6.1f %-17s" % (statistics.median(values), "(%.1f to %.1f)" % ends if ends else "(few)")


def compare(name, program, costs):
    """Returns whether a limit is missed."""
    pairs = {way: [] for way in ["control"] + list(costs) + list(PEERS)}
    order = list(pairs) * direct_runs
    random.shuffle(order)
    try:
        for way in order:
            if way in pairs:
                try:
                    pairs[way].append(program.pair(way))
                except subprocess.CalledProcessError:
                    if way not in PEERS or pairs[way]:
                        raise
                    del pairs[way]  # perf is that of another kernel, or is not permitted
    finally:
        program.end()
    processes = max((p for all_pairs in pairs.values() for *_, p in all_pairs), default=0)
    missed = False
    for way, found in pairs.items():
        values = [direct(found, column) for column in range(2)]
        ends = [median_interval(v) for v in values]
        line = "%-8s %-16s %s %s" % (name, way, cell(values[0], ends[0]), cell(values[1], ends[1]))
        if way in WAYS:
            value, model_ends, parts = model(way, found, costs[way], processes)
            answer = verdict(*ends, model_ends)
            missed |= answer == "missed"
            line += " %s %-9s  %s" % (cell([value], model_ends), answer, parts)
            if way in program.rests:
                line += "; begin and end %.3f s" % statistics.median(program.rests[way])
        print(line.rstrip(), flush=True)
    return missed


def is_permitted(way):
    """Whether the kernel records in this way. Without permission, it may record in another one."""
    if subprocess.run(recorder(way) + [probe, "spin", "40"], env=environment(way),
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        return False
    clock = subprocess.check_output([posixtrace, "dump", "--json", "-e", "sched.clock", log])
    return ('"tracefs' if WAYS[way][0] == "tracefs" else '"perf') in clock.decode()


def measure_costs():
    """The lists of cost_of() for all ways that are permitted here, and for each probe."""
    costs = {}
    for way in WAYS:
        if not is_permitted(way):
            print("%-16s not permitted here" % way)
            continue
        costs[way] = {name: cost_of(way, name) for name in PROBES
                      if "sample" in way or name not in SAMPLED_ONLY}
    return costs


def main():
    print("The cost of one event of a switch or of one switch, process, page fault and sample:")
    costs = measure_costs()
    print("\n%-8s %-16s %-24s %-24s %-24s" % ("percent", "", "direct (95 %)", "wall (95 %)",
                                              "model (95 %)"))
    missed = False
    if "compile" in modes:
        missed |= compare("compile", Compile(), costs)
    if "redis" in modes:
        if shutil.which("redis-server") and shutil.which("redis-benchmark"):
            missed |= compare("redis", Redis(), costs)
        else:
            print("redis    redis-server and redis-benchmark are not installed")
    print("\nmissed: an interval is above %.0f %% as a whole; met: none is, and model is below it "
          "as a whole" % LIMIT)
    return missed


if not shutil.which("perf"):
    PEERS.clear()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    status = main()
finally:
    shutil.rmtree(tmp)
sys.exit(status)
