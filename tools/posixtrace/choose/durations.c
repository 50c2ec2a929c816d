/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* durations.c - finds the durations of events through the pairing of spans. */
#include "choose/durations.h"

#include <string.h>

#include "choose/wanted.h"
#include "spans/roles.h"

/*
 * pairing_event() calls this function for each span that the event ends. If an event ends several
 * spans, its duration is the duration of the longest of them.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct durations *durations = arg;

	(void)end;
	if (!durations->has || span->time_ns > durations->ns)
		durations->ns = span->time_ns;
	durations->has = true;
}

void durations_begin_open(struct durations *durations, const struct wanted *wanted)
{
	durations->on = wanted_uses_duration(wanted);
	durations->has = durations->is_begin = false;
	if (!durations->on)
		return;
	pairing_init(&durations->pairing, take_span, durations);
	for (size_t i = 0; i < wanted->pairs; i++)
		/* The result need not be checked, because wanted_pair() has checked this value. */
		pairing_add(&durations->pairing, wanted->pair[i]);
}

/*
 * Returns true if events of at least one type can have a duration. Otherwise the name "duration" in
 * an expression is probably a mistake.
 */
static bool any_has(struct durations *durations, const struct logfile *log)
{
	for (size_t i = 0; i < log->types; i++)
		for (const struct role *role = roles_of(&durations->pairing, log->list[i]); role;
		     role = role->next)
			if (role->phase != POSIX_TRACE_BEGIN_NP)
				return true;
	return false;
}

bool durations_fits(struct durations *durations, struct wanted *wanted, struct logfile *log)
{
	if (!durations->on)
		return true;
	if (!pairing_begin(&durations->pairing, log))
		return false;
	durations->possible = any_has(durations, log);
	/*
	 * If durations are possible, "duration" is a known name in the expression, although no
	 * schema has such a field.
	 */
	if (durations->possible && wanted->where)
		where_declare_duration(wanted->where);
	return true;
}

bool durations_begin(struct durations *durations, struct wanted *wanted, struct logfile *log)
{
	durations_begin_open(durations, wanted);
	/*
	 * After an error this function releases everything, so the caller need not call
	 * durations_end().
	 */
	if (durations_fits(durations, wanted, log))
		return true;
	durations_end(durations);
	return false;
}

void durations_end(struct durations *durations)
{
	if (durations->on)
		pairing_fini(&durations->pairing);
	durations->on = false;
}

void durations_determine(struct durations *durations, const struct log_type *type,
			 const struct posix_trace_event_np *event)
{
	durations->has = durations->is_begin = false;
	for (const struct role *role = roles_of(&durations->pairing, type); role; role = role->next)
		durations->is_begin |= role->phase == POSIX_TRACE_BEGIN_NP;
	/* The pairing calls take_span() for each span that ends here. */
	pairing_event(&durations->pairing, type, event, 0, true);
}
