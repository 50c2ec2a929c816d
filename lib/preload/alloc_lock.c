/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc_lock.c - family alloc: mlockall(), under a limit of locked memory.
 *
 * Without privilege the kernel refuses MCL_CURRENT if the whole address space exceeds
 * RLIMIT_MEMLOCK. The library has much address space that is never used, so the kernel would refuse
 * the call of a program that it permits without the library. The wrapper then locks all mappings
 * but those of the library, one by one.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/call.h"
#include "preload/maps.h"
#include "preload/self.h"

/* The beginnings of the names of the library's mappings, behind the last slash. */
static const char *const own_names[] = { "memfd:posix-trace", "memfd:posixtrace", "libposixtrace" };

static bool is_own(const struct shim_map *map)
{
	const char *slash = memrchr(map->name, '/', map->name_bytes);
	const char *name = slash ? slash + 1 : map->name;
	size_t bytes = map->name_bytes - (size_t)(name - map->name);

	for (size_t i = 0; i < sizeof own_names / sizeof own_names[0]; i++)
		if (bytes >= strlen(own_names[i]) &&
		    !memcmp(name, own_names[i], strlen(own_names[i])))
			return true;
	return false;
}

/*
 * The bytes of the program's mappings and of the library's. Mappings without access rights do not
 * count. The thread that flushes logs may have such a mapping: address space that the C library
 * reserves for malloc().
 */
struct sum {
	uint64_t program, library;
};

static bool add_bytes(void *arg, const struct shim_map *map)
{
	struct sum *sum = arg;

	if (map->protection)
		*(is_own(map) ? &sum->library : &sum->program) += map->end - map->begin;
	return true;
}

/* The mappings that a walk locks. */
struct locking {
	unsigned flags;  /* of mlock2(2) */
	bool accessible; /* true: lock mappings with access rights; false: without */
};

/*
 * Ignores errors of a single mapping, for example of one without access rights, as mlockall() does.
 */
static bool lock_map(void *arg, const struct shim_map *map)
{
	const struct locking *locking = arg;

	if (!is_own(map) && (map->protection != 0) == locking->accessible)
		syscall(SYS_mlock2, map->begin, map->end - map->begin, locking->flags);
	return true;
}

SHIM_NEXT(mlockall, shim_no_number);
SHIM_WRAPPED(mlockall, ALLOC_MLOCK);

/*
 * Locks the mappings of the program. Returns false if the kernel would refuse the call without the
 * library, too, or if the mappings cannot be read. `maps` is the file of the mappings: the walks
 * have one descriptor, so that lack of descriptors is noticed before the first change.
 */
static bool lock_program(int maps, int flags)
{
	struct locking locking = { flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0, true };
	struct sum sum = { 0, 0 };
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || !shim_maps_walk_in(maps, add_bytes, &sum) ||
	    !sum.library || sum.program > limit.rlim_cur)
		return false;
	/*
	 * The kernel locks new mappings from here on. So a mapping that another thread makes
	 * during the walk is locked, too.
	 */
	if (flags & MCL_FUTURE && next(mlockall)(flags & ~MCL_CURRENT))
		return false;
	/*
	 * A call of mlockall() without MCL_FUTURE ends the effect of an earlier MCL_FUTURE. Here
	 * munlockall() does that. It also unlocks all memory, and the walk locks the program's
	 * mappings again.
	 */
	if (!(flags & MCL_FUTURE))
		syscall(SYS_munlockall);
	/*
	 * The mappings with access rights are locked first. The others need no memory yet, and the
	 * limit may not permit all of them.
	 */
	if (shim_maps_walk_in(maps, lock_map, &locking)) {
		locking.accessible = false;
		if (shim_maps_walk_in(maps, lock_map, &locking))
			return true;
	}
	/*
	 * The kernel could not generate the text of the mappings for this walk, so the call fails.
	 * A failed call must have no effect. If MCL_FUTURE stayed in effect, later mappings of the
	 * program could fail.
	 */
	syscall(SYS_munlockall);
	return false;
}

/*
 * In a quiet process, the wrapper only passes the call on: a filter may forbid the other system
 * calls.
 */
static int lock_all(int flags)
{
	const int saved = errno;
	int result = next(mlockall)(flags), maps;
	bool is_locked;

	if (!result || errno != ENOMEM || !(flags & MCL_CURRENT) || shim_is_quiet())
		return result;
	maps = shim_maps_open();
	is_locked = lock_program(maps, flags);
	shim_maps_close(maps);
	errno = is_locked ? saved : ENOMEM;
	return is_locked ? 0 : result;
}

/*
 * The event concerns the whole memory of the process: the address is 0, and the size is the
 * greatest number.
 */
SHIM_WRAPPER int mlockall(int flags)
{
	if (!shim_on_alone(ALLOC_MLOCK))
		return lock_all(flags);
	SHIM_TRACE(int, ALLOC_MLOCK, lock_all(flags), result == -1 ? errno : 0, (1, flags),
		   (0, -1), ());
}
