/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define DEFAULT_OUTPUT "posixtrace.ptl"
#define DEFAULT_SIZE   ((size_t)4 << 20)
#define LOCK_FD_MIN    240
#define YOUNG_S        5
#define MOST_LOGS      1000 /* of one process */
#define STREAM_NAME    "preload:" /* and the log's name */

static void say(const struct shim_options *options, const char *what, const char *why)
{
	if (options->is_verbose)
		dprintf(STDERR_FILENO, "POSIXTRACE_OPTIONS: %s: %s\n", what, why);
}

static void find_inherited(void *arg, const struct posix_trace_stream_np *stream)
{
	bool *found = arg;

	if (stream->creator != getpid() && stream->inheritance == POSIX_TRACE_INHERITED &&
	    !strncmp(stream->name, STREAM_NAME, strlen(STREAM_NAME)))
		*found = true;
}

static bool has_inherited(void)
{
	bool found = false;

	if (*posix_trace_active_np)
		posix_trace_look_np(POSIX_TRACE_THIS_PROCESS_NP, find_inherited, &found);
	return found;
}

/* %p is the process id, %% a %. False: that is too long. */
static bool expand(char *path, size_t bytes, const char *pattern)
{
	size_t len = 0;

	for (; *pattern; pattern++) {
		if (bytes - len < 16)
			return false;
		if (pattern[0] == '%' && pattern[1] == 'p') {
			len += (size_t)snprintf(path + len, bytes - len, "%d", (int)getpid());
			pattern++;
		} else {
			pattern += pattern[0] == '%' && pattern[1] == '%';
			path[len++] = *pattern;
		}
	}
	path[len] = '\0';
	return true;
}

/* Of this very process, made before it executed this program. */
static bool is_own(int fd)
{
	struct posix_trace_loginfo_np info = { .pid = 0 };
	trace_id_t trid;

	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid) == 0) {
		posix_trace_get_loginfo_np(trid, &info);
		posix_trace_close(trid);
	}
	return info.pid == getpid();
}

/* An empty file that is this young may be a log whose writer is about to lock it. */
static bool is_just_made(const struct stat *file)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return file->st_size == 0 && file->st_mtim.tv_sec + YOUNG_S > now.tv_sec;
}

/*
 * Moves a log out of the way, to .old, unless somebody writes it: who writes has locked it. The
 * lock is held until it is moved, so that of several who want its name one moves it, and no other's
 * after it. False: the name is in use, and errno is what it was before.
 */
static bool move_away(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	char old[PATH_MAX + 8];
	struct stat file, now;
	bool moved;

	if (fd < 0)
		return errno == ENOENT; /* another has just moved it; a stranger's is not touched */
	moved = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && !is_just_made(&file) &&
		(flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && !is_own(fd);
	if (moved && lstat(path, &now) == 0 && now.st_dev == file.st_dev &&
	    now.st_ino == file.st_ino) {
		snprintf(old, sizeof old, "%s.old", path);
		moved = rename(path, old) == 0;
	}
	close(fd);
	return moved;
}

/*
 * A log that is there already is kept beside the new one, as .old. But a process that executes one
 * program after another has a log of each, and so have processes that share a name and run at once:
 * .2, .3 and so on.
 */
static int open_output(char *path, size_t bytes)
{
	size_t len = strlen(path);
	int fd = -1;

	for (int n = 2, tries = 0; n <= MOST_LOGS && tries < MOST_LOGS; tries++) {
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
		if (!move_away(path))
			snprintf(path + len, bytes - len, ".%d", n++);
	}
	if (fd >= 0)
		/* on file systems without, names are not to be shared */
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/*
 * The stream has a description of its own: the lock lasts as long as this one. Out of the program's
 * way.
 */
static void hold_lock(int fd)
{
	if (fcntl(fd, F_DUPFD_CLOEXEC, LOCK_FD_MIN) >= 0)
		close(fd);
}

static int set_attributes(const struct shim_options *options, const char *path, trace_attr_t *attr)
{
	const char *slash = strrchr(path, '/');
	char name[TRACE_NAME_MAX + 1];
	int err;

	snprintf(name, sizeof name, STREAM_NAME "%.*s", (int)(sizeof name - sizeof STREAM_NAME),
		 slash ? slash + 1 : path);
	err = posix_trace_attr_setname(attr, name);
	if (!err)
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(
			attr, options->policy ? options->policy : POSIX_TRACE_FLUSH);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(
			attr, options->log_policy ? options->log_policy : POSIX_TRACE_APPEND);
	if (!err)
		err = posix_trace_attr_setstreamsize(attr,
						     options->size ? options->size : DEFAULT_SIZE);
	if (!err && options->log_size)
		err = posix_trace_attr_setlogsize(attr, options->log_size);
	return err;
}

static int create(const struct shim_options *options, const char *path, int fd)
{
	trace_attr_t attr;
	trace_id_t trid;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return err;
	err = set_attributes(options, path, &attr);
	if (!err)
		err = posix_trace_create_withlog(0, &attr, fd, &trid);
	posix_trace_attr_destroy(&attr);
	if (err)
		return err;
	err = posix_trace_start(trid);
	if (err)
		posix_trace_shutdown(trid);
	return err;
}

void shim_session_begin(const struct shim_options *options)
{
	char path[PATH_MAX];
	int fd, err, saved = errno;

	if (!options->is_given)
		return;
	if (options->wrong) {
		say(options, options->word, options->wrong);
		return;
	}
	if (has_inherited())
		return;
	if (!expand(path, sizeof path, options->output ? options->output : DEFAULT_OUTPUT)) {
		say(options, "-o", strerror(ENAMETOOLONG));
		return;
	}
	fd = open_output(path, sizeof path);
	if (fd < 0) {
		say(options, path, strerror(errno));
		errno = saved;
		return;
	}
	err = create(options, path, fd);
	if (!err) {
		hold_lock(fd);
	} else {
		close(fd);
		say(options, path, strerror(err));
		unlink(path);
	}
	errno = saved;
}
