#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Families of processes, controllers and guardians are killed at random, with another seed in each
# run. FORK-06, FORK-11, EXIT-01 to EXIT-03
#
# PTX_SOAK_SECONDS is the duration, PTX_SEED the seed; the default is 20 seconds, and a minute if CI
# is set.
: "${top_builddir:=.}"
seed=${PTX_SEED-$(date +%s)}
echo "seed $seed"
seconds=${PTX_SOAK_SECONDS:-${CI:+60}}
exec "$top_builddir/tests/soak/families" "${seconds:-20}" "$seed"
