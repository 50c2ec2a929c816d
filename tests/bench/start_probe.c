/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_probe.c - the small program whose start bench_start measures, built with and without the
 * library. With an argument it prints the threads and the open files that the start left behind.
 *
 * With LEAST, the program has no library and makes the system calls that a traced program needs
 * before its first event. It creates a memory file with seals, by which a controller finds the
 * process, maps the file twice and writes to three of its pages. It also opens the pidfd that
 * identifies the process, maps memory that fork() wipes, and registers for two kinds of barriers.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int count(const char *folder, int (*counts)(const char *path))
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[300];
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		n += entry->d_name[0] != '.' && counts(path);
	}
	if (dir)
		closedir(dir);
	return n;
}

static int any(const char *path)
{
	(void)path;
	return 1;
}

/* Counts descriptors above the standard three whose file has a path. */
static int is_named_file(const char *path)
{
	char target[300];
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len <= 0 || atoi(strrchr(path, '/') + 1) <= 2)
		return 0;
	target[len] = '\0';
	return target[0] == '/' && strncmp(target, "/memfd:", 7) && strncmp(target, "/proc/", 6);
}

#ifdef LEAST
static void start_least(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int file = memfd_create("least", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char *shared, *fixed, *wiped;
	struct stat st;

	if (ftruncate(file, (off_t)(16 * page)) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		_exit(1);
	shared = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	fixed = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	wiped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || fixed == MAP_FAILED || wiped == MAP_FAILED)
		_exit(1);
	fixed[0] = shared[page] = shared[2 * page] = 1;
	madvise(wiped, page, MADV_WIPEONFORK);
	fstat((int)syscall(SYS_pidfd_open, getpid(), 0), &st);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}
#endif

int main(int argc, char **argv)
{
	(void)argv;
#ifdef LEAST
	start_least();
#endif
	if (argc > 1)
		printf("threads=%d named_files=%d", count("/proc/self/task", any),
		       count("/proc/self/fd", is_named_file));
	return 0;
}
