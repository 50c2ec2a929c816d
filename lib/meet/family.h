/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/family.h - one arena for a traced process and those who inherit its streams.
 *
 * A child of a process that is traced into an INHERITED stream keeps its parent's arena: the same
 * names, the same control page, so that the controller reaches all of them at once. Which of the
 * attachments are its own it knows by their generations; what a program that is executed next must
 * know stands in the arena's table of members. While there is something to inherit the arena's
 * descriptor stays open when programs are executed: so also the program behind a shell finds it.
 *
 * Signals   all are async-signal-safe.
 */
#ifndef PTX_MEET_FAMILY_H
#define PTX_MEET_FAMILY_H

#include "arena/arena.h"
#include "base/life.h"

/*
 * Whether what is attached there traces this process, though another created it. Unknown: its id is
 * the target's, and whether it is the same process cannot be found out.
 */
enum ptx_same ptx_family_is_ours(unsigned bit, uint64_t generation);

/* When the program starts: asks which process this is, while the system still answers. */
void ptx_family_know_self(void);

/* In a child that is to be set up: true if it keeps its parent's arena. */
bool ptx_family_keep(struct ptx_arena *arena, uint32_t pid);

/* An inherited descriptor of an arena in which this new program is traced; -1. */
int ptx_family_find(void);

/* Whether this new program is traced in that arena, which is not of its own process. */
bool ptx_family_join(struct ptx_control *control);

/*
 * The streams of which this new program's process is the target learn that it runs since now;
 * whether there are any.
 */
bool ptx_family_tell_executed(struct ptx_control *control);

/*
 * Since when this process, which is traced, runs its program, CLOCK_REALTIME; 0: before it was
 * traced.
 */
int64_t ptx_family_since(void);

/* This process has set up its arena. */
void ptx_family_begin(void);

/* Lets programs that are executed find the arena if they may have to. */
void ptx_family_settle(void);

/* A process of the family has ended and was waited for. False where that cannot be told. */
bool ptx_family_is_dead(uint32_t pid);

/* The process is a member. */
bool ptx_family_has(struct ptx_control *control, uint32_t pid);

#endif
