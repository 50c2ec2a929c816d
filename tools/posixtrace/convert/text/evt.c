/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evt.c - events as text: the writer. */
#include "convert/text/evt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

extern const struct format format_evt;

#define NUMBERS  (1u << 20) /* that a type keeps if its source gave it one of them */
#define NAMELESS 0x1000     /* and up: for those that have none of their own */

struct evt {
	struct out *out;
	uint32_t *number;  /* by index of the type */
	size_t types;
	unsigned char taken[NUMBERS / 8];
};

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct evt *evt = calloc(1, sizeof(*evt));

	(void)flow;
	if (!evt)
		return ENOMEM;
	evt->out = output->out;
	*context = evt;
	return 0;
}

static void close_sink(void *context)
{
	struct evt *evt = context;

	free(evt->number);
	free(evt);
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct out *out = ((struct evt *)context)->out;

	out_str(out, facts->big_endian ? "order be\n" : "order le\n");
	return out->err;
}

static bool claim(struct evt *evt, uint64_t number)
{
	if (!number || number >= NUMBERS || evt->taken[number / 8] & 1u << number % 8)
		return false;
	evt->taken[number / 8] |= (unsigned char)(1u << number % 8);
	return true;
}

/* The number that the type has, or the next that nobody has. */
static uint32_t number_of(struct evt *evt, const struct fmt_type *type)
{
	uint32_t number = NAMELESS;

	if (claim(evt, type->id))
		return type->id;
	if (claim(evt, type->number))
		return (uint32_t)type->number;
	while (!claim(evt, number))
		number++;
	return number;
}

/* A name with the end of a line in it cannot be written: its type has none then. */
static int learn_type(void *context, const struct fmt_type *type)
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

static char *put_time(char *p, int64_t time_ns)
{
	uint64_t size = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;

	if (time_ns < 0)
		*p++ = '-';
	p = put_unsigned(p, size / 1000000000);
	*p++ = '.';
	return put_digits(p, size % 1000000000, 9);
}

static int event(void *context, const struct fmt_event *event)
{
	struct evt *evt = context;
	struct out *out = evt->out;
	uint64_t thread = event->thread ? event->thread : event->tid;
	char *p = put_text(out_room(out), "evt id=0x");

	p = put_hex(p, evt->number[event->type->index], 3);
	if (event->pid)
		p = put_unsigned(put_text(p, " pid="), event->pid);
	if (thread)
		p = put_unsigned(put_text(p, " tid="), thread);
	if (event->address)
		p = put_hex(put_text(p, " addr=0x"), event->address, 1);
	p = put_time(put_text(p, " time="), event->time_ns);
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

static int lost(void *context, const struct fmt_lost *lost)
{
	struct out *out = ((struct evt *)context)->out;
	const char *cause = posix_trace_lost_name_np(lost->cause);

	if (lost->counted)
		out_printf(out, "# %" PRIu64 " events lost: %s\n", lost->count,
			   cause ? cause : "?");
	else
		out_printf(out, "# events were lost here: %s\n", cause ? cause : "?");
	return out->err;
}

static int idle(void *context)
{
	return out_flush(((struct evt *)context)->out);
}

const struct format format_evt = {
	.name = "evt",
	.summary = "events as text, a line each",
	.suffix = "evt",
	.detect = evt_detect,
	.import = evt_import,
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = begin,
	.type = learn_type,
	.event = event,
	.lost = lost,
	.idle = idle,
	.close = close_sink,
};
