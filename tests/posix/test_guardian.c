/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A log is completed whatever becomes of its writer. The children here are the writers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"
#include "support/puppet.h"

#define TRACERS     3
#define WAIT_MS     20000
#define KILLS       12
#define STREAM_SIZE (1 << 19)

/* What the children tell of themselves in shared memory: what they had traced when they died. */
struct progress {
	_Alignas(64) _Atomic uint64_t traced;
};
static struct progress *progress;

static void setup_progress(void)
{
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(progress, MAP_FAILED);
}

static void *trace_for_ever(void *argument)
{
	struct progress *mine = argument;
	trace_event_id_t id;

	if (posix_trace_eventid_open("n", &id))
		_exit(3);
	for (uint64_t n = 1;; n++) {
		posix_trace_event(id, &n, sizeof(n));
		atomic_store_explicit(&mine->traced, n, memory_order_release);
	}
}

static void begin(int fd, const struct log_wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	log_wish_attr(&attr, wish);
	if (posix_trace_create_withlog(0, &attr, fd, &trid) || posix_trace_start(trid))
		_exit(2);
}

static pid_t start_writer(int fd, const struct log_wish *wish)
{
	pid_t child;

	setup_progress();
	child = fork();
	if (child == 0) {
		pthread_t thread;

		begin(fd, wish);
		for (int i = 0; i < TRACERS; i++)
			pthread_create(&thread, NULL, trace_for_ever, &progress[i]);
		pause();
		_exit(0);
	}
	ck_assert_int_gt(child, 0);
	return child;
}

/* Until the log says that it is complete. */
static void wait_for_end(int fd)
{
	for (int ms = 0; ms < WAIT_MS; ms++) {
		trace_id_t trid;

		if (posix_trace_open(fd, &trid) == 0) {
			struct posix_trace_loginfo_np info;

			OK(posix_trace_get_loginfo_np(trid, &info));
			OK(posix_trace_close(trid));
			if (info.complete)
				return;
		}
		usleep(1000);
	}
	ck_abort_msg("the log was not completed");
}

static uint64_t lost_of(const struct posix_trace_ledger_np *ledger)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		sum += ledger->lost[cause];
	return sum;
}

/* Every thread's numbers rise, and what is missing among them is in the ledger. */
static void check_log(int fd, int log_policy)
{
	struct posix_trace_ledger_np ledger;
	trace_id_t trid = log_open(fd);
	uint64_t traced = 0, missing = 0, events = 0, last[TRACERS] = { 0 };
	pthread_t who[TRACERS] = { 0 };
	struct posix_trace_event_info info;
	int unavailable;
	uint64_t n;
	size_t len;

	for (int i = 0; i < TRACERS; i++)
		traced += atomic_load(&progress[i].traced);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	for (;;) {
		int i = 0;

		OK(posix_trace_getnext_event(trid, &info, &n, sizeof(n), &len, &unavailable));
		if (unavailable)
			break;
		if (info.posix_event_id < 64)
			continue;
		while (i < TRACERS && who[i] && who[i] != info.posix_thread_id)
			i++;
		ck_assert_int_lt(i, TRACERS);
		who[i] = info.posix_thread_id;
		ck_assert_uint_gt(n, last[i]);
		missing += n - last[i] - 1;
		last[i] = n;
		events++;
	}
	/* When a log UNTIL_FULL is full the stream stops, and nothing counts what comes then (LOG-05). */
	if (log_policy != POSIX_TRACE_UNTIL_FULL)
		ck_assert_uint_ge(events + lost_of(&ledger), traced);
	ck_assert_uint_le(missing, lost_of(&ledger));
	log_close(trid);
	assert_log_whole(fd);
	munmap(progress, 4096);
}

/* EXIT-01, EXIT-02: all that was recorded before the death is in the log, whatever the policies */
START_TEST(the_log_of_a_killed_writer_is_complete)
{
	static const int policy[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
	static const int log_policy[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					  POSIX_TRACE_LOOP };

	for (int i = 0; i < 9; i++) {
		struct log_wish wish = { .policy = policy[i / 3], .log_policy = log_policy[i % 3],
					 .size = STREAM_SIZE, .log_size = 4 << 20 };
		int fd = log_file();
		pid_t child = start_writer(fd, &wish);

		while (!atomic_load(&progress[0].traced))
			usleep(100); /* before that there is no log */
		usleep(50000);
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		wait_for_end(fd);
		check_log(fd, wish.log_policy);
		close(fd);
	}
}
END_TEST

/* EXIT-02: at whatever moment of a flush */
START_TEST(a_writer_may_be_killed_at_any_moment)
{
	for (int i = 0; i < KILLS; i++) {
		int fd = log_file();
		pid_t child = start_writer(fd, &(struct log_wish){
						       .policy = POSIX_TRACE_FLUSH,
						       .log_policy = i % 2 ? POSIX_TRACE_APPEND :
									     POSIX_TRACE_LOOP,
						       .size = STREAM_SIZE,
						       .log_size = 64 << 20 });

		while (!atomic_load(&progress[0].traced))
			usleep(100);
		usleep(3000 + 1777 * (unsigned)i);
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		wait_for_end(fd);
		check_log(fd, POSIX_TRACE_APPEND);
		close(fd);
	}
}
END_TEST

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

			begin(fd, &(struct log_wish){ 0 });
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
		wait_for_end(fd);
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
 * A process that traces the puppet into fd, and has started to. It has this program for guardian; NULL:
 * the usual one.
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
	ck_assert_int_eq(close(ready[1]), 0); /* so that a child that fails is noticed */
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	return child;
}

/* EXIT-01: and the process that was traced goes on */
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
	wait_for_end(fd);
	puppet_tell(&puppet, PUPPET_ONE);
	trid = log_open(fd);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.reported, PUPPET_MANY_EVENTS + 4); /* START, STOP, and of flushing */
	ck_assert_uint_eq(ledger.called, ledger.reported);
	log_close(trid);
	puppet_end(&puppet);
	close(fd);
}
END_TEST

/* A guardian that does not begin before the file "go" is there. */
static void make_slow_guardian(char *program, const char *go)
{
	int fd = mkstemp(program);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(dprintf(fd, "#!/bin/sh\nuntil test -e %s; do sleep 0.01; done\nexec %s \"$@\"\n",
				 go, getenv("POSIXTRACE_GUARDIAN")), 0);
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	close(fd);
}

/* EXIT-01: though its controller was killed before its guardian had come to anything, and others looked */
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
	wait_for_end(fd);
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

/* CLEAR-05, EXIT-01: what the log had is counted, though nothing was flushed between the clear and the death */
START_TEST(what_was_cleared_before_a_death_is_counted)
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
	wait_for_end(fd);
	trid = log_open(fd);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.lost[POSIX_TRACE_LOST_CLEARED_NP], 102); /* START and FLUSH_START */
	ck_assert_uint_eq(ledger.called, ledger.reported + lost_of(&ledger));
	log_close(trid);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/* The guardian is nobody's child that waits, and gone when its work is. */
START_TEST(nobody_waits_for_a_guardian)
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

/* Without one everything else works. */
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

SUITE_MAIN("the guardian of a log", the_log_of_a_killed_writer_is_complete,
	   a_writer_may_be_killed_at_any_moment, a_log_is_completed_after_exit_and_exec_too,
	   the_log_of_a_killed_controller_has_the_targets_events, a_guardian_that_is_late_finds_its_stream,
	   what_was_cleared_before_a_death_is_counted, nobody_waits_for_a_guardian, a_guardian_may_be_missing)
