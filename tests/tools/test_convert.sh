#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace convert: which formats, from where and where to, and what it does with bad input.
. "${0%/*}/lib.sh"

"$make_log" plain "$tmp/plain.log" 1000 >/dev/null || exit 99
"$make_log" overrun "$tmp/overrun.log" 5000 >/dev/null || exit 99

run 0 convert --list
check "the log can be read" has out '^log  *reads'
check "JSON lines can be written" has out '^jsonl  *writes'

run 0 convert "$tmp/plain.log" --to jsonl
check "every event is a line" test "$(grep -c '^{"event"' "$tmp/out")" -eq \
	"$("$posixtrace" dump "$tmp/plain.log" | wc -l)"
cp "$tmp/out" "$tmp/wanted"
run 0 convert "$tmp/plain.log" -o "$tmp/plain.jsonl"
check "the end of the output's name tells its format" cmp -s "$tmp/plain.jsonl" "$tmp/wanted"
run 1 convert "$tmp/plain.log" -o "$tmp/plain.jsonl"
check "a file that is there is refused" has err 'is there already'
run 0 convert "$tmp/overrun.log" --force -o "$tmp/plain.jsonl"
check "--force overwrites it" grep -q '"overwritten":' "$tmp/plain.jsonl"

"$posixtrace" convert - --to jsonl <"$tmp/plain.log" >"$tmp/out" 2>"$tmp/err"
check "a file on standard input" cmp -s "$tmp/out" "$tmp/wanted"
cat "$tmp/plain.log" | "$posixtrace" convert - --to jsonl -o - >"$tmp/out" 2>"$tmp/err"
check "a pipe on standard input" cmp -s "$tmp/out" "$tmp/wanted"
cat "$tmp/plain.log" | "$posixtrace" convert --from log - --to jsonl >"$tmp/out" 2>"$tmp/err"
check "a pipe whose format is named" cmp -s "$tmp/out" "$tmp/wanted"
run 0 convert "$tmp/plain.log" --to jsonl -o /dev/null
run 1 convert "$tmp/plain.log" --to jsonl -o /dev/full
check "a full disk is told" has err '/dev/full'

head -c 6000 "$tmp/plain.log" >"$tmp/cut.log"
run 3 convert "$tmp/cut.log" --to jsonl
check "a cut log is told of" has err 'cut.log:6000:'
check "and its end is not complete" has out '"end":false'
run 4 convert --fail-on-loss "$tmp/overrun.log" --to jsonl
run 0 convert --fail-on-loss "$tmp/plain.log" --to jsonl

echo nothing >"$tmp/nothing"
run 1 convert "$tmp/nothing" --to jsonl -o "$tmp/new.jsonl"
check "an unknown format is told" has err 'no format that can be read'
check "nothing is left behind" test ! -e "$tmp/new.jsonl"
run 1 convert "$tmp/missing" --to jsonl
run 1 convert "$tmp" --to jsonl
run 1 convert --from log "$tmp/nothing" --to jsonl -o "$tmp/new.jsonl"
check "nothing is left behind of no log" test ! -e "$tmp/new.jsonl"
run 2 convert
run 2 convert "$tmp/plain.log" "$tmp/plain.log" --to jsonl
run 2 convert "$tmp/plain.log"
check "the output's format must be known" has err 'which format'
run 2 convert "$tmp/plain.log" --to nonsense
run 2 convert --from jsonl "$tmp/plain.log" --to jsonl
check "a format that is only written" has err 'can only be written'
run 2 convert "$tmp/plain.log" --to jsonl -O nonsense=1
check "an option that neither format has" has err 'no option of'
finish
