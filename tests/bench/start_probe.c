/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_probe.c - the small program whose start bench_start measures, built with and without the
 * library. With an argument it prints the threads and the open files that the start left behind.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		printf("threads=%d named_files=%d", count("/proc/self/task", any),
		       count("/proc/self/fd", is_named_file));
	return 0;
}
