#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace why of a running process and of a program: it records, explains, and removes the log.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
mkdir "$tmp/made"
is_clean() { test -z "$(ls -A "$tmp/made")"; }

TMPDIR=$tmp/made
export TMPDIR
run 0 why --run -- sh -c 'sleep 0.2; echo the output'
check "the program's output is there" has out '^the output$'
check "the answer follows" has out '^Cause: .*%'
check "the cause is known" has out 'sleeping: .*nanosleep'
check "no advice to record what was recorded" lacks out 'lock-hold'
check "the log is removed" is_clean
run 0 why --json --run -- sleep 0.1
check "the answer in JSON" has out '"parts":'
run 0 why -o "$tmp/kept.ptl" --run -- sleep 0.1
check "the log is kept on request" test -s "$tmp/kept.ptl"
run 0 why "$tmp/kept.ptl"
check "it has the same answer" has out 'sleeping'
run 1 why -o "$tmp/kept.ptl" --run -- sleep 0.1
check "a file that exists is not overwritten" has err 'kept.ptl: the file exists'
run 1 why -o "$tmp/kept.ptl" -p $$
check "then nothing is recorded, and no thread is listed" lacks err '^posixtrace: thread'
(work_in_tmp && "$posixtrace" why -o - --run -- sleep 0.1 </dev/null >out 2>err)
check "- is a file, too" has out 'sleeping'
run 1 why --run -- "$tmp/no such program"
check "a program that does not exist" has err 'no such program.*No such file'
run 0 why --run -- sh -c 'sleep 0.1; exit 7'
check "the status of the program does not matter" has out '^Cause: '

run 0 why --run sh -c 'sleep 0.1; echo "$1"' name --json
check "options behind the program are those of the program" has out '^--json$'
check "why does not take them" has out '^Cause: '

# Too few descriptors for the states of threads, but enough for the calls.
needs_more() {
	for number in $(seq 10 60); do
		(ulimit -n "$number" && "$posixtrace" why --run -- sleep 0.01 >"$tmp/out" 2>"$tmp/err") || continue
		if grep -q 'will lack the times at which threads ran' "$tmp/err"; then return 0; fi
	done
	return 1
}
if "$posixtrace" record -q --sched -o "$tmp/states.ptl" -- true 2>/dev/null; then
	check "without the states of threads, the calls are recorded" needs_more
	check "why says what the log will not have" has err 'will lack the times at which threads ran, and samples'
	check "why explains the calls" has out 'sleeping'
	check "no such log remains" is_clean
fi
run 2 record --sched=maybe -o "$tmp/x.ptl" -- true
check "another need" has err 'there are needed and possible'

# The CPU limit of a cgroup, which only root can set.
box=/sys/fs/cgroup/cpu/posixtrace-test-$$
limit=cpu.cfs_quota_us
test -w /sys/fs/cgroup/cpu/cgroup.procs || box=/sys/fs/cgroup/posixtrace-test-$$ limit=cpu.max
if mkdir "$box" 2>/dev/null && (echo 20000 >"$box/$limit") 2>/dev/null; then
	# The program runs until the limit has applied in some periods.
	cat >"$tmp/limited" <<'END'
periods() { sed -n "s/^nr_throttled //p" "$1/cpu.stat"; }
begin=$(periods "$1")
until test $(($(periods "$1") - begin)) -ge "$2"; do :; done
END
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$box" \
		"$posixtrace" why --run -- sh "$tmp/limited" "$box" 20 >"$tmp/out" 2>"$tmp/err"
	check "a CPU limit is a line of the answer" has out \
		"^Limit: the cgroup [^ ]*posixtrace-test-$$ used up its CPU limit (cpu.max) in [0-9]* period"
	# A container sees its own cgroup as the root.
	if unshare -C -m true 2>/dev/null; then
		sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$box" \
			unshare -C -m sh -c 'mount --bind "$0" "${0%/*}" && exec "$@"' "$box" \
			"$posixtrace" why --run -- sh "$tmp/limited" "${box%/*}" 5 >"$tmp/out" 2>"$tmp/err"
		check "in a container, too" has out \
			"^Limit: the cgroup / used up its CPU limit (cpu.max) in [0-9]* period"
	fi
fi
rmdir "$box" 2>/dev/null

# A signal that ends why leaves neither the log nor a process.
start "$posixtrace" why --run -- sh -c 'echo begun >"$1"; exec sleep 1000000' name "$tmp/begun"
killed=$pid
until_true test -s "$tmp/begun"
kill "$killed"
wait "$killed"
check "why ends by the signal" test $? = 143
check "a signal leaves no log" is_clean

run 2 why "$tmp/kept.ptl" --run -- true
check "a program and a log" has err 'run records a log, so no LOG is read'
run 2 why --json "$tmp/kept.ptl" --run true
check "a program and a log behind an option" has err 'run records a log, so no LOG is read'
run 2 why --run
check "the program is missing" has err 'needs a program'
run 2 why -p 1 "$tmp/kept.ptl"
check "a process and a log" has err 'no LOG is read'
run 2 why -p 1 --run -- true
check "a process and a program" has err 'give only one'
run 2 why -d 1s "$tmp/kept.ptl"
check "a duration without a process" has err 'duration needs --pid'
run 2 why -o "$tmp/x.ptl" "$tmp/kept.ptl"
check "an output without a recording" has err 'output needs --pid or --run'
run 1 why -p 999999999
check "no such process" has err 'no such process'
check "no temporary log remains" is_clean

# The kernel, a shell and why may all send SIGHUP to the recorder. The trace goes on until the program ends.
cat >"$tmp/hung.sh" <<-'EOF'
	trap 'echo hup >>"$1/hups"' HUP
	echo begun >"$1/hung"
	while test ! -e "$1/stop"; do sleep 0.05; done
EOF
touch "$tmp/hups"
got() { test "$(wc -l <"$tmp/hups")" -ge "$1"; }
start $defaults "$posixtrace" record -q -o "$tmp/hung.ptl" -- sh "$tmp/hung.sh" "$tmp"
until_true test -s "$tmp/hung"
for number in 1 2; do
	kill -HUP "$pid"
	check "the program gets signal $number" until_true got $number
done
echo >"$tmp/stop"
wait "$pid"
check "a second SIGHUP does not end the trace" test $? = 0

# A process whose main thread waits for its children.
start sh -c 'while :; do sleep 0.05; done'
loop=$pid
until_true grep -q '(sh)' "/proc/$loop/stat"
"$posixtrace" attach -p "$loop" -d 50ms -o "$tmp/try.ptl" >"$tmp/out" 2>"$tmp/err" || {
	grep -q 'cannot be traced' "$tmp/err" || cat "$tmp/err"
	skip "processes cannot be attached to here"
}
run 0 why -p "$loop" -d 500ms
check "a running process is explained" has out '^Cause: .*%'
check "it waits for its children" has out 'waiting for the end of process\|sleeping'
check "its log is removed, too" is_clean

# A program that was executed by a link has the name of the link, as it has for record.
ln -s "$(command -v sh)" "$tmp/alias"
start "$tmp/alias" -c 'while :; do sleep 0.05; done'
alias=$pid
until_true grep -q '(alias)' "/proc/$alias/stat"
run 0 attach -p "$alias" --inherit -d 500ms -o "$tmp/alias.ptl"
run 0 dump -e posixtrace_attached "$tmp/alias.ptl"
check "attach records the path that was executed" has out "pid=$alias program=\"$tmp/alias\"\$"
run 0 why "$tmp/alias.ptl"
check "why has the name" has out "^thread $alias of process $alias (alias) took"
run 0 convert --to chrome -o "$tmp/alias.json" "$tmp/alias.ptl"
check "exports have it" grep -q '"process_name".*"alias' "$tmp/alias.json"
run 0 html -o "$tmp/alias.html" "$tmp/alias.ptl"
check "a page has it" grep -q '"alias"' "$tmp/alias.html"

# A process that waits for ever in a call that must not be interrupted: each thread's place is printed.
mkfifo "$tmp/fifo"
start cat "$tmp/fifo"
stuck=$pid
until_true grep -q '(cat)' "/proc/$stuck/stat"
# Only the call that opens the pipe blocks so that it can be interrupted: the other files are local.
until_true grep -q '^[0-9]* (cat) S' "/proc/$stuck/stat"
run 1 attach -p "$stuck" -d 50ms -o "$tmp/stuck.ptl"
check "attach says why it fails" has err 'cannot be traced: no thread of it was at a place'
run 1 why -p "$stuck" -d 50ms
check "why says so" has err 'cannot be traced'
check "why names the function in which the thread is blocked" has err "thread $stuck (cat) is blocked in the kernel's function [a-z_][a-z_]*\|is blocked; the kernel does not say"
check "no log remains" is_clean
finish
