#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship sends all events of a log again when a type gets its schema late. The shipper is killed
# before and after each request of the server: then each event is there once, with its fields and its span.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
. "${0%/*}/serving.sh"

# Two logs in two states each: in the first one, the events have no schema.
for log in late noted; do
	"${top_builddir:-..}/tests/tools/make_described" $log "$tmp/$log.log" "cp $tmp/$log.log $tmp/$log.part" || exit 99
	"$posixtrace" query --csv "$tmp/$log.log" 'select count(*) from spans' | sed 1d >"$tmp/$log.spans"
done
check "the events of one log are spans" test "$(cat "$tmp/late.spans")" = 3
check "those of the other one are not" test "$(cat "$tmp/noted.spans")" = 0

FAKE_TABLES="1000 10 0"
export FAKE_TABLES
for log in late noted; do
	events=$("$posixtrace" query --csv "$tmp/$log.log" 'select count(*) from events' | sed 1d)
	spans=$(cat "$tmp/$log.spans")
	for word in before after; do
		rm -rf "$tmp/state"
		serve
		step=0 is_over=
		until test $is_over; do
			step=$((step + 1))
			host=$word$step
			cp "$tmp/$log.part" "$tmp/now.log"
			ships 3 --no-symbols --batch 4 --host $host "$tmp/now.log"
			cp "$tmp/$log.log" "$tmp/now.log"
			ends_at $step $word --no-symbols --batch 4 --host $host "$tmp/now.log" || is_over=1
			ships 0 --no-symbols --batch 4 --host $host "$tmp/now.log"
			check "$log, killed $word request $step: all events, each once" \
				has result "^events_rows $((step * events)) whole\$"
			check "$log, killed $word request $step: their fields" has result "^described $((step * 3))\$"
			test "$spans" = 0 || check "$log, killed $word request $step: their spans" \
				has result "^spans_rows $((step * spans)) whole\$"
			check "$log, killed $word request $step: one summary" has result "^streams_rows $step whole\$"
			check "$log, killed $word request $step: nothing else is broken" lacks result BROKEN
		done
		check "$log: the shipper that was not killed has sent all again" has killed.err \
			': its first [2-9] events have other fields or spans now than when they were shipped, so all'
		check "$log: it has sent more requests than without a late schema" test $step -gt 15
	done
done
unset FAKE_TABLES

# With --follow, a log is sent again when it is complete: until then, further types may get a schema.
rm -rf "$tmp/state"
serve
cp "$tmp/noted.part" "$tmp/now.log"
ships 3 "$tmp/now.log"
head -c -200 "$tmp/noted.log" >"$tmp/cut.log"
mv "$tmp/cut.log" "$tmp/now.log"
"$posixtrace" ship --state "$tmp/state" --to "$url" --follow "$tmp/now.log" >"$tmp/followed" 2>"$tmp/followed.err" &
shipper=$!
until grep -q shipped "$tmp/followed"; do
	kill -0 "$shipper" 2>/dev/null || break
	sleep 0.05
done
check "a log that is not complete: its new events arrive" has result "^events_rows $events whole\$"
check "a log that is not complete: the others are not sent again" has result '^described 1$'
cp "$tmp/noted.log" "$tmp/whole.log"
mv "$tmp/whole.log" "$tmp/now.log"
wait "$shipper"
check "the follower ends with the log" test $? -eq 0
check "a complete log: all events, each once" has result "^events_rows $events whole\$"
check "a complete log: their fields" has result '^described 3$'

# The position of an older version lacks the sum, or has another one: the database knows it.
for line in 'took 7 0' ''; do
	sed -i "s/^shown .*/$line/; /^\$/d" "$tmp"/state/*[0-9a-f]
	ships 0 "$tmp/now.log"
	check "'$line' in a position: nothing is sent" has out ': 0 events shipped, '
	check "'$line' in a position: no message" is_empty err
	check "'$line' in a position: then it has the sum" grep -q '^shown [1-9][0-9]* 0$' "$tmp"/state/*[0-9a-f]
done

# Events that a user has deleted are not sent again.
rm -rf "$tmp/state"
serve
cp "$tmp/noted.part" "$tmp/now.log"
ships 3 "$tmp/now.log"
touch "$tmp/result.delete"
cp "$tmp/noted.log" "$tmp/now.log"
ships 0 "$tmp/now.log"
check "deleted rows: the message" has err 'the others were deleted'
check "deleted rows: they are not sent again" has result '^described 1$'
finish
