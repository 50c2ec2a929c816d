/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_compress.h - compresses the payload of a block by zstd, and decompresses it.
 *
 * Each block is compressed separately, so a reader can begin at any block. The header of a
 * compressed block has the same counts and times as that of the plain block, and is longer by
 * struct ptx_log_compressed (FORMAT 3.1). The checksum covers the compressed bytes, so a reader
 * finds damage before it decompresses them. A payload that does not become shorter is stored as it
 * is.
 *
 * Owner     one caller at a time for each compressor and each expander.
 */
#ifndef PTX_LOG_FORMAT_COMPRESS_H
#define PTX_LOG_FORMAT_COMPRESS_H

#include "log/format.h"

/* The number of bytes of the header of a compressed block. */
#define PTX_LOG_COMPRESSED_HEADER (sizeof(struct ptx_log_block) + sizeof(struct ptx_log_compressed))

struct ptx_log_compressor {
	void *context; /* NULL: nothing is compressed */
	int level;
};

/*
 * Begins a compressor with this level, which is from POSIX_TRACE_COMPRESSION_MIN_NP to
 * POSIX_TRACE_COMPRESSION_MAX_NP and not 0. Returns false if libzstd cannot be loaded or memory is
 * short; the context is then NULL.
 */
bool ptx_log_compressor_begin(struct ptx_log_compressor *compressor, int level);
void ptx_log_compressor_end(struct ptx_log_compressor *compressor);

/*
 * Makes a compressed block of a header and its payload. The fields of the header must be set as for
 * ptx_log_seal_block(). The memory at `to` has room for PTX_LOG_COMPRESSED_HEADER and
 * payload_bytes. Returns the bytes of the block. Returns 0 if the compressor has no context, or if
 * the block would not be shorter than the plain one. Returns 0 also for a payload of less than 64
 * bytes or of more than PTX_LOG_WHOLE_MAX.
 */
size_t ptx_log_compress(const struct ptx_log_compressor *compressor,
			const struct ptx_log_block *block, const void *payload,
			size_t payload_bytes, void *to);

/*
 * Completes a block with its checksums. If `room` is not NULL, the function calls
 * ptx_log_compress() for this memory. If `room` is NULL or ptx_log_compress() returns 0, the block
 * stays plain and where it is. Sets *out to the complete block, and returns its size in bytes.
 */
size_t ptx_log_finish_block(const struct ptx_log_compressor *compressor,
			    struct ptx_log_block *block, size_t payload_bytes, void *room,
			    const uint8_t **out);

/* How a payload is stored in the file. */
struct ptx_log_stored_form {
	uint32_t stored_bytes; /* bytes behind the header, padding included */
	uint32_t frame_bytes;  /* compressed bytes among them; 0: the payload is not compressed */
};

/*
 * Reads the stored form of a block from its header, whose checksum was right. For a compressed
 * block the function sets block->payload_bytes to the size of the payload before compression.
 * Returns NULL, or the reason why the header of a compressed block is invalid (FORMAT B8, 3.9).
 * Call it before memory is allocated.
 */
const char *ptx_log_decode_stored_form(const void *header, struct ptx_log_block *block,
				       struct ptx_log_stored_form *form);

/* Memory for decompressing. All members are zero at first. */
struct ptx_log_expander {
	void *context;
	uint8_t *bytes; /* the last payload */
	size_t room;
};

/*
 * Decompresses a payload whose checksum and lengths were checked. Returns the payload, 8-byte
 * aligned and valid until the next call, or NULL with the reason. *no_memory becomes true if memory
 * was short, and is otherwise unchanged.
 */
const void *ptx_log_expand(struct ptx_log_expander *expander, const struct ptx_log_block *block,
			   const struct ptx_log_stored_form *form, const void *stored,
			   const char **why, bool *no_memory);
void ptx_log_expander_end(struct ptx_log_expander *expander);

#endif
