/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally_parts.c - a log in parts of time, which threads take one after the other.
 *
 * There are more parts than threads, for the events of a log are not spread evenly. A cut is the
 * time of an event that was found by the index. The reader of the part before it is told to stop
 * behind that time, not before it, and so reads up to the block where the next part begins: there
 * is no block that nobody reads, and damage does not hide between two parts.
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
#define EVENTS_MIN       1000000 /* a few hundredths of a second */

struct parts {
	int64_t cut_ns[PARTS_MAX + 1]; /* a part is from one, included, to the next */
	size_t count;
	atomic_size_t next;
	atomic_bool failed;            /* all may stop */
	_Atomic uint64_t done;         /* events, for the meter */
};

struct worker {
	struct parts *parts;
	/* shared: what is asked of it was learned when it was opened */
	struct logfile *log;
	trace_id_t trid;
	struct tally tally;
	struct meter *meter;           /* of the one that shows it, else NULL */
	int err;
	pthread_t thread;
};

unsigned tally_threads(const struct logfile *log)
{
	cpu_set_t set;
	int processors;

	if (logfile_events(log) < EVENTS_MIN || sched_getaffinity(0, sizeof(set), &set))
		return 1;
	processors = CPU_COUNT(&set);
	return processors < 1 ? 1 : processors > TALLY_THREADS_MAX ? TALLY_THREADS_MAX
								   : (unsigned)processors;
}

/* Of a time after 1970. */
static struct timespec moment(int64_t time_ns)
{
	return (struct timespec){ .tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000 };
}

/* Cuts at about equal distances in time, none of them with nothing between them. */
static int cut(struct parts *parts, const struct logfile *log, trace_id_t trid, size_t wanted)
{
	int64_t first_ns = log->info.first_ns;
	int64_t step_ns = first_ns > 0 && log->info.last_ns > first_ns ?
			  (log->info.last_ns - first_ns) / (int64_t)wanted : 0;

	parts->cut_ns[0] = INT64_MIN;
	parts->count = 1;
	for (size_t i = 1; i < wanted && step_ns > 0; i++) {
		struct timespec when = moment(first_ns + (int64_t)i * step_ns);
		struct posix_trace_event_np event;
		int unavailable, err = posix_trace_seek_np(trid, &when);

		if (!err)
			err = posix_trace_getnext_np(trid, &event, &unavailable);
		if (err)
			return err;
		if (unavailable)
			break;
		/*
		 * The first one in the file need not be the oldest one: no cut may be before
		 * another.
		 */
		if (event.time_ns > first_ns && event.time_ns > parts->cut_ns[parts->count - 1])
			parts->cut_ns[parts->count++] = event.time_ns;
	}
	parts->cut_ns[parts->count] = INT64_MAX;
	return 0;
}

/* From where the part's first event is to where the next part's first event is. */
static int go_to(const struct worker *worker, size_t part)
{
	int64_t begin_ns = worker->parts->cut_ns[part], end_ns = worker->parts->cut_ns[part + 1];
	struct timespec begin = moment(begin_ns), end = moment(end_ns);
	int err =
		part ? posix_trace_seek_np(worker->trid, &begin) : posix_trace_rewind(worker->trid);

	return err ? err : posix_trace_until_np(worker->trid, end_ns == INT64_MAX ? NULL : &end);
}

static void tell(struct worker *worker, uint64_t events)
{
	uint64_t done =
		atomic_fetch_add_explicit(&worker->parts->done, events, memory_order_relaxed);

	if (worker->meter) {
		worker->meter->done = done + events - 1;
		meter_step(worker->meter);
	}
}

/* What others are called is learned when they are met, which is for one thread alone. */
static bool is_listed(const struct logfile *log, trace_event_id_t id)
{
	return id < log->ids && log->by_id[id] && log->by_id[id]->listed;
}

static int count_part(struct worker *worker, size_t part)
{
	int64_t begin_ns = worker->parts->cut_ns[part], end_ns = worker->parts->cut_ns[part + 1];
	struct posix_trace_event_np event;
	uint64_t told = worker->tally.total.events;
	int unavailable, err = go_to(worker, part);

	while (!err && !(err = posix_trace_getnext_np(worker->trid, &event, &unavailable)) &&
	       !unavailable) {
		if (event.flags & POSIX_TRACE_EVENT_GAP_NP)
			return EAGAIN;
		if (event.time_ns < begin_ns || (event.time_ns >= end_ns && end_ns != INT64_MAX))
			continue;
		if (!is_listed(worker->log, event.info.posix_event_id))
			return EAGAIN;
		err = tally_event(&worker->tally, worker->log, &event);
		if (worker->tally.total.events - told == METER_EVERY) {
			tell(worker, METER_EVERY);
			told += METER_EVERY;
			if (atomic_load_explicit(&worker->parts->failed, memory_order_relaxed))
				return 0;
		}
	}
	/* What is not of events has no event that could tell. */
	return err ? err : logfile_reader_is_damaged(worker->trid) ? EAGAIN : 0;
}

static void *work(void *arg)
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

static void fini(struct worker *worker)
{
	if (worker->trid)
		posix_trace_close(worker->trid);
	groups_free(worker->tally.groups);
	tally_fini(&worker->tally);
}

static int init(struct worker *worker, struct parts *parts, struct logfile *log,
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
		err = posix_trace_open_np(log->fd, POSIX_TRACE_OPEN_SALVAGE_NP, &worker->trid);
	if (err)
		fini(worker);
	return err;
}

/*
 * The caller works too, and shows how far all have come. Fewer threads than asked for do as well.
 */
static int run(struct worker *worker, unsigned workers)
{
	struct meter meter;
	unsigned running = 0;
	int err;

	meter_begin(&meter, logfile_events(worker[0].log), true);
	worker[0].meter = &meter;
	while (running + 1 < workers &&
	       !pthread_create(&worker[running + 1].thread, NULL, work, &worker[running + 1]))
		running++;
	work(&worker[0]);
	err = worker[0].err;
	for (unsigned i = 1; i <= running; i++) {
		pthread_join(worker[i].thread, NULL);
		if (!err)
			err = worker[i].err;
	}
	meter_end(&meter);
	return err;
}

static int add_up(struct tally *tally, const struct worker *worker, unsigned workers)
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

	if (!log->whole || !log->info.complete)
		return EAGAIN;
	while (!err && workers < threads && workers < TALLY_THREADS_MAX) {
		err = init(&worker[workers], &parts, log, tally->groups);
		workers += !err;
	}
	if (!err)
		err = cut(&parts, log, worker[0].trid, (size_t)PARTS_PER_THREAD * workers);
	if (!err)
		err = run(worker, workers);
	if (!err)
		err = add_up(tally, worker, workers);
	while (workers)
		fini(&worker[--workers]);
	return err;
}
