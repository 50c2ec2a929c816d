#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The scripts that people call refuse arguments that they do not have, before they install, build or
# remove anything. The programs that would do so only note their names here.
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

# Others in the tools folder have no arguments, or are not for people.
none "each script of tools/ is tried here" "$(cd "$top/tools" &&
	grep -lsE '^#!' ./* debian/*.sh | grep -vE '^(\./check|\./demo|debian/build.sh)$')"
finish
