/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/snapshot.c - posix_trace_snapshot_np() and posix_trace_snapshot_since_np(): an observer
 * makes a log of the events that are in a stream at one moment.
 *
 * The stream is one that posix_trace_observe_np() or posix_trace_observe_file_np() has passed to
 * `visit`, and `visit` has not returned yet. The library copies the region of the stream and then
 * writes the copy to a log. The stream itself is not changed, and its processes do not notice.
 */
#include <fcntl.h>
#include <stdio.h>

#include <trace_np.h>

#include "arena/attachment.h"
#include "base/io.h"
#include "meet/peer_arenas.h"
#include "observe/snapshot_log.h"
#include "posix/call.h"
#include "posix/source.h"

/* One attempt to copy a live stream; it is the argument of copy_from(). */
struct taking {
	const struct posix_trace_source_np *source;
	struct ptx_snapshot *snapshot;
	int err;
};

/*
 * Copies the stream from an image, if the stream's attachment still has the generation that the
 * caller saw.
 */
static int copy_stream(const struct ptx_image *image, const struct ptx_look_stream *stream,
		       struct ptx_snapshot **snapshot)
{
	/* The generation that the attachment had when observe/look.c copied it. */
	uint64_t word = atomic_load_explicit(&stream->attachment.word, memory_order_relaxed);

	return ptx_snapshot_take(image, stream->bit, ptx_attachment_generation(word), snapshot);
}

/* Called by ptx_peer_arenas_peek() with an open arena. */
static void copy_from(void *arg, const struct ptx_arena *arena)
{
	struct taking *taking = arg;
	struct ptx_image image;

	/* The program may have closed the descriptor of the library. */
	if (ptx_arena_fd(arena) < 0)
		return;
	ptx_image_of_file(&image, arena->fd);
	image.is_live = true;
	taking->err = copy_stream(&image, taking->source->stream, &taking->snapshot);
}

/*
 * Copies the stream. Some of the processes that had the stream's arena open may have ended, so the
 * function tries one process after the other. ESRCH: all of them have ended, or have closed the
 * arena. If the calling process has no descriptor or memory left, the function cannot try further
 * processes. The function then returns the error number, because the stream may still exist.
 */
static int copy_live(const struct posix_trace_source_np *source, struct ptx_snapshot **snapshot)
{
	/* The result is ESRCH if no opener can be used. */
	struct taking taking = { .source = source, .err = ESRCH };
	char path[PTX_OPENER_PATH];

	for (size_t i = 0; i < source->openers && taking.err == ESRCH; i++) {
		int err;

		ptx_openers_path(&source->opener[i], path, sizeof(path));
		err = ptx_peer_arenas_peek(path, &source->opener[i], copy_from, &taking);
		if (ptx_io_is_own(err))
			taking.err = err;
	}
	*snapshot = taking.snapshot;
	return taking.err;
}

/*
 * Writes the log. file_desc must be open for writing. This is checked before the copy is made,
 * because the copy may be large.
 */
static int write_snapshot(const struct posix_trace_stream_np *stream, int file_desc,
			  int64_t since_ns, uint64_t *older)
{
	struct ptx_snapshot *snapshot;
	uint64_t left_out = 0;
	/* O_RDWR is accepted as well as O_WRONLY. */
	int err, flags = fcntl(file_desc, F_GETFL);

	if (!stream || !stream->source)
		return EINVAL;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	/* An image is a file or a core dump that the caller has open. */
	if (stream->source->image)
		err = copy_stream(stream->source->image, stream->source->stream, &snapshot);
	else
		err = copy_live(stream->source, &snapshot);
	if (err)
		return err;
	err = ptx_snapshot_log(snapshot, file_desc, since_ns, &left_out);
	ptx_snapshot_drop(snapshot);
	if (!err && older)
		*older = left_out;
	return err;
}

/* EINVAL: the call is not made during `visit`. Other errors are those of the copy or of writing. */
PTX_EXPORT int posix_trace_snapshot_np(const struct posix_trace_stream_np *stream, int file_desc)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, write_snapshot(stream, file_desc, INT64_MIN, NULL));
}

/* `older` may be NULL. Errors are those of posix_trace_snapshot_np(). */
PTX_EXPORT int posix_trace_snapshot_since_np(const struct posix_trace_stream_np *stream,
					     int file_desc, int64_t since_ns, uint64_t *older)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, write_snapshot(stream, file_desc, since_ns, older));
}
