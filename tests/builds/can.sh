#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# can.sh CC EMULATOR SUITE...: prints the suites that can run in this way, and on standard error the
# reasons for the others. EMULATOR is one argument of several words.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
source=$(cd "$top_srcdir" && pwd)
. "$source/tests/builds/needs.sh"
cc=$1 emulator=$2
shift 2
# shellcheck disable=SC2086
not_done "$cc" $emulator || { echo "${emulator%% *} cannot run what $cc makes" >&2 && exit 1; }
for suite; do
	if want=$(lacks "$suite"); then
		echo "$suite is left out, since ${emulator%% *} does not do $want" >&2
	else
		echo "$suite"
	fi
done
