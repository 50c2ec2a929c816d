/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.c - computes the filter of a live stream from patterns, and sets it when it changes.
 *
 * A stream filters by numbers of types, but the user gives patterns of names, and a type gets its
 * number when the program first opens its name. So the command registers known names immediately,
 * and computes the filter again whenever new types may have appeared. Until then, events of a new
 * type may be recorded, unless all patterns of --event are exact names.
 */
#include "live/admit.h"

#include <string.h>

/* The events of the stream itself. They report losses and state, so no pattern excludes them. */
static const trace_event_id_t system_events[] = {
	POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_FILTER,
	POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP,
};

#define SYSTEM_EVENTS (sizeof(system_events) / sizeof(system_events[0]))

static bool is_system(trace_event_id_t id)
{
	for (size_t i = 0; i < SYSTEM_EVENTS; i++)
		if (system_events[i] == id)
			return true;
	return false;
}

static bool is_plain(const char *glob)
{
	return !strpbrk(glob, "*?[\\");
}

/*
 * Registers the plain names of the list in the stream. Returns true if all names are plain and
 * could be registered. Returns false also if the stream has no room for a name.
 */
static bool register_names(const struct choose_names *names, trace_id_t trid)
{
	trace_event_id_t id;
	bool all = true;

	for (size_t i = 0; i < names->count; i++)
		if (!is_plain(names->glob[i]) ||
		    posix_trace_trid_eventid_open(trid, names->glob[i], &id))
			all = false;
	return all;
}

/*
 * Stores the initial filter, which applies to types that have no name so far. If all patterns of
 * --event are exact names, no type that is defined later can match. So the filter then has all
 * types of the program, also those that do not exist yet. Otherwise the filter has no type.
 */
static int begin_set(const struct admit *admit, trace_event_set_t *set)
{
	int err;

	if (!admit->exact)
		return posix_trace_eventset_empty(set);
	err = posix_trace_eventset_fill(set, POSIX_TRACE_ALL_EVENTS);
	for (size_t i = 0; !err && i < SYSTEM_EVENTS; i++)
		err = posix_trace_eventset_del(system_events[i], set);
	return err;
}

/* Computes the filter: the types that the stream must not record. Returns 0 or an error number. */
static int compute_filter(const struct admit *admit, trace_id_t trid, trace_event_set_t *set)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int err, unavailable;

	err = begin_set(admit, set);
	if (!err)
		err = posix_trace_eventtypelist_rewind(trid);
	while (!err) {
		err = posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);
		if (err || unavailable)
			break;
		/*
		 * System events are never filtered. A type without a name cannot be compared with
		 * the patterns yet.
		 */
		if (is_system(id) || posix_trace_eventid_get_name(trid, id, name))
			continue;
		err = choose_type(admit->choose, name) ? posix_trace_eventset_del(id, set) :
							 posix_trace_eventset_add(id, set);
	}
	return err;
}

/*
 * Registers each known name that the patterns exclude, so that its type is filtered from the first
 * event. Registering names that match would have no effect on the filter.
 */
static void register_unwanted(const struct admit *admit, trace_id_t trid)
{
	trace_event_id_t id;

	for (const char *const *name = admit->known; name && *name; name++)
		if (!choose_type(admit->choose, *name))
			posix_trace_trid_eventid_open(trid, *name, &id);
}

int admit_begin(struct admit *admit, trace_id_t trid)
{
	register_unwanted(admit, trid);
	register_names(&admit->choose->exclude, trid);
	admit->exact = register_names(&admit->choose->include, trid) &&
		       admit->choose->include.count;
	return admit_refresh(admit, trid);
}

int admit_refresh(struct admit *admit, trace_id_t trid)
{
	trace_event_set_t set;
	int err = compute_filter(admit, trid, &set);

	/*
	 * If the filter has not changed, it is not set again. Each call that sets a filter adds an
	 * event to the log, and all writers must notice the call.
	 */
	if (err || (admit->any && !memcmp(&set, &admit->set, sizeof(set))))
		return err;
	err = posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	if (!err) {
		admit->set = set;
		admit->any = true;
	}
	return err;
}
