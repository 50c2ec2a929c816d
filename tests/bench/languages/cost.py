# SPDX-License-Identifier: LGPL-2.1-or-later
import logging
import time
import posixtrace

ROUNDS, CALLS = 300, 300
event = posixtrace.Event("cost", "s32 fd; str peer")
logger = logging.getLogger("cost")
handler = logging.FileHandler("/dev/null")
handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
logger.addHandler(handler)
logger.setLevel(logging.INFO)


def measure(call):
    least = 1e9
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for i in range(CALLS):
            call(i)
        least = min(least, (time.perf_counter_ns() - begin) / CALLS)
    return least


def trace(i):
    event(i, "localhost")


def function(i):
    pass


off, untraced = measure(trace), measure(function)
with posixtrace.Stream():
    on = measure(trace)
    with posixtrace.trace_functions():
        traced = measure(function)
tool = measure(lambda i: logger.info("cost fd=%d peer=%s", i, "localhost"))
print(f"Python|{off:.0f}|{on:.0f}|logging|{tool:.0f}")
print(f"Python, a traced function|{untraced:.0f}|{traced:.0f}||")
