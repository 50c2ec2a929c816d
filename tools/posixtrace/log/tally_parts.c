/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally_parts.c - divides a log into parts of time. Each worker thread counts one part after the
 * other.
 *
 * There are more parts than threads, because events are not spread evenly over the time of a log. A
 * cut is the time at which one part ends and the next part begins. It is the time of an event that
 * the library found by the log's index. The reader of the part before the cut stops only behind
 * that time, so it also reads the block in which the next part begins. Therefore at least one
 * thread reads each block, and damage between two parts is noticed.
 */
#include "log/tally_parts.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/meter.h"

#define PARTS_PER_THREAD 8
#define PARTS_MAX        (PARTS_PER_THREAD * TALLY_THREADS_MAX)
#define EVENTS_MIN       1000000 /* a log with fewer events is read by one thread */

struct parts {
	/* part i begins at cut_ns[i] and ends before cut_ns[i + 1] */
	int64_t cut_ns[PARTS_MAX + 1];
	size_t count;
	atomic_size_t next;
	atomic_bool failed;            /* a thread has failed, so the other threads may stop */
	_Atomic uint64_t done;         /* events counted so far, for the meter */
};

struct worker {
	struct parts *parts;
	/*
	 * All workers share the log. They use only types that were created when the log was opened.
	 */
	struct logfile *log;
	trace_id_t trid;
	struct tally tally;
	struct meter *meter;           /* NULL except in the thread that shows the progress */
	int err;
	pthread_t thread;
};

unsigned tally_threads(const struct logfile *log)
{
	cpu_set_t set;
	int processors;

	/* For a short log, starting threads would cost more time than reading. */
	if (logfile_events(log) < EVENTS_MIN || sched_getaffinity(0, sizeof(set), &set))
		return 1;
	processors = CPU_COUNT(&set);
	return processors < 1 ? 1 : processors > TALLY_THREADS_MAX ? TALLY_THREADS_MAX
								   : (unsigned)processors;
}

/*
 * Converts a time for the library. The caller must use the result only for times after 1970, since
 * the library accepts no others.
 */
static struct timespec timespec_of(int64_t time_ns)
{
	return (struct timespec){ .tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000 };
}

/*
 * Finds cuts at about equal distances in time. If there are no events between two of these times,
 * both times have the same cut, which is used only once. So no part is empty. Returns 0 or an error
 * number.
 */
static int cut_parts(struct parts *parts, const struct logfile *log, trace_id_t trid, size_t wanted)
{
	int64_t first_ns = log->info.first_ns;
	int64_t step_ns = first_ns > 0 && log->info.last_ns > first_ns ?
			  (log->info.last_ns - first_ns) / (int64_t)wanted : 0;

	parts->cut_ns[0] = INT64_MIN;
	parts->count = 1;
	for (size_t i = 1; i < wanted && step_ns > 0; i++) {
		struct timespec when = timespec_of(first_ns + (int64_t)i * step_ns);
		struct posix_trace_event_np event;
		int unavailable, err = posix_trace_seek_np(trid, &when);

		if (!err)
			err = posix_trace_getnext_np(trid, &event, &unavailable);
		if (err)
			return err;
		if (unavailable)
			break;
		/*
		 * A late event may follow younger ones, so the event that was found may be older
		 * than the last cut. Such an event does not become a cut, because the cuts must be
		 * in order of time.
		 */
		if (event.time_ns > first_ns && event.time_ns > parts->cut_ns[parts->count - 1])
			parts->cut_ns[parts->count++] = event.time_ns;
	}
	parts->cut_ns[parts->count] = INT64_MAX;
	return 0;
}

/*
 * Moves the reader to the first event of the part and makes it stop where the next part begins.
 */
static int seek_part(const struct worker *worker, size_t part)
{
	int64_t begin_ns = worker->parts->cut_ns[part], end_ns = worker->parts->cut_ns[part + 1];
	struct timespec begin = timespec_of(begin_ns), end = timespec_of(end_ns);
	int err =
		part ? posix_trace_seek_np(worker->trid, &begin) : posix_trace_rewind(worker->trid);

	return err ? err : posix_trace_until_np(worker->trid, end_ns == INT64_MAX ? NULL : &end);
}

/*
 * Adds counted events to the common progress. Relaxed memory order is enough, because only the
 * progress line uses the sum. The - 1 is necessary because meter_step() counts one event itself.
 */
static void add_progress(struct worker *worker, uint64_t events)
{
	uint64_t done =
		atomic_fetch_add_explicit(&worker->parts->done, events, memory_order_relaxed);

	if (worker->meter) {
		worker->meter->done = done + events - 1;
		meter_step(worker->meter);
	}
}

/*
 * Returns whether the log lists the type. logfile_type() would create a type that is not listed,
 * and only one thread may do that.
 */
static bool is_listed(const struct logfile *log, trace_event_id_t id)
{
	return id < log->ids && log->by_id[id] && log->by_id[id]->listed;
}

/*
 * Counts one part. Returns EAGAIN if the log is damaged or has types that it does not list, because
 * one thread must then read the log from beginning to end.
 */
static int count_part(struct worker *worker, size_t part)
{
	int64_t begin_ns = worker->parts->cut_ns[part], end_ns = worker->parts->cut_ns[part + 1];
	struct posix_trace_event_np event;
	uint64_t shown = worker->tally.total.events;
	int unavailable, err = seek_part(worker, part);

	while (!err && !(err = posix_trace_getnext_np(worker->trid, &event, &unavailable)) &&
	       !unavailable) {
		if (event.flags & POSIX_TRACE_EVENT_GAP_NP)
			return EAGAIN;
		/*
		 * A block may have events of two parts, so the reader also returns events of the
		 * neighbouring parts. The function skips these events.
		 */
		if (event.time_ns < begin_ns || (event.time_ns >= end_ns && end_ns != INT64_MAX))
			continue;
		if (!is_listed(worker->log, event.info.posix_event_id))
			return EAGAIN;
		err = tally_event(&worker->tally, worker->log, &event);
		if (worker->tally.total.events - shown == METER_EVERY) {
			add_progress(worker, METER_EVERY);
			shown += METER_EVERY;
			if (atomic_load_explicit(&worker->parts->failed, memory_order_relaxed))
				return 0;
		}
	}
	/*
	 * If the damage is not in a block of events, no event has a flag for it. But the reader has
	 * noticed the damage, so the function asks the reader.
	 */
	return err ? err : logfile_reader_is_damaged(worker->trid) ? EAGAIN : 0;
}

/*
 * The function of a worker thread. It counts one part after the other until no part is left, or
 * until any thread has failed.
 */
static void *worker_thread(void *arg)
{
	struct worker *worker = arg;
	struct parts *parts = worker->parts;
	size_t part;

	while (!worker->err && !atomic_load_explicit(&parts->failed, memory_order_relaxed) &&
	       (part = atomic_fetch_add_explicit(&parts->next, 1, memory_order_relaxed)) <
		       parts->count)
		worker->err = count_part(worker, part);
	if (worker->err)
		atomic_store_explicit(&parts->failed, true, memory_order_relaxed);
	return NULL;
}

static void worker_fini(struct worker *worker)
{
	if (worker->trid)
		posix_trace_close(worker->trid);
	groups_free(worker->tally.groups);
	tally_fini(&worker->tally);
}

/*
 * Gives a worker its own reader and an empty tally. If "like" is not NULL, the worker counts groups
 * with the columns of like; otherwise it counts types and threads.
 */
static int worker_init(struct worker *worker, struct parts *parts, struct logfile *log,
		const struct groups *like)
{
	int err;

	worker->parts = parts;
	worker->log = log;
	worker->trid = 0;
	worker->err = 0;
	worker->meter = NULL;
	err = tally_init(&worker->tally, log);
	if (!err && like) {
		worker->tally.groups = groups_new(like->columns, like->stop);
		err = worker->tally.groups ? 0 : ENOMEM;
	}
	if (!err)
		err = posix_trace_open_np(log->fd, LOGFILE_REOPEN, &worker->trid);
	if (err)
		worker_fini(worker);
	return err;
}

/*
 * Runs the workers. The calling thread is one of the workers and shows the progress of all. If the
 * system cannot start a thread, the other workers count its parts.
 */
static int run_workers(struct worker *worker, unsigned workers)
{
	struct meter meter;
	unsigned running = 0;
	int err;

	meter_begin(&meter, logfile_events(worker[0].log), true);
	worker[0].meter = &meter;
	while (running + 1 < workers &&
	       !pthread_create(&worker[running + 1].thread, NULL, worker_thread,
			       &worker[running + 1]))
		running++;
	worker_thread(&worker[0]);
	err = worker[0].err;
	for (unsigned i = 1; i <= running; i++) {
		pthread_join(worker[i].thread, NULL);
		if (!err)
			err = worker[i].err;
	}
	meter_end(&meter);
	return err;
}

/*
 * Joins the counts of the workers. The sum must be the number of events that the log's writer has
 * counted. Otherwise events were missed or counted twice, and the function returns EAGAIN.
 */
static int add_tallies(struct tally *tally, const struct worker *worker, unsigned workers)
{
	uint64_t events = 0;
	int err = 0;

	for (unsigned i = 0; i < workers; i++)
		events += worker[i].tally.total.events;
	if (events != logfile_events(worker[0].log))
		return EAGAIN;
	for (unsigned i = 0; !err && i < workers; i++)
		err = tally_add(tally, &worker[i].tally);
	return err;
}

int tally_count_parts(struct tally *tally, struct logfile *log, unsigned threads)
{
	struct worker worker[TALLY_THREADS_MAX];
	struct parts parts = { .count = 0 };
	unsigned workers = 0;
	int err = 0;

	/* An incomplete log has no index, so no cuts can be found. */
	if (!log->whole || !log->info.complete)
		return EAGAIN;
	while (!err && workers < threads && workers < TALLY_THREADS_MAX) {
		err = worker_init(&worker[workers], &parts, log, tally->groups);
		workers += !err;
	}
	if (!err)
		err = cut_parts(&parts, log, worker[0].trid, (size_t)PARTS_PER_THREAD * workers);
	if (!err)
		err = run_workers(worker, workers);
	if (!err)
		err = add_tallies(tally, worker, workers);
	while (workers)
		worker_fini(&worker[--workers]);
	return err;
}
