/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_complete.c - writes the waiting parts of a log, clears the log, and completes it.
 *
 * The tail of a log has the index, all names and lists again, the ledger and the END block. So a
 * reader of a complete log finds these parts without a search (FORMAT R2). If a write of the tail
 * fails, the closing area of the header still gets the status and the total (FORMAT R3). After an
 * error ptx_log_complete() continues, as long as the bytes in the file remain a valid log.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <trace.h>

#include "base/io.h"
#include "log/format_skips.h"
#include "log/writer.h"

/*
 * After a clear, the new header is written first. Until then, new blocks would have another log_id
 * than the header in the file, so readers would ignore the blocks (FORMAT B4).
 */
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

/*
 * The member `full` is atomic, because the controller calls this function while the flusher writes.
 */
bool ptx_log_is_full(const struct ptx_log *log)
{
	return log->full;
}

/* Only memory has this number until the log is completed (FORMAT 3.8). */
uint64_t ptx_log_overwritten(const struct ptx_log *log)
{
	return log->loop ? ptx_log_loop_overwritten(log)->events : 0;
}

/* The result is constant from the creation of the log on. Any thread may call this function. */
bool ptx_log_is_loop(const struct ptx_log *log)
{
	return log->loop;
}

/*
 * Only a LOOP log overwrites events. The drain has counted all appended events as reported. Those
 * that the log has overwritten become lost here (FORMAT L3).
 */
void ptx_log_account(const struct ptx_log *log, struct ptx_ledger *ledger)
{
	if (log->loop)
		ptx_log_tally_move(ptx_log_loop_overwritten(log), ledger,
				   PTX_LOST_LOG_OVERWRITTEN);
}

/*
 * Counts as lost, with the given cause, the events of the current block that are not in the file.
 * Returns their number. In a LOOP log, the block may be in the file with only its first events.
 * Those events are not lost.
 */
static uint64_t lose_block(struct ptx_log *log, struct ptx_ledger *ledger, enum ptx_lost cause)
{
	size_t written = ptx_log_loop_written_bytes(log);
	const uint8_t *records = log->block.bytes + sizeof(struct ptx_log_block);
	struct ptx_log_tally tally;
	uint64_t lost;

	/*
	 * This process has made the block, so its records need no check. If there is no memory for
	 * threads, the events count for no thread, so the sums still agree.
	 */
	ptx_log_tally_init(&tally);
	ptx_log_tally_records(&tally, records + written, ptx_log_used(log) - written,
			      log->block.source);
	ptx_log_tally_move(&tally, ledger, cause);
	lost = tally.events;
	ptx_log_tally_fini(&tally);
	return lost;
}

/*
 * Moves the reported events to lost, except those of `elsewhere`, which may be NULL. The sum of the
 * columns stays the same (FORMAT L1).
 */
static void move_to_cleared(struct ptx_ledger_line *line, const struct ptx_ledger_line *elsewhere)
{
	const uint64_t kept = elsewhere ? elsewhere->reported : 0;

	line->lost[PTX_LOST_CLEARED] += line->reported - kept;
	line->reported = kept;
}

/* Every line is changed, so that the columns still add up over types and threads (FORMAT L2). */
static void clear_reported(struct ptx_ledger *ledger, const struct ptx_ledger *elsewhere)
{
	move_to_cleared(&ledger->total, elsewhere ? &elsewhere->total : NULL);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		move_to_cleared(&ledger->type[type], elsewhere ? &elsewhere->type[type] : NULL);
	for (size_t i = 0; i < ledger->threads; i++) {
		struct ptx_ledger_thread *entry = &ledger->thread[i];

		move_to_cleared(&entry->line,
				elsewhere ? ptx_ledger_find(elsewhere, entry->pid, entry->tid,
							    entry->thread) : NULL);
	}
}

/*
 * There are three cases. In a pipe or device, bytes that were written cannot be removed, so only
 * the block in memory is cleared. A regular file without positional writes must be truncated,
 * because each write goes to its end. In other regular files a new log_id makes all blocks invalid
 * in one step (FORMAT W5), and new blocks overwrite the old blocks.
 */
int ptx_log_clear(struct ptx_log *log, struct ptx_ledger *ledger,
		  const struct ptx_ledger *elsewhere)
{
	if (!log->regular) {
		/*
		 * If the block is sealed, a part of it may be in the pipe, and the rest must
		 * follow.
		 */
		if (!log->block.sealed) {
			lose_block(log, ledger, PTX_LOST_CLEARED);
			ptx_log_block_begin(log);
		}
		return 0;
	}
	if (!log->positional) {
		/*
		 * The number of the descriptor may belong to another file now, which must not be
		 * truncated.
		 */
		int err = ptx_log_check_file(log);

		if (!err)
			err = ptx_io_truncate(log->fd, 0);
		if (err)
			return err;
		log->file_bytes = 0;
	}
	/* Events that a LOOP log overwrote before the clear keep the cause "log overwritten". */
	ptx_log_account(log, ledger);
	clear_reported(ledger, elsewhere);
	/* The block in the metadata buffer has the old log_id, so it is discarded. */
	log->meta.len = 0;
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
	/*
	 * After the change of the id, all blocks in the file belong to another log (FORMAT W5).
	 */
	log->header->log_id = log->header->log_id * UINT64_C(6364136223846793005) + 1;
	log->header_waits = true;
	return ptx_log_write(log);
}

/*
 * Sends the ledger of the log. Returns 0, ENOMEM if there is no room for the lines, or the error of
 * a write.
 */
static int send_ledger(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	size_t bytes = ptx_log_ledger_bytes(ledger);
	void *payload = ptx_log_meta_payload(log, bytes);

	if (!payload)
		return ENOMEM;
	/* The ledger includes this log's losses, because ptx_log_complete() has added them. */
	ptx_log_encode_ledger(ledger, (struct ptx_log_block *)(void *)log->meta.bytes, payload);
	ptx_log_meta_ready(log, PTX_LOG_LEDGER, bytes, log->at);
	return ptx_log_meta_send(log);
}

/* Sends the counts of skipped events, if there are any. The errors are those of send_ledger(). */
static int send_skips(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	size_t bytes = ptx_log_skips_bytes(ledger);
	void *payload;

	if (!bytes)
		return 0;
	payload = ptx_log_meta_payload(log, bytes);
	if (!payload)
		return ENOMEM;
	ptx_log_encode_skips(ledger, (struct ptx_log_block *)(void *)log->meta.bytes, payload);
	ptx_log_meta_ready(log, PTX_LOG_SKIPS, bytes, log->at);
	return ptx_log_meta_send(log);
}

/*
 * Sends the END block, which readers find by the last 16 bytes of the file (FORMAT R2). The errors
 * are those of send_ledger().
 */
static int send_end(struct ptx_log *log, struct ptx_log_end *end)
{
	void *payload = ptx_log_meta_payload(log, sizeof(*end));

	if (!payload)
		return ENOMEM;
	/* The sum includes the status that ptx_log_complete() has set. */
	end->sum = log->sum;
	/* log->at is the offset at which ptx_log_meta_send() places this block (FORMAT E1). */
	end->end_offset = log->at;
	memcpy(end->magic, PTX_LOG_END_MAGIC, sizeof(end->magic));
	memcpy(payload, end, sizeof(*end));
	ptx_log_meta_ready(log, PTX_LOG_END, sizeof(*end), log->at);
	return ptx_log_meta_send(log);
}

/*
 * Sends the lists with all entries. Each list follows directly behind the previous list, because
 * END has only the offset of the first list. SCHEMAS and OBJECTS are written even if they are
 * empty, and MAPPINGS only if there are mappings (FORMAT 3.9). The errors are those of
 * send_ledger().
 */
static int send_lists(struct ptx_log *log, struct ptx_log_end *end)
{
	int err;

	end->lists_offset = log->at;
	err = ptx_log_schemas_prepare(log, true, log->at);
	if (!err)
		err = ptx_log_meta_send(log);
	if (!err)
		err = ptx_log_objects_prepare(log, true, log->at);
	if (!err)
		err = ptx_log_meta_send(log);
	if (!err && log->lists.mappings)
		err = ptx_log_mappings_prepare(log, true, log->at);
	return err ? err : ptx_log_meta_send(log);
}

/*
 * Sends the tail, in the order of FORMAT 3.9. Each step needs the success of all steps before it,
 * because END may only name blocks that are in the file (FORMAT E2). After a failure the log has no
 * END. Readers treat it as a log that was not completed, and use the status of its closing area
 * (FORMAT R3). Returns 0, or the error of the step that failed.
 */
static int send_tail(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	struct ptx_log_end end;
	int err = ptx_log_meta_send(log); /* a block that an earlier write could not finish */

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
		err = ptx_log_meta_send(log);
	end.ledger_offset = log->at;
	if (!err)
		err = send_ledger(log, ledger);
	if (!err)
		err = send_skips(log, ledger);
	return err ? err : send_end(log, &end);
}

/*
 * Writes the closing area (FORMAT 2.2). Most file systems have allocated the space of these bytes
 * when the log was begun, so that the write succeeds even if the disk is full. Returns 0, or the
 * error of ptx_log_check_file() or of the write.
 */
static int close_header(struct ptx_log *log, const struct ptx_ledger *ledger)
{
	struct ptx_log_closing *closing = &log->header->closing;
	int err = ptx_log_check_file(log);
	size_t done = 0;

	if (err)
		return err;
	memset(closing, 0, sizeof(*closing));
	memcpy(closing->state, PTX_LOG_CLOSED, sizeof(closing->state));
	/* This is the same sum as in the END block, which may be missing. */
	closing->sum = log->sum;
	ptx_log_line_store(&closing->total, &ledger->total);
	ptx_log_seal_closing(closing);
	return ptx_io_write_at(log->fd, closing, sizeof(*closing), PTX_LOG_CLOSING_AT, &done);
}

/*
 * After an error the function continues as far as possible, and returns the first error. It counts
 * the events that cannot be written, tries to write the tail, truncates the file to its end, and
 * stores the status in the header. The truncation removes remains of an older, longer log (FORMAT
 * W2).
 */
int ptx_log_complete(struct ptx_log *log, const struct ptx_log_status *given,
		     struct ptx_ledger *ledger)
{
	struct ptx_log_status *status = &log->sum.status;
	uint64_t overwritten = ptx_log_overwritten(log);
	int saved = errno, err, late = 0, closed;

	/*
	 * The events are written first, because the status depends on this write. Tail and header
	 * get the same status.
	 */
	err = ptx_log_write(log);
	*status = *given;
	if (err) {
		if (lose_block(log, ledger, PTX_LOST_FLUSH_ERROR))
			/*
			 * Events that were appended and are not in the file are an overrun of the
			 * log.
			 */
			status->log_overrun = POSIX_TRACE_OVERRUN; /* LOG-19 */
		if (!status->flush_error)
			/* If the caller has noted an earlier flush error, that error is kept. */
			status->flush_error = err;
	}
	/* The last write may have overwritten events, so the caller's status may be out of date. */
	if (ptx_log_overwritten(log) != overwritten)
		status->log_overrun = POSIX_TRACE_OVERRUN;
	if (log->full)
		status->log_full = POSIX_TRACE_FULL;
	ptx_log_account(log, ledger);
	/* From here on log->at is the place of the tail in a LOOP log, too. */
	if (log->loop)
		ptx_log_loop_end(log);

	/*
	 * In a pipe no block can follow an incomplete block. If the new header of a cleared log is
	 * not in the file, no block is valid, so a tail would be useless.
	 */
	if (!log->header_waits && (log->positional || !log->sent))
		late = send_tail(log, ledger);
	if (log->positional && !log->header_waits) {
		closed = ptx_log_check_file(log);
		if (!closed)
			/*
			 * The file ends behind END, or behind the last block that was written
			 * (FORMAT W2).
			 */
			closed = ptx_io_truncate(log->fd, log->at);
		if (!closed)
			log->file_bytes = log->at;
		late = late ? late : closed;
		closed = close_header(log, ledger);
		late = late ? late : closed;
	}
	/* If both the events and the tail have failed, the error of the events is returned. */
	errno = saved;
	return err ? err : late;
}
