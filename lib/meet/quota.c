/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/quota.c - counts the streams of a user by record locks, one byte for each (DESIGN 3).
 *
 * The limit applies to a user, so the count must stay right when a process dies: the kernel
 * releases the locks of a process that ends. No process reads or writes the file, so its content
 * cannot be wrong. A user who changes the folder only changes the user's own limit.
 *
 * Called by threads of a controller that create or end a stream. The mutex is held during a few
 * system calls, none of which waits for another process (F_SETLK).
 */
#include "meet/quota.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/io.h"
#include "base/proc.h"
#include "meet/folder.h"

/* The file in the runtime folder. It has no content and is not removed when no stream exists. */
#define FILE_NAME "trace_sys_max"
#define WORDS     (TRACE_SYS_MAX / 64)

_Static_assert(TRACE_SYS_MAX % 64 == 0, "whole words");

/*
 * The account of this process, in memory that a child inherits, so that the child can close its
 * parent's descriptor. fork() wipes ptx_private.has_quota: while that is false, the account is not
 * this process's own. All members are under the lock.
 */
static struct {
	pthread_mutex_t lock;
	int fd; /* -1: none */
	/*
	 * The identity of the file at fd. It shows whether the program has closed or replaced the
	 * descriptor.
	 */
	uint64_t device, inode;
	/* A bit for each place of this process; `places` is their number. */
	uint64_t in_use[WORDS];
	unsigned places;
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* A record lock does not distinguish the streams of one process, so the account must do that. */
static bool is_in_use(unsigned place)
{
	return own.in_use[place / 64] >> (place % 64) & 1;
}

/*
 * Returns true if fd still is the descriptor of the file. The program may have closed it, which
 * releases the locks.
 */
static bool has_file(void)
{
	struct stat file;

	return own.fd >= 0 && fstat(own.fd, &file) == 0 && file.st_dev == own.device &&
	       file.st_ino == own.inode;
}

/*
 * Closes the file, which releases all its locks. If the descriptor belongs to another file, it is
 * not touched.
 */
static void close_file(void)
{
	if (has_file())
		close(own.fd);
	own.fd = -1;
}

/*
 * Opens the file or makes it. After any failure there is no file, and the limit counts only the
 * streams of this process. The file must be regular: a user may have put anything there, and
 * O_NONBLOCK keeps a FIFO from blocking.
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

/* Returns false only if another process has the byte. F_SETLK does not wait. */
static bool set_lock(unsigned place, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };

	/* Any other error of the file must not prevent a stream. */
	return own.fd < 0 || fcntl(own.fd, F_SETLK, &lock) == 0 ||
	       (errno != EAGAIN && errno != EACCES);
}

/*
 * Makes sure that the file is open and locked. If the program has closed the descriptor, the locks
 * are requested again. Another process may have locked one of the bytes meanwhile. Then both
 * streams continue.
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
 * Starts with an empty account in a child. Closing the parent's descriptor here releases no lock
 * of the parent, since a record lock belongs to a process.
 */
static void begin_anew(void)
{
	close_file();
	for (unsigned i = 0; i < WORDS; i++)
		own.in_use[i] = 0;
	own.places = 0;
	ptx_private.has_quota = true;
}

/*
 * Locks one byte. Returns EAGAIN if each byte belongs to a stream of this process or of another
 * process. All bytes are tried, so if n bytes are free, n processes get one each.
 */
static int quota_acquire(unsigned *result)
{
	/*
	 * Different processes look at different places first, so that most succeed at the first
	 * call.
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
 * The end of the last stream closes the file, so that a process without streams has no descriptor
 * open.
 */
static void quota_release(unsigned place)
{
	own.in_use[place / 64] &= ~(UINT64_C(1) << (place % 64));
	if (--own.places == 0)
		close_file();
	else if (has_file())
		set_lock(place, F_UNLCK);
}

/*
 * The caller gives the place back with ptx_quota_release() when the stream ends or its creation
 * fails.
 */
int ptx_quota_acquire(unsigned *place)
{
	int err;

	pthread_mutex_lock(&own.lock);
	err = quota_acquire(place);
	pthread_mutex_unlock(&own.lock);
	return err;
}

/* `place` is one that ptx_quota_acquire() returned in this process and that was not given back. */
void ptx_quota_release(unsigned place)
{
	pthread_mutex_lock(&own.lock);
	quota_release(place);
	pthread_mutex_unlock(&own.lock);
}

/* The mutex may have been locked by a thread that does not exist in the child. */
void ptx_quota_after_fork(void)
{
	pthread_mutex_init(&own.lock, NULL);
	begin_anew();
}
