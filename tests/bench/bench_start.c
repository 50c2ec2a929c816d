/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_start.c - the time that linking the library adds to the life of a process:
 * bench_start PLAIN LINKED LEAST LIBRARY
 *
 * The programs have the same source; only LINKED is linked with libposixtrace. LEAST makes only the
 * calls to the system that a traced program needs, and the dynamic loader gives it a library of the
 * system that is nearly empty, if there is one. The programs are started in turns. A life is fork,
 * exec, the return of main(), and wait. Half of the cost of a start is the dynamic loader's, and it
 * counts. The loader finds an installed library in its cache, but it finds one in a build folder
 * only after a dozen names that do not exist. So LD_PRELOAD gives LINKED the path of LIBRARY.
 */
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LIVES 300
#define EMPTY "libutil.so.1" /* of the GNU C library; since version 2.34 it is empty */

static double life_us(char *program)
{
	char *argv[] = { program, NULL };
	double begin = bench_now_ns();
	int status, err;
	pid_t child;

	err = posix_spawn(&child, program, NULL, NULL, argv, environ);
	if (err)
		bench_die(program, err);
	if (waitpid(child, &status, 0) != child || status)
		bench_die(program, ECHILD);
	return (bench_now_ns() - begin) / 1000;
}

static void facts_of(const char *program, char *facts, int size)
{
	char command[1000];
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' facts", program);
	pipe = popen(command, "r");
	if (!pipe || !fgets(facts, size, pipe) || pclose(pipe))
		bench_die(program, EIO);
}

/* Starts the program with this library, or without one if preload is NULL. */
static double life_with_us(const char *preload, char *program)
{
	double us;

	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	us = life_us(program);
	unsetenv("LD_PRELOAD");
	return us;
}

int main(int argc, char **argv)
{
	double plain[LIVES], linked[LIVES], least[LIVES], plain_p50, linked_p50, least_p50;
	char plain_facts[100], facts[100];
	const char *empty;
	char *library;
	bool law;

	if (argc != 5) {
		fprintf(stderr, "usage: bench_start PLAIN LINKED LEAST LIBRARY\n");
		return 2;
	}
	library = realpath(argv[4], NULL);
	if (!library)
		bench_die(argv[4], errno);
	empty = dlopen(EMPTY, RTLD_LAZY) ? EMPTY : NULL;
	for (int i = 0; i < LIVES; i++) {
		plain[i] = life_with_us(NULL, argv[1]);
		linked[i] = life_with_us(library, argv[2]);
		least[i] = life_with_us(empty, argv[3]);
	}
	free(library);
	facts_of(argv[1], plain_facts, sizeof(plain_facts));
	facts_of(argv[2], facts, sizeof(facts));
	law = !strcmp(facts, plain_facts); /* no thread, no file with a name */
	plain_p50 = bench_median(plain, LIVES);
	linked_p50 = bench_median(linked, LIVES);
	least_p50 = bench_median(least, LIVES);
	bench_begin("start %s plain_us=%.0f linked_us=%.0f min_more_ms=%.3f least_more_ms=%.3f",
		    facts, plain_p50, linked_p50, (linked[0] - plain[0]) / 1000,
		    (least_p50 - plain_p50) / 1000);
	bench_end_limit("more_ms", (linked_p50 - plain_p50) / 1000, 0.1, law);
	return bench_status();
}
