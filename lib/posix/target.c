/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/target.c - whether the processes that a stream traces are alive.
 *
 * A stream is reported as ended only if all processes that it may trace have certainly ended. An
 * inherited stream may trace processes that have not recorded an event yet. Some of these processes
 * may execute a program without this library, which can later start a program with the library. All
 * these processes and other controllers hold the arena open.
 *
 * Threads  the caller holds the lock of the stream. If the search fails, the state is unknown.
 */
#include <unistd.h>

#include <trace_np.h>

#include "base/life.h"
#include "base/proc.h"
#include "meet/openers.h"
#include "point/view.h"
#include "posix/call.h"

/*
 * Returns the state of the processes that inherited the stream and are in the table of the arena.
 * An entry that is being written has a greater number than any process, and ids of another
 * namespace cannot be used here: in both cases the state is unknown. If one process is alive, the
 * result is PTX_ALIVE.
 */
static enum ptx_life life_of_members(const struct ptx_stream *stream)
{
	const struct ptx_control *control = stream->target.arena->control;
	const uint64_t bit = UINT64_C(1) << stream->view->bit;
	enum ptx_life life = PTX_DEAD, one;

	for (unsigned i = 0; i < PTX_MEMBERS; i++) {
		const struct ptx_member *member = &control->member[i];
		uint64_t pid = atomic_load_explicit(&member->pid, memory_order_acquire);

		if (pid == 0 || !(atomic_load_explicit(&member->bits, memory_order_relaxed) & bit))
			continue;
		one = pid > UINT32_MAX || !stream->target.same_ids ||
				      atomic_load_explicit(&control->mixed, memory_order_relaxed) ?
			      PTX_LIFE_UNKNOWN : ptx_life_of((uint32_t)pid);
		if (one == PTX_ALIVE)
			return PTX_ALIVE;
		if (one == PTX_LIFE_UNKNOWN)
			life = PTX_LIFE_UNKNOWN;
	}
	return life;
}

/* Returns true if /proc shows that no process but this process holds the arena open. */
static bool is_held_by_none(const struct ptx_arena *arena)
{
	struct ptx_openers openers;
	bool is_held = false;

	if (ptx_openers_find(&openers))
		return false;
	for (size_t i = 0; i < openers.count; i++)
		is_held |= openers.opener[i].device == arena->device &&
			   openers.opener[i].inode == arena->inode &&
			   openers.opener[i].pid != ptx_proc_own();
	ptx_openers_free(&openers);
	return !is_held;
}

/*
 * Returns the state of the traced process, or of the whole family if the stream is inherited. The
 * search of /proc is slow, so it is made last, and only if all known processes have ended.
 */
static enum ptx_life life_of(const struct ptx_stream *stream)
{
	const struct ptx_target *target = &stream->target;
	enum ptx_life life, members;

	if (target->arena == &ptx_arena_self)
		return PTX_ALIVE; /* the caller is traced */
	life = target->same_ids ? ptx_life_of_one(target->pid, &target->identity) :
				  PTX_LIFE_UNKNOWN;
	if (life == PTX_ALIVE || !target->inherited)
		return life;
	members = life_of_members(stream);
	if (members == PTX_ALIVE)
		return PTX_ALIVE;
	return life == PTX_DEAD && members == PTX_DEAD && is_held_by_none(target->arena) ?
		       PTX_DEAD : PTX_LIFE_UNKNOWN;
}

/*
 * The lock of the stream keeps its arena mapped during the search. A reader that sleeps does not
 * hold the lock, so this function need not wait for it.
 */
PTX_EXPORT int posix_trace_get_target_np(trace_id_t trid, int *state)
{
	static const int states[] = {
		[PTX_LIFE_UNKNOWN] = POSIX_TRACE_TARGET_UNKNOWN_NP,
		[PTX_ALIVE] = POSIX_TRACE_TARGET_ALIVE_NP,
		[PTX_DEAD] = POSIX_TRACE_TARGET_ENDED_NP,
	};
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!state)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	*state = states[life_of(stream)];
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
