/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/drain/stage.h - a drain over a pool of unit/ring/pool.h, the stream's controller, and the
 * delivered events.
 *
 * Ring 0 is the controller's ring. The time is pool_now. A reading of the clock is one tick, and a
 * tick is one nanosecond. So a test simulates a stall of 200 ms by an addition.
 */
#ifndef PTX_TESTS_UNIT_DRAIN_STAGE_H
#define PTX_TESTS_UNIT_DRAIN_STAGE_H

#include <trace.h>

#include "drain/drain.h"
#include "unit/ring/pool.h"

#define STAGE_BASE_NS INT64_C(1600000000000000000)
#define STAGE_STALL   UINT64_C(200000000)

struct told {
	unsigned type;
	uint64_t value; /* the first word of its data */
	uint64_t ticks;
	int64_t time_ns;
	uint32_t tid;
	bool late;
};

struct stage {
	struct pool *pool;
	struct ptx_drain *drain;
	struct writer control;
	struct told told[POOL_SEEN];
	unsigned n;
	bool overflowed; /* `delivered` is full */
	int64_t jitter;  /* of the next anchors, in nanoseconds */
};

extern struct stage stage;

void stage_make(int stream_policy, uint32_t chunks);

/*
 * Does the same as posix/control.c: stores the state, makes the mark, and records the event in the
 * controller's ring.
 */
void stage_start(void);
void stage_stop(void);
/* Does the same as point/record.c when the pool is used up. */
void stage_fill_up(void);
enum ptx_state stage_state(void);

/*
 * Lets another process resume a log that has this number of events. The controller of the stream
 * has died.
 */
void stage_resume(uint64_t events);

/* Makes a mark as a flush does, at the present time and by thread 77. */
void stage_mark(enum ptx_mark_kind kind, int error);

/* Returns whether events were lost since the last call. */
unsigned stage_overrun(void);

/* Delivers one event; returns false if there is none. Asserts nothing. */
bool stage_take(void);
void stage_take_all(void);

/* Does the same for a caller that must not wait, after stage_take() found no event. */
bool stage_take_beyond(void);
void stage_take_all_beyond(void);

/* Returns the next delivered event that the test has not examined. */
const struct told *stage_next(void);
void stage_expect(unsigned type, uint64_t value);
void stage_expect_none(void);
/* Checks that the next `count` events are of POOL_TYPE and have the values `first` and so on. */
void stage_expect_values(uint64_t first, unsigned count);

/* Checks the ledger's equation, and that its lines by type and by thread add up to the total. */
void stage_assert_account(void);
uint64_t stage_lost(enum ptx_lost cause);
uint64_t stage_unread(void);

/* Does the first half of writer_put(): writes the record and enters the window. */
struct half {
	struct ptx_record *record;
	uint64_t head, time;
};
void writer_enter(struct writer *writer, uint64_t value, struct half *half);
void writer_commit(struct writer *writer, const struct half *half);

#endif
