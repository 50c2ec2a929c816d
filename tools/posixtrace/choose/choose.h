/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choose.h - which events a dump shows: by name, process, thread and time.
 */
#ifndef POSIXTRACE_CHOOSE_CHOOSE_H
#define POSIXTRACE_CHOOSE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

struct log_type;
struct logfile;

/* Growing lists of what the command line gave; empty means any. */
struct choose_names {
	const char **glob;
	size_t count;
};

struct choose_numbers {
	pid_t *number;
	size_t count;
};

struct choose {
	struct choose_names include, exclude;
	struct choose_numbers pid, tid;
	int64_t begin_ns, end_ns; /* both included */
};

void choose_init(struct choose *choose);
void choose_fini(struct choose *choose);

/* False: no memory; for a number also: not one. */
bool choose_add_name(struct choose_names *names, const char *glob);
bool choose_add_number(struct choose_numbers *numbers, const char *text);

bool choose_type(const struct choose *choose, const char *name);

/* The event's process, thread and time; its type is asked once for each type. */
bool choose_event(const struct choose *choose, const struct posix_trace_event_np *event);

/* Warns of names that no event type of the logs has: they are probably mistyped. */
void choose_say_unknown(const struct choose *choose, const struct logfile *const *log, size_t logs);

#endif
