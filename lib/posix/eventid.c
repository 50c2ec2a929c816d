/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/eventid.c - names and ids of event types.
 *
 * The names of a process are a list in its arena. The process, its controllers and its children
 * append to the list without a lock (arena/names.h). The position of a name gives its id. If the
 * list is full, a new name gets the unnamed type (EVID-08, EVID-09).
 */
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

/*
 * Allows the trace points of this process to record the type: they ignore ids that the process has
 * not opened (EVENT-12). The function does not allow this for types below the unnamed type, because
 * they are types of the system, which only the library records.
 */
static void allow_type(unsigned type)
{
	if (type >= PTX_TYPE_UNNAMED)
		atomic_fetch_or_explicit(&ptx_opened_types[type / 64], UINT64_C(1) << (type % 64),
					 memory_order_release);
	/* A lane contains the set of opened types. The new epoch makes threads fill lanes again. */
	ptx_arena_changed(&ptx_arena_self);
}

/*
 * Opens a name in an arena. Returns 0, EINVAL, ENAMETOOLONG, or ENOMEM if the arena has no lists.
 */
static int open_name(struct ptx_arena *arena, const char *name, trace_event_id_t *event_id)
{
	unsigned type;

	if (!name || !event_id)
		return EINVAL;
	/*
	 * The length of a name is counted in bytes (EVID-17), and a name that is too long is not
	 * registered (EVID-04, EVID-11).
	 */
	if (strnlen(name, PTX_TYPE_NAME_BYTES) == PTX_TYPE_NAME_BYTES)
		return ENAMETOOLONG;
	if (ptx_process_is_child())
		ptx_process_child();
	/* There are no names if the lists could not be mapped at the start of the process. */
	if (!arena->names)
		return ENOMEM;
	type = ptx_names_open(arena->names, name);
	/*
	 * If a controller opens a name for another process, the name is in the list of that
	 * process, but that process must open the name itself before it can record the type.
	 */
	if (arena == &ptx_arena_self) {
		/*
		 * A backing file has its own copy of the lists, so that events can be recovered
		 * without this process.
		 */
		ptx_backing_copy_lists();
		allow_type(type);
	}
	/* *event_id is stored only on success (EVID-04). */
	*event_id = type;
	return 0;
}

/*
 * Opens a name whose entry in this process's arena follows that of the name opened before, because
 * another program of the family has opened the same names in the same order. Returns false in all
 * other cases. The shim opens about a hundred names at each start, so this function makes no system
 * call, and needs no ptx_call_begin().
 */
static bool open_again(const char *name, trace_event_id_t *event_id)
{
	unsigned type;

	if (!name || !event_id || ptx_process_is_child() || !ptx_arena_self.names)
		return false;
	type = ptx_names_guess(ptx_arena_self.names, name, strnlen(name, PTX_TYPE_NAME_BYTES));
	if (!type || ptx_backing_has_any())
		return false;
	allow_type(type);
	*event_id = type;
	return true;
}

/* EVID-01 to EVID-14. */
PTX_EXPORT int posix_trace_eventid_open(const char *restrict name,
					trace_event_id_t *restrict event_id)
{
	struct ptx_call call;

	if (open_again(name, event_id))
		return 0;
	call = ptx_call_begin();
	return ptx_call_end(call, open_name(&ptx_arena_self, name, event_id));
}

/* TRID-01 to TRID-08. */
PTX_EXPORT int posix_trace_trid_eventid_open(trace_id_t trid, const char *restrict name,
					     trace_event_id_t *restrict event_id)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The name is added to the arena of the target, which may be this process. */
	err = open_name(stream->drain->arena, name, event_id);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, err);
}

/*
 * Stores the name of a type; a log has the names in its own table. Returns false if the type has no
 * name.
 */
static bool get_name(const struct ptx_stream *stream, trace_event_id_t type, char *name)
{
	const char *stored;

	/* The lists of an arena are shared memory: the name is copied and checked. */
	if (stream->kind != PTX_STREAM_STORED)
		return ptx_names_get(stream->drain->arena->names, type, name);
	stored = type < PTX_TYPE_MAX ? ptx_stored_name(stream->stored, type) : NULL;
	if (stored)
		strcpy(name, stored);
	return stored;
}

/*
 * NAMEOF-01 to NAMEOF-06. The name is copied to a local variable, so that the program's buffer is
 * unchanged after an error (GEN-09).
 */
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

/*
 * EQUAL-01, EQUAL-02. The result is no error number: 0 means that the types differ, or that the
 * stream or the type does not exist.
 */
PTX_EXPORT int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1,
					 trace_event_id_t event2)
{
	struct ptx_call call = ptx_call_begin();
	char name[PTX_TYPE_NAME_BYTES];
	struct ptx_stream *stream;
	int equal;

	/* Different ids are different types, whatever the stream is. */
	if (event1 != event2)
		return ptx_call_end(call, 0);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, 0);
	equal = get_name(stream, event1, name);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, equal);
}
