/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stuck.h - calls that did not return before their thread or the log ended. why/circles.h finds the
 * deadlocks among them.
 *
 * The preload library records a call when it returns. Two other events show a call that never
 * returns. The recorder looks from outside at threads that are blocked for long, and records
 * posixtrace_blocked. With the family lock-hold, a thread that holds a lock records lock.waiting
 * before it waits for another one.
 */
#ifndef POSIXTRACE_WHY_STUCK_H
#define POSIXTRACE_WHY_STUCK_H

#include "why/divide.h"
#include "why/history.h"

/*
 * The recorder looks at a thread each quarter of a second, or less often. If the last event of a
 * thread is less than STUCK_LOOK_NS before the first look that saw the thread blocked, the thread
 * counts as blocked from this event on.
 */
#define STUCK_LOOK_NS INT64_C(600000000)
#define STUCK_TEXT 500 /* bytes of a text of stuck_wakeup_text() */
#define STUCK_HELD 16 /* the most locks that the preload library notes for a thread */

struct stuck {
	/*
	 * The facts of the last event posixtrace_blocked. seen_ns is the time of this event (0:
	 * there is none). The members 'call', 'object', 'others' and seen_doubt are indexes of
	 * texts + 1.
	 */
	int64_t seen_ns;
	uint64_t blocked_ns, lock;
	int32_t fd;
	pid_t owner;
	uint32_t call, object, others, seen_doubt;
	/*
	 * The facts of the last wait with events lock.waiting: the times of its first event (0:
	 * there is none) and of its last event.
	 */
	int64_t waits_ns, waits_last_ns;
	uint64_t waits_lock, address;
	pid_t waits_owner;
	const char *waits_kind;
	uint32_t stack;       /* number of its call stack + 1; 0: none */
	/*
	 * The facts of the last event posixtrace_taken: the semaphore (0: there is none), the place
	 * in the program where a thread took the semaphore last, and this thread (0: it has ended).
	 */
	uint64_t taken_lock, taken_caller;
	pid_t taker;
	unsigned helds;
	struct {
		uint64_t lock, address;
	} held[STUCK_HELD];
	const struct log_type *type, *waits_type; /* of posixtrace_blocked and lock.waiting */
	uint32_t open;        /* index of the call that did not return + 1; 0: none */
	/*
	 * These members describe the open call. The thread has been blocked since from_ns. The
	 * facts were seen at fact_ns. is_waiting is true if the facts are of lock.waiting. If
	 * has_doubt is true, the facts may be wrong: 'doubt' is the index of a text with the
	 * reason, plus 1, or 0 if the log has no reason.
	 */
	int64_t from_ns, fact_ns;
	bool is_waiting, has_doubt;
	uint32_t doubt;
	/*
	 * The results of circles_find(): 'ender' and 'next' are indexes of threads + 1, and 'state'
	 * is an enum circles_state.
	 */
	uint32_t ender, next;
	uint8_t state;
	bool is_possible;
};

/* Keeps the facts of an event. is_waiting is true for lock.waiting. */
void stuck_take(struct history *history, bool is_waiting, const struct log_type *type,
		const struct posix_trace_event_np *event);

/* Keeps which thread took a semaphore, as an event posixtrace_taken reports it. */
void stuck_take_taken(struct history *history, const struct log_type *type,
		      const struct posix_trace_event_np *event);

/* Sorts the looks of the recorder. To be called after the last event. */
void stuck_sort_looks(struct history *history);

/*
 * Returns the last look of the recorder that saw a thread blocked during a time, or NULL. The
 * recorder records a look only if the thread has been blocked for half a second. A look that
 * belongs to an earlier call is ignored.
 */
const struct stuck_look *stuck_look(const struct history *history, uint32_t thread,
				    int64_t from_ns, int64_t to_ns);

/* Returns the system call of a look as a call that lasts from from_ns to to_ns. */
struct call stuck_look_call(struct history *history, const struct stuck_look *look,
			    int64_t from_ns, int64_t to_ns);

/*
 * Adds the calls that did not return. To be called after the last event, and only if the log cannot
 * lack the event of a call that returned.
 */
void stuck_add(struct history *history);

/*
 * Returns whether a thread did not leave the kernel after it was blocked in the state with the
 * index 'stay'. If it did not, *is_over becomes true if the thread has ended since then.
 */
bool stuck_is_last(const struct history_thread *thread, size_t stay, bool *is_over);

/* Returns whether a thread held a lock when it recorded its last lock.waiting. */
bool stuck_holds(const struct stuck *stuck, uint64_t lock);

/*
 * Labels the part of a call with is_stuck. 'caller' is the call's place in the program, or empty.
 */
void stuck_label(struct division *division, struct why_node *node, const struct call *call,
		 const char *caller);

/* Writes the kind of a lock and its name or address. Returns text. */
const char *stuck_lock_text(const struct history *history, uint32_t thread, uint64_t lock,
			    char *text, size_t size);

/*
 * Writes the last event of the thread of a stuck call, with its place, if the place of the call
 * itself is not known: "last event: TYPE in FUNCTION". Otherwise writes nothing.
 */
void stuck_last_text(const struct history *history, const struct call *call, char *text,
		     size_t size);

/*
 * Writes the action that ends a wait for a condition variable, a barrier, a semaphore or another
 * futex, with the name or address of this object.
 */
void stuck_wakeup_text(const struct history *history, const struct call *call, char *text,
		       size_t size);

#endif
