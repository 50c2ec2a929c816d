/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer_run.c - moves many events of one ring into the log's block in one step. Such a
 * sequence of events is a run.
 *
 * This is the hot path of a flush. If a flush is slower than the writers, events are lost. The
 * checks that ptx_drain_peek() and ptx_log_append() make for each event are made once for a run,
 * and the counters are in registers meanwhile. Consecutive records usually have the same first word
 * (length, flags and type). So the code examines this word only when it changes. An unusual record
 * ends the run, and the path for single events (transfer_one() in transfer.c) handles it. Both
 * paths must have the same result in the log and in the ledger.
 *
 * The top source is the ring that has the oldest of the next records of all rings.
 */
#include "drain/step.h"
#include "flush/flush_private.h"
#include "log/write_append.h"

/*
 * Returns the time up to which the next events are all records of the top source, without a mark or
 * an event of another source among them. The result is the least of these times: the watermark, the
 * target, one tick before the earliest record of the other sources, and one tick before the first
 * mark. If a record has the same time as a mark or as a record of another source, the path for
 * single events decides the order. The earliest record of the other sources is at a child of the
 * heap's root.
 */
static uint64_t run_limit(const struct ptx_drain *drain, uint64_t target)
{
	const struct ptx_mark *mark = ptx_drain_first_mark(drain);
	uint64_t limit = drain->watermark < target ? drain->watermark : target;

	for (uint32_t i = 1; i <= 2 && i < drain->heap_count; i++) {
		uint64_t key = drain->source[drain->heap[i]]->key;

		limit = key - 1 < limit ? key - 1 : limit;
	}
	if (mark && mark->ticks - 1 < limit)
		limit = mark->ticks - 1;
	return limit;
}

/*
 * Returns true if the record with this first word can be in a run: it is an event of the program,
 * and the log has the name of its type. In the rings of the program's threads, a record with a type
 * below PTX_TYPE_UNNAMED is damaged. The type is checked before it is used as an index into
 * `named`.
 */
static bool is_usual(const struct ptx_flush *flush, uint64_t first)
{
	unsigned type = ptx_record_first_type(first);

	return !(first & PTX_RECORD_IDENT) && type >= PTX_TYPE_UNNAMED && type < PTX_TYPE_MAX &&
	       (flush->named[type / 64] >> (type % 64) & 1);
}

/*
 * The state with which count_type() counts the records by type. When the first word changes, the
 * records with the former word are counted together, by the difference of run.records.
 */
struct tally {
	uint64_t first;  /* the first word of the records that are being counted */
	/* value of run.records when this word appeared */
	uint32_t counted;
};

/*
 * Adds to the account's line of the type how many records were moved since tally->first appeared.
 * The parameter `records` is the present value of run.records.
 */
static void count_type(struct ptx_drain *drain, const struct tally *tally, uint32_t records)
{
	if (records > tally->counted)
		drain->account.type[ptx_record_first_type(tally->first)].reported +=
			records - tally->counted;
}

/*
 * Moves records of the source up to the time `limit`, as long as is_usual() is true and the block
 * has room. Returns the number of moved records. The caller adds this number to the total and to
 * the thread's line. The records are in the reader's private copy, and ptx_records_check() has
 * accepted them, so their sizes are not checked here.
 */
static uint32_t transfer_run_move(struct ptx_flush *flush, struct ptx_source *source,
				  uint64_t limit)
{
	struct ptx_drain *drain = flush->drain;
	struct ptx_timeline line = { 0, 0, 0, 0 };
	struct tally tally = { 0, 0 }; /* no record has the first word 0 */
	/*
	 * A record that is older than the previous event, or older than the present phase, ends the
	 * run. The path for single events computes the CLOCK_REALTIME of such a record, and the
	 * state of the stream at its time.
	 */
	const uint64_t since = drain->phases.since;
	uint64_t last_ticks = drain->last_ticks > since ? drain->last_ticks : since;
	int64_t last_ns = drain->last_ns;
	uint32_t at = source->at, end = source->end;
	/* the length and the size of the records whose first word is tally.first */
	size_t len = 0, size = 0;
	struct ptx_log_run run;

	/*
	 * If the result is false, the appender's recent[] does not have this thread.
	 * ptx_log_append() then finds or makes the thread's entry in the block's table.
	 */
	if (!ptx_log_run_begin(flush->log, source->ident.pid, source->ident.tid,
			       source->ident.thread, &run))
		return 0;
	while (at < end) {
		const unsigned char *record = source->reader.buffer + at;
		uint64_t first = ptx_record_first(record), ticks = ptx_record_time(record);
		int64_t ns;

		if (ticks > limit || ticks < last_ticks)
			break;
		if (ptx_unlikely(first != tally.first)) {
			if (!is_usual(flush, first))
				break;
			count_type(drain, &tally, run.records);
			tally.first = first;
			tally.counted = run.records;
			len = ptx_record_len((uint32_t)first);
			size = ptx_record_size(len);
		}
		/*
		 * If the record does not fit, the block or the log is full. ptx_log_append() finds
		 * out which.
		 */
		if (size > run.room)
			break;
		if (ptx_unlikely(!ptx_timeline_covers(&line, ticks)))
			line = ptx_timescale_line(&drain->scale, ticks);
		ns = ptx_drain_unjitter(ptx_timeline_ns(&line, ticks), last_ns);
		ptx_log_run_append(&run, first, ptx_record_address(record), ns,
				   record + sizeof(struct ptx_record), len, size);
		last_ticks = ticks;
		last_ns = ns;
		at += (uint32_t)size;
	}
	count_type(drain, &tally, run.records);
	ptx_log_run_end(flush->log, &run);
	/* ptx_step_delivered() and ptx_step_advance() do the same for a single event. */
	if (run.records) {
		drain->last_ticks = last_ticks;
		drain->last_ns = last_ns;
		source->at = at;
	}
	return run.records;
}

/*
 * The function moves no events in the following cases. In a LOOP stream each event must be compared
 * with the cut. Synthetic events in the queue precede the records. If the log is full, events are
 * discarded. While the stream is not running, its records are not delivered. The records of the
 * controller's ring are system events.
 */
uint32_t ptx_transfer_run(struct ptx_flush *flush, uint64_t target)
{
	struct ptx_drain *drain = flush->drain;
	struct ptx_source *source = ptx_step_first(drain);
	uint32_t count;

	if (drain->loop || drain->queued || flush->drain->log_full || !drain->running ||
	    source == drain->source[PTX_CONTROL_RING])
		return 0;
	count = transfer_run_move(flush, source, run_limit(drain, target));
	if (count == 0)
		return 0;
	drain->account.total.reported += count;
	ptx_step_line(drain, source)->reported += count;
	/*
	 * The source is now at another record, or at the end of its buffer, so the heap is
	 * corrected.
	 */
	ptx_step_settle(drain);
	/* As in ptx_drain_consume(): a full stream may now have enough room to restart. */
	if (drain->full_marked)
		ptx_drain_sync(drain);
	return count;
}
