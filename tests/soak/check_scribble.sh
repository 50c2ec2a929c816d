#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# One side writes random values into the shared memory while the other works. PRIV-03
#
# PTX_SOAK_WRITES is the number of writes, PTX_SEED the seed; PTX_SOAK_ROUND repeats one round.
: "${top_builddir:=.}"
seed=${PTX_SEED-$(date +%s)}
echo "seed $seed"
exec "$top_builddir/tests/soak/scribble" "${PTX_SOAK_WRITES-3000}" "$seed" $PTX_SOAK_ROUND
