#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that are compiled with sanitizers, by gcc and by clang, behave the same with record and
# without.
. "${0%/*}/lib.sh"

source=$(cd "${0%/*}" && pwd)/sanitized.c
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
# These tests are of the sanitizers' own exit statuses.
unset ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS MSAN_OPTIONS

# plain ARGUMENT..., traced FAMILIES ARGUMENT...: into $tmp/KIND.out, .err and .status
plain() {
	"$program" "$@" >"$tmp/plain.out" 2>"$tmp/plain.err" </dev/null
	plain=$?
}
traced() {
	families=$1
	shift
	rm -f "$log"
	"$posixtrace" record -q -o "$log" --trace="$families" "$program" "$@" \
		>"$tmp/traced.out" 2>"$tmp/traced.err" </dev/null
	traced=$?
}
same_status() {
	test $plain -eq $traced && return 0
	echo "without $plain, with $traced"
	tail -n 20 "$tmp/traced.err"
	return 1
}
same_output() { diff "$tmp/plain.out" "$tmp/traced.out"; }
has_event() { "$posixtrace" dump -e "$1" "$log" | grep -q .; }

# try NAME FAULT TITLE COMPILER FLAG...: FAULT is found, with TITLE on standard error; - for no
# fault
try() {
	name=$1 fault=$2 title=$3
	shift 3
	program=$tmp/$name
	# Programs that cannot be compiled or run here are not tested.
	command -v "$1" >/dev/null && "$@" -w -g -O1 -pthread -o "$program" "$source" -ldl 2>/dev/null || return
	plain
	test $plain -eq 5 || return
	tried="$tried $name"
	for families in default all; do
		traced $families
		check "$name, $families: the exit status is the same" same_status
		check "$name, $families: the output is the same" same_output
		check "$name, $families: nothing is said" is_empty traced.err
		check "$name, $families: its calls are in the log" has_event io.close
		check "$name, $families: the log is sound" "$posixtrace" verify "$log"
	done
	test "$fault" = - && return
	plain "$fault"
	grep -q "$title" "$tmp/plain.err" || return
	traced all "$fault"
	check "$name, $fault: the exit status is the same" same_status
	check "$name, $fault: it is found" grep -q "$title" "$tmp/traced.err"
}

# clang finds its shared run-time only with an explicit path.
clang_asan() {
	folder=$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null)")
	try clang-asan-shared use-after-free heap-use-after-free clang -fsanitize=address -shared-libasan \
		-Wl,-rpath,"$folder"
}

tried=
free=heap-use-after-free
try gcc-asan use-after-free $free gcc -fsanitize=address
try gcc-asan-static use-after-free $free gcc -fsanitize=address -static-libasan
try gcc-asan-ubsan use-after-free $free gcc -fsanitize=address,undefined
try gcc-asan-leak leak 'detected memory leaks' gcc -fsanitize=address
try gcc-lsan leak 'detected memory leaks' gcc -fsanitize=leak
try gcc-ubsan overflow 'signed integer overflow' gcc -fsanitize=undefined
try gcc-tsan race 'data race' gcc -fsanitize=thread
try gcc-tsan-static race 'data race' gcc -fsanitize=thread -static-libtsan
try clang-asan use-after-free $free clang -fsanitize=address
clang_asan
try clang-asan-leak leak 'detected memory leaks' clang -fsanitize=address
try clang-msan uninitialized use-of-uninitialized-value clang -fsanitize=memory
try clang-msan-origins uninitialized use-of-uninitialized-value clang -fsanitize=memory \
	-fsanitize-memory-track-origins=2
try clang-lsan leak 'detected memory leaks' clang -fsanitize=leak
try clang-ubsan overflow 'signed integer overflow' clang -fsanitize=undefined
try clang-tsan race 'data race' clang -fsanitize=thread
try clang-safestack - - clang -fsanitize=safe-stack
try clang-dfsan - - clang -fsanitize=dataflow
echo "tried:$tried"
test -n "$tried" || skip "no compiler with a sanitizer"
finish
