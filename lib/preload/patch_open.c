/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_open.c - functions that have not returned at the end of their process.
 *
 * A function has one event, which is recorded when it returns. The shim notes each active call in a
 * memory file. If the process is killed, posixtrace reads the active calls there. If the process
 * ends by exit(), the thread that called exit() records its own active calls.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/patch_slot.h"

#if defined __x86_64__

/*
 * The address of the active calls. reserve_memory() provides a page for this address. The kernel
 * zeroes the page in each child with a copy of the memory, so that the child does not store into
 * the part of the file that its parent uses. A fork handler would not be enough, because a child of
 * a raw system call runs no handler. Until the page exists, the address is in no_open.
 */
static struct shim_open *no_open;
struct shim_open **shim_open_own = &no_open;

/*
 * The memory that this process uses: the head of a memory file and one of its parts. It is reserved
 * once and never unmapped, because another thread may be storing into the part. A second plan maps
 * another file over this memory. For other threads this change is one step: each store reaches the
 * old file or the new file, and a call has the same place in both.
 */
struct memory {
	struct shim_open_head head;
	struct shim_open_process part;
};
static struct memory *memory;

static char file_path[48];
static struct stat file;   /* the file that is mapped; st_ino is 0: none */
static uint32_t number;    /* the number of this process's part of the file */

/*
 * A moment before all calls, on both clocks. A child of fork() keeps the moment of its parent,
 * because calls that are active in the parent at the fork are active in the child, too.
 */
static struct {
	uint64_t ticks, is_counter;
	int64_t realtime_ns;
} first;

static off_t place_of(uint32_t at)
{
	return (off_t)(sizeof memory->head + at * sizeof memory->part);
}

static bool map_fixed(void *to, size_t bytes, int fd, off_t at)
{
	return mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, at) == to;
}

/*
 * Returns whether the descriptor belongs to a memory file for active calls. The file has a seal, so
 * that no process can make it shorter: a store behind its end would end the program.
 */
static bool is_open_file(int fd, struct stat *is)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	return !fstat(fd, is) && S_ISREG(is->st_mode) && is->st_uid == geteuid() &&
	       (uint64_t)is->st_size == SHIM_OPEN_BYTES && seals >= 0 && seals & F_SEAL_SHRINK;
}

/*
 * Marks that this process has executed another program: the calls of the former program never
 * return, and its files are not mapped any more.
 */
static void mark_executed(int fd, uint32_t at)
{
	struct shim_open_process *old = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					     place_of(at));

	if (old == MAP_FAILED)
		return;
	old->is_executed = 1;
	munmap(old, 4096);
}

/* Gives a part up. After that, this process notes no active calls. */
static void leave_part(uint32_t at)
{
	*shim_open_own = NULL;
	__atomic_store_n(&memory->head.pid[at], 0, __ATOMIC_RELEASE);
}

/*
 * Acquires a part and begins to use it. If no part is free, the calls of this process are not
 * noted. The part may have been used before, so fallocate() replaces its contents by a hole. Places
 * of the part that are never used then need no memory.
 */
static void use_part(int fd)
{
	struct shim_open_process *part = &memory->part;
	const uint32_t pid = (uint32_t)shim_pid();
	struct timespec now;
	uint32_t at = 0, none = 0;

	while (at < SHIM_OPEN_PROCESSES && pid &&
	       !__atomic_compare_exchange_n(&memory->head.pid[at], &none, pid, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		if (none == pid)
			mark_executed(fd, at);
		none = 0;
		at++;
	}
	if (at == SHIM_OPEN_PROCESSES || !pid)
		return;
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place_of(at), sizeof *part) ||
	    !map_fixed(part, sizeof *part, fd, place_of(at))) {
		leave_part(at);
		return;
	}
	number = at;
	madvise(part, sizeof *part, MADV_DONTDUMP);
	if (!first.ticks) {
		first.ticks = posix_trace_stamp_np();
		/*
		 * CLOCK_REALTIME is read after the first stamp: making that stamp takes 0.2 ms, and
		 * the counter is read at the end of this time.
		 */
		clock_gettime(CLOCK_REALTIME, &now);
		first.is_counter = shim_is_counter(first.ticks);
		first.realtime_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	}
	part->ticks = first.ticks;
	part->is_counter = first.is_counter;
	part->realtime_ns = first.realtime_ns;
	*shim_open_own = part->open;
}

/*
 * Begins to use the file, unless it is in use already: after a library was loaded, a tracer writes
 * a further plan, which names the same file. If another file was in use, this process gives up its
 * part of that file, because it could no longer clear a call there when the call returns. The
 * tracer of that file loses the active calls.
 */
static void open_file(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, file_path,
			      O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat is;

	if (fd < 0)
		return;
	if (is_open_file(fd, &is) && (is.st_ino != file.st_ino || is.st_dev != file.st_dev)) {
		if (*shim_open_own)
			leave_part(number);
		/* After a failure, the next plan with this file tries again. */
		file.st_ino = 0;
		if (map_fixed(&memory->head, sizeof memory->head, fd, 0) &&
		    memory->head.magic == SHIM_OPEN_MAGIC) {
			file = is;
			use_part(fd);
		}
	}
	syscall(SYS_close, fd);
}

/*
 * Reserves the memory, and a page for the address that the kernel wipes in children. Returns false
 * if that is impossible.
 */
static bool reserve_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *room = mmap(NULL, sizeof *memory, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	/*
	 * If an old kernel cannot wipe the page, no active calls are noted, because children would
	 * store into the parent's part.
	 */
	if (page == MAP_FAILED || room == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK)) {
		if (page != MAP_FAILED)
			munmap(page, 4096);
		if (room != MAP_FAILED)
			munmap(room, sizeof *memory);
		return false;
	}
	memory = room;
	shim_open_own = page;
	return true;
}

void shim_open_begin(const char *path, int fd)
{
	const char *slash = strrchr(path, '/');

	if (fd < 0 || !slash || (size_t)(slash - path) + 12 > sizeof file_path || shim_is_blind ||
	    (!memory && !reserve_memory()))
		return;
	snprintf(file_path, sizeof file_path, "%.*s/%d", (int)(slash - path), path, fd);
	open_file();
}

/*
 * The kernel has wiped *shim_open_own. The new memory is mapped at the address of the parent's
 * memory.
 */
void shim_open_in_child(void)
{
	shim_tid = 0;
	if (!memory || shim_is_quiet())
		return;
	shim_tid = (uint32_t)syscall(SYS_gettid);
	file.st_ino = 0;
	open_file();
	for (uint32_t i = 0; *shim_open_own && (i = shim_slot_after(i)) != 0;)
		if (shim_slot[i].function && shim_slot[i].thread == &shim_spare)
			shim_open_note(i, shim_slot[i].function);
}

/* Returns the active call of this thread with the greatest depth up to `most`; 0: there is none. */
static uint32_t deepest_call(int64_t most)
{
	uint32_t found = 0;

	for (uint32_t i = 0; (i = shim_slot_after(i)) != 0;) {
		const struct shim_slot *slot = &shim_slot[i];

		if (slot->function && slot->thread == &shim_spare && slot->depth <= most &&
		    (!found || slot->depth > shim_slot[found].depth))
			found = i;
	}
	return found;
}

/*
 * Records that the call of a slot is still active. If the call returns later, the return has no
 * event.
 */
static void record_open(uint32_t slot)
{
	const struct shim_call_data data = { shim_slot[slot].function, shim_slot[slot].depth };

	if (*shim_switch[FUNC_OPEN] && shim_id[FUNC_OPEN])
		posix_trace_event_since_np(shim_id[FUNC_OPEN], shim_slot[slot].begin, &data,
					   sizeof data, NULL);
	shim_slot[slot].function = 0;
	shim_open_clear(slot);
}

#define MOST_OPEN 64 /* the greatest number of calls that are recorded; each costs a search */

/*
 * The thread does not return to these functions, because exit() does not return. In a deep
 * recursion only the outermost calls are recorded here; posixtrace finds the others in the file.
 */
void shim_open_end(void)
{
	int64_t depth = shim_depth < MOST_OPEN ? (int64_t)shim_depth - 1 : MOST_OPEN - 1;
	uint32_t slot;

	if (!shim_slots_are_used())
		return;
	while (depth >= 0 && (slot = deepest_call(depth)) != 0) {
		depth = (int64_t)shim_slot[slot].depth - 1;
		record_open(slot);
	}
	if (!*shim_open_own || !__libc_single_threaded)
		return;
	for (uint32_t i = 0; (i = shim_slot_after(i)) != 0;)
		if (memory->part.open[i].function)
			return;
	/*
	 * After this, another process may use the part. Functions that destructors call later are
	 * not noted.
	 */
	leave_part(number);
}

#endif
