/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * action.c - what happens at the instruction, and what must be true afterwards.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

#define COMPLETE_MOST_MS 60000

static void must(const char *what, int err)
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

/* What of all that was made was the stream's. */
static void settle_members(struct try *try, unsigned i)
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

		settle_members(try, i);
		if (count->fd < 0)
			count_close(count);
		must("shutdown", posix_trace_shutdown(count->trid));
		if (count->fd < 0)
			continue;
		count_log(count);
		close(count->fd);
	}
}

/* Up to the target's end, or to the next one. */
static void go_on(struct try *try, int signal)
{
	int stop = lead_on(try->pid, signal);

	if (stop == STOP_AFTER)
		stop = lead_on(try->pid, 0);
	if (stop != STOP_DONE)
		complain("the target did not come to its end: %#x", stop);
}

/* Every second time its parent has not taken notice yet. */
static void act_kill(struct try *try)
{
	lead_kill(try->pid, try->n % 2);
	if (try->n % 2)
		try->pid = 0;
}

static void act_signal(struct try *try)
{
	atomic_store(&share->deed, DEED_TRACE);
	go_on(try, SIGUSR1);
	if (atomic_load(&share->done[HANDLER]) != 2)
		complain("the handler made %d events", (int)atomic_load(&share->done[HANDLER]));
}

/* What the call was about may be there or not. */
static void act_jump(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].whole_suffix = false;
	atomic_store(&share->deed, DEED_JUMP);
	go_on(try, SIGUSR1);
}

static void fork_and(struct try *try, enum deed deed)
{
	atomic_store(&share->deed, deed);
	try->forked = true;
	go_on(try, SIGUSR1);
	if (atomic_load(&share->child_ok) != 1)
		complain("the child ended with status %#x, %d", atomic_load(&share->child_status),
			 atomic_load(&share->child_ok));
}

static void act_fork(struct try *try)
{
	fork_and(try, DEED_FORK);
}

static void act_fork_signal(struct try *try)
{
	fork_and(try, DEED_FORK_TRACE);
}

static void at_each(struct try *try, const char *what, int (*call)(trace_id_t))
{
	for (unsigned i = 0; i < try->streams; i++)
		must(what, call(try->count[i].trid));
}

static bool under_way(enum maker maker)
{
	return atomic_load(&share->made[maker]) != atomic_load(&share->done[maker]);
}

/* Another reads what is there. */
static void act_read(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		if (count->fd >= 0) {
			must("flush", posix_trace_flush(count->trid));
			continue;
		}
		while (count_read(count))
			;
		count->whole_suffix = false;
	}
	go_on(try, 0);
}

/* The same by the call that waits: what has been done must come, whatever the thread is about. */
static void act_wait(struct try *try)
{
	const struct stream_kind *kind = &try->path->stream[0];
	struct count *count = &try->count[0];
	uint64_t there = kind->filtered ? 1 : atomic_load(&share->done[MAIN]) + 1; /* and START */

	while (count->read_all < there && count_wait(count))
		;
	count->whole_suffix = false;
	go_on(try, 0);
}

/* Another thread fills the stream, or goes round in it. */
static void act_fill(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].may_lose = true;
	atomic_store(&share->order_count, 3000);
	atomic_store(&share->order, ORDER_TRACE);
	syscall(SYS_futex, &share->order, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (atomic_load(&share->order) != ORDER_NONE)
		syscall(SYS_futex, &share->order, FUTEX_WAIT, ORDER_TRACE, NULL, NULL, 0);
	if (atomic_load(&share->done[HELPER]) < 3000)
		complain("the other thread did not trace");
	go_on(try, 0);
}

static void act_stop(struct try *try)
{
	uint64_t before = atomic_load(&share->made[MAIN]), unsure = under_way(MAIN);

	at_each(try, "stop", posix_trace_stop);
	go_on(try, 0);
	for (unsigned i = 0; i < try->streams; i++) {
		try->count[i].out[MAIN] = atomic_load(&share->made[MAIN]) - before;
		try->count[i].unsure[MAIN] = unsure;
		try->count[i].whole_suffix = false;
	}
	at_each(try, "start", posix_trace_start);
	go_on(try, 0);
}

static void act_restart(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		try->count[i].unsure[MAIN] = under_way(MAIN);
		try->count[i].whole_suffix = false;
	}
	at_each(try, "stop", posix_trace_stop);
	at_each(try, "start", posix_trace_start);
	go_on(try, 0);
}

/* A stream that was full stays suspended. */
static void act_clear(struct try *try)
{
	uint64_t before = atomic_load(&share->made[MAIN]), unsure = under_way(MAIN);
	struct posix_trace_status_info status = { .posix_stream_status = POSIX_TRACE_RUNNING };

	for (unsigned i = 0; i < try->streams; i++) {
		try->count[i].may_lose = true;
		try->count[i].whole_suffix = false;
	}
	at_each(try, "clear", posix_trace_clear);
	must("status", posix_trace_get_status(try->count[0].trid, &status));
	go_on(try, 0);
	if (status.posix_stream_status == POSIX_TRACE_RUNNING)
		return;
	try->count[0].out[MAIN] = atomic_load(&share->made[MAIN]) - before;
	try->count[0].unsure[MAIN] = unsure;
	at_each(try, "start", posix_trace_start);
	go_on(try, 0);
}

/* While the thread is about something its account is not at rest: of streams it is not looked at. */
static void shut_all(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		while (count->fd < 0 && count_read(count))
			;
		must("shutdown", posix_trace_shutdown(count->trid));
		settle_members(try, i);
		if (count->fd >= 0) {
			count_log(count);
			close(count->fd);
		}
	}
}

/* Every second time there are new streams at once. */
static void act_shutdown(struct try *try)
{
	shut_all(try);
	if (try->n % 2)
		go_on(try, 0);
	try->streams = 0;
	try_open(try);
	for (unsigned i = 0; i < try->streams; i++)
		for (int maker = 0; maker < MAKERS; maker++) {
			try->count[i].out[maker] = atomic_load(&share->done[maker]);
			try->count[i].unsure[maker] = under_way((enum maker)maker);
		}
	go_on(try, 0);
}

static bool any(const struct path *path)
{
	(void)path;
	return true;
}

/* The reader that sleeps is the only one. */
static bool unless_read(const struct path *path)
{
	return !path->waiter && !path->own_log;
}

static bool if_all_is_there(const struct path *path)
{
	return !path->waiter && !path->own_log && !path->stream[0].log && !path->stream[1].policy &&
	       !path->until_full && !path->stranger;
}

/* Where a child's events go somewhere. */
static bool if_inherited(const struct path *path)
{
	return path->stream[0].inherited;
}

/* posix_trace_clear() resets the filter. */
static bool unless_filtered(const struct path *path)
{
	return unless_read(path) && !path->stream[0].filtered;
}

const struct action actions[] = {
	{ "kill", false, any, act_kill },
	{ "signal", false, any, act_signal },
	{ "jump", false, any, act_jump },
	{ "fork", false, any, act_fork },
	{ "fork+sig", false, if_inherited, act_fork_signal },
	{ "read", false, unless_read, act_read },
	{ "wait", false, if_all_is_there, act_wait },
	{ "fill", true, unless_read, act_fill },
	{ "stop", false, unless_read, act_stop },
	{ "restart", false, unless_read, act_restart },
	{ "clear", false, unless_filtered, act_clear },
	{ "shutdown", false, unless_read, act_shutdown },
};
const unsigned action_count = sizeof(actions) / sizeof(actions[0]);

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
		go_on(&try, 0);
	end_waiting(&waiter, action && action->act == act_kill);
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
	at_each(&try, "shutdown", posix_trace_shutdown);
	for (unsigned i = 0; i < try.streams; i++)
		if (try.count[i].fd >= 0)
			close(try.count[i].fd);
	if (path->own_log)
		close(share->log_fd);
}
