/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * try.c - a try: the streams of its path, a reader that may sleep, the target stepped to the
 * instruction, the action there, and the account.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"
#include "support/memory_file.h"

#define COMPLETE_MOST_MS 60000
#define ORDER_MOST_S     20

void must(const char *what, int err)
{
	if (err)
		complain("%s: %s", what, strerror(err));
}

/* Returns false if it takes too long. */
static bool wait_for_order(enum order order)
{
	const struct timespec most = { .tv_sec = ORDER_MOST_S };

	while (atomic_load(&share->order) == (int)order)
		if (syscall(SYS_futex, &share->order, FUTEX_WAIT, (int)order, &most, NULL, 0) &&
		    errno == ETIMEDOUT)
			return false;
	return true;
}

/*
 * The engine promises that nothing waits for a thread inside its trace point. If an owner does
 * wait, it would wait for ever, and the harness with it. So the thread continues, which shows
 * whether it was the cause.
 */
void try_order(struct try *try, enum order order)
{
	if (try->killed)
		return;
	atomic_store(&share->order, order);
	syscall(SYS_futex, &share->order, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (wait_for_order(order))
		return;
	lead_on(try->pid, 0);
	if (wait_for_order(order))
		complain("another thread waited for the one that was at this instruction");
	else
		complain("the order to another thread was not finished");
	lead_kill(try->pid, true);
	try->pid = 0;
	try->killed = true;
}

void try_by_owner(struct try *try, void (*call)(struct try *))
{
	if (!try->path->own) {
		call(try);
		return;
	}
	share->order_call = call;
	try_order(try, ORDER_CALL);
}

static void set_filter(struct count *count, bool main_types)
{
	trace_event_set_t set;

	must("filter", posix_trace_eventset_empty(&set));
	for (int i = 0; i < MAIN_TYPES && main_types; i++)
		posix_trace_eventset_add(share->type[i], &set);
	must("filter", posix_trace_set_filter(count->trid, &set, POSIX_TRACE_SET_EVENTSET));
}

void try_filter(struct try *try, bool main_types)
{
	for (unsigned i = 0; i < try->streams; i++)
		set_filter(&try->count[i], main_types);
}

/* In both cases chunks have the minimum size. The second size holds all that a path records. */
enum { SMALLEST = 1024, ROOMY = 65536 };

static void open_stream(struct try *try, const struct stream_kind *kind, struct count *count)
{
	const pid_t pid = try->path->own ? getpid() : try->pid;
	trace_attr_t attr;

	memset(count, 0, sizeof(*count));
	count->fd = kind->log ? memory_file("log", MFD_CLOEXEC) : -1;
	count->pid = try->pid;
	count->max_data = kind->max_data;
	count->since = try->path->since;
	count->loop = kind->policy == POSIX_TRACE_LOOP;
	count->may_lose = count->loop || try->path->until_full;
	count->whole_suffix = kind->policy == POSIX_TRACE_LOOP;
	posix_trace_attr_init(&attr);
	must("attributes", posix_trace_attr_setstreamfullpolicy(&attr, kind->policy));
	must("attributes",
	     posix_trace_attr_setstreamsize(&attr, count->may_lose ? SMALLEST : ROOMY));
	must("attributes", posix_trace_attr_setmaxdatasize(&attr, kind->max_data));
	must("attributes", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	if (kind->inherited)
		must("attributes", posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	if (kind->log)
		must("create", posix_trace_create_withlog(pid, &attr, count->fd, &count->trid));
	else
		must("create", posix_trace_create(pid, &attr, &count->trid));
	posix_trace_attr_destroy(&attr);
	if (kind->filtered)
		set_filter(count, true);
	if (try->path->held != HELD_STOPPED || !try->path->held_first)
		must("start", posix_trace_start(count->trid));
}

/* All events of the target so far are members, and no others. */
static void hold(struct try *try)
{
	if (try->path->held == HELD_FILTERED)
		try_filter(try, true);
	else if (!try->path->held_first)
		try_each(try, "stop", posix_trace_stop);
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		count->held = true;
		for (int type = 0; type < TYPES; type++)
			count->mark[type] = atomic_load(&share->done[type]);
	}
}

/* The target creates the log itself; without another reader, the try waits for the guardian. */
static void expect_log(struct try *try)
{
	struct count *count = &try->count[0];

	memset(count, 0, sizeof(*count));
	count->fd = share->log_fd;
	count->pid = try->pid;
	count->max_data = OWN_LOG_DATA;
	count->controls = true;
}

void try_open(struct try *try)
{
	if (try->path->own_log)
		expect_log(try);
	while (try->streams < STREAMS && try->path->stream[try->streams].policy) {
		open_stream(try, &try->path->stream[try->streams], &try->count[try->streams]);
		try->streams++;
	}
	if (try->path->held && try->path->held_first)
		hold(try);
}

void try_mark(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		for (int type = 0; type < TYPES; type++) {
			uint64_t made = atomic_load(&share->made[type]);

			try->count[i].mark[type] = made;
			try->count[i].unsure[type] = made - atomic_load(&share->done[type]);
		}
}

void try_out(struct try *try, unsigned stream)
{
	struct count *count = &try->count[stream];

	for (int type = 0; type < TYPES; type++)
		count->out[type] = atomic_load(&share->made[type]) - count->mark[type];
}

void try_came(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		for (int type = 0; type < TYPES; type++) {
			struct count *count = &try->count[i];
			uint64_t done = atomic_load(&share->done[type]);

			count->out[type] = done - count->mark[type];
			count->unsure[type] = atomic_load(&share->made[type]) - done;
		}
}

void try_settle(struct try *try, unsigned i)
{
	const struct stream_kind *kind = &try->path->stream[i];
	struct count *count = &try->count[i];

	count->broken_off = try->killed || try->jumped;
	for (unsigned type = 0; type < TYPES; type++) {
		uint64_t done = atomic_load(&share->done[type]);
		uint64_t made = atomic_load(&share->made[type]);

		if ((type < MAIN_TYPES && kind->filtered) ||
		    (type == target_type(CHILD, 0) && !kind->inherited))
			continue;
		if (count->held && (type < MAIN_TYPES || try->path->held == HELD_STOPPED))
			done = made = count->mark[type];
		count->low[type] = done - count->out[type] - count->unsure[type];
		count->high[type] = made - count->out[type] +
				    (type == atomic_load(&share->called) && kind->inherited &&
				     try->forked);
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
	try_settle(try, 0);
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
	int stop;

	if (try->killed)
		return;
	stop = lead_on(try->pid, signal);
	if (stop == STOP_AFTER)
		stop = lead_on(try->pid, 0);
	if (stop != STOP_DONE)
		complain("the target did not end: %#x", stop);
}

void try_each(struct try *try, const char *what, int (*call)(trace_id_t))
{
	for (unsigned i = 0; i < try->streams; i++)
		must(what, call(try->count[i].trid));
}

static void *wait_in(void *arg)
{
	struct try *try = arg;

	atomic_store(&try->waiter.tid, (pid_t)syscall(SYS_gettid));
	if (!count_wait(&try->count[0]))
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

static void begin_waiting(struct try *try)
{
	while (count_read(&try->count[0]))
		;
	try->count[0].whole_suffix = false;
	if (pthread_create(&try->waiter.thread, NULL, wait_in, try)) {
		complain("no thread");
		return;
	}
	try->waits = true;
	while (!atomic_load(&try->waiter.tid) || !is_asleep(atomic_load(&try->waiter.tid)))
		sched_yield();
}

static void end_waiting(struct try *try)
{
	if (!try->waits)
		return;
	if (try->killed)
		must("stop", posix_trace_stop(try->count[0].trid));
	pthread_join(try->waiter.thread, NULL);
}

/*
 * Starts the target and prepares it so that its call follows the path; it stops where the call
 * begins.
 */
static struct try *begin(const struct path *path, unsigned prepare, bool helper)
{
	struct try *try = &share->try;
	pid_t pid = lead_start(path, prepare, helper || path->own);

	*try = (struct try){ .path = path, .pid = pid };
	if (share->complaint[0])
		return NULL;
	try_by_owner(try, try_open);
	if (lead_on(pid, 0) != STOP_BEFORE)
		complain("the target did not reach the call");
	if (path->held && !path->held_first)
		try_by_owner(try, hold);
	if (path->waiter)
		try_by_owner(try, begin_waiting);
	return try;
}

static bool try_once(const struct path *path, unsigned prepare, const struct action *action,
		     const struct way *way, uint32_t n, bool by_steps)
{
	struct try *try = begin(path, prepare, action && action->helper);
	bool there = true;

	if (!try)
		return true;
	try->n = n;
	if (action)
		there = lead_to(try->pid, way, n, !path->own && !path->own_log, by_steps);
	if (there && action)
		action->act(try);
	else
		try_go_on(try, 0);
	try_by_owner(try, end_waiting);
	try_by_owner(try, try_close);
	if (try->pid)
		lead_kill(try->pid, true);
	return there;
}

bool try_one(const struct path *path, unsigned prepare, const struct action *action,
	     const struct way *way, uint32_t n)
{
	return try_once(path, prepare, action, way, n, false) ||
	       try_once(path, prepare, action, way, n, true);
}

static void ask_ledger(struct try *try)
{
	must("ledger", posix_trace_get_ledger_np(try->count[0].trid, &try->ledger));
}

/* Ends without any check. */
static void shut_down(struct try *try)
{
	try_each(try, "shutdown", posix_trace_shutdown);
	for (unsigned i = 0; i < try->streams; i++)
		if (try->count[i].fd >= 0)
			close(try->count[i].fd);
}

/* Records the instructions of the call of a target with this path and preparation. */
void try_record(const struct path *path, unsigned prepare, struct way *way, uint64_t *lost)
{
	struct try *try = begin(path, prepare, false);

	if (!try)
		return;
	/* A reader would remove events from the rings, and the call might follow another path. */
	if (lost) {
		try_by_owner(try, ask_ledger);
		*lost = try->ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP];
	}
	lead_record(try->pid, way);
	lead_kill(try->pid, true);
	try->killed = true;
	if (!path->own) {
		end_waiting(try);
		shut_down(try);
	}
	if (path->own_log)
		close(share->log_fd);
}
