/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_skips.c - the events that a budget has skipped. In a log, their counts are not in the
 * lines of the LEDGER block but in a SKIPS block.
 */
#include "log/format_skips.h"

#include <string.h>

_Static_assert((int)PTX_LOST_BUDGET == PTX_LOG_CAUSES, "the lines have all causes before it");

void ptx_log_line_store(struct ptx_log_line *to, const struct ptx_ledger_line *from)
{
	to->called = from->called - from->lost[PTX_LOST_BUDGET];
	to->reported = from->reported;
	to->unread = from->unread;
	memcpy(to->lost, from->lost, sizeof(to->lost));
}

void ptx_log_line_load(struct ptx_ledger_line *to, const struct ptx_log_line *from)
{
	memset(to, 0, sizeof(*to));
	to->called = from->called;
	to->reported = from->reported;
	to->unread = from->unread;
	memcpy(to->lost, from->lost, sizeof(from->lost));
}

/* Type 0 may have an entry, too, for skipped events of no known type. */
size_t ptx_log_skips_bytes(const struct ptx_ledger *ledger)
{
	size_t types = 0;

	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		types += ledger->type[type].lost[PTX_LOST_BUDGET] != 0;
	return types * sizeof(struct ptx_log_skip);
}

void ptx_log_encode_skips(const struct ptx_ledger *ledger, struct ptx_log_block *block,
			  void *payload)
{
	struct ptx_log_skip *skip = payload;
	uint32_t count = 0;

	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		if (ledger->type[type].lost[PTX_LOST_BUDGET])
			skip[count++] = (struct ptx_log_skip){
				.type = type, .events = ledger->type[type].lost[PTX_LOST_BUDGET],
			};
	block->records = count;
}

const char *ptx_log_check_skips(const struct ptx_log_block *block, const void *payload)
{
	const struct ptx_log_skip *skip = payload;

	if (block->payload_bytes != (uint64_t)block->records * sizeof(*skip))
		return "the block of skipped events has another length than its count says";
	for (uint32_t i = 0; i < block->records; i++)
		if (skip[i].type >= PTX_TYPE_MAX || (i && skip[i].type <= skip[i - 1].type))
			return "the types of skipped events are out of range or order";
	return NULL;
}

/* Sums may wrap around in a hostile log, as in its ledger. */
static void add_skipped(struct ptx_ledger_line *line, uint64_t events)
{
	line->called += events;
	line->lost[PTX_LOST_BUDGET] += events;
}

void ptx_log_decode_skips(const struct ptx_log_block *block, const void *payload,
			  struct ptx_ledger *ledger)
{
	const struct ptx_log_skip *skip = payload;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < block->records; i++) {
		add_skipped(&ledger->type[skip[i].type], skip[i].events);
		sum += skip[i].events;
	}
	add_skipped(&ledger->total, sum);
	/*
	 * The function searches for the line of pid 0 only once, because a hostile ledger may have
	 * many lines.
	 */
	if (block->records)
		add_skipped(ptx_ledger_thread(ledger, 0, 0, 0), sum);
}
