/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "log/format_pack.h"
#include "log/read_scan.h"

/* Holds a block of 64 KiB and its table, in the second-level cache. */
#define WINDOW_BYTES ((size_t)192 * 1024)

void ptx_log_window_measure(struct ptx_log_window *window)
{
	struct stat st;
	int saved = errno;

	if (ptx_file_is(window->fd, &window->file, 0) && !fstat(window->fd, &st))
		window->file_bytes = (uint64_t)st.st_size;
	errno = saved;
}

int ptx_log_window_open(struct ptx_log_window *window, int fd)
{
	int saved = errno;

	memset(window, 0, sizeof(*window));
	window->fd = fd;
	if (!ptx_file_know(fd, &window->file))
		return EBADF;
	window->bytes = malloc(WINDOW_BYTES);
	errno = saved;
	if (!window->bytes)
		return ENOMEM;
	window->room = WINDOW_BYTES;
	ptx_log_window_measure(window);
	return 0;
}

void ptx_log_window_close(struct ptx_log_window *window)
{
	free(window->bytes);
	free(window->unpacked);
	window->bytes = window->unpacked = NULL;
}

static bool grow(struct ptx_log_window *window, size_t len)
{
	int saved = errno;
	uint8_t *more = malloc(len);

	errno = saved;
	if (!more) {
		window->no_memory = true;
		return false;
	}
	free(window->bytes);
	window->bytes = more;
	window->room = len;
	window->have = 0;
	return true;
}

const void *ptx_log_window_at(struct ptx_log_window *w, uint64_t offset, size_t len)
{
	int err;

	if (offset >= w->offset && offset - w->offset <= w->have &&
	    len <= w->have - (offset - w->offset))
		return w->bytes + (offset - w->offset);
	/* No memory is asked for because a length in the file says so. */
	if (offset > w->file_bytes || len > w->file_bytes - offset)
		return NULL;
	if (len > w->room && !grow(w, len))
		return NULL;
	w->offset = offset;
	/* What came before an error is as good as any. */
	err = EBADF;
	w->have = 0;
	if (ptx_file_is(w->fd, &w->file, 0))
		err = ptx_io_read_at(w->fd, w->bytes, w->room, offset, &w->have);
	if (err)
		w->failed = err;
	return len <= w->have ? w->bytes : NULL;
}

enum ptx_log_verdict ptx_log_find(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
				  uint64_t log_id, struct ptx_log_found *found, const char **why)
{
	size_t len = sizeof(struct ptx_log_block);
	enum ptx_log_verdict verdict;
	const void *bytes;

	if (limit > window->file_bytes)
		limit = window->file_bytes;
	*why = "the file ends within a block's header";
	if (offset > limit || limit - offset < len)
		return PTX_LOG_SHORT;
	do {
		bytes = ptx_log_window_at(window, offset, len);
		if (!bytes) {
			*why = "the file cannot be read here";
			return PTX_LOG_DAMAGED;
		}
		verdict = ptx_log_decode_block(bytes, len, log_id, &found->block, why);
		/* A later minor version's header is longer: once more with all of it. */
		if (verdict != PTX_LOG_SHORT || found->block.header_bytes <= len ||
		    found->block.header_bytes > limit - offset)
			break;
		len = found->block.header_bytes;
	} while (1);
	if (verdict != PTX_LOG_GOOD)
		return verdict;
	found->offset = offset;
	found->end = offset + found->block.header_bytes + found->block.payload_bytes;
	if (found->end > limit) {
		*why = "a block runs past the end";
		return PTX_LOG_SHORT;
	}
	return PTX_LOG_GOOD;
}

/* Room for the records of a block; checked: the block is long enough to have as many. */
static uint8_t *unpacked_room(struct ptx_log_window *window, size_t len)
{
	size_t room = len < WINDOW_BYTES ? WINDOW_BYTES : len;
	int saved = errno;

	if (len <= window->unpacked_room)
		return window->unpacked;
	free(window->unpacked);
	window->unpacked = malloc(room);
	window->unpacked_room = window->unpacked ? room : 0;
	if (!window->unpacked)
		window->no_memory = true;
	errno = saved;
	return window->unpacked;
}

static const void *unpack(struct ptx_log_window *window, const struct ptx_log_block *block,
			  const uint8_t *payload, const char **why)
{
	uint8_t *to = unpacked_room(window, block->record_bytes +
						    block->sources * sizeof(struct ptx_log_source));

	*why = to ? ptx_log_unpack(block, payload, to) : "there is not enough memory for a block";
	return *why ? NULL : to;
}

const void *ptx_log_payload(struct ptx_log_window *window, const struct ptx_log_found *found,
			    const char **why)
{
	const uint8_t *bytes =
		ptx_log_window_at(window, found->offset, (size_t)(found->end - found->offset));

	if (!bytes) {
		*why = "the file cannot be read here";
		return NULL;
	}
	bytes += found->block.header_bytes;
	*why = ptx_log_check_payload(&found->block, bytes);
	if (!*why && found->block.type == PTX_LOG_DATA && found->block.shapes)
		return unpack(window, &found->block, bytes, why);
	return *why ? NULL : bytes;
}

/* NULL: a block of any log. */
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

/* Nothing but zeros, which a hole reads as: where the file has data again. */
static uint64_t skip_hole(const struct ptx_log_window *window, uint64_t offset)
{
	size_t have = window->have;

	if (!have || window->bytes[0] || memcmp(window->bytes, window->bytes + 1, have - 1) != 0)
		return offset;
	return ptx_io_next_data(window->fd, offset) & ~UINT64_C(7);
}

static bool resync(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
		   const uint64_t *log_id, struct ptx_log_found *found)
{
	if (limit > window->file_bytes)
		limit = window->file_bytes;
	for (offset = (offset + 7) & ~UINT64_C(7);
	     offset <= limit && sizeof(struct ptx_log_block) <= limit - offset;) {
		const uint8_t *at = ptx_log_window_at(window, offset, sizeof(struct ptx_log_block));
		const uint8_t *end;
		uint32_t magic = 0;

		if (!at) { /* a part of the disk that cannot be read */
			offset += 4096;
			continue;
		}
		end = window->bytes + window->have - sizeof(struct ptx_log_block);
		for (; at <= end; at += 8, offset += 8) {
			memcpy(&magic, at, sizeof(magic));
			if (magic == PTX_LOG_BLOCK_MAGIC)
				break;
		}
		if (magic != PTX_LOG_BLOCK_MAGIC) {
			offset = skip_hole(window, offset);
			continue;
		}
		if (is_block(window, offset, limit, log_id, found))
			return true;
		offset += 8;
	}
	return false;
}

bool ptx_log_resync(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
		    uint64_t log_id, struct ptx_log_found *found)
{
	return resync(window, offset, limit, &log_id, found);
}

bool ptx_log_resync_any(struct ptx_log_window *window, uint64_t offset, uint64_t limit,
			struct ptx_log_found *found)
{
	return resync(window, offset, limit, NULL, found);
}
