#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The scripts that people call refuse arguments that they do not have, before they install, build or
# remove anything. The programs that would do so only note their names here. tools/check shows why a
# suite failed.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

top=$(cd "$top_srcdir" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/folder"
for program in apt-get autoreconf dpkg-buildpackage make mkdir mv rm sudo; do
	printf '#!/bin/sh\necho %s >>"%s/called"\nexit 1\n' $program "$scratch" \
		>"$scratch/bin/$program"
	chmod +x "$scratch/bin/$program"
done

# calls STATUS SCRIPT [ARGUMENT...]: the script exits with STATUS, and calls none of the programs.
# The longest of the real ones takes seconds until its first call.
calls() {
	expected=$1
	shift
	status=0
	PATH="$scratch/bin:$PATH" timeout 60 sh "$top/$@" >"$scratch/out" 2>"$scratch/err" \
		</dev/null || status=$?
	check "$* exits with $expected" test $status -eq "$expected"
	check "$* calls nothing" test ! -e "$scratch/called"
	env rm -f "$scratch/called"
}

for script in tools/check tools/demo; do
	calls 0 $script --help
	check "its usage" grep -qx "usage: sh $script" "$scratch/out"
	check "its purpose" grep -q '^Installs missing packages' "$scratch/out"
	for wrong in --hlep -x build ''; do
		calls 2 $script "$wrong"
		check "its usage" grep -qx "usage: sh $script" "$scratch/err"
	done
done
for wrong in --help -x ''; do
	calls 2 autogen.sh "$wrong"
	calls 2 tools/debian/build.sh "$wrong"
done
calls 2 tools/debian/build.sh "$scratch/folder" "$scratch/folder" 1
calls 2 tools/debian/build.sh --help "$scratch/folder" 1
calls 2 tools/debian/build.sh a b c d

# tools/check ends with the failing parts of logs.
failing() {
	LC_ALL=C awk -v LINES=4 -f "$top/tests/support/failing.awk" "$scratch/log" >"$scratch/out"
}
# shows LINE...: these lines and no others are printed.
shows() {
	printf '%s\n' "$@" | diff - "$scratch/out"
}
{
	printf '%s\n' 'a check of a script' 'FAILED: the first' 'noise'
	printf 'FAILED: the second\n\t-a\n\t+b\033\n\t c\n\t d\n\t e\n'
	printf '%s\n' 'more noise' '50%: Checks: 4, Failures: 2, Errors: 0'
} >"$scratch/log"
failing
check "the checks of a script that failed" shows 'FAILED: the first' 'FAILED: the second' '	-a' \
	'	+b?' '	 c' '(2 lines more)'
printf '%s\n' noise '66%: Checks: 3, Failures: 0, Errors: 1' \
	'faults/test_x.c:12:E:x:name:0: (after this point) Test timeout expired' 'and more' >"$scratch/log"
failing
check "the tests of Check that failed" shows \
	'faults/test_x.c:12:E:x:name:0: (after this point) Test timeout expired' 'and more'
seq 9 >"$scratch/log"
failing
check "the end of the log of a suite that was ended" shows 6 7 8 9
(echo 'FAILED: early'; seq 9) >"$scratch/log"
failing
check "with the checks that failed before" shows 'FAILED: early' 6 7 8 9

# Others in the tools folder have no arguments, or are not for people.
none "each script of tools/ is tried here" "$(cd "$top/tools" &&
	grep -lsE '^#!' ./* debian/*.sh | grep -vE '^(\./check|\./demo|debian/build.sh)$')"
finish
