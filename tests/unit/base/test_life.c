/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a process is alive: alive, dead or unknown. The answer "dead" needs evidence. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/life.h"
#include "base/proc.h"
#include "base/timespace.h"
#include "support/support.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static int pidfd_error; /* of pidfd_open(); 0: it works */
static bool no_proc;
static bool no_tgkill; /* it returns ESRCH, as a filter of system calls may demand */

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_tgkill && no_tgkill) {
		errno = ESRCH;
		return -1;
	}
	if ((number == SYS_pidfd_open && pidfd_error) ||
	    (number == SYS_openat && no_proc && strncmp((const char *)b, "/proc", 5) == 0)) {
		errno = number == SYS_pidfd_open ? pidfd_error : EACCES;
		return -1;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

static pid_t a_child(bool ends)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!ends)
			pause();
		_exit(0);
	}
	if (ends)
		ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static enum ptx_life life_of(pid_t pid)
{
	return KEEPS_ERRNO(ptx_life_of((uint32_t)pid));
}

/* The library asks a pidfd; or /proc, if there are no pidfds; or only kill(). */
START_TEST(living_dead_and_unknown_are_distinguished)
{
	pid_t living = a_child(false), zombie = a_child(true), gone = a_child(true);

	end(gone);
	pidfd_error = _i > 0 ? ENOSYS : 0;
	no_proc = _i > 1;
	ck_assert_int_eq(life_of(gone), PTX_DEAD);
	ck_assert_int_eq(life_of(living), _i > 1 ? PTX_LIFE_UNKNOWN : PTX_ALIVE);
	ck_assert_int_eq(life_of(zombie), _i > 1 ? PTX_LIFE_UNKNOWN : PTX_DEAD);
	ck_assert_int_eq(life_of(getpid()), _i > 1 ? PTX_LIFE_UNKNOWN : PTX_ALIVE);
	ck_assert_int_eq(life_of(0), PTX_LIFE_UNKNOWN);
	ck_assert_int_eq(life_of(-1), PTX_LIFE_UNKNOWN);
	pidfd_error = 0;
	no_proc = false;
	end(living);
	end(zombie);
}
END_TEST

/* A filter of system calls can refuse pidfd_open() with any error. */
START_TEST(no_error_of_pidfd_open_is_evidence_of_death)
{
	static const int errors[] = { ESRCH, EPERM, EACCES, EINVAL, EMFILE, ENOENT };
	pid_t living = a_child(false), gone = a_child(true);
	struct ptx_identity identity = { .start = ptx_identity_start((uint32_t)living) };

	end(gone);
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		pidfd_error = errors[i];
		ck_assert_int_eq(life_of(living), PTX_ALIVE);
		ck_assert_int_eq(ptx_life_of_one((uint32_t)living, &identity), PTX_ALIVE);
		ck_assert(!ptx_life_ends((uint32_t)living, &identity, 0));
		ck_assert_int_eq(life_of(gone), PTX_DEAD);
		no_proc = true;
		ck_assert_int_eq(life_of(living), PTX_LIFE_UNKNOWN);
		ck_assert_int_eq(life_of(gone), PTX_DEAD);
		no_proc = false;
	}
	pidfd_error = 0;
	end(living);
}
END_TEST

/* Under qemu-user, the time limit of poll() must not be a constant. */
START_TEST(a_pidfd_is_enough_where_proc_cannot_be_read)
{
	pid_t living, zombie;

	NEEDS("pidfd");
	living = a_child(false);
	zombie = a_child(true);
	no_proc = true;
	ck_assert_int_eq(life_of(living), PTX_ALIVE);
	ck_assert_int_eq(life_of(zombie), PTX_DEAD);
	no_proc = false;
	end(living);
	end(zombie);
}
END_TEST

START_TEST(without_a_descriptor_no_process_with_an_id_is_dead)
{
	pid_t living = a_child(false), zombie = a_child(true), gone = a_child(true);
	struct rlimit old, none;

	end(gone);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){ 0, old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(life_of(living), PTX_LIFE_UNKNOWN);
	ck_assert_int_eq(life_of(zombie), PTX_LIFE_UNKNOWN);
	ck_assert_int_eq(life_of(gone), PTX_DEAD);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	end(living);
	end(zombie);
}
END_TEST

/* One descriptor is enough to see that a zombie has ended. */
START_TEST(a_wait_needs_one_descriptor)
{
	pid_t zombie = a_child(true);
	struct ptx_identity identity = { 0 };
	struct rlimit old, one;
	int fd;

	NEEDS("pidfd");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	fd = dup(0);
	close(fd);
	one = (struct rlimit){ (rlim_t)fd + 1, old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &one), 0);
	/* A wait that needed another descriptor would last until the time limit of the test. */
	ck_assert(KEEPS_ERRNO(ptx_life_ends((uint32_t)zombie, &identity, INT64_C(600000000000))));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	end(zombie);
}
END_TEST

static void *wait_in_thread(void *arg)
{
	uint32_t *tid = arg;

	__atomic_store_n(tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	while (__atomic_load_n(tid, __ATOMIC_ACQUIRE))
		usleep(100);
	return NULL;
}

START_TEST(a_thread_is_one_of_its_process)
{
	uint32_t tid = 0, pid = (uint32_t)getpid(), known;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_thread, &tid), 0);
	while (!(known = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
		usleep(100);
	ck_assert_int_eq(KEEPS_ERRNO(ptx_life_of_thread(pid, known)), PTX_ALIVE);
	ck_assert_int_eq(ptx_life_of_thread((uint32_t)getppid(), known), PTX_DEAD);
	ck_assert_int_eq(ptx_life_of_thread(pid, 0), PTX_LIFE_UNKNOWN);
	/* kill() and /proc contradict a tgkill() that always returns ESRCH. */
	no_tgkill = true;
	ck_assert_int_eq(KEEPS_ERRNO(ptx_life_of_thread(pid, known)), PTX_ALIVE);
	ck_assert_int_eq(ptx_life_of_thread(pid, pid), PTX_ALIVE);
	no_proc = true;
	ck_assert_int_eq(KEEPS_ERRNO(ptx_life_of_thread(pid, known)), PTX_LIFE_UNKNOWN);
	no_proc = no_tgkill = false;
	/* The id of a thread is not the id of a process. */
	ck_assert_int_ne(life_of((pid_t)known), PTX_DEAD);
	__atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	while (ptx_life_of_thread(pid, known) != PTX_DEAD)
		usleep(100); /* the process is ending */
}
END_TEST

static struct ptx_identity identity_of(pid_t pid)
{
	struct ptx_identity identity;
	int pidfd = (int)syscall(SYS_pidfd_open, (long)pid, 0L, 0L, 0L, 0L, 0L);

	ck_assert_int_ge(pidfd, 0);
	ptx_identity_of(pidfd, (uint32_t)pid, &identity);
	close(pidfd);
	return identity;
}

START_TEST(an_identity_is_one_processes)
{
	pid_t one = a_child(false), two = a_child(false);
	struct ptx_identity first = identity_of(one), second = identity_of(two);
	struct ptx_identity self = identity_of(getpid()), own, nothing = { 0 };

	ck_assert_uint_ne(first.start, 0);
	ck_assert_int_eq(ptx_identity_compare(&first, &first), PTX_SAME);
	/* Only the inodes of their pidfds distinguish two processes that began in the same tick. */
	if (first.inode)
		ck_assert_int_eq(ptx_identity_compare(&first, &second), PTX_OTHER);
	ck_assert_int_eq(ptx_identity_compare(&first, &nothing), PTX_SAME_UNKNOWN);
	first.start++;
	ck_assert_int_eq(ptx_identity_compare(&first, &first), PTX_SAME);
	ck_assert(ptx_identity_self((uint32_t)getpid(), &own));
	ck_assert_int_eq(ptx_identity_compare(&own, &self), PTX_SAME);
	self.inode = own.inode = 0;
	own.start = ptx_identity_start(PTX_PROC_SELF);
	ck_assert_int_eq(ptx_identity_compare(&own, &self), PTX_SAME);
	end(one);
	end(two);
}
END_TEST

START_TEST(an_identity_that_only_lacked_a_descriptor_is_requested_again)
{
	struct ptx_identity own;

	no_proc = true;
	pidfd_error = EMFILE;
	errno = E2BIG;
	ck_assert(!ptx_identity_self((uint32_t)getpid(), &own));
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_uint_eq(own.inode | own.start, 0);
	pidfd_error = ENOSYS;
	ck_assert(ptx_identity_self((uint32_t)getpid(), &own));
	ck_assert_uint_eq(own.inode | own.start, 0);
	no_proc = false;
	pidfd_error = EMFILE;
	ck_assert(ptx_identity_self((uint32_t)getpid(), &own));
	ck_assert_uint_ne(own.start, 0);
	pidfd_error = 0;
}
END_TEST

START_TEST(an_id_that_means_another_process_by_now_is_a_dead_ones)
{
	pid_t pid = a_child(false);
	struct ptx_identity is = identity_of(pid), was = is;

	was.inode += was.inode != 0;
	was.start -= 100;
	ck_assert_int_eq(ptx_life_of_one((uint32_t)pid, &is), PTX_ALIVE);
	ck_assert_int_eq(ptx_life_of_one((uint32_t)pid, &was), PTX_DEAD);
	pidfd_error = ENOSYS;
	no_proc = true;
	ck_assert_int_eq(ptx_life_of_one((uint32_t)pid, &was), PTX_LIFE_UNKNOWN);
	pidfd_error = 0;
	no_proc = false;
	end(pid);
	ck_assert_int_eq(ptx_life_of_one((uint32_t)pid, &is), PTX_DEAD);
}
END_TEST

/*
 * A child in another time namespace reports its start time, and this process reads the same time.
 */
START_TEST(when_a_process_began_is_the_same_in_every_time_name_space)
{
	static const char offsets[] = "monotonic 7000 0\nboottime 100000 0\n";
	struct { pid_t pid; uint64_t start; int64_t ahead_ns; int err; } said;
	int ends[2], go[2], fd;
	pid_t keeper;
	char c = 0;

	NEEDS("stat");
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(pipe(go), 0);
	keeper = fork();
	if (keeper == 0) {
		memset(&said, 0, sizeof said);
		fd = unshare(CLONE_NEWTIME) ? -1 : open("/proc/self/timens_offsets", O_WRONLY);
		if (fd < 0 || write(fd, offsets, sizeof offsets - 1) != sizeof offsets - 1) {
			if (write(ends[1], &said, sizeof said) != sizeof said)
				_exit(1);
			_exit(0); /* without privileges there is nothing to test */
		}
		said.pid = fork();
		if (said.pid == 0) {
			struct ptx_time_space space;

			said.pid = getpid();
			said.err = ptx_time_space_read(&space);
			said.ahead_ns = space.monotonic_ns;
			said.start = ptx_identity_start(PTX_PROC_SELF);
			_exit(write(ends[1], &said, sizeof said) != sizeof said ||
			      read(go[0], &c, 1) != 1);
		}
		_exit(waitpid(said.pid, &fd, 0) != said.pid || fd);
	}
	ck_assert_int_eq(read(ends[0], &said, sizeof said), sizeof said);
	if (said.pid) {
		ck_assert_int_eq(said.err, 0);
		ck_assert_int_eq(said.ahead_ns, 7000 * INT64_C(1000000000));
		ck_assert_uint_eq(said.start, ptx_identity_start((uint32_t)said.pid));
		ck_assert_uint_ne(said.start, 0);
		ck_assert_int_eq(write(go[1], &c, 1), 1);
	}
	wait_well(keeper);
	close(ends[0]);
	close(ends[1]);
	close(go[0]);
	close(go[1]);
}
END_TEST

/* The line Groups of the status file precedes the ids and is longer than the buffer. */
START_TEST(the_ids_of_a_process_of_many_groups_are_found)
{
	static gid_t groups[1000];
	struct ptx_proc_ids other = { 0 };
	pid_t child;

	for (size_t i = 0; i < 1000; i++)
		groups[i] = 4000000000u + (gid_t)i;
	for (size_t count = 300; count <= 1000; count++) {
		struct ptx_proc_ids ids = { 0 };

		if (setgroups(count, groups) != 0)
			return; /* this user may not */
		ck_assert_int_eq(ptx_proc_ids(PTX_PROC_SELF, &ids), 0);
		ck_assert_uint_eq(ids.inner, getpid());
		count += count > 400 ? 30 : 0;
	}
	/* The ids of another process. */
	child = a_child(false);
	ck_assert_int_eq(ptx_proc_ids((uint32_t)child, &other), 0);
	ck_assert_uint_eq(other.number, child);
	end(child);
	setgroups(0, NULL);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("base: life", &tc);

	tcase_add_loop_test(tc, living_dead_and_unknown_are_distinguished, 0, 3);
	tcase_add_test(tc, no_error_of_pidfd_open_is_evidence_of_death);
	tcase_add_test(tc, a_pidfd_is_enough_where_proc_cannot_be_read);
	tcase_add_test(tc, without_a_descriptor_no_process_with_an_id_is_dead);
	tcase_add_test(tc, a_wait_needs_one_descriptor);
	tcase_add_test(tc, a_thread_is_one_of_its_process);
	tcase_add_test(tc, an_identity_is_one_processes);
	tcase_add_test(tc, an_identity_that_only_lacked_a_descriptor_is_requested_again);
	tcase_add_test(tc, an_id_that_means_another_process_by_now_is_a_dead_ones);
	tcase_add_test(tc, the_ids_of_a_process_of_many_groups_are_found);
	tcase_add_test(tc, when_a_process_began_is_the_same_in_every_time_name_space);
	return suite;
}

SUITE_MAIN_OF(build)
