/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * store.h - the folder of the agent: one agent uses it at a time, and it has
 *
 *   lock       locked while an agent runs, with its process id
 *   control    the socket for agent --snapshot and --status
 *   flight/    a log for each process that is recorded now: RECORD.PID.MILLISECONDS.ptl
 *   logs/      the logs that triggers have written: TIME-RECORD-PID-TRIGGER.ptl
 *
 * Only logs/ counts for the quota. The agent removes files there whose names it could have made,
 * and no others.
 *
 * Functions print errors. One thread uses a store.
 */
#ifndef POSIXTRACE_AGENT_STORE_H
#define POSIXTRACE_AGENT_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct config;

struct store {
	char *folder;
	int dir; /* descriptors; -1: not open */
	int lock;
	int flight, logs;
	uint64_t count, bytes; /* of logs/, as of the last look */
	/* Since the agent began. */
	uint64_t removed, expired, refused;
};

#define STORE_NAME_BYTES 160

/*
 * Makes the folders that are missing, for their owner only, and locks the store. Returns TOOL_OK,
 * or TOOL_FAILURE after it printed the reason, such as another agent that uses the folder, or
 * another user who owns it or can write to it.
 */
int store_open(struct store *store, const char *folder);
void store_close(struct store *store);

/*
 * Opens the folder for a client of the agent: the same user, root, or any user if root owns the
 * folder. Returns a descriptor, or -1 after a message.
 */
int store_open_client(const char *folder);

/* Parts of the name of a file in flight/. */
struct store_flight {
	char record[40];
	pid_t pid;
	int64_t ms; /* when the recording began, since 1970 */
};

/* Writes the name of a flight file, without folder. */
void store_flight_name(char name[STORE_NAME_BYTES], const struct store_flight *flight);
/* Parses such a name. Returns false if it is none. */
bool store_flight_parse(const char *name, struct store_flight *flight);

/* Creates the file. Returns its descriptor, or -1 after a message. */
int store_create(const struct store *store, const char *name);
/* Removes a file of flight/. */
void store_drop(const struct store *store, const char *name);

/*
 * Moves a complete log from flight/ to logs/, and stores its new path in *path, which the caller
 * frees. Before that, removes the oldest logs until the quota has room for it. Returns false after
 * it printed why the log was not kept; it is removed then if the quota refuses it, and remains if
 * it cannot be moved.
 */
bool store_keep(struct store *store, const struct config *config, const char *name,
		const struct store_flight *flight, const char *trigger, char **path);

/* Milliseconds since 1970, as names and ages of files have them. */
int64_t store_now_ms(void);

/* Counts the logs, and removes those that are too old or exceed the quota. */
void store_tidy(struct store *store, const struct config *config);

#endif
