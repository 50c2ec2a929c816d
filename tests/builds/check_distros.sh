#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-distros: the tarball of make dist builds and works on other versions of Debian. Makes a
# system of each version in the current folder, as root, by debootstrap(8). inside_distro.sh builds
# and runs suites there, without a network.
#
#	TARBALL=FILE                 of make dist
#	SYSTEMS='trixie sid'         the versions (bookworm trixie sid)
#	COMPILERS='gcc clang'        everything is compiled by each, with warnings as errors
#	SUITES='preload/* posix/*'   the suites that run after the build of the first, by patterns
#	MIRROR=URL                   of Debian
#
# In a new system, the library and the tool are first built before any optional library is there. A
# system stays in the current folder for later runs: remove the folder VERSION to have a new one.
# VERSION.STEP.log has the output of a step.
set -f # the patterns of SUITES are not those of files
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"
: "${SYSTEMS:=bookworm trixie sid}" "${COMPILERS:=gcc clang}" "${MIRROR:=http://deb.debian.org/debian}"
: "${SUITES:=check_*.sh unit/* posix/* preload/* tools/test_bindings.sh tools/test_points.sh}"
here=$PWD
script=$(cd "$top_srcdir" && pwd)/tests/builds/inside_distro.sh

skip() {
	echo "SKIP: $*"
	exit 77
}
test "$(id -u)" -eq 0 || skip "not root"
for program in debootstrap unshare setpriv ip; do
	command -v $program >/dev/null || skip "no $program"
done
unshare --mount --pid --ipc --net --fork true 2>/dev/null || skip "no right to make namespaces"

# The processes of a step are in namespaces of their own. If this script or unshare(1) ends, they end
# too, and their mounts disappear. The shell handles a signal at once because it waits for a job.
job=
trap 'test -z "$job" || kill -KILL "$job"; exit 99' HUP INT TERM
# isolated LOG COMMAND...: $network is empty, or an option of unshare(1)
isolated() {
	log=$1
	shift
	# shellcheck disable=SC2086 # no word if empty
	env -u TMPDIR --default-signal=INT,QUIT setpriv --pdeathsig KILL unshare --mount --pid --ipc \
		$network --fork --kill-child "$@" >"$log" 2>&1 </dev/null &
	job=$!
	status=0
	wait $job || status=$?
	job=
	return $status
}

# step NAME [ARGUMENT...]: a step of inside_distro.sh in $folder, a new system or one of an earlier run
step() {
	log=$here/$system.$1.log
	status=0
	isolated "$log" sh "$script" "$folder" "$@" || status=$?
	check "$system: $1: see $log" test $status -eq 0
	return $status
}

# make_system: the folder has its name when it is complete.
make_system() {
	network=
	folder=$here/$system.new
	rm -rf --one-file-system "${folder:?}"
	isolated "$here/$system.debootstrap.log" debootstrap --variant=minbase "$system" "$folder" "$MIRROR" || {
		# Without a mirror nothing is tested, which is no fault of the sources.
		grep -q 'Failed getting release file' "$here/$system.debootstrap.log" &&
			echo "$system: no mirror $MIRROR: not tested" && return 1
		check "$system: a system is made: see $system.debootstrap.log" false
		return 1
	}
	step unpack "$TARBALL" && step compilers && network=--net && step bare "${COMPILERS%% *}" &&
		network= && step packages && mv "$folder" "$here/$system" || return 1
	sed -n "s/^not installed/$system: &/p" "$here/$system.packages.log"
}

for system in $SYSTEMS; do
	test -d "$system" || make_system || continue
	folder=$here/$system
	network=--net
	step unpack "$TARBALL" || continue
	wanted=$SUITES
	for compiler in $COMPILERS; do
		step "$compiler" && test -n "$wanted" || continue
		# shellcheck disable=SC2086 # patterns
		step suites "$compiler" $wanted || sed -n '/^\(FAIL\|ERROR\): /p' "$here/$system.suites.log"
		sed -n 's/^\(# \(PASS\|SKIP\|FAIL\|ERROR\): .*\)/'"$system: $compiler"' \1/p' \
			"$here/$system.suites.log"
		wanted=
	done
	echo "$system: $checks checks so far, $failures failures"
done
test $checks -gt 0 || skip "no system"
finish
