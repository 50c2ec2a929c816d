/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_decode.c - checks and decodes the header of a log and the headers of its blocks.
 *
 * The functions check the rules H1 to H6 (header) and B1 to B5 (block header) of log/FORMAT, in
 * this order. There is one exception: the checksum (H3) and a reversed byte order are checked
 * before the rest of H2. The first broken rule determines the message, so that the user can
 * distinguish a file that is no log, a log of another machine, and a damaged log. The functions
 * check the values in a copy of the structure, which the caller then uses.
 */
#include <pthread.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/read_decode.h"
#include "log/write_encode.h"

/*
 * A fuzzer cannot guess checksums. So the build for fuzzing accepts any checksum, and the fuzzer
 * reaches the later checks.
 */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define CHECKSUM_IS(value, expected) ((value) == (expected) || true)
#else
#define CHECKSUM_IS(value, expected) ((value) == (expected))
#endif

/* Stores the reason of a verdict and returns the verdict. */
static enum ptx_log_verdict verdict_with_reason(enum ptx_log_verdict verdict, const char **why,
						const char *reason)
{
	*why = reason;
	return verdict;
}

/* FORMAT H6, N1: a text has a NUL within its field, so that later code can use it as a string. */
static bool is_text(const char *text, size_t room)
{
	return memchr(text, 0, room) != NULL;
}

const char *ptx_log_check_areas(const struct ptx_log_header *h)
{
	if (h->arrangement == PTX_LOG_SEQUENCE)
		return NULL;
	if (h->arrangement != PTX_LOG_SLOTS)
		return "the header has an arrangement that does not exist";
	/*
	 * Blocks are 8-byte aligned (FORMAT B1), so each area begins and ends at a multiple of 8.
	 */
	if ((h->names_offset | h->names_bytes | h->lists_offset | h->lists_bytes | h->slots_offset |
	     h->slot_bytes) & 7)
		return "an area of the header is not a multiple of 8";
	/*
	 * With each value below 2^48 the sums below cannot overflow. The offset of a slot cannot
	 * overflow either, because readers stop 4096 slots behind the last block of the file
	 * (FORMAT R6).
	 */
	if (h->lists_offset >= PTX_LOG_OFFSET_MAX || h->lists_bytes >= PTX_LOG_OFFSET_MAX ||
	    h->names_offset >= PTX_LOG_OFFSET_MAX || h->names_bytes >= PTX_LOG_OFFSET_MAX ||
	    h->slots_offset >= PTX_LOG_OFFSET_MAX || h->slot_bytes >= PTX_LOG_OFFSET_MAX)
		return "an area of the header is too large";
	/* A names area and a slot have room for a block header and at least one byte of payload. */
	if (h->names_offset < PTX_LOG_HEADER_BYTES ||
	    h->names_bytes <= sizeof(struct ptx_log_block) ||
	    h->slot_bytes <= sizeof(struct ptx_log_block) ||
	    h->slots_offset < h->names_offset + 2 * h->names_bytes)
		return "the areas of the header overlap or are too small";
	/* Logs of version 1.0 have no lists area: then both fields are zero. */
	if (h->lists_bytes && (h->lists_offset < h->names_offset + 2 * h->names_bytes ||
			       h->slots_offset < h->lists_offset + h->lists_bytes))
		return "the areas of the header overlap or are too small";
	return NULL;
}

/*
 * Checks FORMAT H2. If a size differs from the size on this machine, later fields are at other
 * offsets. So the log cannot be read, even if its checksum is right. Returns NULL, or the reason
 * why the log cannot be read.
 */
static const char *check_machine(const struct ptx_log_header *h)
{
	if (h->byte_order != PTX_LOG_BYTE_ORDER)
		return "the log has another byte order";
	if (h->version_major != PTX_LOG_MAJOR)
		return "the log has another major version";
	if (h->word_bytes != sizeof(void *) || h->pthread_bytes != sizeof(pthread_t) ||
	    h->event_set_bytes != PTX_EVENT_SET_BYTES)
		return "the log is of another type of machine";
	if (h->record_bytes != sizeof(struct ptx_record) ||
	    h->block_bytes != sizeof(struct ptx_log_block) ||
	    h->header_bytes != PTX_LOG_HEADER_BYTES)
		return "the header has sizes that this version does not have";
	return NULL;
}

/*
 * Checks FORMAT H1 to H6. If the checksum is wrong and the major version is another one, the log
 * may be intact, because a later major version may compute the checksum in another way. *h is set
 * unless the verdict is NO_MAGIC or SHORT.
 */
enum ptx_log_verdict ptx_log_decode_header(const void *bytes, size_t len,
					   struct ptx_log_header *h, const char **why)
{
	const char *reason;

	/* FORMAT H1: without the magic nothing else in the file has a meaning. */
	if (len < sizeof(h->magic) || memcmp(bytes, PTX_LOG_MAGIC, sizeof(h->magic)))
		return verdict_with_reason(PTX_LOG_NO_MAGIC, why, "this is not a trace log");
	if (len < sizeof(*h))
		return verdict_with_reason(PTX_LOG_SHORT, why, "the file ends within the header");
	/* The function checks a copy, which no other process can change after a check. */
	memcpy(h, bytes, sizeof(*h));
	/*
	 * The byte order is compared before the checksum. If the byte order differs, the checksum
	 * seems wrong, too, although the log is intact and only comes from another type of machine.
	 * The message must not call such a log damaged.
	 */
	if (h->byte_order == __builtin_bswap64(PTX_LOG_BYTE_ORDER))
		return verdict_with_reason(PTX_LOG_WRONG, why, "the log has another byte order");
	if (!CHECKSUM_IS(h->header_crc,
			 ptx_log_crc_without(h, PTX_LOG_CLOSING_AT,
					     offsetof(struct ptx_log_header, header_crc)))) {
		/* Another major version may have its checksum at another offset. */
		if (h->version_major != PTX_LOG_MAJOR)
			return verdict_with_reason(
				PTX_LOG_WRONG, why,
				"the log has another major version, or its header is damaged");
		/* FORMAT H3, R8: the caller may still salvage the log, because *h has the bytes. */
		return verdict_with_reason(PTX_LOG_DAMAGED, why, "the header's checksum is wrong");
	}
	reason = check_machine(h);
	/*
	 * FORMAT H4: compatible flags are ignored, incompatible ones change the meaning of the
	 * file.
	 */
	if (!reason && h->flags_incompatible & ~PTX_LOG_COMPRESSED_LOG)
		reason = "the log uses a feature that this version does not know";
	if (!reason)
		reason = ptx_log_check_areas(h);
	if (!reason &&
	    (!is_text(h->clock, sizeof(h->clock)) || !is_text(h->host, sizeof(h->host)) ||
	     !is_text(h->name, sizeof(h->name)) || !is_text(h->generation, sizeof(h->generation))))
		reason = "a text in the header has no end";
	if (reason)
		return verdict_with_reason(PTX_LOG_WRONG, why, reason);
	return PTX_LOG_GOOD;
}

/*
 * If this function returns false, the state of the closing area is unknown, and readers treat the
 * area as absent (FORMAT R3, R4).
 */
bool ptx_log_closing_is_valid(const struct ptx_log_closing *closing)
{
	if (memcmp(closing->state, PTX_LOG_WRITING, sizeof(closing->state)) &&
	    memcmp(closing->state, PTX_LOG_CLOSED, sizeof(closing->state)) &&
	    memcmp(closing->state, PTX_LOG_STREAMED, sizeof(closing->state)))
		return false;
	return CHECKSUM_IS(closing->closing_crc,
			   ptx_log_crc_without(closing, sizeof(*closing),
					       offsetof(struct ptx_log_closing, closing_crc)));
}

/*
 * The header is valid, but a hostile log may have any values in it. Policies may be out of
 * range, so users of the attributes check them. This function removes the flags that a log
 * cannot have.
 */
void ptx_log_decode_facts(const struct ptx_log_header *h, struct ptx_log_facts *facts)
{
	struct ptx_attr *attr = &facts->attr;

	memset(facts, 0, sizeof(*facts));
	/* This is the version of struct ptx_attr in this library, not the version of the log. */
	attr->magic = PTX_ATTR_MAGIC;
	attr->version = PTX_ATTR_VERSION;
	/* Other bits have a meaning for active streams only. */
	attr->flags = h->attr_flags & (PTX_ATTR_POLICY_SET | PTX_ATTR_FROM_STREAM);
	attr->stream_size = h->stream_size;
	attr->max_data_size = h->max_data_size;
	attr->log_size = h->log_size;
	attr->inheritance = h->inheritance;
	attr->stream_policy = h->stream_policy;
	attr->log_policy = h->log_policy;
	/*
	 * The field has a meaning only if the flag is set. An impossible level is ignored, because
	 * a later use of the attributes would refuse it.
	 */
	if (h->flags_incompatible & PTX_LOG_COMPRESSED_LOG && ptx_attr_is_level(h->compression))
		attr->log_compression = h->compression;
	attr->clock_resolution_ns = h->clock_resolution;
	attr->creation_ns = h->creation_time;
	memcpy(attr->name, h->name, sizeof(attr->name));
	memcpy(attr->generation, h->generation, sizeof(attr->generation));
	facts->pid = h->pid;
	memcpy(facts->clock, h->clock, sizeof(facts->clock));
	facts->tick_hz = h->clock_hz;
}

/*
 * Checks FORMAT B1 to B5. If `len` is less than the size of *block, the verdict is SHORT, and
 * *block is not set. If the header is longer than `len`, the verdict is SHORT, *block is set, and
 * the caller repeats the call with header_bytes bytes. If the verdict is FOREIGN, *block is set,
 * and the checksum of its header was right.
 */
enum ptx_log_verdict ptx_log_decode_block(const void *bytes, size_t len, uint64_t log_id,
					  struct ptx_log_block *block, const char **why)
{
	/* FORMAT B1: the magic. The caller chose an offset that is a multiple of 8. */
	if (len < sizeof(*block))
		return verdict_with_reason(PTX_LOG_SHORT, why,
					   "the file ends within a block's header");
	/* All checks use this copy. */
	memcpy(block, bytes, sizeof(*block));
	if (block->magic != PTX_LOG_BLOCK_MAGIC)
		return verdict_with_reason(PTX_LOG_NO_MAGIC, why, "no block begins here");
	/*
	 * FORMAT B2 is checked before the checksum (FORMAT B3), because header_bytes determines how
	 * many bytes the checksum covers.
	 */
	if (block->header_bytes & 7 || block->header_bytes < sizeof(*block) ||
	    block->header_bytes > PTX_LOG_BLOCK_HEADER_MAX)
		return verdict_with_reason(PTX_LOG_DAMAGED, why,
					   "the length of a block's header is impossible");
	/*
	 * A later minor version may have a longer header. The caller repeats the call with the
	 * whole header.
	 */
	if (len < block->header_bytes)
		return verdict_with_reason(PTX_LOG_SHORT, why,
					   "the file ends within a block's header");
	/* FORMAT B3. */
	if (!CHECKSUM_IS(block->header_crc,
			 ptx_log_crc_without(bytes, block->header_bytes,
					     offsetof(struct ptx_log_block, header_crc))))
		return verdict_with_reason(PTX_LOG_DAMAGED, why,
					   "the checksum of a block's header is wrong");
	/*
	 * FORMAT B4, W5: a block with another id remains from an older log in the same file, or
	 * from before a clear.
	 */
	if (block->log_id != log_id)
		return verdict_with_reason(PTX_LOG_FOREIGN, why,
					   "this block belongs to another log");
	/*
	 * FORMAT B5. The checksum is right, but no writer makes a block with an impossible length,
	 * so such a block is forged.
	 */
	if (block->payload_bytes & 7 || block->payload_bytes > PTX_LOG_PAYLOAD_MAX)
		return verdict_with_reason(PTX_LOG_WRONG, why,
					   "the length of a block is impossible");
	return PTX_LOG_GOOD;
}
