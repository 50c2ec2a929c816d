/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard_start.c - starts the guardian's process, in its creator.
 *
 * The guardian must not be a child that wait() reports. But wait() reports every child that has
 * executed a program, even one that was made without a signal for its end. The guardian is
 * therefore a grandchild. Its parent is a child that sends no signal when it ends. This child has
 * exited when ptx_guard_start() returns, and init adopts the guardian. The two processes do not
 * copy the creator, which may be large. They use the creator's memory, with all signals blocked,
 * until the grandchild executes the program. Before that they only make system calls.
 *
 * At the end of the stream the creator waits for the guardian's end.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/libc.h"
#include "base/life.h"
#include "base/quiet.h"
#include "point/view.h"
#include "posix/guard.h"
#include "posix/registry.h"

/* Bytes of the stack of each of the two processes. They make only system calls. */
#define STACK_BYTES 16384
#define HIGH_FD     6 /* above the numbers that the guardian gets */

/* How long shutdown waits for a guardian's end, before and after it kills the guardian. */
#define END_NS (2 * PTX_NS_PER_S)
/* The limit of this wait if this process cannot see whether the guardian is a zombie. */
#define UNSEEN_END_NS (PTX_NS_PER_S / 10)

/* The arguments of the two processes, in the creator's frame. */
struct start {
	const char *program;
	char **argv;
	char *stack; /* the upper end of the grandchild's stack */
	int arena_fd, log_fd;
	int life_fd; /* a file that the creator has mapped, or -1 */
	int guardian; /* the guardian's process id; 0: there is none */
	int child;    /* the id of the child, the guardian's parent, in the child's own namespace */
	struct flock guard;
};

/*
 * UNSEEN marks the functions that run in the two processes. Code of a sanitizer in them would
 * change the creator's state.
 */
#define UNSEEN __attribute__((no_sanitize("thread", "address")))

/*
 * Ends a process in the creator's memory. Only raw system calls are allowed there: a program, a
 * preloaded library or a sanitizer may have replaced the functions of the C library.
 */
static void UNSEEN __attribute__((noreturn)) end_process(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

/*
 * Closes all descriptors but these three, of which some may be -1. The program may have used all
 * numbers that its limit permits, and the guardian needs some. Before Linux 5.9 there is no
 * close_range(2), and nothing is closed.
 */
static void UNSEEN keep_only(const int kept[3])
{
	unsigned from = 0;

	for (int round = 0; round < 3; round++) {
		unsigned next = ~0u;

		for (int i = 0; i < 3; i++)
			if (kept[i] >= 0 && (unsigned)kept[i] >= from && (unsigned)kept[i] < next)
				next = (unsigned)kept[i];
		if (next == ~0u)
			break;
		if (next > from)
			syscall(SYS_close_range, from, next - 1, 0);
		from = next + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

/* The grandchild: arranges its descriptors and executes the guardian. */
static int UNSEEN become_guardian(void *argument)
{
	const struct start *start = argument;
	static char *none[] = { NULL };
	int arena, log, life, null;

	keep_only((const int[]){ start->arena_fd, start->log_fd, start->life_fd });
	/*
	 * The three descriptors are first duplicated above the guardian's numbers, so that no
	 * dup3() below closes a descriptor that is still needed.
	 */
	arena = (int)syscall(SYS_fcntl, start->arena_fd, F_DUPFD, HIGH_FD);
	log = (int)syscall(SYS_fcntl, start->log_fd, F_DUPFD, HIGH_FD);
	life = (int)syscall(SYS_fcntl, start->life_fd, F_DUPFD, HIGH_FD);
	null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
	if (arena < 0 || log < 0 || null < 0)
		end_process(1);
	for (int fd = 0; fd < 3; fd++)
		if (fd != null)
			syscall(SYS_dup3, null, fd, 0);
	syscall(SYS_dup3, arena, 3, 0);
	syscall(SYS_dup3, log, 4, 0);
	if (syscall(SYS_dup3, life, 5, 0) < 0)
		syscall(SYS_close, 5);
	/*
	 * Before Linux 5.9 there is no close_range(2). The guardian then keeps those descriptors
	 * of the creator that do not have the flag close-on-exec.
	 */
	syscall(SYS_close_range, 6, ~0u, 0);
	/*
	 * The guardian's lock is acquired here and not in the guardian's program, which may need
	 * time to start. If the creator were killed in that time, an observer would find a place
	 * without creator and without guardian. A lock survives execve(). The kernel would release
	 * the lock if the process closed any descriptor of the arena, but descriptor 3 is the only
	 * one. If another guardian still has the lock, the guardian's program waits for the lock.
	 */
	syscall(SYS_fcntl, 3, F_SETLK, &start->guard);
	/* Signals of the creator's terminal and session must not end the guardian. */
	syscall(SYS_setsid);
	/* The guardian must not keep a file system mounted. */
	syscall(SYS_chdir, "/");
	syscall(SYS_execve, start->program, start->argv, none);
	end_process(1);
}

/* The child: starts the grandchild and exits, so that init adopts the grandchild. */
static int UNSEEN leave_guardian(void *argument)
{
	struct start *start = argument;

	start->child = (int)syscall(SYS_getpid);
	/*
	 * The creator has called unshare(CLONE_NEWPID), and this process is the first one of the
	 * new namespace. When it ends, the kernel kills all processes there.
	 */
	if (start->child == 1)
		end_process(1);
	/* The memory is shared until the guardian's execve(), so no sanitizer may see this call. */
	start->guardian = ptx_libc_clone(become_guardian, start->stack,
					 CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
	end_process(start->guardian < 0);
}

/*
 * The environment can name another guardian, for tests, and for an installation that was moved.
 * secure_getenv() hides the variable from set-user-ID programs.
 */
static const char *program_of(void)
{
	const char *path = secure_getenv("POSIXTRACE_GUARDIAN");

	if (!path)
		path = PTX_GUARDIAN;
	return path[0] == '/' && access(path, X_OK) == 0 ? path : NULL;
}

/*
 * Opens the log for reading and writing: the guardian reads what was written. Returns -1 if the
 * file is not a regular file, or if the process may not open it.
 */
static int open_log(int fd)
{
	char path[40];
	struct stat file;
	int log;

	if (fd < 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
		return -1;
	/*
	 * The program's descriptor may be open for writing only. The path in /proc opens the same
	 * file anew.
	 */
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	log = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	return log;
}

/*
 * Makes an empty file and maps it in the memory of this process, where it stays mapped until the
 * process ends or executes another program. The guardian can find out whether the file is mapped. A
 * child of fork() does not inherit the mapping. A file in /proc would show the same, but as long as
 * the guardian has it open, /proc could not be unmounted. Returns -1 after an error.
 */
static int map_life(struct ptx_guardian *guardian)
{
	void *page;
	int fd;

	/* Other processes search for arenas by name, so this file has another name. */
	if (ptx_io_memory_file("posixtrace-life", &fd))
		return -1;
	/*
	 * Another thread must not fork between mmap() and madvise(). The child would have the
	 * mapping.
	 */
	ptx_registry_before_fork();
	page = mmap(NULL, PTX_PAGE, PROT_NONE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED && madvise(page, PTX_PAGE, MADV_DONTFORK)) {
		munmap(page, PTX_PAGE);
		page = MAP_FAILED;
	}
	ptx_registry_after_fork(false);
	if (page != MAP_FAILED) {
		guardian->life = page;
		return fd;
	}
	close(fd);
	return -1;
}

static void unmap_life(struct ptx_guardian *guardian)
{
	if (guardian->life)
		munmap(guardian->life, PTX_PAGE);
	guardian->life = NULL;
}

/*
 * Starts a guardian with the lock guardian->which. A failure is not reported: the stream works
 * without a guardian. Returns the file that the creator has mapped, or -1.
 */
static int start_guardian(struct ptx_stream *stream, const struct ptx_log *log, uint64_t number,
			  struct ptx_guardian *guardian)
{
	char bit[16], generation[24], logs[24], uuid[2 * PTX_LOG_UUID_BYTES + 1];
	char name[] = "posixtrace-guardian";
	char same_ids[] = { stream->target.same_ids ? '1' : '0', '\0' };
	char which[] = { guardian->which ? '1' : '0', '\0' };
	char *argv[] = { name, bit, generation, same_ids, logs, which, uuid, NULL };
	struct start start = { .argv = argv, .life_fd = -1 };
	sigset_t all, before;
	uint64_t began;
	char *stack;
	pid_t child;

	guardian->pid = 0;
	guardian->life = NULL;
	start.program = program_of();
	/*
	 * Without the creator's lock a guardian could not recognize the creator's death, and would
	 * write into the log while the creator writes, too. So no guardian is started without this
	 * lock.
	 */
	start.arena_fd = start.program ? ptx_arena_fd(stream->target.arena) : -1;
	if (start.arena_fd < 0 || !ptx_attachment_hold(stream->target.arena, stream->view->bit))
		return -1;
	start.log_fd = open_log(ptx_log_descriptor(log));
	start.life_fd = map_life(guardian);
	stack = malloc(2 * STACK_BYTES);
	if (start.log_fd < 0 || !stack)
		goto out;
	start.guard = ptx_attachment_guard_lock(stream->view->bit, guardian->which);
	snprintf(bit, sizeof bit, "%u", stream->view->bit);
	snprintf(generation, sizeof generation, "%llu",
		 (unsigned long long)stream->view->generation);
	snprintf(logs, sizeof logs, "%llu", (unsigned long long)number);
	for (size_t i = 0; i < PTX_LOG_UUID_BYTES; i++)
		snprintf(uuid + 2 * i, 3, "%02x", ptx_log_uuid(log)[i]);
	sigfillset(&all);
	/*
	 * A signal handler must not run in these processes, because they use the creator's memory.
	 */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	/* The grandchild's stack is the lower half, the child's the upper one. */
	start.stack = stack + STACK_BYTES;
	child = ptx_libc_clone(leave_guardian, stack + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK,
			       &start);
	/*
	 * __WCLONE is needed, because the child sends no signal at its end. So wait() in other
	 * threads does not report this child.
	 */
	while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/*
	 * The start time identifies the guardian when the flusher later checks whether it is alive.
	 * If the guardian is in another namespace of process ids, its id there may be the id of
	 * another process here. Then guardian->pid stays 0.
	 */
	began = start.guardian > 0 && start.child == child ?
			ptx_identity_start((uint32_t)start.guardian) : 0;
	if (began) {
		guardian->pid = (uint32_t)start.guardian;
		guardian->start = began;
	}
out:
	free(stack);
	if (start.log_fd >= 0)
		close(start.log_fd);
	return start.life_fd;
}

void ptx_guard_start(struct ptx_stream *stream, const struct ptx_log *log)
{
	const int life_fd = start_guardian(stream, log, 0, &stream->guardian);

	if (life_fd >= 0)
		close(life_fd);
}

/*
 * An attachment has two locks for guardians. The old guardian has one of them, so the new guardian
 * gets the other.
 */
int ptx_guard_start_next(struct ptx_stream *stream, const struct ptx_log *log, uint64_t number,
			 struct ptx_guardian *guardian)
{
	guardian->which = !stream->guardian.which;
	return start_guardian(stream, log, number, guardian);
}

/*
 * Waits until the guardian has ended. Without a free descriptor the system shows the end only when
 * the guardian's parent has waited for it, so the wait is shorter then, and *is_known is false.
 */
static bool wait_for_end(const struct ptx_guardian *guardian, bool *is_known)
{
	const struct ptx_identity identity = { .start = guardian->start };

	*is_known = ptx_life_of_one(guardian->pid, &identity) != PTX_LIFE_UNKNOWN;
	return ptx_life_ends(guardian->pid, &identity, *is_known ? END_NS : UNSEEN_END_NS);
}

/*
 * The creator waits for the end of the guardian, so that the old log is not open any more. If the
 * kernel has no pidfds, the guardian is not killed and remains until the stream ends.
 */
void ptx_guard_dismiss(struct ptx_guardian *guardian)
{
	const struct ptx_identity identity = { .start = guardian->start };
	bool is_known;

	if (guardian->pid) {
		ptx_life_kill(guardian->pid, &identity);
		wait_for_end(guardian, &is_known);
	}
	unmap_life(guardian);
	guardian->pid = 0;
}

/*
 * The guardian has nothing left to do, so it may be killed. This is necessary not only if it was
 * stopped: another controller may have got the place of the stream, and with it the lock, before
 * the guardian did. The guardian would then wait until that stream ends, too. A process with a
 * seccomp filter does not wait, because the filter may forbid these calls.
 */
void ptx_guard_end(struct ptx_stream *stream)
{
	struct ptx_guardian *guardian = &stream->guardian;
	bool is_known;

	if (ptx_is_quiet())
		return;
	unmap_life(guardian);
	if (guardian->pid && !wait_for_end(guardian, &is_known) && is_known)
		ptx_guard_dismiss(guardian);
}
