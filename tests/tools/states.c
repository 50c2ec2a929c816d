/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * states.c - a process whose threads have known states: two threads "spinner" always want a
 * processor, and a thread "sleeper" sleeps. A signal ends it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

static void *spin(void *arg)
{
	prctl(PR_SET_NAME, "spinner");
	for (;;)
		__asm__ volatile("");
	return arg;
}

static void *sleep_long(void *arg)
{
	const struct timespec hour = { .tv_sec = 3600 };

	prctl(PR_SET_NAME, "sleeper");
	while (!clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL))
		;
	return arg;
}

int main(void)
{
	pthread_t thread;
	trace_event_id_t id;

	/* The library prepares the process for other controllers. */
	if (posix_trace_eventid_open("state", &id) || pthread_create(&thread, NULL, spin, NULL) ||
	    pthread_create(&thread, NULL, spin, NULL) ||
	    pthread_create(&thread, NULL, sleep_long, NULL))
		return 1;
	for (;;)
		pause();
}
