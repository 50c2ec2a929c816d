#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The build of a program needs only posixtrace.pc. It needs no development packages of the libraries
# to which libposixtrace is linked. pkg-config(1) requires the modules of Requires.private even for
# --cflags, so posixtrace.pc has none.
: "${top_srcdir:=..}" "${top_builddir:=$top_srcdir}"
. "$top_srcdir/tests/support/count.sh"

command -v pkg-config >/dev/null || {
	echo "SKIP: no pkg-config"
	exit 77
}
lib=$(cd "$top_builddir" && pwd)
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' 0
cp "$lib/posixtrace.pc" "$scratch" || exit 99
# With this folder alone, pkg-config finds no other module.
PKG_CONFIG_LIBDIR=$scratch
PKG_CONFIG_PATH=
export PKG_CONFIG_LIBDIR PKG_CONFIG_PATH

check "the module is found alone" pkg-config --exists --print-errors posixtrace
check "its version is the package's" test -n "$(pkg-config --modversion posixtrace)"
check "its flags are found" pkg-config --print-errors --cflags posixtrace
check "its libraries are" pkg-config --print-errors --libs posixtrace
check "a program is linked with this library alone" \
	test "$(pkg-config --libs-only-l posixtrace | tr -d ' ')" = -lposixtrace
check "a static one with what the C library has, too" \
	test "$(pkg-config --static --libs-only-other posixtrace | tr -d ' ')" = -pthread
check "pkg-config --static names no other library" \
	test "$(pkg-config --static --libs-only-l posixtrace | tr -d ' ')" = -lposixtrace

finish
