/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/miser.h - a miser is a process that creates many streams of itself. Each byte that the
 * miser reads is a command. The miser answers each command with a number.
 */
#ifndef PTX_TESTS_MISER_H
#define PTX_TESTS_MISER_H

#include <sys/types.h>
#include <trace.h>

enum miser_command {
	MISER_CREATE = 'c',  /* creates one more stream; answers the error number */
	MISER_CREATE_ALL = 'a', /* creates as many as it can; answers their number */
	MISER_SHUT = 's',    /* shuts down its youngest stream; answers the error number */
	MISER_FAIL = 'b',    /* tries more creations than there are places, all of which must fail;
			      * answers 0 if each creation has failed with the right error */
	MISER_CLOSE = 'd',   /* closes every descriptor except those of its two pipes; answers 0 */
	MISER_FORK = 'f',    /* makes a child that lives until no process can send commands;
			      * answers 0 */
	/* makes a child, by a system call, that creates and shuts down a stream; answers its
	 * error */
	MISER_CLONE = 'r',
	MISER_EXEC = 'x',    /* executes this program again, as a miser; answers 0 */
	MISER_EXEC_PLAIN = 'y', /* executes a program without the library; answers 0 */
	MISER_EXIT = 'e',    /* calls exit() */
	MISER_EXIT_AT_ONCE = 'q' /* calls _exit() */
};

/* The maximum number of streams that trace one process. */
#define MISER_MAX 64

#define MISERS (TRACE_SYS_MAX / MISER_MAX) /* the misers that fill all places of the user */

_Static_assert(TRACE_SYS_MAX % MISER_MAX == 0, "misers fill every place exactly");

struct miser {
	pid_t pid;
	int command, answer;
};

/* main() must call this function first. If `argv` requests a miser, the process becomes one. */
void miser_main(int argc, char **argv);

struct miser miser_start(void);
void miser_start_all(struct miser *miser, int count);
int miser_tell(const struct miser *miser, enum miser_command command);
/* Makes all misers create streams, and returns the number of streams that they have created. */
int miser_create_all(struct miser *miser, int count);
/* Returns the number of further streams that the user can have. */
int miser_count_free(void);

/* miser_exit() ends a miser by a command, and miser_kill() by SIGKILL. miser_end() ends all misers
 * by the command MISER_EXIT_AT_ONCE. */
void miser_exit(struct miser *miser, enum miser_command how);
void miser_kill(struct miser *miser);
void miser_end(struct miser *miser, int count);

#endif
