/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_wake.c - the time from an event until a sleeping reader in another process has it.
 *
 * The traced process records an event every GAP_NS and writes the time into it. The reader compares
 * it with the time at which posix_trace_getnext_event() returns. Beside it are the times of two
 * ways without the library, to a process that sleeps in the kernel: through a pipe, and by a word
 * of shared memory and futex(2).
 */
#include <errno.h>
#include <linux/futex.h>
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

#define EVENTS 2000
#define GAP_NS 300000

static void pause_a_while(void)
{
	struct timespec gap = { .tv_nsec = GAP_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, NULL);
}

static void trace(int out)
{
	trace_event_id_t type = bench_type("bench_wake");
	char go;

	if (read(out, &go, 1) != 1)
		_exit(1);
	for (int i = 0; i < EVENTS; i++) {
		double now;

		pause_a_while();
		now = bench_now_ns();
		posix_trace_event(type, &now, sizeof(now));
	}
	pause();
}

static void write_times(int out)
{
	for (int i = 0; i < EVENTS; i++) {
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

static void send_messages(struct message *message)
{
	for (uint32_t i = 1; i <= EVENTS; i++) {
		pause_a_while();
		message->then = bench_now_ns();
		atomic_store(&message->number, i);
		syscall(SYS_futex, &message->number, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	_exit(0);
}

/* The receiver sleeps until the number changes, as a reader does. */
static double futex_floor(double *late)
{
	struct message *message = mmap(NULL, sizeof(*message), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (message == MAP_FAILED)
		bench_die("mmap", errno);
	child = fork();
	if (child == 0)
		send_messages(message);
	for (uint32_t i = 0; i < EVENTS; i++) {
		while (atomic_load(&message->number) == i)
			syscall(SYS_futex, &message->number, FUTEX_WAIT, i, NULL, NULL, 0);
		late[i] = bench_now_ns() - message->then;
	}
	waitpid(child, NULL, 0);
	munmap(message, sizeof(*message));
	return bench_median(late, EVENTS);
}

static double p99(const double *sorted)
{
	return sorted[EVENTS * 99 / 100];
}

static double pipe_floor(double *late)
{
	int ends[2];
	pid_t child;
	double then;

	if (pipe(ends))
		bench_die("pipe", errno);
	child = fork();
	if (child == 0)
		write_times(ends[1]);
	for (int i = 0; i < EVENTS; i++) {
		if (read(ends[0], &then, sizeof(then)) != sizeof(then))
			bench_die("reading a pipe", errno);
		late[i] = bench_now_ns() - then;
	}
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	return bench_median(late, EVENTS);
}

int main(void)
{
	static double late[EVENTS], pipe_late[EVENTS], futex_late[EVENTS];
	struct posix_trace_event_info info;
	double pipe_ns = pipe_floor(pipe_late), futex_ns = futex_floor(futex_late), median, then;
	int unavailable, seen = 0, go[2];
	trace_id_t trid;
	size_t len;
	pid_t child;

	if (pipe(go))
		bench_die("pipe", errno);
	child = fork();
	if (child == 0)
		trace(go[0]);
	if (posix_trace_create(child, NULL, &trid) || posix_trace_start(trid) ||
	    write(go[1], "g", 1) != 1)
		bench_die("tracing another process", ENOTSUP);
	while (seen < EVENTS) {
		if (posix_trace_getnext_event(trid, &info, &then, sizeof(then), &len, &unavailable))
			bench_die("posix_trace_getnext_event", EIO);
		if (!unavailable && info.posix_pid == child)
			late[seen++] = bench_now_ns() - then;
	}
	median = bench_median(late, EVENTS);
	posix_trace_shutdown(trid);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	bench_begin("wake events=%d p50_us=%.1f p99_us=%.1f pipe_p50_us=%.1f pipe_p99_us=%.1f "
		    "futex_p50_us=%.1f futex_p99_us=%.1f ratio_to_futex=%.2f",
		    EVENTS, median / 1000, p99(late) / 1000, pipe_ns / 1000, p99(pipe_late) / 1000,
		    futex_ns / 1000, p99(futex_late) / 1000, median / futex_ns);
	bench_end_limit("ratio_to_pipe", median / pipe_ns, 1.3, seen == EVENTS);
	return bench_status();
}
