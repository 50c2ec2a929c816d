/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/create.c - posix_trace_create() and posix_trace_create_withlog().
 *
 * The order of the steps is: attributes, target, place in TRACE_SYS_MAX, region, drain, control
 * ring, guardian, log, identifier, publication. In this order each step can be undone. If the
 * process is killed between two steps, later processes recognize and remove everything that it
 * leaves. The target sees no part of the stream before ptx_view_attach().
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/proc.h"
#include "flush/flush.h"
#include "meet/process.h"
#include "meet/quota.h"
#include "observe/stream_info.h"
#include "point/view.h"
#include "posix/attr.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/create.h"
#include "posix/guard.h"

/* A static program needs this reference: meet/process.h. */
__attribute__((used)) static const bool *const has_handlers = &ptx_process_has_handlers;

/*
 * The clock is measured at the first creation of a stream, because constructors of other libraries
 * may create streams before the library's own constructor runs.
 */
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;

/*
 * Makes this process's clock the clock of the arena. ENOTSUP: the arena already has another clock.
 * All streams of a process have one clock, and their readers must use the same clock.
 */
static int choose_clock(struct ptx_arena *arena)
{
	uint32_t ours = ptx_clock_is_counter ? PTX_ARENA_CLOCK_COUNTER : PTX_ARENA_CLOCK_MONOTONIC;
	uint32_t theirs = PTX_ARENA_CLOCK_NONE;

	/* The first controller of an arena determines the clock for all. */
	if (atomic_compare_exchange_strong_explicit(&arena->control->clock, &theirs, ours,
						    memory_order_acq_rel, memory_order_acquire))
		return 0;
	return theirs == ours ? 0 : ENOTSUP;
}

/*
 * Returns whether all values are known. An object may come from a log, and the log from any source,
 * so a value may be any number.
 */
static bool has_known_values(const struct ptx_attr *attr)
{
	return (attr->stream_policy == POSIX_TRACE_LOOP ||
		attr->stream_policy == POSIX_TRACE_UNTIL_FULL ||
		attr->stream_policy == POSIX_TRACE_FLUSH) &&
	       (attr->log_policy == POSIX_TRACE_LOOP ||
		attr->log_policy == POSIX_TRACE_UNTIL_FULL ||
		attr->log_policy == POSIX_TRACE_APPEND) &&
	       ptx_attr_is_level(attr->log_compression) &&
	       (attr->inheritance == POSIX_TRACE_CLOSE_FOR_CHILD ||
		attr->inheritance == POSIX_TRACE_INHERITED);
}

/*
 * Determines the attributes that the stream gets. EINVAL: no stream can have them (CREATE-14,
 * POLICY-07).
 */
static int fill_attr(const trace_attr_t *requested, bool has_log, struct ptx_attr *attr)
{
	const struct ptx_attr *given = requested ? ptx_posix_attr_const(requested) : NULL;

	if (requested && !given)
		return EINVAL;
	/*
	 * The program's object is copied, so the program may change or destroy it later (ATTR-08).
	 */
	if (given)
		*attr = *given;
	else
		ptx_attr_init(attr);
	/* The default policy depends on whether the stream has a log (POLICY-04). */
	if (!(attr->flags & PTX_ATTR_POLICY_SET))
		attr->stream_policy = has_log ? POSIX_TRACE_FLUSH : POSIX_TRACE_LOOP;
	/* A stream without log cannot be flushed (POLICY-07). */
	if ((attr->stream_policy == POSIX_TRACE_FLUSH && !has_log) || !has_known_values(attr))
		return EINVAL;
	attr->flags |= PTX_ATTR_POLICY_SET | PTX_ATTR_FROM_STREAM;
	return 0;
}

int ptx_posix_prepare_log(const struct ptx_stream *stream, int file_desc, struct ptx_log **log)
{
	struct ptx_log_facts facts = { .attr = stream->attr, .pid = stream->target.pid };
	int err;

	/* `facts` is zeroed, so that the text has its NUL. */
	strncpy(facts.clock, ptx_clock_name(), sizeof facts.clock - 1);
	facts.tick_hz = ptx_clock_hz;
	err = ptx_log_prepare_beside(file_desc, &facts, log);
	/*
	 * A program that made the descriptor of a pipe non-blocking does not want to wait for the
	 * reader of the pipe.
	 */
	if (!err)
		ptx_log_limit_wait(*log);
	return err;
}

void ptx_posix_abandon_log(struct ptx_log *log)
{
	ptx_io_truncate(ptx_log_descriptor(log), 0);
	ptx_log_destroy(log);
}

/*
 * Creates the log in file_desc. The stream already has a view: the guardian and the watcher of
 * mapped files need the place of the view's attachment.
 *
 * The guardian starts before the header is written, and the header names it. If this process is
 * killed between the two steps, the file has no log, and the guardian ends. If it is killed later,
 * readers of the log wait for the guardian (FORMAT W2, R4). If the header were written first, a
 * reader could open the log as one without guardian while the guardian completes it.
 */
static int open_log(struct ptx_stream *stream, int file_desc)
{
	struct ptx_mapped *mapped;
	struct ptx_log *log;
	int err = ptx_posix_prepare_log(stream, file_desc, &log);

	if (err)
		return err;
	/*
	 * In a child the registry closes this descriptor, if the descriptor still belongs to the
	 * log.
	 */
	ptx_registry_note_log(stream, ptx_log_descriptor(log));
	/* If there is no guardian, the stream works, but a kill leaves the log incomplete. */
	ptx_guard_start(stream, log);
	err = ptx_log_begin(log, stream->guardian.pid, stream->guardian.start);
	if (err) {
		ptx_log_destroy(log);
	} else {
		/* If there is no memory, `mapped` is NULL: the log then has no mapped files. */
		mapped = ptx_mapped_create(stream->target.arena, stream->view->bit,
					   stream->target.pid, stream->target.number,
					   stream->target.same_ids);
		err = ptx_flush_create(stream->drain, &stream->lock, log,
				       stream->attr.stream_policy == POSIX_TRACE_FLUSH, mapped,
				       &stream->flush);
		if (err) {
			ptx_posix_abandon_log(log);
			ptx_mapped_destroy(mapped);
		}
	}
	if (err)
		ptx_registry_note_log(stream, -1);
	return err;
}

/*
 * Returns whether other processes write into the stream. They map its region from the arena's
 * file.
 */
static bool is_shared(const struct ptx_stream *stream)
{
	return stream->target.arena != &ptx_arena_self ||
	       stream->attr.inheritance == POSIX_TRACE_INHERITED;
}

/*
 * Undoes the steps that build_stream() has done. The log stays without events, because nothing was
 * recorded.
 */
static void destroy_stream(struct ptx_stream *stream, const char *backing)
{
	const struct ptx_log_status none = { 0 };

	if (stream->flush) {
		ptx_flush_stop(stream->flush);
		ptx_flush_destroy(stream->flush, &none);
	}
	if (stream->drain)
		ptx_drain_destroy(stream->drain);
	if (stream->view)
		ptx_view_withdraw(stream->view, backing);
	/* The guardian ends when the stream's place is free. */
	ptx_guard_end(stream);
}

/*
 * Makes the stream's parts: region, drain, control ring, log. After an error the caller calls
 * destroy_stream().
 */
static int build_stream(struct ptx_stream *stream, const char *backing, int file_desc)
{
	struct ptx_geometry geometry;
	struct ptx_anchor created;
	int err;

	/* The number of rings depends on the kind of memory: a file or a memfd. */
	err = ptx_ring_plan(stream->attr.stream_size, stream->attr.max_data_size,
			    ptx_region_rings(stream->target.arena, backing), &geometry);
	if (err)
		return err;
	/* The capacity may be larger than requested (CREATE-09, SIZE-04). */
	stream->attr.stream_size = geometry.capacity;
	err = ptx_view_create(stream->target.arena, &geometry, stream->attr.max_data_size,
			      stream->attr.stream_policy == POSIX_TRACE_LOOP, backing,
			      &stream->view);
	if (err)
		return err;
	if (is_shared(stream) && stream->view->offset == 0) {
		/*
		 * The arena's file has no room for the region, and other processes could not map
		 * memory outside of it.
		 */
		return ENOMEM;
	}
	/* CREATE-07. The time of creation is also the first anchor of the time scale. */
	created = ptx_clock_anchor();
	stream->attr.creation_ns = created.realtime_ns;
	ptx_ring_calibrate(&stream->view->rings, created);
	/* The stream info is for observers that find the region after this process has died. */
	ptx_stream_info_write(&stream->view->rings, &stream->attr, stream->target.pid);
	err = ptx_drain_create(&stream->view->rings, &stream->attr, created, &stream->drain);
	if (err)
		return err;
	stream->drain->arena = stream->target.arena;
	/*
	 * `missed` is a counter in the attachment. It has the events of processes that could not
	 * map the region, and therefore could not record these events.
	 */
	stream->drain->missed =
		&stream->target.arena->control->attachment[stream->view->bit].missed;
	stream->drain->same_ids = stream->target.same_ids;
	stream->drain->shared = is_shared(stream);
	err = ptx_control_open(stream);
	if (err)
		return err;
	if (stream->kind == PTX_STREAM_LOGGED) {
		err = open_log(stream, file_desc);
		if (err)
			return err;
	}
	return 0;
}

/* Creates a stream of either kind. *trid is stored only on success (CREATE-25). */
static int create_stream(pid_t pid, const trace_attr_t *requested, enum ptx_stream_kind kind,
			 int file_desc, trace_id_t *trid)
{
	struct ptx_stream *stream;
	struct ptx_target target;
	const char *backing = requested ? ptx_posix_backing(requested) : NULL;
	struct ptx_attr attr;
	unsigned place;
	int err;

	/* A null pointer for the result is an error (GEN-05). */
	if (!trid)
		return EINVAL;
	err = fill_attr(requested, kind == PTX_STREAM_LOGGED, &attr);
	if (err)
		return err;
	/* A child of _Fork() has not been set up by a fork handler, so it is set up here. */
	if (ptx_process_is_child())
		ptx_process_child();
	/*
	 * Only a stream of this process alone can have a backing file: other processes would have
	 * to find the file and to trust it.
	 */
	if (backing && ((pid != 0 && (uint32_t)pid != ptx_proc_own()) ||
			attr.inheritance == POSIX_TRACE_INHERITED))
		return ENOTSUP;
	pthread_once(&clock_once, ptx_clock_init);
	/*
	 * Finds or makes the arena of the target, and checks the permission: EPERM, ESRCH
	 * (CREATE-16 to CREATE-19).
	 */
	err = ptx_target_find(pid, attr.inheritance == POSIX_TRACE_INHERITED, &target);
	if (err)
		return err;
	/*
	 * If the system refuses memfds or their seals, the arena has no file that other processes
	 * could share.
	 */
	if (attr.inheritance == POSIX_TRACE_INHERITED && !ptx_arena_is_shareable(target.arena)) {
		err = ENOTSUP;
		goto undo_target;
	}
	err = choose_clock(target.arena);
	if (err)
		goto undo_target;
	/*
	 * EAGAIN: there are too many streams (CREATE-12). The kernel releases the place if this
	 * process dies (CREATE-13).
	 */
	err = ptx_quota_acquire(&place);
	if (err)
		goto undo_target;
	stream = ptx_registry_new();
	if (!stream) {
		err = ENOMEM;
		goto undo_quota;
	}
	/*
	 * If a later step fails, the code at the labels below releases the target and the place in
	 * reverse order.
	 */
	stream->target = target;
	stream->place = place;
	stream->kind = kind;
	stream->attr = attr;
	err = build_stream(stream, backing, file_desc);
	if (err)
		goto undo_build;
	/* From here on the identifier is valid, and other threads may use it. */
	err = ptx_registry_add(stream);
	if (err)
		goto undo_build;
	*trid = stream->id;
	/*
	 * The publication is the last step: the target finds the stream at its next event. The
	 * stream is still SUSPENDED (CREATE-05).
	 */
	ptx_view_attach(stream->view, &stream->target, &stream->attr, kind == PTX_STREAM_LOGGED);
	/* The chunks are memory of the target, which maps them itself. */
	if (stream->target.arena != &ptx_arena_self)
		ptx_region_forget(&stream->view->rings);
	return 0;
undo_build:
	destroy_stream(stream, backing);
	ptx_registry_drop(stream);
undo_quota:
	ptx_quota_release(place);
undo_target:
	ptx_target_release(&target);
	return err;
}

/* CREATE-01 to CREATE-25. */
PTX_EXPORT int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr,
				  trace_id_t *restrict trid)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, create_stream(pid, attr, PTX_STREAM_UNLOGGED, -1, trid));
}

/* WITHLOG-01 to WITHLOG-13. The library writes through a duplicate of file_desc (WITHLOG-09). */
PTX_EXPORT int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr,
					  int file_desc, trace_id_t *restrict trid)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, create_stream(pid, attr, PTX_STREAM_LOGGED, file_desc, trid));
}
