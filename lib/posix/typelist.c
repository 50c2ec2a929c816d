/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cursor/stored.h"
#include "drain/drain.h"
#include "posix/call.h"

static unsigned next_type(const struct ptx_stream *stream)
{
	if (stream->kind != PTX_STREAM_STORED)
		return ptx_names_next(stream->drain->arena->names, stream->type_cursor);
	for (unsigned type = stream->type_cursor + 1; type < PTX_TYPE_MAX; type++)
		if (ptx_stored_name(stream->stored, type))
			return type;
	return 0;
}

PTX_EXPORT int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
						    trace_event_id_t *restrict event,
						    int *restrict unavailable)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	unsigned type;

	if (!event || !unavailable)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	type = next_type(stream);
	*unavailable = type == 0;
	if (type != 0) {
		stream->type_cursor = type;
		*event = type;
	}
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ANY);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	stream->type_cursor = 0;
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
