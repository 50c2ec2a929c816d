/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <trace_np.h>

#include "cursor/stored.h"
#include "meet/process.h"
#include "modules/mapped.h"
#include "posix/call.h"
#include "posix/first.h"
#include "record/mapping.h"

_Static_assert(POSIX_TRACE_BUILD_ID_MAX_NP == PTX_MAPPING_ID_BYTES, "as in <trace_np.h>");

/* The path is the list's, which lives as long as the opened log. */
static void store(const struct ptx_mapping *from, struct posix_trace_mapping_np *mapping,
		  size_t size)
{
	struct posix_trace_mapping_np known = { 0 }, *to = &known;

	to->from_ns = from->from_ns;
	to->until_ns = from->until_ns;
	to->start = from->start;
	to->end = from->end;
	to->offset = from->offset;
	to->base = from->base;
	to->pid = (pid_t)from->pid;
	to->parent = (pid_t)from->parent;
	to->build_id_len = from->id_bytes;
	memcpy(to->build_id, from->id, sizeof(to->build_id));
	to->path = from->path ? from->path : "";
	ptx_sized_store(mapping, size, &known, sizeof(known));
}

PTX_EXPORT int posix_trace_mapping_getnext_sized_np(trace_id_t trid,
						    struct posix_trace_mapping_np *mapping,
						    size_t size, int *unavailable)
{
	struct ptx_call call = ptx_call_begin();
	const struct ptx_mappings *list;
	struct ptx_stream *stream;

	if (!mapping || size < PTX_FIRST_MAPPING || !unavailable)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	list = ptx_stored_mappings(stream->stored);
	*unavailable = stream->mapping_cursor >= list->count;
	if (!*unavailable)
		store(&list->mapping[stream->mapping_cursor++], mapping, size);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_mapping_rewind_np(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_STORED);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	stream->mapping_cursor = 0;
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_mapping_find_sized_np(trace_id_t trid, pid_t pid, uint64_t address,
						 int64_t time_ns,
						 struct posix_trace_mapping_np *mapping,
						 size_t size)
{
	struct ptx_call call = ptx_call_begin();
	const struct ptx_mapping *found;
	struct ptx_stream *stream;

	if (!mapping || size < PTX_FIRST_MAPPING)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	found = ptx_mappings_find(ptx_stored_mappings(stream->stored), (uint32_t)pid, address,
				  time_ns);
	if (found)
		store(found, mapping, size);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, found ? 0 : ENOENT);
}

PTX_EXPORT int posix_trace_mapping_tell_np(void)
{
	struct ptx_call call = ptx_call_begin();

	if (ptx_process_is_child())
		ptx_process_child();
	return ptx_call_end(call, ptx_mapped_report(false));
}
