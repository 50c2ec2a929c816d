/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/miser.h - a process that creates many streams of itself: each byte is a command, which it
 * answers with a number.
 */
#ifndef PTX_TESTS_MISER_H
#define PTX_TESTS_MISER_H

#include <sys/types.h>
#include <trace.h>

enum miser_command {
	MISER_CREATE = 'c',  /* creates one more stream; answers the error number */
	MISER_CREATE_ALL = 'a', /* creates as many as it can; answers their number */
	MISER_SHUT = 's',    /* shuts down the youngest; answers the error number */
	MISER_FAIL = 'b',    /* more failing creations than there are places; answers 0 if all
			      * failed */
	MISER_CLOSE = 'd',   /* closes every descriptor except its own two; answers 0 */
	MISER_FORK = 'f',    /* has a child that lives until no process can send it commands;
			      * answers 0 */
	/* has a child, made by a system call, that creates and shuts down one; answers its error */
	MISER_CLONE = 'r',
	MISER_EXEC = 'x',    /* executes this program again, as a miser; answers 0 */
	MISER_EXEC_PLAIN = 'y', /* executes a program without the library; answers 0 */
	MISER_EXIT = 'e',    /* exit() */
	MISER_EXIT_AT_ONCE = 'q' /* _exit() */
};

/* The maximum number of streams that trace one process. */
#define MISER_MAX 64

#define MISERS (TRACE_SYS_MAX / MISER_MAX) /* this number of them fills every place */

_Static_assert(TRACE_SYS_MAX % MISER_MAX == 0, "misers fill every place exactly");

struct miser {
	pid_t pid;
	int command, answer;
};

/* First call of main(): becomes a miser if argv requests it. */
void miser_main(int argc, char **argv);

struct miser miser_start(void);
void miser_start_all(struct miser *miser, int count);
int miser_tell(const struct miser *miser, enum miser_command command);
/* The number of streams that all misers together have created. */
int miser_create_all(struct miser *miser, int count);
/* The number of further streams that the user can have. */
int miser_count_free(void);

/* Ends one by a command, or by SIGKILL; or all of them in the shortest way. */
void miser_exit(struct miser *miser, enum miser_command how);
void miser_kill(struct miser *miser);
void miser_end(struct miser *miser, int count);

#endif
