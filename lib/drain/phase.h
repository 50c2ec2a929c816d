/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/phase.h - in which state the stream was at a time that delivery has passed.
 *
 * The reader does not wait without end for a writer that is suspended between its clock reading and
 * its publishing. The writer's record may therefore reach the drain after the marks of younger
 * starts and stops. Only the record's time decides whether the record belongs to the stream
 * (ring/DESIGN 6), so the drain remembers the marks that it has passed. Only the youngest
 * PTX_PHASES_KEPT are kept, so that the memory is bounded. A record that is older than all of them
 * is delivered, because its writer saw the stream running.
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

/* Notes that delivery has passed the mark at which this phase began. */
void ptx_phases_begin(struct ptx_phases *phases, uint64_t from, enum ptx_phase phase);

/* Returns the phase at a time before the present phase began. */
enum ptx_phase ptx_phases_before(const struct ptx_phases *phases, uint64_t ticks);

#endif
