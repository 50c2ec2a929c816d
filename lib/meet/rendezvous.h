/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/rendezvous.h - how a program that starts finds the arena in which its process is traced
 * already.
 *
 * A controller that traces another process creates a symbolic link in a folder of the user. The
 * name of the link contains the process (its id and start time) and the controller. The link leads
 * to the file of the arena. A program that starts, or a child that sets itself up, follows the
 * links that contain its own id and start time. So a process can be traced before it loads this
 * library, and is still traced when it executes another program. For an inherited stream there is a
 * link in a second folder, for programs whose ancestor the stream traces.
 *
 * Each controller has its own link, so that each can remove its own link and no other. Without a
 * folder, everything else works.
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
	uint32_t parent; /* number in /proc of the parent of the process whose links are searched */
	unsigned ancestors;
	char prefix[PTX_RENDEZVOUS_NAME]; /* of the names of the links that are searched */
	bool has_start;  /* the prefix is complete; else it has the process id only */
	bool is_inherited; /* `folder` has the links for inherited streams */
	bool is_whole;   /* `entries` has all entries of that folder */
	/* The link is for another process, which need not be an ancestor of this process. */
	bool is_others;
	uint32_t at, end; /* positions in `entries`, which the kernel has filled */
	_Alignas(8) unsigned char entries[1024];
};

/*
 * Begins a walk through the links for this process and then, if `ancestors` is true, through the
 * links for the streams that it may inherit: first the links for its ancestors, then the links for
 * all processes. The ancestors of a daemon may have ended before it executes a program.
 */
void ptx_rendezvous_begin(struct ptx_rendezvous *walk, bool ancestors);

/* Returns a descriptor of the next file, -1 at the end. */
int ptx_rendezvous_next(struct ptx_rendezvous *walk);
void ptx_rendezvous_end(struct ptx_rendezvous *walk);

/* A process of the user uid for which there are links. */
struct ptx_rendezvous_target {
	uint32_t uid, pid; /* its id in its own namespace */
	uint64_t start;    /* as in struct ptx_identity */
};

/*
 * ptx_rendezvous_begin_for() and ptx_rendezvous_next_path() walk through the links of all
 * controllers for a process. ptx_rendezvous_next_path() stores the path of the next link, or
 * returns false at the end.
 */
void ptx_rendezvous_begin_for(struct ptx_rendezvous *walk,
			      const struct ptx_rendezvous_target *target);
bool ptx_rendezvous_next_path(struct ptx_rendezvous *walk, char path[PTX_RENDEZVOUS_PATH]);

/*
 * Creates a link to fd of this process for the target or, if `inherited` is true, for its
 * descendants.
 */
void ptx_rendezvous_link(const struct ptx_rendezvous_target *target, int fd, bool inherited);

/*
 * Does the same under a name that all controllers share. If several controllers leave different
 * files, only one call returns true.
 */
bool ptx_rendezvous_link_first(const struct ptx_rendezvous_target *target, int fd);

/* Removes the links that this process has left for the target, under either name. */
void ptx_rendezvous_remove(const struct ptx_rendezvous_target *target, bool inherited);

#endif
