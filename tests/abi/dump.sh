#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# dump.sh LIBRARY: its binary interface as libabigail sees it: the exported functions, their
# parameters and the types of the public headers. Paths and the compiler are not part of it.
: "${top_srcdir:=$(dirname "$0")/../..}"

# hash: a type's name in the file depends on the type alone, so that an addition is one place of a diff.
abidw --headers-dir "$top_srcdir/include" --drop-private-types --exported-interfaces-only \
	--no-corpus-path --no-comp-dir-path --no-show-locs --short-locs --no-elf-needed \
	--no-write-default-sizes --no-parameter-names --type-id-style hash "$1"
