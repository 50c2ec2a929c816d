/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint.h - the state from which another process continues if this process is killed
 * during a flush.
 *
 * The stream's region has two checkpoints. The reader writes a checkpoint before each write to the
 * log. The checkpoint has, for each ring, the place up to which the log will have the events. It
 * also has the number of events that the log will have. A process that replaces the reader counts
 * the events in the file. One of the two checkpoints has that count, whether or not the last write
 * was completed. So no event is in the log twice, and no event is missing that a ring still holds.
 *
 * In a LOOP stream the reader frees chunks immediately, because writers overwrite unread chunks. If
 * the reader is killed in the middle of a flush, the events that have left the rings and are not in
 * the file are lost, and counted as lost.
 */
#ifndef PTX_FLUSH_CHECKPOINT_H
#define PTX_FLUSH_CHECKPOINT_H

#include "drain/drain.h"

/* From this call on the drain keeps chunks until ptx_drain_settle(), except in a LOOP stream. */
void ptx_checkpoint_enable(struct ptx_drain *drain);

/*
 * Writes the checkpoint for a log with this many events. These are all events that the drain has
 * delivered.
 */
void ptx_checkpoint_write(struct ptx_drain *drain, uint64_t events);

/*
 * Returns how many records of the rings the drain has delivered or dropped. The drain's own events
 * are not among them.
 */
uint64_t ptx_drain_consumed(const struct ptx_drain *drain);

/* Called when the log has all delivered events: frees the chunks of these events. */
void ptx_drain_settle(struct ptx_drain *drain);

/*
 * Makes a new drain continue behind the events of a log with this count. Starts and stops that were
 * not delivered become marks. Returns 0 or ENOMEM.
 */
int ptx_checkpoint_resume(struct ptx_drain *drain, uint64_t events);

/*
 * Both functions need a buffer of chunk_room bytes. ptx_checkpoint_ident() finds the thread and the
 * number of the next record at the source's place. For this it reads the chunk from its header on,
 * because the header has the thread and the number of the first record. ptx_checkpoint_starts()
 * makes marks of the controller's START and STOP records that were not delivered, and returns 0 or
 * ENOMEM.
 */
void ptx_checkpoint_ident(struct ptx_drain *drain, uint32_t ring, unsigned char *buffer);
int ptx_checkpoint_starts(struct ptx_drain *drain, unsigned char *buffer);

#endif
