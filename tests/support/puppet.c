/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/puppet.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

static void answer(int out, char command)
{
	if (write(out, &command, 1) != 1)
		_exit(4);
}

/* Makes the argument vector of the puppet's program: the two descriptors and the command that the
 * program answers first. */
static void words(int in, int out, char command, char text[3][16], char *argv[5])
{
	static char program[] = PUPPET_PROGRAM;

	snprintf(text[0], sizeof(text[0]), "%d", in);
	snprintf(text[1], sizeof(text[1]), "%d", out);
	snprintf(text[2], sizeof(text[2]), "%c", command);
	argv[0] = program;
	for (int i = 0; i < 3; i++)
		argv[1 + i] = text[i];
	argv[4] = NULL;
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		_exit(5);
	_exit(0);
}

static void become_another(int in, int out, char command)
{
	char text[3][16], *argv[5];
	pid_t child;

	words(in, out, command, text, argv);
	if (command == PUPPET_EXEC) {
		execv(argv[0], argv);
		_exit(6);
	}
	if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ))
		_exit(7);
	wait_for(child);
}

static void trace_some(trace_event_id_t type, int *number, int count)
{
	for (int i = 0; i < count; i++) {
		++*number;
		posix_trace_event(type, number, sizeof(*number));
	}
}

void puppet_obey(int in, int out)
{
	trace_event_id_t u, v;
	int number = 0;
	char command;
	pid_t child;

	if (posix_trace_eventid_open("u", &u))
		_exit(2);
	while (read(in, &command, 1) == 1) {
		switch (command) {
		case PUPPET_ONE:
			trace_some(u, &number, 1);
			break;
		case PUPPET_MANY:
			trace_some(u, &number, PUPPET_MANY_EVENTS);
			break;
		case PUPPET_NAME:
			if (posix_trace_eventid_open("v", &v))
				_exit(3);
			trace_some(v, &number, 1);
			break;
		case PUPPET_FORK:
			child = fork();
			if (child)
				wait_for(child);
			break;
		default:
			become_another(in, out, command);
		}
		answer(out, command);
	}
	_exit(0);
}
