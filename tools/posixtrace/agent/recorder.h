/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recorder.h - the flight recorder of one process. It consists of a stream with the policy LOOP,
 * whose memory is in the process, and of a log in flight/. When the stream ends, the agent writes
 * its content to this log.
 *
 * If the agent is killed, the guardian of the log writes the content of the stream to the log. If
 * the process is killed, the agent still has the memory of the stream. A snapshot copies the stream
 * while the process continues to write.
 *
 * The functions print errors. Only one thread uses a recorder.
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

/*
 * The event that the agent itself records at the beginning of a recording, at a snapshot and at the
 * end, and after a time in which the process was not recorded. Its data has the reason.
 */
#define RECORDER_EVENT	"posixtrace_agent"
#define RECORDER_SCHEMA "str what; str trigger; str reason"

/*
 * The time for which a stream continues after its agent was killed. If the next agent starts within
 * this time, no event is missed between the two streams.
 */
#define RECORDER_LINGER_MS 10000

/* size of the text with the reason why a process has no recorder or no watch */
#define RECORDER_REASON 400

struct recorder {
	struct config *config; /* the configuration with which the recorder began */
	const struct config_record *record;
	pid_t pid;
	uint64_t start;
	int pidfd;
	char program[PROCESS_NAME_BYTES];
	char *executable;
	struct store_flight flight;
	char name[STORE_NAME_BYTES]; /* name of the file in flight/, and of the stream */
	char *path;
	int fd;
	struct capture_plan plan;
	struct capture capture;
	struct inject inject;
	struct watch *watch;	       /* NULL: none */
	/*
	 * If the configuration requires a watch, and the watch could not begin: why not, and when
	 * the agent tries again. Otherwise the text is empty.
	 */
	char unwatched[RECORDER_REASON];
	int64_t wait_ns;	   /* the time between the last and the next attempt */
	int64_t again_ns, said_ns; /* CLOCK_MONOTONIC; said_ns: see agent_is_due() */
	/* the counts at the last recorder_count_all(), and those already added to the metrics */
	struct metrics_record seen, counted;
};

/*
 * The result of recorder_begin() and recorder_watch(). RECORDER_FULL: the user has no stream left,
 * see TRACE_SYS_MAX.
 */
enum recorder_begun { RECORDER_BEGUN, RECORDER_FAILED, RECORDER_FULL, RECORDER_GONE };

/*
 * Begins to record a process. If the library must be loaded into the process, this may take
 * seconds. RECORDER_GONE means that the process has ended meanwhile; no message is printed.
 */
enum recorder_begun recorder_begin(struct recorder **recorder, struct config *config,
				   const struct store *store, const struct found *found);

/* If the process has ended, stores its status in *ended and returns true. */
bool recorder_has_ended(const struct recorder *recorder, struct ended *ended);

/*
 * Maintains the stream. Must be called from time to time. Returns false if the stream can no longer
 * be used.
 */
bool recorder_look(struct recorder *recorder);

/*
 * If capture.budget is not NULL, recorder_look_budget() must be called every RECORDER_BUDGET_MS
 * milliseconds. Returns false after it printed an error.
 */
#define RECORDER_BUDGET_MS 50
bool recorder_look_budget(struct recorder *recorder);

/*
 * Stores the account of each stream, as an observer reads it, in the member seen. The function is
 * an observer, because the functions for the creator of a stream would read its events, and these
 * events would be lost if the agent were killed (lib/flush/checkpoint.h).
 */
void recorder_count_all(struct recorder *const *recorder, size_t recorders);

/* Records an event RECORDER_EVENT in the stream. */
void recorder_note(const struct recorder *recorder, const char *what, const char *trigger,
		   const char *reason);

/* A recorder whose stream is written as a log, and the result. */
struct recorder_log {
	struct recorder *recorder;
	bool is_tried, is_written;
	char *path; /* of the log, or NULL; the caller frees it */
};

/*
 * Writes the content of the stream of each recorder in the list as a log in the store, and
 * continues recording. The logs have only the events of the last last_ns nanoseconds, or all events
 * if last_ns is 0. The caller sets the member "recorder" of each element, and the other members to
 * 0; the function sets them. Prints errors.
 */
void recorder_snapshot(struct recorder_log *list, size_t count, struct store *store,
		       const struct config *config, const char *trigger, const char *reason,
		       int64_t last_ns);

/*
 * Begins, renews or ends the watch of the process, as this configuration requires. If the watch
 * cannot begin, prints an error and returns RECORDER_FAILED or RECORDER_FULL. The recording then
 * continues without the watch.
 */
enum recorder_begun recorder_watch(struct recorder *recorder, const struct config *config,
				   struct metrics *metrics);

/* Adds the growth of the member seen, and of the watch, since the last call to the metrics. */
void recorder_add_counts(struct recorder *recorder, struct metrics *metrics);

/*
 * Ends the recording and frees the recorder. If "trigger" is NULL, removes the log. Otherwise
 * records the reason in the log, and keeps the log in the store. In this case *path becomes the
 * path of the log, which the caller frees, or NULL after an error was printed. *ended has the
 * status of the ended process. "ended" is NULL if the process has not ended. last_ns has the same
 * meaning as for recorder_snapshot().
 */
void recorder_end(struct recorder *recorder, struct store *store, const struct config *config,
		  struct metrics *metrics, const struct ended *ended, const char *trigger,
		  const char *reason, int64_t last_ns, char **path);

#endif
