/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crashing.c - a program that a signal kills, for test_crash.sh.
 *
 *	crashing segv      eight threads; the one named "worker3" writes to address 0x30
 *	crashing abort     calls abort()
 *	crashing handled   a handler of SIGSEGV ends the program with 5
 *	crashing ignored   SIGSEGV is ignored until a thread causes it
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS 8

void write_there(void);
void wait_for_end(void);

static pthread_barrier_t all;
static volatile uintptr_t place = 0x30;

__attribute__((noinline)) void write_there(void)
{
	*(volatile int *)place = 7;
	place++;
}

__attribute__((noinline)) void wait_for_end(void)
{
	pthread_barrier_wait(&all);
	for (;;)
		pause();
}

static void *work(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker%d", (int)(intptr_t)arg);
	prctl(PR_SET_NAME, name);
	if ((intptr_t)arg != 3)
		wait_for_end();
	pthread_barrier_wait(&all);
	write_there();
	return NULL;
}

static void end(int sig)
{
	(void)sig;
	_exit(5);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(how, "abort"))
		abort();
	if (strcmp(how, "segv")) {
		signal(SIGSEGV, strcmp(how, "ignored") ? end : SIG_IGN);
		write_there();
		return 1;
	}
	pthread_barrier_init(&all, NULL, THREADS);
	for (intptr_t i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, (void *)i))
			return 99;
	wait_for_end();
}
