/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * match.h - combines the records of begins and ends of functions to calls.
 *
 * A call is identified by its stack and by the place of its return address there. Each thread has a
 * stack. A goroutine has a stack of its own, no matter which thread runs it. This stack is moved
 * when it grows, so places in it are measured from its upper end.
 *
 * The begin of each call leads to exactly one call that is reported. The end is
 *
 * 	a return        the function executes a return instruction
 * 	a jump          it ends with a jump to another function (tail call). If that function is
 * 			recorded too, both calls end with its return, otherwise with the jump.
 * 	found later     an exception or longjmp() has left the function, or a jump through a
 * 			pointer. This is noticed when the thread begins or ends a call nearer to the
 * 			begin of the stack. That time is the end, unless the function returns later
 * 			after all, as in a coroutine.
 * 	none            the thread, the process or the recording has ended before: is_open.
 *
 * Returns of calls whose begin was not recorded are ignored.
 *
 * Threads  one thread uses these functions.
 */
#ifndef POSIXTRACE_UPROBES_MATCH_H
#define POSIXTRACE_UPROBES_MATCH_H

#include "base/table.h"
#include "uprobes/uprobes.h"

enum match_kind {
	MATCH_BEGIN,  /* the function begins; the stack pointer is at its return address */
	MATCH_RETURN, /* the function returns; the stack pointer is there again */
	MATCH_JUMP,   /* the function jumps to "target", if "condition" holds */
	MATCH_OTHER,  /* no begin or end of a function */
};

#define MATCH_ALWAYS 0xff

struct match_place {
	uint8_t kind, condition; /* condition: 4 bits of the jump's opcode, or MATCH_ALWAYS */
	bool is_go;
	uint64_t address;        /* of the place in the file */
	uint64_t function;       /* of the function in the file */
	/*
	 * the target of a jump. For MATCH_BEGIN, "target" and "condition" describe the first
	 * instruction: if it is a return, "target" is 0; if it is neither a jump nor a return, both
	 * are 0.
	 */
	uint64_t target;
};

/*
 * The result of a function. If "number" is a pointer, "text" may be the text to which it points;
 * NULL: not read.
 */
struct match_result {
	uint64_t number;
	const char *text;
};

struct match_call {
	/* the thread that ended the call; if is_open: the one that began it */
	pid_t pid, tid;
	uint32_t place;          /* index of the place of the begin */
	const void *data;        /* the data of the begin, which has the arguments; NULL: none */
	const struct match_result *result; /* NULL: the function did not return */
	uint64_t begin_ns, end_ns;
	uint64_t function, caller; /* addresses in the process; caller: where the call returns to */
	uint32_t depth;          /* calls that were active in the stack when it began */
	bool is_open;
};

struct match {
	const struct match_place *place;
	size_t places;
	void (*take)(void *arg, const struct match_call *call);
	void *arg;
	struct match_stack *stack;
	size_t stacks;                  /* elements of stack, with those that are not used */
	size_t first_free, free_stacks; /* the first element that is not used; their number */
	struct table of_stack;
	uint64_t lost; /* number of calls whose begin was dropped for lack of memory */
};

/*
 * Begins without stacks. The array "place" must exist as long as "match". take() gets each call
 * that is reported.
 */
void match_begin(struct match *match, const struct match_place *place, size_t places,
		 void (*take)(void *arg, const struct match_call *call), void *arg);

/* Replaces the array of places by a longer one that begins with the same places. */
void match_extend(struct match *match, const struct match_place *place, size_t places);

/*
 * Processes a record of kind SYSCALLS_TRAP, _NEW, _EXEC or _DEAD. The caller passes the records in
 * their order. "data" is memory from malloc(3), or NULL. If the record is a begin, the call keeps
 * "data" until take() has returned. This file frees "data" in each case. "text" is the text that a
 * function returns, or NULL.
 */
void match_record(struct match *match, const struct syscalls_record *record, void *data,
		  const char *text);

/* Reports the calls that are active as open ones, and frees all memory. */
void match_end(struct match *match, uint64_t now_ns);

#endif
