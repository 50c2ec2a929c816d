#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Counters: the sums do not depend on the number of threads, and the trace processor of Perfetto
# finds each value on a track of its process, if PERFETTO_UI=FOLDER has it (exchange/README).
# golden/stat/counters and golden/convert/counters have the output in full.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
here=${0%/*}

# --- sums of several threads

{
	echo 'trace name=many pid=5 clock=none created=1767323045s resolution=1'
	echo 'type queue s32 length; @counter length'
	echo 'queue 5 5 1767323045s 100'
	echo 'repeat 30000 queue 5 5 +1us 7'
	echo 'queue 5 5 +1us -3'
	echo 'repeat 30000 queue 5 6 +1us 9'
	echo 'queue 5 5 +1us 4'
	echo 'late queue 5 5 +-20ms 1000'
} | "$compose" "$tmp/many.ptl" || exit 99
sums() { "$posixtrace" stat --threads "$1" "$tmp/many.ptl" | grep ' queue length$'; }
check "the sums are right: $(sums 1)" test "$(sums 1 | tr -s ' ')" = " 60004 -3 8.018 1000 4 queue length"
for threads in 2 5 32; do
	check "the sums are the same with $threads threads" test "$(sums $threads)" = "$(sums 1)"
done

# The mean is a double. As a double, the greatest number of nanoseconds does not fit into 64 bits.
printf '%s\n' 'type cache ns age; @counter age' 'cache 5 5 1s 18446744073709551615' |
	"$compose" "$tmp/greatest.ptl" || exit 99
run 0 stat "$tmp/greatest.ptl"
check "the mean of the greatest value is this value" has out \
	'^ *1  *\([0-9.]*s\)  *\1  *\1  *\1  *cache age$'

# --- Perfetto's trace processor

if test -n "${PERFETTO_UI-}" && command -v node >/dev/null; then
	"$compose" "$tmp/counters.ptl" <"$here/golden/logs/counters.events" || exit 99
	run 0 convert "$tmp/counters.ptl" --to perfetto -o "$tmp/counters.pftrace"
	node "$here/../exchange/perfetto_query.js" "$PERFETTO_UI" "$tmp/counters.pftrace" \
		"select t.name, t.unit, p.pid, c.ts - 1767323045000000000, c.value from counter c
		join process_counter_track t on c.track_id = t.id join process p using (upid)
		where t.name in ('queue length', 'cache age') order by 1, 3, 4" \
		"select name from stats where severity = 'error' and value > 0" >"$tmp/out"
	check "the trace processor finds the counters" diff - "$tmp/out" <<-'END'
		[["cache age","ns","71","1000",1500],["cache age","ns","72","5000",2000],["queue length",null,"71","0",3],["queue length",null,"71","2000",7],["queue length",null,"71","6000",0],["queue length",null,"71","7000",5],["queue length",null,"71","12000",2],["queue length",null,"72","4000",1]]
		[]
	END
else
	echo "no trace processor of Perfetto: its view of counters is not tested"
fi
finish
