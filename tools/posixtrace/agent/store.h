/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * store.h - the folder of the agent, which one agent uses at a time. It contains:
 *
 *   lock       locked while an agent runs, with its process id
 *   control    the socket for agent --snapshot and --status
 *   flight/    a log for each recorded process: RECORD.PID.MILLISECONDS.ptl
 *   logs/      the logs that triggers have written: TIME-RECORD-PID-TRIGGER.ptl; with the key spool
 *              also accounts of logs that were removed: TIME-RECORD-PID-TRIGGER.ptl.account
 *
 * The quota limits only logs/. In logs/, the agent removes only files whose names it could have
 * made.
 *
 * The functions print errors. Only one thread uses a store.
 */
#ifndef POSIXTRACE_AGENT_STORE_H
#define POSIXTRACE_AGENT_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct config;

struct store {
	char *folder;
	int dir; /* dir, lock, flight and logs are descriptors; -1: not open */
	int lock;
	int flight, logs;
	/*
	 * number of the logs in logs/, and bytes of logs and accounts, according to the agent's own
	 * count
	 */
	uint64_t count, bytes;
	/*
	 * Numbers of logs since the agent began: removed for the quota, expired, and refused
	 * because of the quota.
	 */
	uint64_t removed, expired, refused;
	/*
	 * The states of two messages, so that each is printed only once. unreadable: the number of
	 * logs in logs/ that could not be opened for their account in the last make_room().
	 * has_waiting: a log in flight/ waits for its account.
	 */
	size_t unreadable;
	bool has_waiting;
	bool has_excess; /* the message that the quota is exceeded was printed */
	/* the message was printed that a removed folder cannot be made again */
	bool is_missing;
};

#define STORE_NAME_BYTES 160

/*
 * Makes the folders that are missing, so that only their owner can use them, and locks the store.
 * Returns TOOL_OK, or TOOL_FAILURE after it printed the reason. A reason may be that another agent
 * uses the folder, or that another user owns it or can write to it.
 */
int store_open(struct store *store, const char *folder);
void store_close(struct store *store);

enum store_change {
	STORE_SAME,
	STORE_MISSING,    /* the folder was removed, and cannot be made or used now */
	STORE_NEW_FLIGHT, /* flight/ was removed or replaced; the store uses a new one */
	STORE_NEW_FOLDER  /* the same for the whole folder; the caller makes other files again */
};

/*
 * If the folder, lock, flight/ or logs/ was removed or replaced since it was opened, makes and
 * opens it again. Without this function the store would continue in a folder that no path leads to.
 * Prints what happened.
 */
enum store_change store_check(struct store *store);

/*
 * Opens the folder for a client of the agent. The client must be the owner of the folder or root,
 * or root must own the folder. Returns a descriptor, or -1 after it printed an error.
 */
int store_open_client(const char *folder);

/* Parts of the name of a file in flight/. */
struct store_flight {
	char record[40];
	pid_t pid;
	int64_t ms; /* begin of the recording in milliseconds since 1970 */
};

/* Writes the name of a file in flight/, without the folder. */
void store_flight_name(char name[STORE_NAME_BYTES], const struct store_flight *flight);
/* Parses the name of a file in flight/. Returns false if the name has another form. */
bool store_flight_parse(const char *name, struct store_flight *flight);

/* Creates a file in flight/. Returns its descriptor, or -1 after it printed an error. */
int store_create(const struct store *store, const char *name);
/* Removes a file of flight/. */
void store_drop(const struct store *store, const char *name);

enum store_result {
	STORE_KEPT,
	STORE_REFUSED, /* the quota has refused the log, which is removed */
	STORE_FAILED,  /* the log could not be moved and remains in flight/ */
	/*
	 * The quota refuses the log, but its account cannot be written now. The log remains in
	 * flight/, and the caller must call the function again.
	 */
	STORE_LATER
};

/*
 * Moves a log that is no longer written from flight/ to logs/, and stores its new path in *path,
 * which the caller frees. *path is NULL if the log is not moved, or if memory is lacking. Before
 * the move, the function removes the oldest logs until the quota has room for the new log, if the
 * configuration permits it. If the log is not kept, the function prints the reason, but the reason
 * for STORE_LATER only once.
 */
enum store_result store_keep(struct store *store, const struct config *config, const char *name,
			     const struct store_flight *flight, const char *trigger, char **path);

/* Returns the current time in milliseconds since 1970, which names and ages of files use. */
int64_t store_now_ms(void);

/* Counts the logs, and removes logs that are too old or exceed the quota. */
void store_tidy(struct store *store, const struct config *config);

#endif
