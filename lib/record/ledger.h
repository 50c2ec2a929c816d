/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/ledger.h - the account of a stream's events as plain memory, for status and for the log.
 *
 * A line has the columns of struct posix_trace_ledger_np except `unattributed`, which is the
 * difference between `called` and the sum of the other columns. In the line of the total, `called`
 * is the number that the writers counted independently of the other columns. So in this line, the
 * equation called = reported + unread + lost is a check of the counts. In the lines of types and
 * threads, `called` is the sum of the other columns. In the lines of type 0 (no known type) and of
 * pid 0 (no known thread), `called` also has the unattributed events. So each column of the total
 * is the sum of that column over types, and over threads.
 *
 * Owner     the caller; one at a time. A ledger points into itself: do not copy it by assignment.
 * Errors    errno is preserved.
 */
#ifndef PTX_RECORD_LEDGER_H
#define PTX_RECORD_LEDGER_H

#include <stdbool.h>

#include <trace_ledger_np.h>

#include "record/record.h"

/* The causes of losses, in the order of the POSIX_TRACE_LOST_*_NP, and with their values. */
enum ptx_lost {
	PTX_LOST_OVERWRITTEN,
	PTX_LOST_STREAM_FULL,
	PTX_LOST_LOG_FULL,
	PTX_LOST_LOG_OVERWRITTEN,
	PTX_LOST_FLUSH_ERROR,
	PTX_LOST_NO_MEMORY,
	PTX_LOST_NO_SLOT,
	PTX_LOST_NESTING,
	PTX_LOST_CLEARED,
	PTX_LOST_DAMAGED,
	PTX_LOST_BUDGET,
	PTX_LOST_CAUSES
};

/* All columns count events. */
struct ptx_ledger_line {
	uint64_t called;
	uint64_t reported;
	uint64_t unread;
	uint64_t lost[PTX_LOST_CAUSES];
};

struct ptx_ledger_thread {
	uint32_t pid; /* 0: events of unknown threads, and of threads for which memory was short */
	uint32_t tid;
	uint64_t thread;
	struct ptx_ledger_line line;
};

struct ptx_ledger {
	struct ptx_ledger_line total;
	struct ptx_ledger_line type[PTX_TYPE_MAX];
	size_t threads;
	size_t room;
	/* array of `room` entries: `few` at first, and memory from malloc() when `few` is full */
	struct ptx_ledger_thread *thread;
	struct ptx_ledger_thread few[4];  /* so that the line of pid 0 needs no memory */
	/* hash table of index + 1, 0 for an empty place; NULL: few threads, or no memory */
	uint32_t *place;
	size_t places;                    /* a power of two */
	/* the only line of a thread is that of pid 0; ptx_ledger_copy() does not update it */
	bool is_summary;
};

/*
 * Returns the line of a thread and makes it if it is new. Returns the line of pid 0 if memory is
 * short or the ledger is a summary. With pid 0 the result is the line of all events without a known
 * thread. The pointer is valid until the next call. Entries keep their index until
 * ptx_ledger_drop_empty(), ptx_ledger_subtract() or ptx_ledger_copy() changes the lines.
 */
struct ptx_ledger_line *ptx_ledger_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					  uint64_t thread);

/*
 * Makes the initialized ledger `to` equal to `from`, without the lines of threads if `to` is a
 * summary. Returns 0 or ENOMEM. After ENOMEM, `to` is unchanged.
 */
int ptx_ledger_copy(struct ptx_ledger *to, const struct ptx_ledger *from);

/* Returns the line of a thread, or NULL if there is none. */
const struct ptx_ledger_line *ptx_ledger_find(const struct ptx_ledger *ledger, uint32_t pid,
					      uint32_t tid, uint64_t thread);

/*
 * The ledger of a span of time can be the sum of the ledgers of the parts of this span.
 * ptx_ledger_add() adds the columns of `part`. ptx_ledger_subtract() subtracts them, closes the
 * ledger as ptx_ledger_close() does, and removes the lines of threads without events: the rest is
 * the ledger of the other parts. The columns of the rest's total are exact. No column becomes
 * negative. If a line has less than the same line of `part`, other lines have more by the same
 * number, because the two ledgers do not have the same knowledge of types and threads. The
 * difference is then subtracted from the line of type 0 or of pid 0, or else from any lines.
 */
void ptx_ledger_add(struct ptx_ledger *ledger, const struct ptx_ledger *part);
void ptx_ledger_subtract(struct ptx_ledger *ledger, const struct ptx_ledger *part);

/* Removes the lines of threads that have no events. */
void ptx_ledger_drop_empty(struct ptx_ledger *ledger);

/*
 * Stores a line for a program, with the number of its unattributed events, and with 0 for causes
 * that the line does not have.
 */
void ptx_ledger_export(const struct ptx_ledger_line *from, struct posix_trace_ledger_np *to);

/* Returns reported + unread + all losses. */
uint64_t ptx_ledger_sum(const struct ptx_ledger_line *line);

/* Returns the number of events in `called` that are in no other column of the line. */
uint64_t ptx_ledger_unattributed(const struct ptx_ledger_line *line);

/*
 * Completes an account that has the total, and the losses as far as they are known by type and by
 * thread. Adds losses of no known type to type 0, and losses of no known thread to the line of pid
 * 0. Adds the unattributed events of the total to both lines. Stores `called` in each line. Lines
 * whose losses add up to more than the total stay as they are, so that the excess is visible.
 */
void ptx_ledger_close(struct ptx_ledger *ledger);

/*
 * ptx_ledger_init() makes an empty ledger. ptx_ledger_fini() frees its memory.
 *
 * ptx_ledger_init_summary() makes a ledger that has only the total and the lines of types. This
 * ledger needs no memory from malloc(). The time of a copy does not grow with the number of threads
 * that have recorded.
 */
void ptx_ledger_init(struct ptx_ledger *ledger);
void ptx_ledger_init_summary(struct ptx_ledger *ledger);
void ptx_ledger_fini(struct ptx_ledger *ledger);

#endif
