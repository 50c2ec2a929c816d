# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/targets.sh - processes for posixtrace to trace; sourced after lib.sh.
#
# All started processes are ended when the test ends. No function waits for ever: until_true gives
# up.

victim=${top_builddir:-..}/tests/tools/victim
test -x "${victim%/*}/.libs/victim" && victim=${victim%/*}/.libs/victim
puppet_program=${top_builddir:-..}/tests/support/puppet
started=

# is_child PID: a child of this shell. The number of one that has ended may be another process's.
is_child() { test "$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status")" = $$; }

end_all() {
	for each in $started; do
		! is_child "$each" || kill -KILL "$each"
	done
	wait
} 2>/dev/null
trap 'is_script && { end_all; rm -rf "$tmp"; }' 0
trap 'exit 1' 1 2 15

# until_true COMMAND...: a minute at most.
until_true() {
	tries=1200
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		test $tries -gt 0 || return 1
		sleep 0.05
	done
}

# has_children PID: it has started a process.
has_children() { test -n "$(cat "/proc/$1/task/$1/children")"; }
# is_at_rest PID [NAME]: it sleeps in a call, such as read() or the wait for a child. The program NAME
# was executed, and its dynamic linker, which never sleeps, has mapped all libraries.
is_at_rest() {
	{ test -z "$2" || grep -q -x -F "$2" "/proc/$1/comm"; } &&
		{ grep -q '^State:.S' "/proc/$1/status" || has_children "$1"; }
}

# takes_signals PID: SIGTERM no longer ends it at once, because it reads its signals.
takes_signals() {
	set -- "$(sed -n 's/^SigBlk:.*\(....\)$/\1/p' "/proc/$1/status")"
	test $((0x${1:-0} & 0x4000)) -ne 0
}
# has_taken PID: no signal is pending that a second one of its kind would be merged with.
has_taken() { grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$1/status"; }

# start COMMAND...: in the background, its id in $pid; without the descriptors of a puppet.
start() {
	"$@" 5>&- 6<&- &
	pid=$!
	started="$started $pid"
}

# A program with events in N threads, without end: its id in $target.
start_busy() {
	start "$victim" work "$1" >/dev/null 2>&1
	target=$pid
}

# start_reading COMMAND...: a program that reads from a pipe, ends when its input does, and prints a line
# after its start, in $tmp/said. Its id in $target.
start_reading() {
	rm -f "$tmp/input" "$tmp/said"
	mkfifo "$tmp/input" || exit 99
	start sh -c 'exec "$@" <"$0"' "$tmp/input" "$@" >"$tmp/said" 2>&1
	target=$pid
	exec 5>"$tmp/input"
	until_true test -s "$tmp/said"
}

# end_reading NAME: ends its input. The program has checked all of its results.
end_reading() {
	exec 5>&-
	wait "$target"
	got=$?
	check "$1: the program ends as it would have" test $got -eq 0
	check "$1: its results are right" grep -q '^right' "$tmp/said"
}

# kill_target: the shell prints no message about it.
kill_target() {
	kill -KILL "$target"
	wait "$target"
} 2>/dev/null

# A puppet, see support/puppet.h: its id in $target; tell COMMAND.
start_puppet() {
	rm -f "$tmp/commands.fifo" "$tmp/answers.fifo"
	mkfifo "$tmp/commands.fifo" "$tmp/answers.fifo" || exit 99
	start sh -c 'exec "$0" 0 1 r <"$1/commands.fifo" >"$1/answers.fifo"' "$puppet_program" "$tmp"
	target=$pid
	exec 5>"$tmp/commands.fifo" 6<"$tmp/answers.fifo"
	answer >"$tmp/ready"
}

answer() { dd bs=1 count=1 <&6 2>/dev/null; }

tell() {
	for each in "$@"; do
		printf %s "$each" >&5
		test "$(answer)" = "$each" || return 1
	done
}

end_puppet() {
	exec 5>&- 6<&-
	wait "$target"
}

# Under nohup SIGHUP is ignored, which started processes would inherit.
env --default-signal=HUP true 2>/dev/null && defaults='env --default-signal=HUP' || defaults=

# attach ARGUMENT...: in the background, into $log; returns when it traces. Its id is in $tracer.
attach() {
	rm -f "$log"
	start $defaults "$posixtrace" attach -p "$target" -o "$log" "$@" >"$tmp/out" 2>"$tmp/err"
	tracer=$pid
	until_true is_traced
}

is_traced() {
	"$posixtrace" list --json | grep '^{"pid":'"$target"',.*"creator":'"$tracer"',.*"\(running\|full\)":true'
}

# finish_attach STATUS [SIGNAL]: waits for its end; its output is in $tmp/out and $tmp/err.
finish_attach() {
	wanted=$1
	test -z "$2" || kill -"$2" $tracer
	wait $tracer
	got=$?
	check "attach exits with $wanted, not $got" exited
}

# account_of LOG: the numbers of called = reported + unread + lost, and that of the unattributed events;
# nothing if there is no account.
account_of() {
	"$posixtrace" verify "$1" 2>&1 | tr -d '=+' |
		awk '{
			for (i = 1; i < NF; i++) n[$i] = $(i + 1)
			if ("called" in n) print n["called"], n["reported"], n["unread"], n["lost"], n["unattributed"] + 0
			delete n
		}'
}
# is_even LOG [MOST]: that account adds up, with at most MOST unattributed events, or with none. If a writer
# is killed while it counts the events of a chunk that it overwrites, these are unattributed (ring/DESIGN).
is_even() {
	account_of "$1" | {
		read -r called reported unread lost unattributed &&
			test "$called" -eq $((reported + unread + lost + unattributed)) &&
			test "$unattributed" -le "${2:-0}"
	}
}

# is_sound LOG
is_sound() { "$posixtrace" verify "$1" | grep ': sound: .* 0 faults$'; }
count_of() { "$posixtrace" dump -e "$1" "$log" 2>/dev/null | wc -l; }
