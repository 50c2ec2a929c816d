#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files with holes of terabytes, endless inputs, cells that a spreadsheet would execute, extreme
# times.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
truncate -s 4T "$tmp/empty" 2>/dev/null || skip "no sparse files of 4 TiB here"

# The blocks of a log with any holes are found; the written bytes bound the time.
for kind in blocks loop unfinished; do
	"$make_log" $kind "$tmp/$kind" 2000 >/dev/null || exit 99
	cp "$tmp/$kind" "$tmp/tail"
	head -c 9000 "$tmp/$kind" >"$tmp/cut"
	cp "$tmp/cut" "$tmp/middle"
	truncate -s 4T "$tmp/tail" "$tmp/cut"
	truncate -s 2T "$tmp/middle"
	cat "$tmp/$kind" >>"$tmp/middle"
	truncate -s 4T "$tmp/middle"
	for log in tail cut middle; do
		for command in verify "dump --limit 5" dump stat latency report "html --force -o $tmp/x" \
			"convert --to jsonl --force -o $tmp/x" symbols; do
			"$posixtrace" $command "$tmp/$log" >"$tmp/out" 2>"$tmp/err"
			check "$command of $log of $kind ends, with $?" test $? -le 3
		done
	done
	rm "$tmp/tail" "$tmp/cut" "$tmp/middle"
done

# Other formats, and texts.
for format in evt rkh etw tracex jsonl csv; do
	has_format $format || continue
	run 0 convert "$tmp/blocks" --to $format --force -o "$tmp/other"
	truncate -s 4T "$tmp/other"
	for command in "convert --to jsonl --force -o $tmp/x" report dump "send --force -o $tmp/x"; do
		"$posixtrace" $command "$tmp/other" >"$tmp/out" 2>"$tmp/err"
		check "$command of $format with a hole ends, with $?" test $? -le 3
	done
done
for format in evt rkh etw tracex; do
	has_format $format || continue
	"$posixtrace" convert --from $format "$tmp/empty" --to jsonl >"$tmp/out" 2>"$tmp/err"
	check "$format of nothing but a hole ends, with $?" test $? -le 3
done
run 3 convert --from evt "$tmp/empty" --to jsonl
check "a hole is reported with its place and length" has err "/empty:0: a hole of 4398046511104 bytes, "
run 2 check "$tmp/empty" "$tmp/blocks"
run 1 report -t "$tmp/empty" "$tmp/blocks"
rm "$tmp/empty"

# A file that is no log is not copied to a temporary file; a log is copied only as far as there is
# space.
for command in dump stat verify latency; do
	yes | "$posixtrace" $command - >"$tmp/out" 2>"$tmp/err"
	check "$command refuses an endless text" has err 'standard input: this is not a trace log'
done
cat "$tmp/blocks" - </dev/zero | POSIXTRACE_SPOOL_MAX=8M "$posixtrace" dump - >"$tmp/out" 2>"$tmp/err"
check "endless data after a log is too long" has err 'raise POSIXTRACE_SPOOL_MAX$'
cat "$tmp/blocks" | POSIXTRACE_SPOOL_MAX=8M "$posixtrace" verify - >"$tmp/out" 2>"$tmp/err"
check "shorter data after a log is read" has out ': sound: '

# Texts that a spreadsheet would treat as formulas.
printf '%s\n' 'type =cmd str s' 'type n s32 v; str s' '=cmd 1 1 1 =1+1' '=cmd 1 1 2 @SUM(A1)' '=cmd 1 1 3 -1+cmd' \
	'=cmd 1 1 4 +x' '=cmd 1 1 5 -12.5e3' 'n 1 1 -6 -7 plain' | "$compose" "$tmp/cells" || exit 99
run 0 convert "$tmp/cells" --to csv
check "no cell begins a formula" lacks out '\(^\|,\)"\{0,1\}[=+@-][^0-9]'
check "a name has an apostrophe" has out ",\"'=cmd\","
check "a negative time stays a number" has out '^1969-12-31T23:59:59.999999994Z,-6,'
if "$posixtrace" --help | grep -q '^  query '; then
	run 0 query --csv "$tmp/cells" 'select name as "=h", s, v from events where name <> '\''x'\'
	check "a value of query is no formula" lacks out '\(^\|,\)"\{0,1\}[=+@-][^0-9]'
	check "texts have an apostrophe" has out "^'=cmd,'=1+1,"
	check "one that is a number has none" has out "^'=cmd,-12.5e3,"
	check "a number has no apostrophe" has out '^n,plain,-7$'
	check "a column's name has one" has out "^'=h,"
fi

# The smallest and the largest times.
max=9223372036854775807
printf '%s\n' 'type a u32 id; @begin a' 'type b u32 id; @end a' "a 1 1 -$max 1" "b 1 1 $max 1" |
	"$compose" "$tmp/far" || exit 99
run 0 top --once "$tmp/far"
check "no rate is negative" lacks out ' -[0-9]'
run 0 stat "$tmp/far"
run 0 latency "$tmp/far"
check "the longest of all spans is reported" has out 'a$'
finish
