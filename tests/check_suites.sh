#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check runs each suite: Makefile.am or the Makefile.inc of the suite's folder names it. Each
# folder of transcripts in tools/golden is run by one of the scripts test_golden_*.sh.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir/tests" || exit 1

# The words of the Makefiles, one a line.
words=$(cat Makefile.am */Makefile.inc | tr -s ' \t' '\n')

# unnamed SUITE...: the suites that no Makefile names. The name of a suite in C has no suffix.
unnamed() {
	printf '%s\n' "$@" | sed 's/\.c$//' | grep -vxF "$words"
}

suites=$(find faults posix preload tools unit -name 'test_*.sh' -o -name 'test_*.c' | sort)
check "there are suites" test "$(printf '%s\n' "$suites" | wc -l)" -ge 200
none "Makefile.inc names each suite of its folder; add to dist_check_SCRIPTS or check_PROGRAMS" \
	"$(unnamed $suites)"
none "Makefile.am names each rule; add to dist_check_SCRIPTS" "$(unnamed check_*.sh)"

# Other folders have the inputs of the transcripts, without commands.
for folder in tools/golden/*/; do
	grep -q '^\$ ' "$folder"* || continue
	name=$(basename "$folder")
	check "one script runs golden/$name; add it to the line 'golden' of a tests/tools/test_golden_*.sh" \
		test "$(cat tools/test_golden_*.sh | grep -cE "^golden (.* )?$name( |\$)")" -eq 1
done
finish
