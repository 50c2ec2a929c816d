/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * try.c - a try: the streams of its path, a reader that may sleep, the target led to the instruction, what
 * happens there, and the account.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

#define COMPLETE_MOST_MS 60000

void must(const char *what, int err)
{
	if (err)
		complain("%s: %s", what, strerror(err));
}

static void open_stream(struct try *try, const struct stream_kind *kind, struct count *count)
{
	trace_event_set_t set;
	trace_attr_t attr;

	memset(count, 0, sizeof(*count));
	count->fd = kind->log ? memfd_create("log", MFD_CLOEXEC) : -1;
	count->pid = try->pid;
	count->max_data = kind->max_data;
	count->may_lose = kind->policy == POSIX_TRACE_LOOP || try->path->until_full;
	count->whole_suffix = kind->policy == POSIX_TRACE_LOOP;
	posix_trace_attr_init(&attr);
	must("attributes", posix_trace_attr_setstreamfullpolicy(&attr, kind->policy));
	must("attributes", posix_trace_attr_setstreamsize(&attr, 1024));
	must("attributes", posix_trace_attr_setmaxdatasize(&attr, kind->max_data));
	must("attributes", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	if (kind->inherited)
		must("attributes", posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	if (kind->log)
		must("create", posix_trace_create_withlog(try->pid, &attr, count->fd, &count->trid));
	else
		must("create", posix_trace_create(try->pid, &attr, &count->trid));
	posix_trace_attr_destroy(&attr);
	if (kind->filtered) {
		must("filter", posix_trace_eventset_empty(&set));
		for (int i = 0; i < MAIN_TYPES; i++)
			posix_trace_eventset_add(share->main_type[i], &set);
		must("filter", posix_trace_set_filter(count->trid, &set, POSIX_TRACE_SET_EVENTSET));
	}
	must("start", posix_trace_start(count->trid));
}

/* The target makes it itself; who reads it waits for the guardian, where there is no other. */
static void expect_log(struct try *try)
{
	struct count *count = &try->count[0];

	memset(count, 0, sizeof(*count));
	count->fd = share->log_fd;
	count->pid = try->pid;
	count->max_data = OWN_LOG_DATA;
}

void try_open(struct try *try)
{
	if (try->path->own_log)
		expect_log(try);
	while (try->streams < STREAMS && try->path->stream[try->streams].policy) {
		open_stream(try, &try->path->stream[try->streams], &try->count[try->streams]);
		try->streams++;
	}
}

void try_settle(struct try *try, unsigned i)
{
	const struct stream_kind *kind = &try->path->stream[i];
	struct count *count = &try->count[i];

	for (int maker = 0; maker < MAKERS; maker++) {
		uint64_t done = atomic_load(&share->done[maker]);
		uint64_t made = atomic_load(&share->made[maker]);

		if ((maker == MAIN && kind->filtered) || (maker == CHILD && !kind->inherited))
			continue;
		count->low[maker] = done - count->out[maker] - count->unsure[maker];
		count->high[maker] = made - count->out[maker] +
				     (maker == MAIN && kind->inherited && try->forked);
	}
}

static void close_own_log(struct try *try)
{
	const struct timespec nap = { 0, 1000000 };
	struct posix_trace_check_np check = { .complete = 0 };

	for (unsigned n = 0; n < COMPLETE_MOST_MS; n++) {
		if (posix_trace_check_np(share->log_fd, NULL, NULL, &check) == 0 && check.complete)
			break;
		nanosleep(&nap, NULL);
	}
	for (int maker = 0; maker < MAKERS; maker++) {
		if (maker == CHILD)
			continue;
		try->count[0].low[maker] = atomic_load(&share->done[maker]);
		try->count[0].high[maker] = atomic_load(&share->made[maker]);
	}
	count_log(&try->count[0]);
	close(share->log_fd);
}

void try_close(struct try *try)
{
	if (try->path->own_log)
		close_own_log(try);
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		try_settle(try, i);
		if (count->fd < 0)
			count_close(count);
		must("shutdown", posix_trace_shutdown(count->trid));
		if (count->fd < 0)
			continue;
		count_log(count);
		close(count->fd);
	}
}

void try_go_on(struct try *try, int signal)
{
	int stop = lead_on(try->pid, signal);

	if (stop == STOP_AFTER)
		stop = lead_on(try->pid, 0);
	if (stop != STOP_DONE)
		complain("the target did not come to its end: %#x", stop);
}

void try_each(struct try *try, const char *what, int (*call)(trace_id_t))
{
	for (unsigned i = 0; i < try->streams; i++)
		must(what, call(try->count[i].trid));
}

/* A thread that waits for an event when the call begins. */
struct waiter {
	pthread_t thread;
	_Atomic pid_t tid;
	struct count *count;
};

static void *wait_in(void *arg)
{
	struct waiter *waiter = arg;

	atomic_store(&waiter->tid, (pid_t)syscall(SYS_gettid));
	if (!count_wait(waiter->count))
		complain("the reader that slept got nothing");
	return NULL;
}

static bool is_asleep(pid_t tid)
{
	char path[64], text[200] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

static void begin_waiting(struct waiter *waiter, struct count *count)
{
	waiter->count = count;
	atomic_store(&waiter->tid, 0);
	while (count_read(count))
		;
	count->whole_suffix = false;
	if (pthread_create(&waiter->thread, NULL, wait_in, waiter)) {
		complain("no thread");
		waiter->count = NULL;
		return;
	}
	while (!atomic_load(&waiter->tid) || !is_asleep(atomic_load(&waiter->tid)))
		sched_yield();
}

static void end_waiting(struct waiter *waiter, bool nobody_traces)
{
	if (!waiter->count)
		return;
	if (nobody_traces)
		must("stop", posix_trace_stop(waiter->count->trid));
	pthread_join(waiter->thread, NULL);
}

static bool try_once(const struct path *path, unsigned prepare, const struct action *action,
		     const struct way *way, uint32_t n, bool by_steps)
{
	struct try try = { .path = path, .n = n };
	struct waiter waiter = { .count = NULL };
	bool there = true;

	complaint[0] = '\0';
	try.pid = lead_start(path, prepare, action && action->helper);
	if (complaint[0])
		return true;
	try_open(&try);
	if (lead_on(try.pid, 0) != STOP_BEFORE)
		complain("the target did not come to the call");
	if (path->waiter)
		begin_waiting(&waiter, &try.count[0]);
	if (action)
		there = lead_to(try.pid, way, n, by_steps);
	if (there && action)
		action->act(&try);
	else
		try_go_on(&try, 0);
	end_waiting(&waiter, try.killed);
	try_close(&try);
	if (try.pid)
		lead_kill(try.pid, true);
	return there;
}

bool try_one(const struct path *path, unsigned prepare, const struct action *action,
	     const struct way *way, uint32_t n)
{
	return try_once(path, prepare, action, way, n, false) ||
	       try_once(path, prepare, action, way, n, true);
}

/* The way of the call, its target being as path and prepare say; *lost: events that were. */
void try_record(const struct path *path, unsigned prepare, struct way *way, uint64_t *lost)
{
	struct try try = { .path = path };
	struct waiter waiter = { .count = NULL };
	struct posix_trace_ledger_np ledger = { .called = 0 };

	complaint[0] = '\0';
	try.pid = lead_start(path, prepare, false);
	try_open(&try);
	if (lead_on(try.pid, 0) != STOP_BEFORE)
		complain("the target did not come to the call");
	if (try.streams)
		must("ledger", posix_trace_get_ledger_np(try.count[0].trid, &ledger));
	*lost = ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP];
	if (path->waiter)
		begin_waiting(&waiter, &try.count[0]);
	lead_record(try.pid, way);
	lead_kill(try.pid, true);
	end_waiting(&waiter, true);
	try_each(&try, "shutdown", posix_trace_shutdown);
	for (unsigned i = 0; i < try.streams; i++)
		if (try.count[i].fd >= 0)
			close(try.count[i].fd);
	if (path->own_log)
		close(share->log_fd);
}
