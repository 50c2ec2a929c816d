/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_scan.h - block after block of a log file, for readers.
 *
 * A window is a private copy of a part of the file, at least as large as what was asked for. The
 * file may change or be cut meanwhile: then a block is not valid, nothing worse.
 *
 * Owner     one caller at a time. Pointers into a window hold until the next call with it.
 * Errors    a verdict and a reason in English.
 */
#ifndef PTX_LOG_READ_SCAN_H
#define PTX_LOG_READ_SCAN_H

#include "base/file.h"
#include "log/read_decode.h"

struct ptx_log_window {
	int fd;
	struct ptx_file file; /* what fd is; EBADF when the program has another file there */
	uint8_t *bytes;
	size_t room;
	size_t have;
	uint64_t offset;
	uint64_t file_bytes;
	uint8_t *unpacked; /* records and table of a packed block */
	size_t unpacked_room;
	bool no_memory; /* there was none once: what was not found may be there */
	int failed;     /* errno of a read that failed, the same */
};

/* A block whose header was found good. */
struct ptx_log_found {
	struct ptx_log_block block;
	uint64_t offset;
	uint64_t end; /* where the next one begins in a sequence */
};

/* Takes the file's size; ENOMEM, EBADF. fd stays the caller's. */
int ptx_log_window_open(struct ptx_log_window *window, int fd);
void ptx_log_window_close(struct ptx_log_window *window);

/* The file's size now, for a log that grows. */
void ptx_log_window_measure(struct ptx_log_window *window);

/* The copy is out of date: the caller has written into the file. */
static inline void ptx_log_window_forget(struct ptx_log_window *window)
{
	window->have = 0;
}

/* len bytes of the file, NULL where it ends, cannot be read or memory is short. */
const void *ptx_log_window_at(struct ptx_log_window *window, uint64_t offset, size_t len);

/* The header of the block at offset; the block must end at limit. SHORT: the file ends. */
enum ptx_log_verdict ptx_log_find(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
				  uint64_t log_id, struct ptx_log_found *found, const char **why);

/* Its payload, checked, or NULL. Of DATA, packed or plain: record_bytes of records, then the table
 * of threads. */
const void *ptx_log_payload(struct ptx_log_window *window, const struct ptx_log_found *found,
			    const char **why);

/* From offset on, the first place with a good block header (R7); the same of any log. */
bool ptx_log_resync(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
		    uint64_t log_id, struct ptx_log_found *found);
bool ptx_log_resync_any(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
			struct ptx_log_found *found);

#endif
