/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/link_owner.h - the links (rendezvous.h) that this process has made for its targets, with the
 * number of streams that need them.
 *
 * Threads   all.
 */
#ifndef PTX_MEET_LINK_OWNER_H
#define PTX_MEET_LINK_OWNER_H

#include "arena/arena.h"
#include "meet/rendezvous.h"

struct ptx_link_owner;

/*
 * Makes the links to `arena` that a new stream of the target needs, and counts the stream. If
 * `inherited` is true, children of the target inherit the stream. Returns NULL if there is no
 * memory. ptx_link_owner_remove() is called when the stream has ended.
 */
struct ptx_link_owner *ptx_link_owner_add(const struct ptx_arena *arena,
					  const struct ptx_rendezvous_target *target,
					  bool inherited);
void ptx_link_owner_remove(struct ptx_link_owner *link_owner, bool inherited);

/* Called in a child, which has one thread: forgets the links of the parent. */
void ptx_link_owner_after_fork(void);

#endif
