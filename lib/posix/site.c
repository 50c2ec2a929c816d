/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/site.c - registers the event types of trace points that are one line of source.
 *
 * The same line may be in several object files of a program, and several threads may reach a line
 * at the same time. Each of them registers the type, and the table of names gives each name only
 * one number. The identifier is stored last, with release: a thread that finds the identifier also
 * finds the other members of the site.
 *
 * Signals  async-signal-safe, except for the lock of a backing file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <trace_np.h>

#include "base/export.h"
#include "posix/site.h"
#include "record/schema.h"

/* If lines with one name have different fields, their types are NAME, NAME.2 ... NAME.9. */
#define VARIANTS 9

/*
 * Makes the name of a variant, truncated to the maximum. `suffix` is ".begin" or ".end", or empty.
 */
static void make_name(char *name, const char *base, const char *suffix, int variant)
{
	char end[16] = "";
	size_t len = strlen(base), tail;

	if (variant > 1) {
		end[0] = '.';
		end[1] = (char)('0' + variant);
		end[2] = '\0';
	}
	/*
	 * The base is truncated and not the suffix: otherwise begin and end could have the same
	 * name.
	 */
	tail = strlen(suffix) + strlen(end);
	if (len > TRACE_EVENT_NAME_MAX - tail)
		len = TRACE_EVENT_NAME_MAX - tail;
	memcpy(name, base, len);
	strcpy(name + len, suffix);
	strcat(name, end);
}

/*
 * If the schema of a type is not valid, describes the type by a message with the reason, so that a
 * reader of the log finds the mistake. The compiler cannot find each mistake in the words of a
 * line, such as a blank in the name of a value.
 */
static void describe_fault(trace_event_id_t type, const char *schema)
{
	static const char begin[] = "@format \"the line has invalid words: ";
	const char *why = ptx_schema_fault(schema, SIZE_MAX);
	char text[256], *to = text + strlen(begin);

	if (!why)
		return;
	strcpy(text, begin);
	/* The reasons are constants of the parser, and shorter than 100 bytes. */
	while (*why) {
		if (*why == '"')
			*to++ = '\\';
		*to++ = *why++;
	}
	strcpy(to, "\"");
	posix_trace_eventid_describe_np(type, text);
}

/*
 * The search ends at the first variant that has this schema, or that has no schema yet. If two
 * processes that share an arena search at the same time, both find the same variant. The first
 * description of the variant remains, and the other process tries the next variant if its schema
 * is different.
 */
trace_event_id_t ptx_site_type(const char *base, const char *suffix, const char *schema)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int err;

	/*
	 * Nine types are enough: so many types of one name show a reader that the lines disagree.
	 */
	for (int variant = 1; variant <= VARIANTS; variant++) {
		make_name(name, base, suffix, variant);
		if (posix_trace_eventid_open(name, &type) || type == POSIX_TRACE_UNNAMED_USEREVENT)
			return POSIX_TRACE_UNNAMED_USEREVENT;
		/*
		 * If there is no room for the schema, the type is used without one. Only a type
		 * that has another schema is not used, because readers would show wrong fields.
		 */
		err = posix_trace_eventid_describe_np(type, schema);
		if (err == EINVAL)
			describe_fault(type, schema);
		if (err != EEXIST)
			return type;
	}
	return POSIX_TRACE_UNNAMED_USEREVENT;
}

/*
 * Registers both events of a scope. The begin has the fields and "@begin SPAN"; the end has no
 * fields, so that it costs little where a function returns. A reader pairs a begin with the end of
 * the same thread.
 */
static void open_scope(struct posix_trace_site_np *site, trace_event_id_t *begin,
		       trace_event_id_t *end)
{
	/*
	 * If both the fields and the name are very long, the text is too long for a schema. The
	 * description then fails, and the events have no schema. The compiler cannot find this,
	 * because it checks the length of the fields alone.
	 */
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + TRACE_EVENT_NAME_MAX + 16];
	const char *level = strstr(site->schema, "@level");

	strcpy(schema, site->schema);
	strcat(schema, "@begin ");
	strcat(schema, site->name);
	*begin = ptx_site_type(site->name, ".begin", schema);
	/* The end has the level of the begin, so that a filter by level admits both or none. */
	strcpy(schema, "@end ");
	strcat(schema, site->name);
	if (level) {
		char *to = schema + strlen(schema);

		*to++ = ';';
		while (*level && *level != ';')
			*to++ = *level++;
		*to = '\0';
	}
	/*
	 * The end does not repeat the fields of the begin: a reader finds them in the begin of the
	 * pair.
	 */
	*end = ptx_site_type(site->name, ".end", schema);
}

/*
 * Returns the identifier, which it also stores in the site. The lists of names and schemas are
 * changed without a lock (arena/names.c, arena/schemas.c), so a signal handler may be the first to
 * reach a line. posix_trace_eventid_open() keeps errno.
 */
PTX_EXPORT trace_event_id_t posix_trace_site_open_np(struct posix_trace_site_np *site)
{
	trace_event_id_t type, end = 0;

	switch (site->kind) {
	case POSIX_TRACE_SITE_SCOPE_NP:
		open_scope(site, &type, &end);
		break;
	default:
		/* A log line is registered by log.c, which has its format. */
		type = ptx_site_type(site->name, "", site->schema);
	}
	/*
	 * end_id is stored first: the release of event_id publishes both. A scope reads end_id only
	 * after it has found event_id.
	 */
	__atomic_store_n(&site->end_id, end, __ATOMIC_RELAXED);
	__atomic_store_n(&site->event_id, type, __ATOMIC_RELEASE);
	return type;
}
