/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/puppet.h - a puppet is a process that traces on command. Each byte that is written to it
 * is a command. The puppet answers with the same byte when it has executed the command.
 */
#ifndef PTX_TESTS_PUPPET_H
#define PTX_TESTS_PUPPET_H

#include <sys/types.h>

enum puppet_command {
	PUPPET_ONE = 'e',  /* records an event "u"; its data is a number, counted from 1 */
	PUPPET_MANY = 'm', /* records PUPPET_MANY_EVENTS such events */
	PUPPET_NAME = 'n', /* opens the type "v" and records an event of it */
	/* executes another program, a puppet again, whose numbers count from 1 */
	PUPPET_EXEC = 'x',
	/* from now on a child obeys the commands; this process waits for its end */
	PUPPET_FORK = 'f',
	PUPPET_SPAWN = 's' /* does the same with a spawned program as the child */
};

#define PUPPET_MANY_EVENTS 1000

struct puppet {
	pid_t pid;
	int command, answer;
};

/* Opens the event type "u", then executes commands from `in` until `in` ends. */
void puppet_obey(int in, int out) __attribute__((noreturn));

/*
 * Each of these functions starts a puppet. With puppet_start() it is a child of this process. With
 * puppet_start_plain() the child does not use the library before it gets the command PUPPET_EXEC.
 * With puppet_start_shell() the child is a shell, which never uses the library, and the puppet is
 * the shell's child.
 */
struct puppet puppet_start(void);
struct puppet puppet_start_plain(void);
struct puppet puppet_start_shell(void);

void puppet_tell(const struct puppet *puppet, enum puppet_command command);
void puppet_end(struct puppet *puppet);

#endif
