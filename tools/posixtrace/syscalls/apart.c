/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* apart.c - a process that closes descriptors of events. */
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

/* Closes all descriptors but 0 and those of fd, which is sorted. One call closes each gap. */
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
 * Closes in reverse order, so that a link that was made after its event is closed before the event.
 */
void apart_close_here(const int *fd, size_t count)
{
	while (count-- > 0)
		if (fd[count] >= 0)
			close(fd[count]);
}

/*
 * Keeps the descriptors until the other end of the pipe is closed, and then ends, so the kernel
 * closes them. A process of its own session gets no signal of the terminal.
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
		/* Only a child of the child continues, so this process need not wait for it. */
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
