/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint.h - checkpoints: the state from which another process, such as a guardian,
 * continues to read a stream if this process is killed.
 *
 * The stream's region has two checkpoints. The reader writes one of them before each write to the
 * log. A checkpoint has the number of events that the log will have after the write, and for each
 * ring the place up to which the log will have the events. A process that replaces the reader
 * counts the events in the file. One of the two checkpoints has this number, whether or not the
 * last write was completed. The process continues from this checkpoint. So no event is in the log
 * twice, and no event that a ring still has is missing.
 *
 * In a LOOP stream the reader frees each chunk as soon as it has left the chunk, because writers
 * overwrite unread chunks anyway. If the reader is killed during a flush, or after a flush that
 * failed, the events that have left the rings and are not in the file are lost. The ledger counts
 * them with the cause FLUSH ERROR if a checkpoint has their number, otherwise as unattributed.
 * Events that the reader has discarded since the last checkpoint, because they are older than the
 * cut, are unattributed, too.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_FLUSH_CHECKPOINT_H
#define PTX_FLUSH_CHECKPOINT_H

#include "drain/drain.h"

/*
 * Prepares the checkpoints. Except in a LOOP stream, the drain no longer frees a chunk when it
 * leaves the chunk: from this call on ptx_drain_settle() frees such chunks.
 */
void ptx_checkpoint_enable(struct ptx_drain *drain);

/*
 * Writes a checkpoint. `events` is the number of events that the log has when it has all events
 * that the drain has delivered.
 */
void ptx_checkpoint_write(struct ptx_drain *drain, uint64_t events);

/*
 * Returns how many records of the rings the drain has delivered or dropped. Synthetic events are
 * not counted.
 */
uint64_t ptx_drain_consumed(const struct ptx_drain *drain);

/* Frees the chunks that the drain has left. Called when the log has all delivered events. */
void ptx_drain_settle(struct ptx_drain *drain);

/*
 * Makes a new drain continue from the checkpoint of a log with this number of events. Starts and
 * stops that were not delivered become marks. Returns 0 or ENOMEM.
 */
int ptx_checkpoint_resume(struct ptx_drain *drain, uint64_t events);

/*
 * `buffer` has room for chunk_room bytes. ptx_checkpoint_ident() finds the thread and the number of
 * the next record at the source's place. For this it reads the chunk from the beginning, because
 * the header of the chunk has the thread and the number of the first record.
 * ptx_checkpoint_starts() makes marks of the controller's START and STOP records that were not
 * delivered, and returns 0 or ENOMEM.
 */
void ptx_checkpoint_ident(struct ptx_drain *drain, uint32_t ring, unsigned char *buffer);
int ptx_checkpoint_starts(struct ptx_drain *drain, unsigned char *buffer);

#endif
