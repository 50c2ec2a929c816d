/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_skips.h - lines of the ledger in a log, and the events that a budget skipped.
 *
 * A line of a log has ten causes of losses (FORMAT 4.2). The events that were skipped are in a
 * block of their own behind the ledger (FORMAT 3.13). A reader that does not support this block
 * ignores it: its ledger then counts the skipped events neither as called nor as lost.
 *
 * Threads   no state; all functions may run concurrently.
 */
#ifndef PTX_LOG_FORMAT_SKIPS_H
#define PTX_LOG_FORMAT_SKIPS_H

#include "log/format.h"
#include "record/ledger.h"

/*
 * ptx_log_line_store() stores a line without its skipped events. ptx_log_line_load() loads a line,
 * with 0 skipped events.
 */
void ptx_log_line_store(struct ptx_log_line *to, const struct ptx_ledger_line *from);
void ptx_log_line_load(struct ptx_ledger_line *to, const struct ptx_log_line *from);

/* Returns the bytes of the payload of a SKIPS block, or 0 if no event was skipped. */
size_t ptx_log_skips_bytes(const struct ptx_ledger *ledger);

/* Writes the payload of ptx_log_skips_bytes() bytes, and sets block->records. */
void ptx_log_encode_skips(const struct ptx_ledger *ledger, struct ptx_log_block *block,
			  void *payload);

/* Returns NULL if the payload agrees with FORMAT 3.13, otherwise the reason. */
const char *ptx_log_check_skips(const struct ptx_log_block *block, const void *payload);

/*
 * Adds the events of a checked payload to the ledger: to the total, to the lines of their types and
 * to the line of pid 0.
 */
void ptx_log_decode_skips(const struct ptx_log_block *block, const void *payload,
			  struct ptx_ledger *ledger);

#endif
