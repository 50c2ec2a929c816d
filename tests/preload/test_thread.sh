#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family thread: threads begin, end and are cancelled as without it.
. "${0%/*}/lib.sh"

shim thread "$probe" thread
check "the program works as without the shim" exits 0
check "creations" shows 'thread.create .* thread=0x[0-9a-f]+ function=0x[0-9a-f]+ error=0 detached=0$' 2
check "a detached one" shows 'thread.create .* error=0 detached=1$' 1
check "the begin of a thread is recorded" shows 'thread.begin function=0x[0-9a-f]+ creator=0x'
check "two are waited for" shows 'thread.join .* error=0$' 2
check "a thread that cannot be joined is recorded" shows 'thread.join .* error=35$' 1
check "a name" shows 'thread.name .* error=0 name=worker$'
check "pthread_exit" shows 'thread.exit value=0x' 1
begin=$(grep 'thread.join .* error=0$' "$tmp/events" | head -n 1 | sed 's/.* thread=\([^ ]*\) .*/\1/')
check "the identifiers are the same" shows "thread.create .* thread=$begin " 
check "they end, also by pthread_exit" test "$(grep -c thread.end "$tmp/events")" -ge 2

shim thread,io "$probe" cancel
check "a thread is cancelled in a wrapped call, and unwound" exits 0
check "the cancelled call is recorded" shows 'io.read .* error=125 size=1 result=-1$' 1
check "the end of the cancelled thread is recorded" shows 'thread.end' 1

shim thread "$probe" thread-gone
check "threads that give back where their identifier was stored" exits 0
check "all of them are recorded" shows 'thread.create .* error=0 detached=1$' 300

# A test of the memory and a load after it would end the program here.
shim thread "$(program probe_unmap)" after
check "the identifier's memory is unmapped after the shim has examined it" exits 0
check "the creation is recorded" shows 'thread.create .* error=0 detached=1$' 1
if grep -q '^Seccomp:.0' /proc/self/status; then
	check "the memory was examined and then unmapped" has out '^unmapped$'
	check "the event has the identifier" shows 'thread.create .* thread=0x[1-9a-f]' 1
	shim thread "$(program probe_unmap)" before
	check "the identifier's memory is unmapped before the shim copies it" exits 0
	check "the event has no identifier" shows 'thread.create .* thread=0x0 .* error=0 ' 1
fi

finish
