/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changes.h - the changes of file descriptors, and the state of a descriptor at each time.
 *
 * The caller adds the changes in any order of time, then calls changes_sort() once, and then looks
 * them up.
 */
#ifndef POSIXTRACE_LOG_CHANGES_H
#define POSIXTRACE_LOG_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

#define NAME_BYTES 1024 /* longer names are cut */

/* Numbers that no descriptor has: entries about the process itself. */
enum { FORKED = -2, EXECUTED = -3 };

enum effect {
	IS_UNKNOWN, /* of a descriptor whose close was not seen */
	IS_NAMED,   /* the name is found */
	CREATES,    /* name is a path, from the descriptor of its folder or -1 */
	COPIES,     /* from: the source */
	KEEPS,      /* fcntl() changes closes_at_exec only */
	EXTENDS,    /* name is added to that of the descriptor */
	ACCEPTS,    /* name is added to that of the socket from */
	CLOSES,
	FORKS,      /* the parent, in from, made the process; at the time when it called fork() */
	BEGINS,     /* the same, from the child */
	STARTS,     /* a program begins */
};

struct change {
	int64_t time_ns;
	int32_t pid, fd, from;
	uint32_t order;   /* in the log */
	uint32_t name;    /* its place in text; 0: none */
	uint8_t effect;
	bool creates;     /* the descriptor was closed before, or the log lacks its close */
	bool closes_at_exec;
};

/* Zero before, except incomplete_ns, which is INT64_MAX. */
struct changes {
	struct change *change;
	size_t count;
	int64_t *gap_ns;       /* events were lost or not recorded at these times */
	size_t gaps;
	int64_t incomplete_ns; /* from here on changes are missing, because the memory is bounded */
	char *text;            /* each name once */
	size_t text_bytes;
	struct table names;    /* finds the place of a name */
};

/* Adds a change; the function sets order. */
void changes_add(struct changes *c, struct change change);

/* Stores a name, unless it is there, and returns its place; 0 for no name and without memory. */
uint32_t changes_name(struct changes *c, const char *name, int64_t time_ns);

/* Notes a gap at this time: states from before it are unknown after it. */
void changes_gap(struct changes *c, int64_t time_ns);

/* Sorts the changes and finds all names. */
void changes_sort(struct changes *c);

/*
 * Returns the change that made the state of a descriptor before the key's time and order; NULL:
 * unknown. Only pid, fd, time_ns and order of the key are read.
 */
const struct change *changes_state(const struct changes *c, struct change key);

/* Returns the number of changes of the descriptor at the key's time, at most 2. */
unsigned changes_at(const struct changes *c, struct change key);

/* Frees the names and the changes. */
void changes_fini(struct changes *c);

#endif
