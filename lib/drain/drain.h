/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/drain.h - a stream's rings merged into one order of events.
 *
 * Order     by time; the events of one ring in the order of the ring. An event is delivered only
 *           when it is certain that no older event can still appear (the watermark). While a writer
 *           is suspended between reading the clock and publishing, the drain holds younger events
 *           back for a fifth of a second at most (STALL_NS in pass.c). If the writer publishes
 *           later, its event is delivered with the flag LATE.
 * Members   events that were stamped while the stream was running. The moments at which the stream
 *           started, stopped or became full are marks in the same order as the events. So the
 *           moments are exact, and the drain need not wait for writers.
 * Loss      the events that writers of a LOOP stream have overwritten are a gap: the drain delivers
 *           OVERFLOW and RESUME in place of them. The cut is the time up to which events are
 *           overwritten. The drain drops all events up to the cut. So the events that it delivers
 *           behind a gap are complete.
 * Account   every event ends in one column of the ledger.
 *
 * Owner     the stream; the caller of each function holds the stream's lock.
 */
#ifndef PTX_DRAIN_DRAIN_H
#define PTX_DRAIN_DRAIN_H

#include "arena/arena.h"
#include "base/timescale.h"
#include "drain/phase.h"
#include "record/attr.h"
#include "record/ledger.h"
#include "ring/ring_read.h"

/*
 * Kinds of marks. The drain makes events of all kinds except the first two, because the controller
 * itself records the START and STOP of a call.
 */
enum ptx_mark_kind {
	/* the stream was started by a call; the controller's ring has the START event */
	PTX_MARK_START,
	/* the stream was stopped by a call; the controller's ring has the STOP event */
	PTX_MARK_STOP,
	PTX_MARK_FULL,
	PTX_MARK_RESTART,
	PTX_MARK_FLUSH_START,
	PTX_MARK_FLUSH_STOP,
	PTX_MARK_ERROR
};

struct ptx_mark {
	uint64_t ticks;
	enum ptx_mark_kind kind;
	int error;                    /* for a mark ERROR: the error number */
	/* for a mark RESTART: the event types that the filter accepts */
	uint64_t admit[PTX_WORDS];
	/* for marks of a flush: the thread whose call flushed, and the address of that call */
	uint32_t pid, tid;
	uint64_t thread, address;
};

struct ptx_drain_event {
	uint32_t len_flags;
	uint16_t type;
	struct ptx_ident ident;
	uint64_t address;
	uint64_t ticks;
	int64_t time_ns;
	const void *data; /* valid until the next call on the drain */
};

/* One ring as the drain sees it. */
struct ptx_source {
	uint64_t key;          /* time of the next record; UINT64_MAX: the buffer is empty */
	/* reader.buffer has the records that were claimed last */
	struct ptx_reader reader;
	/* position of the next record in the buffer, and end of the records */
	uint32_t at, end;
	struct ptx_ident ident; /* the thread of the next record */
	/* index of the thread's line in account.thread; SIZE_MAX: the index is not known */
	size_t line;
	uint64_t last;          /* latest time of the claimed records */
	/*
	 * number of the ring's records up to the last claimed record, modulo 2^32; the header of
	 * the next chunk has the number of the records before it, and so shows whether records are
	 * missing
	 */
	uint32_t records;
	/* number of the ring's records when a clear or a census began, modulo 2^32 */
	uint32_t published;
	/*
	 * The writer's position when the reader last saw the writer inside its window (inside_*),
	 * and when the reader last saw it outside (idle_*). As long as the writer stays inside, it
	 * does not publish an event that is older than `bound`.
	 */
	uint64_t inside_link, inside_head, inside_since, bound;
	uint64_t idle_link, idle_head, idle_at;
	uint64_t looked_at; /* time of the last pass that examined the writer */
};

#define PTX_DRAIN_QUEUE 4
/*
 * The number of chunks of one ring that the reader may lose during one refill or one census,
 * because writers overwrite them. After that the reader leaves the ring: the writers are too fast.
 */
#define PTX_LOSSES_MOST 16

#define PTX_SOURCES_FIRST 64 /* number of sources for which a new drain has room */

struct ptx_drain {
	struct ptx_rings *rings;
	/* The arena with the stream's region. The default is this process's own arena. */
	struct ptx_arena *arena;
	/* count of losses outside of the region (missed.c); NULL: this stream has no such count */
	_Atomic uint64_t *missed;
	bool loop;
	bool shared;       /* other processes write into the stream */
	bool is_snapshot;  /* the region is a copy without writers, made at snapshot_at */
	uint64_t snapshot_at;
	/* number of records that an earlier reader of the stream has delivered */
	uint64_t before;
	/* this process and the writers are in the same pid namespace */
	bool same_ids;
	/* policy FLUSH: OVERFLOW and RESUME report losses while the stream is full */
	bool flush_policy;
	uint32_t sources;
	uint32_t heap_count;
	uint32_t room;              /* count of sources for which source[] and heap[] have room */
	/* array of `room` pointers; those from index `sources` on are NULL */
	struct ptx_source **source;
	/*
	 * a heap of the indices of the sources that have a record in their buffers; the least key
	 * is at the top
	 */
	uint32_t *heap;
	uint64_t watermark;
	/* the clock reading at the beginning of the last pass */
	uint64_t now;
	/*
	 * the writers that the last pass saw inside their windows do not publish older events than
	 * this time
	 */
	uint64_t certain;
	/*
	 * how many more times the reader may claim from rings before the next pass; enough to empty
	 * any pool
	 */
	uint64_t claims_left;
	size_t touched;     /* bytes that were claimed since the last ptx_region_forget() */
	bool held_back;     /* a buffer has a record that is younger than the watermark */
	/*
	 * ptx_drain_refill() left a ring before its end, because writers overwrote chunks as fast
	 * as the reader read them
	 */
	bool outrun;
	bool running;       /* state of the stream at the point that delivery has reached */
	bool full;          /* true: the stream is not running, because it became FULL */
	/* the phases that delivery has passed, for late records */
	struct ptx_phases phases;
	bool log_full;      /* UNTIL_FULL: the log has ended; later events are discarded */
	bool full_marked;   /* the FULL state of the region has its mark */
	uint64_t full_at;   /* the time of the mark for the FULL state */
	/* The youngest time that was delivered, in ticks and in CLOCK_REALTIME. */
	uint64_t last_ticks;
	int64_t last_ns;

	struct ptx_mark *mark; /* ring buffer with room for mark_room marks */
	size_t mark_first, marks, mark_room;
	size_t thin_at; /* number of marks at which thin.c examines the marks */

	bool gap;           /* events were overwritten, and OVERFLOW has not reported them yet */
	uint64_t gap_first; /* time of the first event lost in the gap, UINT64_MAX = not known */
	uint64_t cut;       /* events up to this time in ticks are overwritten */
	uint64_t reported_cut; /* OVERFLOW has reported the losses up to this time */
	/* events up to this time are cleared */
	uint64_t cleared;
	/* RESUME was made for a gap, so the event behind RESUME must be delivered, too */
	bool after_gap;

	/* Synthetic events, which are delivered before the next record, and their data. */
	struct ptx_drain_event queue[PTX_DRAIN_QUEUE];
	uint32_t queued;
	uint32_t queue_data[PTX_DRAIN_QUEUE];
	uint64_t queue_set[PTX_WORDS + 1];

	bool peeked_queue; /* ptx_drain_consume() removes the event from the queue */
	int64_t peeked_ns; /* CLOCK_REALTIME of the event that ptx_drain_consume() removes */

	/* number of the log that gets the events: flush/checkpoint_flush.h */
	uint64_t log_number;
	bool checkpoint;        /* which of the two checkpoints was written last */
	uint32_t placed;        /* number of rings for whose places the checkpoints have memory */
	bool settled;           /* the log has all the events of the last checkpoint */
	bool resumed;           /* another process read the stream before */
	/*
	 * in a stream with a log: chunks that the reader has left and will free when the log has
	 * their events
	 */
	struct ptx_debts debts;
	struct ptx_timescale scale;
	uint64_t synthetic;   /* number of synthetic events that were delivered or lost */
	uint64_t not_running; /* number of records that were stamped while the stream was stopped */
	struct ptx_ledger account;
};

/* Returns an upper bound for the number of chunks in the pool with the present number of rings. */
static inline uint64_t ptx_drain_chunks(const struct ptx_drain *drain)
{
	return ptx_ring_most_chunks(&drain->rings->geometry, drain->sources) +
	       2 * (uint64_t)drain->sources;
}

/*
 * Makes the reader of a region. The parameter `created` is the time of the stream's creation.
 * Returns 0 or ENOMEM. One thread uses a drain at a time.
 */
int ptx_drain_create(struct ptx_rings *rings, const struct ptx_attr *attr,
		     struct ptx_anchor created, struct ptx_drain **drain);
void ptx_drain_destroy(struct ptx_drain *drain);

/* Finds the oldest event that can be delivered. Returns false if there is none. */
bool ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event);

/*
 * For callers that must not wait, after ptx_drain_peek() has returned false. Finds the oldest event
 * that was complete at the time of that peek, even if a writer that is suspended in a trace point
 * may still publish an older event. The older event is then LATE. The caller calls ptx_drain_peek()
 * twice before this call. A writer that is not suspended leaves its trace point between the two
 * peeks. So at the second peek only suspended writers hold events back.
 */
bool ptx_drain_peek_beyond(struct ptx_drain *drain, struct ptx_drain_event *event);

/*
 * Finds the oldest event that is held back only because the kernel refuses the barrier. Does not
 * find events that are held back because of a writer that the last pass has seen in a trace point.
 * Without the barrier, the pass may have missed an older event. If that event is found later, it is
 * LATE.
 */
bool ptx_drain_peek_unordered(struct ptx_drain *drain, struct ptx_drain_event *event);

/*
 * Returns true if, during the last pass, writers have overwritten the events that could have been
 * delivered. The caller may try again: another pass may find events.
 */
bool ptx_drain_is_outrun(const struct ptx_drain *drain);

/*
 * Consumes the event of the last peek and counts it as lost for this cause. PTX_LOST_CAUSES means
 * that the event is counted as reported.
 */
void ptx_drain_consume(struct ptx_drain *drain, enum ptx_lost cause);

/*
 * Makes sources for this many rings, but for none behind the last ring that has a chunk. Returns
 * false if memory is lacking.
 */
bool ptx_drain_sources(struct ptx_drain *drain, uint32_t rings);

/* Examines all rings: claims new events and computes a new watermark. */
void ptx_drain_pass(struct ptx_drain *drain);

/* Adds the losses of processes that could not map the region (missed.c). */
void ptx_drain_missed(struct ptx_drain *drain);

/* Functions for marks (mark.c). A function that adds a mark returns false if there is no memory. */
bool ptx_drain_mark(struct ptx_drain *drain, const struct ptx_mark *mark);
/* Inserts a mark in the order of time. Its time may be earlier than the times of other marks. */
bool ptx_drain_mark_in_order(struct ptx_drain *drain, const struct ptx_mark *mark);
/* Stores in a mark the event types that the filter accepts now. */
void ptx_drain_admitted(const struct ptx_drain *drain, struct ptx_mark *mark);
/*
 * ptx_drain_first_mark() returns the mark that delivery reaches first, or NULL.
 * ptx_drain_drop_mark() removes this mark; there must be one.
 */
const struct ptx_mark *ptx_drain_first_mark(const struct ptx_drain *drain);
void ptx_drain_drop_mark(struct ptx_drain *drain);
/* If there are many marks, drops the marks that separate no events (thin.c). */
void ptx_drain_thin(struct ptx_drain *drain);

/*
 * Returns the time for a new mark. This time is later than the times of all delivered events and of
 * all marks, and is the present time if possible. If `early` is true, the result is a little before
 * the present time, because a writer may read the clock a little before it loads the state.
 */
uint64_t ptx_drain_moment(const struct ptx_drain *drain, bool early);

/*
 * If the region's state is FULL, adds a mark for this state. If the mark exists already and there
 * is room, restarts the stream (UFULL-08, UFULL-09). If the state is HELD, the stream becomes
 * SUSPENDED instead.
 */
void ptx_drain_sync(struct ptx_drain *drain);

/*
 * Removes all events up to now, and counts them as lost with the cause CLEARED. The gap is removed,
 * too, and no mark of the past remains.
 */
void ptx_drain_clear(struct ptx_drain *drain);

/* Returns the time of the oldest record in the buffers, or 0 if the buffers are empty. */
uint64_t ptx_drain_oldest(const struct ptx_drain *drain);

/*
 * Stores the stream's ledger as of now in `ledger`, which the caller has initialized (account.c).
 * Returns 0 or ENOMEM.
 */
int ptx_drain_ledger(struct ptx_drain *drain, struct ptx_ledger *ledger);

/*
 * Like ptx_drain_ledger(), but only for the events that have left the stream: events that the drain
 * has delivered or dropped, and events that writers have counted as lost. In this ledger the column
 * `unread` is 0 in every line, and no count decreases from call to call.
 */
int ptx_drain_ledger_settled(const struct ptx_drain *drain, struct ptx_ledger *ledger);

#endif
