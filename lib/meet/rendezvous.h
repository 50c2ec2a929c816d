/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/rendezvous.h - how a program image finds the arena in which its process is traced already.
 *
 * Whoever traces another process leaves a symbolic link in a folder of the user's: its name is the
 * process (id and the time it began) and the controller, its text leads to the arena's file. An
 * image that starts, or a child that sets itself up, follows those that bear its name. So a process
 * can be traced before it has this library, and goes on being traced when it executes another
 * program. Of a stream that is inherited there is a link in a second folder, for programs whose
 * ancestor it traces.
 *
 * Each controller has its own link, so that any of them may go. Where there is no folder,
 * everything else works.
 *
 * Signals   ptx_rendezvous_begin(), _next() and _end() are async-signal-safe.
 */
#ifndef PTX_MEET_RENDEZVOUS_H
#define PTX_MEET_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#define PTX_RENDEZVOUS_NAME 64
#define PTX_RENDEZVOUS_PATH 64

/* A walk through links. */
struct ptx_rendezvous {
	int folder;      /* -1: none */
	uint32_t parent; /* of the process whose links are looked for: its number in /proc */
	unsigned ancestors;
	char prefix[PTX_RENDEZVOUS_NAME];
	uint32_t at, end; /* in entries, as the kernel gave them */
	_Alignas(8) unsigned char entries[1024];
};

/* What was left for this process and, with ancestors, for those whose streams it may inherit. */
void ptx_rendezvous_begin(struct ptx_rendezvous *walk, bool ancestors);

/* A descriptor of the next file, -1 at the end. */
int ptx_rendezvous_next(struct ptx_rendezvous *walk);
void ptx_rendezvous_end(struct ptx_rendezvous *walk);

/* A process of user uid for which something is left. */
struct ptx_rendezvous_target {
	uint32_t uid, pid; /* the id by which it knows itself */
	uint64_t start;    /* as in struct ptx_identity */
};

/* What was left for it by whoever traces it: paths, or false at the end. */
void ptx_rendezvous_begin_for(struct ptx_rendezvous *walk,
			      const struct ptx_rendezvous_target *target);
bool ptx_rendezvous_next_path(struct ptx_rendezvous *walk, char path[PTX_RENDEZVOUS_PATH]);

/* Leaves fd of this process for it; or, inherited, for its descendants. */
void ptx_rendezvous_leave(const struct ptx_rendezvous_target *target, int fd, bool inherited);

/* Of several who leave different files at once for a process this is true for one. */
bool ptx_rendezvous_leave_first(const struct ptx_rendezvous_target *target, int fd);

/* Takes away what this process left. */
void ptx_rendezvous_remove(const struct ptx_rendezvous_target *target, bool inherited);

#endif
