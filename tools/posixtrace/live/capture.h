/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * capture.h - the stream with a log that a command has of another process: what it is to be, and
 * its life from its creation to the whole log.
 */
#ifndef POSIXTRACE_LIVE_CAPTURE_H
#define POSIXTRACE_LIVE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#include "choose/choose.h"
#include "live/admit.h"

struct capture_plan {
	pid_t pid;
	const char *path;
	struct choose choose;
	/* names of event types that are likely to come; null behind them */
	const char *const *known;
	bool inherit;
	int64_t duration_ns; /* 0: no end */
	int stream_policy, log_policy;
	size_t stream_size;
	size_t log_size;     /* 0: what the library takes */
};

#define CAPTURE_PLAN_DEFAULT { \
	.stream_policy = POSIX_TRACE_FLUSH, \
	.log_policy = POSIX_TRACE_APPEND, \
	.stream_size = (size_t)4 << 20, \
}

/* The plan as options tell it. False: that has been said. */
bool capture_take_event(struct capture_plan *plan, const char *glob);
bool capture_take_exclude(struct capture_plan *plan, const char *glob);
bool capture_take_policy(struct capture_plan *plan, const char *name);
bool capture_take_log_policy(struct capture_plan *plan, const char *name);
bool capture_is_possible(const struct capture_plan *plan, const char *command);

struct capture {
	const struct capture_plan *plan;
	struct admit admit;
	trace_id_t trid;
	bool log_failed; /* it cannot be written; that has been said */
};

struct capture_result {
	struct posix_trace_ledger_np ledger; /* of the log */
	uint64_t bytes;
};

/* These return TOOL_* and have said what is wrong. */

/* Whether it is traced from now on, into that descriptor. */
int capture_begin(struct capture *capture, const struct capture_plan *plan, int fd);

/* What is to be done from time to time: the filter, and whether the log can be written. */
int capture_look(struct capture *capture);

/* Everything that was recorded goes to the log, whatever has become of the traced process. */
int capture_finish(struct capture *capture);

/* What the log says of itself is what counts: who reads it will find the same. */
int capture_read_back(const struct capture_plan *plan, int fd, struct capture_result *result);

/* What others see of our stream; this process has no other one. */
struct capture_own {
	bool waiting;
	size_t members;
};

struct capture_own capture_look_at_own(void);

/* Says so if the process of our stream has no library that could record anything. */
void capture_say_waiting(pid_t pid);

/* "12 events, 3 lost (stream full 3), 4567 bytes" */
struct out;
void capture_result_text(struct out *out, const char *path, const struct capture_result *result);

#endif
