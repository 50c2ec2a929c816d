/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * csv.c - events as comma-separated values (RFC 4180): a line with the names of the columns, then
 * one line for each event.
 *
 * A gap is a line without an event, at the place of the gap. The counts of a ledger are lines at
 * the end, one for each cause. Characters that are unsafe on a terminal, and bytes that are not
 * UTF-8, are escaped. A text that a spreadsheet would evaluate as a formula gets an apostrophe
 * before it. The column "hex" has the exact data.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "base/when.h"
#include "convert/format.h"
#include "convert/jsonfields.h"

extern const struct format format_csv;

/*
 * If the data of an event has more bytes than this, the columns "fields" and "names" are empty, and
 * only the column "hex" has the whole data.
 */
#define FIELDS_DATA_MAX (OUT_BYTES / 16)

struct csv {
	struct fmt_flow *flow;
	struct out *out;
	struct out *scratch; /* memory for the JSON of one event; never written to a file */
	char **name; /* the quoted name of each type, at the type's index */
	size_t types;
	int64_t last_ns; /* time of the last event, for losses without a time */
};

static int csv_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return ENOMEM;
	csv->flow = flow;
	csv->scratch = calloc(1, sizeof(*csv->scratch));
	if (!csv->scratch) {
		free(csv);
		return ENOMEM;
	}
	csv->scratch->fd = -1;
	csv->out = output->out;
	*context = csv;
	return 0;
}

static void csv_close(void *context)
{
	struct csv *csv = context;

	for (size_t i = 0; i < csv->types; i++)
		free(csv->name[i]);
	free(csv->name);
	free(csv->scratch);
	free(csv);
}

/*
 * Writes a text in quotes. A quote in the text is doubled. A byte that is not UTF-8, and a
 * character that is unsafe on a terminal, becomes \xNN, or \uXXXX if the character is not ASCII.
 * Tabs and ends of lines remain. A backslash is doubled, so that the text can be restored.
 */
static void put_quoted(struct out *out, const void *bytes, size_t len)
{
	const unsigned char *from = bytes, *end = from + len;

	out_char(out, '"');
	/*
	 * The text may be from the traced program, and may be a formula that attacks the user of a
	 * spreadsheet (OWASP: CSV injection).
	 */
	if (text_is_formula(bytes, len))
		out_char(out, '\'');
	while (from < end) {
		char *p = out_room(out);
		uint32_t c;
		size_t n = text_character(from, (size_t)(end - from), &c);

		if (n && !text_is_unsafe(c)) {
			if (c == '"' || c == '\\')
				*p++ = (char)c;
			memcpy(p, from, n);
			p += n;
		} else if (n && (c == '\n' || c == '\t' || c == '\r')) {
			/* RFC 4180, section 2, rule 6 allows line ends in quotes. */
			*p++ = (char)c;
		} else {
			*p++ = '\\';
			*p++ = n && c > 0x7f ? 'u' : 'x';
			p = put_hex(p, n ? c : *from, n && c > 0x7f ? 4 : 2);
		}
		out_done(out, p);
		from += n ? n : 1;
	}
	out_char(out, '"');
}

static int csv_begin(void *context, const struct fmt_facts *facts)
{
	struct csv *csv = context;
	struct out *out = csv->out;

	(void)facts;
	out_str(out, "time,ns,pid,tid,thread,address,cpu,event,truncated,late,after_damage,"
		     "lost,cause,len,hex,text,fields,names");
	/*
	 * Only a trace of several logs has the column "log". RFC 4180 requires CR LF at the end of
	 * a line.
	 */
	out_str(out, fmt_source_name(csv->flow, 0) ? ",log\r\n" : "\r\n");
	return out->err;
}

/* Quotes the name once for all events of the type. */
static int csv_type(void *context, const struct fmt_type *type)
{
	static struct out scratch = { .fd = -1 };
	struct csv *csv = context;
	char **more;

	if (!vec_reach(&csv->name, &csv->types, type->index))
		return ENOMEM;
	more = csv->name;
	scratch.used = 0;
	/* The length is limited, so that the quoted name fits into the buffer. */
	put_quoted(&scratch, type->name, type->name_len < 4096 ? type->name_len : 4096);
	out_char(&scratch, '\0');
	more[type->index] = strdup(scratch.bytes);
	return more[type->index] ? 0 : ENOMEM;
}

/*
 * Writes the JSON text in "scratch" as a cell. Except for quotes, all special characters in it are
 * escaped already.
 */
static void put_json(struct out *out, const struct out *scratch)
{
	out_char(out, '"');
	for (size_t i = 0; i < scratch->used; i++) {
		if (scratch->bytes[i] == '"')
			out_char(out, '"');
		out_char(out, scratch->bytes[i]);
	}
	out_char(out, '"');
}

/*
 * Writes the fields and their names as two columns, each a JSON object. The column of names is
 * empty if no value has a name.
 */
static void put_fields(struct csv *csv, const struct fmt_event *event)
{
	struct json json = json_begin(csv->scratch);

	csv->scratch->used = 0;
	json_fields_object(&json, NULL, event);
	put_json(csv->out, csv->scratch);
	out_char(csv->out, ',');
	json = json_begin(csv->scratch);
	csv->scratch->used = 0;
	if (json_names(&json, NULL, csv->flow, event))
		put_json(csv->out, csv->scratch);
}

/* Ends a line. "log" is NULL for a single log, and empty for a line that belongs to no log. */
static void end_row(struct csv *csv, const char *log)
{
	if (log) {
		out_char(csv->out, ',');
		put_quoted(csv->out, log, strlen(log));
	}
	out_str(csv->out, "\r\n");
}

static int csv_event(void *context, const struct fmt_event *event)
{
	struct csv *csv = context;
	struct out *out = csv->out;
	/*
	 * The columns are in the order of the first line. They are formatted in the buffer without
	 * printf(), which would need much time for each event.
	 */
	char *p = when_put(out_room(out), event->time_ns, WHEN_UTC);

	*p++ = ',';
	p = when_put(p, event->time_ns, WHEN_RAW);
	*p++ = ',';
	p = put_unsigned(p, event->pid);
	*p++ = ',';
	p = put_unsigned(p, event->tid);
	memcpy(p, ",0x", 3);
	p = put_hex(p + 3, event->thread, 1);
	memcpy(p, ",0x", 3);
	p = put_hex(p + 3, event->address, 1);
	*p++ = ',';
	if (event->cpu >= 0)
		p = put_unsigned(p, (uint32_t)event->cpu);
	*p++ = ',';
	out_done(out, p);
	out_str(out, csv->name[event->type->index]);
	p = out_room(out);
	*p++ = ',';
	*p++ = event->truncation == POSIX_TRACE_NOT_TRUNCATED ? '0' : '1';
	*p++ = ',';
	*p++ = event->flags & POSIX_TRACE_EVENT_LATE_NP ? '1' : '0';
	*p++ = ',';
	*p++ = event->flags & POSIX_TRACE_EVENT_GAP_NP ? '1' : '0';
	memcpy(p, ",,,", 3);
	p = put_unsigned(p + 3, event->data_len);
	*p++ = ',';
	out_done(out, p);
	out_hex(out, event->data, event->data_len);
	out_char(out, ',');
	/* Data that is text is repeated in a form that people can read. */
	if (event->data_len && text_is_text(event->data, event->data_len, true))
		put_quoted(out, event->data, event->data_len);
	out_char(out, ',');
	if (event->type->fields && event->type->fields->fields &&
	    event->data_len <= FIELDS_DATA_MAX)
		put_fields(csv, event);
	else
		out_char(out, ',');
	end_row(csv, fmt_source_name(csv->flow, event->source));
	csv->last_ns = event->time_ns;
	return out->err;
}

/*
 * Writes a loss as a line with the columns of an event, most of which are empty. A loss without a
 * count has "?".
 */
static void put_loss(struct csv *csv, int64_t time_ns, bool counted, uint64_t count, int cause,
		     const char *log)
{
	struct out *out = csv->out;
	char *p = when_put(out_room(out), time_ns, WHEN_UTC);

	*p++ = ',';
	p = when_put(p, time_ns, WHEN_RAW);
	memcpy(p, ",,,,,,,,,,", 10);
	p += 10;
	if (counted)
		p = put_unsigned(p, count);
	else
		*p++ = '?';
	*p++ = ',';
	out_done(out, p);
	out_str(out, posix_trace_lost_name_np(cause));
	out_str(out, ",,,,,");
	end_row(csv, log);
}

static int csv_lost(void *context, const struct fmt_lost *lost)
{
	struct csv *csv = context;

	put_loss(csv, lost->has_interval ? lost->end_ns : csv->last_ns, lost->counted, lost->count,
		 lost->cause, fmt_source_name(csv->flow, lost->source));
	return csv->out->err;
}

static int csv_end(void *context, const struct fmt_end *end)
{
	struct csv *csv = context;

	/* Writes the losses that the source counts only at the end, as a log does in its ledger. */
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i])
			put_loss(csv, csv->last_ns, true, end->ledger.lost[i], i,
				 fmt_source_name(csv->flow, 0) ? "" : NULL);
	return csv->out->err;
}

static int csv_idle(void *context)
{
	return out_flush(((struct csv *)context)->out);
}

const struct format format_csv = {
	.name = "csv",
	.summary = "comma-separated values, one line for each event",
	.suffix = "csv",
	.output = FMT_TO_BYTES,
	.open = csv_open,
	.begin = csv_begin,
	.type = csv_type,
	.event = csv_event,
	.lost = csv_lost,
	.idle = csv_idle,
	.end = csv_end,
	.close = csv_close,
};
