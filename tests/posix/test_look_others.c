/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_observe_np() of other processes: the visible streams, their controllers and the
 * processes that inherited them.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"
#include "support/puppet.h"
#include "support/sight.h"

static void assert_exits(pid_t child, int with)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), with);
}

START_TEST(another_process_and_its_controller_are_seen)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ .name = "mine" });
	const struct sight *sight;

	start(trid);
	puppet_tell(&puppet, PUPPET_MANY);
	sight = look_at_one(puppet.pid);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->stream.creator, getpid());
	ck_assert_str_eq(sight->stream.name, "mine");
	ck_assert_uint_eq(sight->stream.recorded, PUPPET_MANY_EVENTS + 1);
	ck_assert_str_eq(sight->names, "u ");
	ck_assert_uint_eq(look(0)->n, 0);
	shut(trid);
	ck_assert_uint_eq(look(puppet.pid)->n, 0);
	puppet_end(&puppet);
}
END_TEST

/*
 * Makes a child of this process that traces another process. The child ends when the test closes
 * the descriptor `life`.
 */
static pid_t trace_in_child(pid_t target, int *life)
{
	int ready[2], end[2];
	pid_t child;
	char c = 0;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	if (child == 0) {
		trace_id_t trid;

		close(end[1]);
		if (posix_trace_create(target, NULL, &trid) || posix_trace_start(trid) ||
		    write(ready[1], &c, 1) != 1)
			_exit(1);
		_exit(read(end[0], &c, 1) != 0);
	}
	close(ready[1]);
	close(end[0]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*life = end[1];
	return child;
}

/* An observer opens and closes files on which the observer and other processes have locks. */
START_TEST(looking_removes_no_event)
{
	struct puppet puppet = puppet_start();
	trace_id_t mine = stream_attach(puppet.pid, &(struct wish){ .name = "mine" });
	int life, status;
	pid_t child = trace_in_child(puppet.pid, &life);

	start(mine);
	for (int i = 0; i < 5; i++) {
		look(puppet.pid);
		ck_assert_uint_eq(sights.n, 2);
		ck_assert_int_eq(sights.sight[0].stream.creator, getpid());
		ck_assert_int_eq(sights.sight[1].stream.creator, child);
		ck_assert_uint_eq(look_at_all_for(puppet.pid)->n, 2);
		/* Its trace points check from time to time whether its controller still exists. */
		puppet_tell(&puppet, PUPPET_MANY);
	}
	/* The kernel reports our lock to another process, but not to ourselves. */
	if (fork() == 0) {
		look(puppet.pid);
		_exit(sights.n == 2 && sights.sight[0].stream.creator == getppid() ? 0 : 1);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(life);
	ck_assert_int_eq(look(puppet.pid)->sight[1].stream.creator, POSIX_TRACE_CREATOR_GONE_NP);
	stop(mine);
	ck_assert_uint_eq(look(puppet.pid)->sight[0].stream.recorded, 5 * PUPPET_MANY_EVENTS + 2);
	shut(mine);
	puppet_end(&puppet);
}
END_TEST

START_TEST(processes_that_inherited_a_stream_are_seen)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid,
				    &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
	trace_id_t other = stream_attach(puppet.pid, &(struct wish){ .name = "not inherited" });
	const struct sight *sight;
	pid_t child;

	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	look(puppet.pid);
	ck_assert_uint_eq(sights.n, 2);
	ck_assert_uint_eq(sights.sight[0].stream.members, 1);
	child = sights.sight[0].member[0];
	ck_assert_int_ne(child, puppet.pid);
	ck_assert_uint_eq(sights.sight[1].stream.members, 0);
	/* The child has the one stream that it inherited, which belongs to its parent. */
	sight = look_at_one(child);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->member[0], child);
	ck_assert_int_eq(sight->stream.ended, 0);
	/* The parent ends, the child continues. */
	kill(puppet.pid, SIGKILL);
	ck_assert_int_eq(waitpid(puppet.pid, NULL, 0), puppet.pid);
	puppet_tell(&puppet, PUPPET_ONE);
	sight = look_at_one(child);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->stream.ended, POSIX_TRACE_PROCESS_ENDED_NP);
	ck_assert_uint_eq(sight->stream.members, 1);
	shut(trid);
	shut(other);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

START_TEST(a_process_that_does_not_know_the_library_waits)
{
	struct puppet puppet = puppet_start_plain();
	const struct sight *sight;
	trace_id_t trid;
	char name[32] = "";

	/* Waits until the child is a shell, which has closed the arena of this program. */
	while (strcmp(name, "sh\n") != 0) {
		char path[40];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int)puppet.pid);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(name, sizeof(name), file));
		fclose(file);
	}
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(trid);
	sight = look_at_one(puppet.pid);
	ck_assert_int_eq(sight->stream.pid, puppet.pid);
	ck_assert_int_eq(sight->stream.waiting, 1);
	ck_assert_int_eq(sight->stream.ended, 0);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	sight = look_at_one(puppet.pid);
	ck_assert_int_eq(sight->stream.waiting, 0);
	ck_assert_uint_eq(sight->stream.recorded, 2);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

START_TEST(processes_that_cannot_be_examined_are_reported)
{
	pid_t child = fork();
	int status, calls = 0;

	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	FAILS(ESRCH, posix_trace_observe_np(child, count_sights, &calls));
	FAILS(ESRCH, posix_trace_observe_np(-3, count_sights, &calls));
	FAILS(EINVAL, posix_trace_observe_np(0, NULL, NULL));
	ck_assert_int_eq(calls, 0);
}
END_TEST

/* PRIV-01: as for tracing */
START_TEST(others_may_not_look)
{
	struct puppet puppet;
	trace_id_t trid;
	pid_t child;
	int calls = 0;

	if (geteuid() != 0)
		return; /* only root can change to another user */
	puppet = puppet_start();
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	child = fork();
	if (child == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(250);
		if (posix_trace_observe_np(puppet.pid, count_sights, &calls) != EPERM)
			_exit(1);
		_exit(look_at_all_for(puppet.pid)->n == 0 ? 0 : 2);
	}
	wait_well(child);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* The process observes only itself. The inherited stream is reported, and no other stream. */
START_TEST(a_process_may_look_at_itself_alone)
{
	trace_id_t trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);
	const struct sight *sight;
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		trace_number(type_of("n"), 1);
		sight = look_at_one(POSIX_TRACE_THIS_PROCESS_NP);
		ck_assert_int_eq(sight->stream.pid, parent);
		ck_assert_int_eq(sight->stream.creator, parent);
		ck_assert_int_eq(sight->stream.ended, POSIX_TRACE_PROCESS_ALIVE_NP);
		ck_assert_uint_eq(sight->stream.members, 1);
		ck_assert_int_eq(sight->member[0], getpid());
		sight = look_at_one(0);
		ck_assert_int_eq(sight->member[0], getpid());
		_exit(7);
	}
	sight = look_at_one(POSIX_TRACE_THIS_PROCESS_NP);
	ck_assert_int_eq(sight->stream.pid, parent);
	ck_assert_uint_eq(sight->stream.members, 0);
	assert_exits(child, 7);
	shut(trid);
	ck_assert_uint_eq(look(POSIX_TRACE_THIS_PROCESS_NP)->n, 0);
}
END_TEST

#define DESCRIPTORS 64 /* the limit of the next test */

/* The results of a visitor for the streams of one process. */
struct copying {
	pid_t pid;
	int fd, err;
	unsigned seen;
};

static void copy_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct copying *copying = arg;

	if (stream->pid != copying->pid)
		return;
	copying->seen++;
	copying->err = posix_trace_snapshot_np(stream, copying->fd);
}

/* Examines all processes while this number of descriptors is free. Returns the error. */
static int look_with_free(unsigned free_count, struct copying *copying)
{
	struct rlimit limit, before;
	int fd[DESCRIPTORS], err;
	unsigned count = 0;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){ DESCRIPTORS, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (count < DESCRIPTORS && (fd[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	ck_assert_uint_ge(count, free_count);
	for (unsigned i = 0; i < free_count; i++)
		close(fd[--count]);
	err = posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, copy_stream, copying);
	while (count)
		close(fd[--count]);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	return err;
}

/*
 * Without a free descriptor, the observer cannot examine other processes. The result is then an
 * error. It is not a list that lacks streams, and not a stream that has ended.
 */
START_TEST(too_few_descriptors_are_an_error)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	struct copying copying = { .pid = puppet.pid, .fd = log_file() };
	unsigned errors = 0;

	for (unsigned i = 0; i < 12; i++) {
		int err;

		copying.seen = 0;
		err = look_with_free(i, &copying);
		if (err) {
			ck_assert_int_eq(err, EMFILE);
			errors++;
			continue;
		}
		ck_assert_uint_eq(copying.seen, 1);
		ck_assert(copying.err == 0 || copying.err == EMFILE);
	}
	ck_assert_uint_gt(errors, 0);
	ck_assert_uint_eq(copying.seen, 1);
	ck_assert_int_eq(copying.err, 0);
	close(copying.fd);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("posix_trace_observe_np: other processes", another_process_and_its_controller_are_seen,
	   looking_removes_no_event, processes_that_inherited_a_stream_are_seen,
	   a_process_that_does_not_know_the_library_waits,
	   processes_that_cannot_be_examined_are_reported,
	   others_may_not_look, a_process_may_look_at_itself_alone,
	   too_few_descriptors_are_an_error)
