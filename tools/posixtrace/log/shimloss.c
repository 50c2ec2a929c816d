/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shimloss.c - reads the counts of untraced calls from the events posixtrace_shim_lost of a log. */
#include "log/shimloss.h"

#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/text.h"
#include "log/field.h"
#include "log/logfile.h"
#include "log/preload_types.h"

#define NAME "posixtrace_shim_lost"

/*
 * Adds two counts. A damaged log may contain any counts, so a sum that overflows becomes
 * UINT64_MAX.
 */
static void add_saturated(uint64_t *to, uint64_t count)
{
	if (__builtin_add_overflow(*to, count, to))
		*to = UINT64_MAX;
}

/*
 * Stores the value of the unsigned field with this name. Returns false if the event has no such
 * field.
 */
static bool field_number(const struct posix_trace_schema_np *schema, const char *name,
		   const struct posix_trace_event_np *event, uint64_t *count)
{
	struct posix_trace_value_np value;

	if (!field_by_name(schema, name, event, &value) ||
	    value.field->form != POSIX_TRACE_FORM_UNSIGNED_NP)
		return false;
	*count = value.u64;
	return true;
}

/* Adds the counts of one event. A field that the event lacks counts as 0. */
static void add_event(struct shimloss *loss, const struct posix_trace_schema_np *schema,
		 const struct posix_trace_event_np *event)
{
	uint64_t early = 0, early_alloc = 0, unnamed = 0, holds = 0;

	field_number(schema, "early", event, &early);
	field_number(schema, "unnamed", event, &unnamed);
	field_number(schema, "holds", event, &holds);
	add_saturated(&loss->early, early);
	/*
	 * Older versions of the library did not count early calls by family, so the field
	 * early_alloc may be missing. early_alloc is at most early, unless the log is damaged.
	 */
	if (field_number(schema, "early_alloc", event, &early_alloc))
		add_saturated(&loss->early_alloc, early_alloc < early ? early_alloc : early);
	else
		add_saturated(&loss->early_any, early);
	add_saturated(&loss->unnamed, unnamed);
	add_saturated(&loss->holds, holds);
}

void shimloss_add(struct shimloss *loss, const struct shimloss *other)
{
	add_saturated(&loss->early, other->early);
	add_saturated(&loss->early_alloc, other->early_alloc);
	add_saturated(&loss->early_any, other->early_any);
	add_saturated(&loss->unnamed, other->unnamed);
	add_saturated(&loss->holds, other->holds);
}

static const struct log_type *find_type(const struct logfile *log)
{
	for (size_t i = 0; i < log->types; i++)
		if (!strcmp(log->list[i]->name, NAME))
			return log->list[i];
	return NULL;
}

/*
 * Reads the given number of events of this type, which is the number in the ledger. Most of these
 * events are near the begin of the log, so it saves time to stop behind the last of them. Returns 0
 * or an error number.
 */
static int read_events(struct shimloss *loss, const struct log_type *type, trace_id_t trid,
		       uint64_t events)
{
	struct posix_trace_event_np event;
	int unavailable, err;

	while (events && !(err = posix_trace_getnext_np(trid, &event, &unavailable))) {
		if (unavailable)
			return 0;
		if (event.info.posix_event_id != type->id)
			continue;
		add_event(loss, type->schema, &event);
		events--;
	}
	return events ? err : 0;
}

int shimloss_read(struct shimloss *loss, const struct logfile *log)
{
	const struct log_type *type = find_type(log);
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;
	int err;

	memset(loss, 0, sizeof(*loss));
	if (!type || !type->schema)
		return 0;
	/*
	 * The library returns the number of such events from the ledger, without reading the events
	 * of the log.
	 */
	err = posix_trace_get_ledger_type_np(log->trid, type->id, &ledger);
	if (err || !ledger.reported)
		return err;
	/*
	 * The events are read with a separate reader, so that the position of log->trid does not
	 * change.
	 */
	err = posix_trace_open_np(log->fd, LOGFILE_REOPEN, &trid);
	if (err)
		return err;
	err = read_events(loss, type, trid, ledger.reported);
	posix_trace_close(trid);
	return err;
}

/*
 * The kinds are derived from the name of a type. The part before the point is the family, and the
 * name of a type with the times of held locks ends in "_held".
 */
unsigned shimloss_kinds(const char *type)
{
	unsigned kinds = SHIMLOSS_OTHER;

	if (!preload_types_has(type) || !strcmp(type, NAME))
		return 0;
	if (!strncmp(type, "alloc.", 6))
		kinds = SHIMLOSS_ALLOC;
	if (text_ends_with(type, "_held"))
		kinds |= SHIMLOSS_HOLDS;
	return kinds;
}

/* Calls of an unknown kind are added for all kinds, so the result is an upper bound. */
uint64_t shimloss_of(const struct shimloss *loss, unsigned kinds)
{
	uint64_t count = 0;

	if (!kinds)
		return 0;
	add_saturated(&count, loss->unnamed);
	add_saturated(&count, loss->early_any);
	if (kinds & SHIMLOSS_ALLOC)
		add_saturated(&count, loss->early_alloc);
	if (kinds & SHIMLOSS_OTHER)
		/*
		 * In each event, early_alloc and early_any together are at most early. So the
		 * difference is not negative, unless one of the sums is saturated.
		 */
		add_saturated(&count, loss->early - loss->early_alloc - loss->early_any);
	if (kinds & SHIMLOSS_HOLDS)
		add_saturated(&count, loss->holds);
	return count;
}

void shimloss_text(struct out *out, const struct shimloss *loss)
{
	const struct {
		uint64_t count;
		const char *cause;
	} parts[] = {
		{ loss->early, "before the library had begun" },
		{ loss->unnamed, "without an event type or memory for their thread" },
		{ loss->holds, "holds of locks" },
	};
	const char *comma = "";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].count)
			continue;
		out_printf(out, "%s%llu %s", comma, (unsigned long long)parts[i].count,
			   parts[i].cause);
		comma = ", ";
	}
}

void shimloss_json(struct json *json, const char *name, const struct shimloss *loss)
{
	json_object(json, name);
	json_unsigned(json, "early", loss->early);
	json_unsigned(json, "early_alloc", loss->early_alloc);
	json_unsigned(json, "unnamed", loss->unnamed);
	json_unsigned(json, "holds", loss->holds);
	json_end_object(json);
}
