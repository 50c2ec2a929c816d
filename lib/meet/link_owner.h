/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/link_owner.h - the links of rendezvous.h that this process has left for its targets, counted
 * by the streams that need them.
 *
 * Threads   all.
 */
#ifndef PTX_MEET_LINK_OWNER_H
#define PTX_MEET_LINK_OWNER_H

#include "arena/arena.h"
#include "meet/rendezvous.h"

struct ptx_link_owner;

/*
 * Leaves links to `arena` for a stream in this arena that traces the target. Returns NULL without
 * memory.
 */
struct ptx_link_owner *ptx_link_owner_add(const struct ptx_arena *arena,
					  const struct ptx_rendezvous_target *target,
					  bool inherited);
void ptx_link_owner_remove(struct ptx_link_owner *link_owner, bool inherited);

/* Called in a child, which has one thread: forgets its parent's links. */
void ptx_link_owner_after_fork(void);

#endif
