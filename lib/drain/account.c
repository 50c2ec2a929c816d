/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/account.c - a stream's ledger as of now.
 *
 * A ledger has three parts (ring/DESIGN 8). The drain counts each record that it delivers or drops.
 * Writers count, in the region, the events that they cannot record and the events that they
 * overwrite. The census (census.h) counts the events that are still in the stream. The number of
 * called events does not come from the columns reported and unread: the heads of the chunks show
 * how many events the writers have published. Therefore the equation called = reported + unread +
 * lost is a check: if it holds, no event was counted twice or forgotten.
 *
 * A hostile writer may change the counters in the region. The drain only adds the counters, and
 * never uses a counter as an index or a size. So a wrong counter makes the ledger wrong, but has no
 * other effect.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/life.h"
#include "base/proc.h"
#include "drain/census.h"
#include "ring/ring_write.h"
#include "ring/skip.h"

/*
 * The column of the ledger for each kind of loss that writers count. Writers never count the other
 * causes. For example, only the reader can determine that an event is cleared or damaged.
 */
static const enum ptx_lost column[PTX_WRITER_LOSSES] = {
	[PTX_WRITER_OVERWRITTEN] = PTX_LOST_OVERWRITTEN,
	[PTX_WRITER_STREAM_FULL] = PTX_LOST_STREAM_FULL,
	[PTX_WRITER_NO_MEMORY] = PTX_LOST_NO_MEMORY,
	[PTX_WRITER_NO_SLOT] = PTX_LOST_NO_SLOT,
	[PTX_WRITER_NESTING] = PTX_LOST_NESTING,
	[PTX_WRITER_SKIPPED] = PTX_LOST_BUDGET,
};

/* A census in progress, on the stack of ptx_drain_ledger(). */
struct count {
	struct ptx_drain *drain;
	struct ptx_ledger *ledger; /* the caller's ledger, which the census completes */
	/* changes of the stream's state that delivery has not reached */
	struct ptx_moments moments;
	/* time in ticks: events up to this time count as overwritten; 0: no event does */
	uint64_t cut;
	/*
	 * number of records that were stamped while the stream was stopped; they do not count as
	 * called
	 */
	uint64_t not_running;
};

/*
 * Adds one event to the lines of the total, of its type and of its thread. The cause
 * PTX_LOST_CAUSES means that the event is unread. ptx_records_check() has examined the parameter
 * `type`, so it is a valid index.
 */
static void account_add(struct count *count, unsigned type, const struct ptx_ident *ident,
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

/*
 * Returns the state of the stream at the given time. The drain has dropped the marks before
 * phases.since. If a writer was suspended, its record can be older than phases.since. For such a
 * record the function uses the phases that the drain remembers (drain/phase.h), like
 * ptx_step_phase().
 */
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

/*
 * Adds one undelivered event to its column. The tests have the same order as in the reader: the
 * clear, the cut, the state. A record of the controller's ring reports a change of the state, so it
 * counts in every state. Any other record that was stamped while the stream was stopped is in no
 * column.
 */
static void count_event(void *arg, const struct ptx_record *record, const struct ptx_ident *ident,
			bool control)
{
	struct count *count = arg;
	const enum ptx_phase phase = phase_at(count, record->time);

	if (record->time <= count->drain->cleared)
		account_add(count, record->type, ident, PTX_LOST_CLEARED);
	else if (count->drain->loop && record->time <= count->cut)
		account_add(count, record->type, ident, PTX_LOST_OVERWRITTEN);
	else if (control || phase == PTX_PHASE_RUNNING)
		account_add(count, record->type, ident, PTX_LOST_CAUSES);
	else if (phase == PTX_PHASE_FULL)
		account_add(count, record->type, ident, PTX_LOST_STREAM_FULL);
	else
		count->not_running++;
}

/*
 * Adds the losses that writers have counted by thread. Slot 0 has the losses that belong to no
 * known thread; region->slots is the number of slots behind slot 0. This number may be hostile, so
 * the geometry also bounds the loop.
 */
static void add_slots(const struct ptx_rings *rings, struct ptx_ledger *ledger)
{
	uint32_t slots = atomic_load_explicit(&rings->region->slots, memory_order_acquire);

	for (uint32_t i = 0; i <= slots && i < rings->geometry.rings; i++) {
		struct ptx_slot *slot = &rings->slot[i];
		struct ptx_ledger_line *line = NULL;

		/*
		 * The load pairs with the release in ptx_ring_count_loss(). So the identity that is
		 * loaded below is not older than the count.
		 */
		for (int loss = 0; loss < PTX_WRITER_ROWS; loss++) {
			uint64_t count = atomic_load_explicit(&slot->lost[loss],
							      memory_order_acquire);

			if (count == 0)
				continue;
			/*
			 * A line is made only for a slot with a loss, because a thread without
			 * events has no line in the ledger.
			 */
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

/*
 * A callback of ptx_ring_reap(). Returns true only if the process has certainly ended, because a
 * living process may still be counting the records of a chunk. If the reader counted these records
 * as well, they would count twice.
 */
static bool is_dead(uint32_t pid)
{
	return ptx_life_of(pid) == PTX_DEAD;
}

/*
 * Adds the losses that writers have counted by type to the lines of the types and to the total.
 * *unwritten grows by the number of lost events that were never published. Overwritten records were
 * published before they were lost, so census.published includes them already. Skipped events are
 * counted by type only, and ptx_ledger_close() adds them to the line of pid 0.
 */
static void add_types(const struct ptx_rings *rings, struct ptx_ledger *ledger, uint64_t *unwritten)
{
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++)
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++) {
			uint64_t count = ptx_ring_lost(rings, loss, type);

			ledger->type[type].lost[column[loss]] += count;
			ledger->total.lost[column[loss]] += count;
			if (loss != PTX_WRITER_OVERWRITTEN)
				*unwritten += count;
		}
}

/*
 * The caller has the stream's lock, so no event is delivered meanwhile. Writers continue. An event
 * that they publish after the census has begun is in no column. The call copies all unread records
 * and does not wait for writers. After ENOMEM the ledger is incomplete.
 */
int ptx_drain_ledger(struct ptx_drain *drain, struct ptx_ledger *ledger)
{
	struct ptx_rings *rings = drain->rings;
	struct count count = { .drain = drain, .ledger = ledger };
	struct ptx_census census = { .drain = drain, .arg = &count, .event = count_event };
	uint64_t unwritten = 0;
	int err;

	/* Each ring needs a source. Otherwise its events would be in no column. */
	if (!ptx_drain_sources(drain, atomic_load_explicit(&rings->region->rings,
							   memory_order_acquire)))
		return ENOMEM;
	ptx_drain_pass(drain);
	/*
	 * A writer that was killed while it overwrote a chunk may not have counted the chunk's
	 * records as lost. The reader counts them now. The reader does not do this if a writer may
	 * be in another pid namespace (same_ids is false, or `mixed` is not 0). The writer's id may
	 * then name another process, so a living writer could seem dead.
	 */
	if (drain->shared && drain->same_ids &&
	    !atomic_load_explicit(&drain->arena->control->mixed, memory_order_relaxed))
		ptx_ring_reap(rings, ptx_proc_own(), is_dead);
	err = ptx_ledger_copy(ledger, &drain->account);
	if (err)
		return err;
	if (!ptx_moments_make(drain, &count.moments))
		return ENOMEM;
	/*
	 * After RESUME the next event must be delivered. Until it is delivered, the reader does not
	 * apply the cut (find_next() in drain.c). So the cut is not applied here, either.
	 */
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
	 * The called events are the sum of three counts: the events that writers have published,
	 * the events that writers could not publish and counted as lost, and the synthetic events.
	 * This sum does not depend on the columns of the reader. Two kinds of published records are
	 * subtracted, because they are no called events of this ledger: records that an earlier
	 * reader has delivered (drain->before), and records that were stamped while the stream was
	 * stopped.
	 */
	ledger->total.called = census.published + unwritten + drain->synthetic -
			       drain->not_running - count.not_running - drain->before;
	/*
	 * A writer may have been killed, or left by siglongjmp(), while it counted a loss. Then it
	 * may have counted the loss by type and not by thread, or not at all. ptx_ledger_close()
	 * adds the differences to type 0 and to the line of pid 0.
	 */
	ptx_ledger_close(ledger);
	return 0;
}

/*
 * Writers count a loss by type first and then by thread. The function reads the counts in the
 * opposite order, so that no thread has a loss that the total lacks. ptx_ledger_close() adds the
 * losses that only the types have to the line of pid 0.
 */
int ptx_drain_ledger_settled(const struct ptx_drain *drain, struct ptx_ledger *ledger)
{
	uint64_t unwritten = 0;
	int err = ptx_ledger_copy(ledger, &drain->account);

	if (err)
		return err;
	add_slots(drain->rings, ledger);
	add_types(drain->rings, ledger, &unwritten);
	ledger->total.called = ptx_ledger_sum(&ledger->total);
	ptx_ledger_close(ledger);
	return 0;
}
