/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff/work.c - a program that traces how long its work takes, for check-diff. Not a test itself.
 *
 *	work PATH ROUNDS [SLOW]
 *
 * Six kinds of work, each a span. Of the kind of number SLOW a tenth more is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#define KINDS 6

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

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(void);
	} kind[KINDS] = { { "hash", hash }, { "sort", sort }, { "move", move }, { "divide", divide },
			  { "print", print }, { "root", root } };
	int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	int rounds = argc > 2 ? atoi(argv[2]) : 0, slow = argc > 3 ? atoi(argv[3]) : -1;
	trace_event_id_t begin[KINDS], end[KINDS];
	trace_attr_t attr;
	trace_id_t trid;

	must(fd < 0 ? EINVAL : 0, "PATH ROUNDS [SLOW]");
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
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < KINDS; i++) {
			int times = i == slow ? 33 : 30;

			posix_trace_event(begin[i], NULL, 0);
			while (times--)
				kind[i].work();
			posix_trace_event(end[i], NULL, 0);
		}
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
