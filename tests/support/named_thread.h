/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/named_thread.h - finds a thread of this process by its name, also for programs that do
 * not link the other code of support.
 */
#ifndef SUPPORT_NAMED_THREAD_H
#define SUPPORT_NAMED_THREAD_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the id of a thread, 0 if none has the name, or -1 if the threads cannot be listed. */
static inline int named_thread(const char *wanted)
{
	DIR *dir = opendir("/proc/self/task");
	int found = 0;

	if (!dir)
		return -1;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[300], name[18] = "";
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue; /* it has ended, or is no thread */
		if (fgets(name, sizeof name, file)) {
			name[strcspn(name, "\n")] = '\0';
			if (strcmp(name, wanted) == 0)
				found = atoi(entry->d_name);
		}
		fclose(file);
	}
	closedir(dir);
	return found;
}

#endif
