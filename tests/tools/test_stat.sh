#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace stat and verify: their numbers are those of the dump and of the ledger.
. "${0%/*}/lib.sh"

# The number after a word of the line that verify prints: called, reported, unread, lost.
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

printf '%s\n' 'type a' 'thread-name 5 7 "a worker"' 'a 5 7 1' 'a 5 8 2' |
	"${top_builddir:-..}/tests/tools/compose" "$tmp/named.log" || exit 99
run 0 stat "$tmp/named.log"
check "a thread has its name" has out '  5  *7  "a worker"$'
check "a thread without a name has none" has out '  5  *8$'

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
check "the stream's name is reported" has out '^stream      make_log$'
check "the policies are reported" has out '^policies    stream flush, log append, close for child$'
check "the log is complete" has out '^file  .*; complete$'
check "half of the user events are each job's" has out '^ *2500 .*  job_begin$'
check "nothing was lost" has out ' lost 0$'
run 0 stat "$tmp/stopped.log"
check "the cause of a full stream is reported" has out '^account .*(stream full [0-9]*)$'
run 0 stat "$tmp/overrun.log"
check "the cause of an overrun is reported" has out '^account .*(overwritten [0-9]*)$'
run 0 stat "$tmp/loop.log"
check "the cause of a full log is reported" has out '^account .*(overwritten in the log [0-9]*)$'
run 0 stat "$tmp/plain.log" "$tmp/loop.log"
check "several logs have separate parts" test "$(grep -c '^log  ' "$tmp/out")" -eq 2
run 0 verify "$tmp/plain.log" "$tmp/loop.log"
check "several logs are verified" has_lines out 4
# Several threads print the same as one, with any fault of the log.
one_and_many() {
	"$posixtrace" stat --threads 1 "$1" >"$tmp/one" 2>"$tmp/one.err"
	status=$?
	for threads in 2 3 7 32; do
		run $status stat --threads $threads "$1"
		check "$2: $threads threads count as one does" cmp "$tmp/one" "$tmp/out"
		check "$2: $threads threads say what one says" cmp "$tmp/one.err" "$tmp/err"
	done
}

"$make_log" plain "$tmp/long.log" 60000 >/dev/null || exit 99
for kind in long stopped overrun loop evil falling; do
	one_and_many "$tmp/$kind.log" $kind
done
# Times that decrease, many equal ones, and all but one within an hour.
awk 'BEGIN {
	print "order le"
	for (i = 0; i < 30000; i++)
		printf "evt id=0x0%d pid=%d time=%d.%09d data=0102\n", 10 + i % 7, i % 3, 1000 + i / 10 - i % 11 * 40, i * 7919 % 13
	print "evt id=0x010 time=9000000.0 data=-"
}' >"$tmp/falling.evt"
"$posixtrace" convert --to log "$tmp/falling.evt" -o "$tmp/falling.log" || exit 99
size=$(wc -c <"$tmp/long.log")
for part in 1 2 3 4 5 6 7; do
	cp "$tmp/long.log" "$tmp/hurt.log"
	printf 'damaged!' | dd of="$tmp/hurt.log" bs=1 seek=$((size * part / 8)) conv=notrunc 2>/dev/null
	one_and_many "$tmp/hurt.log" "damaged at $part/8"
done
check "damage is reported" has err 'damaged'
head -c $((size / 2)) "$tmp/long.log" >"$tmp/cut.log"
one_and_many "$tmp/cut.log" cut
for threads in 0 33 -1 x; do
	run 2 stat --threads $threads "$tmp/long.log"
done
cat "$tmp/plain.log" | "$posixtrace" verify - >"$tmp/out"
check "standard input is verified" has out '^standard input: sound'
finish
