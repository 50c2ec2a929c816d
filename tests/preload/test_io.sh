#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family io: files are opened, read and written as without it, and each call is recorded.
. "${0%/*}/lib.sh"

shim io "$probe" io "$tmp/file"
check "the program works as without the shim" exits 0
check "the event has the path and the descriptor" \
	shows "io.open .* fd=3 error=0 folder=-100 flags=0xc2 mode=0x1a0 path=$tmp/file\$" 1
check "the event has the size of the write" shows 'io.write .* fd=3 error=0 size=100 result=100$' 1
check "where" shows 'io.pwrite .* size=50 result=50 offset=100$' 1
check "in how many parts" shows 'io.writev .* parts=2 result=30$' 1
check "parts, where" shows 'io.pwritev .* parts=2 result=30 offset=7$' 1
check "the event has the size of the read" shows 'io.read .* fd=3 error=0 size=30 result=30$' 1
check "read, where" shows 'io.pread .* size=20 result=20 offset=5$' 1
check "read in parts" shows 'io.readv .* parts=2 result=30$' 1
check "read in parts, where" shows 'io.preadv .* result=30 offset=5$' 1
check "fsync" shows 'io.fsync .* fd=3 error=0$' 1
check "fdatasync" shows 'io.fdatasync .* fd=3 error=0$' 1
check "openat" shows 'io.open .* path=/dev/null$' 1
check "sendfile" shows 'io.sendfile .* fd=4 error=0 size=40 result=40 from=3$' 1
check "an error is reported" shows 'io.close .* fd=4 error=9$' 1
check "a path that is not there" shows 'io.open .* fd=-1 error=2 .*path=/no/such/folder/x$' 1
check "memory that is not there is not looked at" shows 'io.open .* error=14 .*path=$' 1
check "fopen" shows "io.fopen .* fd=4 error=0 file=0x[0-9a-f]+ mode=r path=$tmp/file\$" 1
check "fclose" shows 'io.fclose .* fd=4 error=0 ' 1
check "stdio is a family of its own" shows 'stdio' 0
check "the event has the time of the call, which is less than a minute" shows 'io.fsync time=[0-9]{3,10} ' 1

rm "$tmp/file"
shim stdio "$probe" io "$tmp/file"
check "fread" shows 'stdio.fread .* size=1 items=100 result=100$' 1
check "only what was chosen" shows ' io\.' 0

rm "$tmp/file"
shim io "$probe" io-variants "$tmp/file"
check "variants work as without the shim" exits 0
check "open64, __open_2, creat64" shows "io.open .* fd=3 error=0 .* path=$tmp/file\$" 3
check "__read_chk" shows 'io.read .* size=10 result=10$' 1
check "pread64" shows 'io.pread .* result=10 offset=0$' 1
check "pwrite64" shows 'io.pwrite .* result=10 offset=0$' 1

for call in fread getline; do
	"$probe" io-no-stream $call >"$tmp/out" 2>"$tmp/err"
	expected=$?
	shim io "$probe" io-no-stream $call
	check "$call without a stream ends as without the shim" exits $expected
done

# The buffer of a stream has 4096 bytes or more, so most of the small reads do not fill it.
shim io "$probe" io-streams "$tmp/lines"
check "streams work as without the shim" exits 0
if test "$(getconf GNU_LIBC_VERSION 2>/dev/null)"; then
	check "fgets: the first one fills the buffer, and the last one finds the end" \
		shows 'io.fill .* fd=[0-9]+ error=0 .* result=(12|0) by=fgets$' 2
	check "getline of a line that is not complete" \
		shows 'io.fill .* error=0 .* result=4 by=(getline|__getdelim)$' 1
	check "getline at the end" shows 'io.fill .* error=0 .* result=0 by=(getline|__getdelim)$' 1
	check "getdelim" shows 'io.fill .* error=0 .* result=12 by=(__)?getdelim$' 1
	check "getc" shows 'io.fill .* error=0 .* result=12 by=(fgetc|getc|_IO_getc)$' 1
	check "getc_unlocked in the code of the program" \
		shows 'io.fill .* error=0 .* result=12 by=(__uflow|getc_unlocked)$' 1
	check "fread, also before characters of ungetc()" \
		shows 'io.fill .* error=0 .* result=12 by=fread$' 2
	check "a read that fails" shows 'io.fill .* error=21 .* result=0 by=fgets$' 1
	check "a stream without a descriptor, and a full buffer, have no event" \
		shows 'io.fill ' 10
fi

shim io "$probe" io-long-path
check "the event has the end of a long path" shows 'io.open .* path=\.\.\.x.*/end$' 1

shim io "$probe" io-endless-path
check "a path without an end is an error as without the shim" exits 0
check "a path that is too long for the kernel is truncated" shows 'io.(open|fopen) .* error=36 .*path=\.\.\.x{400,}$' 2

# Pointers to pages that the program has made unreadable by syscall(), madvise(), posix_madvise() or
# shmat(). Number 13 would lower the break for a page of a segment, which is not possible.
for number in 0 1 2 3 4 5 6 7 8 9 10 11 12 14 15 16 17 18 19; do
	"$probe" io-unreadable $number
	case $? in
	0) ;;
	77) continue ;;
	*) check "unreadable memory $number: the program works without the shim" false ;;
	esac
	shim io "$probe" io-unreadable $number
	check "unreadable memory $number: each call fails as without the shim" exits 0
	check "unreadable memory $number: the calls are recorded" shows 'io.open .* error=14 ' 4
done

finish
