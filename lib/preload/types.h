/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/types.h - the event types of the shim, one line each. No other file lists them.
 *
 * 	X(TYPE, FAMILY, "name", "schema")
 *
 * A schema names the fields of the data in their order, without gaps. "ns time", which is always
 * the first field, is the duration of the call; the event's own time is that of its return.
 * "error" is errno if the call failed, else 0; ECANCELED means that the thread was cancelled in
 * the call.
 */
#ifndef PTX_PRELOAD_TYPES_H
#define PTX_PRELOAD_TYPES_H

/*
 * Names of values that several types have. Those of <fcntl.h> depend on the processor. A schema has
 * at most 1023 bytes and each log has those of all chosen types, so rare values have no names: they
 * are shown as numbers.
 */
#if defined __aarch64__
#define SHIM_OPEN_BY_PROCESSOR \
	"0x404000=O_TMPFILE,0x4000=O_DIRECTORY,0x8000=O_NOFOLLOW,0x10000=O_DIRECT"
#else
#define SHIM_OPEN_BY_PROCESSOR \
	"0x410000=O_TMPFILE,0x10000=O_DIRECTORY,0x20000=O_NOFOLLOW,0x4000=O_DIRECT"
#endif
#define SHIM_OPEN_FLAGS \
	"{|3:0=O_RDONLY,3:1=O_WRONLY,3:2=O_RDWR,0x40=O_CREAT,0x80=O_EXCL,0x100=O_NOCTTY," \
	"0x200=O_TRUNC,0x400=O_APPEND,0x800=O_NONBLOCK,0x101000=O_SYNC,0x1000=O_DSYNC," \
	"0x2000=O_ASYNC," SHIM_OPEN_BY_PROCESSOR ",0x40000=O_NOATIME,0x80000=O_CLOEXEC," \
	"0x200000=O_PATH}"
/* The flags of descriptors that are made without a file: those of open(), if any. */
#define SHIM_FD_FLAGS "{|0=0,0x800=NONBLOCK,0x80000=CLOEXEC}"
/* Flags of the functions whose names end in "at". 0x200 has several meanings and is not here. */
#define SHIM_AT_FLAGS \
	"{|0=0,0x100=AT_SYMLINK_NOFOLLOW,0x400=AT_SYMLINK_FOLLOW,0x800=AT_NO_AUTOMOUNT," \
	"0x1000=AT_EMPTY_PATH,0x2000=AT_STATX_FORCE_SYNC,0x4000=AT_STATX_DONT_SYNC}"
/* The descriptor of the folder that a relative path begins at. */
#define SHIM_FOLDER "fd folder{-100=AT_FDCWD}"
/* The families of addresses that programs commonly use. Others are shown as numbers. */
#define SHIM_DOMAIN \
	"{0=AF_UNSPEC,1=AF_UNIX,2=AF_INET,10=AF_INET6,16=AF_NETLINK,17=AF_PACKET,38=AF_ALG," \
	"40=AF_VSOCK}"
/* The type of a socket is in the lowest bits, and flags of its descriptor are above. */
#define SHIM_SOCKET_TYPE \
	"{|15:1=SOCK_STREAM,15:2=SOCK_DGRAM,15:3=SOCK_RAW,15:5=SOCK_SEQPACKET," \
	"0x800=SOCK_NONBLOCK,0x80000=SOCK_CLOEXEC}"
/* How memory may be used, for mmap(2) and mprotect(2). */
#define SHIM_PROTECTION "{|0=PROT_NONE,1=PROT_READ,2=PROT_WRITE,4=PROT_EXEC}"
#define SHIM_MAP_FLAGS \
	"{|15:1=MAP_SHARED,15:2=MAP_PRIVATE,15:3=MAP_SHARED_VALIDATE,0x10=MAP_FIXED," \
	"0x20=MAP_ANONYMOUS,0x100=MAP_GROWSDOWN,0x2000=MAP_LOCKED,0x4000=MAP_NORESERVE," \
	"0x8000=MAP_POPULATE,0x10000=MAP_NONBLOCK,0x20000=MAP_STACK,0x40000=MAP_HUGETLB," \
	"0x100000=MAP_FIXED_NOREPLACE}"

#define SHIM_TYPES_SHIM(X) \
	X(SHIM_LOST, SHIM, "posixtrace_shim_lost", \
	  "u64 early; u64 unnamed; u64 holds; u64 early_alloc; @level 3") \
	X(SHIM_PATCHED, SHIM, "posixtrace_shim_patched", "u32 patched; u32 refused; str why")

/*
 * The events of functions that return memory follow the call. That of free() precedes it, because
 * another thread may get the same address at once.
 */
#define SHIM_TYPES_ALLOC(X) \
	X(ALLOC_MALLOC, ALLOC, "alloc.malloc", "u64 size; ptr result") \
	X(ALLOC_CALLOC, ALLOC, "alloc.calloc", "u64 count; u64 size; ptr result") \
	X(ALLOC_REALLOC, ALLOC, "alloc.realloc", "ptr old; u64 size; ptr result") \
	X(ALLOC_ALIGNED, ALLOC, "alloc.aligned", "u64 alignment; u64 size; ptr result") \
	X(ALLOC_FREE, ALLOC, "alloc.free", "ptr old") \
	X(ALLOC_MMAP, ALLOC, "alloc.mmap", \
	  "ns time; u64 size; x32 protection" SHIM_PROTECTION "; x32 flags" SHIM_MAP_FLAGS \
	  "; fd fd; errno error; s64 offset; ptr result") \
	X(ALLOC_MREMAP, ALLOC, "alloc.mremap", \
	  "ns time; ptr old; u64 old_size; u64 size; x32 flags; errno error; ptr result") \
	X(ALLOC_MUNMAP, ALLOC, "alloc.munmap", "ns time; ptr old; u64 size; errno error") \
	X(ALLOC_MPROTECT, ALLOC, "alloc.mprotect", \
	  "ns time; errno error; x32 protection" SHIM_PROTECTION "; ptr address; u64 size") \
	X(ALLOC_MADVISE, ALLOC, "alloc.madvise", \
	  "ns time; errno error; s32 advice{0=MADV_NORMAL,1=MADV_RANDOM,2=MADV_SEQUENTIAL," \
	  "3=MADV_WILLNEED,4=MADV_DONTNEED,8=MADV_FREE,9=MADV_REMOVE,10=MADV_DONTFORK," \
	  "11=MADV_DOFORK,12=MADV_MERGEABLE,14=MADV_HUGEPAGE,15=MADV_NOHUGEPAGE," \
	  "16=MADV_DONTDUMP,17=MADV_DODUMP,18=MADV_WIPEONFORK}; ptr address; u64 size")

#define SHIM_TYPES_IO(X) \
	X(IO_OPEN, IO, "io.open", \
	  "ns time; fd fd; errno error; " SHIM_FOLDER "; x32 flags" SHIM_OPEN_FLAGS \
	  "; o32 mode; str path") \
	X(IO_CLOSE, IO, "io.close", "ns time; fd fd; errno error") \
	X(IO_READ, IO, "io.read", "ns time; fd fd; errno error; u64 size; s64 result") \
	X(IO_WRITE, IO, "io.write", "ns time; fd fd; errno error; u64 size; s64 result") \
	X(IO_PREAD, IO, "io.pread", \
	  "ns time; fd fd; errno error; u64 size; s64 result; s64 offset") \
	X(IO_PWRITE, IO, "io.pwrite", \
	  "ns time; fd fd; errno error; u64 size; s64 result; s64 offset") \
	X(IO_READV, IO, "io.readv", "ns time; fd fd; errno error; u64 parts; s64 result") \
	X(IO_WRITEV, IO, "io.writev", "ns time; fd fd; errno error; u64 parts; s64 result") \
	X(IO_PREADV, IO, "io.preadv", \
	  "ns time; fd fd; errno error; u64 parts; s64 result; s64 offset") \
	X(IO_PWRITEV, IO, "io.pwritev", \
	  "ns time; fd fd; errno error; u64 parts; s64 result; s64 offset") \
	X(IO_SENDFILE, IO, "io.sendfile", \
	  "ns time; fd fd; errno error; u64 size; s64 result; s64 from") \
	X(IO_FSYNC, IO, "io.fsync", "ns time; fd fd; errno error") \
	X(IO_FDATASYNC, IO, "io.fdatasync", "ns time; fd fd; errno error") \
	X(IO_FOPEN, IO, "io.fopen", \
	  "ns time; fd fd; errno error; ptr file; str mode; str path") \
	X(IO_FCLOSE, IO, "io.fclose", "ns time; fd fd; errno error; ptr file") \
	X(IO_DUP, IO, "io.dup", "ns time; errno error; fd fd; fd copy; x32 flags" SHIM_FD_FLAGS) \
	X(IO_PIPE, IO, "io.pipe", \
	  "ns time; errno error; fd fd; fd write; x32 flags" SHIM_OPEN_FLAGS) \
	X(IO_FCNTL, IO, "io.fcntl", \
	  "ns time; errno error; fd fd; s32 command{0=F_DUPFD,1=F_GETFD,2=F_SETFD,3=F_GETFL," \
	  "4=F_SETFL,5=F_GETLK,6=F_SETLK,7=F_SETLKW,8=F_SETOWN,9=F_GETOWN,10=F_SETSIG," \
	  "11=F_GETSIG,36=F_OFD_GETLK,37=F_OFD_SETLK,38=F_OFD_SETLKW,1024=F_SETLEASE," \
	  "1025=F_GETLEASE,1026=F_NOTIFY,1030=F_DUPFD_CLOEXEC,1031=F_SETPIPE_SZ," \
	  "1032=F_GETPIPE_SZ,1033=F_ADD_SEALS,1034=F_GET_SEALS}; s32 result; s64 value") \
	X(IO_IOCTL, IO, "io.ioctl", \
	  "ns time; errno error; fd fd; s32 result; x64 request{0x5401=TCGETS,0x5402=TCSETS," \
	  "0x5403=TCSETSW,0x5404=TCSETSF,0x540f=TIOCGPGRP,0x5410=TIOCSPGRP,0x5413=TIOCGWINSZ," \
	  "0x5414=TIOCSWINSZ,0x541b=FIONREAD,0x5421=FIONBIO,0x5450=FIONCLEX,0x5451=FIOCLEX," \
	  "0x40049409=FICLONE}; x64 value") \
	X(IO_FLOCK, IO, "io.flock", \
	  "ns time; errno error; fd fd; x32 operation{|1=LOCK_SH,2=LOCK_EX,8=LOCK_UN,4=LOCK_NB}") \
	X(IO_SPLICE, IO, "io.splice", \
	  "ns time; errno error; fd fd; fd to; x32 flags{|0=0,1=SPLICE_F_MOVE," \
	  "2=SPLICE_F_NONBLOCK,4=SPLICE_F_MORE,8=SPLICE_F_GIFT}; u64 size; s64 result") \
	X(IO_COPY, IO, "io.copy_file_range", \
	  "ns time; errno error; fd fd; fd to; u64 size; s64 result") \
	X(IO_MEMFD, IO, "io.memfd_create", \
	  "ns time; errno error; fd fd; x32 flags{|0=0,1=MFD_CLOEXEC,2=MFD_ALLOW_SEALING," \
	  "4=MFD_HUGETLB}; str name") \
	X(IO_EVENTFD, IO, "io.eventfd", \
	  "ns time; errno error; fd fd; u32 value; x32 flags{|0=0,1=EFD_SEMAPHORE," \
	  "0x800=EFD_NONBLOCK,0x80000=EFD_CLOEXEC}") \
	X(IO_TIMERFD, IO, "io.timerfd_create", \
	  "ns time; errno error; fd fd; s32 clock{0=CLOCK_REALTIME,1=CLOCK_MONOTONIC," \
	  "7=CLOCK_BOOTTIME}; x32 flags" SHIM_FD_FLAGS) \
	X(IO_TIMERSET, IO, "io.timerfd_settime", "ns time; errno error; fd fd; x32 flags") \
	X(IO_SIGNALFD, IO, "io.signalfd", "ns time; errno error; fd fd; fd old; x32 flags" \
	  SHIM_FD_FLAGS)

/* Files by name. folder is the descriptor that a relative path begins at. */
#define SHIM_TYPES_FILE(X) \
	X(FILE_STAT, FILE, "file.stat", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags" SHIM_AT_FLAGS "; str path") \
	X(FILE_FSTAT, FILE, "file.fstat", "ns time; errno error; fd fd") \
	X(FILE_ACCESS, FILE, "file.access", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 mode{|0=F_OK,4=R_OK,2=W_OK,1=X_OK}; " \
	  "x32 flags{|0=0,0x100=AT_SYMLINK_NOFOLLOW,0x200=AT_EACCESS}; str path") \
	X(FILE_UNLINK, FILE, "file.unlink", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags{|0=0,0x200=AT_REMOVEDIR}; str path") \
	X(FILE_RENAME, FILE, "file.rename", \
	  "ns time; errno error; " SHIM_FOLDER "; fd to_folder{-100=AT_FDCWD}; " \
	  "x32 flags{|0=0,1=RENAME_NOREPLACE,2=RENAME_EXCHANGE,4=RENAME_WHITEOUT}; " \
	  "str path; str to") \
	X(FILE_LINK, FILE, "file.link", \
	  "ns time; errno error; " SHIM_FOLDER "; fd to_folder{-100=AT_FDCWD}; " \
	  "x32 flags" SHIM_AT_FLAGS "; str path; str to") \
	X(FILE_SYMLINK, FILE, "file.symlink", \
	  "ns time; errno error; " SHIM_FOLDER "; str path; str to") \
	X(FILE_READLINK, FILE, "file.readlink", \
	  "ns time; errno error; " SHIM_FOLDER "; str path; str to") \
	X(FILE_MKDIR, FILE, "file.mkdir", \
	  "ns time; errno error; " SHIM_FOLDER "; o32 mode; str path") \
	X(FILE_MKNOD, FILE, "file.mknod", \
	  "ns time; errno error; " SHIM_FOLDER "; o32 mode{|0170000:0010000=S_IFIFO," \
	  "0170000:0020000=S_IFCHR,0170000:0060000=S_IFBLK,0170000:0100000=S_IFREG," \
	  "0170000:0140000=S_IFSOCK}; str path") \
	X(FILE_OPENDIR, FILE, "file.opendir", "ns time; errno error; fd fd; str path") \
	X(FILE_READDIR, FILE, "file.readdir", "ns time; errno error; fd fd; str name") \
	X(FILE_CLOSEDIR, FILE, "file.closedir", "ns time; errno error; fd fd") \
	X(FILE_CHDIR, FILE, "file.chdir", "ns time; errno error; fd fd; str path") \
	X(FILE_GETCWD, FILE, "file.getcwd", "ns time; errno error; str path") \
	X(FILE_CHMOD, FILE, "file.chmod", \
	  "ns time; errno error; " SHIM_FOLDER "; o32 mode; x32 flags" SHIM_AT_FLAGS "; str path") \
	X(FILE_CHOWN, FILE, "file.chown", \
	  "ns time; errno error; " SHIM_FOLDER "; s32 user; s32 group; x32 flags" SHIM_AT_FLAGS \
	  "; str path") \
	X(FILE_TRUNCATE, FILE, "file.truncate", \
	  "ns time; errno error; fd fd; s64 length; str path") \
	X(FILE_UTIMES, FILE, "file.utimes", \
	  "ns time; errno error; " SHIM_FOLDER "; x32 flags" SHIM_AT_FLAGS "; str path") \
	X(FILE_STATFS, FILE, "file.statfs", "ns time; errno error; fd fd; str path") \
	X(FILE_MOUNT, FILE, "file.mount", "ns time; errno error; x64 flags; str path; str source") \
	X(FILE_UMOUNT, FILE, "file.umount", "ns time; errno error; x32 flags; str path") \
	X(FILE_REALPATH, FILE, "file.realpath", "ns time; errno error; str path; str to") \
	X(FILE_MKSTEMP, FILE, "file.mkstemp", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_OPEN_FLAGS "; str path") \
	X(FILE_MKDTEMP, FILE, "file.mkdtemp", "ns time; errno error; str path") \
	X(FILE_GLOB, FILE, "file.glob", \
	  "ns time; errno error; s32 result{0=found,1=GLOB_NOSPACE,2=GLOB_ABORTED," \
	  "3=GLOB_NOMATCH}; x32 flags; str path") \
	X(FILE_INOTIFY, FILE, "file.inotify_init", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_FD_FLAGS) \
	X(FILE_WATCH, FILE, "file.inotify_add_watch", \
	  "ns time; errno error; fd fd; s32 watch; x32 mask; str path") \
	X(FILE_UNWATCH, FILE, "file.inotify_rm_watch", "ns time; errno error; fd fd; s32 watch")

#define SHIM_TYPES_STDIO(X) \
	X(STDIO_FREAD, STDIO, "stdio.fread", \
	  "ns time; ptr file; u64 size; u64 items; u64 result") \
	X(STDIO_FWRITE, STDIO, "stdio.fwrite", \
	  "ns time; ptr file; u64 size; u64 items; u64 result")

#define SHIM_TYPES_NET(X) \
	X(NET_SOCKET, NET, "net.socket", \
	  "fd fd; errno error; s32 domain" SHIM_DOMAIN "; x32 type" SHIM_SOCKET_TYPE \
	  "; s32 protocol; fd other") \
	X(NET_CONNECT, NET, "net.connect", "ns time; fd fd; errno error; str address") \
	X(NET_BIND, NET, "net.bind", "ns time; fd fd; errno error; str address") \
	X(NET_LISTEN, NET, "net.listen", "fd fd; errno error; s32 backlog") \
	X(NET_ACCEPT, NET, "net.accept", \
	  "ns time; fd fd; errno error; fd accepted; str address") \
	X(NET_SHUTDOWN, NET, "net.shutdown", \
	  "fd fd; errno error; s32 how{0=SHUT_RD,1=SHUT_WR,2=SHUT_RDWR}") \
	X(NET_SEND, NET, "net.send", "ns time; fd fd; errno error; u64 size; s64 result") \
	X(NET_RECV, NET, "net.recv", "ns time; fd fd; errno error; u64 size; s64 result") \
	X(NET_SENDTO, NET, "net.sendto", \
	  "ns time; fd fd; errno error; u64 size; s64 result; str address") \
	X(NET_RECVFROM, NET, "net.recvfrom", \
	  "ns time; fd fd; errno error; u64 size; s64 result; str address") \
	X(NET_SENDMSG, NET, "net.sendmsg", \
	  "ns time; fd fd; errno error; u64 messages; s64 result") \
	X(NET_RECVMSG, NET, "net.recvmsg", \
	  "ns time; fd fd; errno error; u64 messages; s64 result") \
	X(NET_POLL, NET, "net.poll", "ns time; s64 timeout; u32 fds; s32 result; errno error") \
	X(NET_SELECT, NET, "net.select", "ns time; s64 timeout; s32 fds; s32 result; errno error") \
	X(NET_EPOLL, NET, "net.epoll", "ns time; s64 timeout; fd fd; s32 result; errno error") \
	X(NET_EPOLL_CREATE, NET, "net.epoll_create", \
	  "ns time; errno error; fd fd; x32 flags" SHIM_FD_FLAGS) \
	X(NET_EPOLL_CTL, NET, "net.epoll_ctl", \
	  "ns time; errno error; fd epoll; s32 operation{1=EPOLL_CTL_ADD,2=EPOLL_CTL_DEL," \
	  "3=EPOLL_CTL_MOD}; fd fd; x32 events{|0=0,1=EPOLLIN,2=EPOLLPRI,4=EPOLLOUT,8=EPOLLERR," \
	  "0x10=EPOLLHUP,0x2000=EPOLLRDHUP,0x10000000=EPOLLEXCLUSIVE,0x40000000=EPOLLONESHOT," \
	  "0x80000000=EPOLLET}") \
	X(NET_LOOKUP, NET, "net.getaddrinfo", \
	  "ns time; errno error; s32 result{0=found,-2=EAI_NONAME,-3=EAI_AGAIN,-4=EAI_FAIL," \
	  "-6=EAI_FAMILY,-7=EAI_SOCKTYPE,-8=EAI_SERVICE,-10=EAI_MEMORY,-11=EAI_SYSTEM}; " \
	  "str node; str service") \
	X(NET_NAME, NET, "net.getnameinfo", \
	  "ns time; errno error; s32 result; str node; str service")

#define SHIM_TYPES_TIME(X) \
	X(TIME_SLEEP, TIME, "time.sleep", "ns time; s64 asked; errno error; str by")

/* A call of dlopen() whose result cannot be seen has only the first of these events. */
#define SHIM_TYPES_DL(X) \
	X(DL_OPEN, DL, "dl.open", "x32 mode; str path") \
	X(DL_OPENED, DL, "dl.opened", "ns time; ptr handle; x32 mode; str path") \
	X(DL_CLOSE, DL, "dl.close", "ns time; ptr handle; s32 result")

#define SHIM_TYPES_SIGNAL(X) \
	X(SIGNAL_ENTER, SIGNAL, "signal.enter", \
	  "ptr handler; signal signal; s32 code; s32 sender; @begin signal") \
	X(SIGNAL_LEAVE, SIGNAL, "signal.leave", "signal signal; @end signal")

#define SHIM_TYPES_FUNC(X) \
	X(FUNC_ENTER, FUNC, "func.enter", "ptr function; @begin function") \
	X(FUNC_LEAVE, FUNC, "func.leave", "ptr function; @end function")

/* A thread waited for a lock that was in use. */
#define SHIM_TYPES_LOCK(X) \
	X(LOCK_MUTEX, LOCK, "lock.mutex", "ns time; ptr lock; errno error") \
	X(LOCK_RDLOCK, LOCK, "lock.rwlock_read", "ns time; ptr lock; errno error") \
	X(LOCK_WRLOCK, LOCK, "lock.rwlock_write", "ns time; ptr lock; errno error") \
	X(LOCK_SPIN, LOCK, "lock.spin", "ns time; ptr lock; errno error") \
	X(LOCK_SEM, LOCK, "lock.sem", "ns time; ptr lock; errno error") \
	X(LOCK_COND, LOCK, "lock.cond", "ns time; ptr lock; ptr mutex; errno error") \
	X(LOCK_BARRIER, LOCK, "lock.barrier", "ns time; ptr lock; errno error; s32 last")

/* A lock was released; the time is how long it was held. */
#define SHIM_TYPES_HOLD(X) \
	X(HOLD_MUTEX, HOLD, "lock.mutex_held", "ns time; ptr lock") \
	X(HOLD_RWLOCK, HOLD, "lock.rwlock_held", "ns time; ptr lock")

#define SHIM_TYPES_THREAD(X) \
	X(THREAD_CREATE, THREAD, "thread.create", \
	  "ns time; ptr thread; ptr function; errno error; s32 detached") \
	X(THREAD_BEGIN, THREAD, "thread.begin", "ptr function; ptr creator; @begin thread") \
	X(THREAD_END, THREAD, "thread.end", "ptr function; @end thread") \
	X(THREAD_EXIT, THREAD, "thread.exit", "ptr value") \
	X(THREAD_JOIN, THREAD, "thread.join", "ns time; ptr thread; errno error") \
	X(THREAD_DETACH, THREAD, "thread.detach", "ptr thread; errno error") \
	X(THREAD_NAME, THREAD, "thread.name", "ptr thread; errno error; str name")

#define SHIM_TYPES_PROCESS(X) \
	X(PROCESS_START, PROCESS, "process.start", "s32 pid; s32 parent; str program") \
	X(PROCESS_FORK, PROCESS, "process.fork", "ns time; s32 child; errno error") \
	X(PROCESS_CHILD, PROCESS, "process.child", "s32 pid; s32 parent") \
	X(PROCESS_VFORK, PROCESS, "process.vfork", "ns time; s32 child; errno error") \
	X(PROCESS_VCHILD, PROCESS, "process.vchild", "s32 pid; s32 parent") \
	X(PROCESS_SPAWN, PROCESS, "process.spawn", \
	  "ns time; s32 child; errno error; str path; str arguments") \
	X(PROCESS_EXEC, PROCESS, "process.exec", "s32 pid; s32 fd; str path; str arguments") \
	X(PROCESS_UNTRACED, PROCESS, "process.untraced", "s32 pid; str why; str program") \
	X(PROCESS_EXEC_FAILED, PROCESS, "process.exec_failed", "s32 pid; errno error") \
	X(PROCESS_WAIT, PROCESS, "process.wait", \
	  "ns time; s32 child; errno error; s32 which; x32 options{|0=0,1=WNOHANG," \
	  "2=WUNTRACED,4=WEXITED,8=WCONTINUED,0x1000000=WNOWAIT}; " \
	  "wait status; s32 known") \
	X(PROCESS_SYSTEM, PROCESS, "process.system", \
	  "ns time; wait status; errno error; str command") \
	X(PROCESS_POPEN, PROCESS, "process.popen", \
	  "ns time; ptr file; errno error; str mode; str command") \
	X(PROCESS_PCLOSE, PROCESS, "process.pclose", \
	  "ns time; ptr file; wait status; errno error") \
	X(PROCESS_EXIT, PROCESS, "process.exit", "s32 pid; s32 status; str by") \
	X(PROCESS_END, PROCESS, "process.end", "s32 pid") \
	X(PROCESS_SECCOMP, PROCESS, "process.seccomp", "s32 mode; x32 flags; errno error") \
	X(PROCESS_KILL, PROCESS, "process.kill", \
	  "ns time; errno error; s32 pid; signal signal") \
	X(PROCESS_LIMIT, PROCESS, "process.limit", \
	  "ns time; errno error; s32 pid; s32 resource{0=RLIMIT_CPU,1=RLIMIT_FSIZE,2=RLIMIT_DATA," \
	  "3=RLIMIT_STACK,4=RLIMIT_CORE,5=RLIMIT_RSS,6=RLIMIT_NPROC,7=RLIMIT_NOFILE," \
	  "8=RLIMIT_MEMLOCK,9=RLIMIT_AS,10=RLIMIT_LOCKS,11=RLIMIT_SIGPENDING," \
	  "12=RLIMIT_MSGQUEUE,13=RLIMIT_NICE,14=RLIMIT_RTPRIO,15=RLIMIT_RTTIME}; " \
	  "s32 set{0=get,1=set}; s64 limit; s64 maximum")

#define SHIM_TYPES(X) \
	SHIM_TYPES_SHIM(X) \
	SHIM_TYPES_ALLOC(X) \
	SHIM_TYPES_IO(X) \
	SHIM_TYPES_FILE(X) \
	SHIM_TYPES_STDIO(X) \
	SHIM_TYPES_LOCK(X) \
	SHIM_TYPES_HOLD(X) \
	SHIM_TYPES_THREAD(X) \
	SHIM_TYPES_PROCESS(X) \
	SHIM_TYPES_NET(X) \
	SHIM_TYPES_TIME(X) \
	SHIM_TYPES_DL(X) \
	SHIM_TYPES_SIGNAL(X) \
	SHIM_TYPES_FUNC(X)

enum shim_type {
#define SHIM_ENUM(type, family, name, schema) type,
	SHIM_TYPES(SHIM_ENUM)
#undef SHIM_ENUM
	SHIM_TYPE_COUNT
};

#endif
