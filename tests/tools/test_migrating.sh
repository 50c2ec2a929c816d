#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# doc/MIGRATING: the commands that replace those of other tools work, and print what the page shows.
. "${0%/*}/lib.sh"
. "${0%/*}/document.sh"

for part in libdw Zydis attach; do
	"$posixtrace" doctor | grep -q "^works  *$part" || skip "the page needs $part: see doctor"
done
follow "$top/doc/MIGRATING"
check "the page has commands" test "$commands" -gt 30
kill "$(cat pid)" 2>/dev/null
finish
