/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_account.c - what a reader of our own streams needs so that nothing is missing without a
 * count: how many events were sent, and how many were lost before that.
 *
 * Sequence numbers go around after 256 frames, and tell frames, not events. With an account now and
 * then a reader knows exactly. Who joins late or missed a name, an epoch or a context gets them
 * again soon.
 */
#include <string.h>

#include "base/until.h"
#include "convert/rkh/rkh.h"
#include "convert/rkh/rkh_sink.h"

#define EVENTS_BETWEEN 4096
#define NS_BETWEEN     INT64_C(1000000000)

static bool is_due(const struct rkh_sink *sink)
{
	return sink->events - sink->told >= EVENTS_BETWEEN ||
	       until_now_ns() - sink->told_ns >= NS_BETWEEN;
}

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
	sink->told = sink->events;
	sink->told_ns = until_now_ns();
	sink->has_epoch = false;
	sink->is_context_known = false;
	sink->is_schema_named = false;
	for (size_t i = 0; i < sink->types; i++)
		sink->named[i] = false;
}

int rkh_sink_lost(void *context, const struct fmt_lost *lost)
{
	struct rkh_sink *sink = context;

	if (lost->counted && lost->cause >= 0 && lost->cause < POSIX_TRACE_LOST_CAUSES_NP) {
		sink->lost[lost->cause] += lost->count;
		sink->has_lost = true;
	}
	return 0;
}
