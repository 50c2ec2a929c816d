/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * emulated.c - checks the features of Linux that suites need and that an emulator or a program
 * checker may lack. Prints a line for each feature that is missing here: the word by which suites
 * name it, and its description.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define BYTES 65536

static int ends_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && status == 0;
}

static int executes(void)
{
	pid_t child = fork();

	if (child == 0) {
		execl("/proc/self/exe", "emulated", "again", (char *)NULL);
		_exit(1);
	}
	return ends_well(child);
}

static int populates(void)
{
	char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char present[BYTES / 4096] = { 0 };

	if (memory == MAP_FAILED || madvise(memory, BYTES, MADV_POPULATE_WRITE) ||
	    mincore(memory, BYTES, present))
		return 0;
	for (size_t i = 0; i < sizeof(present); i++)
		if (!(present[i] & 1))
			return 0;
	return 1;
}

/* Library code in a child that no fork handler prepares depends on this. */
static int wipes_for_children(void)
{
	char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (memory == MAP_FAILED || madvise(memory, BYTES, MADV_WIPEONFORK))
		return 0;
	memory[0] = 1;
	child = fork();
	if (child == 0)
		_exit(memory[0]);
	return ends_well(child);
}

/* Returns the 22nd word, or -1. */
static long long begin_of(const char *path)
{
	char text[1024] = "", *at;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	at = strrchr(text, ')');
	for (int word = 2; at && word < 22; word++)
		at = strchr(at + 1, ' ');
	return at ? atoll(at) : -1;
}

static int tells_its_begin(void)
{
	long long own = begin_of("/proc/self/stat");
	char path[40];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	child = fork();
	if (child == 0)
		_exit(begin_of(path) != own);
	return own > 0 && ends_well(child);
}

static int holds_a_process(void)
{
	return syscall(434, getpid(), 0) >= 0; /* pidfd_open() */
}

/* This program needs less memory than that. */
static int tells_its_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;
	int well = file && fscanf(file, "%ld", &pages) == 1;

	if (file)
		fclose(file);
	return well && pages * 4096 < 32 << 20;
}

/* All signals but those that no program can block, and those of the C library. */
static int blocks_signals(void)
{
	const unsigned long long all =
		~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 3ull << 31);
	unsigned long long mask = 0;
	char line[256];
	FILE *file;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	if (file)
		fclose(file);
	return (mask & all) == all;
}

static int set_to_one(void *word)
{
	*(volatile int *)word = 1;
	return 0;
}

/* As the library starts a guardian. */
static int shares_memory(void)
{
	static char stack[BYTES] __attribute__((aligned(16)));
	volatile int word = 0;
	pid_t child = clone(set_to_one, stack + BYTES, CLONE_VM | CLONE_VFORK, (void *)&word);

	return child > 0 && waitpid(child, NULL, __WCLONE) == child && word == 1;
}

static int limits_memory(void)
{
	pid_t child = fork();

	if (child == 0) {
		const struct rlimit limit = { 1 << 20, 1 << 20 };

		/* The child already has more than that, so it can map nothing more. */
		_exit(setrlimit(RLIMIT_AS, &limit) ||
		      mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
			      MAP_FAILED);
	}
	return ends_well(child);
}

static int has_other_ids(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(geteuid() == 0 && (setgid(65534) || setuid(65534)));
	return ends_well(child);
}

static const struct {
	int (*works)(void);
	const char *line;
} feature[] = {
	{ executes, "exec: a program executes another of its kind" },
	{ populates, "populate: MADV_POPULATE_WRITE makes memory present" },
	{ wipes_for_children, "wipe: MADV_WIPEONFORK zeroes memory in a child" },
	{ tells_its_begin,
	  "stat: /proc/self/stat has the start time of a process that others see" },
	{ holds_a_process, "pidfd: pidfd_open() holds a process" },
	{ tells_its_memory, "memory: /proc/self/statm has the memory of the program alone" },
	{ blocks_signals, "mask: a program's signals are blocked when it says so" },
	{ shares_memory, "guardian: clone() makes a child that shares memory, as for a guardian" },
	{ limits_memory, "limit: RLIMIT_AS limits the memory that a process can map" },
	{ has_other_ids, "ids: root can have the ids of another user" },
};

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	setvbuf(stdout, NULL, _IONBF, 0); /* children have no copy of its content */
	for (size_t i = 0; i < sizeof(feature) / sizeof(feature[0]); i++)
		if (!feature[i].works())
			puts(feature[i].line);
	return 0;
}
