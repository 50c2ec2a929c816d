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
	struct ptx_still *still;
	int err;
};

static int take(const struct ptx_image *image, const struct ptx_look_stream *stream,
		struct ptx_still **still)
{
	uint64_t word = atomic_load_explicit(&stream->attachment.word, memory_order_relaxed);

	return ptx_still_take(image, stream->bit, ptx_attachment_generation(word), still);
}

static void take_from(void *arg, const struct ptx_arena *arena)
{
	struct taking *taking = arg;
	struct ptx_image image;

	/* A descriptor of that number may be another arena's by now. */
	if (arena->device != taking->source->holder->device ||
	    arena->inode != taking->source->holder->inode || ptx_arena_fd(arena) < 0)
		return;
	ptx_image_of_file(&image, arena->fd);
	image.is_live = true;
	taking->err = take(&image, taking->source->stream, &taking->still);
}

/* Any of the holders leads to it: some may have ended since. */
static int take_live(const struct posix_trace_source_np *source, struct ptx_still **still)
{
	struct taking taking = { .source = source, .err = ESRCH };
	char path[PTX_HOLDER_PATH];

	for (size_t i = 0; i < source->holders && taking.err == ESRCH; i++) {
		ptx_holders_path(&source->holder[i], path, sizeof(path));
		ptx_others_peek(path, take_from, &taking);
	}
	*still = taking.still;
	return taking.err;
}

static int snapshot(const struct posix_trace_stream_np *stream, int file_desc)
{
	struct ptx_still *still;
	int err, flags = fcntl(file_desc, F_GETFL);

	if (!stream || !stream->source)
		return EINVAL;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	if (stream->source->image)
		err = take(stream->source->image, stream->source->stream, &still);
	else
		err = take_live(stream->source, &still);
	if (err)
		return err;
	err = ptx_still_log(still, file_desc);
	ptx_still_drop(still);
	return err;
}

PTX_EXPORT int posix_trace_snapshot_np(const struct posix_trace_stream_np *stream, int file_desc)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, snapshot(stream, file_desc));
}
