/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer_run.c - moves many events of one ring into the log's block in one step.
 *
 * A flusher that is slower than the writers loses events, so this is its hot path. The checks that
 * ptx_drain_peek() and ptx_log_append() make for each event are made once for a run, and the
 * counters are kept in registers meanwhile. Consecutive records mostly have the same first word
 * (length, flags and type). So the code examines that word only when it changes. Anything unusual
 * ends the run, and the path for single events handles it. Both paths must have the same result in
 * the log and in the account.
 */
#include "drain/step.h"
#include "flush/flush_private.h"
#include "log/write_append.h"

/*
 * Returns the latest time up to which the top source's records are the next events, one after the
 * other. This time is the least of four: the watermark, the target, the time of the earliest record
 * of the other sources, and the time of the first mark. The earliest record of the other sources is
 * at a child of the heap's root. If a mark or another source has the same time as a record, the run
 * ends one tick before it, so that the path for single events decides the order.
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
 * Returns true if the first word of a record allows the fast path: the record is a user event whose
 * name the log has. If a traced process has written a type below PTX_TYPE_UNNAMED, the record is
 * damaged. The range of the type is checked before it is used as an index into the member `named`.
 */
static bool is_usual(const struct ptx_flush *flush, uint64_t first)
{
	unsigned type = ptx_record_first_type(first);

	return !(first & PTX_RECORD_IDENT) && type >= PTX_TYPE_UNNAMED && type < PTX_TYPE_MAX &&
	       (flush->named[type / 64] >> (type % 64) & 1);
}

/*
 * Counts records by type. The count is the difference of the run's counter at two moments, so a
 * record needs no addition of its own.
 */
struct tally {
	uint64_t first;  /* the first word of the records being counted */
	/* value of the run's counter of records when that word appeared */
	uint32_t counted;
};

/*
 * Adds the number of records since the word appeared to the line of the type. The parameter
 * `records` is the present value of the run's counter.
 */
static void count_type(struct ptx_drain *drain, const struct tally *tally, uint32_t records)
{
	if (records > tally->counted)
		drain->account.type[ptx_record_first_type(tally->first)].reported +=
			records - tally->counted;
}

/*
 * Moves records of the source, up to the time `limit`, as long as they are usual and the block has
 * room. Returns their number; after 0 nothing has changed. The bytes are the reader's private copy,
 * which ptx_records_check() has accepted, so sizes need no check here. The caller adds the number
 * to the total and to the thread's line.
 */
static uint32_t transfer_run_move(struct ptx_flush *flush, struct ptx_source *source,
				  uint64_t limit)
{
	struct ptx_drain *drain = flush->drain;
	struct ptx_timeline line = { 0, 0, 0, 0 };
	struct tally tally = { 0, 0 }; /* no record has the word 0 */
	/*
	 * Late events are left to the path for single events, which computes their CLOCK_REALTIME
	 * and the state of the stream at their time.
	 */
	const uint64_t since = drain->phases.since;
	uint64_t last_ticks = drain->last_ticks > since ? drain->last_ticks : since;
	int64_t last_ns = drain->last_ns;
	uint32_t at = source->at, end = source->end;
	/* the length and the size of the records whose first word is tally.first */
	size_t len = 0, size = 0;
	struct ptx_log_run run;

	/*
	 * If the result is false, the block's table has no recent entry for this thread.
	 * ptx_log_append() then makes one.
	 */
	if (!ptx_log_run_begin(flush->log, source->ident.pid, source->ident.tid,
			       source->ident.thread, &run))
		return 0;
	while (at < end) {
		const unsigned char *record = source->reader.buffer + at;
		uint64_t first = ptx_record_first(record), ticks = ptx_record_time(record);
		int64_t ns;

		/* A record that is older than the record before it is LATE. */
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
		/* Either the block or the log is full: ptx_log_append() decides which. */
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
	/*
	 * The following does the same as ptx_step_delivered() and ptx_step_advance() do for a
	 * single event.
	 */
	if (run.records) {
		drain->last_ticks = last_ticks;
		drain->last_ns = last_ns;
		source->at = at;
	}
	return run.records;
}

/*
 * This function moves nothing in these cases: in a LOOP stream, where each event must be compared
 * with the cut; while the stream is stopped, because its records are no members then; and in the
 * controller's ring, whose records are system events.
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
	 * The source is now at another record, or its buffer is used up, so the heap must be
	 * corrected.
	 */
	ptx_step_settle(drain);
	/*
	 * As in ptx_drain_consume(): a full stream may now have the room that it needs to restart.
	 */
	if (drain->full_marked)
		ptx_drain_sync(drain);
	return count;
}
