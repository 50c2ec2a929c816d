/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/puppet.h - a process that traces on command: each byte written to it is a command, and it
 * answers with the same byte when it is done.
 */
#ifndef PTX_TESTS_PUPPET_H
#define PTX_TESTS_PUPPET_H

#include <sys/types.h>

enum puppet_command {
	PUPPET_ONE = 'e',  /* one event "u", with a number that counts from 1 */
	PUPPET_MANY = 'm', /* PUPPET_MANY_EVENTS of them */
	PUPPET_NAME = 'n', /* opens "v" and records one */
	/* executes another program, a puppet again, whose numbers count from 1 */
	PUPPET_EXEC = 'x',
	/* from now on a child obeys the commands; this process waits for its end */
	PUPPET_FORK = 'f',
	PUPPET_SPAWN = 's' /* the same with a spawned program */
};

#define PUPPET_MANY_EVENTS 1000

struct puppet {
	pid_t pid;
	int command, answer;
};

/* Runs a puppet until its commands end; it opens the name "u" first. */
void puppet_obey(int in, int out) __attribute__((noreturn));

/*
 * Starts a puppet as a child of this process. Variants: a child without the library, until it gets
 * the command to execute; one that never has it, and whose own child is the puppet.
 */
struct puppet puppet_start(void);
struct puppet puppet_start_plain(void);
struct puppet puppet_start_shell(void);

void puppet_tell(const struct puppet *puppet, enum puppet_command command);
void puppet_end(struct puppet *puppet);

#endif
