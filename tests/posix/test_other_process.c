/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracing another process: it is found by its id and attached while it runs. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/stream.h"

/* CREATE-04, CREATE-10, EVID-06 */
START_TEST(a_running_process_is_traced_without_its_help)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid;

	puppet_tell(&puppet, PUPPET_ONE);
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	puppet_tell(&puppet, PUPPET_ONE); /* suspended */
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_ONE);
	stop(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=3 u=4 STOP(0)");
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=6");
	shut(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_end(&puppet);
}
END_TEST

/* Returns a descriptor of the arena of another process, opened by this process. */
static int open_arena_of(pid_t pid)
{
	char path[64], link[64];

	for (int fd = 3; fd < 2000; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		n = readlink(path, link, sizeof(link) - 1);
		if (n > 0 && !strncmp(link, "/memfd:posix-trace", 18))
			return open(path, O_RDWR | O_CLOEXEC);
	}
	return -1;
}

static void ignore_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)stream;
	++*(int *)arg;
}

/*
 * A process with another version would never examine an arena of this version, so its events would
 * be missing.
 */
START_TEST(a_process_with_another_version_of_the_library_is_refused)
{
	struct puppet puppet = puppet_start();
	uint32_t version, other;
	trace_id_t trid = 77;
	int fd, streams = 0;

	puppet_tell(&puppet, PUPPET_ONE);
	fd = open_arena_of(puppet.pid);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &version, sizeof(version), 72), sizeof(version));
	for (other = version - 1; other <= version + 1; other += 2) {
		ck_assert_int_eq(pwrite(fd, &other, sizeof(other), 72), sizeof(other));
		FAILS(EPROTONOSUPPORT, posix_trace_create(puppet.pid, NULL, &trid));
		ck_assert_uint_eq(trid, 77);
		streams = 0; /* other processes of the machine may have streams */
		FAILS(EPROTONOSUPPORT,
		      posix_trace_observe_np(puppet.pid, ignore_stream, &streams));
		ck_assert_int_eq(streams, 0);
		OK(posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, ignore_stream, &streams));
	}
	/* No link of the failed call remains, so the process can be traced by its own version. */
	ck_assert_int_eq(pwrite(fd, &version, sizeof(version), 72), sizeof(version));
	close(fd);
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=2");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* CREATE-04, EVENT-11 */
START_TEST(its_events_bear_its_id_and_the_controllers_bear_the_controllers)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	struct seen seen;

	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_int_eq(seen.info.posix_pid, getpid());
	free(seen.data);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_int_eq(seen.info.posix_pid, puppet.pid);
	free(seen.data);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* CREATE-11, TRID-01 to TRID-03, TRID-07, EVID-07 */
START_TEST(names_are_the_targets)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	trace_id_t other = stream_attach(puppet.pid, &(struct wish){ 0 });
	trace_event_id_t mine, v, again;
	trace_event_set_t set;
	char name[TRACE_EVENT_NAME_MAX + 1];

	OK(posix_trace_eventid_open("only the controller knows it", &mine));
	OK(posix_trace_trid_eventid_open(trid, "v", &v));
	OK(posix_trace_trid_eventid_open(other, "v", &again));
	ck_assert_uint_eq(v, again);
	OK(posix_trace_eventid_get_name(trid, v, name));
	ck_assert_str_eq(name, "v");
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(v, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	start(other);
	puppet_tell(&puppet, PUPPET_NAME);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START{v} u=2");
	ck_assert_events(other, "START v=1 u=2");
	shut(trid);
	shut(other);
	puppet_end(&puppet);
}
END_TEST

static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int lines = 0;

	ck_assert_ptr_nonnull(maps);
	for (int c; (c = fgetc(maps)) != EOF;)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

/* SHUT-02: streams of this process and of others use the same places in turn */
START_TEST(streams_that_take_turns_leave_no_memory_behind)
{
	trace_event_id_t u = type_of("u");
	int before = 0;

	for (int i = 0; i < 40; i++) {
		int ready[2], status;
		pid_t controller;
		char c;

		ck_assert_int_eq(pipe(ready), 0);
		controller = fork();
		if (controller == 0) {
			trace_id_t trid;

			if (posix_trace_create(getppid(), NULL, &trid) ||
			    posix_trace_start(trid) || write(ready[1], "", 1) != 1)
				_exit(1);
			kill(getpid(), SIGSTOP);
			_exit(posix_trace_shutdown(trid));
		}
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
		trace_number(u, i);
		ck_assert_int_eq(waitpid(controller, &status, WUNTRACED), controller);
		ck_assert(WIFSTOPPED(status));
		kill(controller, SIGCONT);
		wait_well(controller);
		close(ready[0]);
		close(ready[1]);
		shut(STARTED());
		if (i == 9)
			before = count_mappings();
	}
	ck_assert_int_le(count_mappings(), before + 10);
}
END_TEST

/* GETNEXT-13 */
START_TEST(a_reader_waits_for_another_process)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	struct posix_trace_event_info info;
	const char one = PUPPET_ONE;
	int unavailable, number;
	size_t len;

	start(trid);
	OK(posix_trace_getnext_event(trid, &info, &number, sizeof(number), &len, &unavailable));
	ck_assert_int_eq(info.posix_event_id, POSIX_TRACE_START);
	for (int i = 1; i <= 200; i++) {
		ck_assert_int_eq(write(puppet.command, &one, 1), 1);
		OK(posix_trace_getnext_event(trid, &info, &number, sizeof(number), &len,
					     &unavailable));
		ck_assert_int_eq(unavailable, 0);
		ck_assert_int_eq(number, i);
	}
	shut(trid);
	for (int i = 0; i < 200; i++) {
		char c;

		ck_assert_int_eq(read(puppet.answer, &c, 1), 1);
	}
	puppet_end(&puppet);
}
END_TEST

/* CREATE-17 to CREATE-19, CREATE-25 */
START_TEST(an_invalid_process_is_not_traced)
{
	trace_id_t trid = 4711;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	FAILS(ESRCH, posix_trace_create(child, NULL, &trid));
	FAILS(ESRCH, posix_trace_create(-1, NULL, &trid));
	ck_assert_uint_eq(trid, 4711);
}
END_TEST

/* Returns the result of posix_trace_create() in a process of another user. */
static int answer_to_nobody(pid_t pid)
{
	pid_t child = fork();
	trace_id_t trid;
	int status;

	if (child == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(250);
		_exit(posix_trace_create(pid, NULL, &trid));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* CREATE-16, PRIV-01, PRIV-02, PRIV-03 */
START_TEST(others_may_not_trace)
{
	struct puppet puppet;
	trace_id_t trid;

	if (geteuid() != 0)
		return; /* only root can change to another user */
	puppet = puppet_start();
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(trid);
	ck_assert_int_eq(answer_to_nobody(puppet.pid), EPERM);
	ck_assert_int_eq(answer_to_nobody(0), 0);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

static int pipe_in[2], pipe_out[2];

/*
 * Returns true if the first thread of the process has ended. The caller does not use
 * pthread_join(), because ThreadSanitizer does not know the first thread after fork().
 */
static bool is_alone(void)
{
	char path[40], text[400] = "", *name_end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		_exit(251);
	close(fd);
	name_end = strrchr(text, ')');
	return name_end && name_end[2] == 'Z';
}

static void *obey_alone(void *unused)
{
	(void)unused;
	while (!is_alone())
		usleep(1000);
	if (write(pipe_out[1], "r", 1) != 1)
		_exit(252);
	puppet_obey(pipe_in[0], pipe_out[1]);
}

/* Its folder in /proc then has no descriptors. CREATE-04 */
START_TEST(a_process_whose_first_thread_has_ended_is_traced)
{
	struct puppet puppet;
	trace_id_t trid;
	char c = 'e';

	ck_assert(pipe(pipe_in) == 0 && pipe(pipe_out) == 0);
	puppet = (struct puppet){ .command = pipe_in[1], .answer = pipe_out[0] };
	puppet.pid = fork();
	if (puppet.pid == 0) {
		pthread_t thread;

		close(pipe_in[1]); /* so that it reads the end of the commands */
		if (pthread_create(&thread, NULL, obey_alone, NULL))
			_exit(250);
		pthread_exit(NULL);
	}
	ck_assert_int_gt(puppet.pid, 0);
	ck_assert_int_eq(read(pipe_out[0], &c, 1), 1); /* the child is ready */
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	stop(trid);
	ck_assert_events(trid, "START u=1 STOP(0)");
	shut(trid);
	puppet_end(&puppet);
	close(pipe_in[0]);
	close(pipe_out[1]);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("tracing another process",
	   a_process_whose_first_thread_has_ended_is_traced,
	   a_running_process_is_traced_without_its_help,
	   a_process_with_another_version_of_the_library_is_refused,
	   its_events_bear_its_id_and_the_controllers_bear_the_controllers,
	   names_are_the_targets,
	   streams_that_take_turns_leave_no_memory_behind,
	   a_reader_waits_for_another_process,
	   an_invalid_process_is_not_traced,
	   others_may_not_trace)
