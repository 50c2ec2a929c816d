/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/puppet.h - a process that traces when told to: each byte written to it is a command, and
 * each is answered by the same byte when it is done.
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
	/* from now on a child does what is told; this process waits for its end */
	PUPPET_FORK = 'f',
	PUPPET_SPAWN = 's' /* the same with a spawned program */
};

#define PUPPET_MANY_EVENTS 1000

struct puppet {
	pid_t pid;
	int command, answer;
};

/* What a puppet does until its commands end; it opens the name "u" first. */
void puppet_obey(int in, int out) __attribute__((noreturn));

/*
 * A child of this process; or one that does not know the library until it is told to execute; or
 * that never does, and is told to execute a child which is the puppet then.
 */
struct puppet puppet_start(void);
struct puppet puppet_start_plain(void);
struct puppet puppet_start_shell(void);

void puppet_tell(const struct puppet *puppet, enum puppet_command command);
void puppet_end(struct puppet *puppet);

#endif
