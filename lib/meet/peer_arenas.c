/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/peer_arenas.c - the list of other processes' arenas that this process has open.
 *
 * Each arena is open only once: when a process closes any descriptor of a file, it loses all its
 * record locks on the file (arena/DESIGN 5, L1). So a path is first opened with O_PATH, which does
 * not affect locks. Device and inode then show whether this process has the arena open already.
 *
 * An arena is mapped only if it is sealed, so that an access does not raise SIGBUS. Its content may
 * be hostile, so all code that reads an arena checks the values.
 *
 * Threads of a controller or observer call these functions; no function here runs in a trace point.
 * The lock may be held for a long time, because find.c sleeps while it holds the lock.
 */
#include "meet/peer_arenas.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

/*
 * Other processes' arenas that this process has open. The lock protects the list. Between lock and
 * unlock the list may have arenas without users.
 */
static struct ptx_arena *others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Unmaps and closes an arena that is in no list and that no stream uses. The descriptor is closed
 * only if it still belongs to the arena: the program may have closed it, and its number may belong
 * to another file.
 */
static void free_arena(struct ptx_arena *arena)
{
	if (arena->control)
		munmap(arena->control, sizeof(union ptx_control_page));
	if (arena->lists)
		munmap(arena->lists, PTX_LISTS_BYTES);
	if (ptx_arena_fd(arena) >= 0)
		close(arena->fd);
	free(arena);
}

/* Maps a part of an arena's file. Returns NULL after an error. */
static void *peer_arenas_map(int fd, size_t bytes, uint64_t offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * Maps the control page and the lists. After an error the caller calls free_arena(), which unmaps
 * the part that is mapped. Returns false after an error.
 */
static bool map_arena(struct ptx_arena *arena)
{
	arena->control = peer_arenas_map(arena->fd, sizeof(union ptx_control_page), 0);
	ptx_arena_set_lists(arena, peer_arenas_map(arena->fd, PTX_LISTS_BYTES, PTX_NAMES_AT));
	return arena->control && arena->lists;
}

/*
 * Makes the structure for an open file. The structure owns fd. If there is no memory, fd is closed.
 * The result is then NULL.
 */
static struct ptx_arena *new_arena(int fd)
{
	struct ptx_arena *arena = calloc(1, sizeof *arena);
	struct stat file;

	if (!arena) {
		close(fd);
		return NULL;
	}
	arena->fd = fd;
	if (fstat(fd, &file) == 0) {
		arena->device = file.st_dev;
		arena->inode = file.st_ino;
		arena->bytes = (uint64_t)file.st_size;
	}
	return arena;
}

/*
 * Maps the arena in fd, and owns fd in any case. If the file is no arena, and after an error,
 * *result is NULL and the file is closed. ENOMEM: there is no memory, so the file may be an arena.
 * EPROTONOSUPPORT: the file is an arena of another version.
 */
static int open_file(int fd, struct ptx_arena **result)
{
	struct ptx_arena *arena = new_arena(fd);
	bool is_sealed;
	int err;

	*result = NULL;
	if (!arena)
		return ENOMEM;
	is_sealed = ptx_arena_is_sealed(fd, arena->bytes);
	if (is_sealed && map_arena(arena) &&
	    ptx_arena_is_own_head(arena->control->magic, arena->control->version)) {
		*result = arena;
		return 0;
	}
	err = ptx_arena_is_foreign(fd)			       ? EPROTONOSUPPORT :
	      is_sealed && (!arena->control || !arena->lists) ? ENOMEM :
								0;
	free_arena(arena);
	return err;
}

/* The arena is not in the list, so only the caller uses it. */
struct ptx_arena *ptx_arena_open(int fd)
{
	struct ptx_arena *arena;

	return open_file(fd, &arena) ? NULL : arena;
}

/*
 * Returns the open arena with this file, or NULL if this process does not have the file open. The
 * caller holds the lock.
 */
static struct ptx_arena *find_open_arena(const struct stat *file)
{
	if (ptx_arena_self.fd >= 0 && file->st_dev == ptx_arena_self.device &&
	    file->st_ino == ptx_arena_self.inode)
		return &ptx_arena_self;
	for (struct ptx_arena *arena = others; arena; arena = arena->next)
		if (file->st_dev == arena->device && file->st_ino == arena->inode)
			return arena;
	return NULL;
}

/*
 * Opens the file of an O_PATH descriptor for reading and writing, and adds it to the list if it is
 * an arena. The path in /proc/self/fd leads to exactly the file whose device and inode were
 * compared, even if the original path leads to another file by now. The descriptor gets a high
 * number, which programs do not expect for their own files. Returns 0, or an error of open() or of
 * open_file().
 */
static int open_arena(int file, struct ptx_arena **arena)
{
	char path[40];
	int fd, err;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	err = ptx_io_open(path, O_RDWR | O_NOCTTY | O_NONBLOCK, &fd);
	if (!err)
		err = open_file(ptx_io_move_up(fd, PTX_OTHER_FD_MIN), arena);
	if (!err && *arena) {
		(*arena)->next = others;
		others = *arena;
	}
	return err;
}

/*
 * An open with O_PATH does not block at a FIFO and has no effect on a device. Only regular files
 * are then opened for reading and writing. ENOENT and ENXIO mean that the descriptor or the process
 * is gone, so there is no arena.
 */
int ptx_peer_arenas_at(const char *path, struct ptx_arena **arena)
{
	struct stat st;
	int file, err = ptx_io_open(path, O_PATH, &file);

	*arena = NULL;
	if (err)
		return err == ENOENT || err == ENXIO ? 0 : err;
	if (fstat(file, &st) == 0 && S_ISREG(st.st_mode)) {
		*arena = find_open_arena(&st);
		if (!*arena)
			err = open_arena(file, arena);
	}
	close(file);
	return err;
}

/*
 * inner_pid is the id of the process in its own pid namespace. The new arena has no users. If the
 * caller does not increase the count of users, ptx_peer_arenas_unlock() closes the arena.
 */
struct ptx_arena *ptx_peer_arenas_make(uint32_t inner_pid)
{
	uint64_t bytes;
	int fd = ptx_arena_file(&bytes);
	struct ptx_arena *arena = fd < 0 ? NULL : new_arena(fd);

	if (!arena)
		return NULL;
	if (!map_arena(arena)) {
		free_arena(arena);
		return NULL;
	}
	ptx_arena_begin(arena->control, inner_pid, PTX_ARENA_WAITS);
	arena->next = others;
	others = arena;
	return arena;
}

/*
 * Closes the arenas without users. No stream of this process is in these arenas, so no lock is
 * lost.
 */
static void peer_arenas_sweep(void)
{
	for (struct ptx_arena **link = &others; *link;) {
		struct ptx_arena *arena = *link;

		if (arena->users) {
			link = &arena->next;
			continue;
		}
		*link = arena->next;
		free_arena(arena);
	}
}

/* The lock is not recursive, and a signal handler must not acquire it. */
void ptx_peer_arenas_lock(void)
{
	pthread_mutex_lock(&lock);
}

void ptx_peer_arenas_unlock(void)
{
	peer_arenas_sweep();
	pthread_mutex_unlock(&lock);
}

/*
 * Opens the file, and calls `look` with a structure for it. Precondition: this process does not
 * have the file open as an arena. If it did, the close of the new descriptor would release this
 * process's locks on the file. The file is not mapped: `look` reads by pread(), which cannot raise
 * SIGBUS. Returns 0, EINVAL if the file is not sealed, or the error of open().
 */
static int peek_at(int file, const struct stat *st,
		   void (*look)(void *arg, const struct ptx_arena *arena), void *arg)
{
	struct ptx_arena arena = { .device = st->st_dev, .inode = st->st_ino,
				   .bytes = (uint64_t)st->st_size };
	char path[40];
	bool is_arena;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	/*
	 * The file is opened for reading only, so that an observer cannot change the arena by
	 * mistake.
	 */
	arena.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (arena.fd < 0)
		return errno;
	is_arena = ptx_arena_is_sealed(arena.fd, arena.bytes);
	if (is_arena)
		look(arg, &arena);
	close(arena.fd);
	return is_arena ? 0 : EINVAL;
}

/*
 * The caller holds the lock, so that no other thread opens the file as an arena and claims a place
 * in it before peek_at() closes its descriptor. The results are those of ptx_peer_arenas_peek().
 */
static int peer_arenas_peek(const char *path, const struct ptx_opener *wanted,
			    void (*look)(void *arg, const struct ptx_arena *arena), void *arg)
{
	int file = open(path, O_PATH | O_CLOEXEC), err = 0;
	const struct ptx_arena *arena;
	struct stat st;

	if (file < 0)
		return errno;
	if (fstat(file, &st) != 0) {
		err = errno;
	} else if (!S_ISREG(st.st_mode)) {
		err = EINVAL;
	} else if (wanted && (st.st_dev != wanted->device || st.st_ino != wanted->inode)) {
		err = ENOENT;
	} else {
		arena = find_open_arena(&st);
		if (arena)
			look(arg, arena);
		else
			err = peek_at(file, &st, look, arg);
	}
	close(file);
	return err;
}

int ptx_peer_arenas_peek(const char *path, const struct ptx_opener *wanted,
			 void (*look)(void *arg, const struct ptx_arena *arena), void *arg)
{
	int err, saved = errno;

	pthread_mutex_lock(&lock);
	err = peer_arenas_peek(path, wanted, look, arg);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return err;
}

/*
 * The child has no locks on the files, so closing its descriptors releases no lock. The structures
 * are not freed: if fork() was called in a signal handler, the interrupted call may still use them.
 */
void ptx_peer_arenas_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	for (struct ptx_arena *arena = others; arena; arena = arena->next) {
		if (ptx_arena_fd(arena) >= 0)
			close(arena->fd);
		arena->fd = -1;
	}
	others = NULL; /* the mappings stay, because an interrupted call may still read them */
}
