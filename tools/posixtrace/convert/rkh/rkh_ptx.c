/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_ptx.c - restores events from user events, in the dialect of posixtrace. Functions that return
 * bool return false if the conversion must end. A damaged record does not end the conversion.
 */
#include <stdio.h>
#include <string.h>

#include "convert/octets.h"
#include "convert/rkh/rkh_source.h"

#define STATUS_WIDTH 15 /* display width of the item with the truncation of an event */

/* Ticks are microseconds since the epoch, in 32 bits. */
int64_t rkh_ptx_time(const struct rkh_source *source, const struct rkh_frame *frame)
{
	int64_t time_ns;

	if (__builtin_add_overflow(source->epoch_ns, (int64_t)(frame->ticks & UINT32_MAX) * 1000,
				   &time_ns))
		return INT64_MAX;
	return time_ns;
}

/*
 * Reads the items of a frame, which must be numbers of 4 bytes. Returns how many items the frame
 * has, or 0 if it has more than "max" items or an item of another type.
 */
static unsigned read_words(const struct rkh_source *source, const struct rkh_frame *frame,
			   uint32_t *to, unsigned max)
{
	struct rkh_item item;
	size_t at = 0;
	unsigned count = 0;

	while (at < frame->len) {
		if (count == max ||
		    rkh_item(&source->decoder.config, true, frame->args, frame->len, &at,
			     &item) <= 0 ||
		    (item.type != RKH_UI32 && item.type != RKH_X32))
			return 0;
		to[count++] = octets_u32(item.value);
	}
	return count;
}

/* Reports a record that is damaged. Always returns true, because the stream continues. */
static bool report_record(struct rkh_source *source, const struct rkh_frame *frame,
			  const char *what)
{
	fmt_fault(source->flow, FMT_DAMAGED, frame->offset, "record",
		  "%s with an invalid content", what);
	return true;
}

/*
 * Sets the time from which the ticks of the following frames count: seconds in two words and
 * nanoseconds. If the new time is out of range, the old epoch remains valid.
 */
static bool read_epoch(struct rkh_source *source, const struct rkh_frame *frame)
{
	uint32_t word[3];
	__extension__ __int128 time_ns;

	if (read_words(source, frame, word, 3) != 3 || word[2] > 999999999)
		return report_record(source, frame, "an epoch");
	/*
	 * The seconds alone may be below INT64_MIN nanoseconds although the sum is not, so the sum
	 * is computed in 128 bits.
	 */
	time_ns = (int64_t)((uint64_t)word[1] << 32 | word[0]);
	time_ns = time_ns * 1000000000 + word[2];
	if (time_ns < INT64_MIN || time_ns > INT64_MAX)
		return report_record(source, frame, "an epoch");
	source->epoch_ns = (int64_t)time_ns;
	return true;
}

/*
 * Reads a context, which is valid for all events up to the next context. The last word, the Linux
 * number of the thread, may be missing.
 */
static bool read_context(struct rkh_source *source, const struct rkh_frame *frame)
{
	uint32_t word[6] = { 0 };

	if (read_words(source, frame, word, 6) < 5)
		return report_record(source, frame, "a context");
	source->pid = word[0];
	source->thread = (uint64_t)word[2] << 32 | word[1];
	source->address = (uint64_t)word[4] << 32 | word[3];
	source->tid = word[5];
	return true;
}

/* Keeps the name of an event type whose number is too large for the id of a frame. */
static bool read_name(struct rkh_source *source, const struct rkh_frame *frame)
{
	const struct rkh_config *config = &source->decoder.config;
	struct rkh_item number, text;
	size_t at = 0;

	if (rkh_item(config, true, frame->args, frame->len, &at, &number) <= 0 ||
	    rkh_item(config, true, frame->args, frame->len, &at, &text) <= 0 || at != frame->len ||
	    number.type != RKH_UI32 || text.type != RKH_TEXT)
		return report_record(source, frame, "a name");
	rkh_source_named(source, rkh_names_set(source->names, RKH_EVENTS, octets_u32(number.value),
					       (const char *)text.value));
	return true;
}

/*
 * Returns the type with this number. The type has the name and the schema that the stream has
 * sent.
 */
static const struct fmt_type *type_of(struct rkh_source *source, uint32_t number)
{
	const char *known = rkh_names_whole(source->names, RKH_EVENTS, number);
	struct fmt_type what = { .name = known, .level = -1 };
	char nameless[32];

	if (number < RKH_EPOCH - RKH_USER && source->type[RKH_USER + number])
		return source->type[RKH_USER + number];
	what.schema = rkh_names_whole(source->names, RKH_SCHEMAS, number);
	if (!known) {
		snprintf(nameless, sizeof(nameless), "rkh.USR.%u", (unsigned)number);
		what.name = nameless;
	}
	if (number < RKH_EPOCH - RKH_USER)
		return source->type[RKH_USER + number] = fmt_type(source->flow, &what);
	return fmt_type(source->flow, &what);
}

/*
 * Makes the data of the event. If all items are pieces of a block, the function joins them.
 * Otherwise the data is the items themselves. If the last item is the truncation of the event, the
 * function removes this item.
 */
static void gather_data(struct rkh_source *source, const unsigned char *items, size_t len,
			struct fmt_event *event)
{
	struct rkh_item item;
	size_t at = 0, end = 0, used = 0;
	bool block = true;

	while (rkh_item(&source->decoder.config, true, items, len, &at, &item) > 0) {
		if (item.type == RKH_UI8 && item.width == STATUS_WIDTH && at == len &&
		    *item.value <= POSIX_TRACE_TRUNCATED_READ) {
			event->truncation = *item.value;
			break;
		}
		end = at;
		if (item.type != RKH_MEM || !block) {
			block = false;
			continue;
		}
		/*
		 * source->data has the size of the longest frame, and all pieces of a frame
		 * together are shorter.
		 */
		memcpy(source->data + used, item.value, item.len);
		used += item.len;
	}
	event->data = block ? source->data : items;
	event->data_len = block ? used : end;
}

/*
 * Epochs, contexts and names change the state for the following events. Events with a reserved name
 * are accounts and schemas. All other frames are events of the trace. They are counted for the
 * ledger before the filter is applied.
 */
bool rkh_ptx_frame(struct rkh_source *source, const struct rkh_frame *frame)
{
	uint32_t number = frame->id - RKH_USER;
	struct fmt_event event = {
		.cpu = -1, .pid = source->pid, .tid = source->tid, .thread = source->thread,
		.address = source->address, .time_ns = rkh_ptx_time(source, frame),
	};
	struct rkh_item item;
	size_t at = 0;
	const char *known;
	bool go, is_account;

	switch (frame->id) {
	case RKH_EPOCH:
		return read_epoch(source, frame);
	case RKH_CTX:
		return read_context(source, frame);
	case RKH_XNAME:
		return read_name(source, frame);
	case RKH_MANY:
		if (rkh_item(&source->decoder.config, true, frame->args, frame->len, &at,
			     &item) <= 0 ||
		    item.type != RKH_UI32)
			return report_record(source, frame, "an event");
		number = octets_u32(item.value);
		break;
	}
	known = rkh_names_whole(source->names, RKH_EVENTS, number);
	go = rkh_ledger_account(source, frame, at, known, &is_account);
	if (is_account)
		return go;
	if (rkh_source_schema(source, frame, at, known))
		return true;
	source->account.received++;
	if (source->filter &&
	    !rkh_filter_passes_user(source->filter,
				    rkh_names_find(source->names, RKH_EVENTS, number), number))
		return true;
	event.type = type_of(source, number);
	if (frame->raw) {
		event.data = frame->args + at;
		event.data_len = frame->len - at;
	} else {
		gather_data(source, frame->args + at, frame->len - at, &event);
	}
	return rkh_source_event(source, &event);
}
