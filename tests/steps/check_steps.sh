#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A part of make check-steps: every 47th instruction of each path of posix_trace_event(), with other
# ones in each run. EVENT-13, EVENT-14, FORK-02, FORK-08, FORK-10, EXIT-05
#
# PTX_SEED selects them; STEPS is another distance.
: "${top_builddir:=.}"
test -x "$top_builddir/tests/steps/steps" || {
	echo "SKIP: single steps are for x86-64"
	exit 77
}
PTX_SEED=${PTX_SEED-$(date +%s)}
echo "seed $PTX_SEED"
STEPS=${STEPS:-47}
export PTX_SEED STEPS
exec "$top_builddir/tests/steps/steps"
