/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* why.h - the answers of the command why, and their output. */
#ifndef POSIXTRACE_WHY_WHY_H
#define POSIXTRACE_WHY_WHY_H

#include "base/json.h"
#include "base/out.h"
#include "base/when.h"
#include "spans/lost.h"
#include "why/answers.h"
#include "why/divide.h"
#include "why/failures.h"
#include "why/turns.h"

struct window { /* a time of a thread that is to be explained */
	enum window_kind {
		WINDOW_THREAD, WINDOW_SPAN, WINDOW_TURN, WINDOW_BUSY, WINDOW_UPSTREAM,
		WINDOW_SERVED
	} kind;
	/* the name of the span, not owned; NULL: the window is a time of the thread */
	const char *name;
	uint64_t ready, parts; /* of WINDOW_TURN and WINDOW_BUSY: see struct turn */
	uint32_t thread;
	uint32_t text;         /* of WINDOW_UPSTREAM: 'text', 'end' and 'error' have the same
			        * meaning as in struct answer; of WINDOW_SERVED: the address of the
			        * client, as an index + 1 */
	enum answer_end end;
	int32_t error;
	int32_t fd;            /* of these two kinds: the descriptor of the connection */
	int64_t from_ns, to_ns;
};

/*
 * Returns the length of a window, or 0 if it ends before it begins. A hostile log may have any
 * times, so the difference may be greater than an int64_t.
 */
static inline uint64_t window_ns(const struct window *window)
{
	return window->to_ns > window->from_ns ?
	       (uint64_t)window->to_ns - (uint64_t)window->from_ns : 0;
}

/* A cause: the sum of all nodes that have the same label and end a chain of causes. */
struct why_cause {
	enum why_kind kind;
	const char *label;      /* belongs to the division */
	uint32_t thread;
	uint64_t ns, count;
	uint64_t place_ns;      /* own time of the node that contributes most; 'node' is its
				 * index */
	uint32_t node;
	bool is_mixed;          /* nodes of several threads contribute */
};

struct why_causes {
	struct why_cause *cause; /* the greatest first */
	size_t count;
};

struct why {
	struct logfile log;
	struct history history;
	struct failures failures;
	struct window *window;
	size_t windows;
	/* overwritten: those of the lost events that newer events overwrote */
	uint64_t lost, overwritten;
	uint64_t untraced; /* calls that the shim could not trace; `lost` does not have them */
	enum when_form form;
	bool json;
	bool is_live; /* why has recorded the log, with all holders of locks */
	bool is_part; /* the question is about a part of the log, and not about the program's end */
};

/* Collects the causes of a division. Returns false if memory is lacking; the caller frees cause. */
bool why_causes(struct why_causes *causes, const struct division *division);

/* Returns the part of a node's time of which the node is a cause: no other node has it. */
uint64_t why_own_ns(const struct division *division, uint32_t index);

/*
 * Stores the children of a node that have the most time, at most size of them, the greatest first.
 * Returns the number of stored children.
 */
size_t why_children(const struct division *division, uint32_t node, uint32_t *child, size_t size);

/*
 * Prints one answer: the cause, the chain and the parts of the time. Returns 0 or ENOMEM.
 */
int why_text(struct out *out, const struct why *why, const struct window *window,
	     const struct division *division, const struct why_causes *causes);
/*
 * Stores for how long, all CPUs together, and in how many periods the CPU limit of a cgroup kept
 * the process of a window from running. Returns the path of the cgroup. The recorder looks a few
 * times a second. If only a part of the time between two looks is in the window, the same part of
 * the counts is used, and *is_estimate becomes true.
 */
const char *why_limit(const struct why *why, const struct window *window, uint64_t *ns,
		      uint64_t *periods, bool *is_estimate);
/*
 * Returns the address of the client for whose request the thread worked in most of a window, or "".
 * Stores its descriptor; -1: there is no such client.
 */
const char *why_client(const struct why *why, const struct window *window, int32_t *fd);
/* Prints the deadlocks of the log, and the processes whose threads all wait, if there are any. */
void why_text_deadlocks(struct out *out, const struct why *why);
/*
 * Prints crashes, and why the recorded program failed. If it did not fail, prints why a process
 * failed that went on after its parent, if there is one.
 */
void why_text_failures(struct out *out, struct why *why);
/*
 * Returns the main thread of a child if the process of a thread did little else than wait for this
 * child, its only one, and then ended it by a signal, as timeout(1) does. The question is then what
 * the child did. Otherwise returns the thread.
 */
uint32_t why_ended_child(struct why *why, uint32_t thread);
/*
 * Prints where a process that had too many open descriptors at a time made most of them, as the end
 * of a sentence, or nothing.
 */
void why_text_leak(struct out *out, const struct why *why, pid_t pid, int64_t time_ns);
/* Prints the evidence that all answers share. */
void why_text_end(struct out *out, const struct why *why, bool is_cut);
/* Writes the deadlocks as an array of the open object. */
void why_json_deadlocks(struct json *json, const struct why *why);
/*
 * Writes crashes and failures as two arrays of the open object. If the question is about a part of
 * the log, both are empty.
 */
void why_json_failures(struct json *json, struct why *why);
/* Writes one answer as an object of the open array. Returns 0 or ENOMEM. */
int why_json(struct json *json, const struct why *why, const struct window *window,
	     const struct division *division, const struct why_causes *causes);

/* Writes a time in nanoseconds since 1970, also under the name that it had in older versions. */
static inline void why_json_time(struct json *json, const char *old_name, const char *name,
				 int64_t time_ns)
{
	json_exact(json, old_name, time_ns);
	json_exact(json, name, time_ns);
}

/*
 * Prints which causes take more time in the slowest windows than in the windows around the median.
 * Returns 0 or ENOMEM.
 */
int why_aggregate(struct out *out, struct why *why);

#endif
