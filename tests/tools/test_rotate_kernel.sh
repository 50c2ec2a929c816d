#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record --rotate-time with the kernel's records: no record is in two logs, none is missing,
# and each log begins with the states of the threads. If tracefs is not mounted, the suite mounts it in a
# mount namespace of its own; without tracefs, the checks of perf_event_open() remain.
mount_tracefs='mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null'
if test -z "${PTX_OWN_MOUNTS-}" && ! grep -q ' tracefs ' /proc/mounts &&
	unshare -m sh -c "$mount_tracefs" 2>/dev/null; then
	PTX_OWN_MOUNTS=1
	export PTX_OWN_MOUNTS
	exec unshare -m sh -c "$mount_tracefs"' && exec sh "$1"' - "$0"
fi
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
work_in_tmp

# The program of each recording NAME: a child sleeps until the end. When the child sleeps, three more
# logs begin; again ends the script if they never do. Meanwhile the shell works and starts processes.
cat >program <<'EOF'
looks=0
again() { looks=$((looks + 1)); test $looks -le 1200 || exit 99; sleep 0.05; }
work() { i=0; while test $i -lt 5000; do i=$((i + 1)); done; }
sleep 1000 &
until grep -q sleep /proc/$!/comm && grep -q '^State:.S' /proc/$!/status; do again; done
echo $! >$1.sleeper
set -- $1 $1.*.ptl
echo $# >$1.count
last=$1.$(printf %04d $(($# + 3))).ptl
until test -e $last; do work; true | cat; again; done
kill $(cat $1.sleeper)
EOF

count_of() { "$posixtrace" dump -e "$1" "$2" | wc -l; }
are_sound() { for each in "$@"; do "$posixtrace" verify "$each" >/dev/null || return; done; }
events_of() { "$posixtrace" dump --system "$@" | grep -c '^[0-9]'; }

# recorded NAME ARGUMENT...: records the program, and checks what is true with all options.
recorded() {
	name=$1
	shift
	run 0 record "$@" --rotate-time 300ms -o "$name.ptl" sh program "$name"
	check "$name: each log is sound" are_sound "$name".*.ptl
	said=$(sed -n 's/^posixtrace: .*: \([0-9]*\) events, .*/\1/p' err)
	sum=0
	for each in "$name".*.ptl; do sum=$((sum + $(events_of "$each"))); done
	check "$name: $said events are $sum in the logs" test "$said" -eq $sum
	middle=$name.$(printf %04d $(($(cat "$name.count") + 2))).ptl
}

# scheduled NAME: the switches of all logs are those of one recording.
scheduled() {
	# The last log may begin when no thread runs any more.
	for each in "$name".*.ptl; do
		check "$each: the clock's error is there once" test "$(count_of sched.clock "$each")" -le 1
	done
	check "$middle: the clock's error is there" test "$(count_of sched.clock "$middle")" = 1
	check "$name: a log from the middle has the state of a thread that sleeps" sh -c \
		'"$0" dump -e sched.state "$1" | grep -q " $2 .* state=blocked since_ns="' \
		"$posixtrace" "$middle" "$(cat "$name.sleeper")"
	check "$name: each thread has one state at the beginning" test -z \
		"$("$posixtrace" dump --fields=tid -e sched.state "$middle" | sort | uniq -d)"
	run 0 why "$middle"
	check "$name: why uses the states" lacks out 'does not say when threads had a CPU'
	command -v python3 >/dev/null || return 0
	"$posixtrace" dump --json "$name".*.ptl >lines
	check "$name: no switch is in two logs or missing" python3 - lines <<'EOF'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
rows = [(e["time"], e["tid"], e["event"]) for e in events
        if e.get("event") in ("sched.in", "sched.out", "sched.gap", "sched.exit")]
last, count = {}, 0
for time, tid, name in sorted(rows, key=lambda row: row[0]):
    if name in ("sched.gap", "sched.exit"):
        last.pop(tid, None)
    else:
        assert last.get(tid) != name, (time, tid, name)
        last[tid] = name
        count += 1
assert count > 10, count
EOF
}

# has_its_stacks LOG: each stack of an event is in the log before it.
cat >stacks.py <<'EOF'
import json, sys
known, samples = set(), 0
for line in sys.stdin:
    e = json.loads(line)
    if e.get("event") == "cpu.stack":
        assert e["fields"]["stack"] not in known, line
        known.add(e["fields"]["stack"])
    elif e.get("event") == "cpu.sample":
        assert e["fields"]["stack"] in known, line
        samples += 1
EOF
has_its_stacks() { "$posixtrace" dump --json "$1" | python3 stacks.py; }
sampled() {
	check "$name: there are samples" test "$("$posixtrace" dump -e cpu.sample "$name".*.ptl | grep -c '^[0-9]')" -ge 1
	command -v python3 >/dev/null || return 0
	for each in "$name".*.ptl; do
		check "$each: each sample has its stack in the log" has_its_stacks "$each"
	done
}

if "$posixtrace" record --sched -q -o can.ptl true 2>err; then
	recorded sched --sched --sample 997
	scheduled
	sampled
	recorded both --sched=possible --stack=io.read --trace=io,process
	scheduled
fi
if "$posixtrace" record --kernel sched:sched_process_exec -q -o can.ptl true 2>err; then
	recorded kernel --sched --kernel sched:sched_process_exec --kernel sched:sched_process_fork
	scheduled
	forks=$("$posixtrace" dump -e process.child "$name".*.ptl | grep -c '^[0-9]')
	check "$name: each fork is in one log" test "$("$posixtrace" dump -e sched:sched_process_fork "$name".*.ptl |
		grep -c '^[0-9]')" -ge "$forks"
	check "$name: no fork is in two logs" test -z "$("$posixtrace" dump --fields=time,tid \
		-e sched:sched_process_fork "$name".*.ptl | grep '^[0-9]' | sort | uniq -d)"
fi
if "$posixtrace" record --syscalls -q -o can.ptl true 2>err; then
	recorded calls --syscalls
	"$posixtrace" dump --fields=pid -e process.start "$name".*.ptl | grep '^[0-9]' | sort -n >starts
	check "$name: each process has one process.start" test -s starts -a -z "$(uniq -d starts)"
	"$posixtrace" dump --fields=pid -e 'process.[sc]*' "$name".*.ptl | grep '^[0-9]' | sort -n -u >starts
	# All processes, also children without a program of their own, end by this call, except for the
	# sleeper.
	"$posixtrace" dump --fields=pid -e sys.exit_group "$name".*.ptl | grep '^[0-9]' | sort -n >exits
	sort -n "$name.sleeper" exits >ends
	check "$name: each process has one exit_group" cmp starts ends
	# Without the library there is no process.start in the stream, and the recording waits for it. The
	# children of such a program are in the same log as their process.child.
	cat >plain <<'EOF'
looks=0
until test -e $1.0003.ptl; do looks=$((looks + 1)); test $looks -le 1200 || exit 99; (exit 0); sleep 0.05; done
EOF
	run 0 record --syscalls --rotate-time 300ms -o plain.ptl "$(command -v env)" -i PATH="$PATH" sh plain plain
	for each in plain.*.ptl; do
		"$posixtrace" dump --fields=pid -e process.child "$each" | grep '^[0-9]' | sort -u >children
		"$posixtrace" dump --fields=pid -e process.exit "$each" | grep '^[0-9]' | sort -u >ends
		echo "$(wc -l <children) $(comm -23 ends children | wc -l)"
	done >numbers
	check "plain: the children are there" grep -q '^[1-9]' numbers
	check "plain: at most the shell ends in a log without its process.child" lacks numbers ' \([2-9]\|1[0-9]\)$'
fi
finish
