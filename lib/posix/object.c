/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/object.c - names of objects in the memory of a traced process.
 *
 * A process appends names to a list in its arena, without a lock; controllers and observers read
 * it. The list of a log is sorted.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace_np.h>

#include "arena/arena.h"
#include "base/clock.h"
#include "cursor/stored.h"
#include "drain/drain.h"
#include "meet/process.h"
#include "posix/call.h"
#include "posix/first.h"

/* The public constants and the formats agree. */
_Static_assert(POSIX_TRACE_OBJECT_NAME_MAX_NP + 1 == PTX_OBJECT_NAME_BYTES, "as in <trace_np.h>");
_Static_assert(POSIX_TRACE_OBJECT_CHILD_NP == PTX_OBJECT_CHILD, "as in <trace_np.h>");

/*
 * Names of the kinds, in the order of the constants. They appear in the output of the tool and in
 * exports.
 */
static const char *const kinds[] = {
	[POSIX_TRACE_OBJECT_THREAD_NP] = "thread",
	[POSIX_TRACE_OBJECT_MUTEX_NP] = "mutex",
	[POSIX_TRACE_OBJECT_RWLOCK_NP] = "rwlock",
	[POSIX_TRACE_OBJECT_COND_NP] = "cond",
	[POSIX_TRACE_OBJECT_SEMAPHORE_NP] = "semaphore",
	[POSIX_TRACE_OBJECT_BARRIER_NP] = "barrier",
	[POSIX_TRACE_OBJECT_QUEUE_NP] = "queue",
	[POSIX_TRACE_OBJECT_FILE_NP] = "file",
	[POSIX_TRACE_OBJECT_SOCKET_NP] = "socket",
	[POSIX_TRACE_OBJECT_BUFFER_NP] = "buffer",
	[POSIX_TRACE_OBJECT_TIMER_NP] = "timer",
	[POSIX_TRACE_OBJECT_OTHER_NP] = "object",
};

/* The number of kinds, including the unused kind 0. */
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * A kind that is unknown here, because a later version wrote the log, is called "object".
 * posix_trace_object_kind_name_np() never fails and returns constants, so a program can print its
 * result without a check. Async-signal-safe.
 */
PTX_EXPORT const char *posix_trace_object_kind_name_np(int kind)
{
	/* 0 and negative numbers are unknown, too. */
	return kind > 0 && (unsigned)kind < KINDS ? kinds[kind]
						  : kinds[POSIX_TRACE_OBJECT_OTHER_NP];
}

/* Copies a name. If it is too long, it is truncated at the beginning of a UTF-8 character. */
static void put_name(char *to, const char *name)
{
	size_t len = strnlen(name, PTX_OBJECT_NAME_BYTES);

	/* Continuation bytes of UTF-8 have the upper bits 10. */
	if (len == PTX_OBJECT_NAME_BYTES)
		for (len--; len && ((unsigned char)name[len] & 0xc0) == 0x80;)
			len--;
	memcpy(to, name, len);
}

/* Appends a name. If `name` is NULL, the object has no name from now on. */
static int name_object(int kind, const void *pointer, const char *name)
{
	/* The name is zeroed, because all its bytes go into logs. */
	struct ptx_object object = { .kind = (uint32_t)kind };

	/* EINVAL for kinds that later versions may define. */
	if (kind <= 0 || (unsigned)kind >= KINDS)
		return EINVAL;
	if (ptx_process_is_child())
		ptx_process_child();
	/* There are no lists if they could not be mapped at the start. */
	if (!ptx_arena_self.lists)
		return ENOMEM;
	object.pid = ptx_process_pid();
	object.pointer = (uintptr_t)pointer;
	/*
	 * The name is valid from now on. The times of events come from another clock; readers
	 * tolerate the difference.
	 */
	object.time_ns = ptx_clock_realtime();
	/* An empty name has the same meaning as NULL. */
	if (name)
		put_name(object.name, name);
	return ptx_objects_put(&ptx_arena_self.lists->objects, &object);
}

/* errno is saved without ptx_call_begin(), because a signal handler may call this function. */
PTX_EXPORT int posix_trace_object_np(int kind, const void *pointer, const char *name)
{
	int saved = errno, err = name_object(kind, pointer, name);

	errno = saved;
	return err;
}

/* Stores an entry for the program, whose struct may have another size. */
static void store_object(const struct ptx_object *from, struct posix_trace_object_np *object,
			 size_t size)
{
	struct posix_trace_object_np known = { 0 }, *to = &known;

	/* Padding is 0. */
	to->kind = (int)from->kind;
	to->pid = (pid_t)from->pid;
	to->pointer = from->pointer;
	to->time_ns = from->time_ns;
	memcpy(to->name, from->name, sizeof(to->name));
	ptx_sized_store(object, size, &known, sizeof(known));
}

/*
 * Stores the next object and advances. An entry of a live list that is not yet complete is
 * skipped.
 */
static bool next_object(struct ptx_stream *stream, struct ptx_object *object)
{
	const struct ptx_lists *lists;
	size_t count;

	if (stream->kind == PTX_STREAM_STORED) {
		const struct ptx_object *stored = ptx_stored_objects(stream->stored, &count);

		/* The end of a log's list is final. A live list may get further entries. */
		if (stream->object_cursor >= count)
			return false;
		*object = stored[stream->object_cursor++];
		return true;
	}
	lists = stream->drain->arena->lists;
	/*
	 * ptx_objects_get() fails for an entry that its writer has not completed; the writer
	 * completes it within a moment, or was killed.
	 */
	while (lists && stream->object_cursor < ptx_objects_count(&lists->objects))
		if (ptx_objects_get(&lists->objects, (unsigned)stream->object_cursor++, object))
			return true;
	return false;
}

/*
 * Each identifier of a stream has its own position in the list of names. An active stream has the
 * list of its target, which may grow.
 */
PTX_EXPORT int posix_trace_object_getnext_sized_np(trace_id_t trid,
						   struct posix_trace_object_np *object,
						   size_t size, int *unavailable)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	struct ptx_object next;

	/* A null pointer is an error (GEN-05). */
	if (!object || size < PTX_FIRST_OBJECT || !unavailable)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	*unavailable = !next_object(stream, &next);
	ptx_stream_unlock(stream);
	/* *object is stored only if there is one (GEN-09). */
	if (!*unavailable)
		store_object(&next, object, size);
	return ptx_call_end(call, 0);
}

/*
 * The next object is the first object again. EINVAL: not a stream. The position of other
 * identifiers is not changed.
 */
PTX_EXPORT int posix_trace_object_rewind_np(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ANY);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	stream->object_cursor = 0;
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * Finds a name in a live list. The list is not sorted and may grow meanwhile, so the function
 * searches a sorted copy.
 */
static int find_live(const struct ptx_lists *lists, uint32_t pid, uint64_t pointer, int64_t time_ns,
		     struct ptx_object *object)
{
	/* The number is read once: entries that are added later are not in the copy. */
	unsigned room = lists ? ptx_objects_count(&lists->objects) : 0, count = 0;
	const struct ptx_object *found;
	struct ptx_object *copy;

	if (room == 0)
		return ENOENT;
	copy = malloc(room * sizeof(*copy));
	if (!copy)
		return ENOMEM;
	/* Entries that their writer has not completed are skipped, so `count` can be less. */
	for (unsigned i = 0; i < room; i++)
		count += ptx_objects_get(&lists->objects, i, &copy[count]);
	ptx_objects_sort(copy, count);
	found = ptx_objects_find(copy, count, pid, pointer, time_ns);
	if (found)
		*object = *found;
	free(copy);
	return found ? 0 : ENOENT;
}

/* Finds a name in a stream or a log. The caller holds the stream's lock. */
static int find_object(const struct ptx_stream *stream, uint32_t pid, uint64_t pointer,
		       int64_t time_ns, struct ptx_object *object)
{
	const struct ptx_object *stored;
	size_t count;

	if (stream->kind != PTX_STREAM_STORED)
		return find_live(stream->drain->arena->lists, pid, pointer, time_ns, object);
	stored = ptx_stored_objects(stream->stored, &count);
	/* The list of a log is sorted already. */
	stored = ptx_objects_find(stored, count, pid, pointer, time_ns);
	if (stored)
		*object = *stored;
	return stored ? 0 : ENOENT;
}

/*
 * Finds the name that an object had at a time, in the process or in its nearest ancestor with a
 * name for the object. ENOENT: the object had no name. ENOMEM: there is no memory for the copy of
 * an active stream's list.
 */
PTX_EXPORT int posix_trace_object_find_sized_np(trace_id_t trid, pid_t pid, uint64_t pointer,
						int64_t time_ns,
						struct posix_trace_object_np *object, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	struct ptx_object found;
	int err;

	/* A null pointer is an error (GEN-05). */
	if (!object || size < PTX_FIRST_OBJECT)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The search can take milliseconds; the lock keeps the log open meanwhile. */
	err = find_object(stream, (uint32_t)pid, pointer, time_ns, &found);
	ptx_stream_unlock(stream);
	if (!err)
		store_object(&found, object, size);
	return ptx_call_end(call, err);
}
