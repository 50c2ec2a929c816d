/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* apart.c - starts a process that closes descriptors of events. */
#include "syscalls/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int compare_descriptors(const void *a, const void *b)
{
	const int left = *(const int *)a, right = *(const int *)b;

	return (left > right) - (left < right);
}

/*
 * Closes all descriptors except 0 and those in the sorted array fd. One call closes each gap
 * between two of them.
 */
static void close_gaps(const int *fd, size_t count)
{
	unsigned from = 1;

	for (size_t i = 0; i < count; i++) {
		if (fd[i] < (int)from)
			continue;
		if ((unsigned)fd[i] > from)
			syscall(SYS_close_range, from, (unsigned)fd[i] - 1, 0);
		from = (unsigned)fd[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

/*
 * Closes in reverse order, because a link is behind its event in the array and must be closed
 * before the event.
 */
void apart_close_here(const int *fd, size_t count)
{
	while (count-- > 0)
		if (fd[count] >= 0)
			close(fd[count]);
}

/*
 * Keeps the descriptors until the other end of the pipe is closed. Then the process ends, so the
 * kernel closes the descriptors. The process has its own session, so it gets no signals of the
 * terminal.
 */
static void __attribute__((noreturn)) hold_descriptors(int end, const int *fd, size_t count)
{
	char none;

	setsid();
	dup2(end, 0);
	close_gaps(fd, count);
	if (chdir("/") == 0)
		while (read(0, &none, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

void apart_close(int *fd, size_t count)
{
	int ends[2];
	pid_t child;

	qsort(fd, count, sizeof(*fd), compare_descriptors);
	if (!count || fd[count - 1] < 0)
		return;
	if (pipe2(ends, O_CLOEXEC)) {
		apart_close_here(fd, count);
		return;
	}
	child = fork();
	if (child == 0) {
		/* Only a grandchild of the tool continues, so the tool need not wait for it. */
		if (fork() == 0)
			hold_descriptors(ends[0], fd, count);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	apart_close_here(fd, count);
	close(ends[0]);
	close(ends[1]);
}
