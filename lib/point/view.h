/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/view.h - one stream as this process's trace points see it.
 *
 * A view does not change while it is attached. It is attached by a bit of
 * ptx_own_control.attached and a pointer in ptx_private.view. A trace point claims its level
 * before it loads the pointer, so that a thread that detaches the stream can determine when the
 * view is no longer used.
 *
 * Threads   all functions may run concurrently for different streams.
 * Signals   ptx_view_find(), _seek(), _for(), _map_far() and _check_creator() are
 *           async-signal-safe.
 */
#ifndef PTX_POINT_VIEW_H
#define PTX_POINT_VIEW_H

#include "arena/arena.h"
#include "meet/find.h"
#include "record/attr.h"
#include "ring/ring.h"

struct ptx_thread;

/*
 * The owner is this process. If trace points could find the view, its memory is freed when no
 * thread is inside a trace point: by ptx_view_destroy(), or later by ptx_views_sweep().
 */
struct ptx_view {
	struct ptx_arena *arena;
	uint64_t generation; /* of the attachment */
	uint64_t serial; /* never 0, never used twice in a process */
	struct ptx_rings rings;
	uint64_t offset; /* of the region in the arena; 0: not in the arena's file */
	uint64_t device, inode; /* the arena's file, because a child may have another arena */
	unsigned bit;
	bool backed;    /* its memory is in a backing file */
	bool adopted;   /* of another process's stream: mapped by a trace point of this process */
	bool is_parents; /* adopted with the mapping that a fork copied */
	/* the next view in the stack of retired views */
	struct ptx_view *retired;
};

/*
 * Maps memory for a stream in `arena`. Trace points find the stream only after ptx_view_attach().
 * `backing` is the path of the file that holds the memory (arena/backing.h), only for streams of
 * this process; or NULL. Returns 0, ENOMEM, EAGAIN if the arena has PTX_STREAMS streams already, or
 * an error of the backing file.
 */
int ptx_view_create(struct ptx_arena *arena, const struct ptx_geometry *geometry,
		    size_t max_data_size, bool loop, const char *backing,
		    struct ptx_view **view);

/*
 * Implements struct ptx_rings.map_far for the rings of a view. Returns false if there is no memory,
 * or if the process is quiet.
 */
bool ptx_view_map_far(struct ptx_rings *rings);

/* Destroys a view whose stream could not be created, and deletes the backing file. */
void ptx_view_withdraw(struct ptx_view *view, const char *backing);

/* Publishes the stream: from now on trace points of the arena's process find it. */
void ptx_view_attach(struct ptx_view *view, const struct ptx_target *target,
		     const struct ptx_attr *attr, bool has_log);

/*
 * Detaches the stream: trace points no longer find it. Its memory is given back immediately, and
 * its addresses when no thread can use them any more.
 */
void ptx_view_destroy(struct ptx_view *view);

/*
 * Returns the view of the stream that is attached at the place `bit`, for a trace point that has
 * claimed a level. Maps the region if another process attached the stream. Returns NULL if there is
 * no such stream, or if it does not trace this process.
 */
struct ptx_view *ptx_view_find(unsigned bit);

/*
 * Does the same as ptx_view_find(). *is_missing must be false before the call. The function sets it
 * if the stream traces this process and its region cannot be mapped, or if it is unknown whether
 * the stream traces this process.
 */
struct ptx_view *ptx_view_seek(unsigned bit, bool *is_missing);

/*
 * Does the same as ptx_view_find(), for an event of that type. If ptx_view_seek() sets *is_missing,
 * the event is counted as lost.
 */
struct ptx_view *ptx_view_for(unsigned bit, unsigned type);

/* Detaches an adopted view's stream if its creator is dead. */
void ptx_view_check_creator(struct ptx_view *view);

/*
 * Frees views that are no longer attached, if no thread but the caller can be using them. `self`
 * is the calling thread, which is in a trace point at level 0, or NULL.
 */
void ptx_views_sweep(const struct ptx_thread *self);

/*
 * Called before and after fork(): ptx_view_before_fork() notes whether the child may use its
 * parent's mappings, and ptx_view_after_fork() removes this note.
 */
void ptx_view_before_fork(void);
void ptx_view_after_fork(void);

/*
 * Called in a forked child. Keeps the parent's mappings if no frame can write to them. If the fork
 * interrupted a trace point, replaces them by memory of the child's own, because that trace point
 * may still write to them.
 */
void ptx_view_child(void);

#endif
