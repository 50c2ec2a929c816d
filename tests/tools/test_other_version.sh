#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A process that uses another version of the library, whose shared memory has another layout: each
# command refuses it by its reason. The test changes the version in the memory of a process.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

start_puppet
tell e
# The arena has its version in the byte 72 and behind it.
for fd in "/proc/$target/fd"/*; do
	case $(readlink "$fd") in
	/memfd:posix-trace*) printf '\143' | dd of="$fd" bs=1 seek=72 conv=notrunc 2>/dev/null ;;
	esac
done
uses="process $target: it uses another version of libposixtrace: /.*/libposixtrace.so"

refuses() {
	check "$1: the library of the process is named" has err "$uses"
	check "$1: the message has the next step" has err 'use the posixtrace of that version'
}
for command in attach snapshot; do
	run 1 "$command" -p "$target" -o "$tmp/new.ptl"
	refuses "$command"
	check "$command leaves no log" test ! -e "$tmp/new.ptl"
done
run 1 status "$target"
refuses status
run 1 top -p "$target" --once
refuses top
start sleep 1000000
"$posixtrace" list >"$tmp/out" 2>"$tmp/err"
check "list says that it does not show its streams" has err \
	"process $target: its streams are not listed: it uses another version"
check "list names no other process" lacks err "process $pid:"
"$posixtrace" doctor "$target" >"$tmp/out" 2>&1
check "doctor knows the reason" has out 'streams .*another version of libposixtrace'
run 0 status "$pid"
check "a process without the library has no stream" has out '^streams  *0$'
tell e
end_puppet
finish
