/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_account.c - sends accounts. By the counts in the accounts, a reader of the dialect of
 * posixtrace detects every missing event.
 *
 * Sequence numbers repeat after 256 frames, and they count frames and not events. Therefore, with
 * the option --account, the sender sends an account from time to time. An account has the exact
 * numbers of sent events and of events that were lost before they could be sent. After an account,
 * the sender sends names, epoch and context again for a reader that has connected late or has
 * missed them.
 */
#include <string.h>

#include "base/until.h"
#include "convert/rkh/rkh.h"
#include "convert/rkh/rkh_sink.h"

#define EVENTS_BETWEEN 4096 /* an account is due after this many events, or after NS_BETWEEN */
#define NS_BETWEEN     INT64_C(1000000000)

/* Returns whether an account is due. */
static bool is_due(const struct rkh_sink *sink)
{
	return sink->events - sink->accounted >= EVENTS_BETWEEN ||
	       until_now_ns() - sink->accounted_ns >= NS_BETWEEN;
}

/*
 * A type gets its number at its first use, so the type of accounts gets its number at the first
 * account.
 */
void rkh_sink_account(struct rkh_sink *sink, bool last)
{
	struct rkh_writer *writer = &sink->writer;
	uint32_t ticks = sink->has_epoch
		? (uint32_t)((uint64_t)(sink->last_ns - sink->epoch_ns) / 1000) : 0;

	if (!last && !is_due(sink))
		return;
	if (!sink->account_named) {
		sink->account = (uint32_t)sink->used++;
		sink->account_named = true;
	}
	rkh_sink_name(sink, sink->account, RKH_ACCOUNT, strlen(RKH_ACCOUNT), ticks);
	rkh_sink_begin_event(sink, sink->account, ticks);
	rkh_write_item(writer, RKH_UI32, last ? RKH_ACCOUNT_LAST : 0);
	rkh_write_item(writer, RKH_U64, sink->events);
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		rkh_write_item(writer, RKH_U64, sink->lost[i]);
	rkh_write_end(writer);
	/* After an account, each type is named again before its next event. */
	sink->accounted = sink->events;
	sink->accounted_ns = until_now_ns();
	sink->has_epoch = false;
	sink->is_context_known = false;
	sink->is_schema_named = false;
	for (size_t i = 0; i < sink->types; i++)
		sink->named[i] = false;
}

/*
 * The losses become part of the next account. If there are losses, the last account is sent even
 * without --account.
 */
int rkh_sink_lost(void *context, const struct fmt_lost *lost)
{
	struct rkh_sink *sink = context;

	/* Losses without a count cannot be a part of an account. */
	if (lost->counted && lost->cause >= 0 && lost->cause < POSIX_TRACE_LOST_CAUSES_NP) {
		sink->lost[lost->cause] += lost->count;
		sink->has_lost = true;
	}
	return 0;
}
