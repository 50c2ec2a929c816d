/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads for tests. */
#include "support/stream.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

pthread_t spawn(void *(*body)(void *), void *arg)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, body, arg);

	if (err)
		ck_abort_msg("pthread_create: %s", strerror(err));
	return thread;
}

void *join(pthread_t thread)
{
	void *result;
	int err = pthread_join(thread, &result);

	if (err)
		ck_abort_msg("pthread_join: %s", strerror(err));
	return result;
}

pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

void spin_until_asleep(pid_t tid)
{
	char path[64], line[512];
	int in_a_row = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (in_a_row < 5) {
		FILE *file = fopen(path, "r");
		char *paren = NULL;

		if (!file)
			return; /* the thread has ended already */
		if (fgets(line, sizeof(line), file))
			paren = strrchr(line, ')');
		fclose(file);
		in_a_row = paren && paren[2] == 'S' ? in_a_row + 1 : 0;
		usleep(500);
	}
}
