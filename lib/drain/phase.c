/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/phase.c - remembers the youngest changes of the stream's state that delivery has passed.
 *
 * The phases are in a circular array of PTX_PHASES_KEPT entries: phase number n is at index n %
 * PTX_PHASES_KEPT. The array is private memory of the reader.
 */
#include "drain/phase.h"

/*
 * Precondition: `from` is not earlier than the beginning of the previous phase. The caller ensures
 * this, because delivery reaches the marks in the order of time.
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
 * that has the time of a mark belongs to the phase that begins with the mark. find_next() in
 * drain.c has the same rule for records that are not late.
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
	 * The record is older than all remembered phases. If no phase was forgotten, it is older
	 * than the first start, so the stream was stopped. Otherwise the record counts as stamped
	 * in a running phase, because its writer saw the stream running.
	 */
	return n > 0 || phases->inherited ? PTX_PHASE_RUNNING : PTX_PHASE_STOPPED;
}
