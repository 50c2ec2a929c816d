/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_origin.h - who writes a log, where, and whether it still runs.
 *
 * Owner     the caller's memory.
 * Errors    what cannot be found out is 0 or empty: a log is written all the same.
 */
#ifndef PTX_LOG_FORMAT_ORIGIN_H
#define PTX_LOG_FORMAT_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

struct ptx_log_writer {
	uint32_t pid;
	uint64_t start;     /* clock ticks after boot, in the first time name space */
	uint64_t pid_space; /* inode of the pid name space */
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

/* What is true of this process, now, writing to fd. */
void ptx_log_origin_here(int fd, struct ptx_log_origin *origin);

/*
 * That process may run. False: it ran on another machine or before this one was started anew; or in
 * another name space of process ids, where its id says nothing; or it is known to have ended.
 */
bool ptx_log_writer_may_run(const struct ptx_log_writer *writer);

/* Waits for the end of that process, at most so long. True: it does not run. */
bool ptx_log_writer_ends(const struct ptx_log_writer *writer, int64_t ns);

bool ptx_log_is_file(int fd, const struct ptx_log_file_id *file);

#endif
