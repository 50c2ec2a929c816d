/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* origin.c - reads which stream has written a log, and compares the streams of several logs. */
#include "log/origin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/logfile.h"

/* A log and its place on the command line. */
struct placed_log {
	struct origin origin;
	size_t index;
};

void origin_read(struct origin *origin, trace_id_t trid)
{
	struct posix_trace_loginfo_np info;
	trace_attr_t attr;

	if (posix_trace_get_loginfo_np(trid, &info) || posix_trace_get_attr(trid, &attr))
		return;
	posix_trace_attr_getcreatetime(&attr, &origin->created);
	posix_trace_attr_destroy(&attr);
	origin->pid = info.pid;
	memcpy(origin->boot_id, info.boot_id, sizeof(origin->boot_id));
	origin->begin_ns = info.begin_ns;
	origin->last_ns = info.last_ns;
}

bool origin_is_same(const struct origin *a, const struct origin *b)
{
	return a->pid == b->pid && a->created.tv_sec == b->created.tv_sec &&
	       a->created.tv_nsec == b->created.tv_nsec &&
	       !memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
}

/*
 * Reads the origin of a file. Returns false if the log lacks the process, the boot identifier or
 * the time of creation. A log that was made from another trace may lack one of these. Two such logs
 * may be of different recordings although all other facts are equal.
 */
static bool read_file(const char *path, struct origin *origin)
{
	static const unsigned char none[16];
	/* O_NONBLOCK: the path may name a FIFO without a writer. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat file;
	trace_id_t trid;

	memset(origin, 0, sizeof(*origin));
	if (fd < 0)
		return false;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) &&
	    !posix_trace_open_np(fd, LOGFILE_REOPEN, &trid)) {
		origin_read(origin, trid);
		posix_trace_close(trid);
	}
	close(fd);
	return origin->pid > 0 && (origin->created.tv_sec || origin->created.tv_nsec) &&
	       memcmp(origin->boot_id, none, sizeof(none)) != 0;
}

/*
 * Returns whether a stream may have written the second log after the first one. The stream writes
 * the end of its last flush into the first log when the second one has begun, so the logs may
 * overlap. But a second log that does not end after the first one is a part or a copy of the first
 * one. For a log without events, last_ns is 0, so the ends are not compared.
 */
static bool is_later(const struct origin *a, const struct origin *b)
{
	return a->begin_ns < b->begin_ns && (a->last_ns < b->last_ns || !a->last_ns || !b->last_ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct placed_log *x = a, *y = b;

	return (x->origin.begin_ns > y->origin.begin_ns) -
	       (x->origin.begin_ns < y->origin.begin_ns);
}

bool origin_is_one(char *const *path, size_t paths, size_t *order)
{
	struct placed_log *log = paths > 1 ? calloc(paths, sizeof(*log)) : NULL;
	bool is_one = log != NULL;

	for (size_t i = 0; is_one && i < paths; i++) {
		log[i].index = i;
		is_one = read_file(path[i], &log[i].origin) &&
			 origin_is_same(&log[i].origin, &log[0].origin);
	}
	if (is_one)
		qsort(log, paths, sizeof(*log), by_begin);
	for (size_t i = 1; is_one && i < paths; i++)
		is_one = is_later(&log[i - 1].origin, &log[i].origin);
	for (size_t i = 0; is_one && order && i < paths; i++)
		order[i] = log[i].index;
	free(log);
	return is_one;
}
