#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Families of processes, controllers and guardians are killed at random for a while, another while
# each time. FORK-06, FORK-11, EXIT-01 to EXIT-03
#
# PTX_SOAK_SECONDS and PTX_SEED say how long, and which; 20 seconds, where CI is set a minute.
: "${top_builddir:=.}"
seed=${PTX_SEED-$(date +%s)}
echo "seed $seed"
seconds=${PTX_SOAK_SECONDS:-${CI:+60}}
exec "$top_builddir/tests/soak/families" "${seconds:-20}" "$seed"
