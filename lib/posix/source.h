/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/source.h - where a stream that is being looked at can be copied from.
 */
#ifndef PTX_POSIX_SOURCE_H
#define PTX_POSIX_SOURCE_H

#include "meet/openers.h"
#include "observe/look.h"

struct posix_trace_source_np {
	const struct ptx_look_stream *stream;
	/* Processes that have its arena open; or, without any, the arena's bytes. */
	const struct ptx_opener *opener;
	size_t openers;
	const struct ptx_image *image;
};

struct posix_trace_stream_np;

/* Hands the streams of an image to visit. EINVAL: it is none. ENOMEM. */
int ptx_posix_look_at_image(const struct ptx_image *image,
			    void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
			    void *arg);

#endif
