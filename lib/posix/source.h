/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/source.h - the sources from which an observer can copy a stream.
 *
 * Owner     the call of posix_trace_observe_np() or _observe_file_np(); valid only during `visit`.
 */
#ifndef PTX_POSIX_SOURCE_H
#define PTX_POSIX_SOURCE_H

#include "meet/openers.h"
#include "observe/look.h"

struct posix_trace_source_np {
	const struct ptx_look_stream *stream;
	/*
	 * The processes that have the stream's arena open. If there are none, `image` has the bytes
	 * of the arena.
	 */
	const struct ptx_opener *opener;
	size_t openers;
	const struct ptx_image *image;
};

struct posix_trace_stream_np;

/*
 * A program's function for streams. The program may be compiled for a longer struct
 * posix_trace_stream_np.
 */
struct ptx_visitor {
	void (*visit)(void *arg, const struct posix_trace_stream_np *stream);
	void *arg;
	size_t size;  /* size of the program's structure */
	/* memory for a structure of that size if it is greater than this library's; else NULL */
	void *longer;
};

/*
 * Prepares *visitor. EINVAL: `visit` is NULL, or the size is less than the size of the first
 * version. ENOMEM.
 */
int ptx_visitor_begin(struct ptx_visitor *visitor,
		      void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
		      void *arg, size_t size);

/* Frees the memory of ptx_visitor_begin(). */
void ptx_visitor_end(struct ptx_visitor *visitor);

/*
 * Calls the visitor for the streams of an image. EINVAL: the image is not an arena of this
 * version. ENOMEM.
 */
int ptx_posix_look_at_image(const struct ptx_image *image, const struct ptx_visitor *visitor);

#endif
