/* SPDX-License-Identifier: LGPL-2.1-or-later */
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

_Static_assert(POSIX_TRACE_OBJECT_NAME_MAX_NP + 1 == PTX_OBJECT_NAME_BYTES, "as in <trace_np.h>");
_Static_assert(POSIX_TRACE_OBJECT_CHILD_NP == PTX_OBJECT_CHILD, "as in <trace_np.h>");

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

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

PTX_EXPORT const char *posix_trace_object_kind_name_np(int kind)
{
	return kind > 0 && (unsigned)kind < KINDS ? kinds[kind]
						  : kinds[POSIX_TRACE_OBJECT_OTHER_NP];
}

/* Cut where a character of UTF-8 begins. */
static void put_name(char *to, const char *name)
{
	size_t len = strnlen(name, PTX_OBJECT_NAME_BYTES);

	if (len == PTX_OBJECT_NAME_BYTES)
		for (len--; len && ((unsigned char)name[len] & 0xc0) == 0x80;)
			len--;
	memcpy(to, name, len);
}

static int name_object(int kind, const void *pointer, const char *name)
{
	struct ptx_object object = { .kind = (uint32_t)kind };

	if (kind <= 0 || (unsigned)kind >= KINDS)
		return EINVAL;
	if (ptx_process_is_child())
		ptx_process_child();
	if (!ptx_arena_self.lists)
		return ENOMEM;
	object.pid = ptx_process_pid();
	object.pointer = (uintptr_t)pointer;
	object.time_ns = ptx_clock_realtime();
	if (name)
		put_name(object.name, name);
	return ptx_objects_put(&ptx_arena_self.lists->objects, &object);
}

/* Not as other calls: it may be made in a signal handler. */
PTX_EXPORT int posix_trace_object_np(int kind, const void *pointer, const char *name)
{
	int saved = errno, err = name_object(kind, pointer, name);

	errno = saved;
	return err;
}

static void store(const struct ptx_object *from, struct posix_trace_object_np *object, size_t size)
{
	struct posix_trace_object_np known = { 0 }, *to = &known;

	to->kind = (int)from->kind;
	to->pid = (pid_t)from->pid;
	to->pointer = from->pointer;
	to->time_ns = from->time_ns;
	memcpy(to->name, from->name, sizeof(to->name));
	ptx_sized_store(object, size, &known, sizeof(known));
}

static bool next_object(struct ptx_stream *stream, struct ptx_object *object)
{
	const struct ptx_lists *lists;
	size_t count;

	if (stream->kind == PTX_STREAM_STORED) {
		const struct ptx_object *stored = ptx_stored_objects(stream->stored, &count);

		if (stream->object_cursor >= count)
			return false;
		*object = stored[stream->object_cursor++];
		return true;
	}
	lists = stream->drain->arena->lists;
	while (lists && stream->object_cursor < ptx_objects_count(&lists->objects))
		if (ptx_objects_get(&lists->objects, (unsigned)stream->object_cursor++, object))
			return true;
	return false;
}

PTX_EXPORT int posix_trace_object_getnext_sized_np(trace_id_t trid,
						   struct posix_trace_object_np *object,
						   size_t size, int *unavailable)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	struct ptx_object next;

	if (!object || size < PTX_FIRST_OBJECT || !unavailable)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	*unavailable = !next_object(stream, &next);
	ptx_stream_unlock(stream);
	if (!*unavailable)
		store(&next, object, size);
	return ptx_call_end(call, 0);
}

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

/* A copy in order: those of a running process may grow meanwhile. */
static int find_live(const struct ptx_lists *lists, uint32_t pid, uint64_t pointer, int64_t time_ns,
		     struct ptx_object *object)
{
	unsigned room = lists ? ptx_objects_count(&lists->objects) : 0, count = 0;
	const struct ptx_object *found;
	struct ptx_object *copy;

	if (room == 0)
		return ENOENT;
	copy = malloc(room * sizeof(*copy));
	if (!copy)
		return ENOMEM;
	for (unsigned i = 0; i < room; i++)
		count += ptx_objects_get(&lists->objects, i, &copy[count]);
	ptx_objects_sort(copy, count);
	found = ptx_objects_find(copy, count, pid, pointer, time_ns);
	if (found)
		*object = *found;
	free(copy);
	return found ? 0 : ENOENT;
}

static int find(const struct ptx_stream *stream, uint32_t pid, uint64_t pointer, int64_t time_ns,
		struct ptx_object *object)
{
	const struct ptx_object *stored;
	size_t count;

	if (stream->kind != PTX_STREAM_STORED)
		return find_live(stream->drain->arena->lists, pid, pointer, time_ns, object);
	stored = ptx_stored_objects(stream->stored, &count);
	stored = ptx_objects_find(stored, count, pid, pointer, time_ns);
	if (stored)
		*object = *stored;
	return stored ? 0 : ENOENT;
}

PTX_EXPORT int posix_trace_object_find_sized_np(trace_id_t trid, pid_t pid, uint64_t pointer,
						int64_t time_ns,
						struct posix_trace_object_np *object, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	struct ptx_object found;
	int err;

	if (!object || size < PTX_FIRST_OBJECT)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = find(stream, (uint32_t)pid, pointer, time_ns, &found);
	ptx_stream_unlock(stream);
	if (!err)
		store(&found, object, size);
	return ptx_call_end(call, err);
}
