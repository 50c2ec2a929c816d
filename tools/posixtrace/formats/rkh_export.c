/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_export.c - events as user events of RKH: our own dialect.
 *
 * Before an event stands what it needs and the reader does not know yet: an epoch that its time
 * counts from, the name of its type, its context.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/octets.h"
#include "formats/rkh.h"
#include "formats/rkh_sink.h"

#define EPOCH_NS_MAX  (INT64_C(1000) << 31) /* from there on the next one is due */
#define SHORT_NUMBERS (RKH_EPOCH - RKH_USER) /* types with an id of their own */
#define PIECE_BYTES   255
#define STATUS_ITEM   (15 << 4 | RKH_UI8)
#define USER_PREFIX   "rkh.USR." /* of types whose data is items already */

struct sink {
	struct fmt_flow *flow;
	struct out *out;
	unsigned char sum, number;
	size_t len, longest;       /* of a frame, unstuffed */
	bool has_context;
	bool *named;               /* by index of the type */
	uint32_t *numbers;
	size_t types, used;
	bool has_epoch;
	int64_t epoch_ns, last_ns;
	uint32_t pid;
	uint64_t thread, address;
};

/* ------------------------------------------------------------------ a frame */

static void put_bytes(struct sink *sink, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	sink->len += len;
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = p[i];

		sink->sum += byte;
		if (byte == RKH_FLAG || byte == RKH_ESCAPE) {
			out_char(sink->out, RKH_ESCAPE);
			byte ^= RKH_FLIP;
		}
		out_char(sink->out, (char)byte);
	}
}

static void put_number(struct sink *sink, uint64_t value, unsigned bytes)
{
	unsigned char number[8];

	octets_put(number, value, bytes);
	put_bytes(sink, number, bytes);
}

static void put_item(struct sink *sink, unsigned type, uint32_t value)
{
	put_number(sink, type, 1);
	put_number(sink, value, 4);
}

static void begin_frame(struct sink *sink, unsigned id, uint32_t ticks)
{
	sink->sum = 0;
	sink->len = 0;
	put_number(sink, id, 1);
	put_number(sink, sink->number++, 1);
	put_number(sink, ticks, 4);
}

static void end_frame(struct sink *sink)
{
	put_number(sink, (unsigned char)-sink->sum, 1);
	out_char(sink->out, RKH_FLAG);
	if (sink->len > sink->longest)
		sink->longest = sink->len;
}

/* ------------------------------------------------------------------ what events need */

static void put_epoch(struct sink *sink, int64_t time_ns)
{
	int64_t seconds = time_ns / 1000000000, rest = time_ns % 1000000000;

	if (rest < 0) {
		seconds--;
		rest += 1000000000;
	}
	begin_frame(sink, RKH_EPOCH, 0);
	put_item(sink, RKH_UI32, (uint32_t)seconds);
	put_item(sink, RKH_UI32, (uint32_t)((uint64_t)seconds >> 32));
	put_item(sink, RKH_UI32, (uint32_t)rest);
	end_frame(sink);
	sink->has_epoch = true;
	sink->epoch_ns = time_ns;
}

/* Wide differences wrap, and are told as large ones. */
static uint32_t ticks_of(struct sink *sink, int64_t time_ns)
{
	uint64_t since = (uint64_t)time_ns - (uint64_t)sink->epoch_ns;

	if (!sink->has_epoch || time_ns < sink->last_ns || since >= (uint64_t)EPOCH_NS_MAX) {
		put_epoch(sink, time_ns);
		since = 0;
	}
	sink->last_ns = time_ns;
	return (uint32_t)(since / 1000);
}

static int make_room(struct sink *sink, size_t index)
{
	size_t types = 2 * (index + 32);
	uint32_t *numbers;
	bool *named;

	if (index < sink->types)
		return 0;
	named = realloc(sink->named, types * sizeof(*named));
	if (!named)
		return ENOMEM;
	sink->named = named;
	numbers = realloc(sink->numbers, types * sizeof(*numbers));
	if (!numbers)
		return ENOMEM;
	sink->numbers = numbers;
	memset(named + sink->types, 0, (types - sink->types) * sizeof(*named));
	sink->types = types;
	return 0;
}

static void put_name(struct sink *sink, const struct fmt_type *type, uint32_t ticks)
{
	uint32_t number = (uint32_t)sink->used++;

	sink->named[type->index] = true;
	sink->numbers[type->index] = number;
	if (number < SHORT_NUMBERS) {
		begin_frame(sink, RKH_TUSR, ticks);
		put_number(sink, number, 1);
	} else {
		begin_frame(sink, RKH_XNAME, ticks);
		put_item(sink, RKH_UI32, number);
		put_number(sink, RKH_TEXT, 1);
	}
	put_bytes(sink, type->name, type->name_len + 1);
	end_frame(sink);
}

static void put_context(struct sink *sink, const struct fmt_event *event, uint32_t ticks)
{
	uint64_t thread = event->thread ? event->thread : event->tid;

	if (!sink->has_context || (event->pid == sink->pid && thread == sink->thread &&
				   event->address == sink->address))
		return;
	sink->pid = event->pid;
	sink->thread = thread;
	sink->address = event->address;
	begin_frame(sink, RKH_CTX, ticks);
	put_item(sink, RKH_UI32, event->pid);
	put_item(sink, RKH_X32, (uint32_t)thread);
	put_item(sink, RKH_X32, (uint32_t)(thread >> 32));
	put_item(sink, RKH_X32, (uint32_t)event->address);
	put_item(sink, RKH_X32, (uint32_t)(event->address >> 32));
	end_frame(sink);
}

/*
 * Whether the data is items that come back as they are: not pieces of a block alone, which a reader
 * puts together, and no status at the end, which it takes off.
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

static void put_data(struct sink *sink, const struct fmt_event *event)
{
	const unsigned char *p = event->data;
	size_t left = event->data_len;

	if (is_items(event)) {
		put_bytes(sink, p, left);
		left = 0;
	}
	while (left) {
		size_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;

		put_number(sink, RKH_MEM, 1);
		put_number(sink, piece, 1);
		put_bytes(sink, p, piece);
		p += piece;
		left -= piece;
	}
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED) {
		put_number(sink, STATUS_ITEM, 1);
		put_number(sink, (unsigned)event->truncation, 1);
	}
}

/* ------------------------------------------------------------------ the sink */

int rkh_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return ENOMEM;
	sink->flow = flow;
	sink->out = output->out;
	sink->has_context = !fmt_flag(flow, "no-context");
	*context = sink;
	return 0;
}

/* Version 3.4.00; user events, all, framework, number, time and checksum; no frequency. */
int rkh_sink_begin(void *context, const struct fmt_facts *facts)
{
	static const unsigned char config[1 + RKH_TCFG_BYTES] = {
		RKH_TCFG, 0x00, 0x34, 0x04, 0x82, 0x03, 0x00, 0x14, 0x42, 0x11, 0x02, 0x10, 0, 0,
	};
	struct sink *sink = context;

	(void)facts;
	out_char(sink->out, RKH_FLAG);
	put_bytes(sink, config, sizeof(config));
	end_frame(sink);
	return sink->out->err;
}

int rkh_sink_event(void *context, const struct fmt_event *event)
{
	struct sink *sink = context;
	uint32_t ticks = ticks_of(sink, event->time_ns), number;
	int err = make_room(sink, event->type->index);

	if (err)
		return err;
	if (!sink->named[event->type->index])
		put_name(sink, event->type, ticks);
	put_context(sink, event, ticks);
	number = sink->numbers[event->type->index];
	begin_frame(sink, number < SHORT_NUMBERS ? RKH_USER + number : RKH_MANY, ticks);
	if (number >= SHORT_NUMBERS)
		put_item(sink, RKH_UI32, number);
	put_data(sink, event);
	end_frame(sink);
	return sink->out->err;
}

int rkh_sink_idle(void *context)
{
	return out_flush(((struct sink *)context)->out);
}

int rkh_sink_end(void *context, const struct fmt_end *end)
{
	struct sink *sink = context;

	(void)end;
	if (sink->longest > RKH_FRAME_MAX)
		fmt_fault(sink->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "some frames are longer than readers expect: --max-frame=%zu reads them",
			  sink->longest);
	return sink->out->err;
}

void rkh_sink_close(void *context)
{
	struct sink *sink = context;

	free(sink->named);
	free(sink->numbers);
	free(sink);
}
