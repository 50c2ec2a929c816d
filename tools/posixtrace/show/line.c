/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * line.c - prints an event as a line. The code runs for every printed event, so numbers are written
 * directly into the buffer.
 */
#include "show/line.h"

#include "base/json.h"
#include "base/text.h"
#include "log/fields.h"
#include "log/sysdata.h"
#include "show/frames.h"
#include "symbols/symbols.h"

/*
 * Returns the time from the event that was printed last to time_ns, or 0 for the first event. In a
 * damaged log the difference may overflow. The result is then INT64_MIN or INT64_MAX.
 */
static int64_t delta_to(struct line_form *form, int64_t time_ns)
{
	int64_t delta_ns = 0;

	if (form->any && __builtin_sub_overflow(time_ns, form->previous_ns, &delta_ns))
		delta_ns = time_ns < form->previous_ns ? INT64_MIN : INT64_MAX;
	form->any = true;
	form->previous_ns = time_ns;
	return delta_ns;
}

/*
 * Writes the id of a process or thread in seven columns, or "-" if the id is not positive: 0 means
 * the stream itself.
 */
static char *put_id(char *p, pid_t id)
{
	if (id > 0)
		return put_padded(p, (unsigned)id, 7, ' ');
	memcpy(p, "      -", 7);
	return p + 7;
}

/* Writes process, thread and address for a line of text. */
static char *text_origin(char *p, const struct line_origin *origin)
{
	*p++ = ' ';
	p = put_id(p, origin->pid);
	*p++ = ' ';
	p = put_id(p, origin->tid);
	memcpy(p, " 0x", 3);
	p = put_hex(p + 3, origin->address, 12);
	*p++ = ' ';
	return p;
}

/* Writes process, thread and address as members of JSON, and the name of the member "id". */
static char *json_origin(char *p, const struct line_origin *origin)
{
	p = put_signed(stpcpy(p, ",\"pid\":"), origin->pid);
	p = put_signed(stpcpy(p, ",\"tid\":"), origin->tid);
	p = json_put_address(stpcpy(p, ",\"thread\":"), origin->thread);
	p = json_put_address(stpcpy(p, ",\"address\":"), origin->address);
	return stpcpy(p, ",\"id\":");
}

/*
 * Writes process, thread and address. Most events come from few addresses of a program, so the
 * function keeps the texts for recent addresses. The function copies a constant number of bytes,
 * enough for the longest text. So p needs room for LINE_ORIGIN_BYTES bytes.
 */
static inline __attribute__((always_inline)) char *
put_origin(char *p, struct line_form *form, const struct posix_trace_event_np *event)
{
	uint64_t address = (uintptr_t)event->info.posix_prog_address;
	uint64_t thread = (uint64_t)event->info.posix_thread_id;
	/*
	 * The upper bits of the product depend on all bits of both numbers. Threads with successive
	 * ids that run the same code get different elements.
	 */
	uint64_t hash = (address ^ (uint64_t)(uint32_t)event->tid << 44) *
			UINT64_C(0x9e3779b97f4a7c15);
	struct line_origin *origin = &form->origin[(hash >> 32) % LINE_ORIGINS];

	if (!origin->len || origin->address != address || origin->tid != event->tid ||
	    origin->pid != event->info.posix_pid || origin->thread != thread) {
		char *end;

		origin->address = address;
		origin->thread = thread;
		origin->tid = event->tid;
		origin->pid = event->info.posix_pid;
		end = (form->json ? json_origin : text_origin)(origin->text, origin);
		origin->len = (size_t)(end - origin->text);
	}
	memcpy(p, origin->text, LINE_ORIGIN_BYTES / 2);
	if (form->json)
		memcpy(p + LINE_ORIGIN_BYTES / 2, origin->text + LINE_ORIGIN_BYTES / 2,
		       LINE_ORIGIN_BYTES / 2);
	return p + origin->len;
}

void line_plain_data(struct out *out, const struct logfile *log,
		     const struct posix_trace_event_np *event)
{
	if (sysdata_text(out, log, event))
		return;
	if (text_is_text(event->data, event->data_len, false))
		text_quoted(out, event->data, event->data_len);
	else
		out_hex(out, event->data, event->data_len);
}

/*
 * Writes the data in the first of these forms that is possible: the fields of the schema, the data
 * of a system event, text, bytes. With --hex it always writes bytes.
 */
static void text_data(struct out *out, const struct line_form *form, const struct logfile *log,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	if (!form->hex && fields_text(out, log, type, event, form->when))
		return;
	out_char(out, ' ');
	if (form->hex)
		out_hex(out, event->data, event->data_len);
	else
		line_plain_data(out, log, event);
}

/*
 * Writes the name of the log in a column of constant width. Only lines of merged logs have this
 * column.
 */
static void text_log(struct out *out, const struct line_form *form)
{
	size_t len = strlen(form->log), columns = text_columns(form->log, len);

	text_safe(out, form->log, len);
	/* Blanks fill the column. Behind the longest name there is one blank. */
	for (; columns <= form->log_width; columns++)
		out_char(out, ' ');
}

/* Returns true if the event has a stack that must be printed, and stores the stack in *found. */
static bool find_stack(const struct line_form *form, const struct log_type *type,
		       const struct posix_trace_event_np *event, struct stacks_found *found)
{
	/* Most logs have no stacks, so this condition is tested first. */
	return form->stacks && form->stacks->entries &&
	       stacks_find(form->stacks, type, event, found) &&
	       (form->all_stacks || !found->is_exact);
}

/* Writes the symbol of the event's address, if it is known. */
static void text_symbol(struct out *out, const struct logfile *log,
			const struct posix_trace_event_np *event)
{
	const struct symbol *symbol = symbols_of(log, event);

	if (!symbol)
		return;
	out_str(out, " in");
	symbols_text(out, symbol);
}

void line_put_marks(struct out *out, const struct posix_trace_event_np *event)
{
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		out_str(out, " [truncated]");
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		out_str(out, " [late]");
	if (event->flags & LINE_UNORDERED)
		out_str(out, " [unordered]");
}

/*
 * Prints an event as a line of text. All parts of the line before the event type together fit
 * OUT_PIECE bytes, and the escaped name of a type is far shorter than the buffer.
 */
static void text_line(struct out *out, struct line_form *form, const struct logfile *log,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	int64_t delta_ns = delta_to(form, event->time_ns);
	struct stacks_found stack;
	char *p;

	if (form->log_width)
		text_log(out, form);
	p = when_put(out_room_for(out, OUT_PIECE + type->shown_len + PUT_PIECE), event->time_ns,
		     form->when);
	*p++ = ' ';
	/* With --raw the time is in nanoseconds, so the difference is in nanoseconds, too. */
	if (form->when == WHEN_RAW) {
		*p++ = delta_ns < 0 ? '-' : '+';
		p = put_padded(p, delta_ns < 0 ? -(uint64_t)delta_ns : (uint64_t)delta_ns, 9, '0');
	} else {
		p = when_put_span(p, delta_ns, true);
	}
	p = put_origin(p, form, event);
	out_done(out, put_pieces(p, type->shown, type->shown_len));
	/* The data may be long, so it is written by functions that check the room. */
	if (event->data_len || fields_has_message(type))
		text_data(out, form, log, type, event);
	if (form->symbols)
		text_symbol(out, log, event);
	if (event->flags || event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		line_put_marks(out, event);
	out_char(out, '\n');
	if (find_stack(form, type, event, &stack))
		frames_text(out, log, event, &stack);
}

/* Writes the data as the member "fields", "text" or "hex", or as the members of a system event. */
static void json_data(struct json *json, const struct line_form *form, const struct logfile *log,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	if (!form->hex && fields_json(json, log, type, event))
		return;
	if (!form->hex && sysdata_json(json, log, event))
		return;
	if (!form->hex && text_is_text(event->data, event->data_len, true))
		json_text(json, "text", event->data, event->data_len);
	else
		json_hex(json, "hex", event->data, event->data_len);
}

/* Writes the members "symbol" and "source", if they are known. */
static void json_symbol(struct json *json, const struct logfile *log,
			const struct posix_trace_event_np *event)
{
	const struct symbol *symbol = symbols_of(log, event);

	if (!symbol)
		return;
	json_string_member(json, "symbol", symbol->name);
	if (symbol->file)
		symbols_source_json(json, "source", symbol);
}

/*
 * Prints an event as an object of JSON. Nanoseconds and addresses are strings, because many
 * programs read numbers as doubles.
 */
static void json_line(struct out *out, struct line_form *form, const struct logfile *log,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct json json = json_begin(out);
	struct stacks_found stack;
	char *p;

	json_object(&json, NULL);
	if (form->log)
		json_string_member(&json, "log", form->log);
	json_time(&json, "time", "ns", event->time_ns);
	json_exact(&json, "delta_ns", delta_to(form, event->time_ns));
	p = put_origin(out_room_for(out, OUT_PIECE + type->members_len + PUT_PIECE), form, event);
	p = put_unsigned(p, event->info.posix_event_id);
	out_done(out, put_pieces(p, type->members, type->members_len));
	if (form->symbols)
		json_symbol(&json, log, event);
	json_unsigned(&json, "len", event->data_len);
	if (event->data_len || fields_has_message(type))
		json_data(&json, form, log, type, event);
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		json_bool(&json, "truncated", true);
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		json_bool(&json, "late", true);
	if (event->flags & LINE_UNORDERED)
		json_bool(&json, "unordered", true);
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		json_bool(&json, "after_damage", true);
	if (find_stack(form, type, event, &stack))
		frames_json(&json, log, event, &stack);
	if (form->is_part)
		json_end_object(&json);
	else
		json_end_line(&json);
}

/* Prints only the columns of --fields. In JSON, times are in UTC instead of local time. */
static void picked_line(struct out *out, struct line_form *form, const struct logfile *log,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	const struct pick_line line = {
		.when = form->json && form->when == WHEN_LOCAL ? WHEN_UTC : form->when,
		.delta_ns = delta_to(form, event->time_ns),
		.log_name = log->path,
	};

	(form->json ? pick_json : pick_tabs)(out, form->pick, &line, log, type, event);
}

/* 'form' selects columns, JSON or text. */
void line_put(struct out *out, struct line_form *form, const struct logfile *log,
	      const struct log_type *type, const struct posix_trace_event_np *event)
{
	if (form->pick)
		picked_line(out, form, log, type, event);
	else if (form->json)
		json_line(out, form, log, type, event);
	else
		text_line(out, form, log, type, event);
}
