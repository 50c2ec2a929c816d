/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stacks.h - the call stacks of a log. An event cpu.stack has the number and the frames of a stack.
 * Another event refers to the stack by this number, in a field named stack. The event cpu.stack
 * precedes the first event that refers to it.
 *
 * A log may be hostile: a number may have any value, and a stack may be missing.
 */
#ifndef POSIXTRACE_LOG_STACKS_H
#define POSIXTRACE_LOG_STACKS_H

#include "base/table.h"
#include "log/logfile.h"

#define STACKS_EVENT "cpu.stack"
#define STACKS_FIELD "stack"
#define STACKS_SAMPLE "cpu.sample"
/*
 * An address from here on is the begin of a function of the kernel. The object with this address in
 * process 0 has the name of the function.
 */
#define STACKS_KERNEL (UINT64_C(1) << 63)
#define STACKS_UNKNOWN UINT32_MAX /* the number in an event that has no stack */

static inline bool stacks_is_kernel(uint64_t address)
{
	return address >= STACKS_KERNEL;
}

/* The stacks of one log. A struct of all zeros has no stacks. */
struct stacks {
	struct stacks_entry {
		uint32_t number, count;
		size_t first;      /* in frame */
	} *entry;
	size_t entries;
	uint64_t *frame;
	size_t frames;
	struct table table;
	/* by id of a type: index of its field 'stack' + 1; -1: no such field, 0: unknown */
	signed char *place;
	size_t places;
	/* a limit is reached or memory is lacking, so further stacks are not kept */
	bool is_full;
};

/* One stack. */
struct stacks_found {
	const uint64_t *frame;     /* the innermost first; valid until the next stacks_take() */
	size_t count;
	uint32_t number;
	/*
	 * If true, the thread was at the instruction with the first address, as in a sample. If
	 * false, the first address is one to which a call returns. All further addresses are such
	 * addresses in both cases.
	 */
	bool is_exact;
};

/*
 * These functions also work for events that are not from a log. stacks_is_type() returns whether
 * the type is that of the events cpu.stack, which have the frames of stacks. stacks_field() returns
 * the index of the field by which the events of a type refer to a stack, or -1. stacks_keep() keeps
 * the stack of an event cpu.stack. stacks_get() finds the stack to which an event refers by its
 * field; it returns false if there is none.
 */
bool stacks_is_type(const char *name, const struct posix_trace_schema_np *schema);
int stacks_field(const char *name, const struct posix_trace_schema_np *schema);
void stacks_keep(struct stacks *stacks, const struct posix_trace_schema_np *schema,
		 const void *data, size_t len);
bool stacks_get(const struct stacks *stacks, const char *name,
		const struct posix_trace_schema_np *schema, int field, const void *data, size_t len,
		struct stacks_found *found);

/* Finds a stack by its number. Returns false if there is none. */
bool stacks_number(const struct stacks *stacks, uint32_t number, struct stacks_found *found);

/* If the event is a cpu.stack, keeps its stack and returns true. Otherwise returns false. */
bool stacks_take(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event);

/* Finds the stack to which an event refers. Returns false if there is none. */
bool stacks_find(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event, struct stacks_found *found);

/*
 * Keeps the stacks of events before a time. A reader that begins at this time by logfile_window()
 * needs them, because events may refer to a stack that was recorded long before. If the log has
 * stacks, the function reads the log from its first event up to this time, and then rewinds it.
 * Returns 0 or an error number.
 */
int stacks_before(struct stacks *stacks, struct logfile *log, int64_t begin_ns);

/* Frees the memory. Afterwards the struct has no stacks. */
void stacks_fini(struct stacks *stacks);

#endif
