/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* details.c - keeps the fields of events as texts. */
#include "picture/details.h"

#include <errno.h>
#include <string.h>

#include "base/out.h"
#include "log/field.h"
#include "log/fields.h"
#include "log/stacks.h"
#include "show/line.h"
#include "why/classify.h"

#define TEXT_BITS 24                       /* the number of bits of an index in the texts */
#define TEXTS_MOST ((UINT64_C(1) << TEXT_BITS) - 1)
#define TIME_MOST (UINT64_MAX >> (TEXT_BITS + 2))
/* about the number of bytes that the set needs for a text */
#define TEXT_COST 48

/* The error of a call is the first field of the type errno. The shim names this field error. */
struct details_plan details_plan(const struct log_type *type)
{
	struct details_plan plan = { pairing_time_field(type->schema), -1, -1 };

	if (stacks_is_type(type->name, type->schema))
		plan.frames = field_index(type->schema, "frames");
	for (unsigned i = 0; type->schema && plan.error < 0 && i < type->schema->fields; i++)
		if (type->schema->field[i].type == POSIX_TRACE_TYPE_ERRNO_NP &&
		    !type->schema->field[i].is_array)
			plan.error = (int)i;
	return plan;
}

/*
 * The first reading has found the number of events and the lengths of spans. So the selection needs
 * no list of candidates.
 */
void details_begin(struct details *details, uint64_t events, uint64_t least_ns, size_t limit)
{
	details->limit = limit;
	details->events = events;
	details->is_all = events <= limit;
	details->each = limit / 4 ? events / (limit / 4) + 1 : UINT64_MAX;
	details->least_ns = least_ns;
}

bool details_has_error(const struct log_type *type, const struct details_plan *plan,
		       const struct posix_trace_event_np *event)
{
	return classify_number(type, event, plan->error) != 0;
}

/* Returns whether a text is kept already, or there is room for one more. */
static bool has_room(const struct details *details, const char *text)
{
	const double part = details->events ?
			    (double)details->reached / (double)details->events : 1;
	const double most = (double)details->limit * DETAILS_TEXT * (0.5 + 0.5 * part);

	return !*text || ((double)details->text_bytes < most &&
			  details->texts.count < TEXTS_MOST) ||
	       nameset_find(&details->texts, text) != TABLE_NONE;
}

/*
 * Returns the index of a text + 1, or 0 for an empty text. Sets "err" if memory is lacking.
 * has_room() has checked that the index fits in TEXT_BITS bits.
 */
static uint64_t index_of_text(struct details *details, const char *text)
{
	const size_t known = details->texts.count;
	uint32_t index;

	if (!*text)
		return 0;
	index = nameset_index(&details->texts, text);
	if (index == TABLE_NONE) {
		details->err = ENOMEM;
		return 0;
	}
	if (details->texts.count > known)
		details->text_bytes += strlen(text) + TEXT_COST;
	return (uint64_t)index + 1;
}

/*
 * Writes the fields into a static buffer, without the newline before the first field. The text
 * lacks the field "omitted": a duration that is kept as a number, or the frames of a stack.
 */
static const char *text_of(const struct logfile *log, const struct log_type *type, int omitted,
			   const struct posix_trace_event_np *event)
{
	static struct out scratch = { .fd = -1 };
	size_t len;

	scratch.used = 0;
	scratch.err = 0;
	if (event->data_len > OUT_BYTES / 8)
		out_str(&scratch, "\ndata=too long");
	else if (!fields_lines(&scratch, log, type, event, WHEN_UTC, omitted) &&
		 event->data_len) {
		out_str(&scratch, "\ndata=");
		line_plain_data(&scratch, log, event);
	}
	len = scratch.used < DETAILS_LINE ? scratch.used : DETAILS_LINE;
	scratch.bytes[len] = '\0';
	scratch.used = 0;
	return len ? scratch.bytes + 1 : scratch.bytes;
}

/*
 * Packs a detail into the value of an item, which is kept as an integer of variable length. The
 * duration is in the highest bits, so that a short duration needs few bytes.
 */
static uint64_t details_pack(const struct detail *detail)
{
	return detail->took_ns << (TEXT_BITS + 2) | detail->text << 2 |
	       (uint64_t)detail->has_time << 1 | detail->has_error;
}

struct detail details_unpack(uint64_t value)
{
	return (struct detail){
		.text = value >> 2 & TEXTS_MOST,
		.took_ns = value >> (TEXT_BITS + 2), .has_time = value & 2, .has_error = value & 1,
	};
}

/*
 * Returns whether the rules in details.h select an event. Each kind of events has its own part of
 * the limit.
 */
static bool is_selected(struct details *details, bool has_error, const struct span *span)
{
	if (details->kept.items >= details->limit)
		return false;
	if (details->is_all)
		return true;
	if (span)
		return span->time_ns >= details->least_ns;
	if (has_error && details->errors < details->limit / 4) {
		details->errors++;
		return true;
	}
	return details->seen++ % details->each == 0;
}

void details_event(struct details *details, const struct logfile *log, const struct log_type *type,
		   const struct details_plan *plan, const struct posix_trace_event_np *event,
		   uint64_t ordinal, const struct item *point, const struct span *span)
{
	struct detail detail = { .text = 0 };
	struct item item = *point;
	const char *text;

	details->reached += !span;
	if (details->last == ordinal)
		return;
	detail.has_error = details_has_error(type, plan, event);
	if (!is_selected(details, detail.has_error, span))
		return;
	detail.took_ns = classify_number(type, event, plan->time);
	detail.has_time = plan->time >= 0 && detail.took_ns <= TIME_MOST;
	if (!detail.has_time)
		detail.took_ns = 0;
	text = text_of(log, type, detail.has_time ? plan->time : plan->frames, event);
	if (!has_room(details, text))
		return;
	detail.text = index_of_text(details, text);
	item.value = details_pack(&detail);
	details->last = ordinal;
	if (runs_add(&details->kept, &item))
		details->err = ENOMEM;
}

int details_end(struct details *details)
{
	return details->err || runs_end(&details->kept) ? ENOMEM : 0;
}

void details_fini(struct details *details)
{
	nameset_fini(&details->texts);
	runs_fini(&details->kept);
}
