/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/probe_newer.c - calls functions of newer versions of glibc, which newer.c may have. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/newer.h"

#define MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			return 1; \
		} \
	} while (0)

/* The argument is a program. Prints the id of its process. */
int main(int argc, char **argv)
{
	char argument[] = "x", *command[] = { argv[argc - 1], argument, NULL };
	struct open_how how = { .flags = O_CREAT | O_RDWR, .mode = 0640 };
	siginfo_t info;
	int fd = -2;

	errno = 4711;
	free_sized(malloc(1002), 1002);
	free_aligned_sized(aligned_alloc(128, 1280), 128, 1280);
	free_sized(NULL, 0);
	MUST(pidfd_spawn(&fd, command[0], NULL, NULL, command, environ) == 0 && errno == 4711);
	MUST(waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0 && info.si_status == 0);
	printf("pidfd %d\n", (int)info.si_pid);
	fd = -2;
	MUST(pidfd_spawnp(&fd, "no-such-program", NULL, NULL, command, environ) == ENOENT);
	MUST(fd == -2);
	fd = openat2(AT_FDCWD, "by_openat2", &how, sizeof how);
	MUST(fd >= 0 && close(fd) == 0 && unlink("by_openat2") == 0);
	MUST(openat2(-1, "no/such", &how, 0) == -1 && errno == EINVAL);
	return 0;
}
