#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace dump, stat and verify: data of event types with schemas, names of objects.
. "${0%/*}/lib.sh"

make_described=${top_builddir:-..}/tests/tools/make_described

for kind in append loop; do
	log=$tmp/$kind.log
	"$make_described" $kind "$log" || exit 99
	run 0 verify "$log"

	run 0 dump -e 'every' "$log"
	check "$kind: numbers are shown as their types say" has out \
		' every u8=1 s16=-2 u64=18446744073709551615 x32=0xbeef f32=0.1 f64=-2.5 flag=true c='"'A'"
	check "$kind: durations are exact" has out ' took=1.5ms '
	check "$kind: errors have their names" has out ' e=-ENOENT$'
	run 0 dump --utc -e 'every' "$log"
	check "$kind: times are written as the event's own" has out ' at=2023-11-14T22:13:20.000000001Z '

	run 0 dump -e 'text' "$log"
	check "$kind: text, bytes and arrays" has out \
		' text path="/etc/passwd" raw=00ff fixed="four" pair=\[7 8\] tail="end"$'
	check "$kind: text cannot harm the terminal" has out ' text path="\\x1b\[31m\\"" '
	check "$kind: a short payload lacks the last fields" has out ' text path="short" raw=0102\.\.\.$'
	check "$kind: an array may be cut in the middle" has out ' fixed="four" pair=\[7 \.\.\.\]$'

	run 0 dump -e 'named' "$log"
	check "$kind: values have names" has out ' named op=write fl=A|B|0x4 lock=mutex:0x[0-9a-f]* "pool lock"$'
	check "$kind: a value without a name is a number" has out ' op=7 fl=0x0 '
	check "$kind: a name that was taken back is not shown" has out ' op=read fl=A lock=0x[0-9a-f]*$'
	check "$kind: bytes without a field are printed" has out ' lock=0x0 +0102$'
	check "$kind: a child has its parent's names" test \
		"$(grep -c 'lock=mutex:0x[0-9a-f]* "pool lock"$' "$tmp/out")" -eq 2

	run 0 dump -e 'late' "$log"
	check "$kind: events may be older than their description" has out ' late n=9$'
	run 0 dump -e 'opaque' "$log"
	check "$kind: without a description data are bytes" has out ' opaque 0[0-9a-f]00000000000000$'
	run 0 dump --hex -e 'named' "$log"
	check "$kind: --hex shows bytes" lacks out 'op='

	run 0 dump --json -x 'posix_trace_*' "$log"
	cp "$tmp/out" "$tmp/json"
	check "$kind: numbers of 64 bits are strings" has json '"u64":"18446744073709551615","x32":48879,'
	check "$kind: values keep their numbers and have labels" has json \
		'"labels":{"op":"write","fl":"A|B|0x4","lock":"mutex:pool lock"},"fields":{"op":1,"fl":7,"lock":"0x'
	check "$kind: arrays are arrays" has json '"pair":\[7,8\],"tail":"end"}'
	check "$kind: bytes without a field are printed" has json '"rest":"0102"'
	check "$kind: level and span" has json '"event":"named","level":2,"begin":"op",'
	if command -v python3 >/dev/null; then
		check "$kind: it is JSON" python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) == 10, len(lines)' "$tmp/json"
	fi

	run 0 stat "$log"
	check "$kind: stat has the descriptions" has out '^    2  named: u32 op{0=read,1=write}; '
	run 0 stat --json "$log"
	check "$kind: the JSON of stat has the descriptions" has out '"schema":"u32 op{0=read,1=write}; .*,"level":2,'
done

finish
