/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flush.h - moves the events of a stream to its log: by call, by itself (policy FLUSH), and
 * at shutdown.
 *
 * One flush of a stream runs at a time. A mutex, the turn, ensures this. A flush reads and encodes
 * the events while it holds the stream's lock. It releases this lock while it writes to the file,
 * so that control calls and status do not wait for the disk. The flusher is the thread that flushes
 * a stream with the policy FLUSH by itself.
 *
 * Threads   any thread may call ptx_flush_run(), ptx_flush_stop() and ptx_flush_status(). The
 *           flusher has all signals blocked.
 * Signals   SIGXFSZ and SIGPIPE that a write raises are removed before ptx_flush_run() returns.
 */
#ifndef PTX_FLUSH_FLUSH_H
#define PTX_FLUSH_FLUSH_H

#include <pthread.h>

#include "drain/drain.h"
#include "log/log.h"
#include "modules/mapped.h"

struct ptx_flush;

enum ptx_flush_kind {
	PTX_FLUSH_BY_CALL,
	PTX_FLUSH_AUTOMATIC,
	PTX_FLUSH_FINAL, /* at the end of the stream: the flush transfers all events */
	/* the last flush of a log, by a call; the stream continues with another log */
	PTX_FLUSH_OF_LOG
};

/*
 * The caller of a flush, for FLUSH_START and FLUSH_STOP; all members are 0 for an automatic flush.
 */
struct ptx_flush_caller {
	uint32_t pid, tid;
	uint64_t thread, address;
};

/*
 * Creates a structure for the flushes of a stream. The parameter `lock` is the stream's lock, which
 * protects the drain. After a success the structure owns `log` and `mapped`. `mapped` may be NULL.
 * If by_itself is true, the function starts the flusher. Returns 0, ENOMEM, or EAGAIN if no thread
 * can be created.
 */
int ptx_flush_create(struct ptx_drain *drain, pthread_mutex_t *lock, struct ptx_log *log,
		     bool by_itself, struct ptx_mapped *mapped, struct ptx_flush **flush);

/*
 * Writes the stream's events to the log. The parameter `caller` is stored in the FLUSH events. The
 * function acquires the stream's lock, and waits for a flush of another thread. Returns 0 or an
 * error number.
 */
int ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
		  const struct ptx_flush_caller *caller);

/*
 * Ends the flusher. When the function returns, the flusher has ended, even if another thread has
 * called the function at the same time.
 */
void ptx_flush_stop(struct ptx_flush *flush);

/*
 * Ends the flusher as ptx_flush_stop() does. ptx_flush_resume() starts it again, unless
 * ptx_flush_stop() has been called. If no thread can be created, the status and an event of the
 * stream have the error, and the next call of ptx_flush_resume() tries again.
 */
void ptx_flush_pause(struct ptx_flush *flush);
void ptx_flush_resume(struct ptx_flush *flush);

/* The result of ptx_flush_status(), which is called with the stream's lock held. */
struct ptx_flush_status {
	bool flushing;
	int error;
	bool log_overrun;
	bool log_full;
};
/* If `reset` is true, the function also resets what posix_trace_get_status() resets. */
void ptx_flush_status(struct ptx_flush *flush, struct ptx_flush_status *status, bool reset);
/* Wakes the flusher if it is asleep. */
void ptx_flush_wake(struct ptx_flush *flush);

/*
 * ptx_flush_account() moves the events that a LOOP log has overwritten from reported to lost. The
 * caller calls ptx_flush_account_begin() before it acquires the stream's lock, and
 * ptx_flush_account_end() after it has released the lock. ptx_flush_account_begin() may wait until
 * a flush has ended.
 */
void ptx_flush_account_begin(struct ptx_flush *flush);
void ptx_flush_account_end(struct ptx_flush *flush);
void ptx_flush_account(const struct ptx_flush *flush, struct ptx_ledger *ledger);

/*
 * Between these two calls no flush is in progress. The caller acquires the turn before the stream's
 * lock.
 */
void ptx_flush_acquire_turn(struct ptx_flush *flush);
void ptx_flush_release_turn(struct ptx_flush *flush);

/*
 * Empties the log, if the file permits this, and counts the removed events as cleared. The caller
 * has the turn, the stream's lock and a shield (base/shield.h). Returns 0 or an error number.
 */
int ptx_flush_clear(struct ptx_flush *flush);

/*
 * The stream continues with another log (rotate.c). A caller does these steps: it locks the
 * rotation, begins the new log and its guardian, calls ptx_flush_rotate_begin(), determines the
 * status, calls ptx_flush_rotate_end(), and unlocks the rotation.
 *
 * ptx_flush_rotate_begin() writes all events up to now to the old log, and acquires the turn. After
 * an error the caller does not have the turn. ptx_flush_rotate_end() completes the old log with the
 * status and with the ledger of this log alone. It then gives all further events to the new log,
 * `next->log`. After a success `flush` owns the new log. ptx_flush_rotate_end() also stores the sum
 * of the ledgers of all closed logs. The file for this sum is `next->ledger_fd`, and -1 means that
 * it is not stored. The function releases the turn in any case. Errors are those of the flush,
 * those of storing the ledger, and ENOMEM. After an error the stream continues with the old log. If
 * only the tail of the old log cannot be written, the functions succeed, and the stream's status
 * has the error.
 */
struct ptx_flush_next {
	struct ptx_log *log;
	uint64_t number; /* of this log (checkpoint_flush.h) */
	int ledger_fd;
};
void ptx_flush_rotation_lock(struct ptx_flush *flush);
void ptx_flush_rotation_unlock(struct ptx_flush *flush);
int ptx_flush_rotate_begin(struct ptx_flush *flush, const struct ptx_flush_caller *caller);
int ptx_flush_rotate_end(struct ptx_flush *flush, const struct ptx_flush_next *next,
			 const struct ptx_log_status *status);

/*
 * For a process that continues a log whose writer was killed: reads the ledger that
 * ptx_flush_rotate_end() has written, and counts its reported events in the drain's account. So
 * ptx_flush_destroy() can subtract this ledger from the ledger that it writes. Returns 0, ENOMEM,
 * or EINVAL if the file has no such ledger.
 */
int ptx_flush_read_closed(struct ptx_flush *flush, int ledger_fd);

/*
 * Returns an empty ledger, which belongs to `flush`. The caller fills this ledger and then calls
 * ptx_flush_destroy(), which writes it to the log.
 */
struct ptx_ledger *ptx_flush_closing(struct ptx_flush *flush);

/*
 * Subtracts the events of logs that were closed before from the ledger of ptx_flush_closing(),
 * completes the log with this ledger, closes the log, and frees `flush`. Returns 0 or the error of
 * completing the log.
 */
int ptx_flush_destroy(struct ptx_flush *flush, const struct ptx_log_status *status);

#endif
