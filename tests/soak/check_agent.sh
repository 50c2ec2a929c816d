#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The short form of soak/agent.sh, with the same rounds each time.
if nm -D "${top_builddir:=..}/lib/.libs/libposixtrace.so" 2>/dev/null | grep -q '__[at]san_init'; then
	echo "SKIP: a sanitizer needs more memory than the agent may have"
	exit 77
fi
exec "${0%/*}/agent.sh" 10 7
