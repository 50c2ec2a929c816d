/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/backing.h - a stream's memory in a file that stays when its process is gone.
 *
 * The file is a small arena (observe/image.h reads it): control page with the one stream at place
 * 0, lists with names and schemas, and the region. It is new, its owner's alone, and locked (flock)
 * as long as the stream lives. What is written to is allocated before: what the stream's size asks
 * for at creation, what it grows by when a writer needs it. So a full disk is an error at creation,
 * later a counted loss where the stream has no other room, and no signal. A process that makes no
 * system calls (base/quiet.h) records into what is there.
 *
 * Threads   ptx_backing_extend() may be called in trace points: async-signal-safe. Lists are copied
 *           under a lock of this file's.
 */
#ifndef PTX_ARENA_BACKING_H
#define PTX_ARENA_BACKING_H

#include "arena/arena.h"

/*
 * Zeroed memory for the region of the stream at bit, in a new file at path. EEXIST, EFBIG, ENOSPC,
 * and what else open() and posix_fallocate() fail with; ENOMEM. EAGAIN: somebody extends the file
 * that this place had before, for longer than a tenth of a second.
 */
int ptx_backing_create(unsigned bit, const char *path, const struct ptx_geometry *geometry,
		       void **memory);

/* Undoes it: nothing was recorded yet. path is that of the creation. */
void ptx_backing_withdraw(unsigned bit, const char *path);

/* The stream's facts are complete: from now on the file can be recovered. */
void ptx_backing_publish(unsigned bit, const struct ptx_arena *arena,
			 const struct ptx_attachment *attachment);

/* The stream is gone; its file stays. The region's mapping is the caller's. */
void ptx_backing_leave(unsigned bit);

/* struct ptx_rings.back */
bool ptx_backing_extend(void *memory, size_t bytes);

/* Names or schemas have come to the arena of this process. */
void ptx_backing_copy_lists(void);

/* In a child: the files are its parent's. */
void ptx_backing_child(void);

#endif
