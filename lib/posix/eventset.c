/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/eventset.c - posix_trace_eventset_add() and the other functions of its page: sets of event
 * types.
 *
 * A set is plain memory of the program, and the program may copy the set (SET-12). The functions
 * touch nothing else.
 */
#include <errno.h>

#include "base/export.h"
#include "record/eventset.h"

/*
 * Returns whether the type is valid and the set has been initialized (SET-10). The magic word shows
 * that the set was emptied or filled before.
 */
static bool can_hold(trace_event_id_t event_id, const trace_event_set_t *set)
{
	return event_id > 0 && event_id < PTX_TYPE_MAX && ptx_eventset_is_valid(set);
}

/* SET-07, SET-08. */
PTX_EXPORT int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!can_hold(event_id, set))
		return EINVAL;
	ptx_eventset_add(set, event_id);
	return 0;
}

/* SET-07, SET-08. */
PTX_EXPORT int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
	if (!can_hold(event_id, set))
		return EINVAL;
	ptx_eventset_del(set, event_id);
	return 0;
}

/* SET-01, SET-06. The set may be uninitialized memory. */
PTX_EXPORT int posix_trace_eventset_empty(trace_event_set_t *set)
{
	if (!set)
		return EINVAL;
	ptx_eventset_empty(set);
	return 0;
}

/* SET-02 to SET-06. */
PTX_EXPORT int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	if (!set)
		return EINVAL;
	switch (what) {
	case POSIX_TRACE_WOPID_EVENTS:
		/*
		 * SET-05: system event types that belong to no process. This implementation
		 * defines none.
		 */
		ptx_eventset_empty(set);
		return 0;
	case POSIX_TRACE_SYSTEM_EVENTS:
		/* SET-04 */
		ptx_eventset_system(set);
		return 0;
	case POSIX_TRACE_ALL_EVENTS:
		ptx_eventset_fill(set);
		return 0;
	default:
		return EINVAL;
	}
}

/* SET-09. */
PTX_EXPORT int posix_trace_eventset_ismember(trace_event_id_t event_id,
					     const trace_event_set_t *restrict set,
					     int *restrict ismember)
{
	if (!can_hold(event_id, set) || !ismember)
		return EINVAL;
	*ismember = ptx_eventset_has(set, event_id);
	return 0;
}
