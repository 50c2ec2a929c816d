/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "admit.h"

#include <string.h>

static bool is_system(trace_event_id_t id)
{
	switch (id) {
	case POSIX_TRACE_ERROR:
	case POSIX_TRACE_START:
	case POSIX_TRACE_STOP:
	case POSIX_TRACE_FILTER:
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_RESUME:
	case POSIX_TRACE_FLUSH_START:
	case POSIX_TRACE_FLUSH_STOP:
		return true;
	}
	return false;
}

static int unwanted(const struct admit *admit, trace_id_t trid, trace_event_set_t *set)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int err, unavailable;

	err = posix_trace_eventset_empty(set);
	if (!err)
		err = posix_trace_eventtypelist_rewind(trid);
	while (!err) {
		err = posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);
		if (err || unavailable)
			break;
		if (is_system(id) || posix_trace_eventid_get_name(trid, id, name))
			continue;
		if (!choose_type(admit->choose, name))
			err = posix_trace_eventset_add(id, set);
	}
	return err;
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
