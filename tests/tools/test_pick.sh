#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --fields of dump and report: the columns and their order.
. "${0%/*}/lib.sh"

log=$tmp/described.log
"${top_builddir:-..}/tests/tools/make_described" append "$log" || exit 99
tab=$(printf '\t')

# For the log's one event "every", or its first "text".
one() {
	run 0 dump --fields "$1" -e "$2" --limit 1 "$log"
	check "--fields $1: '$3'" test "$(cat "$tmp/out")" = "$3"
}

one event every every
one name every every
one u8,event every "1${tab}every"
one event,u8 every "every${tab}1"
one s16,x32,flag,c,took,e every "-2${tab}0xbeef${tab}true${tab}'A'${tab}1.5ms${tab}-ENOENT"
one path,event.len text "\"/etc/passwd\"${tab}$("$posixtrace" dump --json -e text --limit 1 "$log" | sed 's/.*"len":\([0-9]*\).*/\1/')"
one 'pair,pair[0],pair[1],pair[2]' text "[7 8]${tab}7${tab}8${tab}-"
one u8,path every "1${tab}-"
one field.path text '"/etc/passwd"'
one data opaque 0900000000000000
one data late n=9
one data,flags posix_trace_stop "by=call${tab}-"
one data posix_trace_flush_start -

run 0 dump --fields time,delta,pid,tid,thread,address,event,id,level,len,data,flags,log "$log"
check "every event has each fact" test "$(awk -F "$tab" 'NF != 13' "$tmp/out" | wc -l)" -eq 0
cut -f 1,2,3,4,7 "$tmp/out" >"$tmp/facts"
"$posixtrace" dump "$log" 2>/dev/null | awk -v OFS="$tab" '{ print $1, $2, $3, $4, $6 }' >"$tmp/wanted"
check "they are what dump shows without --fields" cmp -s "$tmp/facts" "$tmp/wanted"
check "the log is named" test "$(cut -f 13 "$tmp/out" | sort -u)" = "$log"
run 0 dump --fields event --fields u8 -e every "$log"
check "given twice, the columns add up" has out "^every${tab}1$"
run 0 dump --raw --fields time -e every "$log"
check "--raw holds for the time" has out '^[0-9]*$'
run 0 dump --fields event,n --where 'n == 9' "$log"
check "--where chooses among them" test "$(cat "$tmp/out")" = "late${tab}9"
run 0 dump --fields event --tail 1 "$log"
check "--tail shows them too" test "$(cat "$tmp/out")" = posix_trace_flush_stop

run 0 dump --json --fields 'event,u8,path,pair,pair[1],flags,level' -e text --limit 1 "$log"
check "in JSON, members in this order" has out \
	'^{"event":"text","u8":null,"path":"/etc/passwd","pair":\[7,8\],"pair\[1\]":8,"flags":\[\],"level":'
run 0 dump --json --fields data -e late "$log"
check "data of a described type is an object" has out '^{"data":{"len":[0-9]*,"fields":{"n":'
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
run 0 dump --fields time,event,data,log "$tmp/evil.log"
check "no value breaks the columns" test "$(awk -F "$tab" 'NF != 4' "$tmp/out" | wc -l)" -eq 0
check "nothing reaches the terminal" lacks out "$(printf '\033')"

run 0 report --fields pid,event,u8,took "$log"
check "a report has a header" has out '^    PID EVENT                    u8           took$'
check "the columns are below the header" has out '^ *[0-9]* every                    1            1.5ms$'
run 0 report -h --fields event,u8 -e every "$log"
check "-h leaves the header out" test "$(cat "$tmp/out")" = "every                    1"
"$posixtrace" convert "$log" -o "$tmp/described.evt" 2>/dev/null
run 0 report -h --fields len,event -e opaque "$tmp/described.evt"
check "also of other formats" test "$(cat "$tmp/out")" = "     8 opaque"

for wrong in no_such 'event,no_such' 'field.time' 'pair[0' 'pair[x]' 'pair[]' '' ',' 'event,' 'a b' event.u8 'x-y' \
	'field.'; do
	run 2 dump --fields "$wrong" "$log"
	check "'$wrong' is reported" has err '^posixtrace: --fields: '
	check "'$wrong': nothing is printed" is_empty out
done
run 2 dump --fields "$(seq 100 | sed 's/.*/event/' | paste -sd ,)" "$log"
check "too many columns are reported" has err 'too many columns$'
run 2 report --fields no_such "$log"
check "report names an unknown field" has err 'no event type of the log has this field$'
echo '045 "x"' >"$tmp/template"
run 2 report --fields event -t "$tmp/template" "$log"
has_templates && check "templates have no --fields" has err 'cannot be used together$'
finish
