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

/* Values of fd that no descriptor has. They mark changes of the process itself. */
enum { FORKED = -2, EXECUTED = -3 };

enum effect {
	IS_UNKNOWN, /* the state is unknown, because the close of the descriptor was not seen */
	IS_NAMED,   /* the name of the descriptor is known */
	CREATES,    /* name is a path; from is the descriptor of its folder, or -1 */
	COPIES,     /* the descriptor is a copy of from */
	KEEPS,      /* fcntl() changes closes_at_exec only */
	EXTENDS,    /* name is added to the name of the descriptor */
	ACCEPTS,    /* name is added to the name of the socket from */
	CLOSES,
	FORKS,      /* the process from made this process; the time is that of its call of fork() */
	BEGINS,     /* the same, according to an event of the child */
	STARTS,     /* a program begins */
};

struct change {
	int64_t time_ns;
	int32_t pid, fd, from;
	uint32_t order;   /* position of the event in the log */
	uint32_t name;    /* offset of the name in text; 0: none */
	uint8_t effect;
	/* the call made the descriptor: it was closed before, or the log lacks its close */
	bool creates;
	bool closes_at_exec;
};

/* The caller sets incomplete_ns to INT64_MAX and all other members to zero. */
struct changes {
	struct change *change;
	size_t count;
	int64_t *gap_ns;       /* events were lost or not recorded at these times */
	size_t gaps;
	/* changes after this time may be missing, because the memory is bounded */
	int64_t incomplete_ns;
	char *text;            /* each name once */
	size_t text_bytes;
	struct table names;    /* finds the offset of a name */
};

/* Adds a change; the function sets order. */
void changes_add(struct changes *c, struct change change);

/*
 * Stores a name, unless it is stored already, and returns its offset. Returns 0 for an empty name
 * and without memory.
 */
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
