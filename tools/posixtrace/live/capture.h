/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * capture.h - creates a stream with a log for another process, by a plan, and handles it until the
 * log is complete.
 */
#ifndef POSIXTRACE_LIVE_CAPTURE_H
#define POSIXTRACE_LIVE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#include "base/option.h"
#include "choose/choose.h"
#include "live/admit.h"
#include "live/budget.h"
#include "live/ended.h"
#include "log/shimloss.h"

/* When the recording begins another log, and which logs it removes (rotation.h). 0: no limit. */
struct rotation_plan {
	size_t size;       /* bytes of a log */
	int64_t span_ns;   /* time of a log */
	int64_t keep_ns;   /* age of a log that is complete */
	size_t keep_bytes; /* of all logs together */
};

static inline bool rotation_is_wanted(const struct rotation_plan *plan)
{
	return plan->size || plan->span_ns;
}

struct capture_plan {
	pid_t pid;
	const char *path;    /* of the log; not owned */
	struct choose choose;
	/*
	 * names of event types that the program will probably use, with a null pointer at the end;
	 * or NULL
	 */
	const char *const *known;
	const char *families; /* of --trace, for a running process; NULL: the default */
	bool inherit;
	bool quiet;          /* print errors, warnings and losses only */
	bool looks_at_blocked; /* see live/blocked.h */
	int64_t duration_ns; /* 0: no limit */
	int stream_policy, log_policy;
	size_t stream_size;  /* in bytes */
	const char *size_key; /* the option or key that sets stream_size, for messages */
	size_t log_size;     /* in bytes; 0: the library's default */
	double budget;       /* of --budget: a share of the processor time; 0: no limit */
	/* of --data and --stack: number of bytes that an event has behind its fields */
	uint64_t content;
	int compression;     /* level of zstd for the log; 0: none */
	struct rotation_plan rotate;
};

#define CAPTURE_STREAM_SIZE ((size_t)4 << 20)
#define CAPTURE_COMPRESSION 1 /* the level of --compress without a level */

#define CAPTURE_PLAN_DEFAULT { \
	.stream_policy = POSIX_TRACE_FLUSH, \
	.log_policy = POSIX_TRACE_APPEND, \
	.stream_size = CAPTURE_STREAM_SIZE, \
	.size_key = "--size", \
}

/* Patterns of the event types of the shim, which shells offer for --event. */
#define CAPTURE_PATTERNS \
	"alloc.* dl.* file.* func.* io.* ipc.* lock.* net.* process.* signal.* stdio.* thread.* " \
	"time.*"

#define CAPTURE_COMPRESS_HELP \
	"compress the log by zstd; level 1 (the default) to 19, the smallest, or -1 to -20, the " \
	"fastest"

/* The rows for -e and -x of the commands record and attach. */
extern const struct option_row capture_rows[];

/*
 * These functions process values of options. Each returns false after it printed an error.
 * capture_is_possible() checks the options together.
 */
bool capture_take_event(struct capture_plan *plan, const char *glob);
/* The pattern of --event, which excludes types if it begins with "!". */
bool capture_take_pattern(struct capture_plan *plan, const char *glob);
bool capture_take_exclude(struct capture_plan *plan, const char *glob);
bool capture_take_policy(struct capture_plan *plan, const char *name);
bool capture_take_log_policy(struct capture_plan *plan, const char *name);
/*
 * Stores a level of zstd in *result; "level" NULL means the default. Returns false after it printed
 * an error, which begins with the name of the option.
 */
bool capture_level(const char *option, const char *level, int *result);
/* Processes --compress[=LEVEL]. If LEVEL is not given, level is NULL. */
bool capture_take_compress(struct capture_plan *plan, const char *level);
bool capture_is_possible(const struct capture_plan *plan, const char *command);

/*
 * Returns whether the log keeps each event that it gets: the stream overwrites no events, and the
 * log is never full.
 */
static inline bool capture_keeps(const struct capture_plan *plan)
{
	return plan->stream_policy != POSIX_TRACE_LOOP && plan->log_policy == POSIX_TRACE_APPEND;
}

struct capture {
	const struct capture_plan *plan;
	struct admit admit;
	trace_id_t trid;
	struct budget *budget; /* NULL: no limit */
	int err;	       /* if capture_begin() failed: the error of the stream, or 0 */
	bool log_failed; /* the log cannot be written; the error was printed */
	/* the number of the process in its own namespace of process IDs, which its events have */
	pid_t inner_pid;
	int64_t next_look_ns; /* of capture_look_if_due() */
	bool has_limit;  /* the process has a limit of its memory */
	char limit[300]; /* of target_short_limit(): the last text that was not empty */
};

struct capture_result {
	/* false: the log has no ledger, because it could not be completed; all counts are 0 */
	bool has_counts;
	bool is_complete;    /* the log was completed */
	struct posix_trace_ledger_np ledger; /* of the log */
	struct shimloss shim; /* calls that the ledger does not count */
	uint64_t bytes;
	/*
	 * the number of all logs, of the logs that were removed, and of the events in these; all
	 * are 0 without --rotate-size and --rotate-time
	 */
	uint64_t logs, removed, removed_events;
	/* how the traced process ended, for the output; empty: the output does not have it */
	char end[2 * ENDED_TEXT];
};

/* Returns whether events or calls were lost, for --fail-on-loss. */
bool capture_has_lost(const struct capture_result *result);

/*
 * The functions below that return int return an exit status. If they fail, they have printed an
 * error.
 */

/* Creates the stream with its log in the file fd, sets the filter and starts it. */
int capture_begin(struct capture *capture, const struct capture_plan *plan, int fd);

/*
 * Updates the filter, and checks that the log can be written. The function must be called from time
 * to time.
 */
int capture_look(struct capture *capture);

/* The longest time between two looks if there is a filter, so that it soon has a new event type. */
#define CAPTURE_FILTER_MS 20

/*
 * Calls capture_look() if the last call was 15 ms ago, with a filter, or 100 ms ago, without one.
 * Otherwise only keeps the budget. A loop that also looks at the kernel's records may run every 10
 * ms, and a look at the stream costs more processor time than a look at the kernel's memory.
 */
int capture_look_if_due(struct capture *capture);

/*
 * Keeps the budget. If capture->budget is not NULL, this function must be called more often than
 * capture_look(), which also calls it.
 */
int capture_look_budget(struct capture *capture);

/*
 * Records a fact that the recorder knows, unless the patterns of the plan exclude such events. The
 * function also opens the event type and gives it the schema. Errors have no effect on the trace.
 */
void capture_note(struct capture *capture, const char *name, const char *schema, const void *data,
		  size_t len);
/* Records how a process ended, unless the patterns of the plan exclude such events. */
void capture_note_end(struct capture *capture, pid_t pid, const struct ended *ended);

/*
 * Stops the stream, flushes it to the log and shuts it down. The function may also be called after
 * the end of the traced process.
 */
int capture_finish(struct capture *capture);

/*
 * Reads the result from the log itself, so that later readers of the log find the same counts. If
 * events were lost for lack of memory, prints "limit", the text of the member limit of struct
 * capture, which may be empty. "path" is the name of the log.
 */
int capture_read_back(const struct capture_plan *plan, const char *path, const char *limit, int fd,
		      struct capture_result *result);

/*
 * Reads the counts of a log. If the log has no ledger, returns TOOL_DAMAGED. capture_add() adds the
 * counts to those of other logs of the recording. If the counts of one log are not known, the sums
 * are not known either.
 */
int capture_read_log(const char *path, int fd, struct capture_result *result);
void capture_add(struct capture_result *to, const struct capture_result *result);
/* Adds events that could not be written to any log. */
void capture_add_lost(struct capture_result *to, uint64_t events);

/*
 * The state of the stream that this process has created, as an observer sees it. The process
 * creates at most one stream. If it has none, all members are 0.
 */
struct capture_own {
	bool waiting;   /* the traced process does not use the library yet */
	size_t members; /* processes that inherited the stream */
};
struct capture_own capture_look_at_own(void);

/*
 * Prints why there is no memory for a stream of this size: a lack of memory, or a refused call.
 * "size_key" is the option or key that sets the size.
 */
void capture_say_no_memory(pid_t pid, size_t bytes, const char *size_key);

/* Returns whether an error concerns the file of the log, and not the process or its stream. */
bool capture_is_of_log(int err);

/* Prints why a stream for the process cannot be created if the error is EAGAIN. */
void capture_say_too_many(pid_t pid);

/*
 * Prints a message if the process of the stream does not use the library, so that no event can
 * arrive.
 */
void capture_say_waiting(pid_t pid);

/*
 * Writes "LOG: program exited with 0: 12 events, 3 lost (stream full 3), 4567 bytes" as a line. If
 * calls were not traced, "calls not traced: 2 holds of locks, " precedes the number of bytes.
 */
struct out;
void capture_result_text(struct out *out, const char *path, const struct capture_result *result);

#endif
