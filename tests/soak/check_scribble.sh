#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# One side writes anything into the memory that it shares while the other is at work. PRIV-03
#
# PTX_SOAK_WRITES and PTX_SEED say how often, and which; PTX_SOAK_ROUND does one round again.
: "${top_builddir:=.}"
seed=${PTX_SEED-$(date +%s)}
echo "seed $seed"
exec "$top_builddir/tests/soak/scribble" "${PTX_SOAK_WRITES-3000}" "$seed" $PTX_SOAK_ROUND
