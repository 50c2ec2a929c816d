#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-why: programs that are slow for a known reason. posixtrace why names it, and its parts
# equal the programs' own measurements. The load of the machine has no influence: both include it.
. "${0%/*}/../tools/lib.sh"

build=$(cd "${top_builddir:-..}" && pwd)
source=$(cd "${0%/*}" && pwd)
posixtrace=$build/tools/posixtrace/posixtrace
cd "$tmp" || exit 99
unset POSIXTRACE_TRACE LD_PRELOAD
POSIXTRACE_PRELOAD=$build/lib/.libs/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
command -v python3 >/dev/null || skip "python3 is not there"
${CC:-cc} -g -O1 -fno-omit-frame-pointer -pthread -o causes "$source/causes.c" || exit 99
"$posixtrace" record --sched -q -o probe.ptl true 2>err ||
	skip "when threads run cannot be recorded here: $(cat err)"

# reason NAME KIND END: the program, the part of its time, and a part of the chain's text.
reason() {
	"$posixtrace" record --sched --trace default,lock-hold -q -o $1.ptl ./causes $1 >measured
	"$posixtrace" why --json --thread subject $1.ptl >answer
	check "$1: why is right" python3 "$source/check_why.py" answer measured "$2" "$3"
}

reason convoy lock 'held by'
reason starved runnable 'the CPU ran'
reason inversion lock 'without a CPU'
reason world lock 'sleeping: usleep()'
reason pipes peer 'sleeping: usleep()'
reason child peer 'sleeping: usleep()'
reason sleep sleep 'in sleep_hidden (causes.c'
reason timer sleep 'nanosleep()'
reason busy running 'running'
finish
