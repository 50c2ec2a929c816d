/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/drain/stage.h"

#include <string.h>

#include "arena/arena.h"
#include "base/barrier.h"
#include "flush/checkpoint.h"
#include "support/support.h"

struct stage stage;
static unsigned looked_at;

struct ptx_anchor __wrap_ptx_clock_anchor(void);

struct ptx_anchor __wrap_ptx_clock_anchor(void)
{
	struct ptx_anchor anchor = { ++pool_now, 0 };

	anchor.realtime_ns = STAGE_BASE_NS + (int64_t)anchor.ticks + stage.jitter;
	return anchor;
}

void stage_make(int stream_policy, uint32_t chunks)
{
	struct ptx_attr attr = { .stream_policy = (uint32_t)stream_policy };

	if (stage.drain)
		ptx_drain_destroy(stage.drain);
	memset(&stage, 0, sizeof stage);
	looked_at = 0;
	ptx_barrier_init();
	stage.pool = pool_make(chunks, stream_policy == POSIX_TRACE_LOOP);
	stage.pool->young = true;
	pool_now = 1000000000; /* so that subtracting a stall or an early read leaves a positive
			        * time */
	ck_assert_int_eq(ptx_drain_create(&stage.pool->rings, &attr, __wrap_ptx_clock_anchor(),
					  &stage.drain), 0);
	writer_begin(&stage.control, stage.pool, 1);
	stage.control.ident.slot = 0;
}

void stage_resume(uint64_t events)
{
	struct ptx_attr attr = { .stream_policy = stage.drain->loop ? POSIX_TRACE_LOOP :
								      POSIX_TRACE_UNTIL_FULL };
	struct ptx_anchor created = { pool_now, STAGE_BASE_NS + (int64_t)pool_now };

	ptx_drain_destroy(stage.drain);
	stage.pool->rings.debts = NULL;
	ck_assert_int_eq(ptx_drain_create(&stage.pool->rings, &attr, created, &stage.drain), 0);
	ck_assert_int_eq(ptx_checkpoint_resume(stage.drain, events), 0);
	ptx_checkpoint_enable(stage.drain);
}

static void set_state(enum ptx_state kind, uint64_t ticks)
{
	atomic_store(&stage.pool->rings.region->state, ptx_state_make(kind, ticks));
}

static void control(unsigned type, enum ptx_state kind, enum ptx_mark_kind mark_kind, bool early)
{
	struct ptx_mark mark = { .kind = mark_kind };
	struct ptx_record *record;
	uint64_t head, value = 0;

	mark.ticks = ptx_drain_moment(stage.drain, early);
	ck_assert(ptx_drain_mark(stage.drain, &mark));
	set_state(kind, mark.ticks);
	record = ptx_ring_prepare(&stage.pool->rings, stage.control.chunk, POOL_RECORD, &head);
	if (!record) {
		ck_assert(ptx_ring_turn(&stage.pool->rings, &stage.control.chunk,
					&stage.control.ident, &pool_loss));
		record = ptx_ring_prepare(&stage.pool->rings, stage.control.chunk, POOL_RECORD,
					  &head);
		ck_assert_ptr_nonnull(record);
	}
	ptx_record_fill(record, sizeof value, type, 0);
	ptx_copy_in((unsigned char *)(record + 1), (unsigned char *)&value, sizeof value);
	ptx_ring_stamp(stage.control.chunk, head);
	ptx_ring_publish(stage.control.chunk, record, head, POOL_RECORD, mark.ticks);
}

void stage_start(void)
{
	pool_now += 10000; /* a start examines the last microsecond */
	control(POSIX_TRACE_START, PTX_RUNNING, PTX_MARK_START, true);
}

void stage_stop(void)
{
	control(POSIX_TRACE_STOP, PTX_SUSPENDED, PTX_MARK_STOP, false);
}

void stage_fill_up(void)
{
	set_state(PTX_FULL, ptx_clock_ordered());
}

void stage_mark(enum ptx_mark_kind kind, int error)
{
	struct ptx_mark mark = { .kind = kind, .error = error, .tid = 77 };

	mark.ticks = ptx_drain_moment(stage.drain, false);
	ck_assert(ptx_drain_mark(stage.drain, &mark));
}

unsigned stage_overrun(void)
{
	return atomic_exchange(&stage.pool->rings.region->overrun, 0);
}

enum ptx_state stage_state(void)
{
	return ptx_state_kind(atomic_load(&stage.pool->rings.region->state));
}

static bool take(bool (*peek)(struct ptx_drain *drain, struct ptx_drain_event *event))
{
	struct ptx_drain_event event;
	struct told *told = &stage.told[stage.n];

	if (!peek(stage.drain, &event))
		return false;
	if (stage.n == POOL_SEEN) {
		stage.overflowed = true;
		return false;
	}
	stage.n++;
	told->type = event.type;
	told->value = 0;
	if (ptx_record_len(event.len_flags) >= sizeof told->value)
		memcpy(&told->value, event.data, sizeof told->value);
	else if (ptx_record_len(event.len_flags))
		memcpy(&told->value, event.data, ptx_record_len(event.len_flags));
	told->ticks = event.ticks;
	told->time_ns = event.time_ns;
	told->tid = event.ident.tid;
	told->late = event.len_flags & PTX_RECORD_LATE;
	ptx_drain_consume(stage.drain, PTX_LOST_CAUSES);
	return true;
}

bool stage_take(void)
{
	return take(ptx_drain_peek);
}

bool stage_take_beyond(void)
{
	return take(ptx_drain_peek_beyond);
}

void stage_take_all(void)
{
	while (stage_take())
		;
}

void stage_take_all_beyond(void)
{
	do
		stage_take_all();
	while (stage_take_beyond());
}

const struct told *stage_next(void)
{
	if (looked_at == stage.n && !stage_take())
		return NULL;
	return &stage.told[looked_at++];
}

void stage_expect(unsigned type, uint64_t value)
{
	const struct told *told = stage_next();

	ck_assert_msg(told != NULL, "nothing instead of %u", type);
	ck_assert_uint_eq(told->type, type);
	ck_assert_uint_eq(told->value, value);
}

void stage_expect_none(void)
{
	const struct told *told = stage_next();

	ck_assert_msg(told == NULL, "%u instead of nothing", told ? told->type : 0);
}

void stage_expect_values(uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		stage_expect(POOL_TYPE, first + i);
}

static void add_line(struct ptx_ledger_line *sum, const struct ptx_ledger_line *line)
{
	sum->reported += line->reported;
	sum->unread += line->unread;
	for (int i = 0; i < PTX_LOST_CAUSES; i++)
		sum->lost[i] += line->lost[i];
}

static void assert_lines_equal(const struct ptx_ledger_line *a, const struct ptx_ledger_line *b)
{
	ck_assert_uint_eq(a->reported, b->reported);
	ck_assert_uint_eq(a->unread, b->unread);
	for (int i = 0; i < PTX_LOST_CAUSES; i++)
		ck_assert_uint_eq(a->lost[i], b->lost[i]);
}

static void take_ledger(struct ptx_ledger *ledger)
{
	ptx_ledger_init(ledger);
	ck_assert_int_eq(ptx_drain_ledger(stage.drain, ledger), 0);
}

void stage_assert_account(void)
{
	static struct ptx_ledger ledger;
	struct ptx_ledger_line types = { 0 }, threads = { 0 };

	take_ledger(&ledger);
	ck_assert_uint_eq(ledger.total.called, ptx_ledger_sum(&ledger.total));
	ck_assert_uint_eq(ledger.total.reported, stage.n);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		add_line(&types, &ledger.type[type]);
	for (size_t i = 0; i < ledger.threads; i++)
		add_line(&threads, &ledger.thread[i].line);
	assert_lines_equal(&types, &ledger.total);
	assert_lines_equal(&threads, &ledger.total);
	ptx_ledger_fini(&ledger);
}

uint64_t stage_lost(enum ptx_lost cause)
{
	static struct ptx_ledger ledger;
	uint64_t lost;

	take_ledger(&ledger);
	lost = ledger.total.lost[cause];
	ptx_ledger_fini(&ledger);
	return lost;
}

uint64_t stage_unread(void)
{
	static struct ptx_ledger ledger;
	uint64_t unread;

	take_ledger(&ledger);
	unread = ledger.total.unread;
	ptx_ledger_fini(&ledger);
	return unread;
}

void writer_enter(struct writer *writer, uint64_t value, struct half *half)
{
	struct ptx_rings *rings = &writer->pool->rings;

	half->record = ptx_ring_prepare(rings, writer->chunk, POOL_RECORD, &half->head);
	if (!half->record) {
		ck_assert(ptx_ring_turn(rings, &writer->chunk, &writer->ident, &pool_loss));
		half->record = ptx_ring_prepare(rings, writer->chunk, POOL_RECORD, &half->head);
		ck_assert_ptr_nonnull(half->record);
	}
	ptx_record_fill(half->record, sizeof value, POOL_TYPE, 0);
	ptx_copy_in((unsigned char *)(half->record + 1), (unsigned char *)&value, sizeof value);
	ptx_ring_stamp(writer->chunk, half->head);
	half->time = ptx_clock_now();
}

void writer_commit(struct writer *writer, const struct half *half)
{
	ptx_ring_publish(writer->chunk, half->record, half->head, POOL_RECORD, half->time);
}
