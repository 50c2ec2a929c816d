/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipe_writers.c - reads the descriptors of all processes once for all pipes. */
#include "live/pipe_writers.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/vec.h"

/*
 * Limits of one search, so that a machine with many descriptors does not delay the recording. The
 * time is CPU time: on a loaded machine a search takes longer, but finds the same.
 */
#define WRITERS_MOST 65536
#define SEARCH_NS    INT64_C(100000000)
#define LOOKS_AT     256 /* the time is examined after this number of descriptors */

#define FORBIDDEN  "the recorder may not examine the descriptors of all processes"
#define OTHER_IDS  "a process of another namespace of process IDs could write into the pipe"
#define TOO_MANY   "there are too many descriptors to find each process that could write"

/* Returns the CPU time of this thread. */
static int64_t spent_ns(void)
{
	struct timespec spent = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return (int64_t)spent.tv_sec * 1000000000 + spent.tv_nsec;
}

static int by_pipe(const void *a, const void *b)
{
	const struct pipe_writer *x = a, *y = b;

	if (x->pipe != y->pipe)
		return x->pipe < y->pipe ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Adds the pipes that a process has open for writing. Returns false if a limit is reached. */
static bool add_process(struct pipe_writers *writers, pid_t pid, int64_t end_ns, unsigned *looks)
{
	char path[300], text[64];
	const struct dirent *entry;
	struct stat stat;
	bool good = true;
	ssize_t len;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	/* A process that has ended meanwhile writes no more. */
	if (!folder && errno != ENOENT && errno != ESRCH)
		writers->doubt = FORBIDDEN;
	while (good && folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		if (++*looks % LOOKS_AT == 0)
			good = spent_ns() < end_ns;
		len = readlink(path, text, sizeof(text) - 1);
		text[len > 0 ? len : 0] = '\0';
		/*
		 * The mode of the link, and not the mode of the pipe, shows how the pipe was
		 * opened.
		 */
		if (strncmp(text, "pipe:[", 6) || lstat(path, &stat) || !(stat.st_mode & S_IWUSR))
			continue;
		good = good && writers->writers < WRITERS_MOST &&
		       vec_grow(&writers->writer, writers->writers, 1);
		if (good)
			writers->writer[writers->writers++] = (struct pipe_writer){
				strtoul(text + 6, NULL, 10), pid };
	}
	if (folder)
		closedir(folder);
	return good;
}

/*
 * Returns whether a process has no descriptors, because it is a thread of the kernel or has ended.
 * The function needs no right to examine the descriptors. If the main thread has ended before other
 * threads, the descriptors of the process are not visible, and the doubt is noted.
 */
static bool has_none(struct pipe_writers *writers, pid_t pid)
{
	char path[64], text[PROCFILE_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!procfile_read(path, text, sizeof(text)))
		return errno == ENOENT || errno == ESRCH;
	if (procfile_field(text, "VmSize:"))
		return false;
	if (procfile_number(text, "Threads:", 10, 1) > 1)
		writers->doubt = FORBIDDEN;
	return true;
}

static void fill_writers(struct pipe_writers *writers)
{
	const int64_t end_ns = spent_ns() + SEARCH_NS;
	const struct dirent *entry;
	DIR *folder = opendir("/proc");
	unsigned looks = 0;
	bool good = folder != NULL;
	size_t used = 0;

	writers->is_filled = true;
	while (good && (entry = readdir(folder))) {
		const pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && !has_none(writers, pid))
			good = add_process(writers, pid, end_ns, &looks);
	}
	if (folder)
		closedir(folder);
	if (!good)
		writers->doubt = TOO_MANY;
	if (writers->writers)
		qsort(writers->writer, writers->writers, sizeof(*writers->writer), by_pipe);
	for (size_t i = 0; i < writers->writers; i++)
		if (!used || by_pipe(&writers->writer[used - 1], &writers->writer[i]))
			writers->writer[used++] = writers->writer[i];
	writers->writers = used;
}

void pipe_writers_process(pid_t pid, char *text, size_t size)
{
	char path[64], status[PROCFILE_BYTES];
	unsigned long long threads = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (procfile_read(path, status, sizeof(status)))
		threads = procfile_number(status, "Threads:", 10, 0);
	snprintf(text, size, "%d:%llu", (int)procfile_inner_id(pid, pid), threads);
}

const char *pipe_writers_text(struct pipe_writers *writers, pid_t reader, const char *pipe,
			      char *text, size_t size)
{
	const char *doubt;
	unsigned long number;
	size_t used = 0;

	*text = '\0';
	if (strncmp(pipe, "pipe:[", 6))
		return NULL;
	if (!writers->is_filled)
		fill_writers(writers);
	doubt = writers->doubt;
	number = strtoul(pipe + 6, NULL, 10);
	for (size_t i = 0; i < writers->writers; i++) {
		char one[40];

		if (writers->writer[i].pipe != number)
			continue;
		pipe_writers_process(writers->writer[i].pid, one, sizeof(one));
		if (!doubt && !procfile_same_ids(writers->writer[i].pid, reader))
			doubt = OTHER_IDS;
		if (used + strlen(one) + 2 > size)
			return TOO_MANY;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", one);
	}
	return doubt;
}

void pipe_writers_names(const struct pipe_writers *writers, pid_t reader, const char *pipe,
			char *text, size_t size)
{
	const unsigned long number = strncmp(pipe, "pipe:[", 6) ? 0 : strtoul(pipe + 6, NULL, 10);
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; number && i < writers->writers; i++) {
		const struct pipe_writer *writer = &writers->writer[i];
		char name[64];

		if (writer->pipe != number || writer->pid == reader ||
		    !procfile_name(writer->pid, writer->pid, name, sizeof(name)))
			continue;
		if (used + strlen(name) + 3 > size)
			return;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
	}
}

void pipe_writers_fini(struct pipe_writers *writers)
{
	free(writers->writer);
	*writers = (struct pipe_writers){ .writers = 0 };
}
