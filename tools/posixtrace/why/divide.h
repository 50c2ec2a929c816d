/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * divide.h - divides the time of a thread into parts, as a tree. The children of the root are the
 * activities of the thread. Their times add up to the whole time. Below a part are the threads that
 * caused it. Below each such thread are the parts of its own activities in this time. A node's own
 * time is its time without the times of its children. For the own time, the chain of causes ends at
 * the node.
 */
#ifndef POSIXTRACE_WHY_DIVIDE_H
#define POSIXTRACE_WHY_DIVIDE_H

#include "why/common.h"
#include "why/history.h"
#include "why/pools.h"
#include "why/readers.h"

struct why_node {
	uint32_t parent, child, sibling; /* 0: none; node 0 is the root */
	enum why_kind kind;
	uint64_t key;
	char *label;
	uint32_t thread;        /* index of the thread whose time it is; of WHY_WHO: of the thread
				 * that is the cause */
	uint64_t ns, below_ns;  /* its time, and the total time of its children */
	/*
	 * The number of its periods. A call has several periods if the thread ran, or made another
	 * call, in between. 'calls' is the number of calls, or 0 if the periods belong to no call.
	 */
	uint64_t count, calls, longest_ns, bytes;
	const struct call *last_call;
	int64_t longest_at_ns;  /* the begin of the longest occurrence */
	/* the answers that ended these waits, and the sum of the times since their requests */
	uint64_t answers, answers_ns;
	/* the waits that reached their time limit without an answer, and the last of them */
	uint64_t vain;
	const struct call *last_vain;
	/* the most readers that held a read-write lock when a wait for it began; 0: unknown */
	uint32_t readers;
	uint64_t samples;       /* number of samples in its time; of WHY_FAULT: in run_ns */
	bool is_allocator;      /* of a function: it belongs to the allocator of the C library */
	/* of WHY_FAULT: the time in which the thread ran and had page faults */
	uint64_t run_ns;
	bool is_whole;          /* the common function and all that it calls; it is one cause */
	/*
	 * The chain of causes ends at this node although it has children: its whole time is its
	 * own. The nodes below it have is_evidence and are no causes.
	 */
	bool is_end, is_evidence;
	bool has_more;          /* with is_end: further threads held the lock */
	uint32_t holder;        /* with is_end: index of its first holder + 1; 0: none */
	bool is_guess;          /* the cause was found only by the times of events */
	bool is_interrupt;      /* of WHY_WHO: an interrupt ended the wait */
	/*
	 * Of WHY_WHO: an interrupt ended the wait, or an unrecorded thread ended a known wait. The
	 * log does not show what this thread did before, so the wait itself is the cause.
	 */
	bool is_outside;
	/*
	 * Of WHY_WHO: a call by which the workers of the busy pool take work (pools_idle()). It is
	 * set only if each of these workers has a queue of its own, and otherwise NULL.
	 */
	const struct call *pool;
};

/* Counts a call of a part once, although each of its periods is added. */
static inline void why_count_call(struct why_node *node, const struct call *call)
{
	node->calls += node->last_call != call;
	node->last_call = call;
}

/* The key of the node of the programs that had the CPU and were not recorded. */
#define WHY_OTHERS_KEY (UINT64_C(1) << 34)
/* The key of the node of the times that the log does not divide among such programs. */
#define WHY_MIXED_KEY (UINT64_C(1) << 35)
/* A bit in the key of the node of such a program. The other bits are its name, or its thread. */
#define WHY_NAMED_KEY  (UINT64_C(1) << 32)
#define WHY_THREAD_KEY (UINT64_C(1) << 33)
/* The end of the label of such a program. */
#define WHY_UNRECORDED ", which was not recorded"
/* The beginning of the labels below a node of the kind WHY_READY: a program had the CPU. */
#define WHY_CPU_RAN    "the CPU ran "
/* The beginning of the label of a function that ran. */
#define WHY_RUNNING    "running "

#define WHY_NODES  65536
#define WHY_DEPTH  16
#define WHY_STEPS  UINT64_C(50000000)

struct division {
	struct history *history;
	struct why_node *node;
	size_t nodes;
	struct table of_node;
	struct {
		uint32_t thread;
		int64_t from_ns, to_ns;
	} active[WHY_DEPTH];
	unsigned depth;
	/*
	 * a program that had the CPU at the begin or at the end of times of a node with
	 * WHY_MIXED_KEY: the node, an index in history.waker, and the sum of these times
	 */
	struct why_taker {
		uint32_t node, waker;
		uint64_t ns;
	} *taker;
	size_t takers;
	/*
	 * a thread that held a lock during the waits of a node with is_end: for how long in all,
	 * and how often
	 */
	struct why_holder {
		uint32_t node, thread;
		uint32_t next;  /* index of the node's next holder + 1; 0: none */
		uint64_t ns, count;
	} *holder;
	size_t holders;
	struct table of_holder;
	uint64_t steps;
	/* the last results of readers_find() and pools_find(): a wait may have many pieces */
	struct readers readers;
	const struct call *queued_call;
	struct pools_queued queued;
	bool is_queued;         /* the result of pools_find() */
	struct common common;   /* the common function of the root's samples */
	bool is_cut;            /* a limit was reached: some chains end early */
	int err;
};

/* Divides the time of a thread. The caller calls division_fini(). Returns 0 or ENOMEM. */
int division_make(struct division *division, struct history *history, uint32_t thread,
		  int64_t from_ns, int64_t to_ns);
void division_fini(struct division *division);

static inline uint64_t division_own_ns(const struct why_node *node)
{
	return node->ns > node->below_ns ? node->ns - node->below_ns : 0;
}

/* Returns a constant word for the kind, such as "running" or "lock", for programs. */
const char *division_kind_name(enum why_kind kind);

/* Writes "thread 12 (name)", also with the process of the thread if that is not pid. */
void division_thread_text(const struct history *history, uint32_t thread, pid_t pid, char *text,
			  size_t size);

/* ------------------------------------------------------------------ for causes.c and faults.c */

/* Writes ", until SIGTERM ended the process" or ", until the end of the log". */
void division_until_text(const struct history_thread *thread, char *text, size_t size);
/*
 * Returns whether this time of the thread is already being divided. If it is, the thread waits for
 * itself.
 */
bool division_is_active(const struct division *division, uint32_t thread, int64_t from_ns,
			int64_t to_ns);

/*
 * Returns the child of this kind and key. If there is none, the child is added, *is_new is true,
 * and the caller labels the child. NULL: a limit was reached, or there is no memory.
 */
struct why_node *division_child(struct division *division, uint32_t parent, enum why_kind kind,
				uint64_t key, bool *is_new);
uint32_t division_index(const struct division *division, const struct why_node *node);
void division_add(struct division *division, struct why_node *node, int64_t from_ns,
		  int64_t to_ns);
/*
 * Returns the share of the time ns that belongs to 'some' of 'all' samples. 'some' is at most
 * 'all', and 'all' is not 0. If 'some' grows in steps from 0 to 'all', the differences between the
 * results add up to exactly ns.
 */
uint64_t division_share(uint64_t ns, uint64_t some, uint64_t all);
void division_label(struct division *division, struct why_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Divides the time of a thread below a node, unless this time of the thread is already being
 * divided (a circle of waits) or the tree is too deep.
 */
void division_thread(struct division *division, uint32_t node, uint32_t thread, int64_t from_ns,
		     int64_t to_ns);

/*
 * Writes "FUNCTION (FILE)" of an address, or the module and the offset. The text has no line
 * number, because all lines of a function belong together.
 */
void division_function_text(const struct history *history, pid_t pid, int64_t time_ns,
			    uint64_t address, char *text, size_t size);

/*
 * Adds a time for which a thread held the lock of a node with is_end. After a limit, further
 * threads are not added, and the node's has_more becomes true.
 */
void division_holder(struct division *division, uint32_t node, uint32_t thread, uint64_t ns,
		     uint64_t count);
/*
 * Stores the holders of a node that held its lock for the longest time, at most size of them, the
 * longest first. Returns the number of all holders of the node. *holds becomes the number of all
 * their holds.
 */
size_t division_holders(const struct division *division, uint32_t node,
			const struct why_holder *holder[], size_t size, uint64_t *holds);

/* ------------------------------------------------------------------ faults.c */

/*
 * Counts the page faults of a time in which the thread ran. Adds them to the part "page faults"
 * below a node, and to the functions that caused them, below this part. 'samples' is the number of
 * samples in this time.
 */
void faults_add(struct division *division, uint32_t node, uint32_t thread, uint64_t samples,
		int64_t from_ns, int64_t to_ns);
/*
 * Sets the time of a part "page faults". To be called after the whole time of the part's parent was
 * added.
 */
void faults_share(struct division *division, uint32_t node);
/* Returns whether a page fault happened directly before a time. */
bool faults_precede(const struct history_thread *thread, int64_t time_ns);

/*
 * Returns whether a sample of the program, outside of calls, was taken when the kernel had just
 * handled a page fault, so that its time belongs to the page fault.
 */
bool faults_end_at(const struct history_thread *thread, const struct sample *sample);

/* ------------------------------------------------------------------ causes.c */

/*
 * Adds a part for a waiting call below a node, with its causes. 'waker' is the index in
 * history.waker, plus 1, of the waker that ended the wait, or 0 if the waker is unknown.
 */
void causes_add(struct division *division, uint32_t node, const struct call *call, uint32_t waker,
		int64_t from_ns, int64_t to_ns);
/*
 * Adds the waker that ended a wait as the cause of a part. Returns false if the waker is unknown.
 */
bool causes_add_waker(struct division *division, uint32_t node, uint32_t waker, int64_t from_ns,
		      int64_t to_ns);

/*
 * For a call that the recorder saw from outside, and that stuck_look_call() has made. The first
 * function returns the kind of its part, and the second adds its causes.
 */
enum why_kind causes_looked_kind(const struct call *call);
void causes_add_looked(struct division *division, uint32_t node, const struct call *call,
		       uint32_t waker, int64_t from_ns, int64_t to_ns);

/* Writes what a failed call tried, and its error: "connect() to 10.0.0.1:80 failed with ...". */
void causes_attempt_text(const struct history *history, const struct call *call, char *text,
			 size_t size);

#endif
