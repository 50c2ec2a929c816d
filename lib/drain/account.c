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

#include "base/life.h"
#include "drain/census.h"
#include "ring/ring_write.h"

static const enum ptx_lost column[PTX_WRITER_LOSSES] = {
	[PTX_WRITER_OVERWRITTEN] = PTX_LOST_OVERWRITTEN,
	[PTX_WRITER_STREAM_FULL] = PTX_LOST_STREAM_FULL,
	[PTX_WRITER_NO_MEMORY] = PTX_LOST_NO_MEMORY,
	[PTX_WRITER_NO_SLOT] = PTX_LOST_NO_SLOT,
	[PTX_WRITER_NESTING] = PTX_LOST_NESTING,
};

struct count {
	struct ptx_drain *drain;
	struct ptx_ledger *ledger;
	struct ptx_moments moments;
	uint64_t cut;
	uint64_t not_running;
};

static void add(struct count *count, unsigned type, const struct ptx_ident *ident,
		enum ptx_lost cause)
{
	struct ptx_ledger *ledger = count->ledger;
	struct ptx_ledger_line *line[3] = {
		&ledger->total, &ledger->type[type],
		ptx_ledger_thread(ledger, ident->pid, ident->tid, ident->thread)
	};

	for (int i = 0; i < 3; i++) {
		if (cause == PTX_LOST_CAUSES)
			line[i]->unread++;
		else
			line[i]->lost[cause]++;
	}
}

/* Also of a record that comes late, behind marks that delivery has passed. */
static enum ptx_phase phase_at(const struct count *count, uint64_t ticks)
{
	const struct ptx_moment *moment;

	if (ticks < count->drain->phases.since)
		return ptx_phases_before(&count->drain->phases, ticks);
	moment = &count->moments.moment[ptx_moments_at(&count->moments, ticks)];
	return moment->running ? PTX_PHASE_RUNNING :
	       moment->full    ? PTX_PHASE_FULL :
				 PTX_PHASE_STOPPED;
}

static void count_event(void *arg, const struct ptx_record *record, const struct ptx_ident *ident,
			bool control)
{
	struct count *count = arg;
	const enum ptx_phase phase = phase_at(count, record->time);

	if (record->time <= count->drain->cleared)
		add(count, record->type, ident, PTX_LOST_CLEARED);
	else if (count->drain->loop && record->time <= count->cut)
		add(count, record->type, ident, PTX_LOST_OVERWRITTEN);
	else if (control || phase == PTX_PHASE_RUNNING)
		add(count, record->type, ident, PTX_LOST_CAUSES);
	else if (phase == PTX_PHASE_FULL)
		add(count, record->type, ident, PTX_LOST_STREAM_FULL);
	else
		count->not_running++;
}

static void add_slots(const struct ptx_rings *rings, struct ptx_ledger *ledger)
{
	uint32_t slots = atomic_load_explicit(&rings->region->slots, memory_order_acquire);

	for (uint32_t i = 0; i <= slots && i < rings->geometry.rings; i++) {
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

static bool is_dead(uint32_t pid)
{
	return ptx_life_of(pid) == PTX_DEAD;
}

static void add_types(const struct ptx_rings *rings, struct ptx_ledger *ledger, uint64_t *unwritten)
{
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++)
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++) {
			uint64_t count = atomic_load_explicit(&rings->region->lost_type[loss][type],
							      memory_order_relaxed);

			ledger->type[type].lost[column[loss]] += count;
			ledger->total.lost[column[loss]] += count;
			if (loss != PTX_WRITER_OVERWRITTEN)
				*unwritten += count;
		}
}

int ptx_drain_ledger(struct ptx_drain *drain, struct ptx_ledger *ledger)
{
	struct ptx_rings *rings = drain->rings;
	struct count count = { .drain = drain, .ledger = ledger };
	struct ptx_census census = { .drain = drain, .arg = &count, .event = count_event };
	uint64_t unwritten = 0;
	int err;

	/* The events of a ring that the pass has no memory for would be in no column. */
	if (!ptx_drain_sources(drain, atomic_load_explicit(&rings->region->rings,
							   memory_order_acquire)))
		return ENOMEM;
	ptx_drain_pass(drain);
	/*
	 * A writer that was killed while it overwrote a chunk may not have counted its records. The
	 * reader counts them now.
	 */
	if (drain->shared && drain->same_ids &&
	    !atomic_load_explicit(&drain->arena->control->mixed, memory_order_relaxed))
		ptx_ring_reap(rings, (uint32_t)getpid(), is_dead);
	err = ptx_ledger_copy(ledger, &drain->account);
	if (err)
		return err;
	if (!ptx_moments_make(drain, &count.moments))
		return ENOMEM;
	count.cut = drain->after_gap
			    ? 0
			    : atomic_load_explicit(&rings->region->cut, memory_order_acquire);
	err = ptx_census_take(&census);
	ptx_moments_free(&count.moments);
	if (err)
		return err;
	add_types(rings, ledger, &unwritten);
	add_slots(rings, ledger);
	/*
	 * The events that writers have published, and those that they counted as lost before they
	 * could publish them. This count does not depend on the reader's columns.
	 */
	ledger->total.called = census.published + unwritten + drain->synthetic -
			       drain->not_running - count.not_running - drain->before;
	/*
	 * A writer that was killed or jumped away while it counted a loss may have counted it by
	 * type and not by thread, or not at all.
	 */
	ptx_ledger_close(ledger);
	return 0;
}
