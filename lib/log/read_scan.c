/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_scan.c - reads parts of a log file into memory, and finds blocks in them.
 *
 * A length from the file is compared with the size of the file before memory is allocated. So the
 * window is at most as large as the file, or WINDOW_BYTES for a small file. A compressed block
 * needs at most 1.5 times PTX_LOG_WHOLE_MAX bytes more. A packed block needs WINDOW_BYTES more, or
 * 8 times the bytes of its payload if that is more (unpacked_room()).
 *
 * The program may have closed the descriptor and opened another file with the same number. So
 * before each read, and before each search for the end of a hole, the library checks that the
 * descriptor still leads to the file with which the window was opened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "log/format_pack.h"
#include "log/read_scan.h"

/* Room for a block of 64 KiB with its table; it fits into the second-level cache. */
#define WINDOW_BYTES ((size_t)192 * 1024)

/* After an error file_bytes keeps the old size, and reads end where they ended before. */
void ptx_log_window_measure(struct ptx_log_window *window)
{
	struct stat st;
	int saved = errno;

	/*
	 * The program may have opened another file with this descriptor. The size of that file is
	 * not the size of the log.
	 */
	if (ptx_file_is(window->fd, &window->file) && !fstat(window->fd, &st))
		window->file_bytes = (uint64_t)st.st_size;
	/* fstat() may have set errno, which must be unchanged (read_scan.h). */
	errno = saved;
}

int ptx_log_window_open(struct ptx_log_window *window, int fd)
{
	int saved = errno;

	memset(window, 0, sizeof(*window));
	/* From here on the members that ptx_log_window_close() uses are zero or set. */
	window->fd = fd;
	/* The identity of the file, for the comparison before each read. */
	if (!ptx_file_identify(fd, &window->file))
		return EBADF;
	window->bytes = malloc(WINDOW_BYTES);
	errno = saved;
	if (!window->bytes)
		return ENOMEM;
	window->room = WINDOW_BYTES;
	ptx_log_window_measure(window);
	return 0;
}

/* The descriptor is the caller's and stays open. */
void ptx_log_window_close(struct ptx_log_window *window)
{
	free(window->bytes);
	free(window->unpacked);
	ptx_log_expander_end(&window->expander);
	window->bytes = window->unpacked = NULL;
}

/*
 * Enlarges the window to `len` bytes. Returns false if memory is short. The content is not copied:
 * the caller reads the window again from the file.
 */
static bool read_scan_grow(struct ptx_log_window *window, size_t len)
{
	int saved = errno;
	uint8_t *more = malloc(len);

	errno = saved;
	if (!more) {
		/* no_memory shows the caller that a block may exist although it was not found. */
		window->no_memory = true;
		return false;
	}
	free(window->bytes);
	window->bytes = more;
	window->room = len;
	window->have = 0;
	return true;
}

/*
 * The function fills the window from `offset` on with as many bytes as it has room for, because
 * blocks are read in the order of the file. The conditions subtract instead of adding `len` to
 * `offset`, because the sum may overflow.
 */
const void *ptx_log_window_at(struct ptx_log_window *w, uint64_t offset, size_t len)
{
	int err;

	if (offset >= w->offset && offset - w->offset <= w->have &&
	    len <= w->have - (offset - w->offset))
		return w->bytes + (offset - w->offset);
	/*
	 * The length may come from the file, so it is compared with the file's size before memory
	 * is allocated for it.
	 */
	if (offset > w->file_bytes || len > w->file_bytes - offset)
		return NULL;
	if (len > w->room && !read_scan_grow(w, len))
		return NULL;
	/* The window is empty until the read has succeeded. */
	w->offset = offset;
	/*
	 * If a read ends with an error, the bytes that were read before the error are used like any
	 * others. The member `failed` gets the error.
	 */
	err = EBADF;
	w->have = 0;
	/* The program may have closed the descriptor between two reads. */
	if (ptx_file_is(w->fd, &w->file))
		err = ptx_io_read_at(w->fd, w->bytes, w->room, offset, &w->have);
	if (err)
		w->failed = err;
	return len <= w->have ? w->bytes : NULL;
}

/*
 * `limit` is the end of an area, of a slot or of the file. The header of a later minor version may
 * be longer than that of this version. Then the function decodes it again with more bytes. The
 * second round has all bytes of the header, so it is the last one. FORMAT B2 bounds the length.
 */
enum ptx_log_verdict ptx_log_find(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
				  uint64_t log_id, struct ptx_log_found *found, const char **why)
{
	size_t len = sizeof(struct ptx_log_block);
	enum ptx_log_verdict verdict;
	const void *bytes;

	/* file_bytes is an earlier size. If the file has shrunk since, the read below is short. */
	if (limit > window->file_bytes)
		limit = window->file_bytes;
	*why = "the file ends within a block's header";
	if (offset > limit || limit - offset < len)
		return PTX_LOG_SHORT;
	do {
		bytes = ptx_log_window_at(window, offset, len);
		/*
		 * If this part of the file cannot be read, the verdict is not SHORT, because the
		 * file is long enough. A later read may succeed.
		 */
		if (!bytes) {
			*why = "the file cannot be read here";
			return PTX_LOG_DAMAGED;
		}
		verdict = ptx_log_decode_block(bytes, len, log_id, &found->block, why);
		/* A longer header is decoded once more, with all its bytes. */
		if (verdict != PTX_LOG_SHORT || found->block.header_bytes <= len ||
		    found->block.header_bytes > limit - offset)
			break;
		/* The verdict SHORT implies that FORMAT B2 holds, so the length is at most 1024. */
		len = found->block.header_bytes;
	} while (1);
	/*
	 * If the verdict is not GOOD, *found is not complete. A caller then uses only found->block,
	 * and only if the verdict is FOREIGN.
	 */
	if (verdict != PTX_LOG_GOOD)
		return verdict;
	*why = ptx_log_decode_stored_form(bytes, &found->block, &found->form);
	if (*why)
		return PTX_LOG_WRONG;
	found->offset = offset;
	found->end = offset + found->block.header_bytes + found->form.stored_bytes;
	/*
	 * FORMAT B5: header_bytes and stored_bytes are bounded, so the sum above cannot overflow.
	 */
	if (found->end > limit) {
		*why = "a block runs past the end";
		return PTX_LOG_SHORT;
	}
	return PTX_LOG_GOOD;
}

/*
 * Returns room for the records of a packed block. ptx_log_check_packed() has bounded record_bytes
 * by the payload's length. So the room is at most GROWTH_MAX (format_pack.c) times as large as the
 * payload in the file, or WINDOW_BYTES for a small payload.
 */
static uint8_t *unpacked_room(struct ptx_log_window *window, size_t len)
{
	size_t room = len < WINDOW_BYTES ? WINDOW_BYTES : len;
	int saved = errno;

	/* The room is kept from block to block; its content is not. */
	if (len <= window->unpacked_room)
		return window->unpacked;
	free(window->unpacked);
	window->unpacked = malloc(room);
	/* After a failure the room is 0, so that the next call tries again. */
	window->unpacked_room = window->unpacked ? room : 0;
	if (!window->unpacked)
		window->no_memory = true;
	errno = saved;
	return window->unpacked;
}

/*
 * Returns the records and the table of a packed block, or NULL with the reason. The sum of the
 * lengths cannot overflow: record_bytes is at most 2^29 (FORMAT D1), and the table is in the
 * payload.
 */
static const void *read_scan_unpack(struct ptx_log_window *window,
				    const struct ptx_log_block *block, const uint8_t *payload,
				    const char **why)
{
	uint8_t *to = unpacked_room(window, block->record_bytes +
						    block->sources * sizeof(struct ptx_log_source));

	/* The events are checked while they are copied (FORMAT D1, D2). */
	*why = to ? ptx_log_unpack(block, payload, to) : "there is not enough memory for a block";
	return *why ? NULL : to;
}

/*
 * The header and the payload of a block are read together: for a large block the window grows to
 * the size of the block. The caller has found the block in this file, so its end was within the
 * size that the file had then.
 */
const void *ptx_log_payload(struct ptx_log_window *window, const struct ptx_log_found *found,
			    const char **why)
{
	const bool was_short = window->no_memory;
	const uint8_t *bytes;

	window->no_memory = false;
	bytes = ptx_log_window_at(window, found->offset, (size_t)(found->end - found->offset));
	if (!bytes)
		*why = window->no_memory ? "there is not enough memory for a block" :
		       "the file cannot be read here";
	window->no_memory |= was_short;
	if (!bytes)
		return NULL;
	/* The payload begins behind the header, whatever length that has (FORMAT B2). */
	bytes += found->block.header_bytes;
	*why = ptx_log_check_sum(&found->block, bytes, found->form.stored_bytes);
	if (!*why && found->form.frame_bytes)
		bytes = ptx_log_expand(&window->expander, &found->block, &found->form, bytes, why,
				       &window->no_memory);
	if (!*why)
		*why = ptx_log_check_content(&found->block, bytes);
	if (!*why && found->block.type == PTX_LOG_DATA && found->block.shapes)
		return read_scan_unpack(window, &found->block, bytes, why);
	return *why ? NULL : bytes;
}

/*
 * Returns true if a block with a valid header is at `offset`. If log_id is NULL, a block of any log
 * is accepted. The first attempt then uses the id 0. If its verdict is FOREIGN, a second attempt
 * uses the block's own id.
 */
static bool is_block(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
		     const uint64_t *log_id, struct ptx_log_found *found)
{
	const char *why;
	enum ptx_log_verdict verdict =
		ptx_log_find(window, offset, limit, log_id ? *log_id : 0, found, &why);

	if (verdict == PTX_LOG_FOREIGN && !log_id)
		verdict = ptx_log_find(window, offset, limit, found->block.log_id, found, &why);
	return verdict == PTX_LOG_GOOD;
}

/*
 * If the window has only zeros, asks the system for the next data in the file, and returns the
 * offset of the data. Otherwise, or if the system reports no holes, returns the parameter `offset`.
 * The search of a sparse file of a terabyte needs little time, because it omits holes. The offset
 * stays a multiple of 8 (FORMAT B1).
 */
static uint64_t skip_hole(const struct ptx_log_window *window, uint64_t offset)
{
	size_t have = window->have;

	if (!have || window->bytes[0] || memcmp(window->bytes, window->bytes + 1, have - 1) != 0)
		return offset;
	if (!ptx_file_is(window->fd, &window->file))
		return offset; /* the next read reports it */
	return ptx_io_next_data(window->fd, offset) & ~UINT64_C(7);
}

/*
 * Finds the first block with a valid header from `offset` on. Returns false if there is none before
 * `limit`. Only multiples of 8 can begin a block (FORMAT B1). The magic is compared in the window,
 * and the header is decoded only where it matches. Each round increases the offset, so hostile
 * content cannot make the search endless; its time is bounded by the size of the file.
 */
static bool read_scan_resync(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
			     const uint64_t *log_id, struct ptx_log_found *found)
{
	if (limit > window->file_bytes)
		limit = window->file_bytes;
	for (offset = (offset + 7) & ~UINT64_C(7);
	     offset <= limit && sizeof(struct ptx_log_block) <= limit - offset;) {
		const uint8_t *at = ptx_log_window_at(window, offset, sizeof(struct ptx_log_block));
		const uint8_t *end;
		uint32_t magic = 0;

		/*
		 * If these bytes cannot be read, perhaps because of a bad block of the disk, the
		 * search continues with the next page.
		 */
		if (!at) {
			offset += 4096;
			continue;
		}
		/* The last place in the window with room for a header. */
		end = window->bytes + window->have - sizeof(struct ptx_log_block);
		/*
		 * Each step advances the pointer and `offset` together by 8 bytes, so `offset`
		 * remains a multiple of 8, and the pointer remains its place in the window.
		 */
		for (; at <= end; at += 8, offset += 8) {
			memcpy(&magic, at, sizeof(magic));
			if (magic == PTX_LOG_BLOCK_MAGIC)
				break;
		}
		if (magic != PTX_LOG_BLOCK_MAGIC) {
			/*
			 * The window has no magic before `offset`. The next window begins at
			 * `offset`, or behind a hole at this offset.
			 */
			offset = skip_hole(window, offset);
			continue;
		}
		/*
		 * The magic alone may be data of an event, so the header's checksum decides (FORMAT
		 * B3).
		 */
		if (is_block(window, offset, limit, log_id, found))
			return true;
		offset += 8;
	}
	return false;
}

/* Blocks of older logs in the same file are skipped (FORMAT B4). */
bool ptx_log_resync(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
		    uint64_t log_id, struct ptx_log_found *found)
{
	return read_scan_resync(window, offset, limit, &log_id, found);
}

/*
 * This function is for a log whose header is damaged: the first valid block gives the log_id
 * (FORMAT R8).
 */
bool ptx_log_resync_any(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
			struct ptx_log_found *found)
{
	return read_scan_resync(window, offset, limit, NULL, found);
}
