/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * budget_cost.c - times events and calls in a child process, with and without a stream.
 *
 * The child loads the preload library as attach does in a running process. It calls read(2) with a
 * descriptor that does not exist, because such a call costs little besides the recording. It also
 * starts a program that does nothing, both with the preload library and without. The cost of an
 * event is the cost in the shortest of several rounds, because each disturbance makes a round
 * longer.
 */
#include "live/budget_cost.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/until.h"
#include "live/preload.h"

#define ROUNDS 7
#define CALLS  2000
/* the program that is started; if it is missing, starts count as free */
#define NOTHING "true"
/* values for a machine on which nothing can be measured */
#define SLOW_POINT_NS 50
#define SLOW_CALL_NS  500
#define SLOW_SKIP_NS  15

/* The function of the preload library that the command attach calls in a running process. */
#define ATTACH "posixtrace_shim_attach"
typedef long attach_call(const char *families);

/*
 * Times bursts of events of a type. Returns the least time of one event, in nanoseconds. If id is
 * 0, the bursts consist of calls.
 */
static double least_ns(trace_event_id_t id)
{
	const uint64_t data = 0;
	int64_t least = INT64_MAX;
	char byte;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begin = until_now_ns(), passed;

		for (int i = 0; id && i < CALLS; i++)
			posix_trace_event(id, &data, sizeof(data));
		for (int i = 0; !id && i < CALLS; i++)
			if (read(-1, &byte, 1) >= 0)
				return 0;
		passed = until_now_ns() - begin;
		if (passed < least)
			least = passed;
	}
	return (double)least / CALLS;
}

/*
 * Returns the processor time in nanoseconds of the program that does nothing, or -1 if it failed.
 */
static double start_once(const char *preload)
{
	struct rusage used;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (preload ? setenv("LD_PRELOAD", preload, 1) : unsetenv("LD_PRELOAD"))
			_exit(127);
		execlp(NOTHING, NOTHING, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) != child || status)
		return -1;
	return 1e9 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       1e3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int by_size(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/*
 * Returns the additional processor time, in nanoseconds, of a program that loads the preload
 * library and records into the inherited stream; 0 if this cannot be measured. A start usually has
 * cold caches, but the shortest round has warm ones, so the function returns the median. Each round
 * starts the program both with the library and without, so that both starts find the machine in the
 * same state.
 */
static double measure_start(const char *preload)
{
	double more[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double without = start_once(NULL), with = start_once(preload);

		if (without < 0 || with < 0)
			return 0;
		more[i] = with - without;
	}
	qsort(more, ROUNDS, sizeof(*more), by_size);
	return more[ROUNDS / 2] > 0 ? more[ROUNDS / 2] : 0;
}

/*
 * Makes the stream skip the calls, and measures how many nanoseconds longer a skipped call takes
 * than a call without a stream.
 */
static double measure_skipped(trace_id_t trid, double idle_ns)
{
	trace_event_set_t set;
	trace_event_id_t id;

	if (posix_trace_eventid_open("io.read", &id) || posix_trace_eventset_empty(&set) ||
	    posix_trace_eventset_add(id, &set) || posix_trace_set_skipped_np(trid, &set))
		return 0;
	return least_ns(0) - idle_ns;
}

/* The child: measures without a stream, then with one. */
static void measure_all(const char *preload, struct budget_cost *cost)
{
	void *library = preload ? dlopen(preload, RTLD_NOW | RTLD_LOCAL) : NULL;
	attach_call *attach = library ? (attach_call *)(intptr_t)dlsym(library, ATTACH) : NULL;
	bool has_wrappers = attach && attach("io") > 0;
	double idle_ns = least_ns(0);
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;

	if (posix_trace_attr_init(&attr) ||
	    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) ||
	    posix_trace_create(0, &attr, &trid) || posix_trace_eventid_open("budget", &id) ||
	    posix_trace_start(trid))
		return;
	cost->point_ns = least_ns(id);
	if (preload)
		cost->start_ns = measure_start(preload);
	cost->call_ns = has_wrappers ? least_ns(0) - idle_ns : cost->point_ns;
	if (has_wrappers)
		cost->skip_ns = measure_skipped(trid, idle_ns);
}

/* Reads the numbers that replace the measurement. Returns false if there are none. */
static bool read_given(struct budget_cost *cost)
{
	const char *text = getenv("POSIXTRACE_BUDGET_COST");
	struct budget_cost given = { .start_ns = 0 };

	if (!text ||
	    sscanf(text, "%lf %lf %lf %lf", &given.point_ns, &given.call_ns, &given.skip_ns,
		   &given.start_ns) < 3 ||
	    !(given.point_ns > 0 && given.call_ns > 0 && given.skip_ns >= 0 &&
	      given.start_ns >= 0))
		return false;
	*cost = given;
	return true;
}

static void measure_once(struct budget_cost *cost)
{
	const char *preload = preload_path();
	struct budget_cost got = { .start_ns = 0 };
	int ends[2];
	pid_t child;

	*cost = (struct budget_cost){ SLOW_POINT_NS, SLOW_CALL_NS, SLOW_SKIP_NS, 0 };
	if (read_given(cost) || pipe(ends))
		return;
	child = fork();
	if (child == 0) {
		measure_all(preload, &got);
		_exit(write(ends[1], &got, sizeof(got)) != sizeof(got));
	}
	close(ends[1]);
	if (child > 0) {
		if (read(ends[0], &got, sizeof(got)) == sizeof(got)) {
			if (got.point_ns > 0)
				cost->point_ns = got.point_ns;
			if (got.call_ns > 0)
				cost->call_ns = got.call_ns;
			if (got.skip_ns > 0)
				cost->skip_ns = got.skip_ns;
			if (got.start_ns > 0)
				cost->start_ns = got.start_ns;
		}
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
}

/*
 * The function measures only once in this process, because an agent has a budget for each recorded
 * process.
 */
void budget_cost_measure(struct budget_cost *cost)
{
	static struct budget_cost known;

	if (known.call_ns <= 0)
		measure_once(&known);
	*cost = known;
}
