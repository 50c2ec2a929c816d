/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/session.c - creates the stream and the log that POSIXTRACE_OPTIONS requests.
 *
 * This code runs in the shim's constructor and uses public functions only. It must not disturb the
 * program: errors are reported only if the user requested that, descriptors get high numbers, and
 * errno is restored.
 */
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
/*
 * The lowest number for the descriptor that holds the lock on the log. It is high, so that the
 * program gets the numbers that it expects.
 */
#define LOCK_FD_MIN    240
/* If an empty log is at most this number of seconds old, its writer may be about to lock it. */
#define YOUNG_S        5
#define MOST_LOGS      1000 /* the greatest number of names that are tried for a log */
#define STREAM_NAME    "preload:" /* the stream's name is this text followed by the log's name */

/* Reports a problem on standard error, if the user requested that. */
static void report_problem(const struct shim_options *options, const char *what, const char *why)
{
	if (options->is_verbose)
		dprintf(STDERR_FILENO, "POSIXTRACE_OPTIONS: %s: %s\n", what, why);
}

/*
 * Callback of posix_trace_observe_np(): sets *arg if another process's shim has created the stream
 * and this process has inherited it.
 */
static void find_inherited(void *arg, const struct posix_trace_stream_np *stream)
{
	bool *found = arg;

	if (stream->creator != getpid() && stream->inheritance == POSIX_TRACE_INHERITED &&
	    !strncmp(stream->name, STREAM_NAME, strlen(STREAM_NAME)))
		*found = true;
}

/*
 * Returns whether this process inherits a stream of another process's shim. The log of that stream
 * then has the events of this process, too.
 */
static bool has_inherited(void)
{
	bool found = false;

	if (*posix_trace_active_np)
		posix_trace_observe_np(POSIX_TRACE_THIS_PROCESS_NP, find_inherited, &found);
	return found;
}

/*
 * Expands %p to the process id and %% to a percent sign. Returns false if the result is too long.
 * 16 bytes are enough for a number and the NUL.
 */
static bool expand_path(char *path, size_t bytes, const char *pattern)
{
	/* The pattern is from the user's environment. */
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

/*
 * Returns whether the log was written by this process, before it executed this program, or is being
 * written. A log of this process is not renamed, because it belongs to the same run: the next
 * program gets a log under another name. A process that is writing a log usually holds a lock on
 * it, but loses the lock if the program closes the library's descriptors. So the status of the log
 * is examined, too. If a log is not complete and its status has no flush error, its writer may
 * still be alive.
 */
static bool is_in_use(int fd)
{
	struct posix_trace_loginfo_np info = { .pid = 0 };
	struct posix_trace_status_info status;
	bool is_used = false;
	trace_id_t trid;

	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid) != 0)
		return false;
	if (posix_trace_get_loginfo_np(trid, &info) == 0 &&
	    posix_trace_get_status(trid, &status) == 0)
		/* The log's header has the id of the process that wrote the log. */
		is_used = info.pid == getpid() ||
			  (!info.complete && !status.posix_stream_flush_error);
	posix_trace_close(trid);
	return is_used;
}

/*
 * Returns whether an empty file is so young that it may be a log whose writer is about to lock
 * it.
 */
static bool is_just_made(const struct stat *file)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return file->st_size == 0 && file->st_mtim.tv_sec + YOUNG_S > now.tv_sec;
}

/*
 * Renames a log to NAME.old, unless a process is writing it. A process that writes a log holds a
 * lock on it. This function holds the lock until the file is renamed. So if several processes try
 * to get the name, only one of them renames the file, and none renames the new log of another
 * process. Returns true if the caller may try the name again, and false if the name is in use or
 * the file cannot be renamed.
 */
static bool move_away(const char *path)
{
	/*
	 * With these flags, a pipe or a terminal of that name does not make the program wait, and
	 * no file is created.
	 */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	char old[PATH_MAX + 8];
	struct stat file, now;
	bool moved;

	/*
	 * After ENOENT the name is free, because another process has just renamed the file. After
	 * any other error the file is not renamed.
	 */
	if (fd < 0)
		return errno == ENOENT;
	moved = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && !is_just_made(&file) &&
		(flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && !is_in_use(fd);
	/*
	 * Another process may have renamed the file between open() and the lock, and may have made
	 * a new file. The path leads to the locked file only if the inode is still the same.
	 */
	if (moved && lstat(path, &now) == 0 && now.st_dev == file.st_dev &&
	    now.st_ino == file.st_ino) {
		snprintf(old, sizeof old, "%s.old", path);
		moved = rename(path, old) == 0;
	}
	close(fd);
	return moved;
}

/*
 * Opens a new log. A log that exists already is kept as NAME.old. If the name is in use, the log is
 * NAME.2, NAME.3 and so on. That happens if a process executes one program after another, and if
 * several processes with the same name for their logs run at the same time. Returns the descriptor,
 * or -1 with errno.
 */
static int open_output(char *path, size_t bytes)
{
	size_t len = strlen(path);
	int fd = -1;

	for (int n = 2, tries = 0; n <= MOST_LOGS && tries < MOST_LOGS; tries++) {
		/* O_EXCL: an existing file belongs to an earlier run or to another process. */
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
		if (!move_away(path))
			snprintf(path + len, bytes - len, ".%d", n++);
	}
	if (fd >= 0)
		/*
		 * On file systems without locks the call fails. There, two processes must not use
		 * the same name at the same time.
		 */
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/*
 * Keeps the lock of the log as long as the process lives. Duplicates of a descriptor share its
 * lock. posix_trace_create_withlog() makes a duplicate and closes it when the stream ends. The
 * duplicate that hold_lock() makes remains open.
 */
static void hold_lock(int fd)
{
	if (fcntl(fd, F_DUPFD_CLOEXEC, LOCK_FD_MIN) >= 0)
		close(fd);
}

/*
 * Sets the attributes that the options give, and defaults for the rest. Returns 0 or an error
 * number.
 */
static int set_attributes(const struct shim_options *options, const char *path, trace_attr_t *attr)
{
	const char *slash = strrchr(path, '/');
	char name[TRACE_NAME_MAX + 1];
	int err;

	/*
	 * Lists of streams show this name, so that users see which log belongs to the stream. A
	 * name that is too long loses its end.
	 */
	snprintf(name, sizeof name, STREAM_NAME "%.*s", (int)(sizeof name - sizeof STREAM_NAME),
		 slash ? slash + 1 : path);
	err = posix_trace_attr_setname(attr, name);
	if (!err)
		err = posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	/*
	 * The defaults suit programs that run for a long time: all events reach the log, and the
	 * log only grows.
	 */
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

/* Creates and starts the stream. Returns 0 or an error number. After an error nothing remains. */
static int create_stream(const struct shim_options *options, const char *path, int fd)
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

/*
 * This is a separate function because of the size of `path`. In shim_session_begin(), the path
 * would cause a page fault of the stack in each program, also without options.
 */
static __attribute__((noinline)) void begin_given(const struct shim_options *options)
{
	char path[PATH_MAX];
	int fd, err, saved = errno;

	if (options->wrong) {
		report_problem(options, options->word, options->wrong);
		return;
	}
	if (has_inherited())
		return;
	if (!expand_path(path, sizeof path, options->output ? options->output : DEFAULT_OUTPUT)) {
		report_problem(options, "-o", strerror(ENAMETOOLONG));
		return;
	}
	fd = open_output(path, sizeof path);
	if (fd < 0) {
		report_problem(options, path, strerror(errno));
		errno = saved;
		return;
	}
	err = create_stream(options, path, fd);
	if (!err) {
		hold_lock(fd);
	/* If the stream could not be created, no empty file must remain. */
	} else {
		close(fd);
		report_problem(options, path, strerror(err));
		unlink(path);
	}
	errno = saved;
}

void shim_session_begin(const struct shim_options *options)
{
	if (options->is_given)
		begin_given(options);
}
