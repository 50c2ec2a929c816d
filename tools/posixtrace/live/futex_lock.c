/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * futex_lock.c - reads the members of locks in the memory of a blocked process. Their places are a
 * part of the ABI of glibc, because programs initialize locks statically.
 */
#include "live/futex_lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject/elf.h"
#include "inject/memory.h"

#ifndef FUTEX_LOCK_PI2
# define FUTEX_LOCK_PI2 13
#endif

/* Bits of the member __kind of a mutex, and values of the member __readers of a read-write lock. */
enum {
	KIND_TYPE = 3, KIND_RECURSIVE = 1, KIND_ROBUST = 16, KIND_INHERIT = 32, KIND_PROTECT = 64,
	KIND_SHARED = 128, KIND_ELISION = 256 | 512, RWLOCK_WRITTEN = 3
};

#define USERS_MOST  (1u << 20) /* more threads than the kernel permits to wait for one mutex */
#define THREAD_ROOM 64         /* most bytes from the number of a thread to its list of robust
			        * mutexes */
#define LIKENESS    "the memory looks like a lock of glibc, but the program may use it otherwise"
#define SHARED      "another process could end a wait"
#define TIME_LIMIT  "a wait has a time limit"

static bool read_memory(pid_t pid, uint64_t address, void *data, size_t bytes)
{
	const struct iovec to = { data, bytes }, from = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

/* Returns whether a thread of the process has this number. */
static bool is_thread_of(pid_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)pid, tid);
	return tid && tid <= INT32_MAX && !access(path, F_OK);
}

/*
 * Returns whether the number is that of a thread that can hold the lock. If processes share the
 * lock, this may be a thread of any process. /proc/TID exists for each thread.
 */
static bool is_thread(pid_t pid, uint32_t tid, bool is_shared)
{
	char path[64];

	if (!is_shared)
		return is_thread_of(pid, tid);
	snprintf(path, sizeof(path), "/proc/%u", tid);
	return tid && tid <= INT32_MAX && !access(path, F_OK);
}

/*
 * Returns whether glibc itself made the call. A call from syscall() does not count, because
 * programs use this function for calls of their own.
 */
static bool is_of_glibc(pid_t pid, uint64_t place)
{
	struct mappings mappings;
	struct elf_module module;
	const struct mapping *at;
	const Elf64_Sym *own;
	int memory = memory_open(pid, pid);
	bool is_own = false;

	if (memory < 0)
		return false;
	at = mappings_read(&mappings, pid) ? NULL : mappings_at(&mappings, place);
	/* The first mapping of the file is before the mapping of the code. */
	while (at && at->inode && at > mappings.mapping && at->offset &&
	       at[-1].inode == at->inode && !strcmp(at[-1].path, at->path))
		at--;
	if (at && at->inode && !at->offset && elf_read(&module, memory, at->begin, false)) {
		own = elf_find(&module, "syscall");
		is_own = !strcmp(elf_soname(&module), "libc.so.6") && own &&
			 place - (module.base + own->st_value) >= own->st_size;
		is_own |= !strcmp(elf_soname(&module), "libpthread.so.0");
		elf_fini(&module);
	}
	mappings_fini(&mappings);
	close(memory);
	return is_own;
}

/* ------------------------------------------------------------------ the kinds */

#ifdef __GLIBC__

/*
 * A mutex for which threads wait has the value 2. A robust mutex has the number of its owner and a
 * flag as its value, and uses no private futex. Both also have the owner in the member __owner.
 */
static bool find_mutex(pid_t pid, bool is_private, uint32_t expected, struct futex_lock *found)
{
	struct __pthread_mutex_s mutex = { .__lock = 0 };
	uint32_t value, owner;
	bool is_robust, is_shared;

	if (!read_memory(pid, found->lock, &mutex, offsetof(struct __pthread_mutex_s, __list)))
		return false;
	value = (uint32_t)mutex.__lock;
	owner = (uint32_t)mutex.__owner;
	is_robust = mutex.__kind & KIND_ROBUST;
	is_shared = mutex.__kind & KIND_SHARED;
	if (mutex.__kind & ~(KIND_TYPE | KIND_ROBUST | KIND_SHARED | KIND_ELISION) ||
	    is_private == (is_robust || is_shared) || !mutex.__nusers ||
	    mutex.__nusers > USERS_MOST || value != expected || !is_thread(pid, owner, is_shared))
		return false;
	if (is_robust ? value != (owner | FUTEX_WAITERS) : value != 2)
		return false;
	if (!is_robust && ((mutex.__kind & KIND_TYPE) == KIND_RECURSIVE) != (mutex.__count != 0))
		return false;
	found->owner = (pid_t)owner;
	found->kind = "mutex";
	return true;
}

/* A read-write lock has two futexes, with the value 3 while a writer holds the lock. */
static bool find_rwlock(pid_t pid, bool is_private, uint32_t expected, struct futex_lock *found)
{
	static const size_t futex[] = {
		offsetof(struct __pthread_rwlock_arch_t, __wrphase_futex),
		offsetof(struct __pthread_rwlock_arch_t, __writers_futex),
	};
	struct __pthread_rwlock_arch_t lock;

	for (size_t i = 0; expected == 3 && i < sizeof(futex) / sizeof(*futex); i++) {
		int shared, flags;

		if (!read_memory(pid, found->lock - futex[i], &lock, sizeof(lock)))
			continue;
		shared = lock.__shared;
		flags = (int)lock.__flags;
		if ((lock.__readers & RWLOCK_WRITTEN) != RWLOCK_WRITTEN ||
		    !(lock.__wrphase_futex & 1) || !(lock.__writers_futex & 1) ||
		    shared < 0 || shared > 1 || is_private == shared || flags < 0 ||
		    flags > PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP ||
		    !is_thread(pid, (uint32_t)lock.__cur_writer, shared))
			continue;
		found->lock -= futex[i];
		found->owner = (pid_t)lock.__cur_writer;
		found->kind = "rwlock";
		return true;
	}
	return false;
}

#else

/* Only glibc's headers describe its locks. */
static bool find_mutex(pid_t pid, bool is_private, uint32_t expected, struct futex_lock *found)
{
	return pid < 0 && is_private && expected && found;
}

static bool find_rwlock(pid_t pid, bool is_private, uint32_t expected, struct futex_lock *found)
{
	return find_mutex(pid, is_private, expected, found);
}

#endif

/*
 * The kernel clears a word at the end of a thread and wakes the waiters, but not the waiters of
 * private futexes. glibc keeps the number of the thread in this word. The word is near the thread's
 * list of robust mutexes. The kernel knows the place of this list, so the result is certain.
 */
static bool find_thread(pid_t pid, bool is_private, uint32_t expected, struct futex_lock *found)
{
	uint32_t value;
	void *list = NULL;
	size_t bytes;

	if (is_private || !read_memory(pid, found->lock, &value, sizeof(value)) ||
	    value != expected || !is_thread_of(pid, value) ||
	    syscall(SYS_get_robust_list, (pid_t)value, &list, &bytes) ||
	    (uint64_t)(uintptr_t)list - found->lock >= THREAD_ROOM)
		return false;
	found->owner = (pid_t)value;
	found->kind = "thread";
	return true;
}

/*
 * The futex of a mutex with priority inheritance has the number of the owner, as the kernel
 * requires.
 */
static void find_inherited(pid_t pid, bool is_private, struct futex_lock *found)
{
	uint32_t value;

	if (!read_memory(pid, found->lock, &value, sizeof(value)) ||
	    !is_thread(pid, value & FUTEX_TID_MASK, !is_private))
		return;
	found->owner = (pid_t)(value & FUTEX_TID_MASK);
	found->kind = "mutex";
}

struct futex_lock futex_lock_find(pid_t pid, const struct procfile_call *call, bool has_numbers)
{
	const unsigned operation = (unsigned)call->argument[1] & FUTEX_CMD_MASK;
	const bool is_private = call->argument[1] & FUTEX_PRIVATE_FLAG;
	const uint32_t expected = (uint32_t)call->argument[2];
	struct futex_lock found = { .lock = call->argument[0], .kind = "futex" };

	if (has_numbers && (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2))
		find_inherited(pid, is_private, &found);
	else if (has_numbers && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) &&
		 !find_thread(pid, is_private, expected, &found) &&
		 (find_mutex(pid, is_private, expected, &found) ||
		  find_rwlock(pid, is_private, expected, &found)) &&
		 !is_of_glibc(pid, call->place))
		found.doubt = LIKENESS;
	if (call->argument[3])
		found.doubt = TIME_LIMIT;
	else if (!found.owner && !is_private)
		found.doubt = SHARED;
	return found;
}
