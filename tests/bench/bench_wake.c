/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_wake.c - the time from an event until a sleeping reader in another process has it.
 *
 * The traced process records an event every GAP_NS and writes the time into it. The reader compares
 * it with the time at which posix_trace_getnext_event() returns. Beside it are the times of three
 * ways without the library, to a process that sleeps in the kernel: through a pipe; by a word of
 * shared memory and futex(2); and by futex(2) with a barrier of membarrier(2) behind it, as a
 * reader needs it before it may read what the writers of another process have stored without a
 * fence. The four ways run in turns, because the load of the machine changes.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_stream.h"

#define ROUNDS 8
#define ROUND  250 /* events of each way in a round */
#define EVENTS (ROUNDS * ROUND)
#define GAP_NS 300000

static void pause_a_while(void)
{
	struct timespec gap = { .tv_nsec = GAP_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, NULL);
}

/* Records the events of a round for each byte that it reads. */
static void trace_rounds(int go)
{
	trace_event_id_t type = bench_type("bench_wake");
	char byte;

	while (read(go, &byte, 1) == 1)
		for (int i = 0; i < ROUND; i++) {
			double now;

			pause_a_while();
			now = bench_now_ns();
			posix_trace_event(type, &now, sizeof(now));
		}
	_exit(0);
}

static void write_times(int out)
{
	for (int i = 0; i < ROUND; i++) {
		double now;

		pause_a_while();
		now = bench_now_ns();
		if (write(out, &now, sizeof(now)) != sizeof(now))
			_exit(1);
	}
	_exit(0);
}

/* The sequence number of the last message, and its time. */
struct message {
	_Atomic uint32_t number;
	double then;
};

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

static void send_messages(struct message *message)
{
	membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
	for (uint32_t i = 1; i <= ROUND; i++) {
		pause_a_while();
		message->then = bench_now_ns();
		atomic_store(&message->number, i);
		syscall(SYS_futex, &message->number, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	_exit(0);
}

/* The receiver sleeps until the number changes, as a reader does. */
static void futex_floor(double *late, bool has_barrier)
{
	struct message *message = mmap(NULL, sizeof(*message), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (message == MAP_FAILED)
		bench_die("mmap", errno);
	child = fork();
	if (child == 0)
		send_messages(message);
	for (uint32_t i = 0; i < ROUND; i++) {
		while (atomic_load(&message->number) == i)
			syscall(SYS_futex, &message->number, FUTEX_WAIT, i, NULL, NULL, 0);
		if (has_barrier)
			membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
		late[i] = bench_now_ns() - message->then;
	}
	waitpid(child, NULL, 0);
	munmap(message, sizeof(*message));
}

static void pipe_floor(double *late)
{
	int ends[2];
	pid_t child;
	double then;

	if (pipe(ends))
		bench_die("pipe", errno);
	child = fork();
	if (child == 0)
		write_times(ends[1]);
	for (int i = 0; i < ROUND; i++) {
		if (read(ends[0], &then, sizeof(then)) != sizeof(then))
			bench_die("reading a pipe", errno);
		late[i] = bench_now_ns() - then;
	}
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

/* Reads the events of a round, which the child records after it has got a byte. */
static int read_round(trace_id_t trid, pid_t child, int go, double *late)
{
	struct posix_trace_event_info info;
	int unavailable, seen = 0;
	double then;
	size_t len;

	if (write(go, "g", 1) != 1)
		bench_die("beginning a round", errno);
	while (seen < ROUND) {
		if (posix_trace_getnext_event(trid, &info, &then, sizeof(then), &len, &unavailable))
			bench_die("posix_trace_getnext_event", EIO);
		if (!unavailable && info.posix_pid == child &&
		    info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			late[seen++] = bench_now_ns() - then;
	}
	return seen;
}

static double p99(const double *sorted)
{
	return sorted[EVENTS * 99 / 100];
}

int main(void)
{
	static double late[EVENTS], pipe_late[EVENTS], futex_late[EVENTS], barrier_late[EVENTS];
	double median, pipe_ns, futex_ns, barrier_ns;
	int go[2], seen = 0;
	trace_id_t trid;
	pid_t child;

	if (pipe(go))
		bench_die("pipe", errno);
	child = fork();
	if (child == 0) {
		close(go[1]);
		trace_rounds(go[0]);
	}
	if (posix_trace_create(child, NULL, &trid) || posix_trace_start(trid))
		bench_die("tracing another process", ENOTSUP);
	for (int at = 0; at < EVENTS; at += ROUND) {
		pipe_floor(pipe_late + at);
		futex_floor(futex_late + at, false);
		futex_floor(barrier_late + at, true);
		seen += read_round(trid, child, go[1], late + at);
	}
	median = bench_median(late, EVENTS);
	pipe_ns = bench_median(pipe_late, EVENTS);
	futex_ns = bench_median(futex_late, EVENTS);
	barrier_ns = bench_median(barrier_late, EVENTS);
	posix_trace_shutdown(trid);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	bench_begin("wake events=%d p50_us=%.1f p99_us=%.1f pipe_p50_us=%.1f pipe_p99_us=%.1f "
		    "futex_p50_us=%.1f futex_p99_us=%.1f barrier_p50_us=%.1f ratio_to_barrier=%.2f",
		    EVENTS, median / 1000, p99(late) / 1000, pipe_ns / 1000, p99(pipe_late) / 1000,
		    futex_ns / 1000, p99(futex_late) / 1000, barrier_ns / 1000,
		    median / barrier_ns);
	bench_end_limit("ratio_to_pipe", median / pipe_ns, 1.3, seen == EVENTS);
	return bench_status();
}
