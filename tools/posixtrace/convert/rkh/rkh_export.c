/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_export.c - the sink "rkh": writes events as user events of RKH, in the dialect of posixtrace.
 *
 * Before an event, the sink sends the parts that the reader lacks: an epoch for the time, the name
 * of the type, the context.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/until.h"
#include "base/vec.h"
#include "convert/octets.h"
#include "convert/rkh/rkh.h"
#include "convert/rkh/rkh_sink.h"

#define EPOCH_NS_MAX  (INT64_C(1000) << 31) /* after this time a new epoch is needed */
#define SHORT_NUMBERS (RKH_EPOCH - RKH_USER) /* number of types with their own ids */
#define PIECE_BYTES   255
#define LOOK_AFTER    64  /* events between calls of is_due(), which reads the clock */
#define STATUS_ITEM   (15 << 4 | RKH_UI8)
#define USER_PREFIX   "rkh.USR." /* prefix of types whose data consists of items already */

/* ------------------------------------------------------------------ what events need */

/* Sends an epoch: seconds in two words, and nanoseconds, which must not be negative. */
static void put_epoch(struct rkh_sink *sink, int64_t time_ns)
{
	int64_t seconds = time_ns / 1000000000, rest = time_ns % 1000000000;

	if (rest < 0) {
		seconds--;
		rest += 1000000000;
	}
	rkh_write_begin(&sink->writer, RKH_EPOCH, 0);
	rkh_write_item(&sink->writer, RKH_UI32, (uint32_t)seconds);
	rkh_write_item(&sink->writer, RKH_UI32, (uint32_t)((uint64_t)seconds >> 32));
	rkh_write_item(&sink->writer, RKH_UI32, (uint32_t)rest);
	rkh_write_end(&sink->writer);
	sink->has_epoch = true;
	sink->epoch_ns = time_ns;
}

/*
 * Returns the timestamp of an event in microseconds since the epoch. Sends a new epoch if the event
 * is earlier than the last event, or if it is more than EPOCH_NS_MAX after the epoch. The
 * difference to the epoch is unsigned. So for a time before the epoch the difference is large, and
 * a new epoch is sent, too.
 */
static uint32_t ticks_of(struct rkh_sink *sink, int64_t time_ns)
{
	uint64_t since = (uint64_t)time_ns - (uint64_t)sink->epoch_ns;

	if (!sink->has_epoch || time_ns < sink->last_ns || since >= (uint64_t)EPOCH_NS_MAX) {
		put_epoch(sink, time_ns);
		since = 0;
	}
	sink->last_ns = time_ns;
	return (uint32_t)(since / 1000);
}

/*
 * Makes room in the arrays for the type with this index. A new type has no number. Returns 0 or
 * ENOMEM.
 */
static int make_room(struct rkh_sink *sink, size_t index)
{
	size_t types = sink->types, more;

	if (index < types)
		return 0;
	more = index + 1 - types;
	if (!vec_grow(&sink->named, types, more) || !vec_grow(&sink->numbers, types, more))
		return ENOMEM;
	memset(sink->numbers + types, 0xff, more * sizeof(*sink->numbers));
	sink->types = index + 1;
	return 0;
}

/*
 * A type with a small number has its own id, and its name is sent as a dictionary record of RKH.
 * The name of another type is sent as a user event RKH_XNAME.
 */
void rkh_sink_name(struct rkh_sink *sink, uint32_t number, const char *name, size_t len,
		   uint32_t ticks)
{
	if (number < SHORT_NUMBERS) {
		rkh_write_begin(&sink->writer, RKH_TUSR, ticks);
		rkh_write_number(&sink->writer, number, 1);
	} else {
		rkh_write_begin(&sink->writer, RKH_XNAME, ticks);
		rkh_write_item(&sink->writer, RKH_UI32, number);
		rkh_write_number(&sink->writer, RKH_TEXT, 1);
	}
	rkh_write_bytes(&sink->writer, name, len + 1);
	rkh_write_end(&sink->writer);
}

/* A type with a large number shares the id RKH_MANY, and its number is the first item. */
void rkh_sink_begin_event(struct rkh_sink *sink, uint32_t number, uint32_t ticks)
{
	rkh_write_begin(&sink->writer, number < SHORT_NUMBERS ? RKH_USER + number : RKH_MANY,
			ticks);
	if (number >= SHORT_NUMBERS)
		rkh_write_item(&sink->writer, RKH_UI32, number);
}

/*
 * Returns the number of a type, which the type gets at its first event. If readers may lack the
 * name of the type, the function first sends the name.
 */
static uint32_t number_of(struct rkh_sink *sink, const struct fmt_type *type, uint32_t ticks)
{
	uint32_t *number = &sink->numbers[type->index];

	if (*number == UINT32_MAX)
		*number = (uint32_t)sink->used++;
	if (sink->named[type->index])
		return *number;
	rkh_sink_name(sink, *number, type->name, type->name_len, ticks);
	if (sink->schemas && type->schema)
		rkh_sink_schema(sink, *number, type->schema, ticks);
	sink->named[type->index] = true;
	return *number;
}

/*
 * Sends process, thread and address if they differ from the last that were sent. The last item is
 * the Linux number of the thread; it is omitted if the number is not known. Events of targets and
 * of the format evt do not have this number.
 */
static void put_context(struct rkh_sink *sink, const struct fmt_event *event, uint32_t ticks)
{
	if (!sink->has_context || (sink->is_context_known && event->pid == sink->pid &&
				   event->tid == sink->tid && event->thread == sink->thread &&
				   event->address == sink->address))
		return;
	sink->is_context_known = true;
	sink->pid = event->pid;
	sink->tid = event->tid;
	sink->thread = event->thread;
	sink->address = event->address;
	rkh_write_begin(&sink->writer, RKH_CTX, ticks);
	rkh_write_item(&sink->writer, RKH_UI32, event->pid);
	rkh_write_item(&sink->writer, RKH_X32, (uint32_t)event->thread);
	rkh_write_item(&sink->writer, RKH_X32, (uint32_t)(event->thread >> 32));
	rkh_write_item(&sink->writer, RKH_X32, (uint32_t)event->address);
	rkh_write_item(&sink->writer, RKH_X32, (uint32_t)(event->address >> 32));
	if (event->tid)
		rkh_write_item(&sink->writer, RKH_UI32, event->tid);
	rkh_write_end(&sink->writer);
}

/*
 * Returns whether the data consists of items that a reader restores exactly. Two kinds of items
 * would not be restored. If all items are pieces of a block, a reader joins them. If the last item
 * looks like a status, a reader removes this item. So data with such items is sent as a block.
 */
static bool is_items(const struct fmt_event *event)
{
	struct rkh_config config;
	struct rkh_item item;
	size_t at = 0;
	bool block = true, status = false;
	int more;

	rkh_config_default(&config);
	if (!event->data_len || event->type->name_len < strlen(USER_PREFIX) ||
	    memcmp(event->type->name, USER_PREFIX, strlen(USER_PREFIX)))
		return false;
	while ((more = rkh_item(&config, true, event->data, event->data_len, &at, &item)) > 0) {
		block &= item.type == RKH_MEM;
		status = item.type == RKH_UI8 && item.width == STATUS_ITEM >> 4;
	}
	return !more && !block && !status;
}

/*
 * Sends the data: as its items, or in blocks of at most 255 bytes. If the event is truncated, the
 * kind of truncation follows as an item with a width that no other item has.
 */
static void put_data(struct rkh_sink *sink, const struct fmt_event *event)
{
	const unsigned char *p = event->data;
	size_t left = event->data_len;

	if (is_items(event)) {
		rkh_write_bytes(&sink->writer, p, left);
		left = 0;
	}
	while (left) {
		size_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;

		rkh_write_number(&sink->writer, RKH_MEM, 1);
		rkh_write_number(&sink->writer, piece, 1);
		rkh_write_bytes(&sink->writer, p, piece);
		p += piece;
		left -= piece;
	}
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED) {
		rkh_write_number(&sink->writer, STATUS_ITEM, 1);
		rkh_write_number(&sink->writer, (unsigned)event->truncation, 1);
	}
}

/* ------------------------------------------------------------------ the sink */

/* Reads the options. The time until the first account begins here. */
int rkh_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct rkh_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return ENOMEM;
	sink->flow = flow;
	sink->writer.out = output->out;
	sink->has_context = !fmt_flag(flow, "no-context");
	sink->accounts = fmt_flag(flow, "account");
	sink->schemas = fmt_flag(flow, "schemas");
	sink->is_context_known = true; /* no event has needed a context yet */
	sink->accounted_ns = until_now_ns();
	*context = sink;
	return 0;
}

/*
 * Sends the TCFG of this sink. It has the version 3.4.00, the flags for user events, all,
 * framework, number, time and checksum, and no frequency. recognize_dialect() in rkh_frames.c
 * depends on the frequency 0.
 */
int rkh_sink_begin(void *context, const struct fmt_facts *facts)
{
	static const unsigned char config[1 + RKH_TCFG_BYTES] = {
		RKH_TCFG, 0x00, 0x34, 0x04, 0x82, 0x03, 0x00, 0x14, 0x42, 0x11, 0x02, 0x10, 0, 0,
	};
	struct rkh_sink *sink = context;

	(void)facts;
	out_char(sink->writer.out, RKH_FLAG);
	rkh_write_bytes(&sink->writer, config, sizeof(config));
	rkh_write_end(&sink->writer);
	return sink->writer.out->err;
}

/* The order is always: the epoch, the name, the context, the event. */
int rkh_sink_event(void *context, const struct fmt_event *event)
{
	struct rkh_sink *sink = context;
	uint32_t ticks = ticks_of(sink, event->time_ns), number;
	int err = make_room(sink, event->type->index);

	if (err)
		return err;
	number = number_of(sink, event->type, ticks);
	put_context(sink, event, ticks);
	rkh_sink_begin_event(sink, number, ticks);
	put_data(sink, event);
	rkh_write_end(&sink->writer);
	sink->events++;
	if (sink->accounts && sink->events % LOOK_AFTER == 0)
		rkh_sink_account(sink, false);
	return sink->writer.out->err;
}

/*
 * Called when a live source pauses. The function writes all events so far, and an account if it is
 * due.
 */
int rkh_sink_idle(void *context)
{
	struct rkh_sink *sink = context;

	if (sink->accounts)
		rkh_sink_account(sink, false);
	return out_flush(sink->writer.out);
}

/*
 * If accounts are wanted or events were lost, the function sends the last account, by which readers
 * recognize a complete stream.
 */
int rkh_sink_end(void *context, const struct fmt_end *end)
{
	struct rkh_sink *sink = context;

	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		sink->lost[i] = end->ledger.lost[i];
		sink->has_lost |= sink->lost[i] > 0;
	}
	if (sink->accounts || sink->has_lost)
		rkh_sink_account(sink, true);
	if (sink->writer.longest > RKH_FRAME_MAX)
		fmt_fault(sink->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "some frames are longer than readers expect: --max-frame=%zu reads them",
			  sink->writer.longest);
	return sink->writer.out->err;
}

void rkh_sink_close(void *context)
{
	struct rkh_sink *sink = context;

	free(sink->named);
	free(sink->numbers);
	free(sink);
}
