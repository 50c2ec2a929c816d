/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/phase.c - remembers the youngest changes of state that delivery has passed.
 *
 * A circular array of PTX_PHASES_KEPT entries: entry number n is at n % PTX_PHASES_KEPT. It is
 * private memory of the reader, without locks.
 */
#include "drain/phase.h"

/*
 * The time `from` is not before the beginning of the previous phase, because delivery reaches marks
 * in the order of time.
 */
void ptx_phases_begin(struct ptx_phases *phases, uint64_t from, enum ptx_phase phase)
{
	const uint64_t index = phases->passed++ % PTX_PHASES_KEPT;

	phases->begun[index].from = from;
	phases->begun[index].phase = phase;
	phases->since = from;
}

/*
 * Searches from the youngest phase back, because most late records are only a little late. A record
 * at the time of a mark belongs to the phase that begins there. find_next() in drain.c decides in
 * the same way for records that are not late.
 */
enum ptx_phase ptx_phases_before(const struct ptx_phases *phases, uint64_t ticks)
{
	uint64_t n = phases->passed;

	for (unsigned i = 0; i < PTX_PHASES_KEPT && n > 0; i++) {
		const uint64_t index = --n % PTX_PHASES_KEPT;

		if (phases->begun[index].from <= ticks)
			return phases->begun[index].phase;
	}
	/*
	 * Before its first start a stream is stopped. Before the oldest phase that is kept, the
	 * stream counts as running, because the writer of the record saw it running.
	 */
	return n > 0 || phases->inherited ? PTX_PHASE_RUNNING : PTX_PHASE_STOPPED;
}
