/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_compress.c - compresses and decompresses blocks (log/FORMAT 3.1, rule B8).
 *
 * Only the writer of a log compresses: the flusher, the caller of a flush, or a guardian. A thread
 * that records events never calls these functions.
 */
#include "log/format_compress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/zstd.h"
#include "log/write_encode.h"

/*
 * For a shorter payload, the longer header and the call would cost more than the compression saves.
 */
#define WORTH_BYTES 64u

bool ptx_log_compressor_begin(struct ptx_log_compressor *compressor, int level)
{
	compressor->level = level;
	compressor->context = ptx_zstd_load() ? ptx_zstd_compressor_new() : NULL;
	return compressor->context;
}

void ptx_log_compressor_end(struct ptx_log_compressor *compressor)
{
	ptx_zstd_compressor_free(compressor->context);
	compressor->context = NULL;
}

/*
 * zstd gets room for a frame that is 16 bytes shorter than the payload. So even with the longer
 * header and the padding the compressed block is shorter than the plain one. If the frame does not
 * fit in this room, the writer writes the plain block.
 */
size_t ptx_log_compress(const struct ptx_log_compressor *compressor,
			const struct ptx_log_block *block, const void *payload,
			size_t payload_bytes, void *to)
{
	struct ptx_log_block *header = to;
	struct ptx_log_compressed *more = (struct ptx_log_compressed *)(header + 1);
	uint8_t *frame = (uint8_t *)(more + 1);
	size_t bytes, padded;

	if (!compressor->context || payload_bytes < WORTH_BYTES ||
	    payload_bytes > PTX_LOG_WHOLE_MAX)
		return 0;
	bytes = ptx_zstd_compress(compressor->context, compressor->level, payload, payload_bytes,
				  frame, payload_bytes - 16);
	if (!bytes)
		return 0;
	padded = (bytes + 7) & ~(size_t)7;
	memset(frame + bytes, 0, padded - bytes);
	*header = *block;
	header->flags |= PTX_LOG_COMPRESSED_BLOCK;
	more->whole_bytes = (uint32_t)payload_bytes;
	more->frame_bytes = (uint32_t)bytes;
	ptx_log_seal_longer_block(header, PTX_LOG_COMPRESSED_HEADER, padded);
	return PTX_LOG_COMPRESSED_HEADER + padded;
}

size_t ptx_log_finish_block(const struct ptx_log_compressor *compressor,
			    struct ptx_log_block *block, size_t payload_bytes, void *room,
			    const uint8_t **out)
{
	size_t bytes = room ? ptx_log_compress(compressor, block, block + 1, payload_bytes, room) :
			      0;

	*out = bytes ? room : (const void *)block;
	if (bytes)
		return bytes;
	ptx_log_seal_block(block, payload_bytes);
	return sizeof(*block) + payload_bytes;
}

/*
 * A reader must find an END block by its last bytes, so an END block is never compressed (FORMAT
 * 3.9). If the type of a block is unknown, the block's flags have no known meaning, and readers
 * skip the payload as it is stored.
 */
const char *ptx_log_decode_stored_form(const void *header, struct ptx_log_block *block,
				       struct ptx_log_stored_form *form)
{
	struct ptx_log_compressed more;

	form->stored_bytes = block->payload_bytes;
	form->frame_bytes = 0;
	if (!(block->flags & PTX_LOG_COMPRESSED_BLOCK) || block->type >= PTX_LOG_TYPES)
		return NULL;
	if (block->type == PTX_LOG_END)
		return "an END block is compressed";
	if (block->header_bytes < PTX_LOG_COMPRESSED_HEADER)
		return "the header of a compressed block is too short";
	memcpy(&more, (const uint8_t *)header + sizeof(*block), sizeof(more));
	if (!more.frame_bytes || more.frame_bytes > form->stored_bytes ||
	    form->stored_bytes - more.frame_bytes > 7)
		return "the compressed length of a block is impossible";
	/*
	 * PTX_LOG_WHOLE_MAX is a constant, so that a few hostile bytes cannot make the reader
	 * allocate much memory.
	 */
	if (more.whole_bytes & 7 || more.whole_bytes > PTX_LOG_WHOLE_MAX)
		return "the length of a compressed block's payload is impossible";
	block->payload_bytes = more.whole_bytes;
	form->frame_bytes = more.frame_bytes;
	return NULL;
}

/*
 * Makes the decompressor at the first call, and room for a payload of `bytes` bytes. When the room
 * grows, its content is lost. Returns false if memory is short.
 */
static bool expander_room(struct ptx_log_expander *expander, size_t bytes)
{
	int saved = errno;

	if (!expander->context)
		expander->context = ptx_zstd_decompressor_new();
	if (expander->context && expander->room < bytes) {
		free(expander->bytes);
		/* Blocks have about the same size, so 50 % more room avoids further allocations. */
		expander->room = bytes + bytes / 2;
		expander->bytes = malloc(expander->room);
		if (!expander->bytes)
			expander->room = 0;
	}
	errno = saved;
	return expander->context && expander->room >= bytes;
}

/*
 * Checks that the padding behind the compressed bytes is zero (FORMAT B8). Returns NULL, or the
 * reason of a failure.
 */
static const char *check_padding(const struct ptx_log_stored_form *form, const uint8_t *stored)
{
	for (uint32_t i = form->frame_bytes; i < form->stored_bytes; i++)
		if (stored[i])
			return "a block's padding is not zero";
	return NULL;
}

const void *ptx_log_expand(struct ptx_log_expander *expander, const struct ptx_log_block *block,
			   const struct ptx_log_stored_form *form, const void *stored,
			   const char **why, bool *no_memory)
{
	if (!ptx_zstd_load()) {
		*why = ptx_zstd_why_missing();
		return NULL;
	}
	*why = check_padding(form, stored);
	if (*why)
		return NULL;
	/*
	 * The room is at least one byte, so that expander->bytes is not NULL for an empty payload.
	 * A result of NULL means an error.
	 */
	if (!expander_room(expander, block->payload_bytes ? block->payload_bytes : 1)) {
		*why = "there is not enough memory for a block";
		*no_memory = true;
		return NULL;
	}
	if (!ptx_zstd_decompress(expander->context, stored, form->frame_bytes, expander->bytes,
				 block->payload_bytes)) {
		*why = "a block cannot be decompressed";
		return NULL;
	}
	return expander->bytes;
}

void ptx_log_expander_end(struct ptx_log_expander *expander)
{
	int saved = errno;

	ptx_zstd_decompressor_free(expander->context);
	free(expander->bytes);
	memset(expander, 0, sizeof(*expander));
	errno = saved;
}
