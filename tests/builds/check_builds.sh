#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-builds: the library built as others build it, each way in a folder of its own, and its
# core suites with it. BUILDS="O0 lto" builds some ways only, SUITES="unit/ring/test_*" runs some suites.
#
#	O0 O1 O3	gcc without, with little and with much optimization
#	lto		gcc, optimized across files
#	clang		clang, whose warnings are errors
#	arm64		the library's objects for aarch64, whose warnings are errors; nothing is run
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"
source=$(cd "$top_srcdir" && pwd)

: "${BUILDS:=O0 O1 O3 lto clang arm64}" "${SUITES:=unit/*/test_* posix/test_*}"

# suites: those of the patterns, as the sources name them
suites() {
	for pattern in $SUITES; do
		for file in "$source"/tests/$pattern.c; do
			test -e "$file" || continue
			suite=${file#"$source/tests/"}
			echo "${suite%.c}"
		done
	done
}

# builds NAME CC CFLAGS LDFLAGS: configured and built, output in NAME/build.log
builds() {
	mkdir -p "$1" && (cd "$1" &&
		{ test -f config.status ||
		  "$source/configure" -q --enable-werror CC="$2" CFLAGS="$3" LDFLAGS="$4"; } &&
		make -s -j2 -C lib all &&
		make -s -j2 -C tests libsupport.la $(suites)) >"$1.log" 2>&1 </dev/null
}

runs() {
	(cd "$1/tests" && CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT-120} top_srcdir=$source \
		POSIXTRACE_GUARDIAN="$PWD/../lib/posixtrace-guardian" "./$2" </dev/null)
}

# Objects only, of the files that can do without liburcu where it is not there for aarch64.
arm64() {
	scratch=$(mktemp -d) || return 1
	flags="-std=gnu11 -D_GNU_SOURCE -pthread -O2 -Wall -Wextra -Wshadow -Wcast-align
		-Wno-missing-field-initializers -Werror -Iinclude -Ilib"
	cd "$source" || return 1
	echo '#include <urcu/urcu-bp.h>' >"$scratch/urcu.c"
	aarch64-linux-gnu-gcc -fsyntax-only "$scratch/urcu.c" 2>/dev/null && has_urcu=1 || has_urcu=
	built=0 left=0
	for file in lib/*/*.c; do
		# shellcheck disable=SC2086
		if test -z "$has_urcu" && aarch64-linux-gnu-gcc $flags -M -MG "$file" | grep -q 'urcu'; then
			left=$((left + 1))
			continue
		fi
		# shellcheck disable=SC2086
		aarch64-linux-gnu-gcc $flags -DPTX_GUARDIAN='"x"' \
			-DPACKAGE_NAME='"p"' -DPACKAGE_VERSION='"v"' -c -o "$scratch/object" "$file" || {
			rm -rf "$scratch"
			return 1
		}
		built=$((built + 1))
	done
	rm -rf "$scratch"
	echo "arm64: $built files built, $left left out that need liburcu for aarch64"
	test "$built" -gt 0
}

for build in $BUILDS; do
	case $build in
	O?) set -- gcc "-g -$build" '' ;;
	lto) set -- gcc '-g -O2 -flto=auto' '-O2 -flto=auto' ;;
	clang) set -- clang '-g -O2' '' ;;
	arm64) set -- aarch64-linux-gnu-gcc '' '' ;;
	esac
	if ! command -v "$1" >/dev/null; then
		echo "$build: not built for want of $1"
		continue
	fi
	if [ "$build" = arm64 ]; then
		(arm64) >arm64.log 2>&1
		status=$?
		tail -n 1 arm64.log
		check "the files of the library can be built for aarch64, see arm64.log" test $status -eq 0
		continue
	fi
	check "$build is built: see $build.log" builds "$build" "$@"
	for suite in $(suites); do
		check "$build: $suite" runs "$build" "$suite"
	done
	echo "$build: $checks checks so far, $failures failures"
done
finish
