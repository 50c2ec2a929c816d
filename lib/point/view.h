/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/view.h - one stream as this process's trace points see it.
 *
 * A view does not change while it is attached. It is attached by a bit of ptx_own_control.attached and
 * a pointer in ptx_private.view; a trace point marks itself busy before it reads the pointer, so
 * that who detaches can tell when nobody uses the view any more.
 */
#ifndef PTX_POINT_VIEW_H
#define PTX_POINT_VIEW_H

#include "arena/arena.h"
#include "ring/ring.h"

struct ptx_view {
	uint64_t serial; /* never 0, never used twice in a process */
	struct ptx_rings rings;
	uint64_t offset; /* of the region in the arena */
	unsigned bit;
	struct ptx_view *retired;
};

/* Maps memory for a stream of this process: ENOMEM, or EAGAIN when PTX_STREAMS are attached. */
int ptx_view_create(const struct ptx_geometry *geometry, size_t max_data_size, bool loop,
		    struct ptx_view **view);

/* From now on trace points find it. */
void ptx_view_attach(struct ptx_view *view);

/* From now on they do not; its memory is given back, its addresses once nobody can use them. */
void ptx_view_destroy(struct ptx_view *view);

/* In a forked child: the parent's regions are replaced by memory of the child's own, since a frame
 * of a trace point that the fork interrupted may still write to them. */
void ptx_view_child(void);

#endif
