/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff/work.c - a program that records how long its work takes, for check-diff. It is no test
 * itself.
 *
 *	work A B ROUNDS [SLOW]
 *
 * There are six kinds of work, each a span. The process that writes B does a tenth more of the kind
 * with the number SLOW.
 *
 * Both processes run on one processor and alternate after ten rounds, so that other load of the
 * machine affects both equally. If they ran one after the other, or each on its own processor, the
 * load of a busy machine would make a difference of more than a tenth.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#define KINDS 6
#define TURN  10 /* rounds; one takes a third of a millisecond */

static unsigned char bytes[16384], copy[16384];
static unsigned numbers[64];
static volatile double sum;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "work: %s: %s\n", what, strerror(err));
	exit(1);
}

static void hash(void)
{
	unsigned h = 2166136261u;

	for (int i = 0; i < 200; i++)
		h = (h ^ bytes[i]) * 16777619u;
	bytes[h % 200] = (unsigned char)h;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static void sort(void)
{
	for (unsigned i = 0; i < 16; i++)
		numbers[i] = (i * 2654435761u) ^ bytes[i];
	qsort(numbers, 16, sizeof(*numbers), by_number);
}

static void move(void)
{
	memcpy(copy, bytes, sizeof(copy));
	bytes[copy[1] % 64]++;
}

static void divide(void)
{
	double x = sum + 1;

	for (int i = 0; i < 40; i++)
		x = 1 / x + 0.5;
	sum = x;
}

static void print(void)
{
	char text[32];

	bytes[0] = (unsigned char)snprintf(text, sizeof(text), "%g %d", sum, bytes[1]);
}

static void root(void)
{
	double x = sum;

	for (int i = 0; i < 30; i++)
		x = sqrt(x + i);
	sum = x;
}

/* As far as the system permits. */
static void stay_here(void)
{
	cpu_set_t set;
	int here = sched_getcpu();

	CPU_ZERO(&set);
	if (here >= 0)
		CPU_SET(here, &set);
	if (here < 0 || sched_setaffinity(0, sizeof(set), &set))
		perror("work: sched_setaffinity");
}

/* Waits for the other process, or lets it continue. Does not wait for one that has ended. */
static void await_turn(int fd)
{
	char turn;

	while (read(fd, &turn, 1) < 0 && errno == EINTR)
		;
}

static void give_turn(int fd)
{
	while (write(fd, "", 1) < 0 && errno == EINTR)
		;
}

static void run(const char *path, int rounds, int slow, int from, int to)
{
	static const struct {
		const char *name;
		void (*work)(void);
	} kind[KINDS] = { { "hash", hash }, { "sort", sort }, { "move", move },
			  { "divide", divide }, { "print", print }, { "root", root } };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	trace_event_id_t begin[KINDS], end[KINDS];
	trace_attr_t attr;
	trace_id_t trid;

	must(fd < 0 ? errno : 0, path);
	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setstreamsize(&attr, (size_t)8 << 20), "setstreamsize");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	must(posix_trace_start(trid), "start");
	for (int i = 0; i < KINDS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s.begin", kind[i].name);
		must(posix_trace_eventid_open(text, &begin[i]), text);
		snprintf(text, sizeof(text), "@begin %s", kind[i].name);
		must(posix_trace_eventid_describe_np(begin[i], text), text);
		snprintf(text, sizeof(text), "%s.end", kind[i].name);
		must(posix_trace_eventid_open(text, &end[i]), text);
		snprintf(text, sizeof(text), "@end %s", kind[i].name);
		must(posix_trace_eventid_describe_np(end[i], text), text);
	}
	for (int round = 0; round < rounds; round++) {
		if (round % TURN == 0)
			await_turn(from);
		for (int i = 0; i < KINDS; i++) {
			int times = i == slow ? 33 : 30;

			posix_trace_event(begin[i], NULL, 0);
			while (times--)
				kind[i].work();
			posix_trace_event(end[i], NULL, 0);
		}
		if (round % TURN == TURN - 1)
			give_turn(to);
	}
	must(posix_trace_shutdown(trid), "shutdown");
}

int main(int argc, char **argv)
{
	int to_a[2], to_b[2], status = 0;
	pid_t child;

	must(argc < 4 ? EINVAL : 0, "A B ROUNDS [SLOW]");
	must(pipe2(to_a, O_CLOEXEC) || pipe2(to_b, O_CLOEXEC) ? errno : 0, "pipe");
	signal(SIGPIPE, SIG_IGN);
	stay_here();
	give_turn(to_a[1]);
	child = fork();
	must(child < 0 ? errno : 0, "fork");
	if (!child) {
		close(to_b[1]);
		run(argv[2], atoi(argv[3]), argc > 4 ? atoi(argv[4]) : -1, to_b[0], to_a[1]);
		return 0;
	}
	close(to_a[1]);
	run(argv[1], atoi(argv[3]), -1, to_a[0], to_b[1]);
	close(to_b[1]);
	must(waitpid(child, &status, 0) == child ? 0 : errno, "waitpid");
	return status != 0;
}
