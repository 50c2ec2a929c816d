/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * select.h - selects the events of a report by templates: trcrpt's -d -k -p -T and times.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_SELECT_H
#define POSIXTRACE_REPORT_TEMPLATE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct select_type {
	const char *name;      /* without a NUL at its end; NULL: the number selects the type */
	size_t name_len;
	uint64_t number;
};

struct select_types {
	struct select_type *type;
	size_t count;
};

struct select_numbers {
	uint64_t *number;
	size_t count;
};

struct select {
	struct select_types only, but;
	struct select_numbers pids, tids;
	bool has_start, has_end;
	/* relative to the first event of the trace; the range includes both */
	int64_t start_ns, end_ns;
};

/* Frees the lists. */
void select_fini(struct select *select);

/*
 * Each of these functions adds the elements of a list with commas. If the list is invalid, it
 * prints a message with the option's name and returns false.
 */
bool select_add_types(struct select_types *types, const char *option, const char *list);
bool select_add_numbers(struct select_numbers *numbers, const char *option, const char *list);

/* Reads seconds, perhaps with a fraction, into *ns. Returns false if the text is wrong. */
bool select_seconds(const char *text, int64_t *ns);

/*
 * select_type() returns whether the options select a type. select_event() returns whether they
 * select an event of a selected type. Times are in nanoseconds.
 */
bool select_type(const struct select *select, const char *name, uint64_t number);
bool select_event(const struct select *select, uint64_t pid, uint64_t tid, __int128 elapsed_ns);

#endif
