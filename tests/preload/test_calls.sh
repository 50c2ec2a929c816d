#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Between its start and its end the shim makes no system call that the program does not make.
. "${0%/*}/lib.sh"

command -v strace >/dev/null || skip "no strace"
strace -o "$tmp/none" true 2>/dev/null || skip "strace may not trace here"
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD

# between LIST: the names of the calls from one getpgid(0) to the next
between() { sed -n '/^getpgid(0)/,/^getpgid(0)/s/^\([a-z_0-9]*\)(.*/\1/p' "$1"; }

strace -o "$tmp/list" "$probe" calls
check "the program works" test $? -eq 0
between "$tmp/list" >"$tmp/without"
check "it makes system calls" test "$(wc -l <"$tmp/without")" -gt 1000

for families in io,file,net,lock,alloc,time,process,thread all; do
	rm -f "$log"*
	run 0 record -q -o "$log" --trace="$families" -- strace -o "$tmp/list" "$probe" calls
	between "$tmp/list" >"$tmp/with"
	check "$families: the same calls: $(diff "$tmp/without" "$tmp/with" | head -n 5)" \
		cmp -s "$tmp/without" "$tmp/with"
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "$families: every event is what its schema says" is_empty why
	check "$families: the writes are traced" shows 'io.write ' 100
done

# The shim opens a program that is about to be executed, and no other file to find a free descriptor.
rm -f "$log"*
run 0 record -q -o "$log" -- strace -f -o "$tmp/list" "$probe" process /usr/bin/true x
check "the program is opened" has list 'openat(AT_FDCWD, "/no/such/program", '
check "the root folder is not opened" lacks list 'openat(AT_FDCWD, "/", '

rm -f "$log"*
run 0 record -q -o "$log" --stack -- strace -o "$tmp/list" "$probe" calls
# Larger events need more memory of the stream, and the library asks the kernel for each new piece.
between "$tmp/list" | grep -v '^madvise$' >"$tmp/with"
grep -v '^madvise$' "$tmp/without" >"$tmp/all" && mv "$tmp/all" "$tmp/without"
check "with stacks: the same calls: $(diff "$tmp/without" "$tmp/with" | head -n 5)" \
	cmp -s "$tmp/without" "$tmp/with"
run 0 dump -e io.write --fields stack "$log"
check "with stacks: the events have stacks" has_lines out 100
finish
