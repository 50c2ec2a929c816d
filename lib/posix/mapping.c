/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/mapping.c - which files were mapped where, for programs that read a log.
 *
 * The list is in the opened log, in the order of processes and times. The functions lock the log,
 * so any number of threads may call them.
 */
#include <string.h>

#include <trace_np.h>

#include "cursor/stored.h"
#include "meet/process.h"
#include "modules/mapped.h"
#include "posix/call.h"
#include "posix/first.h"
#include "record/mapping.h"

/* The identifier in the public struct has the same size as in logs. */
_Static_assert(POSIX_TRACE_BUILD_ID_MAX_NP == PTX_MAPPING_ID_BYTES, "as in <trace_np.h>");

/* Copies an entry. The path belongs to the list and is valid as long as the log is open. */
static void store_mapping(const struct ptx_mapping *from, struct posix_trace_mapping_np *mapping,
			  size_t size)
{
	struct posix_trace_mapping_np known = { 0 }, *to = &known;

	to->from_ns = from->from_ns;
	to->until_ns = from->until_ns;
	to->start = from->start;
	to->end = from->end;
	to->offset = from->offset;
	to->base = from->base;
	/* `parent` is 0 for a mapped file. */
	to->pid = (pid_t)from->pid;
	to->parent = (pid_t)from->parent;
	to->build_id_len = from->id_bytes;
	memcpy(to->build_id, from->id, sizeof(to->build_id));
	/* The entry of a child has no path; an empty string is easier for programs than NULL. */
	to->path = from->path ? from->path : "";
	/* Members of the program's struct that this version does not have become 0. */
	ptx_sized_store(mapping, size, &known, sizeof(known));
}

/*
 * Works like the list of event types (LIST-02): at the end of the list *unavailable is not 0, and
 * the call returns 0. The string mapping->path is valid until the log is closed.
 */
PTX_EXPORT int posix_trace_mapping_getnext_sized_np(trace_id_t trid,
						    struct posix_trace_mapping_np *mapping,
						    size_t size, int *unavailable)
{
	struct ptx_call call = ptx_call_begin();
	const struct ptx_mappings *list;
	struct ptx_stream *stream;

	/* A null pointer is an error (GEN-05). */
	if (!mapping || size < PTX_FIRST_MAPPING || !unavailable)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	list = ptx_stored_mappings(stream->stored);
	/* The position belongs to the identifier, like the position in the list of types. */
	*unavailable = stream->mapping_cursor >= list->count;
	if (!*unavailable)
		store_mapping(&list->mapping[stream->mapping_cursor++], mapping, size);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/* Makes the first mapping the next mapping again. EINVAL: the stream is not an opened log. */
PTX_EXPORT int posix_trace_mapping_rewind_np(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_STORED);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The lock protects the position. */
	stream->mapping_cursor = 0;
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * Stores the mapping that a process had at an address at a time. If a child has no entry for the
 * address, the search continues in its parent at the time of the fork. ENOENT: no mapping is known.
 * The string mapping->path is valid until the log is closed.
 */
PTX_EXPORT int posix_trace_mapping_find_sized_np(trace_id_t trid, pid_t pid, uint64_t address,
						 int64_t time_ns,
						 struct posix_trace_mapping_np *mapping,
						 size_t size)
{
	struct ptx_call call = ptx_call_begin();
	const struct ptx_mapping *found;
	struct ptx_stream *stream;

	/*
	 * A null pointer is an error (GEN-05). The position of posix_trace_mapping_getnext_np() is
	 * not changed.
	 */
	if (!mapping || size < PTX_FIRST_MAPPING)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	found = ptx_mappings_find(ptx_stored_mappings(stream->stored), (uint32_t)pid, address,
				  time_ns);
	/* *mapping is stored only on success (GEN-09). */
	if (found)
		store_mapping(found, mapping, size);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, found ? 0 : ENOENT);
}

/*
 * Reports the mapped files of this process: adds notes to the list `maps` of the arena, which the
 * controllers read. The shim calls this function before dlclose() and after dlopen(). ENOSPC: the
 * list is full. A controller can still read the mappings from /proc.
 */
PTX_EXPORT int posix_trace_mapping_publish_np(void)
{
	struct ptx_call call = ptx_call_begin();

	/* No fork handler has set up a child of _Fork(), so it is set up here. */
	if (ptx_process_is_child())
		ptx_process_child();
	/* The argument is false, because this is not the start of the program. */
	return ptx_call_end(call, ptx_mapped_report(false));
}
