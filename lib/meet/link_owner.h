/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/link_owner.h - what this process has left for those whom it traces: the links of
 * rendezvous.h, counted by the streams that need them.
 *
 * Threads   all.
 */
#ifndef PTX_MEET_LINK_OWNER_H
#define PTX_MEET_LINK_OWNER_H

#include "arena/arena.h"
#include "meet/rendezvous.h"

struct ptx_link_owner;

/* For a stream of arena that traces the target; NULL without memory. */
struct ptx_link_owner *ptx_link_owner_leave(const struct ptx_arena *arena,
					    const struct ptx_rendezvous_target *target,
					    bool inherited);
void ptx_link_owner_take_back(struct ptx_link_owner *link_owner, bool inherited);

/* In a child, with one thread: they are its parent's. */
void ptx_link_owner_after_fork(void);

#endif
