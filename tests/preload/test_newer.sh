#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions of newer versions of glibc are recorded. With an older version, newer.c has them.
. "${0%/*}/lib.sh"

newer=$(program probe_newer)
LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$build/tests/preload/.libs
export LD_LIBRARY_PATH
true=/usr/bin/true
test -x $true || skip "no true"
cd "$tmp" || exit 99

shim alloc,io,process "$newer" $true
check "the program works as without the shim" exits 0
# The events of the family alloc, from the first call of the test: each call has exactly one.
sed -n '/ alloc.malloc size=1002 /,$s/^.* alloc\./alloc./p' "$tmp/events" >"$tmp/alloc"
first=$(sed -n '1s/.*result=//p' "$tmp/alloc")
second=$(sed -n '3s/.*result=//p' "$tmp/alloc")
check "free_sized and free_aligned_sized" test "$(sed -n '2p;4p' "$tmp/alloc")" = \
	"alloc.free old=$first
alloc.free old=$second"
check "with one event each" test "$(sed -n 5p "$tmp/alloc")" != "alloc.free old=$second"
pid=$(sed -n 's/^pidfd //p' "$tmp/out")
check "pidfd_spawn" shows "process.spawn .* child=$pid error=0 path=$true arguments=$true x\$" 1
check "the program that it started" shows "^$pid .* process.start pid=$pid parent="
check "pidfd_spawnp that fails" shows 'process.spawn .* child=-1 error=2 path=no-such-program ' 1
check "openat2" shows \
	'io.open .* fd=[0-9]+ error=0 folder=-100 flags=0x42 mode=0x1a0 path=by_openat2$' 1
check "openat2 that fails" shows \
	'io.open .* fd=-1 error=22 folder=-1 flags=0x42 mode=0x1a0 path=no/such$' 1
finish
