/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint.h - what another process needs to go on where a flush was killed.
 *
 * It lies in the stream's region, twice, and is written before each write to the log: how far each
 * ring will have been read when the log has so many events. Whoever takes over counts the events in
 * the file: one of the two checkpoints is of that count, whether or not the last write was
 * completed. So no event is in the log twice, and none is missing that a ring still holds.
 *
 * In a LOOP stream what was read is given up at once, since writers take over what is not: there a
 * kill in the middle of a flush costs the events between ring and file. They are counted.
 */
#ifndef PTX_FLUSH_CHECKPOINT_H
#define PTX_FLUSH_CHECKPOINT_H

#include "drain/drain.h"

/* From now on the drain keeps chunks until ptx_drain_settle(), but those of a LOOP stream. */
void ptx_checkpoint_enable(struct ptx_drain *drain);

/* The log is about to have so many events: all that were taken from the drain so far. */
void ptx_checkpoint_write(struct ptx_drain *drain, uint64_t events);

/* It has them: they are no longer needed here. */
void ptx_drain_settle(struct ptx_drain *drain);

/* A new drain goes on where the log has so many events. What was not delivered of starts and stops
 * becomes marks. ENOMEM. */
int ptx_checkpoint_resume(struct ptx_drain *drain, uint64_t events);

/*
 * Both with a buffer of chunk_room. Whose records stand at the source's place, and the number of
 * the first: the chunk's header says it of its first ones. What the controller wrote into its ring
 * and the drain has not delivered becomes marks; ENOMEM.
 */
void ptx_checkpoint_ident(struct ptx_drain *drain, uint32_t ring, unsigned char *buffer);
int ptx_checkpoint_starts(struct ptx_drain *drain, unsigned char *buffer);

#endif
