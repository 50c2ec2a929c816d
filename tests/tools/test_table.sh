#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace report without templates, and the selection of its events.
. "${0%/*}/lib.sh"

log=$tmp/described.log
"${top_builddir:-..}/tests/tools/make_described" append "$log" || exit 99
"$make_log" plain "$tmp/plain.log" 1000 >/dev/null || exit 99

run 0 report "$log"
check "there is a header" sh -c "head -n 1 '$tmp/out' |
	grep -q '^TIME  *DELTA  *PROCESS  *THREAD  *EVENT  *FIELDS$'"
check "columns are aligned" awk '
	NR == 1 { event = index($0, "EVENT"); fields = index($0, "FIELDS"); next }
	substr($0, event - 1, 2) !~ /^ [^ ]$/ { exit 1 }
	length($0) > fields && substr($0, fields - 1, 2) !~ /^ [^ ]$/ { exit 1 }' "$tmp/out"
check "fields have names" has out ' text  *path="/etc/passwd" raw=00ff fixed="four" pair=\[7 8\] tail="end"$'
check "values have names" has out ' named  *op=write fl=A|B|0x4 lock='
check "pointers have names" has out ' named  *op=write .* lock=mutex:0x[0-9a-f]* "pool lock"$'
check "bytes without a field are printed" has out ' named  *op=7 fl=0x0 lock=.* +0102$'
check "data that is not described is bytes" has out ' opaque  *0[09]000000000000[09]*$'
check "system events say what they mean" has out ' posix_trace_start  *filter=none$'
check "the first delta is 0" sh -c "sed -n 2p '$tmp/out' | grep -q ' +0.000000000 '"
"$posixtrace" dump "$log" >"$tmp/dump" 2>/dev/null
sed 1d "$tmp/out" | awk '{ print $1, $2, $3, $4, $5 }' >"$tmp/table"
awk '{ print $1, $2, $3, $4, $6 }' "$tmp/dump" >"$tmp/dumped"
check "it has the events, times and deltas of dump" cmp "$tmp/table" "$tmp/dumped"
run 0 report -h --raw "$log"
check "-h leaves the header out, --raw has nanoseconds" sh -c "head -n 1 '$tmp/out' | grep -q '^1[0-9]\{18\} '"
run 0 report --utc "$log"
check "--utc has a Z" has out '^[0-9T:.-]*Z '

same() { "$posixtrace" dump "$@" "$tmp/plain.log" 2>/dev/null | wc -l; }
for choice in "-e job_begin" "-x job_begin" "--limit 7" "--tail 9" "--begin +1h" "--end -1h" "--begin +10us" \
	"--end +200us" "--begin +10us --end +300us --tail 5" "--limit 50 --tail 5" "--where event.len>7"; do
	run 0 report -h $choice "$tmp/plain.log"
	check "$choice chooses what it chooses for dump" has_lines out "$(same $choice)"
done
run 0 report -h --where 'op == "write"' "$log"
check "--where knows the fields" has_lines out 2
run 0 report -h --tail 1 --where 'op == "write"' "$log"
check "the last ones have the names of things too" has out '"pool lock"$'
run 2 report --where 'nobody == 1' "$log"
check "an unknown name is reported" has err 'no event type has a field or a value of this name'
run 2 report --where 'op ==' "$log"
check "nothing is shown for what is no expression" is_empty out
if has_templates; then
	printf '@named 1.0 "op" U4\n' >"$tmp/t"
	run 0 report -h -t "$tmp/t" -O timestamp=3 --where 'op == "write"' --tail 1 "$log"
	check "a report by templates chooses in the same way" has out '^[0-9A-F]*  op 1$'
	check "a report by templates shows the last event" has_lines out 1
fi
run 0 report -h -O starttime=0.0001 "$tmp/plain.log"
cp "$tmp/out" "$tmp/later"
run 0 report -h --begin +100us "$tmp/plain.log"
check "-O starttime is --begin +" cmp "$tmp/out" "$tmp/later"
if has_templates; then
	: >"$tmp/none"
	run 0 report -h -t "$tmp/none" --begin +100us "$tmp/plain.log"
	check "elapsed time counts from the first event all the same" \
		awk '$2 < 0.0001 { exit 1 }' "$tmp/out"
fi
printf 'evt id=0x010 time=1.5 data=00\nevt id=0x010 pid=7 tid=8 time=2.0 data=-\n' >"$tmp/a.evt"
run 0 report -h --utc "$tmp/a.evt"
printf '%s\n' '1970-01-01T00:00:01.500000000Z   +0.000000000       -       - evt_010                  00' \
	'1970-01-01T00:00:02.000000000Z   +0.500000000       7       - evt_010' >"$tmp/expected"
check "other formats are reported too" cmp "$tmp/out" "$tmp/expected"
run 0 report -h --begin +0.4s "$tmp/a.evt"
check "+SPAN counts from their first event" has_lines out 1
run 2 report --begin -1s "$tmp/a.evt"
check "-SPAN needs a trace whose end is known" has err 'counts from the last event, which is known only at the end$'
finish
