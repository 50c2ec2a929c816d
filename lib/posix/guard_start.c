/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard_start.c - the guardian's process, from its creator's side.
 *
 * It must be no child that wait() tells of, and a process that executes a program becomes one,
 * however it was made. So it is a grandchild, whose parent, a child without a signal for its end,
 * has gone when we return: init gets it. Neither copies this process, however large: until the
 * program is executed they borrow our memory, with all signals blocked, and do nothing but arrange
 * descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/life.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/guard.h"

#define STACK_BYTES 16384
#define HIGH_FD     400 /* out of the way of the numbers that it gets */

struct start {
	const char *program;
	char **argv;
	char *stack; /* of the grandchild */
	int arena_fd, log_fd;
	int guardian; /* its process id; 0: there is none */
	struct flock guard;
};

/*
 * The C library's clone() by a name that nobody has put another in the place of: ThreadSanitizer's,
 * in the borrowed memory, would make this process blind.
 */
extern int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

#define UNSEEN __attribute__((no_sanitize("thread", "address")))

/*
 * In the borrowed memory: system calls only, and not by functions of the C library's names, which a
 * program, a preloaded library or a sanitizer may have put others in the place of.
 */
static void UNSEEN __attribute__((noreturn)) leave(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static int UNSEEN become_guardian(void *argument)
{
	const struct start *start = argument;
	static char *none[] = { NULL };
	int arena = (int)syscall(SYS_fcntl, start->arena_fd, F_DUPFD, HIGH_FD);
	int log = (int)syscall(SYS_fcntl, start->log_fd, F_DUPFD, HIGH_FD);
	int null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);

	if (arena < 0 || log < 0 || null < 0)
		leave(1);
	for (int fd = 0; fd < 3; fd++)
		if (fd != null)
			syscall(SYS_dup3, null, fd, 0);
	syscall(SYS_dup3, arena, 3, 0);
	syscall(SYS_dup3, log, 4, 0);
	syscall(SYS_close_range, 5, ~0u, 0);
	/*
	 * Not left to the program, which may take its time: if the creator were killed before,
	 * whoever looks would find a place that nobody sees to. A lock outlives execve(), but no
	 * close() of the file: now only this descriptor is left. Where it cannot be had at once the
	 * program waits for it.
	 */
	syscall(SYS_fcntl, 3, F_SETLK, &start->guard);
	syscall(SYS_setsid);
	syscall(SYS_chdir, "/");
	syscall(SYS_execve, start->program, start->argv, none);
	leave(1);
}

static int UNSEEN leave_guardian(void *argument)
{
	struct start *start = argument;

	start->guardian = __clone(become_guardian, start->stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
				  argument);
	leave(start->guardian < 0);
}

static const char *program_of(void)
{
	const char *wish = secure_getenv("POSIXTRACE_GUARDIAN");

	if (!wish)
		wish = PTX_GUARDIAN;
	return wish[0] == '/' && access(wish, X_OK) == 0 ? wish : NULL;
}

/* A regular file that can be read too: the guardian looks at what was written. */
static int open_log(int fd)
{
	char path[40];
	struct stat file;
	int log;

	if (fd < 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
		return -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	log = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	return log;
}

void ptx_guard_start(struct ptx_stream *stream)
{
	char bit[16], generation[24], name[] = "posixtrace-guardian";
	char *argv[] = { name, bit, generation, NULL };
	struct start start = { .argv = argv };
	sigset_t all, before;
	uint64_t began;
	char *stack;
	pid_t child;

	start.program = program_of();
	start.arena_fd = start.program ? ptx_arena_fd(stream->target.arena) : -1;
	if (start.arena_fd < 0 || !ptx_attachment_hold(stream->target.arena, stream->view->bit))
		return; /* one that cannot tell whether we live would complete the log beside us */
	start.log_fd = open_log(stream->log_fd);
	stack = malloc(2 * STACK_BYTES);
	if (start.log_fd < 0 || !stack)
		goto out;
	start.guard = ptx_attachment_guard_lock(stream->view->bit);
	snprintf(bit, sizeof bit, "%u", stream->view->bit);
	snprintf(generation, sizeof generation, "%llu",
		 (unsigned long long)stream->view->generation);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	start.stack = stack + STACK_BYTES;
	child = __clone(leave_guardian, stack + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, &start);
	while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	began = start.guardian > 0 ? ptx_identity_start((uint32_t)start.guardian) : 0;
	if (began)
		ptx_flush_guarded(stream->flush, (uint32_t)start.guardian, began);
out:
	free(stack);
	if (start.log_fd >= 0)
		close(start.log_fd);
}
