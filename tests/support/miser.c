/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/miser.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

static trace_id_t hoard[MISER_MAX + 1];
static int streams;

static int create(size_t bytes)
{
	trace_attr_t attr;
	int err;

	if (posix_trace_attr_init(&attr) || posix_trace_attr_setstreamsize(&attr, bytes))
		_exit(2);
	err = posix_trace_create(0, &attr, &hoard[streams]);
	if (!err && ++streams > MISER_MAX)
		_exit(3);
	return err;
}

static int create_all(void)
{
	while (create(4096) == 0)
		continue;
	return streams;
}

static int fail_often(void)
{
	for (int i = 0; i < TRACE_SYS_MAX + 8; i++)
		if (create(SIZE_MAX) != ENOMEM ||
		    posix_trace_create_withlog(0, NULL, -1, &hoard[streams]) != EBADF)
			return 1;
	return 0;
}

static int close_all(int in, int out)
{
	for (int fd = 0; fd < 1024; fd++)
		if (fd != in && fd != out)
			close(fd);
	return 0;
}

/* Makes a child that takes commands only after its parent has ended. */
static int have_child(int in)
{
	pid_t parent = getpid();
	char c;

	if (fork() != 0)
		return 0;
	while (getppid() == parent)
		usleep(1000);
	while (read(in, &c, 1) == 1)
		continue;
	_exit(0);
}

static int have_clone(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	int status, err;

	if (child == 0) {
		streams = 0;
		err = create(4096);
		if (!err)
			err = posix_trace_shutdown(hoard[0]);
		syscall(SYS_exit_group, err);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void execute(const char *self, int in, int out)
{
	static const char command[] = "printf '\\0\\0\\0\\0' >&9; exec cat <&8 >/dev/null";
	char words[2][16];

	_Static_assert(sizeof(int) == 4, "what the shell answers");
	if (self) {
		snprintf(words[0], sizeof(words[0]), "%d", in);
		snprintf(words[1], sizeof(words[1]), "%d", out);
		execl(self, self, "miser", words[0], words[1], NULL);
	} else {
		/* The shell accepts numbers of one digit only. */
		in = fcntl(in, F_DUPFD_CLOEXEC, 10);
		out = fcntl(out, F_DUPFD_CLOEXEC, 10);
		if (dup2(in, 8) == 8 && dup2(out, 9) == 9)
			execl("/bin/sh", "sh", "-c", command, NULL);
	}
	_exit(4);
}

static int obey_one(char command, int in, int out)
{
	switch (command) {
	case MISER_CREATE:
		return create(4096);
	case MISER_CREATE_ALL:
		return create_all();
	case MISER_SHUT:
		return posix_trace_shutdown(hoard[--streams]);
	case MISER_FAIL:
		return fail_often();
	case MISER_CLOSE:
		return close_all(in, out);
	case MISER_FORK:
		return have_child(in);
	case MISER_CLONE:
		return have_clone();
	case MISER_EXEC:
		execute("/proc/self/exe", in, out);
		return 0;
	case MISER_EXEC_PLAIN:
		execute(NULL, in, out);
		return 0;
	case MISER_EXIT:
		exit(0);
	default:
		_exit(0);
	}
}

static void obey(int in, int out)
{
	char command;

	while (read(in, &command, 1) == 1) {
		int answer = obey_one(command, in, out);

		if (write(out, &answer, sizeof(answer)) != sizeof(answer))
			_exit(5);
	}
	_exit(0);
}

void miser_main(int argc, char **argv)
{
	const int zero = 0;

	if (argc != 4 || strcmp(argv[1], "miser") != 0)
		return;
	if (write(atoi(argv[3]), &zero, sizeof(zero)) != sizeof(zero))
		_exit(6);
	obey(atoi(argv[2]), atoi(argv[3]));
}

struct miser miser_start(void)
{
	struct miser miser;
	int in[2], out[2];

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	miser.pid = fork();
	ck_assert_int_ge(miser.pid, 0);
	if (miser.pid == 0) {
		close(in[1]);
		close(out[0]);
		streams = 0;
		obey(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	miser.command = in[1];
	miser.answer = out[0];
	return miser;
}

void miser_start_all(struct miser *miser, int count)
{
	for (int i = 0; i < count; i++)
		miser[i] = miser_start();
}

int miser_tell(const struct miser *miser, enum miser_command command)
{
	char c = (char)command;
	int answer;

	ck_assert_int_eq(write(miser->command, &c, 1), 1);
	ck_assert_int_eq(read(miser->answer, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

int miser_create_all(struct miser *miser, int count)
{
	int all = 0;

	for (int i = 0; i < count; i++)
		all += miser_tell(&miser[i], MISER_CREATE_ALL);
	return all;
}

static void reap(struct miser *miser, int expected)
{
	int status;

	ck_assert_int_eq(waitpid(miser->pid, &status, 0), miser->pid);
	ck_assert_int_eq(status, expected);
	close(miser->answer);
}

void miser_exit(struct miser *miser, enum miser_command how)
{
	char c = (char)how;

	ck_assert_int_eq(write(miser->command, &c, 1), 1);
	close(miser->command);
	reap(miser, 0);
}

void miser_kill(struct miser *miser)
{
	ck_assert_int_eq(kill(miser->pid, SIGKILL), 0);
	reap(miser, SIGKILL);
	close(miser->command);
}

void miser_end(struct miser *miser, int count)
{
	for (int i = 0; i < count; i++)
		miser_exit(&miser[i], MISER_EXIT_AT_ONCE);
}

int miser_count_free(void)
{
	struct miser miser[MISERS + 1];
	int count;

	miser_start_all(miser, MISERS + 1);
	count = miser_create_all(miser, MISERS + 1);
	miser_end(miser, MISERS + 1);
	return count;
}
