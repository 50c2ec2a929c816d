/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/typelist.c - posix_trace_eventtypelist_getnext_id() and _rewind().
 */
#include "cursor/stored.h"
#include "drain/drain.h"
#include "posix/call.h"

/*
 * Returns the next type that has a name, or 0 at the end. The list is in the order of the ids, and
 * new names get greater ids, so a list that grows is delivered completely (LIST-05).
 */
static unsigned next_type(const struct ptx_stream *stream)
{
	/*
	 * The list of an active stream may grow. The result 0 means that it has no further type at
	 * the moment.
	 */
	if (stream->kind != PTX_STREAM_STORED)
		return ptx_names_next(stream->drain->arena->names, stream->type_cursor);
	/* A log's table is read in the order of the ids; type_cursor 0 is the beginning. */
	for (unsigned type = stream->type_cursor + 1; type < PTX_TYPE_MAX; type++)
		if (ptx_stored_name(stream->stored, type))
			return type;
	return 0;
}

/*
 * LIST-01, LIST-02, LIST-04 to LIST-08. The position belongs to the identifier. Several threads
 * can iterate one list; each type is delivered once.
 */
PTX_EXPORT int posix_trace_eventtypelist_getnext_id(trace_id_t trid,
						    trace_event_id_t *restrict event,
						    int *restrict unavailable)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	unsigned type;

	/* A null pointer is an error (GEN-05). */
	if (!event || !unavailable)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The type is chosen under the lock, so that two threads get different ids (LIST-08). */
	type = next_type(stream);
	*unavailable = type == 0;
	/* At the end the position and *event remain (LIST-02). */
	if (type != 0) {
		stream->type_cursor = type;
		*event = type;
	}
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/* LIST-03. */
PTX_EXPORT int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	/* The stream may be of any kind, as in posix_trace_getnext_event(). */
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ANY);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	stream->type_cursor = 0;
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
