/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/box.h - a stream whose memory is in a file, and a log recovered from it.
 *
 * There is one file, at box_path. A test that has created the file unlinks it at the end.
 */
#ifndef PTX_TESTS_BOX_H
#define PTX_TESTS_BOX_H

#include "support/stream.h"

extern char box_path[64];

/* Sets box_path to a path at which no file exists. */
void box_new_path(void);

/*
 * box_attr() sets the attributes of a stream whose memory is in the file at box_path. box_create()
 * creates such a stream of the calling process. The stream is suspended.
 */
void box_attr(trace_attr_t *attr, const struct wish *wish);
trace_id_t box_create(const struct wish *wish);
#define BACKED(...) box_create(&(struct wish){ __VA_ARGS__ })

struct recovery {
	int fd;  /* the log that was made of the stream in the file; -1: none */
	int err; /* the error number of a failure */
	unsigned faults;
};

/* Makes a log of the stream, in a file without a name. The caller closes its descriptor. */
struct recovery box_recover(void);
/* Does the same, fails if the file at box_path has faults, and returns the log's descriptor. */
int box_recover_whole(void);
/* The visitor for posix_trace_observe_file_np(). arg is a struct recovery. */
void box_recover_stream(void *arg, const struct posix_trace_stream_np *stream);

#endif
