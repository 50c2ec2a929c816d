/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/view.h - one stream as this process's trace points see it.
 *
 * A view does not change while it is attached. It is attached by a bit of ptx_own_control.attached
 * and a pointer in ptx_private.view; a trace point marks itself busy before it reads the pointer,
 * so that who detaches can tell when nobody uses the view any more.
 */
#ifndef PTX_POINT_VIEW_H
#define PTX_POINT_VIEW_H

#include "arena/arena.h"
#include "meet/find.h"
#include "record/attr.h"
#include "ring/ring.h"

struct ptx_thread;

struct ptx_view {
	struct ptx_arena *arena;
	uint64_t generation; /* of the attachment */
	uint64_t serial; /* never 0, never used twice in a process */
	struct ptx_rings rings;
	uint64_t offset; /* of the region in the arena */
	unsigned bit;
	bool backed;    /* its memory is in a file of its own */
	bool adopted;   /* from another process: a mapping of its own, made by a trace point */
	bool is_parents; /* adopted with the mapping that a fork copied */
	struct ptx_view *retired;
};

/*
 * Maps memory for a stream in arena: ENOMEM, or EAGAIN when PTX_STREAMS are attached there. With
 * backing it is in that file (arena/backing.h), for streams of this process alone.
 */
int ptx_view_create(struct ptx_arena *arena, const struct ptx_geometry *geometry,
		    size_t max_data_size, bool loop, const char *backing,
		    struct ptx_view **view);

/* struct ptx_rings.map_far, of the rings of a view. */
bool ptx_view_map_far(struct ptx_rings *rings);

/* Undoes a creation: a backing file goes, too. */
void ptx_view_withdraw(struct ptx_view *view, const char *backing);

/* From now on trace points find it, those of the arena's process. */
void ptx_view_attach(struct ptx_view *view, const struct ptx_target *target,
		     const struct ptx_attr *attr, bool has_log);

/* From now on they do not; its memory is given back, its addresses once nobody can use them. */
void ptx_view_destroy(struct ptx_view *view);

/*
 * The view of the stream that is attached at bit, for a trace point of thread at level 0 or above:
 * mapped now if another process attached it. NULL: none, or not for this process.
 * Async-signal-safe.
 */
struct ptx_view *ptx_view_find(unsigned bit);

/*
 * The same; *is_missing, false before: the stream is for this process, and there is no view of it.
 */
struct ptx_view *ptx_view_seek(unsigned bit, bool *is_missing);

/*
 * The same for an event of that type. One that is lost since the region cannot be mapped is
 * counted.
 */
struct ptx_view *ptx_view_for(unsigned bit, unsigned type);

/* Looks whether the creator of an adopted view's stream still lives, and detaches it if not. */
void ptx_view_check_creator(struct ptx_view *view);

/* Frees views that are no longer attached if no thread but this one, which is in a trace point at
 * level 0, can be using them. */
void ptx_views_sweep(const struct ptx_thread *self);

/* Around fork(): whether the child can go on with its parent's mappings. */
void ptx_view_before_fork(void);
void ptx_view_after_fork(void);

/*
 * In a forked child: unless it can, the parent's regions are replaced by memory of the child's own,
 * since a frame of a trace point that the fork interrupted may still write to them.
 */
void ptx_view_child(void);

#endif
