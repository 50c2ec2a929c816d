/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_complete.c - writing on, beginning again, and the end of a log.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <trace.h>

#include "base/io.h"
#include "log/writer.h"

int ptx_log_write(struct ptx_log *log)
{
	if (log->header_waits) {
		int err = ptx_log_write_header(log);

		if (err)
			return err;
		log->header_waits = false;
	}
	return log->loop ? ptx_log_write_loop(log) : ptx_log_write_sequence(log);
}

bool ptx_log_is_full(const struct ptx_log *log)
{
	return log->full;
}

uint64_t ptx_log_overwritten(const struct ptx_log *log)
{
	return log->loop ? ptx_log_loop_overwritten(log)->events : 0;
}

void ptx_log_account(const struct ptx_log *log, struct ptx_ledger *ledger)
{
	if (log->loop)
		ptx_log_tally_move(ptx_log_loop_overwritten(log), ledger,
				   PTX_LOST_LOG_OVERWRITTEN);
}

/* Counts what never reached the file, and says how much that was. */
static uint64_t lose_block(struct ptx_log *log, struct ptx_ledger *ledger, enum ptx_lost cause)
{
	size_t written = ptx_log_loop_written_bytes(log);
	const uint8_t *records = log->block.bytes + sizeof(struct ptx_log_block);
	struct ptx_log_tally tally;
	uint64_t lost;

	ptx_log_tally_init(&tally);
	ptx_log_tally_records(&tally, records + written, ptx_log_used(log) - written,
			      log->block.source);
	ptx_log_tally_move(&tally, ledger, cause);
	lost = tally.events;
	ptx_log_tally_fini(&tally);
	return lost;
}

static void move_to_cleared(struct ptx_ledger_line *line)
{
	line->lost[PTX_LOST_CLEARED] += line->reported;
	line->reported = 0;
}

static void clear_reported(struct ptx_ledger *ledger)
{
	move_to_cleared(&ledger->total);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		move_to_cleared(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		move_to_cleared(&ledger->thread[i].line);
}

int ptx_log_clear(struct ptx_log *log, struct ptx_ledger *ledger)
{
	if (!log->regular) {
		/* A block that is partly in the pipe must be finished. */
		if (!log->block.sealed) {
			lose_block(log, ledger, PTX_LOST_CLEARED);
			ptx_log_block_begin(log);
		}
		return 0;
	}
	if (!log->positional) {
		int err = ptx_log_check_file(log);

		if (!err)
			err = ptx_io_truncate(log->fd, 0);
		if (err)
			return err;
	}
	ptx_log_account(log, ledger); /* what a LOOP log overwrote stays lost to that */
	clear_reported(ledger);
	log->side.len = 0;
	ptx_log_names_clear(log);
	ptx_log_lists_clear(log);
	memset(log->number, 0, sizeof(log->number));
	memset(&log->sum, 0, sizeof(log->sum));
	ptx_log_index_clear(log);
	if (log->loop)
		ptx_log_loop_clear(log);
	else
		log->at = PTX_LOG_HEADER_BYTES;
	log->full = false;
	log->block.first_record = 0;
	ptx_log_block_begin(log);
	/* All blocks so far are foreign to the new id (FORMAT W5); 0 is no id. */
	log->header->log_id = log->header->log_id * UINT64_C(6364136223846793005) + 1;
	log->header_waits = true;
	return ptx_log_write(log);
}

static int send_ledger(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	size_t bytes = ptx_log_ledger_bytes(ledger);
	void *payload = ptx_log_side_payload(log, bytes);

	if (!payload)
		return ENOMEM;
	ptx_log_encode_ledger(ledger, (struct ptx_log_block *)(void *)log->side.bytes, payload);
	ptx_log_side_ready(log, PTX_LOG_LEDGER, bytes, log->at);
	return ptx_log_side_send(log);
}

static int send_end(struct ptx_log *log, struct ptx_log_end *end)
{
	void *payload = ptx_log_side_payload(log, sizeof(*end));

	if (!payload)
		return ENOMEM;
	end->sum = log->sum;
	end->end_offset = log->at;
	memcpy(end->magic, PTX_LOG_END_MAGIC, sizeof(end->magic));
	memcpy(payload, end, sizeof(*end));
	ptx_log_side_ready(log, PTX_LOG_END, sizeof(*end), log->at);
	return ptx_log_side_send(log);
}

static int send_lists(struct ptx_log *log, struct ptx_log_end *end)
{
	int err;

	end->lists_offset = log->at;
	err = ptx_log_schemas_prepare(log, true, log->at);
	if (!err)
		err = ptx_log_side_send(log);
	if (!err)
		err = ptx_log_objects_prepare(log, true, log->at);
	if (!err)
		err = ptx_log_side_send(log);
	if (!err && log->lists.mappings)
		err = ptx_log_mappings_prepare(log, true, log->at);
	return err ? err : ptx_log_side_send(log);
}

static int send_tail(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	struct ptx_log_end end;
	int err = ptx_log_side_send(log); /* what a failed write left behind */

	memset(&end, 0, sizeof(end));
	if (!err && log->loop)
		err = ptx_log_loop_index(log);
	if (!err)
		err = ptx_log_index_send(log);
	end.top_offset = log->at;
	if (!err)
		err = ptx_log_top_send(log);
	if (!err && ptx_log_lists_any(log))
		err = send_lists(log, &end);
	end.names_offset = log->at;
	if (!err)
		err = ptx_log_names_prepare(log, true, log->at);
	if (!err)
		err = ptx_log_side_send(log);
	end.ledger_offset = log->at;
	if (!err)
		err = send_ledger(log, ledger);
	return err ? err : send_end(log, &end);
}

/* FORMAT 2.2: also when the disk is full. These bytes have their place on it. */
static int close_header(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	struct ptx_log_closing *closing = &log->header->closing;
	int err = ptx_log_check_file(log);
	size_t done = 0;

	if (err)
		return err;
	memset(closing, 0, sizeof(*closing));
	memcpy(closing->state, PTX_LOG_CLOSED, sizeof(closing->state));
	closing->sum = log->sum;
	closing->total = ledger->total;
	ptx_log_seal_closing(closing);
	return ptx_io_write_at(log->fd, closing, sizeof(*closing), PTX_LOG_CLOSING_AT, &done);
}

int ptx_log_complete(struct ptx_log *log, const struct ptx_log_status *given,
		     struct ptx_ledger *ledger)
{
	struct ptx_log_status *status = &log->sum.status;
	uint64_t overwritten = ptx_log_overwritten(log);
	int saved = errno, err, late = 0, closed;

	err = ptx_log_write(log);
	*status = *given;
	if (err) {
		if (lose_block(log, ledger, PTX_LOST_FLUSH_ERROR))
			status->log_overrun = POSIX_TRACE_OVERRUN; /* LOG-19 */
		if (!status->flush_error)
			status->flush_error = err;
	}
	if (ptx_log_overwritten(log) != overwritten)
		status->log_overrun = POSIX_TRACE_OVERRUN;
	if (log->full)
		status->log_full = POSIX_TRACE_FULL;
	ptx_log_account(log, ledger);
	if (log->loop)
		ptx_log_loop_end(log);

	/* In a pipe nothing can follow half a block. */
	if (!log->header_waits && (log->positional || !log->sent))
		late = send_tail(log, ledger);
	if (log->positional && !log->header_waits) {
		closed = ptx_log_check_file(log);
		if (!closed)
			closed = ptx_io_truncate(log->fd, log->at);
		if (!closed)
			log->file_bytes = log->at;
		late = late ? late : closed;
		closed = close_header(log, ledger);
		late = late ? late : closed;
	}
	errno = saved;
	return err ? err : late;
}
