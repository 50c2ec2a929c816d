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
	  "ns time; u64 size; x32 protection; x32 flags; s32 fd; errno error; s64 offset; " \
	  "ptr result") \
	X(ALLOC_MREMAP, ALLOC, "alloc.mremap", \
	  "ns time; ptr old; u64 old_size; u64 size; x32 flags; errno error; ptr result") \
	X(ALLOC_MUNMAP, ALLOC, "alloc.munmap", "ns time; ptr old; u64 size; errno error")

#define SHIM_TYPES_IO(X) \
	X(IO_OPEN, IO, "io.open", \
	  "ns time; s32 fd; errno error; s32 folder; x32 flags; x32 mode; str path") \
	X(IO_CLOSE, IO, "io.close", "ns time; s32 fd; errno error") \
	X(IO_READ, IO, "io.read", "ns time; s32 fd; errno error; u64 size; s64 result") \
	X(IO_WRITE, IO, "io.write", "ns time; s32 fd; errno error; u64 size; s64 result") \
	X(IO_PREAD, IO, "io.pread", \
	  "ns time; s32 fd; errno error; u64 size; s64 result; s64 offset") \
	X(IO_PWRITE, IO, "io.pwrite", \
	  "ns time; s32 fd; errno error; u64 size; s64 result; s64 offset") \
	X(IO_READV, IO, "io.readv", "ns time; s32 fd; errno error; u64 parts; s64 result") \
	X(IO_WRITEV, IO, "io.writev", "ns time; s32 fd; errno error; u64 parts; s64 result") \
	X(IO_PREADV, IO, "io.preadv", \
	  "ns time; s32 fd; errno error; u64 parts; s64 result; s64 offset") \
	X(IO_PWRITEV, IO, "io.pwritev", \
	  "ns time; s32 fd; errno error; u64 parts; s64 result; s64 offset") \
	X(IO_SENDFILE, IO, "io.sendfile", \
	  "ns time; s32 fd; errno error; u64 size; s64 result; s64 from") \
	X(IO_FSYNC, IO, "io.fsync", "ns time; s32 fd; errno error") \
	X(IO_FDATASYNC, IO, "io.fdatasync", "ns time; s32 fd; errno error") \
	X(IO_FOPEN, IO, "io.fopen", \
	  "ns time; s32 fd; errno error; ptr file; str mode; str path") \
	X(IO_FCLOSE, IO, "io.fclose", "ns time; s32 fd; errno error; ptr file")

#define SHIM_TYPES_STDIO(X) \
	X(STDIO_FREAD, STDIO, "stdio.fread", \
	  "ns time; ptr file; u64 size; u64 items; u64 result") \
	X(STDIO_FWRITE, STDIO, "stdio.fwrite", \
	  "ns time; ptr file; u64 size; u64 items; u64 result")

#define SHIM_TYPES_NET(X) \
	X(NET_SOCKET, NET, "net.socket", \
	  "s32 fd; errno error; s32 domain; x32 type; s32 protocol; s32 other") \
	X(NET_CONNECT, NET, "net.connect", "ns time; s32 fd; errno error; str address") \
	X(NET_BIND, NET, "net.bind", "ns time; s32 fd; errno error; str address") \
	X(NET_LISTEN, NET, "net.listen", "s32 fd; errno error; s32 backlog") \
	X(NET_ACCEPT, NET, "net.accept", \
	  "ns time; s32 fd; errno error; s32 accepted; str address") \
	X(NET_SHUTDOWN, NET, "net.shutdown", "s32 fd; errno error; s32 how") \
	X(NET_SEND, NET, "net.send", "ns time; s32 fd; errno error; u64 size; s64 result") \
	X(NET_RECV, NET, "net.recv", "ns time; s32 fd; errno error; u64 size; s64 result") \
	X(NET_SENDTO, NET, "net.sendto", \
	  "ns time; s32 fd; errno error; u64 size; s64 result; str address") \
	X(NET_RECVFROM, NET, "net.recvfrom", \
	  "ns time; s32 fd; errno error; u64 size; s64 result; str address") \
	X(NET_SENDMSG, NET, "net.sendmsg", \
	  "ns time; s32 fd; errno error; u64 messages; s64 result") \
	X(NET_RECVMSG, NET, "net.recvmsg", \
	  "ns time; s32 fd; errno error; u64 messages; s64 result") \
	X(NET_POLL, NET, "net.poll", "ns time; s64 timeout; u32 fds; s32 result; errno error") \
	X(NET_SELECT, NET, "net.select", "ns time; s64 timeout; s32 fds; s32 result; errno error") \
	X(NET_EPOLL, NET, "net.epoll", "ns time; s64 timeout; s32 fd; s32 result; errno error")

#define SHIM_TYPES_TIME(X) \
	X(TIME_SLEEP, TIME, "time.sleep", "ns time; s64 asked; errno error; str by")

/* A call of dlopen() whose result cannot be seen has only the first of these events. */
#define SHIM_TYPES_DL(X) \
	X(DL_OPEN, DL, "dl.open", "x32 mode; str path") \
	X(DL_OPENED, DL, "dl.opened", "ns time; ptr handle; x32 mode; str path") \
	X(DL_CLOSE, DL, "dl.close", "ns time; ptr handle; s32 result")

/* The signals that have the same numbers on all supported processors. */
#define SHIM_SIGNALS \
	"{1=HUP,2=INT,3=QUIT,4=ILL,5=TRAP,6=ABRT,7=BUS,8=FPE,9=KILL,10=USR1,11=SEGV,12=USR2," \
	"13=PIPE,14=ALRM,15=TERM,17=CHLD,18=CONT,19=STOP,20=TSTP,21=TTIN,22=TTOU,23=URG,24=XCPU," \
	"25=XFSZ,26=VTALRM,27=PROF,28=WINCH,29=IO,30=PWR,31=SYS}"

#define SHIM_TYPES_SIGNAL(X) \
	X(SIGNAL_ENTER, SIGNAL, "signal.enter", \
	  "ptr handler; s32 signal" SHIM_SIGNALS "; s32 code; s32 sender; @begin signal") \
	X(SIGNAL_LEAVE, SIGNAL, "signal.leave", "s32 signal" SHIM_SIGNALS "; @end signal")

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
	  "ns time; s32 child; errno error; s32 which; x32 options; x32 status; s32 known") \
	X(PROCESS_SYSTEM, PROCESS, "process.system", \
	  "ns time; x32 status; errno error; str command") \
	X(PROCESS_POPEN, PROCESS, "process.popen", \
	  "ns time; ptr file; errno error; str mode; str command") \
	X(PROCESS_PCLOSE, PROCESS, "process.pclose", "ns time; ptr file; x32 status; errno error") \
	X(PROCESS_EXIT, PROCESS, "process.exit", "s32 pid; s32 status; str by") \
	X(PROCESS_END, PROCESS, "process.end", "s32 pid") \
	X(PROCESS_SECCOMP, PROCESS, "process.seccomp", "s32 mode; x32 flags; errno error")

#define SHIM_TYPES(X) \
	SHIM_TYPES_SHIM(X) \
	SHIM_TYPES_ALLOC(X) \
	SHIM_TYPES_IO(X) \
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
