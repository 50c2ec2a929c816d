/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/support.h"

/* The puppet's pipes in the shell, which accepts numbers of one digit only. */
#define IN  8
#define OUT 9

/* The first free numbers behind both: in and out may have these numbers in the other order. */
static void move_pipes(int in, int out)
{
	in = fcntl(in, F_DUPFD_CLOEXEC, OUT + 1);
	out = fcntl(out, F_DUPFD_CLOEXEC, OUT + 1);
	if (dup2(in, IN) != IN || dup2(out, OUT) != OUT)
		_exit(8);
}

/* Waits for the command "x". Only then the shell executes a program that uses the library. */
static void wait_in_shell(int in, int out, const char *how)
{
	static char shell[] = "/bin/sh";
	static char option[] = "-c";
	char text[400], *argv[] = { shell, option, text, NULL };

	move_pipes(in, out);
	snprintf(text, sizeof(text), "head -c 1 <&%d >/dev/null; %s %s %d %d x; exit $?", IN, how,
		 PUPPET_PROGRAM, IN, OUT);
	execv(shell, argv);
	_exit(8);
}

static void plain(int in, int out)
{
	wait_in_shell(in, out, "exec");
}

static void shell(int in, int out)
{
	wait_in_shell(in, out, "");
}

static struct puppet begin(void (*life)(int in, int out))
{
	struct puppet puppet;
	int in[2], out[2];

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	puppet.pid = fork();
	ck_assert_int_ge(puppet.pid, 0);
	if (puppet.pid == 0) {
		close(in[1]);
		close(out[0]);
		life(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	puppet.command = in[1];
	puppet.answer = out[0];
	return puppet;
}

struct puppet puppet_start(void)
{
	return begin(puppet_obey);
}

struct puppet puppet_start_plain(void)
{
	return begin(plain);
}

struct puppet puppet_start_shell(void)
{
	return begin(shell);
}

void puppet_tell(const struct puppet *puppet, enum puppet_command command)
{
	char c = (char)command;

	ck_assert_int_eq(write(puppet->command, &c, 1), 1);
	ck_assert_int_eq(read(puppet->answer, &c, 1), 1);
	ck_assert_int_eq(c, (char)command);
}

void puppet_end(struct puppet *puppet)
{
	close(puppet->command);
	wait_well(puppet->pid);
	close(puppet->answer);
}
