// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with threads that call functions and reach probes all the time, for
 * test_attach_function.sh. It checks all results, and ends with its standard input.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "usdt.h"

#ifdef __clang__ /* it makes no clones */
# define APART __attribute__((noinline))
#else
# define APART __attribute__((noinline, noclone))
#endif
#define THREADS 4

volatile uint16_t shop_counted_semaphore __attribute__((used));
static volatile int ends;

APART static long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

APART static long probed(long n)
{
	__asm__ volatile(PROBE("probed", "-8@%%rdi") : "+D"(n));
	__asm__ volatile(PROBE("typed", "-8@%%rdi") : "+D"(n));
	if (shop_counted_semaphore)
		__asm__ volatile(PROBE_AT("nop", "counted", "-8@%%rdi", "shop_counted_semaphore")
				 : "+D"(n));
	return n + 1;
}

APART static void leaves(jmp_buf back, int depth)
{
	if (!depth)
		longjmp(back, 5);
	leaves(back, depth - 1);
	__asm__ volatile("");
}

APART static int returns_twice(void)
{
	jmp_buf back;
	int value = setjmp(back);

	if (!value)
		leaves(back, 3);
	return value;
}

static void *run(void *arg)
{
	long count = 0;

	while (!ends) {
		char *memory = malloc(100);

		free(memory);
		if (fibonacci(10) != 55 || probed(count) != count + 1 || returns_twice() != 5)
			abort();
		count++;
		if (arg)
			usleep(1000);
	}
	return NULL;
}

/* Ends the threads, but not before the end of the standard input. */
static void *end_later(void *arg)
{
	char byte;

	(void)arg;
	while (read(0, &byte, 1) > 0)
		;
	ends = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	char byte;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	puts("runs");
	if (argc > 1 && argv[1] && read(0, &byte, 1) == 1) {
		pthread_create(&thread[0], NULL, end_later, NULL);
		pthread_exit(NULL);
	}
	while (read(0, &byte, 1) > 0)
		;
	ends = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("ends %d\n", shop_counted_semaphore);
	return 0;
}
