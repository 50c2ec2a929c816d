/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/arena/places.h - this process's arena, and other processes that share it.
 */
#ifndef PTX_TESTS_UNIT_ARENA_PLACES_H
#define PTX_TESTS_UNIT_ARENA_PLACES_H

#include <errno.h>
#include <sys/types.h>

#include "arena/attachment.h"
#include "support/support.h"

#define ARENA (&ptx_arena_self)

/* For tcase_add_checked_fixture(). */
void places_begin(void);
void places_end(void);

/*
 * Makes another process that has the same arena, as a controller does. The process obeys commands,
 * then ends.
 */
pid_t other_process(void (*life)(void));

/* Both processes report to each other that they have reached a point. */
extern int to_child[2], to_parent[2];
void tell(int *pipe_of);
void hear(int *pipe_of);

/* Attaches a stream without a region and returns its place. */
unsigned attach_one(void);
void attach(void);

/*
 * streams() returns the number of streams that trace points find. The other function returns the
 * state of a place.
 */
unsigned streams(void);
enum ptx_attachment_state state_of(unsigned bit);

#endif
