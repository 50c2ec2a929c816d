/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_eventset_add() and the rest of its page. */
#include <errno.h>

#include "base/export.h"
#include "record/eventset.h"

/* A set must be emptied or filled before its use, which the magic word tells. */
static bool fits(trace_event_id_t event_id, const trace_event_set_t *set)
{
	return event_id > 0 && event_id < PTX_TYPE_MAX && ptx_eventset_is_valid(set);
}

PTX_EXPORT int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!fits(event_id, set))
		return EINVAL;
	ptx_eventset_add(set, event_id);
	return 0;
}

PTX_EXPORT int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!fits(event_id, set))
		return EINVAL;
	ptx_eventset_del(set, event_id);
	return 0;
}

PTX_EXPORT int posix_trace_eventset_empty(trace_event_set_t *set)
{
	if (!set)
		return EINVAL;
	ptx_eventset_empty(set);
	return 0;
}

PTX_EXPORT int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	if (!set)
		return EINVAL;
	switch (what) {
	case POSIX_TRACE_WOPID_EVENTS:
		/* System event types that belong to no process: we define none. */
		ptx_eventset_empty(set);
		return 0;
	case POSIX_TRACE_SYSTEM_EVENTS:
		/* With the ids kept for system event types of our own. */
		ptx_eventset_empty(set);
		for (unsigned type = 1; type < PTX_TYPE_UNNAMED; type++)
			ptx_eventset_add(set, type);
		return 0;
	case POSIX_TRACE_ALL_EVENTS:
		ptx_eventset_fill(set);
		return 0;
	default:
		return EINVAL;
	}
}

PTX_EXPORT int posix_trace_eventset_ismember(trace_event_id_t event_id,
					     const trace_event_set_t *restrict set,
					     int *restrict ismember)
{
	if (!fits(event_id, set) || !ismember)
		return EINVAL;
	*ismember = ptx_eventset_has(set, event_id);
	return 0;
}
