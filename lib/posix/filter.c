/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/filter.c - posix_trace_get_filter() and posix_trace_set_filter().
 *
 * The region has the complement of the filter (admit), one bit for each type, which writers read
 * without a lock. If the stream has a level, a process that describes a type changes bits, too
 * (level.c).
 */
#include "arena/silence.h"
#include "drain/drain.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/level.h"
#include "record/eventset.h"

/* FILTER-01, FILTER-03. */
PTX_EXPORT int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!set)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/*
	 * If another process describes types meanwhile, the bits of the copy may be of different
	 * moments.
	 */
	ptx_control_filter(stream, set);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * Changes the bits of `admit` for the types in which `old` and `new` differ. The operations are
 * atomic, because a process that describes a type may change its bit at the same time. If `whole`
 * is true, all bits are stored, because the new filter replaces the whole filter.
 */
static void put_change(struct ptx_region *region, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole)
{
	for (int i = 0; i < PTX_WORDS; i++) {
		const uint64_t after = new->__bits[i], before = whole ? ~after : old->__bits[i];

		/*
		 * The expression `before & ~after` has the types to admit: if `whole` is true, all
		 * types that `new` lacks. level.c relies on the order seq_cst.
		 */
		if (before & ~after)
			atomic_fetch_or_explicit(&region->admit[i], before & ~after,
						 memory_order_seq_cst);
		if (after & ~before)
			atomic_fetch_and_explicit(&region->admit[i], ~(after & ~before),
						  memory_order_seq_cst);
	}
}

/*
 * Changes the filter of a locked stream and records FILTER. The FILTER event itself is filtered out
 * only if both the old and the new filter contain its type (FILTER-12). So the event is recorded
 * before the change if the old filter does not contain the type, and otherwise after the change.
 */
void ptx_filter_change(struct ptx_stream *stream, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole, const void *address)
{
	struct ptx_region *region = stream->view->rings.region;
	/* A stream that does not run records no FILTER event (FILTER-07). */
	bool is_running = ptx_state_kind(atomic_load_explicit(&region->state,
							      memory_order_acquire)) == PTX_RUNNING;
	trace_event_set_t sets[2] = { *old, *new };
	const bool before = !ptx_eventset_has(old, POSIX_TRACE_FILTER);

	if (is_running && before)
		ptx_control_record(stream, POSIX_TRACE_FILTER, sets, sizeof sets,
				   ptx_drain_moment(stream->drain, false), address);
	put_change(region, old, new, whole);
	ptx_silence_set(stream->drain->arena->control, region);
	/* Trace points that begin after this call obey the new filter (FILTER-09). */
	ptx_arena_changed(stream->drain->arena);
	if (is_running && !before)
		ptx_control_record(stream, POSIX_TRACE_FILTER, sets, sizeof sets,
				   ptx_drain_moment(stream->drain, false), address);
}

/*
 * FILTER-13 lists these three values. Callers refuse all others before they look up the
 * stream.
 */
bool ptx_filter_is_way(int how)
{
	return how == POSIX_TRACE_SET_EVENTSET || how == POSIX_TRACE_ADD_EVENTSET ||
	       how == POSIX_TRACE_SUB_EVENTSET;
}

/*
 * The steps of the change are those of the standard: the old filter is read, the new filter is
 * computed from it, and the event FILTER has both. The caller has locked the stream, so no other
 * thread of this process changes the filter meanwhile; but a process that describes a type may
 * change single bits.
 */
void ptx_filter_set(struct ptx_stream *stream, const trace_event_set_t *set, int how,
		    const void *address)
{
	trace_event_set_t old, new;

	/*
	 * A filter that replaces the old filter also ends the level. The types that the level
	 * excludes are part of the old filter.
	 */
	if (how == POSIX_TRACE_SET_EVENTSET)
		atomic_store_explicit(&stream->view->rings.region->max_level, 0,
				      memory_order_seq_cst);
	/* The mark of an earlier FULL is made first, so that the FILTER event is behind it. */
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
}

/* FILTER-02, FILTER-04 to FILTER-11, FILTER-13 to FILTER-15. */
PTX_EXPORT int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
	struct ptx_call call = ptx_call_begin();
	const void *address = (const char *)__builtin_return_address(0) - 1;
	struct ptx_stream *stream;

	/*
	 * The set must be initialized (SET-10) and `how` must be one of three values (FILTER-13).
	 */
	if (!ptx_eventset_is_valid(set) || !ptx_filter_is_way(how))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_filter_set(stream, set, how, address);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
