#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# lacks.sh CC [EMULATOR...]: compiles emulated.c and runs it under the emulator. Prints the missing
# features, for PTX_LACKS; with -v before CC a line for each, with its description.
verbose=false
test "$1" != -v || { verbose=true && shift; }
cc=$1 program=$PWD/emulated.program
shift
# shellcheck disable=SC2086 # CC may be several words
$cc -std=gnu11 -D_GNU_SOURCE -o "$program" "${0%/*}/emulated.c" && lines=$("$@" "$program" 2>/dev/null) || {
	echo "$0: ${1-} cannot run what $cc makes" >&2
	exit 1
}
if $verbose; then
	test -z "$lines" || echo "$lines"
else
	echo $(echo "$lines" | sed 's/:.*//')
fi
