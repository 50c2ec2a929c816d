/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_encode.h - from memory to the bytes of FORMAT, without any I/O.
 *
 * Owner     the caller's memory throughout.
 * Errors    none.
 */
#ifndef PTX_LOG_WRITE_ENCODE_H
#define PTX_LOG_WRITE_ENCODE_H

#include "log/format.h"
#include "log/format_origin.h"

/* Everything but arrangement, areas and closing; ptx_log_seal_header() ends it. */
void ptx_log_encode_header(struct ptx_log_header *header, const struct ptx_log_facts *facts,
			   const struct ptx_log_origin *origin);

/* Set the checksums, when all else stands. */
void ptx_log_seal_header(struct ptx_log_header *header);
void ptx_log_seal_closing(struct ptx_log_closing *closing);

/* Magic, length and checksums of a block; payload_bytes stand behind it. */
void ptx_log_seal_block(struct ptx_log_block *block, size_t payload_bytes);

/* The checksum of bytes[0 .. len), of which four at field count as zero. */
uint32_t ptx_log_crc_without(const void *bytes, size_t len, size_t field);

/* Bytes of a LEDGER payload, and the payload; the block's records and sources are set too. */
size_t ptx_log_ledger_bytes(const struct ptx_ledger *ledger);
void ptx_log_encode_ledger(const struct ptx_ledger *ledger, struct ptx_log_block *block,
			   void *payload);

#endif
