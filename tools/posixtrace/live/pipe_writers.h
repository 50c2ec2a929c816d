/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pipe_writers.h - which processes have which pipe open for writing. The recorder examines all
 * processes of the machine, as far as it may, because an untraced process may write, too.
 *
 * One thread uses these functions. Only files of /proc are read, and no file of a descriptor.
 */
#ifndef POSIXTRACE_LIVE_PIPE_WRITERS_H
#define POSIXTRACE_LIVE_PIPE_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A struct of zeros is empty; the first call of pipe_writers_text() fills it. */
struct pipe_writers {
	struct pipe_writer {
		unsigned long pipe;  /* its inode */
		pid_t pid;
	} *writer;                   /* sorted by pipe, then by process; each pair once */
	size_t writers;
	bool is_filled;
	const char *doubt;           /* why a process may be missing, or NULL */
};

/*
 * Writes the processes that have a pipe open for writing, each with the number of its threads, as
 * "12:3 15:1". pipe is the text of a link, such as "pipe:[4711]", and 'reader' the process that has
 * the link. Returns the reason why the text may lack a process or have a wrong one; NULL: there is
 * no doubt.
 */
const char *pipe_writers_text(struct pipe_writers *writers, pid_t reader, const char *pipe,
			      char *text, size_t size);

/*
 * Writes the names of the processes that have a pipe open for writing, apart from the reader, as
 * "gzip, sh". Names that do not fit are omitted. The function uses the list of writers that
 * pipe_writers_text() has read, so the caller calls that function first.
 */
void pipe_writers_names(const struct pipe_writers *writers, pid_t reader, const char *pipe,
			char *text, size_t size);

/*
 * Writes a process with the number of its threads. The number of the process is that in its own
 * namespace of process IDs, as in its events.
 */
void pipe_writers_process(pid_t pid, char *text, size_t size);

/* Frees the memory. The next call of pipe_writers_text() reads the descriptors again. */
void pipe_writers_fini(struct pipe_writers *writers);

#endif
