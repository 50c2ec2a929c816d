/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/quota.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/io.h"
#include "meet/folder.h"

#define FILE_NAME "trace_sys_max"
#define WORDS     (TRACE_SYS_MAX / 64)

_Static_assert(TRACE_SYS_MAX % 64 == 0, "whole words");

/* In memory that a child inherits, so that it can close its parent's descriptor. */
static struct {
	pthread_mutex_t lock;
	int fd; /* -1: none */
	uint64_t device, inode;
	uint64_t taken[WORDS];
	unsigned places;
} mine = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static bool is_taken(unsigned place)
{
	return mine.taken[place / 64] >> (place % 64) & 1;
}

/* The program may have closed it, and with it given up the locks. */
static bool has_file(void)
{
	struct stat file;

	return mine.fd >= 0 && fstat(mine.fd, &file) == 0 && file.st_dev == mine.device &&
	       file.st_ino == mine.inode;
}

static void close_file(void)
{
	if (has_file())
		close(mine.fd);
	mine.fd = -1;
}

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
	mine.fd = ptx_io_move_up(fd, PTX_OTHER_FD_MIN);
	mine.device = file.st_dev;
	mine.inode = file.st_ino;
}

static bool set_lock(unsigned place, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };

	/* Whatever else is wrong with the file, it is no reason not to trace. */
	return mine.fd < 0 || fcntl(mine.fd, F_SETLK, &lock) == 0 ||
	       (errno != EAGAIN && errno != EACCES);
}

/*
 * With the locks on what is taken. One of them may have gone to another process meanwhile, if the
 * program closed the file: both streams live on.
 */
static void have_file(void)
{
	if (has_file())
		return;
	mine.fd = -1;
	open_file();
	for (unsigned place = 0; mine.places && place < TRACE_SYS_MAX; place++)
		if (is_taken(place))
			set_lock(place, F_WRLCK);
}

/* Starts anew in a child: releases the state of the parent. */
static void begin_anew(void)
{
	close_file();
	for (unsigned i = 0; i < WORDS; i++)
		mine.taken[i] = 0;
	mine.places = 0;
	ptx_private.has_quota = true;
}

static int take(unsigned *result)
{
	/* Different processes look at different places first. */
	unsigned first = (unsigned)getpid() * 37;

	if (!ptx_private.has_quota)
		begin_anew();
	have_file();
	for (unsigned i = 0; i < TRACE_SYS_MAX; i++) {
		unsigned place = (first + i) % TRACE_SYS_MAX;

		if (is_taken(place) || !set_lock(place, F_WRLCK))
			continue;
		mine.taken[place / 64] |= UINT64_C(1) << (place % 64);
		mine.places++;
		*result = place;
		return 0;
	}
	if (!mine.places)
		close_file();
	return EAGAIN;
}

static void give(unsigned place)
{
	mine.taken[place / 64] &= ~(UINT64_C(1) << (place % 64));
	if (--mine.places == 0)
		close_file();
	else if (has_file())
		set_lock(place, F_UNLCK);
}

int ptx_quota_take(unsigned *place)
{
	int err;

	pthread_mutex_lock(&mine.lock);
	err = take(place);
	pthread_mutex_unlock(&mine.lock);
	return err;
}

void ptx_quota_give(unsigned place)
{
	pthread_mutex_lock(&mine.lock);
	give(place);
	pthread_mutex_unlock(&mine.lock);
}

void ptx_quota_after_fork(void)
{
	pthread_mutex_init(&mine.lock, NULL);
	begin_anew();
}
