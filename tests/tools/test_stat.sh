#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace stat and verify: their numbers are those of the dump and of the ledger.
. "${0%/*}/lib.sh"

# The number behind a word of the line that verify prints: called, reported, unread, lost.
term() { sed -n "s/.*[ :]$1 \([0-9]*\).*/\1/p" "$tmp/equation"; }

# equation LOG: the equation holds with its printed numbers, and the dump has as many events.
equation() {
	name=${1##*/}
	run 0 verify "$1"
	check "$name: is sound" has out ": sound: [0-9]* blocks, [0-9]* events, [0-9]* bytes, 0 faults$"
	check "$name: nothing is wrong" is_empty err
	events=$(sed -n 's/.* blocks, \([0-9]*\) events.*/\1/p' "$tmp/out")
	bytes=$(sed -n 's/.* events, \([0-9]*\) bytes.*/\1/p' "$tmp/out")
	check "$name: the bytes are the file's" test "$bytes" -eq "$(wc -c <"$1")"
	grep 'called ' "$tmp/out" >"$tmp/equation"
	check "$name: called = reported + unread + lost" test "$(term called)" -eq \
		$(($(term reported) + $(term unread) + $(term lost)))
	causes=$(sed -n 's/.*(\(.*\))$/\1/p' "$tmp/equation" | tr ',' '\n' |
		awk '{ sum += $NF } END { print sum + 0 }')
	check "$name: the causes add up to what was lost" test "$causes" -eq "$(term lost)"
	check "$name: as many events as reported" test "$events" -eq "$(term reported)"
	check "$name: as many lines as events" test "$("$posixtrace" dump "$1" 2>/dev/null | wc -l)" -eq "$events"
	run 0 stat "$1"
	check "$name: stat has the same account" grep -q "^account .*$(sed 's/.*: //' "$tmp/equation")" "$tmp/out"
	check "$name: stat has as many events" has out "^events      $events "
}

# column N: the sum of a column of the two tables, by type and by thread.
by_type() { sed -n '/event type$/,/^$/p' "$tmp/out" | awk -v c="$1" '/%/ && !/event type$/ { s += $c } END { print s + 0 }'; }
by_thread() { sed -n '/pid     tid$/,/^$/p' "$tmp/out" | awk -v c="$1" '/%/ && !/tid$/ { s += $c } END { print s + 0 }'; }

tables() {
	name=${1##*/}
	check "$name: events by type add up" test "$(by_type 1)" -eq "$events"
	check "$name: events by thread add up" test "$(by_thread 1)" -eq "$events"
	check "$name: losses by type add up" test "$(by_type 5)" -eq "$(term lost)"
	check "$name: losses by thread add up" test "$(by_thread 5)" -eq "$(term lost)"
	check "$name: bytes by type are bytes by thread" test "$(by_type 4)" -eq "$(by_thread 4)"
	check "$name: bytes by type are those of the total" has out "^events .* $(by_type 4) bytes of data"
	check "$name: bytes by type are those of the dump" test "$(by_type 4)" -eq "$("$posixtrace" dump --json "$1" \
		2>/dev/null | sed 's/.*,"len":\([0-9]*\).*/\1/' | awk '{ sum += $1 } END { print sum + 0 }')"
}

for kind in plain stopped overrun loop evil; do
	"$make_log" $kind "$tmp/$kind.log" 5000 >"$tmp/made" || exit 99
	equation "$tmp/$kind.log"
	tables "$tmp/$kind.log"
done

run 0 stat "$tmp/plain.log"
check "the stream's name is told" has out '^stream      make_log$'
check "the policies are told" has out '^policies    stream flush, log append, close for child$'
check "the log is complete" has out '^file  .*; complete$'
check "half of the user events are each job's" has out '^ *2500 .*  job_begin$'
check "nothing was lost" has out ' lost 0$'
run 0 stat "$tmp/stopped.log"
check "the cause of a full stream is told" has out '^account .*(stream full [0-9]*)$'
run 0 stat "$tmp/overrun.log"
check "the cause of an overrun is told" has out '^account .*(overwritten [0-9]*)$'
run 0 stat "$tmp/loop.log"
check "the cause of a full log is told" has out '^account .*(overwritten in the log [0-9]*)$'
run 0 stat "$tmp/plain.log" "$tmp/loop.log"
check "several logs are told apart" test "$(grep -c '^log  ' "$tmp/out")" -eq 2
run 0 verify "$tmp/plain.log" "$tmp/loop.log"
check "several logs are verified" has_lines out 4
cat "$tmp/plain.log" | "$posixtrace" verify - >"$tmp/out"
check "standard input is verified" has out '^standard input: sound'
finish
