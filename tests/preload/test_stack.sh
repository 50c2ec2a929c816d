#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record --stack and attach --stack: the callers of chosen events, on every kind of stack.
. "${0%/*}/lib.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip "stacks are not recorded on this processor" ;;
esac
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD

# frames NUMBER: the functions below the first close(-NUMBER), the innermost first, in one line
frames() {
	awk -v wanted="fd=-$1( |\$)" '
		found && !/^    #/ { exit }
		found { printf "%s ", $2 }
		/ io\.close .*/ && $0 ~ wanted { found = 1 }
		END { print "" }' "$tmp/out"
}
called_by() {
	frames "$1" >"$tmp/frames"
	grep -q -E "^$2" "$tmp/frames" && return 0
	cat "$tmp/frames"
	return 1
}

run 0 record -q --force -o "$log" --stack='io.c*' -- "$probe" stack
run 0 verify "$log"
run 0 dump "$log"
check "the caller is known" called_by 51 'stack_inner '
if "$posixtrace" doctor | grep -q '^works  *libdw'; then
	check "the first thread" called_by 51 'stack_inner stack_middle stack_outer stack '
	check "another thread" called_by 52 'stack_inner stack_middle stack_outer stack_thread '
	check "a deep stack" called_by 53 'stack_inner (stack_deep ){40}'
	check "a thread with its own memory" called_by 57 'stack_inner stack_middle stack_outer stack_thread '
	check "a frame of variable size" called_by 59 'stack_inner stack_middle stack_variable stack '
	run 0 record -q --force -o "$tmp/short" --stack=io.close --stack-bytes=1K -- "$probe" stack
	run 0 dump "$tmp/short"
	check "a short copy has the inner functions" called_by 53 'stack_inner '
	check "a short copy lacks the outer functions" test "$(frames 53 | wc -w)" -lt 40
	run 0 record -q --force -o "$tmp/long" --stack=io.close --stack-bytes=32K -- "$probe" stack
	run 0 dump "$tmp/long"
	check "a long copy has as many as a stack may have" called_by 53 'stack_inner (stack_deep ){63} *$'
fi
run 0 dump "$log"
check "a signal handler on its own stack" called_by 54 'stack_inner '
check "a coroutine" called_by 55 'stack_inner '
check "a thread with a small stack" called_by 56 'stack_inner '
check "a thousand equal stacks are one" \
	test "$("$posixtrace" dump -e io.close --where 'fd == -58' --fields stack "$log" | sort -u | wc -l)" -eq 1
run 0 stat "$log"
check "each stack is stored once" test "$("$posixtrace" dump -e cpu.stack --fields stack "$log" | sort | uniq -d | wc -l)" -eq 0
run 0 dump --no-stack "$log"
check "--no-stack prints no frames" lacks out '^    #'
run 0 dump --json "$log"
check "JSON has the frames" has out '"stack":\[{"address":"0x[0-9a-f]*","symbol":"stack_inner"'
run 0 dump -e io.open "$log"
check "other types have no stack" lacks out 'stack=\|^    #'

run 0 record -q --force -o "$log" --stack -- "$probe" content
run 0 verify "$log"
run 0 dump -e io.read --no-stack "$log"
check "all types have stacks" has out ' io.read stack=[0-9][0-9]* .* size=400 result=5$'
run 0 record -q --force -o "$log" --stack --data 8 -- "$probe" content
run 0 verify "$log"
run 0 dump -e io.write --no-stack "$log"
check "with data: the data is there" has out ' io.write stack=[0-9][0-9]* .* size=5 result=5 data="alpha"$'
check "with data: no event is truncated" lacks out truncated

# Other commands use the stacks.
"$posixtrace" record -q --force -o "$log" --stack='io.c*' -- "$probe" stack
if "$posixtrace" doctor | grep -q '^works  *libdw'; then
	run 0 convert "$log" --to folded --stacks io.close -o -
	check "folded stacks are counted" has out ';stack;stack_outer;stack_middle;stack_inner 1001$'
	run 0 convert "$log" --to folded --stacks io.close --stack-times -o -
	check "folded stacks have times" has out ';stack;stack_outer;stack_middle;stack_inner [0-9]\{4,\}$'
	run 0 convert "$log" --to folded --stacks 'net.*' -o -
	check "a pattern without stacks is noticed" has err 'no event of a type that matches net.\*'
	run 0 why "$log" --span io.close --slowest 3
	check "why has the callers" has out ' in stack_inner (probe_stack.c:[0-9]*), called by stack_'
	if "$posixtrace" query "$log" 'SELECT 1' >/dev/null 2>&1; then
		run 0 query --csv "$log" "SELECT stacks.function, count(*) FROM events JOIN stacks USING(stack)
			WHERE name = 'io.close' AND fd = -58 AND depth = 2 GROUP BY 1"
		check "query joins them" has out '^stack_outer,1000'
	fi
fi

run 2 record --stack=nothing.like.this -o "$log" true
check "a pattern without a type is refused" has err '--stack=nothing.like.this: no event type'
# A part of the log keeps the stacks of its events, also those that were stored before its begin.
run 0 convert --to log --force -e io.close -o "$tmp/part" "$log"
run 0 dump "$tmp/part"
check "a log of chosen types has their stacks" called_by 51 'stack_inner '
run 0 verify "$tmp/part"
check "a log of chosen types with stacks is sound" has out ': sound: '
begin=$("$posixtrace" dump --no-stack --utc -e io.close --where 'fd == -58' "$log" | tail -n 1 | cut -d ' ' -f 1)
run 0 convert --to log --force --utc --begin "$begin" -e io.close -o "$tmp/late" "$log"
run 0 dump "$tmp/late"
check "its first event has its stack" called_by 58 'stack_inner '
run 0 convert --to log --force -e io.close -x cpu.stack -o "$tmp/none" "$log"
run 0 dump "$tmp/none"
check "-x excludes the stacks, too" lacks out '^    #'
run 0 convert --to log --force --begin +1h -o "$tmp/none" "$log"
check "a log that has only stacks has no chosen event" has err ': no event is selected$'

run 2 record --stack=a,b -o "$log" true
run 2 record --stack-bytes=1M --stack -o "$log" true
run 2 record --stack-bytes=100 -o "$log" true
run 2 record --stack --loop -o "$log" true
run 2 record --stack --trace=none -o "$log" true

# A process that runs already.
if test "$(uname -m)" = x86_64; then
	mkfifo "$tmp/go"
	exec 9<>"$tmp/go"
	sh -c 'while read -r line; do echo "got $line"; test "$line" = end && break; done' <"$tmp/go" >"$tmp/said" &
	busy=$!
	"$posixtrace" attach --stack=io.write -p $busy -o "$tmp/attached" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	tries=600
	until grep -q libposixtrace-preload "/proc/$busy/maps" && "$posixtrace" list 2>/dev/null | grep -q 'attached .*running' ||
		test $tries -eq 0; do
		tries=$((tries - 1))
		sleep 0.05
	done
	echo one >&9
	echo end >&9
	wait $busy
	wait $tracer
	exec 9>&-
	run 0 dump -e io.write "$tmp/attached"
	check "attach records stacks" has out 'io.write .*stack=[0-9]'
	check "dump shows the stacks of attach" has out '^    #0 '
fi
finish
