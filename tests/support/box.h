/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/box.h - a stream whose memory is in a file, and a log recovered from it.
 *
 * There is one file; the last user unlinks it.
 */
#ifndef PTX_TESTS_BOX_H
#define PTX_TESTS_BOX_H

#include "support/stream.h"

extern char box_path[64];

/* A path at which no file exists. */
void box_new_path(void);

/*
 * Attributes of a stream with its memory at the path; such a stream of the calling process,
 * suspended.
 */
void box_attr(trace_attr_t *attr, const struct wish *wish);
trace_id_t box_create(const struct wish *wish);
#define BACKED(...) box_create(&(struct wish){ __VA_ARGS__ })

struct recovery {
	int fd;  /* a log of the stream in the file; -1: none */
	int err; /* reason of a failure */
	unsigned faults;
};

/* Makes the log in a file without a name, which the caller closes. */
struct recovery box_recover(void);
/* The log of a file without faults. */
int box_recover_whole(void);
/* For posix_trace_observe_file_np(), with a struct recovery. */
void box_recover_stream(void *arg, const struct posix_trace_stream_np *stream);

#endif
