#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every format that posixtrace convert writes: a whole log, a log with losses, hostile names and data,
# a log without events, and a full disk. What the formats say, make check-exchange compares.
. "${0%/*}/lib.sh"

"$make_log" plain "$tmp/plain.log" 1000 >/dev/null || exit 99
"$make_log" stopped "$tmp/stopped.log" 5000 >/dev/null || exit 99
"$make_log" overrun "$tmp/overrun.log" 5000 >/dev/null || exit 99
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
"$make_log" plain "$tmp/empty.log" 0 >/dev/null || exit 99
head -c 4096 "$tmp/plain.log" >"$tmp/header.log"

"$posixtrace" convert --list | sed -n 's/^\([a-z]*\) .* writes .*/\1/p' >"$tmp/sinks"
check "there are formats to write" test -s "$tmp/sinks"
for sink in $(cat "$tmp/sinks"); do
	test $sink = listing && continue # of sources that have lines of their own
	for kind in plain stopped overrun evil empty; do
		run 0 convert "$tmp/$kind.log" --to $sink -o "$tmp/$kind.$sink.out"
		check "$sink: something is written of $kind" test -s "$tmp/$kind.$sink.out" \
			-o -d "$tmp/$kind.$sink.out"
	done
	run 3 convert "$tmp/header.log" --to $sink -o "$tmp/header.$sink.out"
	# A folder cannot be a device.
	test -d "$tmp/plain.$sink.out" && continue
	run 1 convert "$tmp/plain.log" --to $sink -o /dev/full
	check "$sink: a full disk is told" has err 'No space left'
	run 1 convert "$tmp/plain.log" --to $sink -o "$tmp/plain.$sink.out"
	check "$sink: a file that is there is refused" has err 'is there already'
	"$posixtrace" convert "$tmp/plain.log" --to $sink >"$tmp/piped.out" 2>"$tmp/err"
	check "$sink: standard output will do" test -s "$tmp/piped.out"
done

# The same rows of the log, in comma-separated values.
run 0 convert "$tmp/plain.log" --to csv
check "csv: a line an event and one of names" test "$(wc -l <"$tmp/out")" -eq \
	$(($("$posixtrace" dump "$tmp/plain.log" | wc -l) + 1))
run 0 convert "$tmp/overrun.log" --to csv
check "csv: what was lost is the last line" test -n "$(tail -n 1 "$tmp/out" | grep ',overwritten,')"
finish
