#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program with AddressSanitizer, as clang builds it: its run-time must be loaded first, like the
# shim.
PACKAGES=
. "${0%/*}/lib.sh"

clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "SKIP: asan: clang is not installed"; exit 0; }
"$clang" -g -O1 -fsanitize=address -pthread -o "$tmp/plain" "$source/tests/preload/sanitized.c" \
	2>"$tmp/build" || { echo "SKIP: asan: this clang does not build with AddressSanitizer"; exit 0; }
# The first line of the run-time's report has an address that differs between runs: only the kind is
# compared.
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
