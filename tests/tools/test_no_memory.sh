#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A command that lacks memory says so: no failed allocation ends it by a signal, or makes its output
# incomplete without a message.
. "${0%/*}/lib.sh"

nm "$posixtrace" 2>/dev/null | grep -q '__[at]san_init' && skip "a sanitizer has an allocator of its own"
${CC:-cc} -O1 -fPIC -shared -o "$tmp/no_memory.so" "${0%/*}/no_memory.c" -ldl 2>"$tmp/why" ||
	skip "the allocator is not that of glibc, or there is no compiler"
LD_PRELOAD=$tmp/no_memory.so "$posixtrace" --version >/dev/null 2>&1 ||
	skip "the allocator is not that of glibc"
compose=${top_builddir:-..}/tests/tools/compose
samples=${top_srcdir:-${0%/*}/../..}/tests/samples

# codes: prints the codes of the faults of the input that the messages of a command report.
codes() { sed -n 's/^posixtrace: .*:[0-9]*: \([A-Z][0-9][0-9]*\): .*/\1/p' "$tmp/err" | sort -u; }

# endures NAME ARGUMENT...: lets one allocation after the other fail, until the command makes no more
# of them, or ENDURES of them have failed.
ENDURES=${ENDURES:-250}
endures() {
	name=$1 number=0 bad=
	shift
	"$posixtrace" "$@" >"$tmp/whole" 2>"$tmp/err"
	usual=$?
	codes >"$tmp/usual"
	while test $((number += 1)) -le "$ENDURES"; do
		rm -f "$tmp/mark"
		NO_MEMORY_AT=$number NO_MEMORY_MARK=$tmp/mark LD_PRELOAD=$tmp/no_memory.so \
			"$posixtrace" "$@" >"$tmp/out" 2>"$tmp/err"
		got=$?
		test -e "$tmp/mark" || break
		for code in $(codes | comm -23 - "$tmp/usual"); do
			bad="$bad
	allocation $number, at $(cat "$tmp/mark"): the input is said to be wrong, $code"
		done
		# A command can do without some memory: its output is whole, or it has a message.
		if test $got -ge 124; then
			bad="$bad
	allocation $number, at $(cat "$tmp/mark"): exit status $got"
		elif ! test -s "$tmp/err" && { test $got -ne $usual || ! cmp -s "$tmp/whole" "$tmp/out"; }; then
			bad="$bad
	allocation $number, at $(cat "$tmp/mark"): no message, exit status $got"
		fi
	done
	check "$name: allocations fail" test "$number" -gt 1
	check "$name: each lack of memory has a message$bad" test -z "$bad"
}

"$compose" "$tmp/log" <<'END' || exit 99
trace pid=7 host=alpha clock=monotonic hz=1000000000 created=1s resolution=1 name=small
type note str text; u32 number
type req_begin u32 id; @begin req; @key id
type req_end u32 id; @end req; @key id
start 1s
note 7 7 +1ms "one" 1
req_begin 7 7 +1ms 1
req_end 7 8 +1ms 1
note 7 8 +1ms "two" 2
END

echo 'every req_begin is followed by req_end of the same id' >"$tmp/rules"
for command in dump stat latency report why plot 'html -o -' 'dump --json --where number>1' \
	"dump --merge $tmp/log" "check $tmp/rules" "diff $tmp/log"; do
	# shellcheck disable=SC2086 # words of a command
	endures "$command" $command "$tmp/log"
done
if has_command query; then
	for form in --csv --json --utc; do
		endures "query $form" query $form "$tmp/log" \
			"SELECT name, \"field.text\", x'00ff', 'text' FROM events"
	done
	endures "query --tables" query --tables "$tmp/log"
fi
if has_format etw; then
	for sample in "$samples"/etw/*.etl; do
		test -e "$sample" || continue
		endures "convert -O" convert "$sample" -O etw-payload -O etw-clock=1 --to csv
		for option in --no-meta --join --spans; do
			endures "convert ${sample##*/} $option" convert --from etw "$sample" $option --to jsonl
		done
		endures "convert ${sample##*/} to a listing" convert --from etw "$sample" --to listing
		break
	done
	# Descriptions of each kind: TraceLogging, TRACE_EVENT_INFO, manifests, classes of the kernel.
	for kind in tracelogging metadata manifest kernel lives; do
		python3 "${0%/*}/etw_described.py" $kind "$samples/etw/primitive-types.etl" \
			"$tmp/$kind.etl" 2>/dev/null || continue
		endures "convert --spans of $kind" convert --from etw "$tmp/$kind.etl" --spans --to jsonl
	done
fi
finish
