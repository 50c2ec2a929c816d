/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/drain.h - a stream's rings merged into one order of events.
 *
 * Order     by time; the events of one ring in the order of the ring. Nothing is delivered before
 *           it is certain that nothing older can still appear (the watermark). The drain holds
 *           back for a writer that is suspended between reading the clock and publishing, but not
 *           for ever: the writer's event is then delivered late, with the flag LATE.
 * Members   events that were stamped while the stream was running. The moments at which it started,
 *           stopped or became full are marks in the same order, so they are exact and need
 *           no wait for writers.
 * Loss      events that a LOOP stream overwrote are a gap: OVERFLOW and RESUME are delivered in its
 *           place. Everything up to the cut is left out, so that the events after it have no hole.
 * Account   every event ends in one column of the ledger.
 *
 * Owner     the stream; every call is made with the stream's lock held.
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
 * Moments in the life of a stream. The drain makes events of them, except of the first two: the
 * controller records those itself.
 */
enum ptx_mark_kind {
	PTX_MARK_START, /* by call: its event is the START record in the controller's ring */
	PTX_MARK_STOP,  /* by call, likewise */
	PTX_MARK_FULL,
	PTX_MARK_RESTART,
	PTX_MARK_FLUSH_START,
	PTX_MARK_FLUSH_STOP,
	PTX_MARK_ERROR
};

struct ptx_mark {
	uint64_t ticks;
	enum ptx_mark_kind kind;
	int error;                    /* ERROR */
	uint64_t admit[PTX_WORDS];    /* RESTART */
	/* FLUSH_*: by whom and where */
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
	uint64_t key;          /* time of the next record, UINT64_MAX = none at hand */
	struct ptx_reader reader; /* its buffer has claimed records, */
	uint32_t at, end;         /* of which these are left */
	struct ptx_ident ident; /* whose the next record is */
	size_t line;            /* in account.thread; SIZE_MAX = look it up */
	uint64_t last;          /* time of the last record claimed */
	uint32_t records;       /* claimed, modulo 2^32: the next chunk shows missing records */
	/* records of the ring when a clear or a ledger began, modulo 2^32 */
	uint32_t published;
	/* The writer as last seen inside its window, and as last seen outside. */
	uint64_t inside_link, inside_head, inside_since, bound;
	uint64_t idle_link, idle_head, idle_at;
	uint64_t looked_at;
};

#define PTX_DRAIN_QUEUE 4
#define PTX_LOSSES_MOST 16 /* of the place in one ring, in one pass or one ledger */

#define PTX_SOURCES_FIRST 64 /* for so many there is room at first */

struct ptx_drain {
	struct ptx_rings *rings;
	/* The arena that has the stream's region; this process's own by default. */
	struct ptx_arena *arena;
	_Atomic uint64_t *missed; /* losses outside the region, missed.c; NULL: there are none */
	bool loop;
	bool shared;       /* other processes write into the stream */
	bool is_snapshot;  /* the region is a copy without writers, made at snapshot_at */
	uint64_t snapshot_at;
	uint64_t before;   /* records that others had taken */
	bool same_ids;     /* the process ids of the writers are the same here */
	bool flush_policy; /* OVERFLOW and RESUME report losses while the stream is full */
	uint32_t sources;
	uint32_t heap_count;
	uint32_t room;              /* for sources, in both arrays */
	struct ptx_source **source; /* room of them; NULL beyond sources */
	uint32_t *heap;             /* of sources with something at hand, smallest key first */
	uint64_t watermark;
	uint64_t now;       /* when it was last computed */
	/* no writer that the last pass saw in a trace point publishes anything older */
	uint64_t certain;
	uint64_t takes;     /* from rings, that are left until the next pass: enough for any pool */
	bool held_back;     /* a record is at hand that is younger than the watermark */
	bool outrun;        /* writers overwrote each chunk that the last look turned to */
	bool running;       /* at the point that delivery has reached */
	bool full;          /* not running because of FULL */
	struct ptx_phases phases; /* that delivery has passed: for records that come late */
	bool log_full;      /* UNTIL_FULL: the log ends with a STOP; later events are discarded */
	bool full_marked;   /* the FULL state of the region has its mark */
	uint64_t full_at;   /* of that mark */
	/* The youngest time that was delivered, and its label. */
	uint64_t last_ticks;
	int64_t last_ns;

	struct ptx_mark *mark; /* ring buffer of mark_room */
	size_t mark_first, marks, mark_room;
	size_t thin_at; /* thin.c examines the marks when there are so many */

	bool gap;           /* events were overwritten, and OVERFLOW does not report it yet */
	uint64_t gap_first; /* time of the first event lost in it, UINT64_MAX = not known */
	uint64_t cut;       /* events up to this tick are overwritten */
	uint64_t reported_cut; /* OVERFLOW has reported losses up to this tick */
	/* events up to this tick are cleared, also those that writers overwrote meanwhile */
	uint64_t cleared;
	bool after_gap; /* RESUME was delivered, so the next event must be delivered, too */

	/* Events of the drain itself, delivered before the next record. */
	struct ptx_drain_event queue[PTX_DRAIN_QUEUE];
	uint32_t queued;
	uint32_t queue_data[PTX_DRAIN_QUEUE];
	uint64_t queue_set[PTX_WORDS + 1];

	bool peeked_queue; /* consume() removes the event from the queue */
	int64_t peeked_ns; /* the label of the event that consume() removes */

	bool checkpoint;        /* the one of two that was written last */
	uint32_t placed;        /* rings for whose places in checkpoints there is memory */
	bool settled;           /* the log has all the events of the last checkpoint */
	bool resumed;           /* another process read the stream before */
	struct ptx_debts debts; /* of a stream with log: freed when a block is written */
	struct ptx_timescale scale;
	uint64_t synthetic;   /* events of the drain itself that were delivered or lost */
	uint64_t not_running; /* records that were no members */
	struct ptx_ledger account;
};

/* Returns the most chunks that the pool can have, by the number of rings. */
static inline uint64_t ptx_drain_chunks(const struct ptx_drain *drain)
{
	return ptx_ring_most_chunks(&drain->rings->geometry, drain->sources) +
	       2 * (uint64_t)drain->sources;
}

/*
 * Makes the reader of a region. created is the time of the stream's creation. Returns 0 or ENOMEM.
 * One thread uses a drain at a time.
 */
int ptx_drain_create(struct ptx_rings *rings, const struct ptx_attr *attr,
		     struct ptx_anchor created, struct ptx_drain **drain);
void ptx_drain_destroy(struct ptx_drain *drain);

/* Finds the oldest event that can be delivered. Returns false if there is none. */
bool ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event);

/*
 * For callers that must not wait, after a peek that found nothing. Finds the oldest event that was
 * complete at that moment, even if a writer that is suspended in a trace point may still publish an
 * older event. The older event is then LATE. Call peek twice before: by the second look, a writer
 * that is running has advanced and does not hold back what was there at the first look.
 */
bool ptx_drain_peek_beyond(struct ptx_drain *drain, struct ptx_drain_event *event);

/*
 * Returns true if writers overwrote, during the last pass, the events that it could have delivered.
 * Another pass may find events.
 */
bool ptx_drain_is_outrun(const struct ptx_drain *drain);

/* Consumes the event of the last peek and counts it as lost; PTX_LOST_CAUSES: as reported. */
void ptx_drain_consume(struct ptx_drain *drain, enum ptx_lost cause);

/* Makes sources for this many rings; false without memory. */
bool ptx_drain_sources(struct ptx_drain *drain, uint32_t rings);

/* Looks at the rings again: new events, a new watermark. */
void ptx_drain_pass(struct ptx_drain *drain);

/* Adds the losses of processes that could not map the region. */
void ptx_drain_missed(struct ptx_drain *drain);

/* Marks: mark.c. False without memory. */
bool ptx_drain_mark(struct ptx_drain *drain, const struct ptx_mark *mark);
/* Inserts a mark that became known late, in time order, before younger marks. */
bool ptx_drain_mark_in_order(struct ptx_drain *drain, const struct ptx_mark *mark);
/* Stores in a mark the event types that the filter accepts now. */
void ptx_drain_admitted(const struct ptx_drain *drain, struct ptx_mark *mark);
const struct ptx_mark *ptx_drain_first_mark(const struct ptx_drain *drain);
void ptx_drain_drop_mark(struct ptx_drain *drain);
/* If there are many marks, drops those that separate no events: thin.c. */
void ptx_drain_thin(struct ptx_drain *drain);

/* Returns the time for a new mark: now, and later than all that was delivered or marked. early:
 * a little before now, because a writer may read the clock a little before it loads the state. */
uint64_t ptx_drain_moment(const struct ptx_drain *drain, bool early);

/* Gives the region's FULL its mark; restarts the stream when there is room (UFULL-08, -09). */
void ptx_drain_sync(struct ptx_drain *drain);

/* Everything up to now is lost to CLEARED; no marks and no gap remain. */
void ptx_drain_clear(struct ptx_drain *drain);

/* Time of the oldest undelivered event at hand, 0 = none. */
uint64_t ptx_drain_oldest(const struct ptx_drain *drain);

/* The account as of now: account.c. ledger is an initialised one. ENOMEM. */
int ptx_drain_ledger(struct ptx_drain *drain, struct ptx_ledger *ledger);

#endif
