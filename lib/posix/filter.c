/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/drain.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/level.h"
#include "record/eventset.h"

PTX_EXPORT int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!set)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_control_filter(stream, set);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * What changes, and nothing else: who describes a type may change its bit meanwhile (level.c). Of a
 * whole filter, each bit.
 */
static void put_change(struct ptx_region *region, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole)
{
	for (int i = 0; i < PTX_WORDS; i++) {
		const uint64_t after = new->__bits[i], before = whole ? ~after : old->__bits[i];

		if (before & ~after)
			atomic_fetch_or_explicit(&region->admit[i], before & ~after,
						 memory_order_seq_cst);
		if (after & ~before)
			atomic_fetch_and_explicit(&region->admit[i], ~(after & ~before),
						  memory_order_seq_cst);
	}
}

/*
 * FILTER obeys the filter only where both the old and the new one suppress it (FILTER-12), so it
 * is recorded while the weaker of the two is in force.
 */
void ptx_filter_change(struct ptx_stream *stream, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole, const void *address)
{
	struct ptx_region *region = stream->view->rings.region;
	bool is_running = ptx_state_kind(atomic_load_explicit(&region->state,
							      memory_order_acquire)) == PTX_RUNNING;
	trace_event_set_t sets[2] = { *old, *new };
	const bool before = !ptx_eventset_has(old, POSIX_TRACE_FILTER);

	if (is_running && before)
		ptx_control_record(stream, POSIX_TRACE_FILTER, sets, sizeof sets,
				   ptx_drain_moment(stream->drain, false), address);
	put_change(region, old, new, whole);
	ptx_arena_changed(stream->drain->arena);
	if (is_running && !before)
		ptx_control_record(stream, POSIX_TRACE_FILTER, sets, sizeof sets,
				   ptx_drain_moment(stream->drain, false), address);
}

PTX_EXPORT int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
	struct ptx_call call = ptx_call_begin();
	const void *address = (const char *)__builtin_return_address(0) - 1;
	trace_event_set_t old, new;
	struct ptx_stream *stream;

	if (!ptx_eventset_is_valid(set) ||
	    (how != POSIX_TRACE_SET_EVENTSET && how != POSIX_TRACE_ADD_EVENTSET &&
	     how != POSIX_TRACE_SUB_EVENTSET))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* it replaces a level too, whose types are in the filter */
	if (how == POSIX_TRACE_SET_EVENTSET)
		atomic_store_explicit(&stream->view->rings.region->max_level, 0,
				      memory_order_seq_cst);
	ptx_drain_sync(stream->drain);
	ptx_control_filter(stream, &old);
	new = old;
	if (how == POSIX_TRACE_SET_EVENTSET)
		new = *set;
	else if (how == POSIX_TRACE_ADD_EVENTSET)
		ptx_eventset_unite(&new, set);
	else
		ptx_eventset_subtract(&new, set);
	ptx_filter_change(stream, &old, &new, how == POSIX_TRACE_SET_EVENTSET, address);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
