/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_origin.h - identity of the process, the machine and the file of a log's writer, and
 * whether that process still runs (FORMAT 2.1, R4).
 *
 * Owner     the caller's memory; the functions keep no state, and any thread may call them.
 * Errors    none: if a fact cannot be found, its field is 0 or empty, and the log is still written.
 *           errno is unchanged.
 */
#ifndef PTX_LOG_FORMAT_ORIGIN_H
#define PTX_LOG_FORMAT_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

/* Identifies a process, even if another process gets the same id later. */
struct ptx_log_writer {
	uint32_t pid;
	uint64_t start;     /* clock ticks after boot, in the initial time namespace */
	uint64_t pid_space; /* inode of the pid namespace */
	uint8_t boot_id[16];
};

struct ptx_log_file_id {
	uint64_t device;
	uint64_t inode;
};

struct ptx_log_origin {
	uint8_t uuid[16];
	uint64_t log_id;
	int64_t begin_ns;
	struct ptx_log_writer writer;
	struct ptx_log_file_id file;
	char host[64];
};

/* Fills *origin for a log that this process writes to `fd`, with new random ids. */
void ptx_log_origin_here(int fd, struct ptx_log_origin *origin);

/*
 * Returns false if the writer has ended, and also if it belongs to another machine, to an earlier
 * boot of this machine, or to another namespace of process ids. Returns true if the writer runs, or
 * if this process cannot determine whether it runs, for example without /proc (FORMAT R4).
 */
bool ptx_log_writer_may_run(const struct ptx_log_writer *writer);

/*
 * Waits at most `ns` nanoseconds for the end of the writer. Returns true if the writer has ended by
 * then, or if ptx_log_writer_may_run() returns false.
 */
bool ptx_log_writer_ends(const struct ptx_log_writer *writer, int64_t ns);

/* Returns true if `fd` is this file. */
bool ptx_log_is_file(int fd, const struct ptx_log_file_id *file);

#endif
