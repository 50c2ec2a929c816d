/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/support.h"

/* Waits for the command "x". Only then the shell executes a program that uses the library. */
static void wait_in_shell(int in, int out, const char *how)
{
	static char shell[] = "/bin/sh";
	static char option[] = "-c";
	char text[400], *argv[] = { shell, option, text, NULL };

	snprintf(text, sizeof(text),
		 "exec 8<&%d 9>&%d; head -c 1 <&8 >/dev/null; %s %s 8 9 x; exit $?", in, out, how,
		 PUPPET_PROGRAM);
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
