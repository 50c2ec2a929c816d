#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-builds: builds the library with other options and compilers, each in a folder of its
# own, and runs its core suites. BUILDS="O0 lto" selects builds, SUITES="unit/ring/test_*" selects
# suites.
#
#	O0 O1 O3	gcc without, with little and with much optimization
#	lto		gcc, optimized across files
#	clang		clang, whose warnings are errors
#	musl		the library and the tool with musl-gcc; the tool records and reads a log
#	compilers	everything, with every installed gcc-N, clang and clang-N, with the flags
#			of distributions and warnings as errors, without a run. COMPILERS="gcc-14"
#			selects
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"
source=$(cd "$top_srcdir" && pwd)
. "$source/tests/builds/hardening.sh"

: "${BUILDS:=O0 O1 O3 lto clang musl compilers}" "${SUITES:=unit/*/test_* posix/test_*}"

# suites: the suites that match the patterns, as the sources name them
suites() {
	for pattern in $SUITES; do
		for file in "$source"/tests/$pattern.c; do
			test -e "$file" || continue
			suite=${file#"$source/tests/"}
			# These replace some functions by their own, which are inlined then.
			case $build/$suite in lto/unit/*) continue ;; esac
			echo "${suite%.c}"
		done
	done
}

# builds NAME CC CFLAGS LDFLAGS [CONFIGURE_ARGUMENT...]: configured and built, output in NAME.log
# Suites are not optimized across files: the linker would not find their wrappers of functions
# (--wrap).
builds() {
	folder=$1 with_cc=$2 with_cflags=$3 with_ldflags=$4
	shift 4
	mkdir -p "$folder" && (cd "$folder" &&
		{ test -f config.status ||
		  "$source/configure" -q --enable-werror CC="$with_cc" CFLAGS="$with_cflags" \
			LDFLAGS="$with_ldflags" "$@"; } &&
		make -s -j2 -C lib all &&
		make -s -j2 -C tests CFLAGS="${with_cflags% -flto=auto}" libsupport.la support/puppet \
			support/secure posix/first.la posix/second.la $(suites)) >"$folder.log" 2>&1 </dev/null
}

# runs NAME SUITE
runs() {
	(cd "$1/tests" && CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT-1500} top_srcdir=$source \
		POSIXTRACE_GUARDIAN="$PWD/../lib/posixtrace-guardian" \
		"./$2" </dev/null)
}

# musl_builds: the library, the tool and the examples; musl-gcc has no headers of the kernel
musl_builds() {
	mkdir -p musl && (cd musl &&
		{ test -f config.status ||
		  "$source/configure" -q --enable-werror CC=musl-gcc CXX=false PKG_CONFIG=false \
			CPPFLAGS="-idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)" \
			--without-python --without-node; } &&
		make -s -j2) >musl.log 2>&1 </dev/null
}

# musl_finds VERDICT REQUIREMENT: what the tool says of this machine
musl_finds() {
	musl/tools/posixtrace/posixtrace doctor | grep -q "^$1  *$2"
}

musl() {
	check "musl is built: see musl.log" musl_builds
	check "musl: events go into a log and back" musl_finds works recording
	check "musl: there is no preload library" musl_finds limited 'preload library'
}

# installed_compilers: by their names, gcc-12 but not gcc-ar-12, each once
installed_compilers() {
	echo "$PATH" | tr : '\n' | while read -r folder; do
		for file in "$folder"/gcc-[0-9]* "$folder"/clang "$folder"/clang-[0-9]*; do
			test -x "$file" && echo "${file##*/}"
		done
	done | grep -Ex 'clang|(gcc|clang)-[0-9]+' | sort -u
}

# cxx_of CC: the compiler of C++ that belongs to it; false if it is not installed
cxx_of() {
	case $1 in
	gcc*) cxx=g++${1#gcc} ;;
	*) cxx=clang++${1#clang} ;;
	esac
	command -v "$cxx" >/dev/null && echo "$cxx"
}

# compiles NAME CC LEVEL: compiles everything, output in NAME.log
compiles() {
	cxx=$(cxx_of "$2") || cxx=g++
	flags=$(hardened_cflags "$3")
	mkdir -p "$1" && (cd "$1" &&
		{ test -f config.status ||
		  "$source/configure" -q --enable-werror CC="$2" CXX="$cxx" CFLAGS="$flags" \
			CXXFLAGS="$flags" LDFLAGS="$hardened_ldflags"; } &&
		make -s -k -j2 && make -s -k -j2 check TESTS=) >"$1.log" 2>&1 </dev/null
}

# Levels 2 and 3 of _FORTIFY_SOURCE in turn: they differ little.
compilers() {
	level=3
	for compiler in ${COMPILERS:-$(installed_compilers)}; do
		check "$compiler builds everything, hardened at level $level: see $compiler.log" \
			compiles "$compiler" "$compiler" $level
		level=$((5 - level))
	done
}

for build in $BUILDS; do
	case $build in
	O?) set -- gcc "-g -$build" '' ;;
	lto) set -- gcc '-g -O2 -flto=auto' '-O2 -flto=auto' ;;
	clang) set -- clang '-g -O2' '' ;;
	musl) set -- musl-gcc '' '' ;;
	compilers)
		compilers
		echo "$build: $checks checks so far, $failures failures"
		continue
		;;
	esac
	if ! command -v "$1" >/dev/null; then
		echo "$build: not built for want of $1"
		continue
	fi
	if [ "$build" = musl ]; then
		musl
		echo "$build: $checks checks so far, $failures failures"
		continue
	fi
	check "$build is built: see $build.log" builds "$build" "$@"
	for suite in $(suites); do
		check "$build: $suite" runs "$build" "$suite"
	done
	echo "$build: $checks checks so far, $failures failures"
done
finish
