#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-arm64: builds everything for arm64 with Debian's compiler, in the current folder, and
# runs make check under qemu-aarch64. Prints each suite that failed or was skipped, with the reason
# for the skip, and the sums.
#
#	SUITES='unit/ring/* tools/test_dump.sh'  selects suites by patterns
#	SYSTEM=FOLDER                            the system of system.sh, which several builds share
#
# It needs apt-get(8) with a mirror that has arm64, gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu,
# qemu-user-static, and Linux 6.7 for inside.sh, but no privilege.
set -uf # the patterns of SUITES are not those of files
: "${SUITES:=*}" "${SYSTEM:=$PWD/system}"
source=$(cd "$top_srcdir" && pwd)
tests=$source/tests/arm64
build=$PWD/build
# The build is inside the sources or elsewhere; the suites see both at the paths of this machine.
case $build in
"$source"/*) folder=$source ;;
*) folder=$source:$build ;;
esac

fail() {
	echo "check-arm64: $*" >&2
	exit 1
}
for program in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64-static unshare; do
	command -v $program >/dev/null || fail "$program is needed"
done
sh "$tests/system.sh" "$SYSTEM" || fail "no system for arm64 in $SYSTEM"
root=$(cd "$SYSTEM/root" && pwd)
mkdir -p "$build"
sh "$tests/inside.sh" "$root" "$folder" true || fail "no program of arm64 runs here"

# ccache makes a second build fast.
cache=
test -z "$(command -v ccache)" || cache='ccache '
libraries=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
cd "$build" || exit 1
test -f config.status ||
	PKG_CONFIG_LIBDIR=$libraries PKG_CONFIG_SYSROOT_DIR=$root \
	"$source/configure" -q --host=aarch64-linux-gnu --enable-werror --without-node \
		PYTHON=/usr/bin/python3 CC="${cache}aarch64-linux-gnu-gcc --sysroot=$root" \
		CXX="${cache}aarch64-linux-gnu-g++ --sysroot=$root" >configure.out 2>&1 ||
	fail "configure failed: see $build/configure.out"
echo "building in $build"
jobs=$(nproc)
{ make -j"$jobs" && make -j"$jobs" check TESTS=; } >make.out 2>&1 </dev/null ||
	fail "make failed: see $build/make.out"

selected=
for suite in $(make -s -C tests list-suites); do
	for pattern in $SUITES; do
		# shellcheck disable=SC2254 # a pattern
		case $suite in $pattern) selected="$selected $suite" && break ;; esac
	done
done
test -n "$selected" || fail "no suite matches $SUITES"
# unshare(1) ignores SIGTERM.
inside="timeout -s KILL 1200 sh $tests/inside.sh $root $folder"

echo "what qemu-aarch64 lacks here:"
lacks=$(sh "$source/tests/builds/lacks.sh" -v "aarch64-linux-gnu-gcc --sysroot=$root" \
	sh "$tests/inside.sh" "$root" "$folder") || exit 1
echo "$lacks" | sed 's/^/    /'
PTX_LACKS=$(echo "$lacks" | sed 's/:.*//' | tr '\n' ' ')
CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT-1500}
export PTX_LACKS CK_DEFAULT_TIMEOUT
find tests -name '*.trs' -exec rm -f {} +
make -k -j"$jobs" -C tests check-TESTS check_PROGRAMS= TESTS="$selected" LOG_COMPILER="$inside" \
	SH_LOG_COMPILER="$inside sh" >check.out 2>&1 </dev/null

# Each suite in one line; the tests that a suite skipped are part of its log.
passed=0 failed=0 skipped=0 left=0
for suite in $selected; do
	log=tests/${suite%.sh}.log
	result=$(sed -n 's/^:test-result: //p' "tests/${suite%.sh}.trs" 2>/dev/null)
	case $result in
	PASS*)
		passed=$((passed + 1))
		left=$((left + $(grep -c '^SKIP: ' "$log")))
		;;
	SKIP*)
		skipped=$((skipped + 1))
		echo "SKIP: $suite: $(sed -n 's/^SKIP: //p' "$log" | head -n 1)"
		;;
	*)
		failed=$((failed + 1))
		echo "FAIL: $suite: see $build/$log"
		;;
	esac
done
echo "arm64: $passed suites passed, $failed failed, $skipped skipped; $left tests of those that" \
	"passed skipped"
test $failed -eq 0
