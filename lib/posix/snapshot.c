/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/snapshot.c - a log of a stream as it is, for who takes no part in it.
 */
#include <fcntl.h>
#include <stdio.h>

#include <trace_np.h>

#include "arena/attachment.h"
#include "meet/peer_arenas.h"
#include "observe/snapshot_log.h"
#include "posix/call.h"
#include "posix/source.h"

struct taking {
	const struct posix_trace_source_np *source;
	struct ptx_snapshot *snapshot;
	int err;
};

static int take(const struct ptx_image *image, const struct ptx_look_stream *stream,
		struct ptx_snapshot **snapshot)
{
	uint64_t word = atomic_load_explicit(&stream->attachment.word, memory_order_relaxed);

	return ptx_snapshot_take(image, stream->bit, ptx_attachment_generation(word), snapshot);
}

static void take_from(void *arg, const struct ptx_arena *arena)
{
	struct taking *taking = arg;
	struct ptx_image image;

	/* A descriptor of that number may be another arena's by now. */
	if (arena->device != taking->source->opener->device ||
	    arena->inode != taking->source->opener->inode || ptx_arena_fd(arena) < 0)
		return;
	ptx_image_of_file(&image, arena->fd);
	image.is_live = true;
	taking->err = take(&image, taking->source->stream, &taking->snapshot);
}

/* Any of the holders leads to it: some may have ended since. */
static int take_live(const struct posix_trace_source_np *source, struct ptx_snapshot **snapshot)
{
	struct taking taking = { .source = source, .err = ESRCH };
	char path[PTX_OPENER_PATH];

	for (size_t i = 0; i < source->openers && taking.err == ESRCH; i++) {
		ptx_openers_path(&source->opener[i], path, sizeof(path));
		ptx_peer_arenas_peek(path, take_from, &taking);
	}
	*snapshot = taking.snapshot;
	return taking.err;
}

static int snapshot(const struct posix_trace_stream_np *stream, int file_desc)
{
	struct ptx_snapshot *snapshot;
	int err, flags = fcntl(file_desc, F_GETFL);

	if (!stream || !stream->source)
		return EINVAL;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	if (stream->source->image)
		err = take(stream->source->image, stream->source->stream, &snapshot);
	else
		err = take_live(stream->source, &snapshot);
	if (err)
		return err;
	err = ptx_snapshot_log(snapshot, file_desc);
	ptx_snapshot_drop(snapshot);
	return err;
}

PTX_EXPORT int posix_trace_snapshot_np(const struct posix_trace_stream_np *stream, int file_desc)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, snapshot(stream, file_desc));
}
