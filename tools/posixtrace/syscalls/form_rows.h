/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * form_rows.h - the system calls that become events of the preload library's types, one row each.
 * The rows "send" and "recv" also serve the calls sendto() and recvfrom() without an address.
 *
 * 	ROW(call, type, parts, fields)
 *
 * The column "parts" lists the parts of memory that are copied, at most 3. sN is the text to which
 * argument N points, and bN,L are L bytes to which it points. bN:M,L are as many bytes as argument
 * M says, at most L. bN:r,L are as many bytes as the result says, at most L. dN:M and dN:r are the
 * bytes that --data requests.
 *
 * The column "fields" says from where each field of the schema comes. The fields "time" and "error"
 * need no source. Fields that the column does not name are 0 or empty.
 *
 * 	3       argument 3                      r       the result; -1 after an error
 * 	#-100   a number                        p       the process
 * 	c3      argument 3, if the flags in argument 2 create a file
 * 	C1:8    the number of 8 bytes at byte 8 of part 1, if the flags at byte 0 create a file
 * 	m3      argument 3 in milliseconds, as nanoseconds; -1 if it is negative
 * 	T0, V0  part 0 as struct timespec or timeval in nanoseconds; -1 without the part
 * 	i0:4    the number of 4 bytes at byte 4 of part 0; q0:8 the same with 8 bytes
 * 	F0      the descriptor of the first struct pollfd, which is in part 0; -1 without the part,
 * 	        and if argument 1 is 0
 * 	@0      the text in part 0              $0      the text of known length in part 0
 * 	a0      the socket address in part 0    d0      the bytes of part 0
 * 	n       the name of the call            o       the socket option in arguments 1 and 2
 * 	f       the flags of fcntl()            L0      the type of the lock that fcntl() has set or
 * 	                                        removed; struct flock begins in part 0
 * 	k0      1 if part 0 is there and a child was waited for
 *
 * A ! at the end of a call's name means that the call has other arguments in 32-bit programs. There
 * the call becomes sys.NAME.
 */
#define FORM_ROWS(ROW) \
	ROW("open", "io.open", "s0", "fd=r folder=#-100 flags=1 mode=c2 path=@0") \
	ROW("openat", "io.open", "s1", "fd=r folder=0 flags=2 mode=c3 path=@0") \
	ROW("openat2", "io.open", "s1 b2,16", "fd=r folder=0 flags=q1:0 mode=C1:8 path=@0") \
	ROW("creat", "io.open", "s0", "fd=r folder=#-100 flags=#0x241 mode=1 path=@0") \
	ROW("close", "io.close", "", "fd=0") \
	ROW("read", "io.read", "d1:r", "fd=0 size=2 result=r data=d0") \
	ROW("write", "io.write", "d1:r", "fd=0 size=2 result=r data=d0") \
	ROW("pread64!", "io.pread", "d1:r", "fd=0 size=2 result=r offset=3 data=d0") \
	ROW("pwrite64!", "io.pwrite", "d1:r", "fd=0 size=2 result=r offset=3 data=d0") \
	ROW("readv", "io.readv", "", "fd=0 parts=2 result=r") \
	ROW("writev", "io.writev", "", "fd=0 parts=2 result=r") \
	ROW("preadv!", "io.preadv", "", "fd=0 parts=2 result=r offset=3") \
	ROW("pwritev!", "io.pwritev", "", "fd=0 parts=2 result=r offset=3") \
	ROW("preadv2!", "io.preadv", "", "fd=0 parts=2 result=r offset=3") \
	ROW("pwritev2!", "io.pwritev", "", "fd=0 parts=2 result=r offset=3") \
	ROW("sendfile", "io.sendfile", "", "fd=0 size=3 result=r from=1") \
	ROW("sendfile64", "io.sendfile", "", "fd=0 size=3 result=r from=1") \
	ROW("fsync", "io.fsync", "", "fd=0") \
	ROW("fdatasync", "io.fdatasync", "", "fd=0") \
	ROW("dup", "io.dup", "", "fd=0 copy=r") \
	ROW("dup2", "io.dup", "", "fd=0 copy=1") \
	ROW("dup3", "io.dup", "", "fd=0 copy=1 flags=2") \
	ROW("pipe", "io.pipe", "b0,8", "fd=i0:0 write=i0:4") \
	ROW("pipe2", "io.pipe", "b0,8", "fd=i0:0 write=i0:4 flags=1") \
	ROW("fcntl", "io.fcntl", "b2,2", "fd=0 command=1 result=r lock=L0 flags=f value=2") \
	ROW("fcntl64", "io.fcntl", "b2,2", "fd=0 command=1 result=r lock=L0 flags=f value=2") \
	ROW("ioctl", "io.ioctl", "", "fd=0 result=r request=1 value=2") \
	ROW("flock", "io.flock", "", "fd=0 operation=1") \
	ROW("splice", "io.splice", "", "fd=0 to=2 flags=5 size=4 result=r") \
	ROW("copy_file_range", "io.copy_file_range", "", "fd=0 to=2 size=4 result=r") \
	ROW("memfd_create", "io.memfd_create", "s0", "fd=r flags=1 name=@0") \
	ROW("eventfd", "io.eventfd", "", "fd=r value=0") \
	ROW("eventfd2", "io.eventfd", "", "fd=r value=0 flags=1") \
	ROW("timerfd_create", "io.timerfd_create", "", "fd=r clock=0 flags=1") \
	ROW("timerfd_settime", "io.timerfd_settime", "", "fd=0 flags=1") \
	ROW("timerfd_gettime", "io.timerfd_gettime", "", "fd=0") \
	ROW("signalfd", "io.signalfd", "", "fd=r old=0") \
	ROW("signalfd4", "io.signalfd", "", "fd=r old=0 flags=3") \
	ROW("lseek", "io.lseek", "", "fd=0 whence=2 offset=1 result=r") \
	ROW("close_range", "io.close_range", "", "first=0 last=1 flags=2") \
	ROW("fallocate!", "io.fallocate", "", "fd=0 mode=1 offset=2 length=3") \
	ROW("fadvise64!", "io.fadvise", "", "fd=0 advice=3 offset=1 length=2") \
	ROW("sync", "io.sync", "", "fd=#-1") \
	ROW("syncfs", "io.sync", "", "fd=0") \
	ROW("sync_file_range!", "io.sync", "", "fd=0 flags=3 offset=1 length=2") \
	ROW("io_uring_setup", "io.uring_init", "b1,16", "fd=r entries=0 flags=i0:8") \
	ROW("stat", "file.stat", "s0", "folder=#-100 path=@0") \
	ROW("stat64", "file.stat", "s0", "folder=#-100 path=@0") \
	ROW("lstat", "file.stat", "s0", "folder=#-100 flags=#0x100 path=@0") \
	ROW("lstat64", "file.stat", "s0", "folder=#-100 flags=#0x100 path=@0") \
	ROW("newfstatat", "file.stat", "s1", "folder=0 flags=3 path=@0") \
	ROW("fstatat64", "file.stat", "s1", "folder=0 flags=3 path=@0") \
	ROW("statx", "file.stat", "s1", "folder=0 flags=2 path=@0") \
	ROW("fstat", "file.fstat", "", "fd=0") \
	ROW("fstat64", "file.fstat", "", "fd=0") \
	ROW("access", "file.access", "s0", "folder=#-100 mode=1 path=@0") \
	ROW("faccessat", "file.access", "s1", "folder=0 mode=2 path=@0") \
	ROW("faccessat2", "file.access", "s1", "folder=0 mode=2 flags=3 path=@0") \
	ROW("unlink", "file.unlink", "s0", "folder=#-100 path=@0") \
	ROW("unlinkat", "file.unlink", "s1", "folder=0 flags=2 path=@0") \
	ROW("rmdir", "file.unlink", "s0", "folder=#-100 flags=#0x200 path=@0") \
	ROW("rename", "file.rename", "s0 s1", "folder=#-100 to_folder=#-100 path=@0 to=@1") \
	ROW("renameat", "file.rename", "s1 s3", "folder=0 to_folder=2 path=@0 to=@1") \
	ROW("renameat2", "file.rename", "s1 s3", "folder=0 to_folder=2 flags=4 path=@0 to=@1") \
	ROW("link", "file.link", "s0 s1", "folder=#-100 to_folder=#-100 path=@0 to=@1") \
	ROW("linkat", "file.link", "s1 s3", "folder=0 to_folder=2 flags=4 path=@0 to=@1") \
	ROW("symlink", "file.symlink", "s0 s1", "folder=#-100 path=@1 to=@0") \
	ROW("symlinkat", "file.symlink", "s0 s2", "folder=1 path=@1 to=@0") \
	ROW("readlink", "file.readlink", "s0 b1:r,479", "folder=#-100 path=@0 to=$1") \
	ROW("readlinkat", "file.readlink", "s1 b2:r,479", "folder=0 path=@0 to=$1") \
	ROW("mkdir", "file.mkdir", "s0", "folder=#-100 mode=1 path=@0") \
	ROW("mkdirat", "file.mkdir", "s1", "folder=0 mode=2 path=@0") \
	ROW("mknod", "file.mknod", "s0", "folder=#-100 mode=1 path=@0") \
	ROW("mknodat", "file.mknod", "s1", "folder=0 mode=2 path=@0") \
	ROW("chdir", "file.chdir", "s0", "fd=#-1 path=@0") \
	ROW("fchdir", "file.chdir", "", "fd=0") \
	ROW("getcwd", "file.getcwd", "b0:r,479", "path=$0") \
	ROW("chmod", "file.chmod", "s0", "folder=#-100 mode=1 path=@0") \
	ROW("fchmod", "file.chmod", "", "folder=0 mode=1 flags=#0x1000") \
	ROW("fchmodat", "file.chmod", "s1", "folder=0 mode=2 path=@0") \
	ROW("fchmodat2", "file.chmod", "s1", "folder=0 mode=2 flags=3 path=@0") \
	ROW("chown", "file.chown", "s0", "folder=#-100 user=1 group=2 path=@0") \
	ROW("lchown", "file.chown", "s0", "folder=#-100 user=1 group=2 flags=#0x100 path=@0") \
	ROW("fchown", "file.chown", "", "folder=0 user=1 group=2 flags=#0x1000") \
	ROW("fchownat", "file.chown", "s1", "folder=0 user=2 group=3 flags=4 path=@0") \
	ROW("truncate", "file.truncate", "s0", "fd=#-1 length=1 path=@0") \
	ROW("ftruncate", "file.truncate", "", "fd=0 length=1") \
	ROW("utime", "file.utimes", "s0", "folder=#-100 path=@0") \
	ROW("utimes", "file.utimes", "s0", "folder=#-100 path=@0") \
	ROW("futimesat", "file.utimes", "s1", "folder=0 path=@0") \
	ROW("utimensat", "file.utimes", "s1", "folder=0 flags=3 path=@0") \
	ROW("statfs", "file.statfs", "s0", "fd=#-1 path=@0") \
	ROW("fstatfs", "file.statfs", "", "fd=0") \
	ROW("mount", "file.mount", "s1 s0", "flags=3 path=@0 source=@1") \
	ROW("umount2", "file.umount", "s0", "flags=1 path=@0") \
	ROW("inotify_init", "file.inotify_init", "", "fd=r") \
	ROW("inotify_init1", "file.inotify_init", "", "fd=r flags=0") \
	ROW("inotify_add_watch", "file.inotify_add_watch", "s1", "fd=0 watch=r mask=2 path=@0") \
	ROW("inotify_rm_watch", "file.inotify_rm_watch", "", "fd=0 watch=1") \
	ROW("fanotify_init", "file.fanotify_init", "", "fd=r flags=0 event_flags=1") \
	ROW("fanotify_mark!", "file.fanotify_mark", "s4", "fd=0 flags=1 folder=3 mask=2 path=@0") \
	ROW("getdents", "file.getdents", "", "fd=0 size=2 result=r") \
	ROW("getdents64", "file.getdents", "", "fd=0 size=2 result=r") \
	ROW("chroot", "file.chroot", "s0", "path=@0") \
	ROW("pivot_root", "file.pivot_root", "s0 s1", "path=@0 to=@1") \
	ROW("getxattr", "file.getxattr", "s0 s1", "fd=#-1 size=3 result=r path=@0 name=@1") \
	ROW("lgetxattr", "file.getxattr", "s0 s1", \
	    "fd=#-1 flags=#0x100 size=3 result=r path=@0 name=@1") \
	ROW("fgetxattr", "file.getxattr", "s1", "fd=0 size=3 result=r name=@0") \
	ROW("setxattr", "file.setxattr", "s0 s1", "fd=#-1 how=4 size=3 path=@0 name=@1") \
	ROW("lsetxattr", "file.setxattr", "s0 s1", \
	    "fd=#-1 flags=#0x100 how=4 size=3 path=@0 name=@1") \
	ROW("fsetxattr", "file.setxattr", "s1", "fd=0 how=4 size=3 name=@0") \
	ROW("listxattr", "file.listxattr", "s0", "fd=#-1 size=2 result=r path=@0") \
	ROW("llistxattr", "file.listxattr", "s0", "fd=#-1 flags=#0x100 size=2 result=r path=@0") \
	ROW("flistxattr", "file.listxattr", "", "fd=0 size=2 result=r") \
	ROW("removexattr", "file.removexattr", "s0 s1", "fd=#-1 path=@0 name=@1") \
	ROW("lremovexattr", "file.removexattr", "s0 s1", "fd=#-1 flags=#0x100 path=@0 name=@1") \
	ROW("fremovexattr", "file.removexattr", "s1", "fd=0 name=@0") \
	ROW("name_to_handle_at", "file.name_to_handle_at", "s1", "folder=0 flags=4 path=@0") \
	ROW("socket", "net.socket", "", "fd=r domain=0 type=1 protocol=2 other=#-1") \
	ROW("socketpair", "net.socket", "b3,8", "fd=i0:0 domain=0 type=1 protocol=2 other=i0:4") \
	ROW("connect", "net.connect", "b1:2,110", "fd=0 address=a0") \
	ROW("bind", "net.bind", "b1:2,110", "fd=0 address=a0") \
	ROW("listen", "net.listen", "", "fd=0 backlog=1") \
	ROW("accept", "net.accept", "b1,28", "fd=0 accepted=r address=a0") \
	ROW("accept4", "net.accept", "b1,28", "fd=0 accepted=r flags=3 address=a0") \
	ROW("shutdown", "net.shutdown", "", "fd=0 how=1") \
	ROW("send", "net.send", "d1:r", "fd=0 size=2 result=r flags=3 data=d0") \
	ROW("recv", "net.recv", "d1:r", "fd=0 size=2 result=r flags=3 data=d0") \
	ROW("sendto", "net.sendto", "d1:r b4:5,110", \
	    "fd=0 size=2 result=r flags=3 address=a1 data=d0") \
	ROW("recvfrom", "net.recvfrom", "d1:r b4,28", \
	    "fd=0 size=2 result=r flags=3 address=a1 data=d0") \
	ROW("sendmsg", "net.sendmsg", "", "fd=0 messages=#1 result=r flags=2") \
	ROW("sendmmsg", "net.sendmsg", "", "fd=0 messages=2 result=r flags=3") \
	ROW("recvmsg", "net.recvmsg", "", "fd=0 messages=#1 result=r flags=2") \
	ROW("recvmmsg", "net.recvmsg", "", "fd=0 messages=2 result=r flags=3") \
	ROW("poll", "net.poll", "b0,8", "timeout=m2 fds=1 result=r fd=F0") \
	ROW("ppoll!", "net.poll", "b2,16 b0,8", "timeout=T0 fds=1 result=r fd=F1") \
	ROW("select!", "net.select", "b4,16", "timeout=V0 fds=0 result=r") \
	ROW("pselect6!", "net.select", "b4,16", "timeout=T0 fds=0 result=r") \
	ROW("epoll_wait", "net.epoll", "", "timeout=m3 fd=0 result=r") \
	ROW("epoll_pwait", "net.epoll", "", "timeout=m3 fd=0 result=r") \
	ROW("epoll_pwait2", "net.epoll", "b3,16", "timeout=T0 fd=0 result=r") \
	ROW("epoll_create", "net.epoll_create", "", "fd=r") \
	ROW("epoll_create1", "net.epoll_create", "", "fd=r flags=0") \
	ROW("epoll_ctl", "net.epoll_ctl", "b3,4", "epoll=0 operation=1 fd=2 events=i0:0") \
	ROW("setsockopt", "net.setsockopt", "b3:4,4", "fd=0 level=1 bytes=4 option=o value=i0:0") \
	ROW("getsockopt", "net.getsockopt", "b3,4", "fd=0 level=1 bytes=#4 option=o value=i0:0") \
	ROW("getsockname", "net.getsockname", "b1,28", "fd=0 address=a0") \
	ROW("getpeername", "net.getpeername", "b1,28", "fd=0 address=a0") \
	ROW("nanosleep!", "time.sleep", "b0,16", "asked=T0 by=n") \
	ROW("clock_nanosleep!", "time.sleep", "b2,16", "asked=T0 by=n") \
	ROW("mmap!", "alloc.mmap", "", "size=1 protection=2 flags=3 fd=4 offset=5 result=r") \
	ROW("mremap", "alloc.mremap", "", "old=0 old_size=1 size=2 flags=3 result=r") \
	ROW("munmap", "alloc.munmap", "", "old=0 size=1") \
	ROW("mprotect", "alloc.mprotect", "", "protection=2 address=0 size=1") \
	ROW("madvise", "alloc.madvise", "", "advice=2 address=0 size=1") \
	ROW("msync", "alloc.msync", "", "flags=2 address=0 size=1") \
	ROW("mlock", "alloc.mlock", "", "lock=#1 address=0 size=1") \
	ROW("mlock2", "alloc.mlock", "", "lock=#1 flags=2 address=0 size=1") \
	ROW("munlock", "alloc.mlock", "", "address=0 size=1") \
	ROW("fork", "process.fork", "", "child=r") \
	ROW("clone", "process.fork", "", "child=r flags=0") \
	ROW("clone3", "process.fork", "b0,8", "child=r flags=q0:0") \
	ROW("vfork", "process.vfork", "", "child=r") \
	ROW("execve", "process.exec", "s0", "pid=p fd=#-1 path=@0") \
	ROW("execveat", "process.exec", "s1", "pid=p fd=0 path=@0") \
	ROW("exit_group", "process.exit", "", "pid=p status=0 by=n") \
	ROW("wait4", "process.wait", "b1,4", \
	    "child=r which=0 options=2 status=i0:0 known=k0") \
	ROW("kill", "process.kill", "", "pid=0 signal=1") \
	ROW("prctl", "process.prctl", "", "option=0 result=r value=1") \
	ROW("ptrace", "process.ptrace", "", "request=0 pid=1 address=2 data=3 result=r") \
	ROW("pidfd_open", "process.pidfd_open", "", "fd=r pid=0 flags=1") \
	ROW("pidfd_getfd", "process.pidfd_getfd", "", "fd=r process=0 of=1") \
	ROW("pidfd_send_signal", "process.pidfd_send_signal", "", "fd=0 signal=1")
