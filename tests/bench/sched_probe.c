/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sched_probe.c - does one thing many times, for bench-sched, so that the cost of recording it is a
 * large part of its processor time:
 *
 *   sched_probe echo BYTES IN OUT
 *   sched_probe switch CHUNKS BYTES IN OUT PID    wakes the process PID, an echo, and waits for it
 *   sched_probe spin CHUNKS                       calls no system call
 *   sched_probe read CHUNKS                       reads a file, so that it is mostly in the kernel
 *   sched_probe fault CHUNKS                      page faults
 *   sched_probe spawn CHUNKS                      starts programs and waits for them
 *   sched_probe run PROGRAM [ARGUMENT]...
 *
 * The first modes print the median of the chunks, in ns of processor time for one operation, and
 * the number of operations, also of the first chunk, which only warms up. Processor time includes
 * that of the echo or of the programs. BYTES are read before each wake-up, a byte of each cache
 * line, so that the cache of the first level has other data.
 *
 * run prints the processor time of a program with its children in s, the duration in s, the
 * switches and the page faults of all of them, and the processor time that the parent of
 * sched_probe needed meanwhile, which is the recorder.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNKS 4096
#define LINE   64 /* bytes of a cache line */

static double cost[CHUNKS];
static volatile unsigned sum;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		err(1, "clock_gettime");
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The processor time of a process, without that of its children. */
static int64_t used_by(pid_t pid)
{
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock))
		errx(1, "process %d has no clock", (int)pid);
	return clock_ns(clock);
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The processor time of all children that have been waited for. */
static double used_by_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static double used_with_children(void)
{
	return used_by_children() + (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static int by_cost(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(int chunks, int operations)
{
	qsort(cost, (size_t)chunks, sizeof(*cost), by_cost);
	printf("%.2f %d\n", cost[chunks / 2], (chunks + 1) * operations);
}

/* ------------------------------------------------------------------ operations */

/* Both processes of a pair run on the same CPU, so that each wake-up is a switch. */
static void use_last_cpu(void)
{
	cpu_set_t set, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(set), &set))
		err(1, "sched_getaffinity");
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set)) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
		}
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity");
}

static char *make_buffer(size_t bytes)
{
	char *buffer = malloc(bytes + 1);

	if (!buffer)
		err(1, "malloc");
	return memset(buffer, 1, bytes + 1);
}

static void walk(const char *buffer, size_t bytes)
{
	unsigned found = 0;

	for (size_t i = 0; i < bytes; i += LINE)
		found += (unsigned char)buffer[i];
	sum += found;
}

static void echo(size_t bytes, int in, int out)
{
	char *buffer = make_buffer(bytes), byte;

	use_last_cpu();
	while (read(in, &byte, 1) == 1) {
		walk(buffer, bytes);
		if (write(out, &byte, 1) != 1)
			break;
	}
	free(buffer);
}

#define TURNS 500

static void switch_often(int chunks, size_t bytes, int in, int out, pid_t pid)
{
	char *buffer = make_buffer(bytes), byte = 0;

	use_last_cpu();
	for (int chunk = -1; chunk < chunks; chunk++) {
		int64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + used_by(pid);

		for (int i = 0; i < TURNS; i++) {
			walk(buffer, bytes);
			if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
				errx(1, "the echo has ended");
		}
		/* The first chunk only warms up. */
		if (chunk >= 0)
			cost[chunk] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) + used_by(pid) -
					       begin) / TURNS;
	}
	free(buffer);
	print(chunks, TURNS);
}

#define DEPTH	16 /* of the stack of each sample */
#define LOOPS	2000000

static __attribute__((noinline)) unsigned spin(int depth)
{
	unsigned found = 0;

	if (depth) {
		found = spin(depth - 1);
	} else {
		for (unsigned i = 0; i < LOOPS; i++) {
			found += i;
			__asm__ volatile("" : "+r"(found));
		}
	}
	/* The compiler must not make a loop of the recursion. */
	__asm__ volatile("" : "+r"(found) : : "memory");
	return found + 1;
}

static void spin_often(int chunks)
{
	for (int chunk = -1; chunk < chunks; chunk++) {
		int64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

		sum += spin(DEPTH);
		if (chunk >= 0)
			cost[chunk] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
	}
	print(chunks, 1);
}

#define READS 1000 /* in a chunk, which counts as one operation, as a chunk of spin does */

static void read_often(int chunks)
{
	static char buffer[4096];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "open");
	for (int chunk = -1; chunk < chunks; chunk++) {
		int64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

		for (int i = 0; i < READS; i++)
			if (pread(fd, buffer, sizeof(buffer), 0) <= 0)
				err(1, "pread");
		if (chunk >= 0)
			cost[chunk] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
	}
	close(fd);
	print(chunks, 1);
}

#define PAGES 512

static void fault_often(int chunks)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;

	for (int chunk = -1; chunk < chunks; chunk++) {
		int64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			err(1, "mmap");
		madvise(memory, bytes, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < bytes; at += page)
			memory[at] = 1;
		munmap(memory, bytes);
		if (chunk >= 0)
			cost[chunk] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / PAGES;
	}
	print(chunks, PAGES);
}

static void start_program(char **argv)
{
	pid_t pid;
	int status, error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (error) {
		fprintf(stderr, "%s: %s\n", argv[0], strerror(error));
		exit(1);
	}
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	if (status)
		errx(1, "%s failed", argv[0]);
}

#define PROGRAMS 5

static void spawn_often(int chunks)
{
	char program[] = "/proc/self/exe", none[] = "none";
	char *argv[] = { program, none, NULL };

	for (int chunk = -1; chunk < chunks; chunk++) {
		double begin = used_with_children();

		for (int i = 0; i < PROGRAMS; i++)
			start_program(argv);
		if (chunk >= 0)
			cost[chunk] = (used_with_children() - begin) * 1e9 / PROGRAMS;
	}
	print(chunks, PROGRAMS);
}

/* ------------------------------------------------------------------ a program */

static void run(char **argv)
{
	const pid_t recorder = getppid();
	int64_t begin = clock_ns(CLOCK_MONOTONIC), used = used_by(recorder);
	struct rusage usage;

	start_program(argv);
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	used = used_by(recorder) - used;
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%.6f %.6f %ld %ld %.6f\n", used_by_children(), (double)begin / 1e9,
	       usage.ru_nvcsw + usage.ru_nivcsw, usage.ru_minflt + usage.ru_majflt,
	       (double)used / 1e9);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int number[4] = { 0 };

	if (argc > 2 && strcmp(mode, "run") == 0) {
		run(argv + 2);
		return 0;
	}
	for (int i = 0; i < 4 && i + 3 < argc; i++)
		number[i] = atoi(argv[i + 3]);
	if (strcmp(mode, "none") == 0)
		return 0;
	if (argc == 5 && strcmp(mode, "echo") == 0)
		echo((size_t)atoi(argv[2]), number[0], number[1]);
	else if (argc < 3 || atoi(argv[2]) < 1 || atoi(argv[2]) > CHUNKS)
		errx(2, "see the first lines of sched_probe.c");
	else if (argc == 7 && strcmp(mode, "switch") == 0)
		switch_often(atoi(argv[2]), (size_t)number[0], number[1], number[2], number[3]);
	else if (strcmp(mode, "spin") == 0)
		spin_often(atoi(argv[2]));
	else if (strcmp(mode, "read") == 0)
		read_often(atoi(argv[2]));
	else if (strcmp(mode, "fault") == 0)
		fault_often(atoi(argv[2]));
	else if (strcmp(mode, "spawn") == 0)
		spawn_often(atoi(argv[2]));
	else
		errx(2, "unknown mode: %s", mode);
	return 0;
}
