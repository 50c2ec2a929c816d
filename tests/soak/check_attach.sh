#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Streams of a busy process are created and end while another is read. CREATE-04, SHUT-02,
# GETNEXT-13
#
# PTX_SOAK_CYCLES is the number of cycles, PTX_SEED the seed.
: "${top_builddir:=.}"
# Sanitizers keep freed memory, so there is more than before.
if nm -D "$top_builddir/lib/.libs/libposixtrace.so" | grep -q '__[at]san_init'; then
	echo "not under a sanitizer"
	exit 77
fi
seed=${PTX_SEED-$(date +%s)}
echo "seed $seed"
exec "$top_builddir/tests/soak/attach" "${PTX_SOAK_CYCLES-300}" "$seed"
