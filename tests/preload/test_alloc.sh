#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family alloc: memory is allocated and freed as without it, and each call is recorded.
. "${0%/*}/lib.sh"

shim alloc "$probe" alloc
check "the program works as without the shim" exits 0
address=$(sed -n 's/.* alloc.malloc size=1001 result=//p' "$tmp/events")
check "malloc" shows 'alloc.malloc size=1001 result=0x[0-9a-f]+$' 1
check "realloc" shows "alloc.realloc old=$address size=100002 result=0x[0-9a-f]+\$" 1
address=$(sed -n 's/.* size=100002 result=//p' "$tmp/events")
check "free, of what realloc gave" shows "alloc.free old=$address\$"
check "calloc" shows 'alloc.calloc count=33 size=77 result=0x[0-9a-f]+$' 1
check "posix_memalign" shows 'alloc.aligned alignment=256 size=5003 result=0x[0-9a-f]+00$' 1
check "aligned_alloc" shows 'alloc.aligned alignment=64 size=6400 result=0x' 1
check "valloc" shows 'alloc.aligned alignment=4096 size=7004 result=0x[0-9a-f]+000$' 1
check "an alignment that is none" shows 'alloc.aligned alignment=3 size=8 result=0x0$' 1
check "too much" shows 'alloc.malloc size=9223372036854775807 result=0x0$' 1
check "free of nothing is nothing" shows 'alloc.free old=0x0$' 0
check "mmap" shows 'alloc.mmap time=[0-9]+ size=8192 protection=0x3 flags=0x22 fd=-1 error=0 offset=0 result=0x' 1
check "mremap" shows 'alloc.mremap time=[0-9]+ old=0x[0-9a-f]+ old_size=8192 size=16384 flags=0x1 error=0 ' 1
check "munmap" shows 'alloc.munmap time=[0-9]+ old=0x[0-9a-f]+ size=16384 error=0$' 1
check "mmap that fails" shows 'alloc.mmap .* size=0 .* error=22 .* result=0xffffffffffffffff$' 1

# The library's address space does not count for the limit of locked memory. An emulator has its own.
if "$probe" alloc-lock; then
	shim alloc "$probe" alloc-lock
	check "a program without privilege can lock its memory" exits 0
	check "the calls of mlock() are recorded" shows 'alloc.mlock .* error=0 lock=1 flags=0x7 ' 1
	for from in 1 2; do
		shim alloc "$build/tests/tools/refuse" "openat EMFILE path=/proc/self/maps from=$from" -- \
			"$probe" alloc-lock-once
		test "$status" -eq 77 && break # no right to refuse system calls
		check "without a free descriptor nothing is locked that was refused" exits 0
	done
fi

# Every freed block was allocated before, and is not allocated twice in between.
cat >"$tmp/balance.awk" <<'EOF'
$3 ~ /alloc.(malloc|calloc|aligned)/ { r = $NF; sub(/result=/, "", r); if (r != "0x0") { if (live[r]) print "twice", $0; live[r] = 1 } }
$3 == "alloc.realloc" { o = $4; sub(/old=/, "", o); r = $NF; sub(/result=/, "", r); delete live[o]; live[r] = 1 }
$3 == "alloc.free" { o = $4; sub(/old=/, "", o); if (live[o]) freed++; delete live[o] }
END { print freed + 0 > "/dev/stderr" }
EOF
shim alloc sh -c 'a=1; for i in 1 2 3 4 5 6 7 8 9; do a="$a$a"; done; echo "${#a}"'
check "a shell works as without the shim" test "$(cat "$tmp/out")" = 512
check "no address is given out twice" test -z "$(awk -f "$tmp/balance.awk" "$tmp/events" 2>"$tmp/freed")"
check "blocks are given back" test "$(cat "$tmp/freed")" -gt 5

finish
