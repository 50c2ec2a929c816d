/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classify.h - recognizes the event types of calls that wait, and finds the fields that show the
 * cause.
 */
#ifndef POSIXTRACE_WHY_CLASSIFY_H
#define POSIXTRACE_WHY_CLASSIFY_H

#include "why/history.h"

/*
 * If a thread is in no call and blocks within this time after a page fault, it is taken to wait for
 * the data of the page.
 */
#define CLASSIFY_FAULT_NS 100000

/*
 * The kernel's numbers for the states of a blocked thread. The event sched.out has them. No signal
 * ends an uninterruptible wait, which is usually a wait for a disk.
 */
#define CLASSIFY_UNINTERRUPTIBLE   2
#define CLASSIFY_STOPPED_OR_TRACED (4 | 8)

struct plan {
	enum cause cause;
	/*
	 * the type, if a caller must distinguish it from others of its kind: a comparison of names
	 * for each event would take a tenth of the time
	 */
	enum { NAME_OTHER, NAME_LAUNCH, NAME_RECORDER, NAME_CONNECT, NAME_LISTEN, NAME_GETSOCKOPT,
	       NAME_EXEC, NAME_CRASH, NAME_FRAME, NAME_TIMERFD } name;
	int time, key, other, text, result, error; /* indexes of fields, -1: none */
	int made[2], source, closed;        /* fields with new, copied and closed descriptors */
	/*
	 * field with the flags of a call on an object of System V, or with the flags or the mode of
	 * the new descriptors; -1: none
	 */
	int flags;
	uint32_t close_flag; /* the bit of flags that closes them at exec; 0: exec closes them */
	int polled; /* field with the number of descriptors of a poll; -1: none */
	int servers; /* field with the name servers that were asked in vain */
	int by[2]; /* process and thread that woke this thread, got its CPU, or had it before */
	/* 'more': rate of samples, state of a blocked thread, or number of semop's operations */
	int more;
	int part;                           /* semaphore of a set, or type of a message */
	/*
	 * 'command': command of a file lock or of semctl(), or reason of a signal. 'sender': sender
	 * of a signal, or owner of a lock. 'target': target of a signal, as a tid and a pthread_t;
	 * or, in target[0], the type of a file lock.
	 */
	int command, sender, target[2];
	int child;                          /* field of fork() with the new process */
	enum fd_kind fd_kind;               /* of the new descriptors */
	bool has_id;                        /* 'key' is the number of an object of System V */
	bool has_path;                      /* the call gives the new descriptor a path */
	enum { PLAN_CALL, PLAN_IN, PLAN_OUT, PLAN_WAKE, PLAN_EXIT, PLAN_GAP, PLAN_STATE,
	       PLAN_PARENT, PLAN_NAME,
	       PLAN_PROGRAM, PLAN_CLOCK, PLAN_SAMPLE, PLAN_FAULT, PLAN_CONNECTING,
	       PLAN_ENDED, PLAN_OVER, PLAN_ATTACHED, PLAN_THROTTLED, PLAN_BLOCKED,
	       PLAN_WAITING, PLAN_OPENED, PLAN_TAKEN } kind;
};

/* Makes the plan of an event type. Every type has one. */
void classify_type(const struct log_type *type, struct plan *plan);

/*
 * Returns the cause for which one call waited. It differs from plan->cause for fcntl(), of which
 * only some commands wait for the lock of a file.
 */
enum cause classify_cause(const struct plan *plan, const struct log_type *type,
			  const struct posix_trace_event_np *event);

/*
 * Returns whether calls of this type are possible only on a file, such as fsync(). A wait in such a
 * call is a wait for a file even if the log does not have the path.
 */
bool classify_needs_file(const struct log_type *type);

/*
 * Returns the kind of a wait: a value from WHY_LOCK to WHY_SLEEP. uses_file is true if the object
 * of the call is a file, and not a pipe, socket or terminal. is_vain is true if only time ended the
 * wait: the call reached its time limit, or it waited for a timer.
 */
enum why_kind classify_kind(enum cause cause, bool uses_file, bool is_vain);

/*
 * Returns whether a wait for a condition, a semaphore or a signal reached its time limit, by its
 * error number. has_id is true for an object of System V. Other calls have no such error.
 */
bool classify_timed_out(enum cause cause, bool has_id, int32_t error);

/* Returns the value of a field, or 0 if the event lacks it. */
uint64_t classify_number(const struct log_type *type, const struct posix_trace_event_np *event,
			 int field);

/* Returns whether the event has the field: it does not if its data was truncated before it. */
bool classify_has(const struct log_type *type, const struct posix_trace_event_np *event, int field);

/*
 * Returns whether exec closes the descriptors that a call makes. The flags are a number, or the
 * mode of fopen().
 */
bool classify_closes_at_exec(const struct plan *plan, const struct log_type *type,
			     const struct posix_trace_event_np *event);

#endif
