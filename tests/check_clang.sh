#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# clang accepts each source of the library and of the tool that was built here, with all warnings as
# errors. clang only examines the sources, because a build by clang would take minutes; make
# check-builds does such a build.
: "${top_srcdir:=..}" "${top_builddir:=$top_srcdir}"
. "$top_srcdir/tests/support/count.sh"

command -v clang >/dev/null || {
	echo "SKIP: no clang"
	exit 77
}
source=$(cd "$top_srcdir" && pwd)
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' 0

# flags: the options with which the Makefile of the current folder compiles, without the compiler
flags() {
	printf 'include Makefile\n$(info $(COMPILE))\nnothing:\n\t@:\n' |
		${MAKE-make} -s --no-print-directory -f - nothing | sed -n "s/^[^-]* -D/-D/p"
}

# accepts FOLDER: clang accepts each source that has an object in the folder
accepts() {
	cd "$top_builddir/$1" || return 1
	find . \( -name '*.o' -o -name '*.lo' \) ! -path '*/.libs/*' ! -path './bindings/*' |
		sed 's/\.l*o$/.c/' | sort -u | while read -r file; do
			test ! -e "$source/$1/$file" || echo "$source/$1/$file"
		done >"$scratch/files"
	test -s "$scratch/files" || { echo "no objects in $1" && return 1; }
	echo "clang -fsyntax-only -Werror -Wno-unknown-warning-option $(flags) \"\$@\"" >"$scratch/clang"
	xargs -n 16 -P "$(nproc)" sh "$scratch/clang" <"$scratch/files" >"$scratch/output" 2>&1 && return
	grep error: "$scratch/output" | sort -u
	return 1
}

check "clang accepts the library" accepts lib
check "clang accepts the tool" accepts tools/posixtrace
check "clang accepts the tests" accepts tests
finish
