#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Damaged foreign traces end only their own conversion.
. "${0%/*}/lib.sh"
needs_format etw
needs_format tracex
needs_format rkh

samples=${top_srcdir:-${0%/*}/../..}/tests/samples
mutate=${top_builddir:-..}/tests/tools/mutate

check "dumps of ThreadX" "$mutate" 300 1 "$samples"/tracex/*.trx
check "the texts of ThreadX dumps do no harm" "$mutate" 100 2 "$samples"/tracex/*.hex "$samples"/tracex/*.srec
check "streams of RKH" "$mutate" 500 5 "$samples"/rkh/*/*.bin
check "logs of ETW" "$mutate" 60 4 "$samples"/etw/*.etl
"$mutate" 10 3 "$samples"/tracex/*.trx >"$tmp/a"
"$mutate" 10 3 "$samples"/tracex/*.trx >"$tmp/b"
check "the same copies every time" cmp -s "$tmp/a" "$tmp/b"
finish
