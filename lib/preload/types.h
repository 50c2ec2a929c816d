/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/types.h - the event types of the shim: one line each, the one place where they stand.
 *
 *	X(TYPE, FAMILY, "name", "schema")
 *
 * A schema names the fields of the data in their order, without gaps. "ns time", which is always the
 * first, says how long the call took; the event itself stands where the call returned. "error" is
 * errno as the call left it where it failed, else 0; ECANCELED: the thread was cancelled in the call.
 */
#ifndef PTX_PRELOAD_TYPES_H
#define PTX_PRELOAD_TYPES_H

#define SHIM_TYPES_SHIM(X) \
	X(SHIM_LOST, SHIM, "posixtrace_shim_lost", "u64 early; u64 unnamed; u64 holds")

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

/* A lock that is not there at once; how long it was waited for. */
#define SHIM_TYPES_LOCK(X) \
	X(LOCK_MUTEX, LOCK, "lock.mutex", "ns time; ptr lock; errno error") \
	X(LOCK_RDLOCK, LOCK, "lock.rwlock_read", "ns time; ptr lock; errno error") \
	X(LOCK_WRLOCK, LOCK, "lock.rwlock_write", "ns time; ptr lock; errno error") \
	X(LOCK_SPIN, LOCK, "lock.spin", "ns time; ptr lock; errno error") \
	X(LOCK_SEM, LOCK, "lock.sem", "ns time; ptr lock; errno error") \
	X(LOCK_COND, LOCK, "lock.cond", "ns time; ptr lock; ptr mutex; errno error") \
	X(LOCK_BARRIER, LOCK, "lock.barrier", "ns time; ptr lock; errno error; s32 last")

/* How long a lock was held, when it is given back. */
#define SHIM_TYPES_HOLD(X) \
	X(HOLD_MUTEX, HOLD, "lock.mutex_held", "ns time; ptr lock") \
	X(HOLD_RWLOCK, HOLD, "lock.rwlock_held", "ns time; ptr lock")

#define SHIM_TYPES_THREAD(X) \
	X(THREAD_CREATE, THREAD, "thread.create", \
	  "ns time; x64 thread; ptr function; errno error; s32 detached") \
	X(THREAD_BEGIN, THREAD, "thread.begin", "ptr function; x64 creator") \
	X(THREAD_END, THREAD, "thread.end", "ptr function") \
	X(THREAD_EXIT, THREAD, "thread.exit", "ptr value") \
	X(THREAD_JOIN, THREAD, "thread.join", "ns time; x64 thread; errno error") \
	X(THREAD_DETACH, THREAD, "thread.detach", "x64 thread; errno error") \
	X(THREAD_NAME, THREAD, "thread.name", "x64 thread; errno error; str name")

#define SHIM_TYPES_PROCESS(X) \
	X(PROCESS_START, PROCESS, "process.start", "s32 pid; s32 parent; str program") \
	X(PROCESS_FORK, PROCESS, "process.fork", "ns time; s32 child; errno error") \
	X(PROCESS_CHILD, PROCESS, "process.child", "s32 pid; s32 parent") \
	X(PROCESS_VFORK, PROCESS, "process.vfork", "ns time; s32 child; errno error") \
	X(PROCESS_VCHILD, PROCESS, "process.vchild", "s32 pid; s32 parent") \
	X(PROCESS_SPAWN, PROCESS, "process.spawn", \
	  "ns time; s32 child; errno error; str path; str arguments") \
	X(PROCESS_EXEC, PROCESS, "process.exec", "s32 pid; s32 fd; str path; str arguments") \
	X(PROCESS_EXEC_FAILED, PROCESS, "process.exec_failed", "s32 pid; errno error") \
	X(PROCESS_WAIT, PROCESS, "process.wait", \
	  "ns time; s32 child; errno error; s32 which; x32 options; x32 status; s32 known") \
	X(PROCESS_SYSTEM, PROCESS, "process.system", \
	  "ns time; x32 status; errno error; str command") \
	X(PROCESS_POPEN, PROCESS, "process.popen", \
	  "ns time; ptr file; errno error; str mode; str command") \
	X(PROCESS_PCLOSE, PROCESS, "process.pclose", "ns time; ptr file; x32 status; errno error") \
	X(PROCESS_EXIT, PROCESS, "process.exit", "s32 pid; s32 status; str by") \
	X(PROCESS_END, PROCESS, "process.end", "s32 pid")

#define SHIM_TYPES(X) \
	SHIM_TYPES_SHIM(X) \
	SHIM_TYPES_IO(X) \
	SHIM_TYPES_STDIO(X) \
	SHIM_TYPES_LOCK(X) \
	SHIM_TYPES_HOLD(X) \
	SHIM_TYPES_THREAD(X) \
	SHIM_TYPES_PROCESS(X)

enum shim_type {
#define SHIM_ENUM(type, family, name, schema) type,
	SHIM_TYPES(SHIM_ENUM)
#undef SHIM_ENUM
	SHIM_TYPE_COUNT
};

#endif
