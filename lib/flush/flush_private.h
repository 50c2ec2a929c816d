/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flush_private.h - the state of a stream's flushes, for the files of flush/.
 *
 * Threads   a caller may need the turn of the stream's flushes, or the stream's lock; the comments
 *           on the functions say which. A caller of the functions of flusher.c has neither.
 */
#ifndef PTX_FLUSH_FLUSH_PRIVATE_H
#define PTX_FLUSH_FLUSH_PRIVATE_H

#include "flush/flush.h"

/*
 * States of the flusher. A thread that ends or starts the flusher stores CHANGES. Other threads
 * that call ptx_flusher_stop() wait until the state is another one. PAUSED: the flusher has ended,
 * and may be started again.
 */
enum ptx_flusher {
	PTX_FLUSHER_NONE,
	PTX_FLUSHER_RUNS,
	PTX_FLUSHER_CHANGES,
	PTX_FLUSHER_PAUSED
};

struct ptx_flush {
	struct ptx_drain *drain;
	pthread_mutex_t *lock; /* the stream's */
	struct ptx_log *log;
	struct ptx_mapped *mapped; /* NULL: the log gets no mappings */
	bool log_is_loop;      /* constant, while `log` may be replaced */
	/* lets one rotation run at a time: acquired before the turn */
	pthread_mutex_t rotation;
	/*
	 * lets one flush run at a time: held during a whole flush, and acquired before the stream's
	 * lock
	 */
	pthread_mutex_t turn;
	/*
	 * number of threads in ptx_flush_wait_for_turn(), without the flusher; if there are any,
	 * the flusher sleeps for a moment, so that they can acquire the turn first
	 */
	_Atomic uint32_t callers;
	pthread_t thread;
	uint32_t tid; /* of that thread; the thread stores it */
	_Atomic uint32_t flusher; /* futex: enum ptx_flusher */
	_Atomic uint32_t quit;
	bool has_writers; /* of the flusher: another process has, or had, a ring of the stream */
	_Atomic uint64_t consumed; /* ptx_drain_consumed() at the end of the last flush */

	/* The stream's lock protects the following members. */
	bool flushing;
	bool failing;       /* the last flush failed */
	bool log_overrun;
	int error;          /* the first error of a flush since the status was last reset */
	/* number of events that a LOOP log has overwritten, as last seen */
	uint64_t overwritten;
	uint64_t named[PTX_WORDS];
	uint64_t descriptions;                /* schemas->changes when the schemas were last read */
	uint64_t described[PTX_WORDS];        /* types whose schema the log has or has refused */
	/* the log has the entries of all cells before this cell */
	unsigned objects;
	uint64_t object_stored[PTX_OBJECTS / 64];

	/* the sum of the ledgers of all logs that the stream has closed; NULL: none */
	struct ptx_ledger *closed;
	/*
	 * the ledger for the end of the log; it is a member, because a shutdown must not need
	 * memory
	 */
	struct ptx_ledger closing;
};

/*
 * In flush.c. Stores the status in the region, for a process that continues if this process is
 * killed. The caller holds the stream's lock.
 */
void ptx_flush_note_status(struct ptx_flush *flush);

/*
 * In flush.c. ptx_flush_wait_for_turn() acquires the turn. ptx_flush_with_turn() flushes, and
 * returns 0 or an error number. Its caller has the turn and a shield (base/shield.h), and not the
 * stream's lock.
 */
void ptx_flush_wait_for_turn(struct ptx_flush *flush, enum ptx_flush_kind kind);
int ptx_flush_with_turn(struct ptx_flush *flush, enum ptx_flush_kind kind,
			const struct ptx_flush_caller *caller);

/*
 * Functions of transfer.c. The caller has the turn and the stream's lock. ptx_transfer() releases
 * the lock while it writes a block, and while it waits for a writer.
 */

/*
 * ptx_transfer() moves all events up to the time `target` to the log. If `target` is UINT64_MAX, it
 * moves all events, including the events that are recorded meanwhile, until the time `until`. Times
 * are in ticks. Returns 0 or the error of a write. ptx_transfer_name() adds the name of a type to
 * the log, if the log does not have it yet.
 */
int ptx_transfer(struct ptx_flush *flush, uint64_t target, uint64_t until);
void ptx_transfer_name(struct ptx_flush *flush, unsigned type);

/*
 * In transfer_lists.c. Adds to the log all schemas, objects and mappings that the log does not have
 * yet. ptx_transfer_rest() also adds all names, for the end of a log.
 */
void ptx_transfer_lists(struct ptx_flush *flush);
void ptx_transfer_rest(struct ptx_flush *flush);

/*
 * In transfer_run.c. Moves consecutive events of one ring to the log: the event that the last peek
 * returned, and the events behind it. Returns the number of moved events. If it is 0, the caller
 * must move the event alone.
 */
uint32_t ptx_transfer_run(struct ptx_flush *flush, uint64_t target);

/* Functions of flusher.c. ptx_flusher_start() returns 0 or an error number. */
int ptx_flusher_start(struct ptx_flush *flush);
/*
 * Ends the flusher, and returns when it has ended. `state` is NONE or PAUSED; NONE is final. With
 * PAUSED the function also waits, for at most a second, until the kernel has removed the thread
 * from the process. ptx_flusher_resume() starts a flusher that is paused, and returns 0 or the
 * error of ptx_flusher_start(). After an error the flusher is still paused. Any number of threads
 * may call ptx_flusher_stop() and ptx_flusher_resume() at the same time, but none may be cancelled
 * in them.
 */
void ptx_flusher_stop(struct ptx_flush *flush, enum ptx_flusher state);
int ptx_flusher_resume(struct ptx_flush *flush);

#endif
