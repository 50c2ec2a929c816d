/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_scan.h - finds the blocks of a log file, for readers.
 *
 * A window is a private copy of a part of the file. The part is at least as large as the caller
 * asked for. The library does not map logs, because another process may change or truncate the file
 * at any time. An access to a mapping would then raise SIGBUS, or return other bytes than those
 * that were checked. With a copy, a change can only make a block invalid.
 *
 * Owner     one caller at a time. Pointers into a window are valid until the next call with it.
 * Errors    a verdict and a reason as an English text; errno is unchanged.
 */
#ifndef PTX_LOG_READ_SCAN_H
#define PTX_LOG_READ_SCAN_H

#include "base/file.h"
#include "log/format_compress.h"
#include "log/read_decode.h"

struct ptx_log_window {
	int fd;
	/* identity of the file; if `fd` is another file by now, reads fail with EBADF */
	struct ptx_file file;
	uint8_t *bytes;    /* memory of `room` bytes; the first `have` of them are of the file */
	size_t room;
	size_t have;
	uint64_t offset;   /* where these bytes are in the file */
	uint64_t file_bytes;
	uint8_t *unpacked; /* records and table of a packed block */
	size_t unpacked_room;
	struct ptx_log_expander expander;
	bool no_memory; /* memory was short once, so a block that was not found may exist */
	/* errno of a failed read, after which a block that was not found may exist; 0: none */
	int failed;
};

/*
 * A block with a valid header. block.payload_bytes is the size of the payload before compression.
 */
struct ptx_log_found {
	struct ptx_log_block block;
	struct ptx_log_stored_form form;
	uint64_t offset;
	uint64_t end; /* where the next block of a sequence begins */
};

/* Opens a window on `fd`, which the caller keeps open and closes. Returns 0, ENOMEM or EBADF. */
int ptx_log_window_open(struct ptx_log_window *window, int fd);
void ptx_log_window_close(struct ptx_log_window *window);

/* Reads the size of the file again, for a log that is being written. */
void ptx_log_window_measure(struct ptx_log_window *window);

/* Discards the copy, after the caller has written into the file. */
static inline void ptx_log_window_forget(struct ptx_log_window *window)
{
	window->have = 0;
}

/*
 * Returns `len` bytes of the file at `offset`, or NULL if the file ends before, cannot be read, or
 * memory is short. All `len` bytes are in memory at the same time.
 */
const void *ptx_log_window_at(struct ptx_log_window *window, uint64_t offset, size_t len);

/*
 * Reads the header of the block at `offset` and checks FORMAT B1 to B5, and the lengths of FORMAT
 * B8. The block must end at `limit` or before. Returns the verdict. PTX_LOG_SHORT: the end of the
 * file or `limit` is before the end of the block.
 */
enum ptx_log_verdict ptx_log_find(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
				  uint64_t log_id, struct ptx_log_found *found, const char **why);

/*
 * Returns the checked payload of a block, or NULL. A DATA block gives the same bytes whether it is
 * compressed, packed or plain: record_bytes of records, then the table of threads.
 */
const void *ptx_log_payload(struct ptx_log_window *window, const struct ptx_log_found *found,
			    const char **why);

/*
 * Finds the first block at or after `offset` with a valid header (FORMAT R7). ptx_log_resync()
 * accepts only blocks of the log `log_id`. ptx_log_resync_any() accepts blocks of any log. The
 * search ends at `limit`, or at the end of the file if the file ends before `limit`. The functions
 * return false if they find no block.
 */
bool ptx_log_resync(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
		    uint64_t log_id, struct ptx_log_found *found);
bool ptx_log_resync_any(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
			struct ptx_log_found *found);

#endif
