/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/account.c - a stream's ledger as of now.
 *
 * Three hands keep it: the drain booked what it delivered and dropped, writers counted what they
 * could not record or overwrote, and what is still in the stream is counted here, by walking it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/drain.h"
#include "ring/ring_write.h"

static const enum ptx_lost column[PTX_WRITER_LOSSES] = {
	[PTX_WRITER_OVERWRITTEN] = PTX_LOST_OVERWRITTEN,
	[PTX_WRITER_STREAM_FULL] = PTX_LOST_STREAM_FULL,
	[PTX_WRITER_NO_MEMORY] = PTX_LOST_NO_MEMORY,
	[PTX_WRITER_NO_SLOT] = PTX_LOST_NO_SLOT,
	[PTX_WRITER_NESTING] = PTX_LOST_NESTING,
};

struct census {
	struct ptx_drain *drain;
	struct ptx_ledger *ledger;
	bool control;
	uint64_t cut;
	uint64_t not_running;
	uint64_t looks; /* at chunks, that are left: enough for any pool, and hostile ones end */
	struct ptx_ident ident;
};

/* Whether the stream was running at a time that delivery has not reached. */
static bool was_running(const struct ptx_drain *drain, uint64_t ticks, bool *full)
{
	bool running = drain->running;

	*full = drain->full;
	for (size_t i = 0; i < drain->marks; i++) {
		const struct ptx_mark *mark =
			&drain->mark[(drain->mark_first + i) % drain->mark_room];

		if (mark->ticks > ticks)
			break;
		if (mark->kind <= PTX_MARK_RESTART) {
			running = mark->kind == PTX_MARK_START || mark->kind == PTX_MARK_RESTART;
			*full = mark->kind == PTX_MARK_FULL;
		}
	}
	return running;
}

static void add(struct census *census, unsigned type, enum ptx_lost cause)
{
	struct ptx_ledger *ledger = census->ledger;
	struct ptx_ledger_line *line[3] = {
		&ledger->total, &ledger->type[type],
		ptx_ledger_thread(ledger, census->ident.pid, census->ident.tid,
				  census->ident.thread)
	};

	for (int i = 0; i < 3; i++) {
		if (cause == PTX_LOST_CAUSES)
			line[i]->unread++;
		else
			line[i]->lost[cause]++;
	}
}

static void count_records(struct census *census, const unsigned char *bytes, uint32_t length,
			  uint32_t most)
{
	bool full;

	for (uint32_t at = 0; at < length && most;) {
		const struct ptx_record *record = (const void *)(bytes + at);

		at += (uint32_t)ptx_record_size(ptx_record_len(record->len_flags));
		if (record->len_flags & PTX_RECORD_IDENT) {
			memcpy(&census->ident, record + 1, sizeof census->ident);
			continue;
		}
		most--;
		if (record->time <= census->drain->cleared)
			add(census, record->type, PTX_LOST_CLEARED);
		else if (census->drain->loop && record->time <= census->cut)
			add(census, record->type, PTX_LOST_OVERWRITTEN);
		else if (census->control || was_running(census->drain, record->time, &full))
			add(census, record->type, PTX_LOST_CAUSES);
		else if (full)
			add(census, record->type, PTX_LOST_STREAM_FULL);
		else
			census->not_running++;
	}
}

/*
 * Up to what the ring had published when the ledger began, by number: its writer goes on meanwhile, as
 * fast as we look, maybe, and round. Never back: nothing is freed here, so what we have seen is still there.
 */
static void count_source(struct census *census, uint32_t index, unsigned char *buffer)
{
	struct ptx_drain *drain = census->drain;
	const struct ptx_source *source = drain->source[index];
	struct ptx_place place = source->place;
	uint32_t next = source->records;
	bool known = place.link != 0;
	unsigned losses = 0;

	census->control = index == 0;
	census->ident = source->ident;
	count_records(census, source->buffer + source->at, source->end - source->at, UINT32_MAX);
	for (; census->looks; census->looks--) {
		struct ptx_ident ident;
		uint32_t bytes, records, before, end;
		uint64_t last;
		bool fresh = false;

		if (known && source->published - next - 1 >= INT32_MAX)
			return; /* that was all; or it was overwritten, and what is here now came later */
		switch (ptx_ring_look(drain->rings, index, &place, buffer, &bytes, &ident, &fresh)) {
		case PTX_CLAIM_NOTHING:
			return;
		case PTX_CLAIM_LOST:
			if (++losses > PTX_LOSSES_MOST)
				return;
			if (known ? ptx_ring_find_from(drain->rings, index, next, &place, &before) :
				    ptx_ring_find(drain->rings, index, &place, &before)) {
				next = before;
				known = true;
			}
			continue;
		case PTX_CLAIM_BYTES:
			break;
		}
		if (fresh) {
			if (known && ident.spare - next > INT32_MAX)
				return; /* hostile */
			census->ident = ident;
			next = ident.spare;
			known = true;
			if (source->published - next > INT32_MAX)
				return;
		}
		end = ptx_records_check(drain->rings, buffer, bytes, &records, &last);
		count_records(census, buffer, end, source->published - next);
		next += records;
	}
}

static void add_slots(const struct ptx_rings *rings, struct ptx_ledger *ledger)
{
	uint32_t slots = atomic_load_explicit(&rings->region->slots, memory_order_acquire);

	for (uint32_t i = 0; i <= slots && i < PTX_SLOTS; i++) {
		struct ptx_slot *slot = &rings->slot[i];
		struct ptx_ledger_line *line = NULL;

		for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++) {
			uint64_t count = atomic_load_explicit(&slot->lost[loss],
							      memory_order_acquire);

			if (count == 0)
				continue;
			if (!line)
				line = ptx_ledger_thread(
					ledger,
					atomic_load_explicit(&slot->pid, memory_order_relaxed),
					atomic_load_explicit(&slot->tid, memory_order_relaxed),
					atomic_load_explicit(&slot->thread, memory_order_relaxed));
			line->lost[column[loss]] += count;
		}
	}
}

static bool is_gone(uint32_t pid)
{
	uint64_t start;

	return !ptx_io_process_start(pid, &start);
}

/*
 * A writer counts a loss by the type and then by its thread. One that was killed between the two, or
 * jumped away, left a loss of which the thread is not known. Not so many as could hide a fault: one for
 * each slot there is. Overwritten records are counted again, and reconcile_loop() looks at them.
 */
static void reconcile(struct ptx_ledger *ledger, uint32_t slots)
{
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++) {
		enum ptx_lost cause = column[loss];
		uint64_t threads = 0, more;

		for (size_t i = 0; i < ledger->threads; i++)
			threads += ledger->thread[i].line.lost[cause];
		more = ledger->total.lost[cause] - threads;
		if (more != 0 && more <= slots && loss != PTX_WRITER_OVERWRITTEN)
			ptx_ledger_thread(ledger, 0, 0, 0)->lost[cause] += more;
	}
}

/* What a reader of a LOOP stream had taken when it was killed, and not put away. */
static void count_between(struct ptx_ledger *ledger, uint64_t more)
{
	ledger->total.lost[PTX_LOST_FLUSH_ERROR] += more;
	ledger->type[PTX_TYPE_UNNAMED].lost[PTX_LOST_FLUSH_ERROR] += more;
	ptx_ledger_thread(ledger, 0, 0, 0)->lost[PTX_LOST_FLUSH_ERROR] += more;
}

/* Of so many it is not known which were counted twice: of those that lost most, likely. */
static void count_once(void *lines, size_t size, size_t count, uint64_t more)
{
	while (more) {
		struct ptx_ledger_line *most = lines;
		uint64_t less;

		for (size_t i = 1; i < count; i++) {
			struct ptx_ledger_line *line = (void *)((char *)lines + i * size);

			if (line->lost[PTX_LOST_OVERWRITTEN] > most->lost[PTX_LOST_OVERWRITTEN])
				most = line;
		}
		less = most->lost[PTX_LOST_OVERWRITTEN] < more ? most->lost[PTX_LOST_OVERWRITTEN] : more;
		if (less == 0)
			return;
		most->lost[PTX_LOST_OVERWRITTEN] -= less;
		more -= less;
	}
}

/*
 * A writer that was killed or jumped away while it counted an overwritten chunk had it counted again.
 * What the heads say was published is right; what is more is taken off, by type and by thread, but no
 * more than was counted again: where nobody was broken off, nothing.
 */
static void reconcile_loop(const struct ptx_drain *drain, struct ptx_ledger *ledger)
{
	uint64_t again = atomic_load_explicit(&drain->rings->region->recounted, memory_order_relaxed);
	uint64_t called = ledger->total.called, sum = ptx_ledger_sum(&ledger->total), threads = 0;

	if (sum < called && drain->resumed)
		count_between(ledger, called - sum);
	if (sum > called && sum - called <= again) {
		count_once(ledger->type, sizeof *ledger->type, PTX_TYPE_MAX, sum - called);
		ledger->total.lost[PTX_LOST_OVERWRITTEN] -= sum - called;
	}
	for (size_t i = 0; i < ledger->threads; i++)
		threads += ledger->thread[i].line.lost[PTX_LOST_OVERWRITTEN];
	threads -= ledger->total.lost[PTX_LOST_OVERWRITTEN];
	if (ledger->threads && threads <= again)
		count_once(&ledger->thread[0].line, sizeof *ledger->thread, ledger->threads, threads);
}

int ptx_drain_ledger(struct ptx_drain *drain, struct ptx_ledger *ledger)
{
	struct ptx_rings *rings = drain->rings;
	struct census census = { .drain = drain, .ledger = ledger };
	uint64_t unwritten = 0, published = 0;
	unsigned char *buffer = malloc(rings->geometry.chunk_room);
	int err;

	if (!buffer)
		return ENOMEM;
	/* The events of a ring that the pass has no memory for would be in no column. */
	if (!ptx_drain_sources(drain, atomic_load_explicit(&rings->region->rings,
							   memory_order_acquire))) {
		err = ENOMEM;
		goto out;
	}
	ptx_drain_pass(drain);
	/* Who was killed while it overwrote a chunk had perhaps not counted that: now somebody does. */
	if (drain->shared && drain->same_ids &&
	    !atomic_load_explicit(&drain->arena->control->mixed, memory_order_relaxed))
		ptx_ring_reap(rings, (uint32_t)getpid(), is_gone);
	err = ptx_ledger_copy(ledger, &drain->account);
	if (err)
		goto out;
	census.cut = drain->survivor ? 0 : atomic_load_explicit(&rings->region->cut,
								memory_order_acquire);
	for (uint32_t i = 0; i < drain->sources; i++) {
		uint64_t by = ptx_ring_published_by(rings, i);

		drain->source[i]->published = (uint32_t)by;
		published += by;
	}
	/* Each chunk that was a ring's then, what is at hand, and after each loss one more. */
	census.looks = ptx_drain_chunks(drain) + (uint64_t)drain->sources * (PTX_LOSSES_MOST + 1);
	for (uint32_t i = 0; i < drain->sources; i++)
		count_source(&census, i, buffer);
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++)
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++) {
			uint64_t count = atomic_load_explicit(&rings->region->lost_type[loss][type],
							      memory_order_relaxed);

			ledger->type[type].lost[column[loss]] += count;
			ledger->total.lost[column[loss]] += count;
			if (loss != PTX_WRITER_OVERWRITTEN)
				unwritten += count;
		}
	add_slots(rings, ledger);
	/* What writers had published and what they could not: their own count of what was called. */
	ledger->total.called = published + unwritten + drain->synthetic -
			       drain->not_running - census.not_running - drain->before;
	if (drain->loop)
		reconcile_loop(drain, ledger);
	reconcile(ledger, atomic_load_explicit(&rings->region->slots, memory_order_relaxed));
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		ledger->type[type].called = ptx_ledger_sum(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		ledger->thread[i].line.called = ptx_ledger_sum(&ledger->thread[i].line);
out:
	free(buffer);
	return err;
}
