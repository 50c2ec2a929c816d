/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live/admit.h"

#include <string.h>

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
 * False: some are not plain names. A name that the stream has no room for is as if it came later.
 */
static bool learn(const struct choose_names *names, trace_id_t trid)
{
	trace_event_id_t id;
	bool all = true;

	for (size_t i = 0; i < names->count; i++)
		if (!is_plain(names->glob[i]) ||
		    posix_trace_trid_eventid_open(trid, names->glob[i], &id))
			all = false;
	return all;
}

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

static int unwanted(const struct admit *admit, trace_id_t trid, trace_event_set_t *set)
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
		if (is_system(id) || posix_trace_eventid_get_name(trid, id, name))
			continue;
		err = choose_type(admit->choose, name) ? posix_trace_eventset_del(id, set) :
							 posix_trace_eventset_add(id, set);
	}
	return err;
}

/* Those that are wanted need not be known. */
static void learn_unwanted(const struct admit *admit, trace_id_t trid)
{
	trace_event_id_t id;

	for (const char *const *name = admit->known; name && *name; name++)
		if (!choose_type(admit->choose, *name))
			posix_trace_trid_eventid_open(trid, *name, &id);
}

int admit_begin(struct admit *admit, trace_id_t trid)
{
	learn_unwanted(admit, trid);
	learn(&admit->choose->exclude, trid);
	admit->exact = learn(&admit->choose->include, trid) && admit->choose->include.count;
	return admit_refresh(admit, trid);
}

int admit_refresh(struct admit *admit, trace_id_t trid)
{
	trace_event_set_t set;
	int err = unwanted(admit, trid, &set);

	if (err || (admit->any && !memcmp(&set, &admit->set, sizeof(set))))
		return err;
	err = posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	if (!err) {
		admit->set = set;
		admit->any = true;
	}
	return err;
}
