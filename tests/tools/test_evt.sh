#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The text form of events: read, written, and faults reported.
. "${0%/*}/lib.sh"

log=$tmp/plain.log
"$make_log" plain "$log" 1000 >/dev/null || exit 99
total=$("$posixtrace" dump "$log" | wc -l)

run 0 convert "$log" -o "$tmp/a.evt"
check "every event is written" test "$(grep -c '^evt id=0x' "$tmp/a.evt")" -eq "$total"
check "every type has its name" grep -q '^name 0x[0-9a-f]* "job_begin"$' "$tmp/a.evt"
check "the order comes first" sh -c "head -n 1 '$tmp/a.evt' | grep -q '^order [bl]e$'"
run 0 convert "$tmp/a.evt" -o "$tmp/b.evt"
check "the output can be read and written again without a change" cmp "$tmp/a.evt" "$tmp/b.evt"
run 0 convert --from evt --to evt - -o - <"$tmp/a.evt"
check "also from a pipe to a pipe" cmp "$tmp/a.evt" "$tmp/out"
"$posixtrace" dump --raw --hex "$log" 2>/dev/null | awk '{ print $1 }' >"$tmp/times"
sed -n 's/^evt .* time=\([0-9]*\)\.\([0-9]*\) .*/\1\2/p' "$tmp/a.evt" >"$tmp/times2"
check "the times are the log's" cmp "$tmp/times" "$tmp/times2"
"$posixtrace" dump --hex -e job_end "$log" | awk '{ print $NF }' >"$tmp/data"
sed -n "s/^evt id=$(sed -n 's/^name \(0x[0-9a-f]*\) "job_end"$/\1/p' "$tmp/a.evt") .* data=//p" "$tmp/a.evt" >"$tmp/data2"
check "the data is the log's" cmp "$tmp/data" "$tmp/data2"

cat >"$tmp/all.evt" <<'END'
order be
name 0x010 "a "quoted" name \n"
evt id=0x010 pid=2147483647 tid=18446744073709551615 addr=0xffffffffffffffff time=9223372036.854775807 trunc=2 data=00ff
evt id=0x011 time=0.000000000 data=-
name 0x012 "later"
evt id=0x012 time=-1.500000000 trunc=1 data=0a
END
run 0 convert "$tmp/all.evt" -o "$tmp/all2.evt"
check "all that an event can have comes through" cmp "$tmp/all.evt" "$tmp/all2.evt"
"$posixtrace" convert "$tmp/all.evt" --to jsonl >"$tmp/out"
check "other formats get it too" has out '"event":"a \\"quoted\\" name \\\\n".*"pid":2147483647,.*"truncated":"read"'

"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
run 0 convert "$tmp/evil.log" -o "$tmp/evil.evt"
run 0 convert "$tmp/evil.evt" -o "$tmp/evil2.evt"
grep -a -v '^#' "$tmp/evil.evt" >"$tmp/evil1"
check "names and data of any kind come through" cmp "$tmp/evil1" "$tmp/evil2.evt"

# Each wrong line is reported with its offset and skipped; the others are kept.
good='evt id=0x010 time=1.0 data=00'
while read -r line; do
	printf '%s\n%s\n%s\n' "$good" "$line" "$good" >"$tmp/wrong.evt"
	run 3 convert "$tmp/wrong.evt" --to evt
	check "'$line' is reported" has err "^posixtrace: $tmp/wrong.evt:30: line 2: "
	check "'$line' is left out alone" test "$(grep -a -c '^evt' "$tmp/out")" -eq 2
done <<'END'
foo
evt
evt id=0x010
evt id=0x010 time=1.0
evt time=1.0 data=00
evt id=0x time=1.0 data=00
evt id=0x100000000 time=1.0 data=00
evt id=0x010 time=1. data=00
evt id=0x010 time=.5 data=00
evt id=0x010 time=9223372036.854775808 data=00
evt id=0x010 time=99999999999999999999999 data=00
evt id=0x010 time=1.0 data=0
evt id=0x010 time=1.0 data=0g
evt id=0x010 time=1.0 data=
evt id=0x010 time=1.0 data=00-
evt id=0x010 time=1.0 data=00 data=00
evt id=0x010 id=0x010 time=1.0 data=00
evt id=0x010 time=1.0 data=00 more=1
evt id=0x010 pid=2147483648 time=1.0 data=00
evt id=0x010 pid=-1 time=1.0 data=00
evt id=0x010 tid=18446744073709551616 time=1.0 data=00
evt id=0x010 time=1.0 trunc=3 data=00
order xe
order be
order le be
name "x"
name 0x010
name 0x010 x
name 0x010 "
END
{ echo "$good"; awk 'BEGIN { printf "evt id=0x010 time=1.0 data="; for (i = 0; i < 3000000; i++) printf "0000"; print "" }'
	echo "$good"; } >"$tmp/long.evt"
run 3 convert "$tmp/long.evt" --to evt
check "a line without end is left out alone" has_lines out 3
printf '# only a comment\n' >"$tmp/comment.evt"
run 1 convert "$tmp/comment.evt" --to evt
run 0 convert --from evt "$tmp/comment.evt" --to evt
check "a list without events is one" has_lines out 1
: >"$tmp/empty.evt"
run 0 convert --from evt "$tmp/empty.evt" --to evt
check "an empty file is an empty trace" has_lines out 1
finish
