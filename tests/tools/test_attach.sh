#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace attach: a running process is traced into a log that is complete after any kind of end.
# CREATE-04, WITHLOG-01, EXIT-05, FILTER-02, EXEC-01
#
# PTX_KILLS changes how often the traced process is killed.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

log=$tmp/a.log
bytes() { wc -c <"$log"; }
said() { sed -n "s/^.*a.log: \([0-9]*\) events, \([0-9]*\) lost.*, \([0-9]*\) bytes\$/\\$1/p" "$tmp/out"; }

# The log is sound; its events are complete, in order, and as many as reported.
is_whole() {
	check "$1: the log is sound" is_sound "$log"
	check "$1: one line has the number of events" has_lines out 1
	check "$1: its bytes are the file's" test "$(said 3)" = "$(bytes)"
	"$victim" check "$log" >"$tmp/events" 2>"$tmp/why"
	check "$1: the events are whole and in order" is_empty why
	check "$1: as many events as was said" test "$(said 1)" = "$(cat "$tmp/events")"
}

# With each kind of end.
start_busy 8
rm -f "$log"
run 0 attach -p "$target" -o "$log" -d 300ms
is_whole "duration"
check "duration: there were events" test "$(said 1)" -gt 0
for signal in INT TERM HUP; do
	attach
	finish_attach 0 $signal
	is_whole "$signal"
	check "$signal: nothing is wrong" is_empty err
done
attach --json
finish_attach 0 TERM
check "JSON: one line" has_lines out 1
check "JSON: why it ended" has out '^{"log":".*a.log","pid":'"$target"',"program":"victim","end":"signal","events":'
(trap '' INT; exec "$posixtrace" attach -p "$target" -o "$tmp/b.log" >"$tmp/out" 2>&1) &
tracer=$!
until_true test -s "$tmp/b.log"
finish_attach 0 INT

# The options of record. Without the many events of the target, none is lost, however busy the machine
# is; a loss would be printed.
for option in -q --quiet; do
	attach $option --no-follow --follow --exclude 'pay*' -e '!other.*'
	finish_attach 0 TERM
	check "$option: the log is sound" is_sound "$log"
	check "$option: nothing is printed" is_empty out
	check "$option: nothing is wrong" is_empty err
done
attach -q --json
finish_attach 0 TERM
check "an object of JSON is printed nevertheless" has_lines out 1
rm -f "$log"
run 4 attach -q -p "$target" -o "$log" -d 300ms -s 64K --policy until-full --fail-on-loss
check "the losses are printed, too" has out ' lost (stream full [0-9]*), '
rm -f "$log"
run 0 attach -q -p "$target" -o "$log" -d 300ms -s 64K --loop --log-policy loop --log-size 64K
check "--loop is a policy" sh -c "'$posixtrace' stat '$log' | grep -q '^policies .*stream loop'"
rm -f "$log"
run 0 record --inherit -q -p "$target" -o "$log" -d 100ms
check "record --inherit" is_sound "$log"

# No log is overwritten by mistake.
rm -f "$log"
run 0 attach -p "$target" -o "$log" -d 100ms
cp "$log" "$tmp/copy"
run 1 attach -p "$target" -o "$log" -d 100ms
check "a log that is there is refused" has err "^posixtrace: $log: the file exists; --force replaces it$"
check "a refused log is not changed" cmp "$log" "$tmp/copy"
kill_target
run 1 attach -p "$target" -o "$log" --force
check "a process that has ended is reported" has err "^posixtrace: process $target: no such process$"
check "a command that fails overwrites nothing" cmp "$log" "$tmp/copy"
check "a failed command leaves no file" test -z "$(ls "$tmp" | grep 'a\.log\.')"
run 1 attach -p "$target" -o "$tmp/new.log"
check "no new file is made" test ! -e "$tmp/new.log"
start_busy 2
ln -s a.log "$tmp/link.log"
run 0 attach -p "$target" -o "$tmp/link.log" --force -d 100ms
check "--force replaces a link" is_sound "$tmp/link.log"
check "by a file" test ! -L "$tmp/link.log"
check "the target of the link is not changed" cmp "$log" "$tmp/copy"
check "only its owner reads the log" test "$(stat -c %a "$tmp/link.log" 2>/dev/null || echo 600)" -eq 600
for path in "$tmp" /dev/null "$tmp/no/such/folder/x"; do
	run 1 attach -p "$target" -o "$path" --force
	check "$path is named" has err "^posixtrace: $path: "
done

# Loss is reported, and a log that cannot be written ends the recording.
rm -f "$log"
run 4 attach -p "$target" -o "$log" -d 300ms -s 64K --policy until-full --fail-on-loss
check "the loss has a cause" has out ' lost (stream full [0-9]*), '
check "an account that is not even is sound" is_sound "$log"
rm -f "$log"
run 0 attach -p "$target" -o "$log" -d 300ms -s 64K --policy loop --log-policy loop --log-size 64K
check "two loops are sound" is_sound "$log"
rm -f "$log"
(ulimit -f 100 && exec "$posixtrace" attach -p "$target" -o "$log" >"$tmp/out" 2>"$tmp/err")
check "a log that cannot grow is a failure" test $? -eq 1
check "that is reported once" test "$(grep -c -x "posixtrace: $log: File too large" "$tmp/err")" -eq 1
check "the log is sound" is_sound "$log"
rm -f "$log"
(ulimit -f 100 && exec "$posixtrace" attach -p "$target" -o "$log" --json -d 300ms --policy until-full \
	>"$tmp/out" 2>"$tmp/err")
check "a log whose end cannot be written is a failure" test $? -eq 1
check "the end of the trace is a log error" has out '"end":"log error"'
run 1 attach -p "$target" -o "$tmp/new.log" -s 900000G
check "too large a stream is reported" has err "^posixtrace: process $target: no memory for a stream of [0-9]* bytes; see --size$"
run 1 attach -p "$target" -o "$tmp/new.log" --log-policy loop --log-size 10
check "too small a log is reported" has err '^posixtrace: --log-size 10: too small'
kill_target

# The traced process is killed, at any moment.
n=0
while test $n -lt "${PTX_KILLS-10}"; do
	n=$((n + 1))
	start_busy 8
	attach --json
	sleep 0.0$((n % 10))
	kill_target
	finish_attach 0
	check "kill $n: the end is reported" has out '"end":"process ended"'
	check "kill $n: the log is sound" is_sound "$log"
	"$victim" check "$log" >"$tmp/events" 2>"$tmp/why"
	check "kill $n: the events are whole and in order" is_empty why
done

# A recorder that is killed: its guardian completes the log. A command at a terminal says that it waits
# for a guardian that needs long.
if command -v script >/dev/null; then
	start_busy 1
	attach
	guardian=$(od -A n -t u4 -j 3784 -N 4 "$log" | tr -d ' ')
	kill -STOP "$guardian"
	kill -KILL "$tracer"
	wait "$tracer" 2>/dev/null
	start script -qec "'$posixtrace' verify '$log'" /dev/null </dev/null >"$tmp/terminal" 2>&1
	check "a waiting command says so" until_true \
		has terminal "$log: its writer was killed; waiting at most 10 s for its guardian"
	kill -CONT "$guardian"
	wait "$pid"
	check "a waiting command continues when the log is complete" has terminal ': sound: '
	run 0 verify "$log"
	check "it says nothing if it need not wait" is_empty err
	kill_target
fi

# Names.
has_filter() { test "$(count_of posix_trace_filter)" -gt 0; }
start_puppet
attach -e v
tell e n e n e
finish_attach 0 TERM
check "a name that comes later is traced from its first event" test "$(count_of v)" -eq 2
check "others are not" test "$(count_of u)" -eq 0
check "system events are" test "$(count_of 'posix_trace_st*')" -eq 2
end_puppet
start_puppet
attach -e u
tell n e n e
finish_attach 0 TERM
check "a plain name lets nothing else through, from the first event on" test "$(count_of v)" -eq 0
check "the named types are recorded" test "$(count_of u)" -eq 2
end_puppet
start_puppet
attach -e 'u*' -e w
tell n
check "a new name is looked at" until_true has_filter
tell e n n n e
finish_attach 0 TERM
check "events of a new name are filtered" test "$(count_of v)" -le 1
check "others are traced" test "$(count_of u)" -eq 2
check "the log is sound" is_sound "$log"

# Other programs, children.
attach
tell e x e
finish_attach 0 TERM
check "a program that is executed is traced on" test "$(count_of u)" -eq 2
attach
tell e f e
finish_attach 0 TERM
check "a child is not traced unasked" test "$(count_of u)" -eq 1
end_puppet
start_puppet
attach --inherit
tell e f e s e
finish_attach 0 TERM
check "children are with --inherit" test "$(count_of u)" -eq 3
check "standard error is empty" is_empty err
check "they are three processes" test "$("$posixtrace" dump --json -e u "$log" |
	sed 's/.*"pid":\([0-9]*\).*/\1/' | sort -u | wc -l)" -eq 3
check "the log is sound" is_sound "$log"
end_puppet
start_puppet
attach --inherit --json
tell f e
kill_target
tell e
exec 5>&- 6<&-
finish_attach 0
check "children are traced until they end" test "$(count_of u)" -eq 2
check "that is the end of the trace" has out '"end":"process ended"'
start sleep 1000000
target=$pid
attach --trace none
finish_attach 0 TERM
check "a program that has no trace points is reported" has err \
	"^posixtrace: process $target does not use libposixtrace: it is traced when it executes a program that does$"
kill_target

# A process of another user.
# refused PID COMMAND...: the message of the tool under COMMAND, which changes the user, if given.
# The owner has no name if /proc hides the process.
refused() {
	refused=$1
	shift
	if "$@" test -e "/proc/$refused"; then
		has err "^posixtrace: process $refused: not permitted: it belongs to user root$" &&
			has err '^posixtrace: .*CAP_SYS_PTRACE'
	else
		has err "^posixtrace: process $refused: Operation not permitted$"
	fi
}
nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
if test "$(id -u)" -ne 0; then
	run 1 attach -p 1 -o "$tmp/new.log"
	check "another user's process is refused" refused 1
elif $nobody "$posixtrace" --version >/dev/null 2>&1; then
	start_busy 1
	mkdir -m 777 "$tmp/open"
	chmod 711 "$tmp"
	$nobody "$posixtrace" attach -p "$target" \
		-o "$tmp/open/x" >"$tmp/out" 2>"$tmp/err"
	check "another user's process is a failure" test $? -eq 1
	check "the message names the owner" refused "$target" $nobody
	check "no file is left" test ! -e "$tmp/open/x"
	kill_target
fi
finish
