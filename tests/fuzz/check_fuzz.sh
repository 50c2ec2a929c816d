#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Faults that fuzzing found once do not appear again, and every target works.
# OPEN-08, PRIV-03
. "${top_srcdir:-${0%/*}/../..}/tests/support/count.sh"

corpus=$top_srcdir/tests/fuzz/corpus
for folder in "$corpus"/*; do
	target=${folder##*/}
	if [ ! -x "$top_builddir/tests/fuzz/$target" ]; then
		echo "SKIP: $target: the tool was built without it"
		continue
	fi
	check "all inputs of $target" "$top_builddir/tests/fuzz/$target" "$folder"/*
done

# Every function of the standard is among the calls that the model predicts.
is_called() {
	grep -q "$1(" "$top_srcdir"/tests/fuzz/calls*.c
}
for function in $(sed -n 's/.*[ *]\(posix_trace_[a-z_]*\)(.*/\1/p' "$top_srcdir/include/trace.h" | sort -u); do
	check "calls makes $function()" is_called "$function"
done
finish
