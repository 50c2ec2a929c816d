/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_sequence.c - the arrangement of sequences, for APPEND and UNTIL_FULL: each block begins
 * where the previous block ends.
 *
 * There are three rules for the order of blocks. Names, schemas, objects and mappings precede the
 * first block of events that needs them (FORMAT 3.5, 3.10). An INDEX block follows each 1024th DATA
 * block (FORMAT 3.6). A part of a block that is in a pipe cannot be removed, so the rest of this
 * block must be written next.
 */
#include "log/writer.h"

/*
 * Called when the block is in the file: updates `index` and `sum` (FORMAT 3.8), and begins an empty
 * block.
 */
static void write_sequence_written(struct ptx_log *log, size_t bytes)
{
	struct ptx_log_sum *sum = &log->sum;

	ptx_log_index_note(log, log->at, log->block.first_record, log->appender.time_min,
			   log->appender.time_max);
	log->at += bytes;
	log->number[PTX_LOG_DATA]++;
	if (!sum->blocks++)
		sum->time_first = log->appender.time_min;
	sum->time_last = log->appender.time_max;
	sum->records += log->appender.records;
	sum->record_bytes += ptx_log_used(log);
	log->block.first_record += log->appender.records;
	ptx_log_block_begin(log);
}

/*
 * Seals and sends the block. If a write to a file that can seek fails, the block is unsealed, so
 * that later events can be added. The next attempt writes the whole block again at the same offset.
 * If some of the sealed bytes were sent to a pipe, the block must not change (FORMAT W1). Returns
 * 0, or the error of the write.
 */
static int send_block(struct ptx_log *log)
{
	size_t bytes = ptx_log_block_seal(log, 0);
	int err = ptx_log_send(log, log->block.out, bytes, log->at);

	if (!err)
		write_sequence_written(log, bytes);
	else if (log->positional || !log->sent)
		ptx_log_block_unseal(log);
	return err;
}

/*
 * The function ends at the first error, and the next call repeats all steps. A step that has
 * succeeded has nothing to write in the next call.
 */
int ptx_log_write_sequence(struct ptx_log *log)
{
	int err = ptx_log_meta_send(log);

	/* If a part of the block is in a pipe, the rest must be written first. */
	if (!err && log->block.sealed)
		err = send_block(log);
	if (!err && log->index.places == PTX_LOG_INDEX_BLOCKS)
		err = ptx_log_index_send(log);
	/*
	 * New names are written even if there are no events, so that a reader of a log that is
	 * being written finds them.
	 */
	if (!err && ptx_log_names_wait(log)) {
		err = ptx_log_names_prepare(log, false, log->at);
		if (!err)
			err = ptx_log_meta_send(log);
	}
	if (!err)
		err = ptx_log_lists_write(log);
	if (!err && log->appender.records)
		err = send_block(log);
	if (!err && log->index.places == PTX_LOG_INDEX_BLOCKS)
		err = ptx_log_index_send(log);
	/* After a success the block is empty, so the event that has found no room can be added. */
	if (!err && log->block.is_out_of_room) {
		log->block.is_out_of_room = false;
		ptx_log_block_make_room(log);
	}
	return err;
}
