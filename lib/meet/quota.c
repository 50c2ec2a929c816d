/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/quota.c - counts the streams of a user by record locks: each stream has one locked byte of a
 * file, its place (meet/DESIGN 3).
 *
 * The count is right even if a process is killed, because the kernel then releases the locks of the
 * process. No process reads or writes the file. If a user changes the runtime folder, only this
 * user's limit is affected.
 *
 * The functions are called by threads that create or end a stream. The mutex is held during a few
 * system calls. None of them waits for another process, because F_SETLK does not wait.
 */
#include "meet/quota.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>

#include "arena/arena.h"
#include "arena/descriptors.h"
#include "base/io.h"
#include "base/proc.h"
#include "meet/folder.h"

/* The file in the runtime folder. It is never removed. */
#define FILE_NAME "trace_sys_max"
#define WORDS     (TRACE_SYS_MAX / 64)

_Static_assert(TRACE_SYS_MAX % 64 == 0, "whole words");

/*
 * The account: the places of this process's streams, and the open file. A child inherits this
 * memory, so that the child can close its parent's descriptor. fork() sets ptx_private.has_quota to
 * false in the child, which shows that the account is still the parent's. The lock protects all
 * members.
 */
static struct {
	pthread_mutex_t lock;
	int fd; /* -1: none */
	/* The identity of the file. It shows whether fd is still the descriptor of this file. */
	uint64_t device, inode;
	/* A bit for each place of this process; `places` is their number. */
	uint64_t in_use[WORDS];
	unsigned places;
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/*
 * Returns true if a stream of this process has the place. The account must show this, because a
 * record lock does not exclude other streams of the same process.
 */
static bool is_in_use(unsigned place)
{
	return own.in_use[place / 64] >> (place % 64) & 1;
}

/*
 * Returns true if own.fd is still the descriptor of the file. The program may have closed it, which
 * releases the locks.
 */
static bool has_file(void)
{
	struct stat file;

	return own.fd >= 0 && fstat(own.fd, &file) == 0 && file.st_dev == own.device &&
	       file.st_ino == own.inode;
}

/*
 * Closes the file, which releases all locks. If the descriptor belongs to another file by now, it
 * stays open.
 */
static void close_file(void)
{
	if (has_file())
		close(own.fd);
	own.fd = -1;
}

/*
 * Opens the file, or makes it. After an error there is no file, and the limit applies only to the
 * streams of this process. The user may have given this name to any kind of file, so the function
 * accepts only a regular file. Because of O_NONBLOCK the open does not block at a FIFO.
 */
static void open_file(void)
{
	int folder = ptx_folder_open(geteuid(), true), fd;
	struct stat file;

	if (folder < 0)
		return;
	fd = openat(folder, FILE_NAME,
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0600);
	close(folder);
	if (fd < 0)
		return;
	if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
		close(fd);
		return;
	}
	own.fd = ptx_io_move_up(fd, PTX_OTHER_FD_MIN);
	own.device = file.st_dev;
	own.inode = file.st_ino;
}

/* Locks or unlocks a byte. Returns false only if another process has locked the byte. */
static bool set_lock(unsigned place, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };

	/*
	 * After any other error, for example if the file system has no locks, the stream can be
	 * created nevertheless.
	 */
	return own.fd < 0 || fcntl(own.fd, F_SETLK, &lock) == 0 ||
	       (errno != EAGAIN && errno != EACCES);
}

/*
 * Makes sure that the file is open and that the bytes of this process's streams are locked. If the
 * program has closed the descriptor, the function opens the file and locks the bytes again. If
 * another process has locked one of the bytes meanwhile, both streams continue with the same byte.
 */
static void have_file(void)
{
	if (has_file())
		return;
	own.fd = -1;
	open_file();
	for (unsigned place = 0; own.places && place < TRACE_SYS_MAX; place++)
		if (is_in_use(place))
			set_lock(place, F_WRLCK);
}

/*
 * Makes the account of a child empty. Closing the inherited descriptor does not release locks of
 * the parent, since a record lock belongs to a table of descriptors. If the child shares this table
 * with its parent, the descriptor stays open.
 */
static void begin_anew(void)
{
	if (ptx_descriptors_are_own())
		close_file();
	own.fd = -1;
	for (unsigned i = 0; i < WORDS; i++)
		own.in_use[i] = 0;
	own.places = 0;
	ptx_private.has_quota = true;
}

/*
 * Locks one byte and stores its place. Returns 0, or EAGAIN if each byte belongs to a stream. All
 * bytes are tried, so a free byte is always found.
 */
static int quota_acquire(unsigned *result)
{
	/*
	 * Different processes begin with different places, so that the first place is usually free.
	 */
	unsigned first = ptx_proc_own() * 37;

	if (!ptx_private.has_quota)
		begin_anew();
	have_file();
	for (unsigned i = 0; i < TRACE_SYS_MAX; i++) {
		unsigned place = (first + i) % TRACE_SYS_MAX;

		if (is_in_use(place) || !set_lock(place, F_WRLCK))
			continue;
		own.in_use[place / 64] |= UINT64_C(1) << (place % 64);
		own.places++;
		*result = place;
		return 0;
	}
	if (!own.places)
		close_file();
	return EAGAIN;
}

/*
 * Frees a place. When the last stream has ended, the file is closed, so that a process without
 * streams does not have it open.
 */
static void quota_release(unsigned place)
{
	own.in_use[place / 64] &= ~(UINT64_C(1) << (place % 64));
	if (--own.places == 0)
		close_file();
	else if (has_file())
		set_lock(place, F_UNLCK);
}

/* The caller frees the place by ptx_quota_release() when the stream ends or its creation fails. */
int ptx_quota_acquire(unsigned *place)
{
	int err;

	pthread_mutex_lock(&own.lock);
	err = quota_acquire(place);
	pthread_mutex_unlock(&own.lock);
	return err;
}

/*
 * Precondition: ptx_quota_acquire() has returned `place` in this process, and it was not released
 * since.
 */
void ptx_quota_release(unsigned place)
{
	pthread_mutex_lock(&own.lock);
	quota_release(place);
	pthread_mutex_unlock(&own.lock);
}

/* The mutex is initialized again, because a thread of the parent may have held it at the fork. */
void ptx_quota_after_fork(void)
{
	pthread_mutex_init(&own.lock, NULL);
	begin_anew();
}
