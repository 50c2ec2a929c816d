/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_ledger_np.h - the loss ledger: the numbers of events that were called, that were reported,
 * that are still unread, and that were lost, by cause. Included by <trace_np.h>.
 *
 * The ledger counts each called event in exactly one of the other columns:
 *
 *	called = reported + unread + unattributed
 *	       + lost[0] + ... + lost[POSIX_TRACE_LOST_MAX_NP - 1]
 *
 * A sum over all POSIX_TRACE_LOST_MAX_NP entries remains correct if a later version adds a cause.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  no function is async-signal-safe, except posix_trace_lost_name_np().
 * Errors   a function of type int returns 0 or the error number, and leaves errno as it was.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: trace_np(3).
 */
#ifndef _TRACE_LEDGER_NP_H
#define _TRACE_LEDGER_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Causes of loss: indexes of lost[]. */
#define POSIX_TRACE_LOST_OVERWRITTEN_NP     0 /* LOOP stream: overwritten before it was read */
#define POSIX_TRACE_LOST_STREAM_FULL_NP     1 /* UNTIL_FULL, FLUSH: the stream was full */
#define POSIX_TRACE_LOST_LOG_FULL_NP        2 /* UNTIL_FULL log: discarded at a flush */
#define POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP 3 /* LOOP log: overwritten in the log */
#define POSIX_TRACE_LOST_FLUSH_ERROR_NP     4 /* could not be written to the log */
#define POSIX_TRACE_LOST_NO_MEMORY_NP       5 /* the system had no memory for the event */
#define POSIX_TRACE_LOST_NO_SLOT_NP         6 /* too many threads, or a confined thread */
#define POSIX_TRACE_LOST_NESTING_NP         7 /* signal handlers nested too deep in trace points */
#define POSIX_TRACE_LOST_CLEARED_NP         8 /* removed by posix_trace_clear() */
#define POSIX_TRACE_LOST_DAMAGED_NP         9 /* unreadable in memory or in a damaged log */
#define POSIX_TRACE_LOST_BUDGET_NP          10 /* skipped: posix_trace_set_skipped_np() */
#define POSIX_TRACE_UNATTRIBUTED_NP         (-1) /* no cause: for posix_trace_compose_lost_np() */
#define POSIX_TRACE_LOST_CAUSES_NP          11 /* causes that this header knows */
#define POSIX_TRACE_LOST_MAX_NP             16 /* entries of lost[]; the rest are 0 today */

/* One line of the ledger. All members are numbers of events. */
struct posix_trace_ledger_np {
	/*
	 * Events that the filter admitted, and that were called while the stream was running or was
	 * suspended because it was full. The stream's own system events are included.
	 */
	uint64_t called;
	/* Events that were delivered to a reader or, in a stream with log, written to the log. */
	uint64_t reported;
	/* Events that are still in the stream. */
	uint64_t unread;
	/*
	 * Called events that are in no other column: a writer or a reader was killed while it
	 * counted these events, or memory was damaged. Only three lines have them: the line of the
	 * total, of type 0 and of pid 0.
	 */
	uint64_t unattributed;
	/* Lost events, by cause: POSIX_TRACE_LOST_*_NP. */
	uint64_t lost[POSIX_TRACE_LOST_MAX_NP];
};

/* The identity of a thread. */
struct posix_trace_thread_np {
	pid_t pid;        /* 0: events of no known thread, or of threads that share this line */
	pid_t tid;        /* Linux thread id */
	pthread_t thread; /* the thread's pthread_t in the process pid */
};

/*
 * Stores the line of the total of an active stream or of an opened log. For a complete log, it is
 * the line that the log's writer stored when it completed the log. The member `reported` is then
 * the number of events in the log. For any other log, `reported` is the number of events that the
 * library can read.
 *
 * EINVAL: trid is not a stream of this process, or `ledger` is null. ENOMEM.
 */
int posix_trace_get_ledger_sized_np(trace_id_t trid, struct posix_trace_ledger_np *ledger,
				    size_t size);
static __inline int posix_trace_get_ledger_np(trace_id_t trid,
					      struct posix_trace_ledger_np *ledger)
{
	return posix_trace_get_ledger_sized_np(trid, ledger, sizeof(*ledger));
}

/*
 * Stores the line of one event type. The line of type 0 has the events whose type is not known.
 * EINVAL: trid is not a stream of this process, `ledger` is null, or the event type has no name.
 * ENOMEM.
 */
int posix_trace_get_ledger_type_sized_np(trace_id_t trid, trace_event_id_t event_id,
					 struct posix_trace_ledger_np *ledger, size_t size);
static __inline int posix_trace_get_ledger_type_np(trace_id_t trid, trace_event_id_t event_id,
						   struct posix_trace_ledger_np *ledger)
{
	return posix_trace_get_ledger_type_sized_np(trid, event_id, ledger, sizeof(*ledger));
}

/*
 * Stores the line of the thread with the number `index`, counted from 0, and the thread's identity.
 * After the last thread, stores a non-zero value in *unavailable and returns 0, as
 * posix_trace_eventtypelist_getnext_id() does. EINVAL: trid is not a stream of this process, or a
 * pointer is null. ENOMEM.
 */
int posix_trace_get_ledger_thread_sized_np(trace_id_t trid, size_t index,
					   struct posix_trace_thread_np *thread,
					   size_t thread_size,
					   struct posix_trace_ledger_np *ledger,
					   size_t ledger_size, int *unavailable);
static __inline int posix_trace_get_ledger_thread_np(trace_id_t trid, size_t index,
						     struct posix_trace_thread_np *thread,
						     struct posix_trace_ledger_np *ledger,
						     int *unavailable)
{
	return posix_trace_get_ledger_thread_sized_np(trid, index, thread, sizeof(*thread), ledger,
						      sizeof(*ledger), unavailable);
}

/*
 * Sets the event types that a stream skips, so that its controller keeps a budget. Writers do not
 * record events of these types. Writers count the events exactly, by type: as called, and as lost
 * with the cause POSIX_TRACE_LOST_BUDGET_NP. The line of pid 0 has these events, the lines of
 * threads do not. The set replaces the former set. System event types in the set have no effect.
 * posix_trace_clear() empties the set.
 *
 * EINVAL: trid is not an active stream of this process, or `set` is not an initialized set. ENOMEM.
 */
int posix_trace_set_skipped_np(trace_id_t trid, const trace_event_set_t *set);

/*
 * Stores what an active stream records now, for a controller with a budget. It reads no event from
 * the stream, waits for no writer, and may be called many times a second.
 *
 * recorded  the number of events that were recorded so far, including overwritten events
 * recent    for each type, an estimate of the number of events since the last call. The library
 *           counts the new events of each writer, and estimates their types from a sample: the new
 *           events in the part of memory that the writer fills now. If this part has no new event,
 *           the estimate omits the events of this writer
 * skipped   for each type, the number of events that were skipped so far
 * types     the number of elements of each of the arrays `recent` and `skipped`. The index of an
 *           element is the event type
 *
 * EINVAL: trid is not an active stream of this process, or a pointer is null. ENOMEM.
 */
int posix_trace_get_load_np(trace_id_t trid, uint64_t *recorded, unsigned *recent,
			    uint64_t *skipped, size_t types);

/*
 * Returns the English name of a cause of loss, such as "stream full", or null if no cause has this
 * number. Async-signal-safe.
 */
const char *posix_trace_lost_name_np(int cause);

#ifdef __cplusplus
}
#endif

#endif
