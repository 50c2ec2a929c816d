# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the estimate of --budget with the real cost of the recording: budget.py SOURCE_FOLDER

   redis     redis-server, which answers redis-benchmark
   compile   a compiler with its children
   storm     threads that wait for one mutex
   locks     threads that lock and unlock a mutex that is free as a rule; such calls make no event,
             and the estimate omits them

Each program runs twice at the same time: the subject, and a control that is never recorded. They do
equal pieces of work in turn, so that the two halves of a pair see the same machine. A window has
the pairs of BUDGET_WINDOW seconds (10). In every second window the subject is recorded with
--budget. The measured cost of such a window is how much the ratio of the processor times, subject
to control, exceeds the ratio of the windows around it without a recording. The columns are:

   budget     percent of the processor time
   estimate   what the recorder printed
   measured   what the recording has cost, with the standard error of the pairs
   over       estimate minus measured, in percentage points

BUDGET_SECONDS (120) is the time for each program, BUDGET the budgets, PTX_MODES the programs. The
last line of a program has the mean of its windows. Exit status 1: the mean differs by more than
0.3 points and twice its standard error. A machine that is not quiet has errors larger than the limit;
the line says that, and the remedy is more windows.
"""
import math
import os
import re
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
seconds = float(os.environ.get("BUDGET_SECONDS", "120"))
window_s = float(os.environ.get("BUDGET_WINDOW", "10"))
budgets = os.environ.get("BUDGET", "1%").split()
modes = os.environ.get("PTX_MODES", "redis compile storm locks").split()
LIMIT = 0.3  # percentage points
tmp = tempfile.mkdtemp(prefix="posixtrace-budget.")
log = os.path.join(tmp, "log")


def cpu_of(pid):
    """The processor time of all threads of a process in seconds, by its clock in the kernel."""
    return time.clock_gettime(~pid << 3 | 2)


class Server:
    """redis-server. It runs all the time, and a window attaches to it."""

    needs = ["redis-server", "redis-benchmark", "redis-cli"]

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        self.process = subprocess.Popen(["redis-server", "--port", self.port, "--save", ""],
                                        cwd=tmp, stdout=subprocess.DEVNULL)
        while subprocess.run(["redis-cli", "-p", self.port, "ping"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            if self.process.poll() is not None:
                raise SystemExit("redis-server has not begun")
            time.sleep(0.05)

    def work(self):
        before = cpu_of(self.process.pid)
        subprocess.check_call(["redis-benchmark", "-p", self.port, "-q", "-t", "get", "-n", "2000",
                               "-c", "20"], stdout=subprocess.DEVNULL)
        return cpu_of(self.process.pid) - before


class Driven:
    """A program that does a piece of work for each line of its input and prints its CPU time."""

    def __init__(self, argv, errors=subprocess.DEVNULL):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=errors, text=True, bufsize=1)

    def work(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


class Storm(Driven):
    needs = []
    more = ["yield"]

    def __init__(self):
        super().__init__([os.path.abspath("budget_storm")] + self.more)


class Locks(Storm):
    more = []


# The driver of a compiler, whose children do the work.
DRIVER = """
import resource, subprocess, sys
for line in sys.stdin:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.check_call(sys.argv[1:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, flush=True)
"""


class Compiler(Driven):
    needs = []

    def __init__(self, recorder=(), errors=subprocess.DEVNULL):
        top = os.path.join(source, "..", "..")
        compiler = os.environ.get("CC", "cc").split()[-1]
        super().__init__(list(recorder) + [
            sys.executable, "-c", DRIVER, compiler, "-O1", "-D_GNU_SOURCE", "-w",
            "-I" + top + "/tools/posixtrace", "-I" + top + "/include", "-c", "-o", "/dev/null",
            top + "/tools/posixtrace/base/quantity.c"], errors)


PROGRAMS = {"redis": Server, "compile": Compiler, "storm": Storm, "locks": Locks}


class Attached:
    """A recording of a program that runs already."""

    def __init__(self, program, budget):
        self.subject = program
        self.recorder = subprocess.Popen(
            [posixtrace, "attach", "-p", str(program.process.pid), "--budget", budget, "--force",
             "-o", log], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(log):
            if self.recorder.poll() is not None:
                raise SystemExit("attach: " + self.recorder.stderr.read())
            time.sleep(0.01)

    def end(self):
        self.recorder.send_signal(signal.SIGINT)
        return self.recorder.communicate()[1]


class Recorded:
    """A compiler of its own, from its begin: a recording cannot attach to each new child."""

    def __init__(self, _, budget):
        self.errors = open(os.path.join(tmp, "errors"), "w+")
        self.subject = Compiler([posixtrace, "record", "--budget", budget, "--force", "-o", log,
                                 "--"], self.errors)

    def end(self):
        self.subject.process.stdin.close()
        self.subject.process.wait()
        self.errors.seek(0)
        return self.errors.read()


def pairs_of(control, subject):
    """The CPU times of pairs. The first of a pair runs with other caches, so both are first."""
    found = []
    until = time.monotonic() + window_s
    while time.monotonic() < until or len(found) < 4:
        if len(found) % 2:
            other = control.work()
            found.append((subject.work(), other))
        else:
            mine = subject.work()
            found.append((mine, control.work()))
    return found


def ratio_of(pairs):
    """The ratio of the CPU times, subject to control, and its standard error."""
    mean = statistics.mean(other for _, other in pairs)
    ratio = statistics.mean(mine for mine, _ in pairs) / mean
    rest = [mine - ratio * other for mine, other in pairs]
    return ratio, statistics.stdev(rest) / mean / math.sqrt(len(rest))


def estimate_of(text):
    found = re.search(r"an estimate of ([0-9.]+)% of", text)
    if not found:
        raise SystemExit("the recorder printed no estimate: " + text)
    return float(found.group(1))


def say(name, budget, estimate, measured, error, more=""):
    print("%-8s %7s %9.2f%% %9.2f%% +-%5.2f %8.2f%s" %
          (name, budget, estimate, measured, error, estimate - measured, more), flush=True)


def compare(name, budget):
    """Prints a line for each recorded window, and one for their mean. Returns whether it is good."""
    control, subject = PROGRAMS[name](), PROGRAMS[name]()
    recording = Recorded if name == "compile" else Attached
    found = []
    try:
        for program in control, subject:
            program.work()
        before = ratio_of(pairs_of(control, subject))
        for _ in range(max(1, round(seconds / window_s / 2))):
            recorded = recording(subject, budget)
            recorded.subject.work()
            with_it = ratio_of(pairs_of(control, recorded.subject))
            estimate = estimate_of(recorded.end())
            after = ratio_of(pairs_of(control, subject))
            plain = (before[0] + after[0]) / 2
            # of the processor time with the recording, as the estimate is
            measured = 100 * (1 - plain / with_it[0])
            error = 100 * math.sqrt(with_it[1] ** 2 + (before[1] ** 2 + after[1] ** 2) / 4)
            say(name, budget, estimate, measured, error)
            found.append((estimate, measured, error))
            before = after
    finally:
        for program in control, subject:
            program.process.kill()
            program.process.wait()
    estimate, measured = (statistics.mean(each[i] for each in found) for i in (0, 1))
    error = math.sqrt(sum(each[2] ** 2 for each in found)) / len(found)
    over = abs(estimate - measured)
    good = over <= LIMIT + 2 * error
    say(name, budget, estimate, measured, error, "  mean: " + (
        "more than %.1f apart" % LIMIT if not good else
        "within %.1f" % LIMIT if over + 2 * error <= LIMIT else
        "within %.1f and the error; BUDGET_SECONDS gives more windows" % LIMIT))
    return good


print("%-8s %7s %10s %10s %7s %8s" % ("", "budget", "estimate", "measured", "", "over"))
status = 0
try:
    for mode in modes:
        missing = [need for need in PROGRAMS[mode].needs if not shutil.which(need)]
        if missing:
            print("%-8s skipped: %s is not installed" % (mode, missing[0]))
            continue
        for budget in budgets:
            if not compare(mode, budget):
                status = 1
finally:
    shutil.rmtree(tmp)
sys.exit(status)
