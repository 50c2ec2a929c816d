/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "arena/arena.h"
#include "arena/backing.h"
#include "cursor/stored.h"
#include "drain/drain.h"
#include "meet/process.h"
#include "posix/call.h"
#include "posix/level.h"
#include "record/schema.h"

static int describe(trace_event_id_t type, const char *text)
{
	struct posix_trace_schema_np schema;
	char name[PTX_SCHEMA_BYTES]; /* of the type, or its description */
	struct ptx_arena *arena = &ptx_arena_self;
	bool is_new;
	int err;

	if (!text || ptx_schema_parse(text, &schema))
		return EINVAL;
	if (ptx_process_is_child())
		ptx_process_child();
	if (!arena->lists)
		return ENOMEM;
	if (type < PTX_TYPE_FIRST_USER || !ptx_names_get(arena->names, type, name))
		return EINVAL;
	is_new = !ptx_schemas_get(&arena->lists->schemas, type, name);
	err = ptx_schemas_put(&arena->lists->schemas, type, text);
	if (!err)
		ptx_backing_copy_lists();
	if (!err && is_new && schema.level)
		ptx_level_described(type, schema.level);
	return err;
}

PTX_EXPORT int posix_trace_eventid_describe_np(trace_event_id_t event_id, const char *schema)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, describe(event_id, schema));
}

static int get_schema(const struct ptx_stream *stream, trace_event_id_t type, char *text)
{
	const struct ptx_lists *lists;
	char name[PTX_TYPE_NAME_BYTES];

	if (stream->kind == PTX_STREAM_STORED) {
		const char *schema;

		if (type >= PTX_TYPE_MAX || !ptx_stored_name(stream->stored, type))
			return EINVAL;
		schema = ptx_stored_schema(stream->stored, type);
		if (schema)
			strcpy(text, schema);
		return schema ? 0 : ENOENT;
	}
	lists = stream->drain->arena->lists;
	if (!lists || !ptx_names_get(&lists->names, type, name))
		return EINVAL;
	return ptx_schemas_get(&lists->schemas, type, text) ? 0 : ENOENT;
}

PTX_EXPORT int posix_trace_eventid_get_schema_np(trace_id_t trid, trace_event_id_t event_id,
						 char *schema, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	char text[PTX_SCHEMA_BYTES];
	struct ptx_stream *stream;
	int err;

	if (!schema)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = get_schema(stream, event_id, text);
	ptx_stream_unlock(stream);
	if (!err && strlen(text) >= size)
		err = ERANGE;
	if (!err)
		strcpy(schema, text);
	return ptx_call_end(call, err);
}
