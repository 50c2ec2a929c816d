/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/phase.h"

void ptx_phases_begin(struct ptx_phases *phases, uint64_t from, enum ptx_phase phase)
{
	const uint64_t index = phases->passed++ % PTX_PHASES_KEPT;

	phases->begun[index].from = from;
	phases->begun[index].phase = phase;
	phases->since = from;
}

enum ptx_phase ptx_phases_before(const struct ptx_phases *phases, uint64_t ticks)
{
	uint64_t n = phases->passed;

	for (unsigned i = 0; i < PTX_PHASES_KEPT && n > 0; i++) {
		const uint64_t index = --n % PTX_PHASES_KEPT;

		if (phases->begun[index].from <= ticks)
			return phases->begun[index].phase;
	}
	/* Before its first start a stream is stopped; before older ones than are kept it ran. */
	return n > 0 || phases->inherited ? PTX_PHASE_RUNNING : PTX_PHASE_STOPPED;
}
