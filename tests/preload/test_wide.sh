#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Calls that few programs make, and the second names of functions: each has its event.
. "${0%/*}/lib.sh"

# again NAME...: a probe in a new folder, without the shim and then with it.
again() {
	rm -rf "$tmp/here"
	mkdir "$tmp/here"
}

again
"$probe" wide-file "$tmp/here" </dev/null >/dev/null 2>"$tmp/plain" || cat "$tmp/plain"
again
shim file "$probe" wide-file "$tmp/here" </dev/null
check "file: the program works as without the shim" exits 0
check "scandir" shows 'file.scandir .* error=0 folder=-100 result=3 path=tree$' 1
check "scandir that fails" shows 'file.scandir .* error=2 folder=-100 result=-1 path=nothing$' 1
check "ftw" shows 'file.ftw .* error=0 result=0 flags=0x0 path=tree$' 1
check "nftw that a function ends" shows 'file.ftw .* error=0 result=7 flags=0x1 path=tree$' 1
check "fts_open" shows 'file.fts_open .* error=0 flags=0x14 paths=tree$' 1
check "fts_read: before and after a folder" shows 'file.fts_read .* kind=[16] path=tree(/sub)?$' 4
check "fts_read at the end" shows 'file.fts_read .* error=0 kind=0 path=$' 1
check "fts_close" shows 'file.fts_close .* error=0$' 1
check "readdir_r" shows 'file.readdir .* error=0 fd=[0-9]+ name=(\.|\.\.|sub)$' 3
check "getdents64" shows 'file.getdents .* error=0 fd=[0-9]+ size=1024 result=[0-9]+$' 1
check "setxattr" shows 'file.setxattr .* fd=-1 flags=0x0 how=0x1 size=5 path=tree name=user.some$' 1
check "fsetxattr" shows 'file.setxattr .* error=9 fd=-1 flags=0x1000 how=0x0 size=5 path= name=user.some$' 1
check "getxattr" shows 'file.getxattr .* fd=-1 flags=0x0 size=4096 .* path=tree name=user.some$' 1
check "lgetxattr" \
	shows 'file.getxattr .* error=2 .* flags=0x100 .* result=-1 path=nothing name=user.other$' 1
check "a path that is not there" shows 'file.getxattr .* error=14 .* path= name=user.some$' 1
check "listxattr" shows 'file.listxattr .* error=2 .* path=nothing$' 1
check "removexattr" shows 'file.removexattr .* error=2 .* path=nothing name=user.some$' 1
check "chroot" shows 'file.chroot .* path=nothing$' 1
check "__statfs" shows 'file.statfs .* error=2 fd=-1 path=nothing$' 1

again
shim io,alloc,net "$probe" wide-io "$tmp/here" </dev/null
check "io: the program works as without the shim" exits 0
check "freopen" shows 'io.freopen .* fd=([0-9]+) error=0 .* old=[0-9]+ mode=w path=two$' 1
check "freopen that fails" shows 'io.freopen .* fd=-1 error=2 .* mode=r path=no/such$' 1
check "tmpfile" shows 'io.fopen .* fd=[0-9]+ error=0 .* mode=w\+ path=$' 1
check "fdopen" shows 'io.fopen .* fd=[0-9]+ error=0 .* mode=r path=$' 1
check "fdopen that fails" shows 'io.fopen .* fd=-1 error=9 .* mode=r path=$' 1
check "lseek" shows 'io.lseek .* error=0 fd=[0-9]+ whence=0 offset=100 result=100$' 1
check "lseek that fails" shows 'io.lseek .* error=22 fd=[0-9]+ whence=0 offset=-1 result=-1$' 1
check "posix_fallocate" shows 'io.fallocate .* error=0 .* mode=0x0 offset=0 length=4096$' 1
check "its error is its result" shows 'io.fallocate .* error=9 fd=-1 ' 1
check "posix_fadvise" shows 'io.fadvise .* error=0 fd=[0-9]+ advice=2 ' 1
check "lockf" shows 'io.lockf .* error=0 fd=[0-9]+ operation=[20] length=10$' 2
check "sync" shows 'io.sync .* error=[09] fd=' 2
check "eventfd_write" shows 'io.write .* error=0 size=8 result=8$' 1
check "eventfd_read" shows 'io.read .* error=0 size=8 result=8$' 1
check "close_range" shows 'io.close_range .* error=0 first=60 last=61 flags=0x0$' 1
check "close_range that fails" shows 'io.close_range .* error=22 first=5 last=4 ' 1
check "close_range by syscall" shows 'io.close_range .* error=0 first=62 last=62 ' 1
check "closefrom" shows 'io.close_range .* error=0 first=63 last=4294967295 ' 1
if grep -q ' io.openpty .* error=0 ' "$tmp/events"; then
	check "isatty of a terminal" shows 'io.ioctl .* error=0 fd=[0-9]+ result=1 request=0x5401 value=0x0$' 1
	check "isatty of a pipe" shows 'io.ioctl .* error=25 fd=[0-9]+ result=0 request=0x5401 value=0x0$' 1
	check "isatty of no file" shows 'io.ioctl .* error=9 fd=-1 result=0 request=0x5401 value=0x0$' 1
	check "tcgetattr" shows 'io.ioctl .* error=0 fd=[0-9]+ result=0 request=0x5401 value=0x[0-9a-f]{4,}$' 1
	check "tcsetattr, with its action" shows 'io.ioctl .* error=0 .* request=0x5403 value=0x[0-9a-f]{4,}$' 1
	check "tcflush and tcflow" shows 'io.ioctl .* error=0 .* result=0 request=0x540[ab] value=0x[01]$' 2
	check "tcdrain" shows 'io.ioctl .* error=0 .* result=0 request=0x5409 value=0x1$' 1
	check "tcsendbreak that fails" shows 'io.ioctl .* error=25 .* result=-1 request=0x5409 value=0x0$' 1
	check "tcgetpgrp that fails" shows 'io.ioctl .* error=25 .* result=-1 request=0x540f value=0x0$' 1
	check "tcsetpgrp, with the group" shows 'io.ioctl .* error=25 .* result=-1 request=0x5410 value=0x4d$' 1
	check "tcgetsid that fails" shows 'io.ioctl .* error=25 .* result=-1 request=0x5429 value=0x0$' 1
	check "unlockpt" shows 'io.ioctl .* error=0 .* result=0 request=0x40045431 value=0x0$' 1
	check "grantpt, ptsname, ptsname_r" shows 'io.ioctl .* error=0 .* result=0 request=0x80045430 ' 3
	check "ptsname, ptsname_r of a pipe" shows 'io.ioctl .* error=25 .* result=-1 request=0x80045430 ' 2
	check "sockatmark of a pipe" shows 'io.ioctl .* error=25 .* result=-1 request=0x8905 value=0x0$' 1
fi
check "openat2 by syscall" shows 'io.open .* folder=-100 flags=0x80000 mode=0x0 path=one$' 1
check "openat2 that fails" shows 'io.open .* fd=-1 error=2 .* path=no/such$' 1
check "openat2 without memory" shows 'io.open .* fd=-1 error=14 folder=-1 flags=0x0 mode=0x0 path=$' 1
check "__open" shows 'io.open .* flags=0x0 mode=0x0 path=one$'
check "__read" shows 'io.read .* error=0 size=1 result=1$' 1
check "__poll" shows 'net.poll .* fds=0 result=0 error=0 fd=-1$' 1
check "mlock" shows 'alloc.mlock .* lock=1 flags=0x0 ' 1

shim net "$probe" wide-net </dev/null
check "net: the program works as without the shim" exits 0
check "setsockopt" shows 'net.setsockopt .* error=0 level=1 bytes=4 option=0x100000002 value=1$' 1
check "another level" shows 'net.setsockopt .* error=0 level=6 bytes=4 option=0x600000001 value=1$' 1
check "memory that is not there" shows 'net.setsockopt .* error=14 level=1 .* value=0$' 1
check "getsockopt" shows 'net.getsockopt .* error=0 level=1 bytes=4 option=0x100000003 value=1$' 1
check "getsockopt that fails" shows 'net.getsockopt .* error=14 level=1 bytes=0 ' 1
check "getsockname" shows 'net.getsockname .* error=0 address=127.0.0.1:[0-9]+$' 1
check "getpeername that fails" shows 'net.getpeername .* error=107 address=$' 1
check "gethostbyname" shows 'net.gethostbyname .* error=0 result=0 node=127.0.0.1$' 2

shim process "$probe" wide-process </dev/null
check "process: the program works as without the shim" exits 0
check "ptrace of the parent" shows 'process.ptrace .* error=0 request=0 pid=0 '
check "ptrace reads a word" shows 'process.ptrace .* error=0 request=2 pid=[0-9]+ .* result=[0-9]+$' 1
check "ptrace that fails" shows 'process.ptrace .* error=[1-9][0-9]* request=2 .* result=-1$' 1
check "prctl has the name" shows 'process.prctl .*option=15 result=0 error=0 value=0x[0-9a-f]+ name=a name$' 1
check "prctl that fails" shows 'process.prctl .*option=1 result=-1 error=22 value=0x3e7 name=$' 1
check "pidfd_open" shows 'process.pidfd_open .* error=0 fd=[0-9]+ pid=[0-9]+ ' 1
check "pidfd_send_signal" shows 'process.pidfd_send_signal .* error=0 fd=[0-9]+ signal=0$' 1
check "pthread_kill" shows 'process.kill .* error=22 pid=[0-9]+ signal=999 tid=0 thread=0x[0-9a-f]+$' 1
check "abort" shows 'process.exit .*status=134 by=abort$' 1
check "the daemon" shows 'process.exit .*status=5 by=_exit$' 1
check "__fork and the others" shows 'process.fork ' 4

shim lock,io,process,time "$probe" wide-wait
check "signals, semaphores and queues work as without the shim" exits 0
# The signal could end the process, so each call also has an event before it, with the time 0.
check "pthread_kill has the thread" \
	shows 'process.kill time=[1-9][0-9]* error=0 .* signal=10 tid=0 thread=0x[1-9a-f][0-9a-f]*$' 1
check "kill has none" \
	shows 'process.kill time=[1-9][0-9]* error=0 pid=[0-9]+ signal=10 tid=0 thread=0x0$' 1
check "both have an event before the call" shows 'process.kill time=0 error=0 .* signal=10 ' 2
check "sigwait" shows 'process.sigwait .* error=0 signal=10 code=0 sender=0 by=sigwait$' 1
check "sigwaitinfo has the sender" shows 'process.sigwait .* error=0 signal=10 code=0 sender=[1-9][0-9]* by=sigwaitinfo$' 1
check "sigtimedwait in vain" shows 'process.sigwait .* error=11 signal=0 code=0 sender=0 by=sigtimedwait$' 1
check "without the memory for details" shows 'process.sigwait .* error=0 signal=14 code=0 sender=0 by=sigwaitinfo$' 1
check "sigsuspend is no error" shows 'process.sigwait .* error=0 signal=0 code=0 sender=0 by=sigsuspend$' 1
check "setitimer of real time" shows 'time.timer .* error=0 flags=0x0 asked=1000000 interval=0 by=setitimer$' 2
check "alarm" shows 'time.timer .* asked=1000000000000 interval=0 by=alarm$' 1
check "alarm that stops" shows 'time.timer .* asked=0 interval=0 by=alarm$' 1
check "timer_settime" shows 'time.timer .* error=0 .* asked=1000000000000 interval=0 by=timer_settime$' 1
check "timer_settime that fails" shows 'time.timer .* error=22 .* asked=0 interval=0 by=timer_settime$' 1
check "sem_open" shows 'lock.sem_open .* error=0 flags=0x40 mode=0x180 lock=0x[0-9a-f]+ name=/posixtrace-probe-[0-9]+$' 1
check "sem_open that fails" shows 'lock.sem_open .* error=[1-9][0-9]* .* lock=0x0 name=/no/such$' 1
check "sem_post to 1, to a thread that waits, and none to 2 or of another semaphore" \
	shows 'lock.sem_post .* lock=0x[0-9a-f]+ error=0$' 3
check "mq_open" shows 'io.mq_open .* error=0 fd=[0-9]+ flags=0x42 mode=0x180 name=/posixtrace-probe-[0-9]+$' 1
check "mq_send" shows 'io.mq_send .* error=0 fd=[0-9]+ result=0 size=3$' 1
check "mq_receive" shows 'io.mq_receive .* error=0 fd=[0-9]+ size=8 result=3$' 1
check "mq_receive that fails" shows 'io.mq_receive .* error=9 fd=[0-9]+ size=8 result=-1$' 1
check "__mq_open_2" shows 'io.mq_open .* error=0 fd=[0-9]+ flags=0x2 mode=0x0 name=/posixtrace-probe-[0-9]+$' 1
check "mq_close" shows 'io.mq_close .* error=0 fd=[0-9]+$' 2
check "a lock of a file" shows 'io.fcntl .* error=0 fd=[0-9]+ command=6 result=0 lock=0 flags=0x0 value=' 1
check "a lock in memory that is not there" shows 'io.fcntl .* error=14 fd=[0-9]+ command=6 result=-1 lock=-1 flags=0x0 value=' 1
check "a futex that waits" shows 'lock.futex .* lock=0x[0-9a-f]+ error=110 operation=0x80$' 1
check "a futex that neither waits nor wakes has no event" shows 'lock.futex' 1

run 0 record -q -o "$log" --trace=net,process -- "$probe" wide-net
run 0 dump "$log"
check "options have names" has out 'net.setsockopt .*level=SOL_SOCKET .*option=SO_REUSEADDR'
check "also those of other levels" has out 'net.setsockopt .*level=IPPROTO_TCP .*option=TCP_NODELAY'
finish
