/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/phase.h - the phases of a stream that delivery has passed. A phase is a span of time in
 * which the stream was stopped, running or full.
 *
 * A writer may be suspended after it has read the clock and before it publishes the record. The
 * reader does not wait for ever for this writer. So the record may reach the drain after the marks
 * of younger starts and stops. Only the time of the record decides whether the record belongs to
 * the stream (ring/DESIGN 6), so the drain remembers the phases that it has passed. It remembers
 * only the youngest PTX_PHASES_KEPT phases, so that the memory is bounded. If phases were
 * forgotten, a record that is older than all remembered phases is delivered, because its writer saw
 * the stream running.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_DRAIN_PHASE_H
#define PTX_DRAIN_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#define PTX_PHASES_KEPT 64

enum ptx_phase {
	PTX_PHASE_STOPPED,
	PTX_PHASE_RUNNING,
	PTX_PHASE_FULL
};

struct ptx_phases {
	uint64_t since;  /* when the present phase began; 0: the drain has passed no mark */
	uint64_t passed; /* number of phases that have begun */
	bool inherited;  /* true if an earlier reader has passed marks that are not known here */
	struct {
		uint64_t from;
		enum ptx_phase phase;
	} begun[PTX_PHASES_KEPT];
};

/* Notes that delivery has passed the mark with the time `from`, which begins the phase `phase`. */
void ptx_phases_begin(struct ptx_phases *phases, uint64_t from, enum ptx_phase phase);

/*
 * Returns the phase at a time before the beginning of the present phase: RUNNING if that phase was
 * forgotten, STOPPED if the time is before the first phase.
 */
enum ptx_phase ptx_phases_before(const struct ptx_phases *phases, uint64_t ticks);

#endif
