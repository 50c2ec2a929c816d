#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace convert: its formats, inputs and outputs, and bad input.
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
check "the suffix of the output selects its format" cmp -s "$tmp/plain.jsonl" "$tmp/wanted"
run 1 convert "$tmp/plain.log" -o "$tmp/plain.jsonl"
check "a file that is there is refused" has err 'the file exists'
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
check "a full disk is reported" has err '/dev/full'

head -c 6000 "$tmp/plain.log" >"$tmp/cut.log"
run 3 convert "$tmp/cut.log" --to jsonl
check "a cut log is reported" has err 'cut.log:6000:'
check "the end of a cut log is not complete" has out '"end":false'
run 4 convert --fail-on-loss "$tmp/overrun.log" --to jsonl
run 0 convert --fail-on-loss "$tmp/plain.log" --to jsonl

# The new log of a damaged log is sound, and its account has the missing events as lost.
"$make_log" plain "$tmp/sound.log" 50000 >/dev/null || exit 99
cp "$tmp/sound.log" "$tmp/damaged.log"
half=$(($(wc -c <"$tmp/sound.log") / 2))
printf '################' | dd of="$tmp/damaged.log" bs=1 seek="$half" conv=notrunc 2>/dev/null
head -c "$half" "$tmp/sound.log" >"$tmp/half.log"
called=$("$posixtrace" verify --json "$tmp/sound.log" | sed 's/.*"called":\([0-9]*\).*/\1/')
for one in damaged half; do
	run 3 convert "$tmp/$one.log" --to log --force -o "$tmp/again.log"
	run 4 verify --fail-on-loss "$tmp/again.log"
	found=$("$posixtrace" dump --system "$tmp/again.log" 2>/dev/null | wc -l)
	check "$one: the missing events are lost in the new log" test "$found" -lt "$called"
	check "$one: the account has all events" has out \
		"called $called = reported $found + unread 0 + lost $((called - found)) (damaged $((called - found)))"
done

# The same holds for a choice of events. damaged_of OPTION... prints the count of the cause damaged in
# the new log of the chosen events of damaged.log.
damaged_of() {
	"$posixtrace" convert "$@" "$tmp/damaged.log" --to log --force -o "$tmp/chosen.log" 2>"$tmp/err"
	"$posixtrace" verify "$tmp/chosen.log" >"$tmp/out" 2>"$tmp/err" || return
	sed -n 's/.*called \([0-9]*\) = .*(damaged \([0-9]*\)).*/\2/p' "$tmp/out"
}
run 3 convert "$tmp/damaged.log" --to log --force -o "$tmp/again.log"
all=$(damaged_of)
check "events are missing" test "${all:-0}" -gt 0
for choice in "-e *" "--begin +0" "--end -0ns" "--begin 1970-01-02 --end 2100-01-01"; do
	set -f; found=$(damaged_of $choice); set +f
	check "$choice: the account has the missing events, $found of $all" test "${found:-0}" -eq "$all"
done
with=$(damaged_of -e job_begin) without=$(damaged_of -x job_begin)
check "-e and -x divide the missing events: ${with:-0} and ${without:-0} of $all" \
	test $((${with:-0} + ${without:-0})) -eq "$all" -a "${with:-0}" -gt 0
cp "$tmp/damaged.log" "$tmp/second.log"
run 3 convert "$tmp/damaged.log" "$tmp/second.log" --to log --force -o "$tmp/again.log"
run 0 verify "$tmp/again.log"
check "two damaged logs have twice as many missing events" has out "(damaged $((2 * all)))"

echo nothing >"$tmp/nothing"
run 1 convert "$tmp/nothing" --to jsonl -o "$tmp/new.jsonl"
check "an unknown format is reported" has err 'the format is not recognized'
check "nothing is left behind" test ! -e "$tmp/new.jsonl"
run 1 convert "$tmp/missing" --to jsonl
run 1 convert "$tmp" --to jsonl
run 1 convert --from log "$tmp/nothing" --to jsonl -o "$tmp/new.jsonl"
check "nothing is left behind of no log" test ! -e "$tmp/new.jsonl"
run 2 convert
run 2 convert --to jsonl
run 2 convert "$tmp/plain.log"
check "the output's format must be known" has err 'the format of the output is missing'
run 2 convert "$tmp/plain.log" --to nonsense
run 2 convert --from jsonl "$tmp/plain.log" --to jsonl
check "a format that is only written" has err 'can only be written'
run 2 convert "$tmp/plain.log" --to jsonl -O nonsense=1
check "an option that neither format has" has err 'no option of'

# A log converted to a log is the same log, except for the order of the ledger's lines.
same_log() {
	"$posixtrace" convert "$1" --to jsonl >"$tmp/first.jsonl" 2>/dev/null
	"$posixtrace" convert "$2" --to jsonl >"$tmp/second.jsonl" || return 1
	for half in first second; do
		grep -v '^{"end"' "$tmp/$half.jsonl" >"$tmp/$half.events"
		grep '^{"end"' "$tmp/$half.jsonl" | tr '{' '\n' | sed 's/[]},]*$//' | sort >"$tmp/$half.end"
	done
	cmp "$tmp/first.events" "$tmp/second.events" && diff "$tmp/first.end" "$tmp/second.end"
}

for kind in plain blocks stopped overrun loop evil; do
	"$make_log" $kind "$tmp/$kind.log" 5000 >/dev/null || exit 99
	run 0 convert "$tmp/$kind.log" -o "$tmp/$kind.ptl"
	check "$kind: a log into a log is the same" same_log "$tmp/$kind.log" "$tmp/$kind.ptl"
	run 0 verify "$tmp/$kind.ptl"
done
"${top_builddir:-..}/tests/exchange/rich" "$tmp/rich.log" 100 || exit 99
run 0 convert "$tmp/rich.log" -o "$tmp/rich.ptl"
check "rich: a log with schemas and objects into a log is the same" same_log "$tmp/rich.log" "$tmp/rich.ptl"
check "its objects are reported" test "$(grep -c '^{"object"' "$tmp/first.jsonl")" -eq 3
"$posixtrace" convert "$tmp/loop.log" --to log 2>"$tmp/err" | cat >"$tmp/piped.ptl"
run 0 verify "$tmp/piped.ptl"
check "a log through a pipe is the same" same_log "$tmp/loop.log" "$tmp/piped.ptl"
"$make_log" unfinished "$tmp/unfinished.log" 1000 >/dev/null || exit 99
run 3 convert "$tmp/unfinished.log" -o "$tmp/unfinished.ptl"
run 0 verify "$tmp/unfinished.ptl"
check "the whole events are there" test "$("$posixtrace" dump -e 'job_*' "$tmp/unfinished.ptl" | wc -l)" -eq 1000
finish
