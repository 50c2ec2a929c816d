#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# doc/TUTORIAL: the commands work, and print what the tutorial shows.
. "${0%/*}/lib.sh"
. "${0%/*}/document.sh"

"$posixtrace" doctor | grep -q '^works  *libdw' || skip "built without libdw: why shows no lines"
cp "$top/examples/orders.c" "$tmp/work"
follow "$top/doc/TUTORIAL"
check "the tutorial has commands" test "$commands" -gt 15
kill "$(cat pid)" 2>/dev/null
finish
