#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --where: expressions over the fields of described event types.
. "${0%/*}/lib.sh"

log=$tmp/described.log
"${top_builddir:-..}/tests/tools/make_described" append "$log" || exit 99

# shown COUNT EXPRESSION: this number of events is shown. The log has one event "every", three
# "text", four "named", one "late", one "opaque", and those of the stream.
shown() {
	run 0 dump --where "$2" "$log"
	check "$2: $1 events, not $(lines out)" has_lines out "$1"
}

shown 1 'u8 == 1'
shown 0 'u8 == 2'
shown 1 's16 == -2 && s16 < 0 && s16 >= -2'
shown 1 'u64 == 0xffffffffffffffff'
shown 0 'u64 == 18446744073709551614'
shown 1 'u64 > 18446744073709551614'
shown 1 'x32 == 0xbeef'
shown 1 'f64 == -2.5 && f32 > 0.09 && f32 < 0.11'
shown 1 'flag'
shown 0 '!flag'
shown 1 'c == "A"'
shown 1 'c == 65'
shown 1 'took > 1ms && took < 2ms'
shown 1 'took == 1.5ms'
shown 1 'took == 1500us'
shown 0 'took > 1s'
shown 1 'at == 1700000000000000001'
shown 1 "e == 'ENOENT'"
shown 1 'e == -2'
shown 1 'path == "/etc/passwd"'
shown 2 'path != "/etc/passwd"'
shown 1 'path ~ "/etc/*"'
shown 2 'path !~ "/etc/*"'
shown 1 'pair[1] == 8'
shown 2 'pair[0] == 7'
shown 2 'fixed == "four"'
shown 2 'op == "write"'
shown 1 'op == "read" && fl & 1'
shown 2 'fl & 2 && fl % 2 == 1'
shown 4 'event.name == "named"'
shown 8 'event.name ~ "[net]*[dyt]"'
shown 4 'op >= 0'
shown 1 'n * 2 + 1 == 19'
shown 1 '(n - 1) / 2 == 4 && -n == 0 - 9'
shown 0 'n / 0 == 0'
shown 0 'n / 0 != 0'
shown 0 '!(n / 0 != 0)'
shown 1 'n / 0 == 1 || n == 9'
shown 0 'n == 9 && op == 1'
shown 5 'n == 9 || op >= 0'
shown 0 'path == 1'
shown 0 'path + 1 == 1'
shown 1 'n == 9 && event.len == 8 && event.pid > 0 && event.tid > 0 && event.time > 0'
shown 1 'u8 == 1 && event.address != 0'
shown 1 'n == 9K / 1024'
shown 4 'event.level == 2'
shown 0 'event.level > 2 || !(event.level > 0)'
run 0 dump -e named --where 'op == 1' --limit 1 "$log"
check "other choices hold too" has_lines out 1
run 0 dump --where 'op == 1' --tail 1 "$log"
check "--tail is of what is true" has_lines out 1

# wrong COLUMN EXPRESSION: exits with 2 and a caret below that column.
wrong() {
	run 2 dump --where "$2" "$log"
	check "$2: nothing is shown" is_empty out
	check "$2: the expression is shown" grep -q -F -x -e "posixtrace:   $2" "$tmp/err"
	check "$2: the caret is below column $1" grep -q "^posixtrace:   $(printf "%$(($1 - 1))s")^~*\$" "$tmp/err"
}

wrong 1 ''
wrong 4 'op = 1'
wrong 6 'op ==' 
wrong 7 'op == '
wrong 9 'op == 1 op'
wrong 1 '== 1'
wrong 7 '(op =='
wrong 9 '(op == 1'
wrong 8 'op == 1)'
wrong 1 'nobody == 1'
wrong 12 'op == 1 && nobody'
wrong 8 'op == 1x'
wrong 7 'event.nobody == 1'
wrong 9 'path == "abc'
wrong 10 'path ~ op'
wrong 8 '1 < op < 3'
wrong 6 'pair[x] == 1'
wrong 7 'pair[1'
wrong 7 'op == 99999999999999999999'
wrong 4 'op @ 1'
run 2 dump --where 'op == 1' --where 'op == 2' "$log"
run 2 dump --where "$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "("; print "1" }')" "$log"
check "depth has a limit" has err 'nested too deep'
run 2 dump --where "$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "! "; print "1" }')" "$log"
check "also of signs" has err 'nested too deep'
run 2 dump --where "1$(awk 'BEGIN { for (i = 0; i < 600; i++) printf "+1" }')" "$log"
check "length has a limit" has err 'too many parts'
run 2 dump --where "$(awk 'BEGIN { for (i = 0; i < 40; i++) printf "f%d&&", i; print "1" }')" "$log"
check "the number of fields has a limit" has err 'too many fields'
finish
