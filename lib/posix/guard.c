/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "posix/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/clock.h"
#include "flush/checkpoint.h"
#include "log/write_resume.h"
#include "meet/peer_arenas.h"
#include "point/view.h"
#include "posix/control.h"
#include "posix/shutdown.h"
#include "ring/ring_write.h"

/* The region, as its attachment describes it; nothing there is believed that is not checked. */
static int map_region(struct ptx_arena *arena, unsigned bit, uint64_t generation,
		      struct ptx_view **result)
{
	const bool loop = arena->control->attachment[bit].loop != 0;
	struct ptx_view *view = calloc(1, sizeof *view);
	struct ptx_attachment_plan plan;
	void *memory;
	int err;

	if (!view)
		return ENOMEM;
	err = ptx_attachment_plan(arena, bit, &plan) ? 0 : EINVAL;
	if (!err)
		err = ptx_region_map(arena, &plan.geometry, plan.offset, &memory);
	if (err) {
		free(view);
		return err;
	}
	view->arena = arena;
	view->bit = bit;
	view->generation = generation;
	view->offset = plan.offset;
	ptx_ring_view(&view->rings, memory, &plan.geometry, plan.max_data_size, loop);
	view->rings.back = ptx_region_back;
	view->rings.map_far = ptx_view_map_far;
	*result = view;
	return 0;
}

/* As posix_trace_shutdown() begins: the creator's ring is ours now, and the stream stops. */
static void stop(struct ptx_stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	stream->control = ptx_ring_mend(&stream->view->rings, 0);
	ptx_drain_sync(stream->drain);
	if (stream->control)
		ptx_control_stop(stream, NULL);
	pthread_mutex_unlock(&stream->lock);
}

static int resume(struct ptx_stream *stream, struct ptx_log *log, const struct ptx_log_tally *tally)
{
	int err = ptx_drain_create(&stream->view->rings, &stream->attr, ptx_clock_anchor(),
				   &stream->drain);

	if (err)
		return err;
	stream->drain->arena = stream->target.arena;
	stream->drain->missed =
		&stream->target.arena->control->attachment[stream->view->bit].missed;
	stream->drain->shared = stream->drain->same_ids = true;
	err = ptx_log_tally_report(tally, &stream->drain->account);
	if (!err)
		err = ptx_checkpoint_resume(stream->drain, ptx_log_append_count(log));
	if (err)
		return err;
	return ptx_flush_create(stream->drain, &stream->lock, log, false, NULL, &stream->flush);
}

static int complete(struct ptx_stream *stream, int log_fd)
{
	static const struct ptx_flush_caller nobody;
	struct ptx_log_facts facts;
	struct ptx_log_tally tally;
	struct ptx_log *log;
	int err;

	ptx_log_tally_init(&tally);
	err = ptx_log_resume(log_fd, &log, &facts, &tally);
	if (!err) {
		stream->attr = facts.attr;
		stream->kind = PTX_STREAM_LOGGED;
		err = resume(stream, log, &tally);
	}
	ptx_log_tally_fini(&tally);
	if (err)
		return err;
	stop(stream);
	return ptx_posix_complete_log(stream, &nobody);
}

int ptx_guard_run(int arena_fd, int log_fd, unsigned bit, uint64_t generation)
{
	const uint64_t attached = ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED);
	struct ptx_stream stream = { .log_fd = -1 };
	struct ptx_arena *arena;
	int err;

	if (bit >= PTX_STREAMS)
		return EINVAL;
	arena = ptx_arena_open(arena_fd);
	if (!arena || !ptx_attachment_guard(arena, bit))
		return EINVAL;
	if (atomic_load_explicit(&arena->control->attachment[bit].word, memory_order_acquire) !=
	    attached)
		return 0; /* it was shut down */
	ptx_clock_follow(atomic_load_explicit(&arena->control->clock, memory_order_relaxed) ==
			 PTX_ARENA_CLOCK_COUNTER);
	ptx_clock_init();
	stream.target.arena = arena;
	pthread_mutex_init(&stream.lock, NULL);
	err = map_region(arena, bit, generation, &stream.view);
	if (!err)
		err = complete(&stream, log_fd);
	if (stream.view)
		ptx_attachment_bury(arena, bit, generation);
	return err;
}
