#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program with AddressSanitizer, as clang builds it: its run-time wants to come first, as the shim does.
PACKAGES=
. "${0%/*}/lib.sh"

clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "SKIP: asan: clang is not installed"; exit 0; }
"$clang" -g -O1 -fsanitize=address -pthread -o "$tmp/plain" "$source/tests/preload/sanitized.c" \
	2>"$tmp/build" || { echo "SKIP: asan: this clang does not build with AddressSanitizer"; exit 0; }
# The first line of what its run-time finds names the address of a run: only the kind is compared.
work() {
	for fault in '' use-after-free leak overflow; do
		"$@" "$tmp/plain" $fault 2>"$tmp/report"
		echo "${fault:-no fault}: $?"
		sed -n 's/^SUMMARY: \(AddressSanitizer: [a-z-]*\).*/\1/p' "$tmp/report"
	done
}
compare
check "asan: the program's calls are in the log" test "$(count_of io.open)" -ge 1
finish
