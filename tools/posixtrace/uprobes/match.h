/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * match.h - combines the records of the beginnings and ends of functions to calls.
 *
 * A call is identified by its stack and by the place of its return address in this stack. Each
 * thread has a stack. Each goroutine also has a stack of its own, independent of the thread that
 * executes the goroutine. The stack of a goroutine is moved when it grows, so places in it are
 * measured from its upper end.
 *
 * For each recorded beginning of a call, exactly one call is reported. Its end is one of these:
 *
 * 	a return        the function executes a return instruction
 * 	a jump          the function ends with a jump to another function (tail call). If the other
 * 			function is recorded, too, both calls end with the return of the other
 * 			function. Otherwise the call ends with the jump.
 * 	found later     an exception, longjmp() or a jump through a pointer has left the function.
 * 			This is noticed when the thread begins or ends a call nearer to the
 * 			beginning of the stack. That time counts as the end, unless the function
 * 			returns later nevertheless, as in a coroutine.
 * 	none            the thread, the process or the recording has ended before the function: the
 * 			member is_open is true.
 *
 * The return of a call whose beginning was not recorded is ignored.
 *
 * Threads  one thread uses these functions.
 */
#ifndef POSIXTRACE_UPROBES_MATCH_H
#define POSIXTRACE_UPROBES_MATCH_H

#include "base/table.h"
#include "uprobes/uprobes.h"

enum match_kind {
	MATCH_BEGIN,  /* the function begins; the stack pointer is at its return address */
	MATCH_RETURN, /* the function returns; the stack pointer is again at its return address */
	MATCH_JUMP,   /* the function jumps to "target", if "condition" holds */
	MATCH_OTHER,  /* neither the beginning nor the end of a function */
};

#define MATCH_ALWAYS 0xff

struct match_place {
	uint8_t kind, condition; /* condition: 4 bits of the jump's opcode, or MATCH_ALWAYS */
	bool is_go;
	uint64_t address;        /* address of the place in the file */
	uint64_t function;       /* address of the function in the file */
	/*
	 * the target of a jump. For MATCH_BEGIN, "target" and "condition" describe the first
	 * instruction. If it is a return, "target" is 0 and "condition" is MATCH_ALWAYS. If it is
	 * neither a jump nor a return, both are 0.
	 */
	uint64_t target;
};

/*
 * The result of a function. If "number" is a pointer to a text, "text" may be this text. Otherwise
 * "text" is NULL.
 */
struct match_result {
	uint64_t number;
	const char *text;
};

struct match_call {
	/* the thread that ended the call; if is_open is true, the thread that began it */
	pid_t pid, tid;
	uint32_t place;          /* index of the place of the beginning */
	/* the data of the beginning, which has the arguments; NULL: none */
	const void *data;
	const struct match_result *result; /* NULL: the function did not return */
	uint64_t begin_ns, end_ns;
	uint64_t function, caller; /* addresses in the process; caller: the return address */
	/* number of calls that were active in the stack when the call began */
	uint32_t depth;
	bool is_open;
};

struct match {
	const struct match_place *place;
	size_t places;
	void (*take)(void *arg, const struct match_call *call);
	void *arg;
	struct match_stack *stack;
	/* number of elements of "stack", with those that are not used */
	size_t stacks;
	size_t first_free, free_stacks; /* the first element that is not used; their number */
	struct table of_stack;
	uint64_t lost; /* number of calls whose beginning was dropped because memory was lacking */
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
 * Processes a record of the kind SYSCALLS_TRAP, SYSCALLS_NEW, SYSCALLS_EXEC or SYSCALLS_DEAD. The
 * caller passes the records in their order. "data" is memory from malloc(3), or NULL. If the record
 * is the beginning of a call, the call keeps "data" until take() has returned. match.c frees "data"
 * in every case. "text" is the text that a function returns, or NULL.
 */
void match_record(struct match *match, const struct syscalls_record *record, void *data,
		  const char *text);

/*
 * Reports all calls that were not reported yet, those that are active as open calls. Frees all
 * memory.
 */
void match_end(struct match *match, uint64_t now_ns);

#endif
