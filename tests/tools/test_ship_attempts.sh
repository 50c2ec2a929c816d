#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship and INSERTs that the server has not confirmed: each event is there once, whenever the shipper is
# killed, when the rows arrive later, when a server removes rows that it has shown, and when a replica that has just
# started does not know the rows of the others.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
. "${0%/*}/serving.sh"

log=$tmp/plain.log
"$make_log" plain "$log" 300 >/dev/null || exit 99
total=$("$posixtrace" dump "$log" 2>/dev/null | wc -l)
is_whole() { has result "^events_rows $1 whole\$" && lacks result BROKEN; }

# The answer to an INSERT of events or of the summary does not come, and its rows arrive after the shipper was
# killed. It has then voided the attempt, or is about to do so.
for tables in "1000 0 10" "1000 10 0"; do
	FAKE_TABLES=$tables
	export FAKE_TABLES
	for faults in "none late" "none none none none late"; do
		for word in before after; do
			rm -rf "$tmp/state"
			serve
			step=0 is_over=
			until test $is_over; do
				step=$((step + 1))
				echo "$faults" >"$tmp/result.faults"
				ends_at $step $word --batch 90 --host $word$step "$log" || is_over=1
				touch "$tmp/result.arrive"
				ships 0 --batch 90 --host $word$step "$log"
				check "$tables, $faults, killed $word request $step: all events, each once" \
					is_whole $((step * total))
				check "$tables, $faults, killed $word request $step: one summary" \
					has result "^streams_rows $step whole\$"
			done
			check "$tables, $faults, $word: there were many requests" test $step -gt 15
		done
	done
done

# The server shows rows that ZooKeeper does not know, so it will remove them.
for faults in 319 "none 319 319" "none none none none 319"; do
	rm -rf "$tmp/state"
	# shellcheck disable=SC2086 # a list of words
	serve $faults
	ships 0 --batch 90 "$log"
	check "$faults: all events, each once" is_whole "$total"
	check "$faults: one summary" has result '^streams_rows 1 whole$'
done

# The identity of the tables has changed, so ship counts the events. It does not believe a replica that does not
# know the rows of the others, or that starts again meanwhile.
for state in behind restart; do
	for asked in 1 2 3 4 5; do
		rm -rf "$tmp/state"
		serve
		ships 0 "$log"
		echo $asked >"$tmp/result.$state"
		touch "$tmp/result.mark"
		ships 0 "$log"
		check "$state $asked: all events, each once" is_whole "$total"
		check "$state $asked: one summary" has result '^streams_rows 1 whole$'
		check "$state $asked: no event counts as lost" lacks err 'the database has lost'
		check "$state $asked: the message" \
			has err ": this replica does not follow the others now, so its rows are not counted\$"
	done
done

# Somebody removes a table between two logs. The marks remain.
"$make_log" plain "$tmp/other.log" 200 >/dev/null || exit 99
both=$((total + $("$posixtrace" dump "$tmp/other.log" 2>/dev/null | wc -l)))
rm -rf "$tmp/state"
serve none none none none lost
ships 0 --batch 90 --give-up 10s "$log" "$tmp/other.log"
check "a table was removed: all events, each once" is_whole "$both"
check "a table was removed: two summaries" has result '^streams_rows 2 whole$'
check "a table was removed: the message" has err ": this replica lacks tables now, so its rows are not counted\$"
finish
