/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recorder.h - the flight recorder of one process: a stream with the policy LOOP, whose memory is
 * in the process, and a log in flight/ that gets the content of the stream at its end.
 *
 * If the agent is killed, the guardian of that log writes the content there. If the process is
 * killed, the agent still has the stream. A snapshot copies the stream while it is written.
 *
 * Functions print errors. One thread uses a recorder.
 */
#ifndef POSIXTRACE_AGENT_RECORDER_H
#define POSIXTRACE_AGENT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/config.h"
#include "agent/find.h"
#include "agent/metrics.h"
#include "agent/store.h"
#include "agent/watch.h"
#include "inject/inject.h"
#include "live/capture.h"
#include "live/process.h"

/* The agent's own event: the begin of a recording, a snapshot or the end, with the reason. */
#define RECORDER_EVENT	"posixtrace_agent"
#define RECORDER_SCHEMA "str what; str trigger; str reason"

/* How long a stream goes on after a kill of the agent, for the next agent to follow. */
#define RECORDER_LINGER_MS 10000

struct recorder {
	struct config *config; /* the one with which it began */
	const struct config_record *record;
	pid_t pid;
	uint64_t start;
	int pidfd;
	char program[PROCESS_NAME_BYTES];
	char *executable;
	struct store_flight flight;
	char name[STORE_NAME_BYTES]; /* of the file in flight/, and of the stream */
	char *path;
	int fd;
	struct capture_plan plan;
	struct capture capture;
	struct inject inject;
	struct watch *watch;	       /* NULL: none */
	struct metrics_record counted; /* the counts that the metrics have */
};

/* The result of an attempt to begin. */
enum recorder_begun { RECORDER_BEGUN, RECORDER_FAILED, RECORDER_GONE };

/*
 * Begins to record a process. It may take seconds if the library has to be loaded into the process.
 * RECORDER_GONE: the process has ended meanwhile, without a message.
 */
enum recorder_begun recorder_begin(struct recorder **recorder, struct config *config,
				   const struct store *store, const struct found *found);

/* Whether the process has ended; *ended has its status. */
bool recorder_has_ended(const struct recorder *recorder, struct ended *ended);

/* To be called from time to time. Returns false if the stream can no longer be used. */
bool recorder_look(struct recorder *recorder);

/*
 * Stores the account of the stream as an observer sees it, in the form of the metrics; zeros if the
 * process has ended. The functions of a stream's creator would read the stream, and what they have
 * read is lost if the agent is killed (lib/flush/checkpoint.h).
 */
void recorder_count(const struct recorder *recorder, struct metrics_record *counts);

/* Records an event RECORDER_EVENT. */
void recorder_note(const struct recorder *recorder, const char *what, const char *trigger,
		   const char *reason);

/*
 * Writes the content of the stream as a log of the store; recording goes on. Stores the path of the
 * log, which the caller frees. Returns false after a message.
 */
bool recorder_snapshot(struct recorder *recorder, struct store *store, const struct config *config,
		       const char *trigger, const char *reason, char **path);

/*
 * Begins, renews or ends the watch of the process, as this configuration requires. Without a watch,
 * after a message, recording goes on.
 */
void recorder_watch(struct recorder *recorder, const struct config *config,
		    struct metrics *metrics);

/* Adds the events since the last call to the metrics. */
void recorder_add_counts(struct recorder *recorder, struct metrics *metrics);

/*
 * Ends the recording and frees the recorder. If trigger is not NULL, the log gets the reason and is
 * kept in the store; *path is then its path, or NULL after a message, and the caller frees it.
 * ended: how the process ended; NULL: it has not.
 */
void recorder_end(struct recorder *recorder, struct store *store, const struct config *config,
		  struct metrics *metrics, const struct ended *ended, const char *trigger,
		  const char *reason, char **path);

#endif
