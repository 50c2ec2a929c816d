/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/rendezvous.h - the links by which a program that starts finds the arena in which its process
 * is traced already.
 *
 * A controller that traces another process (the target) makes a symbolic link in the folder
 * "traced" of the target's user (folder.h). The name of the link has the id, the start time and the
 * pid namespace of the target, and the number of the controller in /proc with the pid namespace to
 * which this number belongs. The link leads to the file of the arena. A program that starts, or a
 * child that is set up, follows the links with its own process id, start time and namespace. So a
 * process can be traced before it loads this library, and is still traced when it executes another
 * program. If a stream is inherited, the controller makes the same link in a second folder,
 * "inherited". Descendants of the target search in this folder.
 *
 * Each controller has a link of its own, and removes it. If the controller was killed, the link
 * remains until another controller is certain of that (DESIGN 2) and removes the link. If there is
 * no folder, a stream works without links.
 *
 * Threads   any. A search (struct ptx_rendezvous) has one caller at a time. Two processes may make
 *           or remove links at the same time.
 * Signals   ptx_rendezvous_begin(), _next() and _end() are async-signal-safe.
 */
#ifndef PTX_MEET_RENDEZVOUS_H
#define PTX_MEET_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#define PTX_RENDEZVOUS_NAME 80
#define PTX_RENDEZVOUS_PATH 64

/* The state of a search for links. */
struct ptx_rendezvous {
	int folder;      /* -1: none */
	uint32_t parent; /* number in /proc of the next ancestor whose links are searched */
	unsigned ancestors;
	uint32_t number; /* number in /proc of the process whose links are searched */
	uint32_t space;  /* inode of the pid namespace of that process; 0: not known */
	bool has_space;  /* false: `space` was not read yet */
	/* SPACE in the name of the last link; 0: not known, or a name of an older version */
	uint32_t link_space;
	/* the beginning of the names of the links that are searched */
	char prefix[PTX_RENDEZVOUS_NAME];
	bool has_start;  /* the prefix has the start time; else it has only the process id */
	bool is_inherited; /* `folder` has the links for inherited streams */
	bool is_whole;   /* `entries` has all entries of the folder */
	/*
	 * The search has reached the links for all processes, which need not be ancestors of this
	 * process.
	 */
	bool is_others;
	uint32_t at, end; /* positions in `entries`, which the kernel has filled */
	_Alignas(8) unsigned char entries[1024];
};

/*
 * Begins a search for the links for this process. If `ancestors` is true, the search continues with
 * the links for the streams that this process may have inherited: first the links for its
 * ancestors, then the links for all processes. The latter are needed because the ancestors of a
 * daemon may have ended before the daemon executes a program.
 */
void ptx_rendezvous_begin(struct ptx_rendezvous *walk, bool ancestors);

/* Returns a descriptor of the file to which the next link leads, or -1 at the end. */
int ptx_rendezvous_next(struct ptx_rendezvous *walk);
void ptx_rendezvous_end(struct ptx_rendezvous *walk);

/* A target of links: a process of the user uid. */
struct ptx_rendezvous_target {
	uint32_t uid, pid; /* `pid` is its id in its own pid namespace */
	uint64_t start;    /* as in struct ptx_identity */
	uint32_t space;    /* inode of its pid namespace; 0: not known */
	/*
	 * CONTROLLER and VIEW (DESIGN 2) of the first link that this process has made for the
	 * target; own_number 0: it has made none. All its links for the target have the same two
	 * numbers. So the process finds the links even if it has got another /proc since.
	 */
	uint32_t own_number, own_space;
};

/*
 * Search for the links of all controllers for a target. ptx_rendezvous_next_path() stores the path
 * to which the next link leads, or returns false at the end.
 */
void ptx_rendezvous_begin_for(struct ptx_rendezvous *walk,
			      const struct ptx_rendezvous_target *target);
bool ptx_rendezvous_next_path(struct ptx_rendezvous *walk, char path[PTX_RENDEZVOUS_PATH]);

/*
 * Makes a link to the descriptor fd of this process, for the target or, if `inherited` is true, for
 * the descendants of the target.
 */
void ptx_rendezvous_link(struct ptx_rendezvous_target *target, int fd, bool inherited);

/*
 * Makes a link for the target under a name that all controllers with the same VIEW (DESIGN 2)
 * share. If several of them call this function for different files, it returns true in only one of
 * them. Without a folder it returns true in all of them.
 */
bool ptx_rendezvous_link_first(struct ptx_rendezvous_target *target, int fd);

/* Removes the links that this process has made for the target, under both names. */
void ptx_rendezvous_remove(const struct ptx_rendezvous_target *target, bool inherited);

#endif
