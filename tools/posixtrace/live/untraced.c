/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * untraced.c - prints which executed programs could not be traced.
 *
 * A program that cannot load the preload library records nothing. So before a traced process
 * executes such a program, the preload library records an event process.untraced. A user who misses
 * the calls of a child then finds the reason in the line that is printed here, without a search in
 * the log.
 */
#include "live/untraced.h"

#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/out.h"
#include "base/text.h"
#include "log/field.h"

#define SHOWN 3 /* further programs are counted only */

/* Finds the event type and its schema. Returns false if the log has no such event. */
static bool find_type(trace_id_t trid, trace_event_id_t *id, struct posix_trace_schema_np *schema)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_ledger_np ledger;
	int unavailable;

	while (!posix_trace_eventtypelist_getnext_id(trid, id, &unavailable) && !unavailable) {
		if (posix_trace_eventid_get_name(trid, *id, name) ||
		    strcmp(name, "process.untraced") != 0)
			continue;
		/*
		 * The ledger has the number of these events. In most logs it is 0, and then the
		 * events need not be read.
		 */
		return !posix_trace_get_ledger_type_np(trid, *id, &ledger) && ledger.reported &&
		       !posix_trace_eventid_get_schema_np(trid, *id, text, sizeof(text)) &&
		       !posix_trace_schema_parse_np(text, schema);
	}
	return false;
}

/* Prints a string of the event. Its bytes come from the program, so they may have any values. */
static void put_field(struct out *out, const struct posix_trace_schema_np *schema,
		      const struct posix_trace_event_np *event, const char *name)
{
	struct posix_trace_value_np value;

	if (field_by_name(schema, name, event, &value) &&
	    value.field->form == POSIX_TRACE_FORM_BYTES_NP)
		text_safe(out, value.data, strnlen(value.data, value.len));
}

/* Writes the first programs, and returns the number of all programs. */
static unsigned put_programs(struct out *out, trace_id_t trid, bool is_first_known,
			     bool by_kernel)
{
	static struct posix_trace_schema_np schema;
	struct posix_trace_event_np event;
	trace_event_id_t id;
	unsigned seen = 0;
	int unavailable;

	if (!find_type(trid, &id, &schema))
		return 0;
	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
		if (event.info.posix_event_id != id)
			continue;
		if (is_first_known) {
			is_first_known = false;
			continue;
		}
		if (seen++ >= SHOWN)
			continue;
		out_str(out, seen > 1 ? ", " : by_kernel ?
			"posixtrace: programs traced by the kernel only: " :
			"posixtrace: programs that cannot be traced: ");
		put_field(out, &schema, &event, "program");
		out_str(out, " (");
		put_field(out, &schema, &event, "why");
		out_str(out, ")");
	}
	return seen;
}

void untraced_say(int fd, bool is_first_known, bool by_kernel)
{
	static struct out err = { .fd = STDERR_FILENO };
	unsigned seen;
	trace_id_t trid;

	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid))
		return;
	seen = put_programs(&err, trid, is_first_known, by_kernel);
	posix_trace_close(trid);
	if (seen > SHOWN) {
		out_str(&err, ", and ");
		out_unsigned(&err, seen - SHOWN);
		out_str(&err, " more");
	}
	if (seen)
		out_str(&err, by_kernel ? "\n" :
			"; --syscalls=unseen records their system calls\n");
	out_flush(&err);
}
