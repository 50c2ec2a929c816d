/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/view_private.h - functions of view.c that adopt.c uses, too.
 *
 * Threads   all functions may run concurrently. Signals: async-signal-safe.
 */
#ifndef PTX_POINT_VIEW_PRIVATE_H
#define PTX_POINT_VIEW_PRIVATE_H

#include "point/view.h"

/*
 * Returns zeroed memory for an adopted view, or NULL. ptx_view_give() frees the memory of such a
 * view.
 */
struct ptx_view *ptx_view_take(void);
void ptx_view_give(struct ptx_view *view);

/* Returns a number for a view that was never used before in this process. */
uint64_t ptx_view_serial(void);

/* Notes the view for children of this process, which keep or replace its mapping. */
void ptx_view_note(struct ptx_view *view);

/* In a child: returns the parent's mapping of that stream, with a new serial; or NULL. */
struct ptx_view *ptx_view_of_parent(unsigned bit, uint64_t generation);

/* Retires a view that trace points no longer find; it is freed when no thread uses it. */
void ptx_view_discard(struct ptx_view *view);

#endif
