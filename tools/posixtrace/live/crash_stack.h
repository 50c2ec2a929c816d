/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_stack.h - the whole stack of the thread that crashed.
 *
 * A recursion without end has hundreds of thousands of frames. The innermost and the outermost
 * frames are kept, and the functions that occur several times are counted.
 */
#ifndef POSIXTRACE_LIVE_CRASH_STACK_H
#define POSIXTRACE_LIVE_CRASH_STACK_H

#include "live/crash_unwind.h"

#define CRASH_INNER 64 /* the innermost frames that are kept */
#define CRASH_OUTER 16 /* the outermost frames that are kept, if the stack has more */
#define CRASH_FUNCTIONS 8
#define CRASH_SAVED 12 /* the most registers that a called function preserves */

/* A function with several frames. */
struct crash_repeat {
	uint64_t times;   /* number of its frames */
	uint64_t address; /* the address that most of these frames have */
	char function[256], module[256];
};

struct crash_stack {
	struct crash_frame frame[CRASH_INNER + CRASH_OUTER];
	uint64_t number[CRASH_INNER + CRASH_OUTER]; /* 0: the innermost */
	unsigned frames;
	uint64_t total;  /* number of all frames */
	bool is_cut;     /* the walk was ended before the outermost frame */
	struct crash_repeat repeat[CRASH_FUNCTIONS]; /* the most frequent function first */
	unsigned repeats;
	/*
	 * If has_thrown is true, a function that throws a C++ exception is active. The first
	 * "thrown" elements of "saved" are the registers of this function that are known.
	 * thrower_sp is its stack pointer; 0: not known
	 */
	bool has_thrown;
	uint64_t saved[CRASH_SAVED], thrower_sp;
	unsigned thrown;
};

/* Walks through the stack of a stopped thread. Returns NULL if memory is lacking. */
struct crash_stack *crash_stack_read(const struct unwind *unwind, pid_t tid);

/* Returns the innermost frame of a function, or -1. */
int crash_stack_find(const struct crash_stack *stack, const char *function);

#endif
