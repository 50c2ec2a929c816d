/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * changes.h - the changes of file descriptors, and the state of a descriptor at each time.
 *
 * The caller adds the changes in any order of time, then calls changes_sort() once, and then looks
 * up states.
 */
#ifndef POSIXTRACE_LOG_CHANGES_H
#define POSIXTRACE_LOG_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

#define NAME_BYTES 1024 /* a longer name loses its end */

/* Values of fd that no descriptor can have. They mark changes of the process itself. */
enum { FORKED = -2, EXECUTED = -3 };

enum effect {
	IS_UNKNOWN, /* the state is unknown, because the log lacks the close of the descriptor */
	IS_NAMED,   /* the name of the descriptor is known */
	/*
	 * the recorder found the descriptor with this name. It looked in the last 'from'
	 * microseconds before the time of the change, so other changes in these microseconds have
	 * precedence.
	 */
	FOUND,
	/*
	 * the descriptor is new; 'name' is a path or the kind of the object. 'from' is the
	 * descriptor of the folder in which a relative path begins, or -1.
	 */
	CREATES,
	COPIES,     /* the descriptor is a copy of 'from' */
	KEEPS,      /* the descriptor keeps its name; only closes_at_exec changes */
	EXTENDS,    /* 'name' is added to the name of the descriptor */
	/* the descriptor is new; its name is the name of the socket 'from', with 'name' added */
	ACCEPTS,
	CLOSES,
	/* the process 'from' made this process; the time is the begin of the call of fork() */
	FORKS,
	/* the process 'from' made this process; this fact comes from an event of this process */
	BEGINS,
	STARTS,     /* this process starts a program */
	ENDS,       /* this process ends; its number may be used again */
};

struct change {
	int64_t time_ns;
	int32_t pid, fd, from;
	uint32_t order;   /* the number of changes that were added before this one */
	uint32_t name;    /* offset of the name in text; 0: none */
	uint8_t effect;
	/*
	 * the call made the descriptor. So its number was free before, and if the number still has
	 * a name, the log lacks a close.
	 */
	bool creates;
	bool closes_at_exec;
};

/* The caller sets incomplete_ns to INT64_MAX and all other members to zero. */
struct changes {
	struct change *change;
	size_t count;
	int64_t *gap_ns;       /* events were lost or not recorded at these times */
	size_t gaps;
	/* changes from this time on may be missing, because the memory is limited */
	int64_t incomplete_ns;
	char *text;            /* the names; each is stored once */
	size_t text_bytes;
	struct table names;    /* finds the offset of a name in text */
};

/* Adds a change; the function sets order. */
void changes_add(struct changes *c, struct change change);

/*
 * Stores a name, unless it is stored already, and returns its offset. Returns 0 if the name is
 * empty, if memory is lacking, or if the names are too long together. In the last two cases, sets
 * incomplete_ns to time_ns if incomplete_ns is later.
 */
uint32_t changes_name(struct changes *c, const char *name, int64_t time_ns);

/* Notes a gap at this time. After the gap, a state from before the gap is unknown. */
void changes_gap(struct changes *c, int64_t time_ns);

/* Sorts the changes and finds all names. */
void changes_sort(struct changes *c);

/*
 * The key is a descriptor (pid, fd) and a moment (time_ns, order). Returns the last change of this
 * descriptor before this moment. It may be a change by a parent from which the process got the
 * descriptor. Returns NULL if the state of the descriptor is unknown.
 */
const struct change *changes_state(const struct changes *c, struct change key);

/* Returns the number of changes of the descriptor at the key's time, at most 2. */
unsigned changes_at(const struct changes *c, struct change key);

/* Frees the names and the changes. */
void changes_fini(struct changes *c);

#endif
