/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_start.c - the time that linking the library adds to the life of a process:
 * bench_start PLAIN LINKED LIBRARY
 *
 * Both programs have the same source; only LINKED is linked with libposixtrace. They are started
 * alternately. A life is fork, exec, the return of main(), and wait. Half of the cost of a start is
 * the dynamic loader's, and it counts. The loader finds an installed library in its cache, but it
 * finds one in a build folder only after a dozen names that do not exist. So LD_LIBRARY_PATH gives
 * LINKED the folder of LIBRARY.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LIVES 300

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

int main(int argc, char **argv)
{
	double plain[LIVES], linked[LIVES], plain_p50, linked_p50;
	char plain_facts[100], facts[100];
	bool law;

	char *library;

	if (argc != 4) {
		fprintf(stderr, "usage: bench_start PLAIN LINKED LIBRARY\n");
		return 2;
	}
	library = realpath(argv[3], NULL);
	if (!library)
		bench_die(argv[3], errno);
	for (int i = 0; i < LIVES; i++) {
		unsetenv("LD_PRELOAD");
		plain[i] = life_us(argv[1]);
		setenv("LD_PRELOAD", library, 1);
		linked[i] = life_us(argv[2]);
	}
	unsetenv("LD_PRELOAD");
	free(library);
	facts_of(argv[1], plain_facts, sizeof(plain_facts));
	facts_of(argv[2], facts, sizeof(facts));
	law = !strcmp(facts, plain_facts); /* no thread, no file with a name */
	plain_p50 = bench_median(plain, LIVES);
	linked_p50 = bench_median(linked, LIVES);
	bench_begin("start %s plain_us=%.0f linked_us=%.0f min_more_ms=%.3f", facts, plain_p50,
		    linked_p50, (linked[0] - plain[0]) / 1000);
	bench_end_limit("more_ms", (linked_p50 - plain_p50) / 1000, 0.1, law);
	return bench_status();
}
