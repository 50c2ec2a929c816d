/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_log.c - reads a copied stream with a drain, and writes its log.
 *
 * The copy is the private region of a snapshot (snapshot.h), and has been checked. So the drain
 * reads it like any region. Time does not advance in the copy, so all events are delivered in one
 * pass. Afterwards the ledger is corrected, because the counts in the copy belong to slightly
 * different moments. The moment of the copy is the time up to which it has all events.
 */
#include "observe/snapshot_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

#include "base/shield.h"
#include "flush/checkpoint.h"
#include "flush/flush_private.h"

/*
 * Sets the reader's position in each ring behind the records that were delivered before the copy.
 * `buffer` has room for one chunk.
 */
static void find_places(struct ptx_drain *drain, unsigned char *buffer)
{
	const struct ptx_rings *rings = drain->rings;

	for (uint32_t i = 0; i < drain->sources; i++) {
		struct ptx_place *place = &drain->source[i]->reader.place;
		uint64_t link = atomic_load_explicit(&rings->ring[i].first, memory_order_relaxed);

		/*
		 * The reader begins at the ring's first chunk in the copy. free_delivered() in
		 * snapshot_order.c has removed the chunks whose events were all delivered.
		 */
		place->link = link;
		/* A ring without chunks has nothing to deliver. */
		if (link)
			place->claimed = (uint32_t)atomic_load_explicit(
				&rings->claimed[ptx_link_number(link)], memory_order_relaxed);
		/*
		 * Finds the thread of the first record. An IDENT record before the first record may
		 * have this thread's identity.
		 */
		ptx_checkpoint_ident(drain, i, buffer);
	}
}

/*
 * Determines when the stream was running, and stores the times of START and STOP as marks in the
 * drain. The controller's START and STOP records show these times, unless the records were
 * delivered before the copy. The state of the region shows whether the stream was running at the
 * end. For times before the first mark, the function assumes that the stream was running. Returns 0
 * or an error of ptx_checkpoint_starts() or ENOMEM.
 */
static int find_marks(struct ptx_drain *drain, unsigned char *buffer)
{
	const struct ptx_region *region = drain->rings->region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_relaxed);
	struct ptx_mark mark = { .ticks = ptx_state_time(state) };
	enum ptx_state kind = ptx_state_kind(state);
	bool ran = true;
	int err = 0;

	/* The stream counts as running until a mark shows that it was stopped. */
	drain->running = true;
	/*
	 * If the filter excludes START, no record shows when the stream started again after a STOP.
	 * So the function does not use the STOP records either.
	 */
	if (ptx_region_admits(region, POSIX_TRACE_START))
		err = ptx_checkpoint_starts(drain, buffer);
	for (size_t i = 0; i < drain->marks; i++) {
		const struct ptx_mark *last =
			&drain->mark[(drain->mark_first + i) % drain->mark_room];

		/* The last mark decides whether the stream ran at the end. */
		ran = last->kind == PTX_MARK_START;
		/*
		 * The mark that is added below must not be earlier than the marks that were found.
		 */
		if (last->ticks > mark.ticks)
			mark.ticks = last->ticks;
	}
	/* No mark is added if the state agrees with the marks, or if it is FULL or HELD. */
	if (err || kind == PTX_FULL || kind == PTX_HELD || ran == (kind == PTX_RUNNING))
		return err; /* ptx_drain_sync() makes the mark of FULL */
	/*
	 * The state differs from the last mark, because the record of the last change was delivered
	 * before the copy.
	 */
	mark.kind = kind == PTX_RUNNING ? PTX_MARK_START : PTX_MARK_STOP;
	return ptx_drain_mark(drain, &mark) ? 0 : ENOMEM;
}

/*
 * Adds the anchors from which the drain computes the length of a tick: anchor[0] of the calibration
 * and, if it is known, the time of the copy. As long as there is only one anchor, the nominal rate
 * `hz` gives the length of a tick.
 */
static void set_scale(struct ptx_drain *drain, const struct ptx_snapshot *snapshot)
{
	const struct ptx_calibration *c = &snapshot->calibration;

	/* Nanoseconds per tick, with 32 fraction bits. ptx_snapshot_calibrate() has checked hz. */
	drain->scale.nominal_slope = (uint64_t)(((unsigned __int128)PTX_NS_PER_S << 32) / c->hz);
	/* ptx_timescale_add() requires checked anchors in the order of time. */
	ptx_timescale_add(&drain->scale, c->anchor[0]);
	if (snapshot->now.ticks)
		ptx_timescale_add(&drain->scale, snapshot->now);
}

/* Returns the time of the copy: its moment. If it has none, returns the latest time in the copy. */
static uint64_t time_of(const struct ptx_snapshot *snapshot)
{
	uint64_t state = ptx_state_time(
		atomic_load_explicit(&snapshot->rings.region->state, memory_order_relaxed));

	/*
	 * If writers were running during the copy, the copy has a moment, and no event of the copy
	 * is younger.
	 */
	if (snapshot->moment != UINT64_MAX)
		return snapshot->moment;
	return state > snapshot->latest ? state : snapshot->latest;
}

/*
 * Makes a drain that delivers the events of the copy. The drain uses snapshot_at instead of a
 * clock. If events were overwritten, drain->gap becomes true, so that the log begins with OVERFLOW
 * and RESUME. After an error *result must not be used.
 */
static int make_drain(struct ptx_snapshot *snapshot, struct ptx_drain **result)
{
	unsigned char *buffer = malloc(snapshot->rings.geometry.chunk_room);
	struct ptx_region *region = snapshot->rings.region;
	struct ptx_drain *drain = NULL;
	int err = ENOMEM;

	if (buffer)
		err = ptx_drain_create(&snapshot->rings, &snapshot->info.attr,
				       snapshot->calibration.created, &drain);
	if (!err) {
		/* Names, schemas and objects come from the copy. */
		drain->arena = &snapshot->arena;
		/*
		 * If `loop` is true, the drain drops the records up to the cut, because they may be
		 * overwritten.
		 */
		drain->loop = snapshot->rings.loop;
		drain->is_snapshot = true;
		drain->snapshot_at = time_of(snapshot);
		/* The ledger does not count the events that were delivered before the copy. */
		drain->before = snapshot->consumed;
		drain->gap =
			drain->loop && atomic_load_explicit(&region->first_overwritten,
							    memory_order_relaxed) != UINT64_MAX;
		set_scale(drain, snapshot);
		/* There is one source for each ring of the copy. */
		if (!ptx_drain_sources(drain, atomic_load_explicit(&region->rings,
								   memory_order_relaxed)))
			err = ENOMEM;
	}
	if (!err) {
		find_places(drain, buffer);
		err = find_marks(drain, buffer);
	}
	free(buffer);
	/* ptx_drain_destroy() does not free the copy. */
	if (err && drain)
		ptx_drain_destroy(drain);
	*result = drain;
	return err;
}

/*
 * Returns true if the next event is before since_ns and can be omitted from the log. OVERFLOW
 * reports the beginning of a gap, and the next event, RESUME, reports the end of the gap. If the
 * gap ends at since_ns or later, the log needs both events, so for OVERFLOW the time of RESUME is
 * compared.
 */
static bool is_older(struct ptx_drain *drain, const struct ptx_drain_event *event, int64_t since_ns)
{
	if (event->type == POSIX_TRACE_OVERFLOW && drain->queued > 1)
		return ptx_timescale_ns(&drain->scale, drain->queue[1].ticks) < since_ns;
	return event->time_ns < since_ns;
}

/*
 * Reads the events before since_ns and drops them, up to the first event that is not older. These
 * events are not lost, because the stream still has them. So the ledger treats them like events
 * that another reader delivered before the copy: no column counts them. Returns the number of
 * dropped events, including synthetic events.
 */
static uint64_t drop_older(struct ptx_drain *drain, int64_t since_ns)
{
	struct ptx_ledger *account = &drain->account;
	struct ptx_drain_event event;
	uint64_t older;

	while (ptx_drain_peek(drain, &event) && is_older(drain, &event, since_ns))
		ptx_drain_consume(drain, PTX_LOST_CAUSES);
	older = account->total.reported;
	drain->before += older;
	account->total.reported = 0;
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		account->type[type].reported = 0;
	for (size_t i = 0; i < account->threads; i++)
		account->thread[i].line.reported = 0;
	return older;
}

/*
 * The lines of a ledger, either of all types or of all threads. `stride` is the distance between
 * two lines in bytes.
 */
struct lines {
	struct ptx_ledger_line *first;
	size_t stride, count;
};

static struct ptx_ledger_line *line_at(const struct lines *lines, size_t index)
{
	return (struct ptx_ledger_line *)(void *)((char *)lines->first + index * lines->stride);
}

/*
 * Compares the losses of one cause in all lines with `total`. If the lines add up to more, some
 * line counts too much, but it is unknown which. In this case the function sets the losses of this
 * cause to 0 in all lines, and stores `total` in `rest`, the line of unknown types or threads.
 */
static void snapshot_log_distrust(const struct lines *lines, struct ptx_ledger_line *rest,
				  enum ptx_lost cause, uint64_t total)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lines->count; i++)
		sum += line_at(lines, i)->lost[cause];
	/*
	 * If the sum is less than the total, ptx_ledger_close() adds the difference to the line of
	 * type 0 or of pid 0.
	 */
	if (sum <= total)
		return;
	for (size_t i = 0; i < lines->count; i++)
		line_at(lines, i)->lost[cause] = 0;
	rest->lost[cause] = total;
}

/*
 * Returns the losses of one cause: the greater of the sum over the types and the sum over the
 * threads. A writer counts each loss by type and by thread, and may be interrupted between the two
 * counts, so the greater sum is right.
 */
static uint64_t snapshot_log_counted(const struct ptx_ledger *ledger, enum ptx_lost cause)
{
	uint64_t types = 0, threads = 0;

	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		types += ledger->type[type].lost[cause];
	for (size_t i = 0; i < ledger->threads; i++)
		threads += ledger->thread[i].line.lost[cause];
	return types > threads ? types : threads;
}

/*
 * Counts the unread events of a line as lost with the cause FLUSH ERROR, because they are not in
 * the log.
 */
static void lose_unread(struct ptx_ledger_line *line)
{
	line->lost[PTX_LOST_FLUSH_ERROR] += line->unread;
	line->unread = 0;
}

/*
 * Makes the equation of the ledger hold: called = reported + unread + lost. Writers continue while
 * the copy is made, and count each loss first by type and then by thread. So the counts of the copy
 * belong to different moments. If is_even is true, the number of recorded events is exact. In a
 * LOOP stream, events that were recorded and are not in the copy were overwritten, so their number
 * can be computed. The types and threads of these events are known only if the writers have counted
 * the events.
 */
static void snapshot_log_reconcile(const struct ptx_snapshot *snapshot, struct ptx_ledger *ledger)
{
	struct ptx_ledger_line *total = &ledger->total,
			       *nobody = ptx_ledger_thread(ledger, 0, 0, 0);
	const struct lines types = { ledger->type, sizeof *ledger->type, PTX_TYPE_MAX };
	const struct lines threads = { &ledger->thread[0].line, sizeof *ledger->thread,
				       ledger->threads };
	uint64_t sum;

	/* After a write error some events are still unread. */
	lose_unread(total);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		lose_unread(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		lose_unread(&ledger->thread[i].line);
	/* The type and the thread of a damaged record are unknown. */
	ledger->type[0].lost[PTX_LOST_DAMAGED] += snapshot->damaged;
	nobody->lost[PTX_LOST_DAMAGED] += snapshot->damaged;
	/* The copy has no totals of the losses, so they are computed from the lines. */
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		total->lost[cause] = snapshot_log_counted(ledger, cause);
	/* The equation of the total holds if `called` is equal to this sum (log/FORMAT L1). */
	sum = ptx_ledger_sum(total);
	/*
	 * The second condition makes sure that the number of overwritten events does not become
	 * negative.
	 */
	if (snapshot->is_even && snapshot->rings.loop &&
	    total->called + total->lost[PTX_LOST_OVERWRITTEN] >= sum && total->called < INT64_MAX)
		total->lost[PTX_LOST_OVERWRITTEN] += total->called - sum; /* modulo 2^64 */
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++) {
		snapshot_log_distrust(&types, &ledger->type[0], cause, total->lost[cause]);
		snapshot_log_distrust(&threads, nobody, cause, total->lost[cause]);
	}
	/* Now the equation holds, even if the number of recorded events is not exact. */
	total->called = ptx_ledger_sum(total);
	/* Computes `called` of every line, and completes the lines of type 0 and of pid 0. */
	ptx_ledger_close(ledger);
}

/*
 * Stores the status that the stream had when it was copied. The new log is not full and has
 * overwritten no events.
 */
static void store_status(const struct ptx_snapshot *snapshot, struct ptx_log_status *status)
{
	const struct ptx_region *region = snapshot->rings.region;
	enum ptx_state kind = ptx_state_kind(
		atomic_load_explicit(&region->state, memory_order_relaxed));

	memset(status, 0, sizeof *status);
	status->stream_status = kind == PTX_RUNNING ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	/* A LOOP stream counts as full when it has overwritten events. */
	status->stream_full =
		kind == PTX_FULL || kind == PTX_HELD || (snapshot->rings.loop && region->looped)
			? POSIX_TRACE_FULL
			: POSIX_TRACE_NOT_FULL;
	/* The copy is private, so these words are read without atomic functions. */
	status->stream_overrun = region->overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	status->flush_status = POSIX_TRACE_NOT_FLUSHING;
	status->log_overrun = POSIX_TRACE_NO_OVERRUN;
	status->log_full = POSIX_TRACE_NOT_FULL;
}

/*
 * Writes all events of the drain to the log. The log has the policy APPEND, so it is never full.
 * The shield (base/shield.h) discards the signals that a full disk or a closed pipe would raise.
 * Returns 0 or the error of ptx_transfer().
 */
static int write_events(struct ptx_flush *flush)
{
	struct ptx_shield shield;
	int err;

	ptx_shield_raise(&shield);
	/* ptx_transfer() unlocks this mutex while it writes. */
	pthread_mutex_lock(flush->lock);
	err = ptx_transfer(flush, UINT64_MAX, UINT64_MAX);
	pthread_mutex_unlock(flush->lock);
	ptx_shield_lower(&shield);
	return err;
}

/*
 * Gives a name to each type that has events in the log but no name, because log/FORMAT 3.5 requires
 * a name. In damaged memory names may be missing, and events may have types that no program has
 * opened.
 */
static void name_the_nameless(struct ptx_flush *flush)
{
	char text[PTX_TYPE_NAME_BYTES];

	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		/* Types without events need no name. */
		if (!flush->drain->account.type[type].reported ||
		    flush->named[type / 64] >> (type % 64) & 1)
			continue;
		/* The tool shows the same text for a type without a name. */
		snprintf(text, sizeof text, "event#%u", type);
		ptx_log_name(flush->log, type, text);
	}
}

/*
 * Writes the log by a flush (flush/flush.h). The flush needs a mutex for the drain, although no
 * other thread uses the drain. If an error occurs, the function completes the log as far as
 * possible and returns the first error.
 */
static int write_log(struct ptx_snapshot *snapshot, struct ptx_drain *drain, struct ptx_log *log,
		     const struct ptx_log_status *status)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ptx_flush *flush;
	struct ptx_ledger *ledger;
	int err, err2;

	/* The flush starts no thread: the calling thread writes. */
	err = ptx_flush_create(drain, &lock, log, false, NULL, &flush);
	if (err) {
		/*
		 * This closes the log's duplicate of the caller's descriptor. The caller's
		 * descriptor stays open.
		 */
		ptx_log_destroy(log);
		return err;
	}
	err = write_events(flush);
	name_the_nameless(flush);
	/* This is the ledger that ptx_flush_destroy() writes into the log. */
	ledger = ptx_flush_closing(flush);
	err2 = ptx_drain_ledger(drain, ledger);
	if (!err2)
		snapshot_log_reconcile(snapshot, ledger);
	err = err ? err : err2;
	err2 = ptx_flush_destroy(flush, status);
	return err ? err : err2;
}

/*
 * Creates the log. Returns 0 or an error of ptx_log_create_beside(). The log has the attributes of
 * the stream, except for the log's policy. All events of the copy belong in the log, so the log has
 * no limit. The member `host` stays empty, because the copy is made on this machine.
 */
static int create_log(const struct ptx_snapshot *snapshot, int fd, struct ptx_log **log)
{
	struct ptx_log_facts info = { .attr = snapshot->info.attr, .pid = snapshot->info.pid };

	/* With the policy APPEND, log_size has no meaning. */
	info.attr.log_policy = POSIX_TRACE_APPEND;
	info.attr.max_data_size = snapshot->rings.max_data_size;
	memcpy(info.clock, snapshot->info.clock, sizeof info.clock);
	info.tick_hz = snapshot->calibration.hz;
	return ptx_log_create_beside(fd, &info, log);
}

/* The log is created first, so that an error of the descriptor is found before the work begins. */
int ptx_snapshot_log(struct ptx_snapshot *snapshot, int fd, int64_t since_ns, uint64_t *older)
{
	struct ptx_log_status status;
	struct ptx_drain *drain;
	struct ptx_log *log;
	int err;

	/* Reading the events changes the status of the copy, so the status is stored before. */
	store_status(snapshot, &status);
	err = create_log(snapshot, fd, &log);
	if (err)
		return err;
	err = make_drain(snapshot, &drain);
	if (err) {
		ptx_log_destroy(log);
		return err;
	}
	*older = since_ns == INT64_MIN ? 0 : drop_older(drain, since_ns);
	err = write_log(snapshot, drain, log, &status);
	ptx_drain_destroy(drain);
	return err;
}
