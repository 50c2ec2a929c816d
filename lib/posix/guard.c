/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard.c - the guardian: completes the log of a stream whose creator was killed.
 *
 * The guardian is a process of its own that has only three files: the arena, the log and a file
 * that the creator has mapped. It trusts none of them. It computes the geometry from checked sizes
 * and bounds every walk. If something is inconsistent, it ends with an error and does not crash. It
 * is the reader of the stream from the moment when it has the creator's lock and the creator is
 * gone.
 */
#include "posix/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/clock.h"
#include "base/life.h"
#include "flush/checkpoint.h"
#include "flush/checkpoint_flush.h"
#include "log/write_resume.h"
#include "meet/peer_arenas.h"
#include "point/view.h"
#include "posix/control.h"
#include "posix/shutdown.h"
#include "ring/ring_write.h"

#define LINGER_LOOK_MS 100 /* interval in which a guardian that lingers looks for the target */
#define LIFE_LOOK_MS   100 /* interval in which it looks for a creator that has lost its lock */

/* Checks the description of the stream in its attachment, and maps the region that it describes. */
static int map_region(struct ptx_arena *arena, unsigned bit, uint64_t generation,
		      struct ptx_view **result)
{
	const bool loop = arena->control->attachment[bit].loop != 0;
	/* calloc() makes the members that are not set 0. */
	struct ptx_view *view = calloc(1, sizeof *view);
	struct ptx_attachment_plan plan;
	void *memory;
	int err;

	if (!view)
		return ENOMEM;
	/* EINVAL: no controller can have made such a stream. */
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

/*
 * Stops the stream, as posix_trace_shutdown() does. The guardian now owns the creator's ring; the
 * creator may have been killed while it recorded there.
 */
static void stop_stream(struct ptx_stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	/*
	 * NULL means that the ring has no chunk, or that this process cannot map the chunk. No STOP
	 * can be recorded then.
	 */
	stream->control = ptx_ring_mend(&stream->view->rings, 0);
	ptx_drain_sync(stream->drain);
	if (stream->control)
		ptx_control_stop(stream, NULL);
	pthread_mutex_unlock(&stream->lock);
}

/* Makes a drain that continues where the flush of the creator ended. */
static int resume_log(struct ptx_stream *stream, const struct ptx_guarded *guarded,
		      struct ptx_log *log, const struct ptx_log_tally *tally)
{
	int err = ptx_drain_create(&stream->view->rings, &stream->attr, ptx_clock_anchor(),
				   &stream->drain);

	if (err)
		return err;
	stream->drain->arena = stream->target.arena;
	stream->drain->missed =
		&stream->target.arena->control->attachment[stream->view->bit].missed;
	stream->drain->shared = true;
	stream->drain->same_ids = stream->target.same_ids;
	stream->drain->log_number = guarded->log_number;
	/*
	 * The account begins with the events that the log has. The places in the rings are in the
	 * checkpoint that fits the log.
	 */
	err = ptx_log_tally_report(tally, &stream->drain->account);
	if (!err)
		err = ptx_checkpoint_resume(stream->drain, ptx_log_append_count(log));
	if (!err)
		err = ptx_flush_create(stream->drain, &stream->lock, log, false, NULL,
				       &stream->flush);
	/*
	 * Reads the ledger of the stream's earlier logs. Without it, the ledger of this log would
	 * also have the losses of those logs.
	 */
	if (!err && guarded->log_number)
		ptx_flush_read_closed(stream->flush, guarded->life_fd);
	return err;
}

/*
 * Returns false if the file has another log: the creator was killed before it wrote the header over
 * an older log, or a program has begun another log in the file since. If the creator has passed no
 * uuid, the function recognizes another log only if that log names another guardian.
 */
static bool is_own_log(const struct ptx_guarded *guarded)
{
	const uint32_t own = (uint32_t)getpid();

	return (!guarded->uuid || ptx_log_has_uuid(guarded->log_fd, guarded->uuid)) &&
	       ptx_log_may_be_guarded_by(guarded->log_fd, own, ptx_identity_start(own));
}

/*
 * Completes the log: reads what it contains, then adds what the stream still has. EXIT-01,
 * EXIT-02.
 */
static int complete_stream(struct ptx_stream *stream, const struct ptx_guarded *guarded)
{
	/* The FLUSH events of this flush have process 0 and thread 0 (SYSEV-06). */
	static const struct ptx_flush_caller nobody;
	struct ptx_log_facts facts;
	struct ptx_log_tally tally;
	struct ptx_log *log;
	int err;

	if (!is_own_log(guarded))
		return EINVAL;
	ptx_log_tally_init(&tally);
	/*
	 * If bit 0 is set, the creator was killed while it changed to another log. This log may
	 * then be complete already, although the next log does not get the events yet. So this log
	 * is reopened. In every other case a complete log stays as it is.
	 */
	if (ptx_checkpoint_log(&stream->view->rings) & 1)
		err = ptx_log_reopen(guarded->log_fd, &log, &facts, &tally);
	else
		err = ptx_log_resume(guarded->log_fd, &log, &facts, &tally);
	if (!err) {
		/* The attributes are read from the log's header and not from shared memory. */
		stream->attr = facts.attr;
		stream->kind = PTX_STREAM_LOGGED;
		err = resume_log(stream, guarded, log, &tally);
	}
	ptx_log_tally_fini(&tally);
	if (err)
		return err;
	/*
	 * After this call no event can be added to the stream, so that one flush gets all events.
	 */
	stop_stream(stream);
	return ptx_posix_complete_log(stream, &nobody);
}

/*
 * Returns true if the target of the stream has certainly ended. If the stream is inherited, other
 * processes may still record events, and the result is false.
 */
static bool has_target_ended(const struct ptx_attachment *attachment)
{
	const struct ptx_identity identity = {
		atomic_load_explicit(&attachment->target_inode, memory_order_relaxed),
		atomic_load_explicit(&attachment->target_start, memory_order_relaxed),
	};

	return !atomic_load_explicit(&attachment->inherited, memory_order_relaxed) &&
	       ptx_life_of_one(atomic_load_explicit(&attachment->target, memory_order_relaxed),
			       &identity) == PTX_DEAD;
}

/*
 * Leaves the stream running for the time that its creator has set, so that another controller can
 * create its stream before this stream stops: posix_trace_set_linger_np(). The guardian holds the
 * creator's lock during this time, so no process treats the attachment as an orphan. SIGTERM ends
 * the time. The creator has started the guardian with all signals blocked, so a SIGTERM that came
 * before this call is pending. The value is in shared memory, so it is bounded.
 */
static void linger_for(const struct ptx_attachment *attachment, bool same_ids)
{
	const struct timespec look = { .tv_nsec = LINGER_LOOK_MS * 1000000 };
	uint32_t left = atomic_load_explicit(&attachment->linger_ms, memory_order_relaxed);
	sigset_t end;

	if (left > PTX_LINGER_MAX_MS)
		left = PTX_LINGER_MAX_MS;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	/* If the target is in a container, its id means another process here. */
	while (left && !(same_ids && has_target_ended(attachment)) &&
	       sigtimedwait(&end, NULL, &look) < 0)
		left = left > LINGER_LOOK_MS ? left - LINGER_LOOK_MS : 0;
}

static bool is_attached(const struct ptx_arena *arena, const struct ptx_guarded *guarded)
{
	return atomic_load_explicit(&arena->control->attachment[guarded->bit].word,
				    memory_order_acquire) ==
	       ptx_attachment_make(guarded->generation, PTX_ATTACHMENT_ATTACHED);
}

/*
 * Returns true while the stream's creator prepares the stream, has it attached, or removes it. The
 * result is false when the place is free or belongs to another stream.
 */
static bool has_place(const struct ptx_arena *arena, const struct ptx_guarded *guarded)
{
	const uint64_t word = atomic_load_explicit(&arena->control->attachment[guarded->bit].word,
						   memory_order_acquire);

	return ptx_attachment_generation(word) == guarded->generation &&
	       ptx_attachment_state(word) != PTX_ATTACHMENT_FREE;
}

/*
 * Returns whether the creator still has the file life_fd mapped. The kernel refuses this seal with
 * EBUSY as long as the file is mapped.
 */
static bool has_memory(const struct ptx_guarded *guarded)
{
	return fcntl(guarded->life_fd, F_ADD_SEALS, F_SEAL_WRITE) != 0 && errno == EBUSY;
}

/*
 * The guardian has the creator's lock, but the creator may have closed the descriptor that held it.
 * Such a creator still has its memory, with the mapping of life_fd, and its stream goes on. Returns
 * when this memory is gone, because the creator has ended or executed another program, or when the
 * stream was shut down.
 */
static void wait_for_memory(const struct ptx_arena *arena, const struct ptx_guarded *guarded)
{
	const struct timespec look = { .tv_nsec = LIFE_LOOK_MS * 1000000 };

	while (has_place(arena, guarded) && has_memory(guarded))
		nanosleep(&look, NULL);
}

/*
 * If the log of another guardian gets the events, waits for that guardian. Returns false if nothing
 * remains to be done for the stream: it was shut down, or the other guardian has completed its log.
 * Returns true if the log of this guardian gets the events. Also returns true if there is no other
 * guardian: then the word in the region is wrong, or this guardian's log is complete and stays as
 * it is.
 */
static bool is_own_turn(const struct ptx_stream *stream, const struct ptx_guarded *guarded)
{
	const struct ptx_arena *arena = stream->target.arena;

	while (is_attached(arena, guarded))
		if (ptx_checkpoint_log(&stream->view->rings) >> 1 == guarded->log_number ||
		    !ptx_attachment_guard_yield(arena, guarded->bit, guarded->which))
			return true;
	return false;
}

/*
 * The creator was killed before the stream changed to this log, or the creator has completed the
 * log. In the first case the log has no events, and is completed without events. If the creator has
 * passed no uuid, the file stays as it is, because another process may write another log there.
 */
static void complete_unused(const struct ptx_guarded *guarded)
{
	const struct ptx_log_status status = { .stream_status = POSIX_TRACE_SUSPENDED };
	struct ptx_log_facts facts;
	struct ptx_log_tally tally;
	struct ptx_ledger ledger;
	struct ptx_log *log;

	ptx_log_tally_init(&tally);
	ptx_ledger_init(&ledger);
	if (guarded->uuid && is_own_log(guarded) &&
	    ptx_log_resume(guarded->log_fd, &log, &facts, &tally) == 0 &&
	    ptx_log_append_count(log) == 0)
		ptx_log_complete(log, &status, &ledger);
	ptx_log_tally_fini(&tally);
}

/*
 * Waits for the creator's end and then completes the log. If the stream was shut down, returns 0
 * and leaves the log as it is.
 */
int ptx_guard_run(const struct ptx_guarded *guarded)
{
	/* log_fd is -1, because the registry does not have this stream. */
	struct ptx_stream stream = { .log_fd = -1 };
	const unsigned bit = guarded->bit;
	struct ptx_arena *arena;
	bool attached;
	int err = 0;

	if (bit >= PTX_STREAMS)
		return EINVAL;
	arena = ptx_arena_open(guarded->arena_fd);
	/* Blocks until the creator releases its lock, or dies. */
	if (!arena || !ptx_attachment_guard(arena, bit, guarded->which))
		return EINVAL;
	wait_for_memory(arena, guarded);
	stream.target.arena = arena;
	stream.target.same_ids = guarded->same_ids;
	/*
	 * If the word has changed, the creator shut the stream down and completed the log itself;
	 * perhaps another stream has the place now. Or the creator was killed before it attached
	 * the stream.
	 */
	attached = is_attached(arena, guarded);
	if (attached)
		err = map_region(arena, bit, guarded->generation, &stream.view);
	if (err)
		return err;
	if (!attached || !is_own_turn(&stream, guarded)) {
		if (guarded->log_number)
			complete_unused(guarded);
		return 0;
	}
	linger_for(&arena->control->attachment[bit], guarded->same_ids);
	/* The ticks in the region are ticks of the creator's clock. */
	ptx_clock_follow(atomic_load_explicit(&arena->control->clock, memory_order_relaxed) ==
			 PTX_ARENA_CLOCK_COUNTER);
	ptx_clock_init();
	pthread_mutex_init(&stream.lock, NULL);
	err = complete_stream(&stream, guarded);
	/*
	 * The place and the memory of the stream become free, whether or not its log could be
	 * completed.
	 */
	ptx_attachment_bury(arena, bit, guarded->generation);
	return err;
}
