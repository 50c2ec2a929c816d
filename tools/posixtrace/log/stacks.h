/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stacks.h - the call stacks of a log. An event cpu.stack has the frames of a number; an event with
 * a field named stack refers to that number. The stack precedes the first event that refers to it.
 *
 * The log is hostile: numbers may be any, and a stack may be missing.
 */
#ifndef POSIXTRACE_LOG_STACKS_H
#define POSIXTRACE_LOG_STACKS_H

#include "base/table.h"
#include "log/logfile.h"

#define STACKS_EVENT "cpu.stack"
#define STACKS_FIELD "stack"
#define STACKS_SAMPLE "cpu.sample"

/* The stacks of one log. All zeros: none yet. */
struct stacks {
	struct stacks_entry {
		uint32_t number, count;
		size_t first;      /* in frame */
	} *entry;
	size_t entries;
	uint64_t *frame;
	size_t frames;
	struct table table;
	signed char *place; /* by id of a type: index of the field + 1; -1: none, 0: unknown */
	size_t places;
	bool is_full;              /* further stacks are not kept */
};

/* One stack. */
struct stacks_found {
	const uint64_t *frame;     /* the innermost first; valid until the next stacks_take() */
	size_t count;
	uint32_t number;
	/*
	 * The first address is the instruction that the thread executed, as in a sample. All others
	 * are those to which calls return.
	 */
	bool is_exact;
};

/*
 * For events of any source: whether a type is that of stacks; the index of a type's field that
 * refers to a stack, or -1; keeps the stack of an event of the first; finds the stack of an event
 * of the second, and returns false if there is none.
 */
bool stacks_is_type(const char *name, const struct posix_trace_schema_np *schema);
int stacks_field(const char *name, const struct posix_trace_schema_np *schema);
void stacks_keep(struct stacks *stacks, const struct posix_trace_schema_np *schema,
		 const void *data, size_t len);
bool stacks_get(const struct stacks *stacks, const char *name,
		const struct posix_trace_schema_np *schema, int field, const void *data, size_t len,
		struct stacks_found *found);

/* Finds a stack by its number. */
bool stacks_number(const struct stacks *stacks, uint32_t number, struct stacks_found *found);

/* Keeps the stack if the event is one. Returns whether it is. */
bool stacks_take(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event);

/* Finds the stack to which an event refers. Returns false if there is none. */
bool stacks_find(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event, struct stacks_found *found);

/*
 * Keeps the stacks before a time, for a reader that begins there with logfile_window(): events may
 * refer to a stack that was stored long before. Returns 0 or an error number. It reads the log from
 * its first event, but only if the log has stacks.
 */
int stacks_before(struct stacks *stacks, struct logfile *log, int64_t begin_ns);

/* Frees the memory; there are no stacks. */
void stacks_fini(struct stacks *stacks);

#endif
