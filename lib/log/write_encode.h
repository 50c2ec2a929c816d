/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_encode.h - converts memory to the bytes of FORMAT, without any I/O.
 *
 * Owner     all memory is the caller's. The functions have no state, so any thread may call them.
 * Errors    none.
 */
#ifndef PTX_LOG_WRITE_ENCODE_H
#define PTX_LOG_WRITE_ENCODE_H

#include "log/format.h"
#include "log/format_origin.h"

/*
 * Fills a header except `arrangement`, `closing` and the fields of the areas; ptx_log_seal_header()
 * completes the header.
 */
void ptx_log_encode_header(struct ptx_log_header *header, const struct ptx_log_facts *facts,
			   const struct ptx_log_origin *origin);

/* Set the checksums. The caller has set all other fields before. */
void ptx_log_seal_header(struct ptx_log_header *header);
void ptx_log_seal_closing(struct ptx_log_closing *closing);

/*
 * Sets magic, lengths and checksums of a block. The payload must be directly behind *block and have
 * payload_bytes.
 */
void ptx_log_seal_block(struct ptx_log_block *block, size_t payload_bytes);

/*
 * Like ptx_log_seal_block(), for a header of header_bytes, which is longer than struct
 * ptx_log_block. The payload is behind this header. The caller has set the additional fields, too.
 */
void ptx_log_seal_longer_block(struct ptx_log_block *block, size_t header_bytes,
			       size_t payload_bytes);

/*
 * Sets the flag by which readers detect that blocks may be compressed, and stores the level of the
 * attributes.
 */
void ptx_log_mark_compressed(struct ptx_log_header *header, int level);

/*
 * Returns the checksum of `len` bytes in which the four bytes at the offset `field` count as zero
 * (FORMAT 1.3).
 */
uint32_t ptx_log_crc_without(const void *bytes, size_t len, size_t field);

/*
 * ptx_log_ledger_bytes() returns the bytes of a LEDGER payload. ptx_log_encode_ledger() writes the
 * payload, and also sets the fields `records` and `sources` in the header of the block.
 */
size_t ptx_log_ledger_bytes(const struct ptx_ledger *ledger);
void ptx_log_encode_ledger(const struct ptx_ledger *ledger, struct ptx_log_block *block,
			   void *payload);

#endif
