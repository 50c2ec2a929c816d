/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/arena/places.h - this process's arena, and other processes that have it, too.
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
 * Another process that has the same arena, as who traces it has; it does as it is told, then ends.
 */
pid_t other_process(void (*life)(void));

/* The two tell each other that they have come somewhere. */
extern int to_child[2], to_parent[2];
void tell(int *pipe_of);
void hear(int *pipe_of);

/* A stream without a region, attached; its place. */
unsigned attach_one(void);
void attach(void);

/* How many streams trace points see; what a place is. */
unsigned streams(void);
enum ptx_attachment_state state_of(unsigned bit);

#endif
