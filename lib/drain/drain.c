/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drain/heap.h"
#include "record/eventset.h"

#define CONTROL_RING 0 /* the first ring of a stream is its controller's */
#define JITTER_NS    1000

int ptx_drain_create(struct ptx_rings *rings, const struct ptx_attr *attr,
		     struct ptx_anchor created, struct ptx_drain **result)
{
	struct ptx_drain *drain = calloc(1, sizeof *drain);

	if (!drain)
		return ENOMEM;
	drain->source = calloc(PTX_RINGS, sizeof *drain->source);
	drain->heap = calloc(PTX_RINGS, sizeof *drain->heap);
	if (!drain->source || !drain->heap) {
		free(drain->source);
		free(drain->heap);
		free(drain);
		return ENOMEM;
	}
	drain->rings = rings;
	drain->loop = attr->stream_policy == POSIX_TRACE_LOOP;
	drain->flush_policy = attr->stream_policy == POSIX_TRACE_FLUSH;
	drain->gap_first = UINT64_MAX;
	ptx_timescale_init(&drain->scale, created);
	ptx_ledger_init(&drain->account);
	*result = drain;
	return 0;
}

void ptx_drain_destroy(struct ptx_drain *drain)
{
	for (uint32_t i = 0; i < drain->sources; i++) {
		free(drain->source[i]->buffer);
		free(drain->source[i]);
	}
	free(drain->source);
	free(drain->heap);
	free(drain->mark);
	ptx_ledger_fini(&drain->account);
	free(drain);
}

static struct ptx_source *top(const struct ptx_drain *drain)
{
	return drain->heap_count ? drain->source[drain->heap[0]] : NULL;
}

/* The same where there is one for sure. */
static struct ptx_source *first_source(const struct ptx_drain *drain)
{
	return drain->source[drain->heap[0]];
}

static const struct ptx_record *record_of(const struct ptx_source *source)
{
	return (const void *)(source->buffer + source->at);
}

/* To the next record of the top source. */
static void advance(struct ptx_drain *drain)
{
	uint32_t index = drain->heap[0];
	struct ptx_source *source = drain->source[index];

	source->at += (uint32_t)ptx_record_size(ptx_record_len(record_of(source)->len_flags));
	if (ptx_likely(source->at < source->end))
		source->key = record_of(source)->time;
	else
		ptx_drain_refill(drain, index);
	ptx_heap_fix_top(drain);
}

static struct ptx_ledger_line *line_of(struct ptx_drain *drain, struct ptx_source *source)
{
	if (ptx_unlikely(source->line == SIZE_MAX)) {
		struct ptx_ledger_line *line =
			ptx_ledger_thread(&drain->account, source->ident.pid, source->ident.tid,
					  source->ident.thread);

		source->line = (size_t)((struct ptx_ledger_thread *)(void *)((char *)line -
					offsetof(struct ptx_ledger_thread, line)) -
					drain->account.thread);
	}
	return &drain->account.thread[source->line].line;
}

static void add(struct ptx_ledger_line *line, enum ptx_lost cause)
{
	if (cause == PTX_LOST_CAUSES)
		line->reported++;
	else
		line->lost[cause]++;
}

/* Books the top source's record and goes on. */
static void book(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_source *source = first_source(drain);

	add(&drain->account.total, cause);
	add(&drain->account.type[record_of(source)->type], cause);
	add(line_of(drain, source), cause);
	advance(drain);
}

static bool is_admitted(const struct ptx_drain *drain, unsigned type)
{
	return atomic_load_explicit(&drain->rings->region->admit[type / 64],
				    memory_order_relaxed) >> (type % 64) & 1;
}

static struct ptx_drain_event *queue(struct ptx_drain *drain, unsigned type, uint64_t ticks,
				     const void *data, size_t len)
{
	struct ptx_drain_event *event = &drain->queue[drain->queued];

	if (!is_admitted(drain, type) || drain->queued == PTX_DRAIN_QUEUE)
		return NULL;
	memset(event, 0, sizeof *event);
	event->type = (uint16_t)type;
	event->len_flags = (uint32_t)len;
	event->ticks = ticks;
	event->data = data;
	drain->queued++;
	return event;
}

static void queue_int(struct ptx_drain *drain, unsigned type, uint64_t ticks, int value)
{
	uint32_t *data = &drain->queue_data[drain->queued];

	*data = (uint32_t)value;
	queue(drain, type, ticks, data, sizeof value);
}

static void queue_flush_mark(struct ptx_drain *drain, unsigned type, const struct ptx_mark *mark)
{
	struct ptx_drain_event *event = queue(drain, type, mark->ticks, NULL, 0);

	if (!event)
		return;
	event->ident.pid = mark->pid;
	event->ident.tid = mark->tid;
	event->ident.thread = mark->thread;
	event->address = mark->address;
}

static void queue_restart(struct ptx_drain *drain, const struct ptx_mark *mark)
{
	drain->queue_set[0] = PTX_EVENTSET_MAGIC;
	for (int i = 0; i < PTX_WORDS; i++)
		drain->queue_set[i + 1] = ~mark->admit[i];
	if (drain->flush_policy)
		queue(drain, POSIX_TRACE_RESUME, mark->ticks, NULL, 0);
	queue(drain, POSIX_TRACE_START, mark->ticks, drain->queue_set, PTX_EVENT_SET_BYTES);
}

/* Delivery has reached the first mark. silent: it lies in what was lost. */
static void pass_mark(struct ptx_drain *drain, bool silent)
{
	struct ptx_mark mark = *ptx_drain_first_mark(drain);

	ptx_drain_drop_mark(drain);
	switch (mark.kind) {
	case PTX_MARK_START:
	case PTX_MARK_RESTART:
		drain->running = true;
		drain->full = false;
		break;
	case PTX_MARK_STOP:
		drain->running = false;
		drain->full = false;
		break;
	case PTX_MARK_FULL:
		drain->running = false;
		drain->full = true;
		break;
	default:
		break;
	}
	if (silent)
		return;
	switch (mark.kind) {
	case PTX_MARK_FULL:
		queue_int(drain, POSIX_TRACE_STOP, mark.ticks, 1);
		if (drain->flush_policy)
			queue(drain, POSIX_TRACE_OVERFLOW, mark.ticks, NULL, 0);
		break;
	case PTX_MARK_RESTART:
		queue_restart(drain, &mark);
		break;
	case PTX_MARK_FLUSH_START:
		queue_flush_mark(drain, POSIX_TRACE_FLUSH_START, &mark);
		break;
	case PTX_MARK_FLUSH_STOP:
		queue_flush_mark(drain, POSIX_TRACE_FLUSH_STOP, &mark);
		break;
	case PTX_MARK_ERROR:
		queue_int(drain, POSIX_TRACE_ERROR, mark.ticks, mark.error);
		break;
	default:
		break;
	}
}

static void take_ident(struct ptx_drain *drain, struct ptx_source *source)
{
	memcpy(&source->ident, record_of(source) + 1, sizeof source->ident);
	source->line = SIZE_MAX;
	advance(drain);
}

static void lower_gap(struct ptx_drain *drain, uint64_t ticks)
{
	if (ticks < drain->gap_first)
		drain->gap_first = ticks;
}

/* Something may have been overwritten: a ring with nothing at hand shows now whether it was its. */
static void take_all(struct ptx_drain *drain)
{
	for (uint32_t i = 0; i < drain->sources; i++)
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
	ptx_heap_build(drain);
}

/*
 * What was overwritten reaches up to the cut. Whatever else is as old goes too, so that what
 * remains is exactly the youngest part of the stream. Who overwrites raises the cut first and
 * tells the first event's time last, maybe after the gap has been told.
 */
static void apply_cut(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t first = UINT64_MAX, cut;
	const struct ptx_mark *mark;
	struct ptx_source *source;

	if (atomic_load_explicit(&region->first_overwritten, memory_order_relaxed) != UINT64_MAX)
		first = atomic_exchange_explicit(&region->first_overwritten, UINT64_MAX,
						 memory_order_acquire);
	cut = atomic_load_explicit(&region->cut, memory_order_acquire); /* (J) with (I) in ring/overwrite.c */
	if (cut != drain->cut) {
		drain->cut = cut;
		take_all(drain);
	}
	if (first != UINT64_MAX && cut > drain->told_cut)
		lower_gap(drain, first > drain->told_cut ? first : drain->told_cut + 1);
	while ((source = top(drain)) && source->key <= drain->cut) {
		if (record_of(source)->len_flags & PTX_RECORD_IDENT) {
			take_ident(drain, source);
			continue;
		}
		lower_gap(drain, source->key);
		drain->gap = true;
		book(drain, PTX_LOST_OVERWRITTEN); /* OVERRUN was told by who overwrote */
	}
	while ((mark = ptx_drain_first_mark(drain)) && mark->ticks <= drain->cut)
		pass_mark(drain, true);
}

/* OVERFLOW, at the time of the first event lost, and RESUME, at that of the survivor. */
static void tell_gap(struct ptx_drain *drain, uint64_t survivor)
{
	uint64_t first = drain->gap_first == UINT64_MAX ? drain->last_ticks + 1 : drain->gap_first;

	if (first < drain->last_ticks)
		first = drain->last_ticks; /* what was delivered is older than the gap */
	if (first > survivor || drain->last_ticks == 0)
		first = drain->gap_first < survivor ? drain->gap_first : survivor;
	queue(drain, POSIX_TRACE_OVERFLOW, first, NULL, 0);
	queue(drain, POSIX_TRACE_RESUME, survivor, NULL, 0);
	drain->told_cut = drain->cut;
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	drain->survivor = true;
}

/* A record that is not delivered: a handle's work, or no member of the stream. */
static bool pass_over(struct ptx_drain *drain, struct ptx_source *source)
{
	const struct ptx_record *record = record_of(source);

	if (record->len_flags & PTX_RECORD_IDENT) {
		take_ident(drain, source);
		return true;
	}
	if (source == drain->source[CONTROL_RING])
		return false;
	if (record->type < PTX_TYPE_UNNAMED) {
		book(drain, PTX_LOST_DAMAGED); /* only the controller writes system events */
		return true;
	}
	if (drain->running)
		return false;
	if (drain->full) {
		/* Its writer saw the stream running, but another had found it full by then. */
		atomic_store_explicit(&drain->rings->region->overrun, 1, memory_order_relaxed);
		book(drain, PTX_LOST_STREAM_FULL);
	} else {
		drain->not_running++;
		advance(drain);
	}
	return true;
}

/* False: nothing to deliver at hand. */
static bool find_next(struct ptx_drain *drain)
{
	for (;;) {
		const struct ptx_mark *mark;
		struct ptx_source *source;
		uint64_t key = UINT64_MAX;

		if (drain->queued)
			return true;
		if (drain->loop && !drain->survivor)
			apply_cut(drain);
		mark = ptx_drain_first_mark(drain);
		source = top(drain);
		drain->held_back = source && source->key > drain->watermark;
		if (source && !drain->held_back)
			key = source->key;
		if (mark && mark->ticks <= key && mark->ticks <= drain->watermark) {
			/* A restart is told before the next event, not before there is one. */
			if (mark->kind == PTX_MARK_RESTART && key == UINT64_MAX && drain->marks == 1)
				return false;
			pass_mark(drain, false);
			continue;
		}
		if (key == UINT64_MAX)
			return false;
		if (pass_over(drain, source))
			continue;
		if (drain->gap && !drain->survivor) {
			tell_gap(drain, key);
			continue;
		}
		return true;
	}
}

/* Labels never go back by the jitter of the scale's anchors. */
static int64_t label(struct ptx_drain *drain, uint64_t ticks)
{
	int64_t ns = ptx_timescale_ns(&drain->scale, ticks);

	if (ns < drain->last_ns && drain->last_ns - ns < JITTER_NS && ticks >= drain->last_ticks)
		return drain->last_ns;
	return ns;
}

bool ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	const struct ptx_record *record;
	struct ptx_source *source;

	if (!find_next(drain)) {
		ptx_drain_pass(drain);
		if (!find_next(drain)) {
			ptx_drain_sync(drain);
			return false;
		}
	}
	if (drain->queued) {
		*event = drain->queue[0];
		event->time_ns = label(drain, event->ticks);
		drain->peeked_queue = true;
		drain->last_ns = event->time_ns;
		return true;
	}
	source = first_source(drain);
	record = record_of(source);
	event->len_flags = record->len_flags &
			   (PTX_RECORD_LEN_MAX | PTX_RECORD_TRUNCATED);
	if (record->time < drain->last_ticks)
		event->len_flags |= PTX_RECORD_LATE;
	event->type = record->type;
	event->ident = source->ident;
	event->address = record->address;
	event->ticks = record->time;
	event->time_ns = label(drain, record->time);
	event->data = record + 1;
	drain->peeked_queue = false;
	drain->last_ns = event->time_ns;
	return true;
}

static void consume_queued(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_drain_event *event = &drain->queue[0];
	struct ptx_ledger_line *thread = ptx_ledger_thread(
		&drain->account, event->ident.pid, event->ident.tid, event->ident.thread);

	add(&drain->account.total, cause);
	add(&drain->account.type[event->type], cause);
	add(thread, cause);
	drain->synthetic++;
	if (event->ticks > drain->last_ticks)
		drain->last_ticks = event->ticks;
	drain->queued--;
	memmove(&drain->queue[0], &drain->queue[1], drain->queued * sizeof drain->queue[0]);
	for (uint32_t i = 0; i < drain->queued; i++) { /* data of the drain's own moves along */
		if (drain->queue[i].data == &drain->queue_data[i + 1]) {
			drain->queue_data[i] = drain->queue_data[i + 1];
			drain->queue[i].data = &drain->queue_data[i];
		}
	}
}

void ptx_drain_consume(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_region *region = drain->rings->region;

	if (drain->peeked_queue) {
		consume_queued(drain, cause);
		return;
	}
	if (first_source(drain)->key > drain->last_ticks)
		drain->last_ticks = first_source(drain)->key;
	drain->survivor = false;
	book(drain, cause);
	if (drain->loop) {
		if (atomic_load_explicit(&region->looped, memory_order_relaxed))
			atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	} else if (ptx_unlikely(drain->full_marked)) {
		ptx_drain_sync(drain);
	}
}

uint64_t ptx_drain_oldest(const struct ptx_drain *drain)
{
	const struct ptx_source *source = top(drain);

	return source ? source->key : 0;
}

void ptx_drain_clear(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t now = ptx_clock_ordered();

	ptx_drain_pass(drain);
	drain->queued = 0;
	drain->survivor = false;
	for (;;) {
		const struct ptx_mark *mark = ptx_drain_first_mark(drain);
		struct ptx_source *source = top(drain);
		uint64_t key = source ? source->key : UINT64_MAX;

		if (mark && mark->ticks <= key) {
			pass_mark(drain, true);
			continue;
		}
		if (!source || key > now)
			break;
		if (!pass_over(drain, source))
			book(drain, PTX_LOST_CLEARED);
	}
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	atomic_store_explicit(&region->first_overwritten, UINT64_MAX, memory_order_relaxed);
	drain->told_cut = drain->cut = atomic_load_explicit(&region->cut, memory_order_acquire);
	atomic_store_explicit(&region->overrun, 0, memory_order_relaxed);
	atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	drain->full_marked = false;
	drain->full = false;
	drain->last_ticks = drain->last_ticks > now ? drain->last_ticks : now;
}
