# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the kernel recorded, in Perfetto's trace processor: states, samples, call stacks and flows.

	python3 perfetto_kernel.py POSIXTRACE FOLDER LOG...

Each log is converted, and tables of Perfetto's trace processor are compared with those that
tests/tools/perfetto_tables.py finds in the trace by the same rules. The transcript
tests/tools/golden/convert/perfetto-kernel has these for make check. PERFETTO_UI names the folder of
the trace processor.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import perfetto_tables as tables  # noqa: E402

# States of threads that ended. The trace processor has no such row behind the last run of a trace.
OVER = ("X", "Z")

QUERIES = {
    "errors": "select name, value from stats where severity != 'info' and value > 0",
    "sched": "select cpu, ts, dur, tid, end_state from sched join thread using (utid)",
    "thread_state": "select tid, ts, dur, state, cpu from thread_state join thread using (utid)",
    "process": "select pid, name from process where pid > 0",
    "sched_waking": "select ts, cpu, tid from raw join thread using (utid) where raw.name = 'sched_waking'",
    "perf_sample": "select ts, p.cpu, tid, cpu_mode, callsite_id from perf_sample p "
                   "join thread using (utid)",
    "callsites": "select c.id, c.parent_id, f.name, m.name, m.build_id, f.rel_pc "
                 "from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id "
                 "join stack_profile_mapping m on m.id = f.mapping",
    "callstacks": "select s.ts, s.name, a.string_value from slice s join args a using (arg_set_id) "
                  "where a.key = 'debug.callstack'",
    "flow": "select a.ts, a.name, b.ts, b.name from flow join slice a on a.id = slice_out "
            "join slice b on b.id = slice_in",
}


def chains(rows):
    """The frames of each call site, the outermost first."""
    sites = {row[0]: row for row in rows}

    def chain(number):
        if number is None:
            return ()
        _, parent, *frame = sites[number]
        name, path, build_id, address = frame
        return chain(parent) + ((name, path[1:], int(address), build_id or "no build-id"),)
    return {number: chain(number) for number in sites}


def found_in(answers, trace):
    """The tables of the trace processor, which ends the last run of each CPU with the trace."""
    ns = lambda value: int(value) - trace.base  # noqa: E731
    chain = chains(answers["callsites"])
    last = {(cpu, begin, tid) for cpu, begin, took, tid, _ in tables.sched_rows(trace)
            if took is None}
    # Readers since 2023 say I for a kernel thread that is idle; the package is older.
    new = {"DN": "I"}
    return {
        "errors": answers["errors"],
        "sched": [(int(cpu), ns(ts), None, int(tid), "") if (int(cpu), ns(ts), int(tid)) in last else
                  (int(cpu), ns(ts), int(dur), int(tid), new.get(state, state))
                  for cpu, ts, dur, tid, state in answers["sched"]],
        "thread_state": [(int(tid), ns(ts), new.get(state, state), None if cpu is None else int(cpu))
                         for tid, ts, dur, state, cpu in answers["thread_state"]
                         if state not in OVER],
        "process": [(int(pid), name or "") for pid, name in answers["process"]],
        "sched_waking": [(ns(ts), int(cpu), int(tid)) for ts, cpu, tid in answers["sched_waking"]],
        "perf_sample": [(ns(ts), int(cpu), int(tid), mode, chain[site] if site is not None else ())
                        for ts, cpu, tid, mode, site in answers["perf_sample"]],
        "callstacks": [(ns(ts), name, text) for ts, name, text in answers["callstacks"]],
        "flow": [(ns(a), first, ns(b), second) for a, first, b, second in answers["flow"]],
    }


def wanted_of(trace):
    return {
        "errors": [],
        "sched": tables.sched_rows(trace),
        "thread_state": [(thread, ns, state, cpu)
                         for thread, ns, took, state, cpu, _, _ in tables.state_rows(trace)
                         if state not in OVER],
        "process": list(trace.processes.items()),
        "sched_waking": [(ns, cpu, waker) for ns, cpu, waker, _, _ in trace.wakes],
        "perf_sample": [(ns, cpu, tid, mode, tuple(frame[:4] for frame in stack))
                        for ns, cpu, _, tid, mode, stack in trace.samples],
        "callstacks": [(ns, name, shown) for ns, _, _, name, stack, shown, _, _ in trace.events
                       if stack is not None],
        "flow": [(*first[:2], *second[:2]) for first, second in tables.flow_rows(trace)],
    }


def main(tool, folder, *logs):
    failed = 0
    for log in logs:
        path = os.path.join(folder, pathlib.Path(log).stem + ".pftrace")
        subprocess.run([tool, "convert", log, "-o", path], check=True, stderr=subprocess.DEVNULL)
        trace = tables.Trace(pathlib.Path(path).read_bytes())
        done = subprocess.run(["node", HERE / "perfetto_query.js", os.environ["PERFETTO_UI"], path,
                               *QUERIES.values()], check=True, capture_output=True, text=True)
        answers = dict(zip(QUERIES, map(json.loads, done.stdout.splitlines())))
        found, wanted = found_in(answers, trace), wanted_of(trace)
        for name in wanted:
            differ = collections.Counter(found[name])
            differ.subtract(wanted[name])
            bad = ["%s%s" % ("not wanted: " if count > 0 else "missing: ", row)
                   for row, count in differ.items() if count]
            print("perfetto, %s, %s: %s" % (pathlib.Path(log).stem, name, "DIFFERS" if bad else
                                            "%d rows are equal" % len(wanted[name])))
            for line in bad:
                print("    " + line)
            failed += bool(bad)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
