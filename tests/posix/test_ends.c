/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams and logs after the end of a process that traced, controlled or read. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"
#include "support/puppet.h"
#include "support/stream.h"

#define NOBODY 65534

static bool is_ending; /* true in the child whose end is tested */

static void reap(pid_t child, int signal)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(signal ? WTERMSIG(status) : WEXITSTATUS(status), signal);
}

/* Starts a child, which the test kills when the child has done its task. */
static pid_t start_child(void (*work)(void *), void *argument, int *done)
{
	int ready[2];
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		work(argument);
		_exit(write(ready[1], "r", 1) == 1 && pause());
	}
	ck_assert_int_gt(child, 0);
	close(ready[1]);
	*done = ready[0];
	return child;
}

static void finish_child(pid_t child, int done)
{
	char c;

	ck_assert_int_eq(read(done, &c, 1), 1);
	kill(child, SIGKILL);
	reap(child, SIGKILL);
	close(done);
}

static void read_the_beginning(void *fd)
{
	trace_id_t trid = log_open(*(int *)fd);

	ck_assert_int_eq(log_next_number(trid), 0);
}

/* EXIT-04: the next process that opens the log finds it unchanged */
START_TEST(a_reader_leaves_nothing_behind)
{
	int fd = log_of(20), done;
	unsigned char *before, *after;
	size_t len, len_after;
	pid_t child;

	before = log_bytes(fd, &len);
	child = start_child(read_the_beginning, &fd, &done);
	finish_child(child, done);
	after = log_bytes(fd, &len_after);
	ck_assert_uint_eq(len_after, len);
	ck_assert_mem_eq(after, before, len);
	free(before);
	free(after);
	for (int i = 0; i < 2; i++) {
		trace_id_t trid = log_open(fd);

		for (int n = 0; n < 20; n++)
			ck_assert_int_eq(log_next_number(trid), n);
		log_close(trid);
	}
	close(fd);
}
END_TEST

static trace_event_id_t last_words;

static void trace_at_exit(void)
{
	trace_number(last_words, 2);
}

static void __attribute__((destructor)) trace_at_the_very_end(void)
{
	if (is_ending)
		trace_number(last_words, 3);
}

static void await_completion(int fd)
{
	trace_id_t trid;

	wait_until(posix_trace_open(fd, &trid) == 0);
	log_close(trid);
	wait_until(log_info(fd).complete);
}

/* EXIT-06 */
START_TEST(the_last_words_of_a_process_are_in_its_log)
{
	int fd = log_file();
	pid_t child = fork();

	if (child == 0) {
		is_ending = true;
		log_create_started(fd, &(struct log_wish){ .policy = POSIX_TRACE_FLUSH });
		last_words = type_of("last words");
		atexit(trace_at_exit);
		trace_number(last_words, 1);
		exit(0);
	}
	reap(child, 0);
	await_completion(fd);
	assert_log_numbers(fd, last_words = type_of("last words"), 1, 3);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

struct control {
	pid_t target;
	trace_event_id_t *id; /* in shared memory */
};

static void name_in_advance(void *argument)
{
	const struct control *control = argument;
	trace_id_t trid = stream_attach_started(control->target, &(struct wish){ 0 });

	OK(posix_trace_trid_eventid_open(trid, "v", control->id));
}

/* EXIT-07: a process keeps the names that a controller opened for it */
START_TEST(names_outlive_the_controller_that_mapped_them)
{
	struct puppet puppet = puppet_start();
	struct control control = { puppet.pid, mmap(NULL, sizeof(*control.id),
						    PROT_READ | PROT_WRITE,
						    MAP_SHARED | MAP_ANONYMOUS, -1, 0) };
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid;
	pid_t child;
	int done;

	ck_assert_ptr_ne(control.id, MAP_FAILED);
	puppet_tell(&puppet, PUPPET_ONE); /* the target's "u" is older than the controller's */
	child = start_child(name_in_advance, &control, &done);
	finish_child(child, done);

	trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });
	OK(posix_trace_eventid_get_name(trid, *control.id, name));
	ck_assert_str_eq(name, "v");
	puppet_tell(&puppet, PUPPET_NAME);
	puppet_tell(&puppet, PUPPET_ONE);
	for (int i = 0; i < 3; i++) {
		struct seen seen;

		ck_assert_int_eq(read_one(trid, &seen), 1);
		if (i == 1)
			ck_assert_int_eq(seen.info.posix_event_id, *control.id);
		if (i == 2) {
			OK(posix_trace_eventid_get_name(trid, seen.info.posix_event_id, name));
			ck_assert_str_eq(name, "u");
		}
		free(seen.data);
	}
	shut(trid);
	puppet_end(&puppet);
	munmap(control.id, sizeof(*control.id));
}
END_TEST

/* FORK-13 */
START_TEST(children_of_a_controller_are_not_traced)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(
		puppet.pid, &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
	struct history *history;
	pid_t child = fork();

	if (child == 0) {
		trace_number(type_of("u"), 1000);
		_exit(0);
	}
	reap(child, 0);
	puppet_tell(&puppet, PUPPET_ONE);
	history = read_all(trid);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
	ck_assert_uint_eq(history->n, 2);
	ck_assert_int_eq(history->event[1].info.posix_pid, puppet.pid);
	history_free(history);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* PRIV-04: the library neither restricts nor extends the permissions to read a log */
START_TEST(a_log_is_as_private_as_its_file)
{
	NEEDS("ids");
	static const mode_t modes[] = { 0600, 0640, 0644 };

	for (int i = 0; i < 3; i++) {
		char path[] = "/tmp/posixtrace-test-XXXXXX";
		int fd = mkstemp(path);
		trace_id_t trid;

		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(fchmod(fd, modes[i]), 0);
		trid = log_create_started(fd, &(struct log_wish){ 0 });
		trace_number(type_of("n"), 7);
		shut(trid);
		ck_assert_int_eq(log_stat(fd).st_mode & 07777, modes[i]);
		close(fd);
		if (geteuid() == 0) {
			pid_t child = fork();

			if (child == 0) {
				if (setgid(NOBODY) || setuid(NOBODY))
					_exit(1);
				fd = open(path, O_RDONLY | O_CLOEXEC);
				_exit(modes[i] & 4 ? posix_trace_open(fd, &trid) : fd >= 0);
			}
			reap(child, 0);
		}
		unlink(path);
	}
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("ends", a_reader_leaves_nothing_behind, the_last_words_of_a_process_are_in_its_log,
	   names_outlive_the_controller_that_mapped_them, children_of_a_controller_are_not_traced,
	   a_log_is_as_private_as_its_file)
