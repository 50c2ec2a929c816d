/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_sequence.c - APPEND and UNTIL_FULL: one block behind the other.
 */
#include "log/writer.h"

static void written(struct ptx_log *log, size_t bytes)
{
	struct ptx_log_sum *sum = &log->sum;

	ptx_log_index_note(log, log->at, log->block.first_record, log->hot.time_min,
			   log->hot.time_max);
	log->at += bytes;
	log->number[PTX_LOG_DATA]++;
	if (!sum->blocks++)
		sum->time_first = log->hot.time_min;
	sum->time_last = log->hot.time_max;
	sum->records += log->hot.records;
	sum->record_bytes += ptx_log_used(log);
	log->block.first_record += log->hot.records;
	ptx_log_block_begin(log);
}

static int send_block(struct ptx_log *log)
{
	size_t bytes = ptx_log_block_seal(log, 0);
	int err = ptx_log_send(log, log->block.out, bytes, log->at);

	if (!err)
		written(log, bytes);
	else if (log->positional || !log->sent)
		ptx_log_block_unseal(log);
	return err;
}

int ptx_log_write_sequence(struct ptx_log *log)
{
	int err = ptx_log_side_send(log);

	/* Part of it is in the pipe: nothing may come between. */
	if (!err && log->block.sealed)
		err = send_block(log);
	if (!err && log->index.places == PTX_LOG_INDEX_BLOCKS)
		err = ptx_log_index_send(log);
	if (!err && ptx_log_names_wait(log)) {
		err = ptx_log_names_prepare(log, false, log->at);
		if (!err)
			err = ptx_log_side_send(log);
	}
	if (!err)
		err = ptx_log_lists_write(log);
	if (!err && log->hot.records)
		err = send_block(log);
	if (!err && log->index.places == PTX_LOG_INDEX_BLOCKS)
		err = ptx_log_index_send(log);
	if (!err && log->block.crowded) { /* nothing was in it: an event larger than room */
		log->block.crowded = false;
		ptx_log_block_make_room(log);
	}
	return err;
}
