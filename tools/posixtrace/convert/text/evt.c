/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt.c - the sink "evt": writes events as lines of text. evt_import.c reads them.
 *
 * Each type needs a number that is unique in the output. Types from several logs may have no
 * numbers, or equal numbers. Losses become comments, as the format has no line for them.
 */
#include "convert/text/evt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "base/when.h"

extern const struct format format_evt;

/* a type keeps its own number only if the number is less than NUMBERS */
#define NUMBERS  (1u << 20)
#define NAMELESS 0x1000     /* the first number for types without a number */

struct evt {
	struct out *out;
	uint32_t *number;  /* the number of each type, at the type's index */
	size_t types;
	unsigned char taken[NUMBERS / 8]; /* a bit for each number in use */
};

static int evt_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct evt *evt = calloc(1, sizeof(*evt));

	(void)flow;
	if (!evt)
		return ENOMEM;
	evt->out = output->out;
	*context = evt;
	return 0;
}

static void evt_close(void *context)
{
	struct evt *evt = context;

	free(evt->number);
	free(evt);
}

/* The line with the byte order must precede the first event. */
static int evt_begin(void *context, const struct fmt_facts *facts)
{
	struct out *out = ((struct evt *)context)->out;

	out_str(out, facts->big_endian ? "order be\n" : "order le\n");
	return out->err;
}

/*
 * Reserves the number. Returns false if it is in use, 0 or too large. A type with the number 0 has
 * no number.
 */
static bool claim_number(struct evt *evt, uint64_t number)
{
	if (!number || number >= NUMBERS || evt->taken[number / 8] & 1u << number % 8)
		return false;
	evt->taken[number / 8] |= (unsigned char)(1u << number % 8);
	return true;
}

/*
 * Returns the type's number in the output. This is the first of three numbers that no other type
 * has: `id`, which types of logs have; `number`, which the source of the type gave; the first free
 * number from NAMELESS on. The search for a free number ends, because there are fewer types than
 * numbers.
 */
static uint32_t number_of(struct evt *evt, const struct fmt_type *type)
{
	uint32_t number = NAMELESS;

	if (claim_number(evt, type->id))
		return type->id;
	if (claim_number(evt, type->number))
		return (uint32_t)type->number;
	while (!claim_number(evt, number))
		number++;
	return number;
}

/*
 * Writes the name of a type. A name with an end of line cannot be written, so such a type has no
 * name in the output. A type with the default name needs no line, because evt_import.c uses this
 * name for types without a line.
 */
static int evt_type(void *context, const struct fmt_type *type)
{
	struct evt *evt = context;
	uint32_t *more;
	char nameless[EVT_NAMELESS_BYTES];

	if (!vec_reach(&evt->number, &evt->types, type->index))
		return ENOMEM;
	more = evt->number;
	more[type->index] = number_of(evt, type);
	snprintf(nameless, sizeof(nameless), EVT_NAMELESS, (unsigned)more[type->index]);
	if (!strcmp(nameless, type->name))
		return 0;
	if (type->name[strcspn(type->name, "\r\n")]) {
		out_printf(evt->out, "# the name of 0x%03" PRIx32 " cannot be written\n",
			   more[type->index]);
		return 0;
	}
	out_printf(evt->out, "name 0x%03" PRIx32 " \"", more[type->index]);
	out_bytes(evt->out, type->name, type->name_len);
	out_str(evt->out, "\"\n");
	return evt->out->err;
}

static char *put_text(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

/* The function omits members that are 0, because evt_import.c sets missing members to 0. */
static int evt_put_event(void *context, const struct fmt_event *event)
{
	struct evt *evt = context;
	struct out *out = evt->out;
	/*
	 * The format has only one member for the thread: its handle, or its number if it has no
	 * handle.
	 */
	uint64_t thread = event->thread ? event->thread : event->tid;
	char *p = put_text(out_room(out), "evt id=0x");

	p = put_hex(p, evt->number[event->type->index], 3);
	if (event->pid)
		p = put_unsigned(put_text(p, " pid="), event->pid);
	if (thread)
		p = put_unsigned(put_text(p, " tid="), thread);
	if (event->address)
		p = put_hex(put_text(p, " addr=0x"), event->address, 1);
	p = when_put_span(put_text(p, " time="), event->time_ns, false);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		p = put_unsigned(put_text(p, " trunc="), (unsigned)event->truncation);
	p = put_text(p, " data=");
	out_done(out, p);
	if (event->data_len)
		out_hex(out, event->data, event->data_len);
	else
		out_char(out, '-');
	out_char(out, '\n');
	return out->err;
}

/* A loss becomes a comment, which evt_import.c ignores. */
static int evt_lost(void *context, const struct fmt_lost *lost)
{
	struct out *out = ((struct evt *)context)->out;
	const char *cause = posix_trace_lost_name_np(lost->cause);

	if (lost->counted)
		out_printf(out, "# %" PRIu64 " event%s lost: %s\n", lost->count,
			   text_plural(lost->count), cause ? cause : "?");
	else
		out_printf(out, "# events were lost here: %s\n", cause ? cause : "?");
	return out->err;
}

static int evt_idle(void *context)
{
	return out_flush(((struct evt *)context)->out);
}

const struct format format_evt = {
	.name = "evt",
	.summary = "events as text, one line for each",
	.suffix = "evt",
	.detect = evt_detect,
	.import = evt_import,
	.output = FMT_TO_BYTES,
	.open = evt_open,
	.begin = evt_begin,
	.type = evt_type,
	.event = evt_put_event,
	.lost = evt_lost,
	.idle = evt_idle,
	.close = evt_close,
};
