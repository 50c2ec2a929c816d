/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_steps.c - instructions, system calls and page faults of posix_trace_event(), counted and
 * not sampled.
 *
 * A child traces itself while this process watches it with ptrace(2): PTRACE_SINGLESTEP counts
 * every instruction that it retires in user mode, PTRACE_SYSCALL every system call that it
 * enters. The child marks the ends of a section by stopping itself. The cost of an empty section is
 * subtracted. Only the thread that calls posix_trace_event() is watched. Page faults are those that
 * getrusage(RUSAGE_THREAD) counts around a million events.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_least.h"
#include "bench_stream.h"

#define STEP_CALLS   340 /* two chunks of a stream's memory; less than a second of steps */
#define STEADY_CALLS 1000000
/*
 * Once a second of the clock, a switch to another chunk reads the clocks for the anchor with which
 * a stream is recovered. It repeats this until the readings are close together, which never happens
 * in a thread that is stepped: about thirty thousand instructions that other threads do not
 * execute. The minimum of this number of sections is without them.
 */
#define STEP_TIMES   9

static struct shared {
	uint64_t faults;
	int law;
} *shared;

typedef void tracepoint(trace_event_id_t, const void *, size_t);

static __attribute__((noinline)) void no_event(trace_event_id_t id, const void *data, size_t len)
{
	__asm__ volatile("" : : "r"(id), "r"(data), "r"(len) : "memory");
}

/* The stores of an event without any check, in a ring that has room for the section. */
static __attribute__((noinline)) void least_event(trace_event_id_t id, const void *data, size_t len)
{
	static uint64_t ring[1024];
	static struct bench_least least = { .ring = ring, .words = 1024 - 4 };

	(void)len;
	bench_least_store(&least, 1, id, data, 8);
}

static __attribute__((noinline)) void call_many(tracepoint *event, trace_event_id_t id,
						const void *data, size_t len, long calls)
{
	for (long i = 0; i < calls; i++)
		event(id, data, len);
}

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

/* The sections in the order in which the child executes them, each between two stops. */
static void child_main(size_t len, bool stepped)
{
	static const unsigned char data[32] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	trace_event_id_t type = bench_type("bench_steps");
	trace_id_t trid = bench_stream(POSIX_TRACE_LOOP, BENCH_BUFFER_BYTES / 16, -1);
	long calls = stepped ? STEP_CALLS : STEADY_CALLS;
	long warm_up = 100000; /* every chunk was used once */

	posix_trace_start(trid);
	call_many(posix_trace_event, type, data, len, warm_up);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(2);
	raise(SIGSTOP);
	call_many(no_event, type, data, len, 0);
	raise(SIGSTOP);
	call_many(no_event, type, data, len, stepped ? calls : 0);
	raise(SIGSTOP);
	call_many(least_event, type, data, len, stepped ? calls : 0);
	raise(SIGSTOP);
	if (stepped) {
		for (int i = 0; i < STEP_TIMES; i++) {
			call_many(posix_trace_event, type, data, len, calls);
			if (i < STEP_TIMES - 1)
				raise(SIGSTOP);
		}
	} else {
		uint64_t before = faults_so_far();

		call_many(posix_trace_event, type, data, len, calls);
		shared->faults = faults_so_far() - before;
	}
	raise(SIGSTOP);
	shared->law = bench_law(
		trid, type, (uint64_t)warm_up + (uint64_t)(stepped ? STEP_TIMES * calls : calls));
	posix_trace_shutdown(trid);
	_exit(0);
}

/* Runs the child to its next SIGSTOP and counts the stops on the way. */
static long count_to_mark(pid_t child, int request)
{
	long stops = 0;
	int status;

	for (;;) {
		if (ptrace((enum __ptrace_request)request, child, NULL, NULL))
			bench_die("ptrace", errno);
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			bench_die("the watched child ended early", ECHILD);
		if (WSTOPSIG(status) == SIGSTOP)
			return stops;
		stops++;
	}
}

/* The parts of a run of the child. */
enum section { EMPTY, NO_EVENT, LEAST_EVENT, EVENT, SECTIONS };

/* Stores the number of stops in each section. Returns false if the system refuses ptrace. */
static bool watch(size_t len, bool stepped, long sections[SECTIONS])
{
	int request = stepped ? PTRACE_SINGLESTEP : PTRACE_SYSCALL;
	pid_t child = fork();
	int status;

	if (child < 0)
		bench_die("fork", errno);
	if (!child)
		child_main(len, stepped);
	waitpid(child, &status, 0);
	if (!WIFSTOPPED(status))
		return false;
	for (int i = 0; i < SECTIONS; i++)
		sections[i] = count_to_mark(child, request);
	for (int i = 1; stepped && i < STEP_TIMES; i++) {
		long again = count_to_mark(child, request);

		if (again < sections[EVENT])
			sections[EVENT] = again;
	}
	ptrace(PTRACE_CONT, child, NULL, NULL);
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		bench_die("the watched child failed", ECHILD);
	return true;
}

static void unmeasured(const char *name)
{
	bench_begin("%s verdict=unmeasured reason=ptrace_refused", name);
	bench_end(true);
}

static void instructions(size_t len, double limit)
{
	long sections[SECTIONS];
	double loop, least, event;

	if (!watch(len, true, sections)) {
		unmeasured("instructions");
		return;
	}
	loop = (double)(sections[NO_EVENT] - sections[EMPTY]) / STEP_CALLS;
	/* the one return instruction that no_event() has in common with posix_trace_event() */
	least = (double)(sections[LEAST_EVENT] - sections[NO_EVENT]) / STEP_CALLS + 1;
	event = (double)(sections[EVENT] - sections[NO_EVENT]) / STEP_CALLS + 1;
	bench_begin("instructions payload_bytes=%zu loop=%.2f least=%.2f", len, loop - 1, least);
	bench_end_limit("per_event", event, limit, shared->law);
}

static void steady_state(size_t len)
{
	long sections[SECTIONS];
	double calls, millions = STEADY_CALLS / 1e6;

	if (!watch(len, false, sections)) {
		unmeasured("steady_state");
		return;
	}
	/* getrusage() twice; each call stops at its entry and at its return */
	calls = (double)(sections[EVENT] - sections[EMPTY]) / 2 - 2;
	bench_begin("steady_state payload_bytes=%zu faults_per_million=%.3g", len,
		    shared->faults / millions);
	bench_end_limit("syscalls_per_million", calls / millions, 0, shared->law);
	bench_begin("steady_state payload_bytes=%zu", len);
	bench_end_limit("faults_per_million", shared->faults / millions, 0, shared->law);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		bench_die("mmap", errno);
	instructions(8, 90);
	steady_state(8);
	return bench_status();
}
