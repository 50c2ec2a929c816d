/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/rendezvous.h - how a program image finds the arena in which its process is traced already.
 *
 * Whoever traces another process leaves a symbolic link in a folder of the user's: its name is the
 * process (id and the time it began), its text leads to the arena's file. An image that starts, or a
 * child that sets itself up, tries that one name. So a process can be traced before it has this
 * library, and goes on being traced when it executes another program.
 *
 * Where there is no folder, in a container or on a full disk, everything else works.
 *
 * Signals   ptx_rendezvous_open() is async-signal-safe.
 */
#ifndef PTX_ARENA_RENDEZVOUS_H
#define PTX_ARENA_RENDEZVOUS_H

#include "arena/arena.h"

/* A descriptor of the file that was left for this process, or -1. */
int ptx_rendezvous_open(void);

/* Where what was left for a process leads to, for who traces it too: a path, or false. */
bool ptx_rendezvous_path(uint32_t uid, uint32_t pid, uint64_t start, char path[100]);

/* Leaves fd of this process for process pid of user uid; takes it away again. */
void ptx_rendezvous_leave(uint32_t uid, uint32_t pid, uint64_t start, int fd);
void ptx_rendezvous_remove(uint32_t uid, uint32_t pid, uint64_t start);

#endif
