/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state.h - small files with positions. A position is the part of a log that a receiver has. There
 * is one file for each pair of a log and a receiver. Each save survives a crash of the machine.
 */
#ifndef POSIXTRACE_SHIP_STATE_H
#define POSIXTRACE_SHIP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define STATE_BYTES 1024

struct state {
	char *path;
	/* a file with a lock, so that only one process ships the log to this receiver; -1: none */
	int fd;
};

/* STATE_FAILED means that an error was printed. */
enum state_result { STATE_OK, STATE_BUSY, STATE_FAILED };

/*
 * Acquires the lock of a log and a receiver, and makes the folder if it does not exist. The name of
 * the file has the numbers "receiver" and "source". The name of the file with the lock has the
 * number "lock" instead of "receiver", because several names may mean the same receiver. STATE_BUSY
 * means that another process has the lock.
 */
enum state_result state_open(struct state *state, const char *folder, uint64_t receiver,
			     uint64_t lock, uint64_t source);
void state_close(struct state *state);

/*
 * Reads the text of the file and adds a NUL. If there is no file, sets *is_new. Returns false after
 * it printed an error.
 */
bool state_read(const struct state *state, char text[STATE_BYTES], bool *is_new);
/* Prints that the text of the file is not valid, and that the file is not changed. */
void state_say_invalid(const struct state *state);
/* Replaces the text of the file. Returns false after it printed an error. */
bool state_save(const struct state *state, const char *text);

#endif
