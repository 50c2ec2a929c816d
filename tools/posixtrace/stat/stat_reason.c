/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stat_reason.c - reads the reason why the agent has written a log from an event in that log. */
#include "stat/stat.h"

#include <stdio.h>
#include <string.h>

#include "log/field.h"

#define AGENT_EVENT "posixtrace_agent"

/*
 * Stores the text of a field up to its first NUL. The text is empty if the event has no such field.
 */
static void copy_field(const struct log_type *type, const char *name,
		       const struct posix_trace_event_np *event, char text[STAT_REASON_BYTES])
{
	struct posix_trace_value_np value;

	*text = '\0';
	if (field_by_name(type->schema, name, event, &value) &&
	    value.field->form == POSIX_TRACE_FORM_BYTES_NP)
		snprintf(text, STAT_REASON_BYTES, "%.*s", (int)strnlen(value.data, value.len),
			 (const char *)value.data);
}

/* Returns the type of the agent's events, or NULL if the log has none of them. */
static const struct tally_type *find_type(const struct tally *tally)
{
	for (size_t i = 0; i < tally->types; i++)
		if (tally->type[i].count.events && tally->type[i].type->schema &&
		    !strcmp(tally->type[i].type->name, AGENT_EVENT))
			return &tally->type[i];
	return NULL;
}

/*
 * The last event of this type has the reason, because the agent records this event immediately
 * before it writes the log. The tally has the time of this event, so the index of the log leads to
 * the event.
 */
bool stat_find_reason(const struct stat_report *report, struct stat_reason *reason)
{
	const struct tally_type *of = find_type(&report->tally);
	const trace_id_t trid = report->log->trid;
	struct posix_trace_event_np event;
	struct timespec when;
	int unavailable;
	bool found = false;

	if (!of || of->count.last_ns < 0)
		return false;
	when = (struct timespec){ .tv_sec = of->count.last_ns / 1000000000,
				  .tv_nsec = of->count.last_ns % 1000000000 };
	if (posix_trace_seek_np(trid, &when))
		return false;
	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable &&
	       event.time_ns <= of->count.last_ns) {
		if (event.info.posix_event_id != of->type->id)
			continue;
		copy_field(of->type, "what", &event, reason->what);
		copy_field(of->type, "trigger", &event, reason->trigger);
		copy_field(of->type, "reason", &event, reason->text);
		found = true;
	}
	return found;
}
