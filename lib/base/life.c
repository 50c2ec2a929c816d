/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/life.c - asks the kernel whether a process or thread lives.
 *
 * For a process, the sources are tried in order of their reliability: a pidfd, kill(2), /proc. For
 * a thread, they are tgkill(2), kill(2) and /proc. Each of them may be missing or refused, and an
 * id may have another meaning in /proc than for system calls (proc.h). The functions of life.h
 * preserve errno.
 */
#include "base/life.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/io.h"
#include "base/proc.h"
#include "base/timespace.h"

/*
 * File system type of pidfds since Linux 6.9. Before that, all pidfds shared one anonymous inode
 * and its number.
 */
#define PIDFS_MAGIC 0x50494446

/* Without a pidfd, a thread that waits for a process sleeps this time between two questions. */
#define NAP_NS INT64_C(1000000)

/* Returns a pidfd, or -1 with errno. */
static int open_pidfd(uint32_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/*
 * Returns whether the process of a pidfd lives. A pidfd is readable once all threads of its process
 * have ended, also before the parent has waited for it.
 */
static enum ptx_life life_of_pidfd(int pidfd)
{
	struct pollfd poller = { .fd = pidfd, .events = POLLIN };
	/*
	 * The time limit is no constant: qemu-user writes the remaining time into it, even if the
	 * limit is 0, and returns EFAULT for a constant. The kernel writes nothing there.
	 */
	struct timespec at_once = { 0 };

	/* ppoll by syscall(): poll() of the C library is a cancellation point. */
	if (syscall(SYS_ppoll, &poller, 1, &at_once, NULL, 0) < 0)
		return PTX_LIFE_UNKNOWN;
	if (poller.revents == 0)
		return PTX_ALIVE;
	return poller.revents & POLLNVAL ? PTX_LIFE_UNKNOWN : PTX_DEAD;
}

/*
 * Returns whether a process lives, by its stat file in /proc. This function is used if there is no
 * pidfd (the kernel lacks or refuses pidfd_open(), or no descriptor is free) and kill() did not
 * decide. The id may belong to a later process by now, so PTX_ALIVE only means that some process
 * has this id.
 */
static enum ptx_life life_by_stat(uint32_t pid)
{
	struct ptx_proc proc;

	if (ptx_proc_is_ours() != 0 || ptx_proc_read(pid, &proc) != 0)
		return PTX_LIFE_UNKNOWN;
	return proc.runs ? PTX_ALIVE : PTX_DEAD;
}

/*
 * Returns PTX_DEAD or PTX_LIFE_UNKNOWN. ESRCH is evidence of death. Success or EPERM is no evidence
 * of life: a process that has ended keeps its id until its parent has waited for it.
 */
static enum ptx_life ask_kill(uint32_t pid)
{
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? PTX_DEAD : PTX_LIFE_UNKNOWN;
}

static bool is_id(uint32_t pid)
{
	/* For kill(), all other values mean a process group or several processes. */
	return pid != 0 && pid <= INT32_MAX;
}

/* Makes one system call only, for callers that ask often (drain/pass.c). */
enum ptx_life ptx_life_by_kill(uint32_t pid)
{
	int saved = errno;
	enum ptx_life life = is_id(pid) ? ask_kill(pid) : PTX_LIFE_UNKNOWN;

	errno = saved;
	return life;
}

/*
 * Returns whether a process lives. The function asks by the pidfd, if `pidfd` is not -1. A pidfd
 * does not depend on /proc, and it shows that a zombie has ended. No error of pidfd_open() is
 * evidence of death, not even ESRCH: a seccomp filter may refuse the call with any error. The
 * function then asks by kill() and by /proc.
 */
static enum ptx_life life_by(uint32_t pid, int pidfd)
{
	enum ptx_life life = PTX_LIFE_UNKNOWN;

	if (pidfd >= 0)
		life = life_of_pidfd(pidfd);
	if (life == PTX_LIFE_UNKNOWN)
		life = ask_kill(pid);
	if (life == PTX_LIFE_UNKNOWN)
		life = life_by_stat(pid);
	return life;
}

enum ptx_life ptx_life_of(uint32_t pid)
{
	int saved = errno, pidfd;
	enum ptx_life life;

	if (!is_id(pid))
		return PTX_LIFE_UNKNOWN;
	pidfd = open_pidfd(pid);
	life = life_by(pid, pidfd);
	if (pidfd >= 0)
		ptx_io_close(pidfd);
	errno = saved;
	return life;
}

/*
 * Returns whether a thread lives, by /proc/PID/task/TID/stat. If this file does not exist although
 * the stat file of the process can be read, the process has no such thread. A filter that refuses
 * to open files refuses both.
 */
static enum ptx_life life_of_task(uint32_t pid, uint32_t tid)
{
	char file[16 + PTX_IO_DIGITS] = "task/", digits[PTX_IO_DIGITS];
	struct ptx_proc proc;
	int err;

	if (ptx_proc_is_ours() != 0)
		return PTX_LIFE_UNKNOWN;
	strcat(file, ptx_io_digits(tid, digits));
	strcat(file, "/stat");
	err = ptx_proc_read_file(pid, file, &proc);
	if (err == ENOENT)
		return ptx_proc_read(pid, &proc) == 0 ? PTX_DEAD : ask_kill(pid);
	if (err)
		return PTX_LIFE_UNKNOWN;
	/* The first thread may have ended while the process runs. */
	return proc.runs && !proc.headless ? PTX_ALIVE : PTX_DEAD;
}

/*
 * The function uses no pidfd, because kernels before 6.9 have none for a thread. So a thread that
 * reuses an id may be mistaken for the former thread. tgkill() checks at least that the thread
 * belongs to the process.
 *
 * ESRCH of tgkill() alone is no evidence of death, because a seccomp filter may refuse the call
 * with any error. kill() accepts the id of a thread, too. If it also returns ESRCH, nothing has
 * this id. If it returns something else, the thread lives, or a thread of another process has the
 * id. /proc shows which of the two is true.
 */
enum ptx_life ptx_life_of_thread(uint32_t pid, uint32_t tid)
{
	int saved = errno;
	enum ptx_life life = PTX_LIFE_UNKNOWN;

	if (!is_id(pid) || !is_id(tid))
		return life;
	if (syscall(SYS_tgkill, pid, tid, 0) == 0)
		life = PTX_ALIVE;
	else if (errno == ESRCH && (life = ask_kill(tid)) == PTX_LIFE_UNKNOWN)
		life = life_of_task(pid, tid);
	errno = saved;
	return life;
}

/*
 * The start time in struct ptx_identity is as in the initial time namespace, because processes of
 * different namespaces compare it. If the offset of this process's namespace is unknown, the result
 * is 0.
 */
uint64_t ptx_identity_start_in(const struct ptx_proc *proc)
{
	struct ptx_time_space space;

	if (ptx_time_space_read(&space) != 0)
		return 0;
	/*
	 * The kernel gives the start time in clock ticks. If the offset is not a multiple of a
	 * tick, the result may differ by one tick from the result in the initial namespace.
	 */
	return proc->start - (uint64_t)(space.boottime_ns / ptx_proc_tick_ns());
}

uint64_t ptx_identity_start(uint32_t number)
{
	struct ptx_proc proc;

	return ptx_proc_read(number, &proc) == 0 ? ptx_identity_start_in(&proc) : 0;
}

/* Returns the inode of a pidfd, or 0 if pidfds have no inodes of their own on this kernel. */
static uint64_t inode_of(int pidfd)
{
	struct statfs system;
	struct stat file;

	if (fstatfs(pidfd, &system) != 0 || system.f_type != PIDFS_MAGIC ||
	    fstat(pidfd, &file) != 0)
		return 0;
	return file.st_ino;
}

void ptx_identity_of(int pidfd, uint32_t number, struct ptx_identity *identity)
{
	int saved = errno;

	identity->inode = inode_of(pidfd);
	identity->start = ptx_identity_start(number);
	errno = saved;
}

/*
 * Stores only the inode if it is known. Reading /proc would cost further system calls at the start
 * of every traced program.
 */
bool ptx_identity_self(uint32_t pid, struct ptx_identity *identity)
{
	int saved = errno, pidfd = open_pidfd(pid);
	const bool lacks_descriptor = pidfd < 0 && (errno == EMFILE || errno == ENFILE);

	*identity = (struct ptx_identity){ 0 };
	if (pidfd >= 0) {
		identity->inode = inode_of(pidfd);
		ptx_io_close(pidfd);
	}
	if (identity->inode == 0 && pid == ptx_proc_own())
		identity->start = ptx_identity_start(PTX_PROC_SELF);
	errno = saved;
	return !lacks_descriptor || identity->start;
}

/*
 * If both sides have an inode, the inodes decide, because no inode is ever reused. The start time
 * has a resolution of 10 ms.
 */
enum ptx_same ptx_identity_compare(const struct ptx_identity *a, const struct ptx_identity *b)
{
	if (a->inode && b->inode)
		return a->inode == b->inode ? PTX_SAME : PTX_OTHER;
	if (a->start && b->start)
		return a->start == b->start ? PTX_SAME : PTX_OTHER;
	return PTX_SAME_UNKNOWN;
}

/*
 * Does the work of ptx_life_of_one() with a pidfd, or without one if `pidfd` is -1. The pidfd may
 * belong to a later process with the same id. The comparison of the identities then returns
 * PTX_OTHER, which means that the process with the given identity is dead.
 */
static enum ptx_life life_of_same(uint32_t pid, int pidfd, const struct ptx_identity *identity)
{
	enum ptx_life life = life_by(pid, pidfd);
	struct ptx_identity now = { 0 };

	if (life != PTX_ALIVE)
		return life;
	if (pidfd >= 0)
		now.inode = inode_of(pidfd);
	/*
	 * If one of the inodes is unknown, the start time must decide. The start time is read from
	 * /proc, so /proc must number processes as this process does.
	 */
	if ((now.inode == 0 || identity->inode == 0) && ptx_proc_is_ours() == 0)
		now.start = ptx_identity_start(pid);
	switch (ptx_identity_compare(&now, identity)) {
	case PTX_SAME:
		return PTX_ALIVE;
	case PTX_OTHER:
		return PTX_DEAD;
	default:
		return PTX_LIFE_UNKNOWN;
	}
}

enum ptx_life ptx_life_of_one(uint32_t pid, const struct ptx_identity *identity)
{
	int saved = errno, pidfd;
	enum ptx_life life;

	if (!is_id(pid))
		return PTX_LIFE_UNKNOWN;
	pidfd = open_pidfd(pid);
	life = life_of_same(pid, pidfd, identity);
	if (pidfd >= 0)
		ptx_io_close(pidfd);
	errno = saved;
	return life;
}

/* One pidfd serves for all rounds, because there may be no second descriptor. */
bool ptx_life_ends(uint32_t pid, const struct ptx_identity *identity, int64_t ns)
{
	const int64_t until = (int64_t)ptx_clock_monotonic() + ns;
	int saved = errno, pidfd = open_pidfd(pid);
	_Atomic uint32_t never = 0;
	enum ptx_life life;
	int64_t left;

	while ((life = life_of_same(pid, pidfd, identity)) != PTX_DEAD &&
	       (left = until - (int64_t)ptx_clock_monotonic()) > 0) {
		struct pollfd end = { .fd = pidfd, .events = POLLIN };
		struct timespec limit = { left / PTX_NS_PER_S, left % PTX_NS_PER_S };

		/* If the system refuses to wait, the nap keeps the loop from using a processor. */
		if (pidfd < 0 || life == PTX_LIFE_UNKNOWN ||
		    syscall(SYS_ppoll, &end, 1, &limit, NULL, 0) < 0)
			ptx_futex_nap(&never, 0, NAP_NS);
	}
	if (pidfd >= 0)
		ptx_io_close(pidfd);
	errno = saved;
	return life == PTX_DEAD;
}

void ptx_life_kill(uint32_t pid, const struct ptx_identity *identity)
{
	int saved = errno, pidfd = open_pidfd(pid);

	/*
	 * The pidfd may belong to a later process with the same id. If the process of this identity
	 * lives now, it also lived when the pidfd was made, so the pidfd belongs to this process.
	 */
	if (pidfd >= 0 && ptx_life_of_one(pid, identity) == PTX_ALIVE)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	if (pidfd >= 0)
		ptx_io_close(pidfd);
	errno = saved;
}
