/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_record.c - how much later a program ends because it runs under posixtrace record:
 * bench_record POSIXTRACE LIBRARY FOLDER
 *
 * A process starts /bin/true again and again, as a shell does, and measures each life: from
 * posix_spawn() to the return of waitpid(). It runs plain, with LIBRARY alone, and under record, in
 * turns; under record, the programs that it starts are members of one trace. The start of
 * posixtrace itself is not measured. The dynamic linker finds an installed LIBRARY in its cache,
 * and one in a build folder after dozens of names that do not exist. So LD_PRELOAD has its path.
 *
 * Two more figures are not judged. script_more_ms: a shell starts the programs, one after another,
 * as a configure script does. exec_more_ms: one process executes a program again and again, and
 * remains the same process.
 *
 * The least median of the rounds is judged, because other load only makes a round slower.
 *
 * The law: each log is sound and has the start and the end of every program.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LIVES  200
#define ROUNDS 7

static char program[] = "/bin/true";

static double life_us(void)
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

/* Prints the median; the program that measures, plain or traced. */
static int measure(void)
{
	double us[LIVES];

	for (int i = 0; i < LIVES; i++)
		us[i] = life_us();
	printf("%.1f\n", bench_median(us, LIVES));
	return 0;
}

/* Starts the programs in a shell, and prints the mean of their lives. */
static int measure_script(void)
{
	char script[100], shell[] = "sh", option[] = "-c";
	char *argv[] = { shell, option, script, NULL };
	double begin = bench_now_ns();
	int status, err;
	pid_t child;

	snprintf(script, sizeof(script), "i=0; while [ $i -lt %d ]; do %s; i=$((i+1)); done", LIVES,
		 program);
	err = posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ);
	if (err)
		bench_die("/bin/sh", err);
	if (waitpid(child, &status, 0) != child || status)
		bench_die("/bin/sh", ECHILD);
	printf("%.1f\n", (bench_now_ns() - begin) / 1000 / LIVES);
	return 0;
}

/* Executes this program until no executions are left, and prints the mean of their times. */
static int measure_exec(int left, const char *since_ns)
{
	char since[40], number[20];

	if (left == 0) {
		printf("%.1f\n", (bench_now_ns() - strtod(since_ns, NULL)) / 1000 / LIVES);
		return 0;
	}
	snprintf(since, sizeof(since), "%.0f", bench_now_ns());
	snprintf(number, sizeof(number), "%d", left - 1);
	execl("/proc/self/exe", "bench_record", "exec", number, since_ns ? since_ns : since, NULL);
	bench_die("/proc/self/exe", errno);
	return 1;
}

static double number_of(const char *command)
{
	FILE *pipe = popen(command, "r");
	double number;

	if (!pipe || fscanf(pipe, "%lf", &number) != 1 || pclose(pipe))
		bench_die(command, EIO);
	return number;
}

/* Returns how much longer a mode of this program takes under record: the least of some rounds. */
static double more_us(const char *own, const char *record, const char *mode)
{
	double plain = 0, traced = 0;
	char command[6 * 4096];

	for (int i = 0; i < ROUNDS; i++) {
		double a, b;

		snprintf(command, sizeof(command), "%s %s", own, mode);
		a = number_of(command);
		snprintf(command, sizeof(command), "%s %s", record, mode);
		b = number_of(command);
		if (i == 0 || a < plain)
			plain = a;
		if (i == 0 || b < traced)
			traced = b;
	}
	return traced - plain;
}

int main(int argc, char **argv)
{
	double plain = 0, loaded = 0, traced = 0, more = 0;
	char own[4096], load[3 * 4096], record[4 * 4096], verify[6 * 4096], *library;
	char untraced[2 * 4096], lives[5 * 4096];
	double script, executed;
	bool law = true;
	ssize_t len;

	if (argc == 2 && !strcmp(argv[1], "lives"))
		return measure();
	if (argc == 2 && !strcmp(argv[1], "script"))
		return measure_script();
	if (argc >= 2 && !strcmp(argv[1], "exec"))
		return measure_exec(argc == 4 ? atoi(argv[2]) : LIVES, argc == 4 ? argv[3] : NULL);
	if (argc != 4) {
		fprintf(stderr, "usage: bench_record POSIXTRACE LIBRARY FOLDER\n");
		return 2;
	}
	len = readlink("/proc/self/exe", own, sizeof(own) - 8);
	if (len < 0)
		bench_die("/proc/self/exe", errno);
	own[len] = '\0';
	library = realpath(argv[2], NULL);
	if (!library)
		bench_die(argv[2], errno);
	snprintf(load, sizeof(load), "LD_PRELOAD='%s' %s lives", library, own);
	snprintf(record, sizeof(record),
		 "LD_PRELOAD='%s' '%s' record -q --force -o '%s/start.%d.ptl' -- %s", library,
		 argv[1], argv[3], (int)getpid(), own);
	snprintf(untraced, sizeof(untraced), "%s lives", own);
	snprintf(lives, sizeof(lives), "%s lives", record);
	script = more_us(own, record, "script");
	executed = more_us(own, record, "exec");
	/* The programs, and the one that starts them. */
	snprintf(verify, sizeof(verify),
		 "export LD_PRELOAD='%s'; '%s' verify '%s/start.%d.ptl' >/dev/null && '%s' dump "
		 "-e 'process.start' -e 'process.end' '%s/start.%d.ptl' | wc -l",
		 library, argv[1], argv[3], (int)getpid(), argv[1], argv[3], (int)getpid());
	for (int i = 0; i < ROUNDS; i++) {
		double a, only, b;

		a = number_of(untraced);
		only = number_of(load);
		b = number_of(lives);
		law = law && number_of(verify) == 2 * (LIVES + 1);
		if (i == 0 || a < plain)
			plain = a;
		if (i == 0 || only < loaded)
			loaded = only;
		if (i == 0 || b < traced)
			traced = b;
		if (i == 0 || b - a < more)
			more = b - a;
	}
	snprintf(record, sizeof(record), "%s/start.%d.ptl", argv[3], (int)getpid());
	unlink(record);
	free(library);
	bench_begin("record_start program=%s plain_us=%.0f library_us=%.0f traced_us=%.0f "
		    "least_more_ms=%.3f script_more_ms=%.3f exec_more_ms=%.3f",
		    program, plain, loaded, traced, more / 1000, script / 1000, executed / 1000);
	bench_end_limit("more_ms", (traced - plain) / 1000, 0.5, law);
	return bench_status();
}
