/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log is completed after its writer ended in any way, even if its guardian ended, too. The
 * children of the test are the writers.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"
#include "support/puppet.h"

#define GUARDIAN_AT (3584 + 200) /* guardian_pid in the header of a log (FORMAT 2.2) */

/* EXIT-01, EXEC-06, EXEC-07 */
START_TEST(a_log_is_completed_after_exit_and_exec_too)
{
	static const char *const ways[] = { "_exit", "exec", "abort" };

	for (int way = 0; way < 3; way++) {
		int fd = log_file();
		struct history *history;
		pid_t child = fork();

		if (child == 0) {
			trace_event_id_t id;

			log_create_started(fd, &(struct log_wish){ 0 });
			posix_trace_eventid_open("n", &id);
			for (int n = 0; n < 100; n++)
				posix_trace_event(id, &n, sizeof(n));
			if (ways[way][0] == 'a')
				abort();
			if (ways[way][0] == 'e')
				execl("/bin/true", "true", (char *)NULL);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		log_wait_for_end(fd);
		history = log_history(fd);
		ck_assert_uint_eq(history_count(history, 64), 100);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
		history_free(history);
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

/*
 * Makes a process that traces the puppet into `fd`, and waits until it has started the stream. The
 * program `guardian` is its guardian; NULL means the usual guardian.
 */
static pid_t start_controller(const struct puppet *puppet, int fd, const char *guardian)
{
	int ready[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		trace_attr_t attr;
		trace_id_t trid;

		if (guardian)
			setenv("POSIXTRACE_GUARDIAN", guardian, 1);
		log_wish_attr(&attr, &(struct log_wish){ .policy = POSIX_TRACE_UNTIL_FULL });
		if (posix_trace_create_withlog(puppet->pid, &attr, fd, &trid) ||
		    posix_trace_start(trid) || write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
	}
	ck_assert_int_eq(close(ready[1]), 0); /* so that the test notices a child that fails */
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	return child;
}

/* EXIT-01: the traced process continues */
START_TEST(the_log_of_a_killed_controller_has_the_targets_events)
{
	struct puppet puppet = puppet_start();
	int fd = log_file();
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;
	pid_t child;

	child = start_controller(&puppet, fd, NULL);
	puppet_tell(&puppet, PUPPET_MANY);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	log_wait_for_end(fd);
	puppet_tell(&puppet, PUPPET_ONE);
	trid = log_open(fd);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	/* START, STOP, and the marks of flushes */
	ck_assert_uint_eq(ledger.reported, PUPPET_MANY_EVENTS + 4);
	ck_assert_uint_eq(ledger.called, ledger.reported);
	log_close(trid);
	puppet_end(&puppet);
	close(fd);
}
END_TEST

/*
 * EXIT-01: the controller is killed before its guardian begins to work, and while observers examine
 * the stream
 */
START_TEST(a_guardian_that_is_late_finds_its_stream)
{
	char program[] = "/tmp/posixtrace-slow-XXXXXX", go[] = "/tmp/posixtrace-go-XXXXXX";
	struct puppet puppet = puppet_start();
	int fd = log_file();
	struct history *history;
	trace_id_t trid[3];
	pid_t child;

	ck_assert_int_ge(close(mkstemp(go)), 0);
	ck_assert_int_eq(unlink(go), 0);
	make_slow_guardian(program, go);
	child = start_controller(&puppet, fd, program);
	puppet_tell(&puppet, PUPPET_MANY);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	for (int i = 0; i < 3; i++)
		OK(posix_trace_create(puppet.pid, NULL, &trid[i]));
	puppet_tell(&puppet, PUPPET_ONE);
	close(creat(go, 0600));
	log_wait_for_end(fd);
	for (int i = 0; i < 3; i++)
		shut(trid[i]);
	history = log_history(fd);
	ck_assert_uint_eq(history_count(history, 64), PUPPET_MANY_EVENTS + 1);
	history_free(history);
	assert_log_whole(fd);
	puppet_end(&puppet);
	unlink(go);
	unlink(program);
	close(fd);
}
END_TEST

/*
 * CLEAR-05, EXIT-01: cleared events of the log are counted, although no flush happens between the
 * clear and the death
 */
START_TEST(events_cleared_before_a_death_are_counted)
{
	int fd = log_file(), ready[2];
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		trace_event_id_t id;
		trace_attr_t attr;

		log_wish_attr(&attr, &(struct log_wish){ .policy = POSIX_TRACE_UNTIL_FULL });
		if (posix_trace_create_withlog(0, &attr, fd, &trid) || posix_trace_start(trid) ||
		    posix_trace_eventid_open("n", &id))
			_exit(2);
		for (int n = 0; n < 100; n++)
			posix_trace_event(id, &n, sizeof(n));
		if (posix_trace_flush(trid) || posix_trace_clear(trid) ||
		    write(ready[1], "r", 1) != 1)
			_exit(3);
		pause();
	}
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	log_wait_for_end(fd);
	trid = log_open(fd);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	/* START and FLUSH_START */
	ck_assert_uint_eq(ledger.lost[POSIX_TRACE_LOST_CLEARED_NP], 102);
	ck_assert_uint_eq(ledger.called, ledger.reported + ledger_lost(&ledger));
	log_close(trid);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/* The guardian is not a child for which the writer must wait, and it ends after its work. */
START_TEST(no_process_waits_for_a_guardian)
{
	int fd = log_file(), status;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);
	pid_t child;

	errno = 0;
	ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	child = fork();
	if (child == 0)
		_exit(7);
	ck_assert_int_eq(wait(&status), child);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	shut(trid);
	errno = 0;
	ck_assert_int_eq(wait(&status), -1);
	ck_assert_int_eq(errno, ECHILD);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/*
 * Traces this process into `fd`: records 100 events and flushes them, three times, and reports each
 * end of the log. Then waits.
 */
static void trace_three_times(int fd, off_t *end, int ready)
{
	trace_event_id_t id;
	trace_id_t trid;

	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND);
	id = type_of("n");
	for (int n = 0; n < 300; n++) {
		trace_number(id, n);
		if (n % 100 != 99)
			continue;
		OK(posix_trace_flush(trid));
		*end++ = log_stat(fd).st_size;
	}
	if (write(ready, "r", 1) == 1)
		pause();
	_exit(1);
}

/*
 * EXIT-01: the guardian does not complete a log that has complete blocks behind the damaged part.
 * If the guardian cut them off, no program could read them.
 */
START_TEST(a_guardian_leaves_a_damaged_log_as_it_is)
{
	off_t *end = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = log_file(), ready[2], status;
	unsigned char *before, *after;
	size_t size, len;
	trace_id_t trid;
	pid_t child;
	char c;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_ptr_ne(end, MAP_FAILED);
	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0)
		trace_three_times(fd, end, ready[1]);
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	ck_assert_int_gt(end[1], end[0]);
	ck_assert_int_eq(pwrite(fd, "damage", 6, (end[0] + end[1]) / 2), 6);
	before = log_bytes(fd, &size);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_gt(wait(&status), 0); /* its guardian */
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), EINVAL);
	after = log_bytes(fd, &len);
	ck_assert_uint_eq(len, size);
	ck_assert_mem_eq(after, before, size);
	OK(posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid));
	for (int n = 0; n < 200; n++)
		ck_assert_int_eq(log_next_number(trid), n < 100 ? n : n + 100);
	ck_assert_int_eq(log_next_number(trid), -1);
	log_close(trid);
	free(before);
	free(after);
	close(fd);
}
END_TEST

/* Without a guardian everything else works. */
START_TEST(a_guardian_may_be_missing)
{
	int fd = log_file();
	trace_id_t trid;

	setenv("POSIXTRACE_GUARDIAN", "/nonexistent", 1);
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);
	trace_number(type_of("n"), 1);
	shut(trid);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/*
 * SHUT-02. A file system cannot be unmounted while a guardian has a log open there. The guardian is
 * a child of the test, which is a subreaper.
 */
START_TEST(after_a_shutdown_the_guardian_has_ended)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	for (int round = 0; round < 30; round++) {
		const bool is_stopped = round == 29;
		int fd = log_file();
		trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
		siginfo_t info = { 0 };
		uint32_t guardian;

		ck_assert_int_eq(pread(fd, &guardian, sizeof(guardian), GUARDIAN_AT),
				 sizeof(guardian));
		ck_assert_uint_ne(guardian, 0);
		if (is_stopped)
			ck_assert_int_eq(kill((pid_t)guardian, SIGSTOP), 0);
		shut(trid);
		ck_assert_int_eq(waitid(P_PID, guardian, &info, WEXITED | WNOHANG), 0);
		ck_assert_uint_eq(info.si_pid, guardian);
		ck_assert_int_eq(info.si_code, is_stopped ? CLD_KILLED : CLD_EXITED);
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

/* Returns the status of the first process of a new namespace, or -1 if there is no privilege. */
static int run_first(int (*first)(void))
{
	int status;
	pid_t keeper = fork();

	if (keeper == 0) {
		pid_t child;

		if (unshare(CLONE_NEWPID | CLONE_NEWNS))
			_exit(77);
		child = fork();
		if (child == 0)
			_exit(first());
		if (waitpid(child, &status, 0) != child)
			_exit(78);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 79);
	}
	ck_assert_int_eq(waitpid(keeper, &status, 0), keeper);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status) == 77 ? -1 : WEXITSTATUS(status);
}

/*
 * The guardian would be process 2 of the second namespace. In the namespace of its creator, process
 * 2 is another process.
 */
static int shut_down_beside_process_2(void)
{
	pid_t other;
	trace_id_t trid;
	int fd;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		return 77;
	other = fork();
	if (other == 0) {
		for (;;)
			pause();
	}
	if (other != 2 || unshare(CLONE_NEWPID))
		return 77;
	fd = log_file();
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
	shut(trid);
	if (waitpid(other, NULL, WNOHANG))
		return 1;
	assert_log_whole(fd);
	return 0;
}

START_TEST(a_guardian_in_another_namespace_is_not_mistaken)
{
	int status = run_first(shut_down_beside_process_2);

	if (status < 0)
		printf("no privileges for namespaces: nothing to test\n");
	else
		ck_assert_int_eq(status, 0);
}
END_TEST

/*
 * The program closes all descriptors, as daemons do. Other processes then cannot see that it lives,
 * but its stream goes on, and no event is forgotten.
 */
static void close_all_descriptors(bool exits)
{
	int log = log_file(), outside = log_file();
	trace_event_id_t id = type_of("n");
	pid_t child = fork();

	if (child == 0) {
		struct posix_trace_ledger_np line;
		trace_id_t trid;

		/* The memory of some programs is protected from the beginning. */
		ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
		trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL,
				      .inheritance = POSIX_TRACE_INHERITED);

		trace_number(id, 0);
		OK(posix_trace_flush(trid));
		for (int fd = 3; fd < 1024; fd++)
			if (fd != outside)
				close(fd);
		for (int n = 1; n < 200; n++) {
			trace_number(id, n);
			usleep(1000);
		}
		ck_assert_int_eq(posix_trace_flush(trid), EBADF);
		ck_assert_ledger_closes(trid);
		line = ledger_of_type(trid, id);
		ck_assert_int_eq(line.called, 200);
		if (exits)
			exit(0);
		ck_assert_int_eq(posix_trace_shutdown(trid), EBADF);
		_exit(0);
	}
	wait_well(child);
	/* The guardian writes the events that the program could not write. */
	log_wait_for_end(log);
	assert_log_numbers(log, id, 0, 200);
	assert_log_whole(log);
	close(outside);
	close(log);
}

START_TEST(a_stream_goes_on_after_its_controller_has_closed_all_descriptors)
{
	close_all_descriptors(false);
}
END_TEST

START_TEST(a_guardian_completes_the_log_of_a_program_that_closed_it)
{
	close_all_descriptors(true);
}
END_TEST

/*
 * Returns the number of a guardian's open files. A file of a process's memory, or another file in
 * /proc, fails the test.
 */
static int files_of(uint32_t guardian)
{
	char path[64], file[256];
	int found = 0;

	for (int fd = 0; fd < 64; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%u/fd/%d", guardian, fd);
		len = readlink(path, file, sizeof(file) - 1);
		if (len < 0)
			continue;
		file[len] = '\0';
		found++;
		ck_assert_msg(!strstr(file, "/mem") || strstr(file, "/memfd:"), "%s: %s", path,
			      file);
		ck_assert_msg(strncmp(file, "/proc/", 6) != 0, "%s: %s", path, file);
	}
	return found;
}

/*
 * A program may protect its memory after it has created a stream. So its guardian has no descriptor
 * by which a third process could read this memory. A file in /proc would keep /proc mounted.
 */
START_TEST(a_guardian_has_no_descriptor_of_its_creators_memory)
{
	int log = log_file();
	trace_id_t trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL);
	uint32_t guardian;

	ck_assert_int_eq(pread(log, &guardian, sizeof(guardian), GUARDIAN_AT), sizeof(guardian));
	ck_assert_uint_ne(guardian, 0);
	/*
	 * The three standard files, the arena, the log and the file that the creator has mapped.
	 * The loader of the guardian's program may still have another file open for a moment.
	 */
	wait_until(files_of(guardian) == 6);
	shut(trid);
	close(log);
}
END_TEST

static atomic_bool has_ended;

/* Returns whether this process has the mapping that shows that a creator lives. */
static bool has_life(void)
{
	static char maps[1 << 20];
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, maps + length, sizeof(maps) - 1 - length)) > 0)
		length += (size_t)n;
	maps[length] = '\0';
	close(fd);
	return strstr(maps, "posixtrace-life") != NULL;
}

/* Returns its argument if no child had the mapping. */
static void *fork_often(void *arg)
{
	while (!atomic_load(&has_ended)) {
		const pid_t child = fork();
		int status;

		if (child == 0)
			_exit(has_life());
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
			return NULL;
	}
	return arg;
}

/*
 * If a child looked like the creator, the guardian would wait for the end of the child, too.
 * Another thread forks while the streams are created, which showed the fault in 2 of 100 streams.
 */
START_TEST(a_child_does_not_look_like_the_creator)
{
	const int log = log_file();
	const pthread_t thread = spawn(fork_often, (void *)(uintptr_t)&log);

	for (int i = 0; i < 150; i++) {
		trace_id_t trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL);

		ck_assert(has_life());
		shut(trid);
		ck_assert_int_eq(ftruncate(log, 0), 0);
	}
	atomic_store(&has_ended, true);
	ck_assert_ptr_nonnull(join(thread));
	ck_assert(!has_life());
	close(log);
}
END_TEST

SUITE_NEEDS("exec stat pidfd guardian");

SUITE_MAIN("the guardian of a log",
	   a_log_is_completed_after_exit_and_exec_too,
	   the_log_of_a_killed_controller_has_the_targets_events,
	   a_guardian_that_is_late_finds_its_stream,
	   events_cleared_before_a_death_are_counted,
	   a_guardian_leaves_a_damaged_log_as_it_is,
	   no_process_waits_for_a_guardian,
	   a_guardian_may_be_missing,
	   after_a_shutdown_the_guardian_has_ended,
	   a_guardian_has_no_descriptor_of_its_creators_memory,
	   a_child_does_not_look_like_the_creator,
	   a_guardian_in_another_namespace_is_not_mistaken,
	   a_stream_goes_on_after_its_controller_has_closed_all_descriptors,
	   a_guardian_completes_the_log_of_a_program_that_closed_it)
