/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.c - computes the filter of a live stream from patterns, and sets it when it changes.
 *
 * A stream filters by numbers of types, but the user gives patterns of names, and a type gets its
 * number when the program first opens its name. So names that are known are registered at once, and
 * the filter is computed again whenever new types may have appeared. Events of a new type may be
 * recorded until the next look, unless all patterns of --event are exact names.
 */
#include "live/admit.h"

#include <string.h>

/* Events of the stream itself. They report losses and state, so no pattern excludes them. */
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
 * registered. A name for which the stream has no room counts as one that arrives later.
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
 * Stores the filter for types that have no name so far: all of the program's types if the names are
 * exact, else none. With exact names no later type can match, so it may be filtered before it
 * exists.
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

/* Computes the filter: the types that the stream shall not record. Returns 0 or an error number. */
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
		/* A type without a name cannot be judged yet. */
		if (is_system(id) || posix_trace_eventid_get_name(trid, id, name))
			continue;
		err = choose_type(admit->choose, name) ? posix_trace_eventset_del(id, set) :
							 posix_trace_eventset_add(id, set);
	}
	return err;
}

/*
 * Registers the names that are known to come and do not match, so that they are filtered from their
 * first event. Registering names that match would have no effect on the filter.
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
	 * Each change of a filter is an event in the log, and writers must notice it: an equal
	 * filter is not set again.
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
