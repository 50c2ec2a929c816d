/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* choose.h - the choice of events by name, process, thread and time. */
#ifndef POSIXTRACE_CHOOSE_CHOOSE_H
#define POSIXTRACE_CHOOSE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

struct log_type;
struct logfile;

/*
 * Lists of values from the command line, to which values can be added. An empty list does not
 * restrict the choice.
 */
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
	/* nanoseconds since 1970; events at these two times are chosen, too */
	int64_t begin_ns, end_ns;
};

/* choose_init() makes a choice of all events; choose_fini() frees its lists. */
void choose_init(struct choose *choose);
void choose_fini(struct choose *choose);

/*
 * These functions add a value to a list. They return false if memory is lacking.
 * choose_add_number() also returns false if 'text' is not a number. 'glob' is not copied.
 */
bool choose_add_name(struct choose_names *names, const char *glob);
bool choose_add_number(struct choose_numbers *numbers, const char *text);

/* Returns true if the patterns choose the event type with this name. */
bool choose_type(const struct choose *choose, const char *name);

/* Returns true if a pattern of -x matches the name. */
bool choose_excludes(const struct choose *choose, const char *name);

/*
 * Returns true if the options choose the event's process, thread and time. The caller checks the
 * type once for each type, with choose_type().
 */
bool choose_event(const struct choose *choose, const struct posix_trace_event_np *event);

/*
 * Prints the patterns that match no event type of the logs, since such patterns are probably
 * mistyped.
 */
void choose_say_unknown(const struct choose *choose, const struct logfile *const *log, size_t logs);

#endif
