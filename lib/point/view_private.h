/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/view_private.h - what view.c and adopt.c share.
 */
#ifndef PTX_POINT_VIEW_PRIVATE_H
#define PTX_POINT_VIEW_PRIVATE_H

#include "point/view.h"

/* A number for a view, never used before in this process. */
uint64_t ptx_view_serial(void);

/* A child of this process will have to put other memory over it. */
void ptx_view_note(struct ptx_view *view);

/* In a child: the parent's mapping of that stream, with a serial of its own; NULL. */
struct ptx_view *ptx_view_of_parent(unsigned bit, uint64_t generation);

/* No trace point finds it any more; it is freed when none uses it. */
void ptx_view_discard(struct ptx_view *view);

#endif
