/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four workers write orders to a journal. It is slower than it should be: see doc/TUTORIAL. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal, orders = 50;

/* The price of an order, computed without any call of the C library. */
static unsigned price(unsigned order)
{
	unsigned sum = order;

	for (int i = 0; i < 100000; i++)
		sum = sum * 1103515245 + 12345;
	return sum % 100;
}

/* Gives the printer time to take the order. */
static void wait_for_printer(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void write_order(unsigned worker, unsigned order)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%u %u %u\n", worker, order, price(order));

	pthread_mutex_lock(&journal_lock);
	if (write(journal, line, (size_t)len) != len)
		perror("journal");
	wait_for_printer();
	pthread_mutex_unlock(&journal_lock);
}

static void *work(void *arg)
{
	for (int order = 0; order < orders; order++)
		write_order((unsigned)(size_t)arg, (unsigned)order);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t worker[WORKERS];

	if (argc > 1)
		orders = atoi(argv[1]);
	journal = open("journal", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
	if (journal < 0) {
		perror("journal");
		return 1;
	}
	for (size_t i = 0; i < WORKERS; i++)
		pthread_create(&worker[i], NULL, work, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	return close(journal) != 0;
}
