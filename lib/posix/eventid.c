/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "arena/arena.h"
#include "arena/backing.h"
#include "cursor/stored.h"
#include "drain/drain.h"
#include "meet/process.h"
#include "posix/call.h"

_Static_assert(PTX_TYPE_NAME_BYTES == TRACE_EVENT_NAME_MAX + 1, "a name has room for its NUL");
_Static_assert(PTX_NAMES == TRACE_USER_EVENT_MAX - 1, "the limit counts the unnamed type");
_Static_assert(PTX_TYPE_UNNAMED == POSIX_TRACE_UNNAMED_USEREVENT, "as in <trace.h>");

/* From here on this process may record the type. */
static void map(unsigned type)
{
	if (type >= PTX_TYPE_UNNAMED)
		atomic_fetch_or_explicit(&ptx_mapped[type / 64], UINT64_C(1) << (type % 64),
					 memory_order_release);
	ptx_arena_changed(&ptx_arena_self);
}

static int open_name(struct ptx_arena *arena, const char *name, trace_event_id_t *event_id)
{
	unsigned type;

	if (!name || !event_id)
		return EINVAL;
	if (strnlen(name, PTX_TYPE_NAME_BYTES) == PTX_TYPE_NAME_BYTES)
		return ENAMETOOLONG;
	if (ptx_process_is_child())
		ptx_process_child();
	if (!arena->names)
		return ENOMEM;
	type = ptx_names_open(arena->names, name);
	if (arena == &ptx_arena_self) {
		ptx_backing_copy_lists();
		map(type);
	}
	*event_id = type;
	return 0;
}

PTX_EXPORT int posix_trace_eventid_open(const char *restrict name,
					trace_event_id_t *restrict event_id)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, open_name(&ptx_arena_self, name, event_id));
}

PTX_EXPORT int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict name,
					     trace_event_id_t *restrict event_id)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = open_name(stream->drain->arena, name, event_id);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, err);
}

static bool get_name(const struct ptx_stream *stream, trace_event_id_t type, char *name)
{
	const char *stored;

	if (stream->kind != PTX_STREAM_STORED)
		return ptx_names_get(stream->drain->arena->names, type, name);
	stored = type < PTX_TYPE_MAX ? ptx_stored_name(stream->stored, type) : NULL;
	if (stored)
		strcpy(name, stored);
	return stored;
}

PTX_EXPORT int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event_id,
					    char *event_name)
{
	struct ptx_call call = ptx_call_begin();
	char name[PTX_TYPE_NAME_BYTES];
	struct ptx_stream *stream;
	bool found;

	if (!event_name)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	found = get_name(stream, event_id, name);
	ptx_stream_unlock(stream);
	if (found)
		strcpy(event_name, name);
	return ptx_call_end(call, found ? 0 : EINVAL);
}

PTX_EXPORT int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1,
					 trace_event_id_t event2)
{
	struct ptx_call call = ptx_call_begin();
	char name[PTX_TYPE_NAME_BYTES];
	struct ptx_stream *stream;
	int equal;

	if (event1 != event2)
		return ptx_call_end(call, 0);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, 0);
	equal = get_name(stream, event1, name);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, equal);
}
