#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that restrict themselves to few system calls: by filters that kill, and in strict mode.
PACKAGES=
. "${0%/*}/lib.sh"

probe=$build/tests/preload/.libs/probe
test -x "$probe" || probe=$build/tests/preload/probe
test -x "$probe" || { echo "SKIP: seccomp: tests/preload/probe is not built"; exit 0; }
"$probe" filter prctl 1 || test $? -eq 3 || { echo "SKIP: seccomp: no filters here"; exit 0; }
work() {
	for how in prctl syscall seccomp; do
		"$@" "$probe" filter $how 20000
		echo "filter $how: $?"
	done
	"$@" "$probe" filter-trap prctl
	echo "trap: $?"
	"$@" "$probe" strict prctl
	echo "strict: $?"
}
compare
check "strict mode is in the log" test "$(count_of process.seccomp)" -ge 1
finish
