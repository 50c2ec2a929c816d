/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flames.h - the events of a picture that have a call stack, and the stacks as names of functions.
 *
 * Memory is bounded. The caller sets the greatest number of events that are kept. Further events
 * are only counted. Each name is kept once. Each stack, identified by its number and its process,
 * is kept once, too.
 */
#ifndef POSIXTRACE_PICTURE_FLAMES_H
#define POSIXTRACE_PICTURE_FLAMES_H

#include "base/nameset.h"
#include "log/stacks.h"

/* A sample, or a call with a stack. */
struct flame {
	int64_t time_ns;
	uint64_t took_ns;          /* duration of a call; 0: unknown */
	uint16_t row, type;
	uint32_t stack;            /* index of the stack in struct flames */
};

struct flames {
	struct nameset functions;
	struct flame_stack {
		const struct logfile *log;
		pid_t pid;
		uint32_t number, count;
		size_t first;      /* index of its first frame in "frame" */
	} *stack;
	size_t stack_count;
	struct table of_stack;
	uint32_t *frame;           /* indexes of names, the innermost first */
	size_t frames;
	struct flame *flame;
	size_t count, limit;
	uint64_t left_out;
};

/* Keeps an event and its stack. Returns 0 or ENOMEM. */
int flames_event(struct flames *flames, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct stacks_found *found,
		 const struct flame *flame);
void flames_fini(struct flames *flames);

#endif
