#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What was once found by fuzzing is found no more, and every target works.
# OPEN-08, PRIV-03
. "${top_srcdir:-${0%/*}/../..}/tests/support/count.sh"

corpus=$top_srcdir/tests/fuzz/corpus
for folder in "$corpus"/*; do
	target=${folder##*/}
	check "all inputs of $target" "$top_builddir/tests/fuzz/$target" "$folder"/*
done
finish
