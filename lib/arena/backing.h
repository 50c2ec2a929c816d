/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/backing.h - a stream's memory in a file that remains when its process ends.
 *
 * The file is a small arena: a control page with one stream at place 0, lists with names and
 * schemas, and the region of the stream. observe/image.h reads such a file. The file is new,
 * belongs to its creator alone, and is locked by flock(2) as long as the stream lives. Space in the
 * file is allocated before it is used: for the stream's size at creation, and for further chunks
 * when a writer needs them. If the disk is full, the creation returns an error. If the disk becomes
 * full later, and the stream has no other room, events are lost and counted, but no signal is
 * raised. A process that makes no system calls (base/quiet.h) records only into the space that is
 * allocated already.
 *
 * Threads   ptx_backing_extend() may be called in trace points: async-signal-safe. A mutex protects
 *           the copying of lists. The other functions have one caller per stream.
 */
#ifndef PTX_ARENA_BACKING_H
#define PTX_ARENA_BACKING_H

#include "arena/arena.h"

/*
 * Makes zeroed memory for the region of the stream whose place has the number `bit`, in a new file
 * at `path`. EEXIST, EFBIG, ENOSPC and other errors of open() and posix_fallocate(); ENOMEM.
 * EAGAIN: a thread has been extending the previous file of this place for more than a tenth of a
 * second.
 */
int ptx_backing_create(unsigned bit, const char *path, const struct ptx_geometry *geometry,
		       void **memory);

/* Undoes ptx_backing_create() before an event is recorded, and removes the file. */
void ptx_backing_withdraw(unsigned bit, const char *path);

/*
 * Stores the facts of the stream in the file. From now on the stream can be recovered from the
 * file.
 */
void ptx_backing_publish(unsigned bit, const struct ptx_arena *arena,
			 const struct ptx_attachment *attachment);

/* Ends the use of the file; the file remains. The caller unmaps the region. */
void ptx_backing_end(unsigned bit);

/*
 * Makes the bytes at `memory` present, by allocating space in the file. Returns false if there is
 * no space. Writers call this function as the member `back` of struct ptx_rings.
 */
bool ptx_backing_extend(void *memory, size_t bytes);

/*
 * Returns true if this process has ever made a backing file. A thread may call the function after
 * it has found a name or a schema in the lists. If the result is then false, each thread that makes
 * a backing file from then on copies this name or schema into the file.
 */
bool ptx_backing_has_any(void);

/* Copies new names and schemas of this process's arena into all backing files of the process. */
void ptx_backing_copy_lists(void);

/* Called in a child: closes its copies of the parent's files. */
void ptx_backing_child(void);

#endif
