# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Perfetto's trace processor finds in a trace besides slices, as tables of text.

The tables follow the rules of the trace processor: the switches of each CPU in the order of time give
the intervals of threads, and with the wake-ups the states of threads; samples and events have chains of
interned frames; flows join the slices that have the same number. Times are nanoseconds since the clock
snapshot of the trace. A trace that breaks a rule is an error: a switch from a thread that did not have
the CPU, a number that was not interned before, a text that is no UTF-8.
"""
import collections
import spans_of

STATES = {0: "R", 1: "S", 2: "D", 4: "T", 8: "t", 16: "X", 32: "Z", 512: "P", 1026: "I"}
CPU_MODES = {1: "kernel", 2: "user"}


def message(data):
    """The fields of a message, each as the list of its values."""
    found = collections.defaultdict(list)
    for number, value in spans_of.fields(data):
        found[number].append(value)
    return found


def one(fields, number, default=0):
    return fields[number][-1] if fields.get(number) else default


def text(fields, number):
    return one(fields, number, b"").decode()


Frame = collections.namedtuple("Frame", "function path address build_id source")


class Interned:
    """The interned data of the sequence."""

    def __init__(self):
        self.table = collections.defaultdict(dict)

    def take(self, data):
        for number, value in spans_of.fields(data):
            entry = message(value)
            self.table[number][one(entry, 1)] = entry

    def text(self, number, iid):
        return text(self.table[number][iid], 2)

    def frame(self, iid):
        frame = self.table[6][iid]
        mapping = self.table[19][one(frame, 3)]
        path = "/".join(self.text(17, path) for path in mapping[7])
        build_id = one(self.table[16][one(mapping, 2)], 2).hex() if mapping[2] else "no build-id"
        source = " (%s:%d)" % (self.text(18, one(frame, 5)), one(frame, 6)) if frame[5] else ""
        return Frame(self.text(5, one(frame, 2)), path, spans_of.signed(one(frame, 4)), build_id, source)

    def stack(self, iid):
        """The frames, the outermost first."""
        return [self.frame(frame) for frame in self.table[7][iid][2]]


class Trace:
    def __init__(self, data):
        self.interned, self.base, self.tracks = Interned(), None, {}
        self.processes, self.threads = {}, {}
        self.switches, self.wakes, self.samples, self.events = [], [], [], []
        for _, value in spans_of.fields(data):
            self.packet(message(value))

    def since(self, value):
        return spans_of.signed(value) - self.base

    def packet(self, packet):
        for data in packet[12]:
            self.interned.take(data)
        for snapshot in map(message, packet[6]):
            for clock in map(message, snapshot[1]):
                self.base = self.base or spans_of.signed(one(clock, 2))
        for track in map(message, packet[60]):
            for process in map(message, track[3]):
                known = self.processes.get(one(process, 1), "")
                self.processes[one(process, 1)] = known or text(process, 6)
            for thread in map(message, track[4]):
                known = self.threads.get(one(thread, 2), (0, ""))[1]
                self.threads[one(thread, 2)] = one(thread, 1), text(thread, 5) or known
                self.tracks[one(track, 1)] = "thread %d" % one(thread, 2)
            self.tracks.setdefault(one(track, 1), text(track, 2))
        for tree in map(message, packet[2]):
            for process in map(message, tree[1]):
                known = self.processes.get(one(process, 1), "")
                self.processes[one(process, 1)] = text(process, 3) or known
            for thread in map(message, tree[2]):
                self.threads.setdefault(one(thread, 1), (one(thread, 3), text(thread, 2)))
        for bundle in map(message, packet[1]):
            for event in map(message, bundle[2]):
                at = self.since(one(event, 1)), one(bundle, 1)
                for switch in map(message, event[4]):
                    self.switches.append((*at, one(switch, 2), one(switch, 4), one(switch, 6)))
                for wake in map(message, event[20]):
                    self.wakes.append((*at, one(event, 2), one(event, 5), one(wake, 2)))
        for sample in map(message, packet[66]):
            self.samples.append((self.since(one(packet, 8)), one(sample, 1), one(sample, 2), one(sample, 3),
                                 CPU_MODES.get(one(sample, 5), "-"),
                                 self.interned.stack(one(sample, 4)) if sample[4] else []))
        for event in map(message, packet[11]):
            name = text(event, 23) or (self.interned.text(2, one(event, 10)) if event[10] else "")
            notes = {}
            for note in map(message, event[4]):
                key = text(note, 10) or self.interned.text(3, one(note, 1))
                notes[key] = text(note, 6)
            self.events.append((self.since(one(packet, 8)), one(event, 9), one(event, 11), name,
                                self.interned.stack(one(event, 56)) if event[56] else None,
                                notes.get("callstack"), event[36], event[42]))


def sched_rows(trace):
    """(cpu, begin, duration or None, thread, state at its end) for each time of a thread on a CPU."""
    now, rows = {}, []
    for ns, cpu, prev, state, after in sorted(trace.switches, key=lambda row: row[0]):
        if cpu in now:
            begun, thread = now[cpu]
            assert thread == prev, "cpu %d: %d leaves, but %d had the CPU" % (cpu, prev, thread)
            rows.append((cpu, begun, ns - begun, thread, STATES[state]))
        now[cpu] = ns, after
    return rows + [(cpu, begun, None, thread, "") for cpu, (begun, thread) in sorted(now.items())]


def state_rows(trace):
    """(thread, begin, duration or None, state, cpu or None, waker or None, flags of the wake-up)."""
    states = collections.defaultdict(list)
    for ns, cpu, prev, state, after in sorted(trace.switches, key=lambda row: row[0]):
        for thread, shown in (prev, (STATES[state], None)), (after, ("Running", cpu)):
            if thread:
                states[thread].append((ns, *shown, None, 0))
    for ns, _, waker, flags, thread in trace.wakes:
        states[thread].append((ns, "R", None, waker, flags))
    rows = []
    for thread, changes in sorted(states.items()):
        shown = []
        for change in sorted(changes, key=lambda change: change[0]):
            # A thread that is ready or runs is not woken.
            if change[3] is None or not shown or shown[-1][1][:1] != "R":
                shown.append(change)
        for (ns, *state), until in zip(shown, [change[0] for change in shown[1:]] + [None]):
            rows.append((thread, ns, None if until is None else until - ns, *state))
    return rows


def flow_rows(trace):
    """Pairs of (time, name, track): a flow joins the slices that have its number."""
    open_flows, flows = {}, []
    for ns, _, track, name, _, _, through, last in sorted(trace.events, key=lambda row: row[0]):
        for number in through + last:
            if number in open_flows:
                flows.append((open_flows[number], (ns, name, track)))
            open_flows[number] = ns, name, track
        for number in last:
            del open_flows[number]
    return flows


def put_sched(trace):
    print("sched: cpu, begin, duration, thread, state at its end")
    for cpu, begun, took, thread, state in sched_rows(trace):
        print(("  %d %11d %10s %5d %s" % (cpu, begun, "-" if took is None else took, thread,
                                          state)).rstrip())


def put_states(trace):
    print("thread_state: thread, begin, duration, state")
    for thread, ns, took, state, cpu, waker, flags in state_rows(trace):
        if cpu is not None:
            state += " on %d" % cpu
        if waker is not None:
            state += ", woken by %d%s" % (
                waker, {0: "", 8: " in an interrupt", 16: " in a softirq"}[flags])
        print("  %5d %11d %10s %s" % (thread, ns, "-" if took is None else took, state))


def put_processes(trace):
    print("processes")
    for process, name in sorted(trace.processes.items()):
        print(("  %d: %s" % (process, name)).rstrip())


def put_threads(trace):
    print("threads")
    for thread, (pid, name) in sorted(trace.threads.items()):
        print(("  %d of %d: %s" % (thread, pid, name)).rstrip())


def put_samples(trace):
    print("perf_sample: time, cpu, process, thread, mode, frames from the innermost")
    for ns, cpu, pid, tid, mode, stack in trace.samples:
        print("  %11d %d %5d %5d %s" % (ns, cpu, pid, tid, mode))
        for frame in reversed(stack):
            print("    %s%s in %s + 0x%x, %s" % (frame.function, frame.source, frame.path,
                                               frame.address & (1 << 64) - 1, frame.build_id))


def put_stacks(trace):
    print("call stacks of events: time, event, frames from the innermost")
    for ns, _, track, name, stack, shown, _, _ in trace.events:
        if stack is not None:
            print("  %11d %s of %s" % (ns, name, trace.tracks[track]))
            for frame in reversed(stack):
                print("    %s%s in %s + 0x%x, %s" % (frame.function, frame.source, frame.path,
                                               frame.address, frame.build_id))
            print("    shown as " + shown.replace("\n", " < "))


def put_flows(trace):
    print("flow: time, thread, slice -> those of the slice after it")
    for flow in flow_rows(trace):
        print("  " + " -> ".join("%d %s: %s" % (ns, trace.tracks[track], name)
                                 for ns, name, track in flow))


def show(data):
    trace = Trace(data)
    put_sched(trace)
    put_states(trace)
    put_processes(trace)
    put_threads(trace)
    put_samples(trace)
    put_stacks(trace)
    put_flows(trace)
