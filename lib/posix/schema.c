/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/schema.c - posix_trace_eventid_describe_np() and _get_schema_np(): what payloads mean.
 *
 * A process publishes the text of a schema in a list of its arena. From there the text reaches
 * streams and logs. A text that another process published, or that a log has, may be no schema:
 * readers parse it themselves.
 */
#include <string.h>

#include "arena/arena.h"
#include "arena/backing.h"
#include "cursor/stored.h"
#include "drain/drain.h"
#include "meet/process.h"
#include "posix/call.h"
#include "posix/level.h"
#include "record/schema.h"

/*
 * Returns true if the type has this description already. The process that published a text has
 * parsed it, so the text is not parsed again. This shortens the start of programs that describe
 * many types, as the shim does. In a child that is not set up yet, the result is false.
 */
static bool is_described(const struct ptx_arena *arena, trace_event_id_t type, const char *text)
{
	return !ptx_process_is_child() && arena->lists &&
	       ptx_schemas_has(&arena->lists->schemas, type, text);
}

/*
 * Publishes the description of a type of an arena. The first description remains. EEXIST: the type
 * has another description.
 */
static int describe_type(struct ptx_arena *arena, trace_event_id_t type, const char *text)
{
	struct posix_trace_schema_np schema;
	/*
	 * The buffer first gets the name of the type and then its present description, which may be
	 * longer.
	 */
	char name[PTX_SCHEMA_BYTES];
	bool is_new;
	int err;

	if (!text)
		return EINVAL;
	if (ptx_process_is_child())
		ptx_process_child();
	if (is_described(arena, type, text)) {
		if (arena == &ptx_arena_self)
			ptx_backing_copy_lists();
		return 0;
	}
	/* Only texts that can be parsed are published. */
	if (ptx_schema_parse(text, &schema))
		return EINVAL;
	/* There are no lists if they could not be mapped at the start. */
	if (!arena->lists)
		return ENOMEM;
	/* Types of the system have no description, and the unnamed type has no meaning. */
	if (type < PTX_TYPE_FIRST_USER || !ptx_names_get(arena->names, type, name))
		return EINVAL;
	/*
	 * A level takes effect at the first description only; describing the type with the same
	 * text again changes nothing.
	 */
	is_new = !ptx_schemas_get(&arena->lists->schemas, type, name);
	/* ENOSPC: the descriptions fill their memory. */
	err = ptx_schemas_put(&arena->lists->schemas, type, text);
	/*
	 * The backing files of a process have copies of its lists. Only this process knows its
	 * backing files, so it cannot copy the lists of another process.
	 */
	if (arena != &ptx_arena_self)
		return err;
	if (!err)
		ptx_backing_copy_lists();
	if (!err && is_new && schema.level)
		ptx_level_described(type, schema.level);
	return err;
}

/*
 * This function must not be called in signal handlers. It copies the text. The text reaches all
 * streams of the process, also those that exist already, and their logs. Errors: EINVAL, EEXIST,
 * ENOSPC, ENOMEM.
 */
PTX_EXPORT int posix_trace_eventid_describe_np(trace_event_id_t event_id, const char *schema)
{
	struct ptx_call call;

	/* The usual case at the start of a program of a family: no system call is needed. */
	if (schema && is_described(&ptx_arena_self, event_id, schema) && !ptx_backing_has_any())
		return 0;
	call = ptx_call_begin();
	return ptx_call_end(call, describe_type(&ptx_arena_self, event_id, schema));
}

/*
 * Like posix_trace_eventid_describe_np(), for a type of the traced process, which may be another
 * process. A level does not change the filters of that process's streams.
 */
PTX_EXPORT int posix_trace_trid_describe_np(trace_id_t trid, trace_event_id_t event_id,
					    const char *schema)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = describe_type(stream->drain->arena, event_id, schema);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, err);
}

/* Stores the text. EINVAL: the type has no name. ENOENT: it has no description. */
static int get_schema(const struct ptx_stream *stream, trace_event_id_t type, char *text)
{
	const struct ptx_lists *lists;
	/* A name shows that the type exists. */
	char name[PTX_TYPE_NAME_BYTES];

	if (stream->kind == PTX_STREAM_STORED) {
		const char *schema;

		/* The tables of a log are indexed by type. */
		if (type >= PTX_TYPE_MAX || !ptx_stored_name(stream->stored, type))
			return EINVAL;
		schema = ptx_stored_schema(stream->stored, type);
		if (schema)
			strcpy(text, schema);
		return schema ? 0 : ENOENT;
	}
	lists = stream->drain->arena->lists;
	/* The list is shared memory: name and text are copied and checked. */
	if (!lists || !ptx_names_get(&lists->names, type, name))
		return EINVAL;
	return ptx_schemas_get(&lists->schemas, type, text) ? 0 : ENOENT;
}

/* ERANGE: `size` is too small; `schema` is then unchanged (GEN-09). */
PTX_EXPORT int posix_trace_eventid_get_schema_np(trace_id_t trid, trace_event_id_t event_id,
						 char *schema, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	char text[PTX_SCHEMA_BYTES];
	struct ptx_stream *stream;
	int err;

	/* A null pointer is an error (GEN-05). */
	if (!schema)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = get_schema(stream, event_id, text);
	ptx_stream_unlock(stream);
	/* The length without the NUL must be less than the size. */
	if (!err && strlen(text) >= size)
		err = ERANGE;
	if (!err)
		strcpy(schema, text);
	return ptx_call_end(call, err);
}
