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

# alternates NAME: each thread gets a CPU and leaves it in turn, across all logs.
alternates() {
	"$posixtrace" dump --json "$1".*.ptl >lines
	check "$1: no switch is in two logs or missing" python3 - lines <<'EOF'
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
	alternates "$name"
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
# ---- losses

# lost_in LOG [CAUSE]: the number of lost events in the ledger of a log, all of them or by a cause.
lost_in() {
	"$posixtrace" stat --json "$1" | if test $# -gt 1; then
		sed -n 's/.*"ledger":{[^}]*"lost_by_cause":{[^}]*"'"$2"'":\([0-9]*\).*/\1/p'
	else
		sed -n 's/.*"ledger":{[^}]*"lost":\([0-9]*\).*/\1/p'
	fi
}
# made NAME: adds up the events sys.getppid and the losses of all logs.
made() {
	calls=0 lost=0
	for each in "$1".*.ptl; do
		calls=$((calls + $("$posixtrace" dump --raw -e sys.getppid "$each" | wc -l)))
		lost=$((lost + $(lost_in "$each")))
	done
}
# calls COUNT BEGIN END FILE...: makes calls between two signals to the recorder, and waits for the files.
# The file err must also have the message about the next log. A shell that waits would make thousands of
# system calls.
cat >calls.c <<'EOF'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int is_there(const char *file)
{
	char text[4096];
	ssize_t bytes;
	int fd;

	if (strcmp(file, "err"))
		return !access(file, F_OK);
	fd = open(file, O_RDONLY);
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[bytes > 0 ? bytes : 0] = 0;
	return strstr(text, "the ledger of the next log has them") != NULL;
}
int main(int argc, char **argv)
{
	kill(getppid(), atoi(argv[2]));
	for (int i = atoi(argv[1]); i > 0; i--)
		getppid();
	kill(getppid(), atoi(argv[3]));
	for (int each = 4; each < argc; each++)
		for (int i = 0; !is_there(argv[each]) && i < 1200; i++)
			usleep(50000);
	return 0;
}
EOF
if "$posixtrace" record --syscalls -q -o can.ptl true 2>err && ${CC:-cc} -static -o calls calls.c; then
	# The recorder is stopped (19) until the calls are made, so the kernel's memory becomes full.
	run 0 record --syscalls -o full.ptl --rotate-time 1s ./calls 300000 19 18 full.0003.ptl
	check "full: each log is sound" are_sound full.*.ptl
	made full
	check "full: some calls are lost" test $lost -gt 0 -a $calls -gt 0
	check "full: $calls calls and $lost lost together" test $((calls + lost)) -ge 300000 -a $((calls + lost)) -le 300100
	check "full: the log of this time counts them" test \
		$(($(lost_in full.0001.ptl) + $(lost_in full.0002.ptl))) -eq $lost
	check "full: the last line counts them" has err "events, $lost lost"
fi

# If a complete log cannot be written again, a later log counts the kernel's events of its time.
# in_small OPTIONS COMMAND...: runs the command with a small file system in the folder small, and then
# copies the logs from there to the folder kept.
mkdir small kept
in_small() {
	unshare -m sh -c 'mount -t tmpfs -o "$0" none small || exit 99
		"$@"
		status=$?
		cp small/*.ptl kept
		exit $status' "$@" >out 2>err
}
in_small size=1m cp can.ptl small
small=$?
if test -x calls && test $small -eq 0; then
	# The disk has no room for the events of 200000 calls.
	cat >waits <<'EOF'
./calls 200000 0 0 err
set -- small/*.ptl
exec ./calls 0 0 0 small/disk.$(printf %04d $(($# + 2))).ptl
EOF
	rm kept/*
	in_small size=3m "$posixtrace" record --syscalls --trace=none -o small/disk.ptl --rotate-time 1s sh waits
	check "disk: the recording has an error" test $? -eq 125
	check "disk: the reason is printed" has err 'disk.00[0-9]*.ptl: it has no events of the kernel and no stacks: No space'
	check "disk: the number of events is printed" has err 'disk.00[0-9]*.ptl: [0-9]* events of the kernel are lost; the ledger'
	check "disk: each log is sound" are_sound kept/disk.*.ptl
	made kept/disk
	check "disk: $calls calls and $lost lost together" test $((calls + lost)) -ge 200000 -a $((calls + lost)) -le 210000
	said=$(sed -n 's/.*ptl: \([0-9]*\) events\{0,1\} of the kernel.*/\1/p' err | awk '{ n += $1 } END { print n }')
	flush=0
	for each in kept/disk.*.ptl; do
		more=$(lost_in "$each" "flush error")
		flush=$((flush + ${more:-0}))
	done
	check "disk: $said events were reported, and later logs count $flush" test "$said" -eq $flush
fi
if "$posixtrace" record --sched -q --force -o can.ptl true 2>err && test $small -eq 0; then
	# The disk has room for one more file, which is the next log. A child that begins then is in later
	# logs.
	cat >fills <<'EOF'
looks=0
again() { looks=$((looks + 1)); test $looks -le 1200 || exit 99; sleep 0.05; }
until grep -q 'the ledger of the next log has them' err; do
	n=0; while (: >small/file.$n) 2>/dev/null; do n=$((n + 1)); done
	test $n = 0 || rm small/file.$((n - 1))
	{ until test -e end; do again; done; } &
	echo $! >child
	set -- small/*.ptl
	last=small/file.$(printf %04d $(($# + 1))).ptl
	looks=0; until test -e $last; do again; done
	looks=0; until grep -q 'the ledger of the next log has them' err || test $looks -gt 40; do again; done
done
rm small/file.[0-9] small/file.[0-9][0-9]
set -- small/*.ptl
last=small/file.$(printf %04d $(($# + 2))).ptl
until test -e $last; do again; done
: >end
wait
EOF
	rm -f kept/*
	in_small size=30m,nr_inodes=20 "$posixtrace" record --sched --trace=none -o small/file.ptl --rotate-time 500ms sh fills
	check "file: the recording has an error" test $? -eq 125
	check "file: the reason is printed" has err 'small/file.00[0-9]*.ptl.*: No space'
	check "file: the number of events is printed" has err 'file.00[0-9]*.ptl: [0-9]* events\{0,1\} of the kernel \(is\|are\) lost; the ledger'
	check "file: each log is sound" are_sound kept/file.*.ptl
	"$posixtrace" dump --fields=event,tid kept/file.*.ptl >out
	check "file: a process that began then is in later logs" has out "^sched.in	$(cat child)$"
	check "file: it has a state there" has out "^sched.state	$(cat child)$"
fi
# ---- attach, uprobes

# attach: the process works until further logs have begun. A log has its state as soon as the log before
# has a record of it.
if "$posixtrace" record --sched -q --force -o can.ptl true 2>err; then
	cat >works <<'EOF'
looks=0
again() { looks=$((looks + 1)); test $looks -le 1200 || exit 99; sleep 0.05; }
until test -e end_of_attach; do i=0; while test $i -lt 5000; do i=$((i + 1)); done; again; done
EOF
	sh works &
	worker=$!
	started="$started $worker"
	"$posixtrace" attach -p $worker --sched -o at.ptl --rotate-time 300ms >out 2>err &
	tracer=$!
	started="$started $tracer"
	until_true test -e at.0006.ptl
	kill -INT $tracer
	wait $tracer
	check "attach: the trace ended well" test $? -eq 0
	: >end_of_attach
	wait $worker
	check "attach: each log is sound" are_sound at.*.ptl
	check "attach: the first log has no state" test "$(count_of sched.state at.0001.ptl)" = 0
	"$posixtrace" dump --fields=tid -e sched.state at.*.ptl >out
	check "attach: a further log begins with the state of the process" has out "^$worker\$"
	command -v python3 >/dev/null && alternates at
fi

# uprobes: each call is in one log, and so is a function that has not returned.
cat >steps.c <<'EOF'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile(""); return n; }
__attribute__((noinline)) void stays(char *log)
{
	for (int i = 0; access(log, F_OK) && i < 1200; i++)
		usleep(step(50000));
	for (int i = 0; i < 1000; i++)
		step(i);
	exit(0);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 1000; i++)
		step(i);
	if (argc > 1)
		stays(argv[1]);
	return 0;
}
EOF
if ${CC:-cc} -O1 -w -static -o steps steps.c &&
	"$posixtrace" record --force --syscalls=none --function step -q -o can.ptl ./steps >out 2>err; then
	run 0 record --force --syscalls=none --function step --function stays --rotate-time 200ms -o steps.ptl \
		./steps steps.0004.ptl
	check "uprobes: each log is sound" are_sound steps.*.ptl
	"$posixtrace" dump --json -e 'func.*' steps.*.ptl >lines
	calls=$(grep -c '"event":"func.call"' lines)
	check "uprobes: $calls calls" test "$calls" -ge 2000
	check "uprobes: no call is in two logs" test -z "$(sed -n 's/.*"ns":"\([0-9]*\)".*/\1/p' lines | sort | uniq -d)"
	check "uprobes: a function that has not returned is in one log" test "$(grep -c '"event":"func.open"' lines)" = 1
	run 0 latency -e 'func.*' steps.*.ptl
	check "uprobes: the functions have their names" test "$(grep -c -w -e step -e stays out)" = 2
fi
finish
