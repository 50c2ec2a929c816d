#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# If the system refuses membarrier(2), a reader that does not wait finds every event whose call has
# returned, while another thread or process is suspended at any instruction of a trace point.
# STOP-07, TRY-03
: "${top_srcdir:=$(dirname "$0")/../..}"
: "${top_builddir:=.}"
. "$top_srcdir/tests/support/count.sh"

test -x "$top_builddir/tests/steps/steps" || {
	echo "SKIP: single steps are for x86-64"
	exit 77
}
STEPS=${STEPS:-5}
PTX_SEED=${PTX_SEED-$(date +%s)}
POSIXTRACE_MEMBARRIER=0
export STEPS PTX_SEED POSIXTRACE_MEMBARRIER
echo "seed $PTX_SEED"
for path in loop inherited 'own stream'; do
	for action in drain read; do
		out=$("$top_builddir/tests/steps/steps" "$path" "$action" 2>&1)
		status=$?
		test $status -eq 77 && echo "$out" && exit 77
		check "$path, $action: $out" test $status -eq 0
	done
done
finish
