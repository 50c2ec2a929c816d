#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# count.sh FOLDER: the instructions of a call of posix_trace_event() on arm64, for events of 0 to
# 1024 bytes in one LOOP stream, with its part of the new chunks. FOLDER is that of make check-arm64.
# qemu-aarch64 writes a line for each instruction; the difference between 3000 and 1000 events is
# counted, less the loop of count.c (7) and its linkage table (4), as gcc 12 compiles them.
set -eu
folder=$(cd "$1" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
: "${SYSTEM:=$folder/system}"
root=$(cd "$SYSTEM/root" && pwd)
libs=$folder/build/lib/.libs program=$folder/count
aarch64-linux-gnu-gcc -O2 --sysroot="$root" -I"$source/include" -o "$program" \
	"$source/tests/arm64/count.c" -L"$libs" -lposixtrace

lines() {
	qemu-aarch64-static -L "$root" -E LD_LIBRARY_PATH="$libs" -E LD_BIND_NOW=1 -singlestep \
		-d exec,nochain -D /dev/stderr "$program" "$@" 2>&1 | grep -c '^Trace'
}
# A start does not always execute the same number: the least of three counts is used.
least() {
	for run in 1 2 3; do
		lines "$@"
	done | sort -n | head -n 1
}
for bytes in 0 8 64 256 1024; do
	many=$(least $bytes 3000) few=$(least $bytes 1000)
	echo "$bytes bytes: $(((many - few) / 2000 - 11)) instructions"
done
