#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record --compress: the log has the same events in fewer bytes, and damage is found.
. "${0%/*}/lib.sh"
needs_shim

bytes() { wc -c <"$1"; }

# The calls of the same program, once with each form of the log.
calls='/bin/ls -lR /usr/include/linux'
run 0 record -q -e 'io.*' -o "$tmp/plain.ptl" -- $calls
if ! "$posixtrace" record -q -e 'io.*' --compress -o "$tmp/small.ptl" -- $calls >/dev/null 2>"$tmp/err"; then
	check "without libzstd, --compress says so" grep -q libzstd "$tmp/err"
	finish
fi
run 0 dump --fields event "$tmp/plain.ptl"
mv "$tmp/out" "$tmp/plain.txt"
run 0 dump --fields event "$tmp/small.ptl"
check "both logs have the same events" cmp -s "$tmp/plain.txt" "$tmp/out"
check "the compressed log has less than half of the bytes" \
	test $((2 * $(bytes "$tmp/small.ptl"))) -lt "$(bytes "$tmp/plain.ptl")"
run 0 verify "$tmp/small.ptl"
check "the compressed log is sound" grep -q ': sound: ' "$tmp/out"
run 0 record -q --compress=-5 -o "$tmp/fast.ptl" -- /bin/true
run 0 verify "$tmp/fast.ptl"

# A changed byte in the middle, where a block of events is.
cp "$tmp/small.ptl" "$tmp/bad.ptl"
printf 'x' | dd of="$tmp/bad.ptl" bs=1 seek=$(($(bytes "$tmp/small.ptl") / 2)) conv=notrunc 2>/dev/null
cmp -s "$tmp/small.ptl" "$tmp/bad.ptl" &&
	printf 'y' | dd of="$tmp/bad.ptl" bs=1 seek=$(($(bytes "$tmp/small.ptl") / 2)) conv=notrunc 2>/dev/null
run 3 verify "$tmp/bad.ptl"
check "a changed byte is reported with its block" \
	grep -q 'bad.ptl:[0-9]*: the checksum of a block is wrong' "$tmp/err"
finish
