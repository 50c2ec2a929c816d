/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/miser.h - a process that hoards streams of itself: told by a byte what to do, it answers
 * with a number.
 */
#ifndef PTX_TESTS_MISER_H
#define PTX_TESTS_MISER_H

#include <sys/types.h>
#include <trace.h>

enum miser_command {
	MISER_CREATE = 'c',  /* one stream more: the error number */
	MISER_CREATE_ALL = 'a', /* as many as it can: how many */
	MISER_SHUT = 's',    /* shuts down the youngest: the error number */
	MISER_FAIL = 'b',    /* more creations that fail than there are places: 0 if all did */
	MISER_CLOSE = 'd',   /* closes every descriptor but its own two: 0 */
	MISER_FORK = 'f',    /* has a child that lives until no one can give it commands: 0 */
	/* has a child by a system call that creates and shuts down one: its error */
	MISER_CLONE = 'r',
	MISER_EXEC = 'x',    /* executes this program again, as a miser: 0 */
	MISER_EXEC_PLAIN = 'y', /* executes a program that does not know the library: 0 */
	MISER_EXIT = 'e',    /* exit() */
	MISER_EXIT_AT_ONCE = 'q' /* _exit() */
};

/* So many streams can trace one process. */
#define MISER_MAX 64

#define MISERS (TRACE_SYS_MAX / MISER_MAX) /* so many fill every place */

_Static_assert(TRACE_SYS_MAX % MISER_MAX == 0, "misers fill every place exactly");

struct miser {
	pid_t pid;
	int command, answer;
};

/* In main(), first: becomes a miser if that is what argv says. */
void miser_main(int argc, char **argv);

struct miser miser_start(void);
void miser_start_all(struct miser *miser, int count);
int miser_tell(const struct miser *miser, enum miser_command command);
/* The number of streams that all of them together have made. */
int miser_create_all(struct miser *miser, int count);
/* How many streams more the user can have. */
int miser_count_free(void);

/* Ends one as told, or by SIGKILL; or all of them in the shortest way. */
void miser_exit(struct miser *miser, enum miser_command how);
void miser_kill(struct miser *miser);
void miser_end(struct miser *miser, int count);

#endif
