/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_stack.c - walks through a stack of any depth in bounded time and memory.
 *
 * A name costs more than a frame, so only the kept frames get names during the walk. The other
 * frames are counted by their address. A recursion has few different addresses.
 */
#include "live/crash_stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/until.h"

#define PLACES    1024 /* the most different addresses that are counted; a power of 2 */
#define WALK_NS   INT64_C(3000000000) /* the longest time of a walk */
#define WALK_LOOK 1024 /* frames between two looks at the clock */

/* the numbers in DWARF of the stack pointer, and of the registers that called functions preserve */
#if defined __x86_64__
# define SP_REGISTER 7
static const unsigned saved_registers[] = { 3, 6, 12, 13, 14, 15 };
#elif defined __aarch64__
# define SP_REGISTER 31
static const unsigned saved_registers[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28 };
#else
# define SP_REGISTER 0
static const unsigned saved_registers[] = { 0 };
#endif

/* An address, and the number of frames that have it. 'count' is 0 in a free place. */
struct place {
	uint64_t pc, address, count;
};

/* The state of a walk. */
struct stack_walk {
	const struct unwind *unwind;
	struct crash_stack *stack;
	struct unwind_step outer[CRASH_OUTER]; /* frame n is at n % CRASH_OUTER */
	struct place place[PLACES];
	unsigned places;
	int64_t end_ns;
};

/* Counts a frame. If the table is almost full, frames with new addresses are not counted. */
static void count_place(struct stack_walk *walk, const struct unwind_step *step)
{
	size_t at = (size_t)(step->pc * UINT64_C(0x9e3779b97f4a7c15) >> 32);
	struct place *place;

	for (;; at++) {
		place = &walk->place[at % PLACES];
		if (!place->count || place->pc == step->pc)
			break;
	}
	if (!place->count) {
		if (walk->places == PLACES / 2)
			return;
		walk->places++;
		*place = (struct place){ .pc = step->pc, .address = step->address };
	}
	place->count++;
}

/*
 * Returns whether a frame is one of a function. The next character after the name is not part of an
 * identifier.
 */
static bool is_frame_of(const struct crash_frame *frame, const char *function)
{
	const size_t len = strlen(function);

	return !strncmp(frame->function, function, len) &&
	       !isalnum((unsigned char)frame->function[len]) && frame->function[len] != '_';
}

/*
 * If the function of the frame throws an exception, keeps the values that the preserved registers
 * have in this frame. Only the innermost such frame counts.
 */
static void keep_registers(struct crash_stack *stack, const struct unwind_step *step)
{
	const struct crash_frame *frame = &stack->frame[stack->frames - 1];
	const size_t count = sizeof(saved_registers) / sizeof(*saved_registers);

	if (stack->has_thrown ||
	    !(is_frame_of(frame, "__cxa_throw") || is_frame_of(frame, "__cxa_rethrow") ||
	      is_frame_of(frame, "std::rethrow_exception")))
		return;
	stack->has_thrown = true;
	if (!unwind_register(step, SP_REGISTER, &stack->thrower_sp))
		stack->thrower_sp = 0;
	for (size_t i = 0; i < count && i < CRASH_SAVED; i++)
		if (unwind_register(step, saved_registers[i], &stack->saved[stack->thrown]))
			stack->thrown++;
}

/* The callback of unwind_walk(). */
static bool take_step(void *arg, const struct unwind_step *step)
{
	struct stack_walk *walk = arg;
	struct crash_stack *stack = walk->stack;

	if (stack->frames < CRASH_INNER) {
		stack->number[stack->frames] = stack->total;
		unwind_name(walk->unwind, step, &stack->frame[stack->frames++]);
		keep_registers(stack, step);
	} else {
		walk->outer[stack->total % CRASH_OUTER] = *step;
		if (stack->total % WALK_LOOK == 0 && until_now_ns() > walk->end_ns) {
			stack->is_cut = true;
			return false;
		}
	}
	count_place(walk, step);
	stack->total++;
	return true;
}

/* Returns the length of a function's name in the text of a frame. */
static size_t name_len(const char *function)
{
	const char *offset = strstr(function, "+0x");

	return offset ? (size_t)(offset - function) : strlen(function);
}

/* A function, and the frames that it has. */
struct counted {
	struct crash_frame frame;
	uint64_t begin;          /* of the function, if it has no name; 0: not known */
	uint64_t times, greatest; /* greatest: the count of frame.address */
};

static bool is_same(const struct counted *a, const struct counted *b)
{
	if (strcmp(a->frame.module, b->frame.module))
		return false;
	return *a->frame.function || *b->frame.function ?
		       !strcmp(a->frame.function, b->frame.function) :
	       a->begin ? a->begin == b->begin : a->frame.address == b->frame.address;
}

static int by_times(const void *a, const void *b)
{
	const struct counted *one = a, *two = b;

	return one->times < two->times ? 1 : -(one->times > two->times);
}

/* Adds up the counts of the addresses of each function, and stores the most frequent ones. */
static void add_repeats(const struct stack_walk *walk)
{
	struct counted *counted = calloc(walk->places + 1, sizeof(*counted));
	struct crash_stack *stack = walk->stack;
	size_t count = 0, same;

	for (size_t i = 0; counted && i < PLACES; i++) {
		const struct place *place = &walk->place[i];
		const struct unwind_step step = { .address = place->address, .pc = place->pc };
		struct counted *of = &counted[count];

		if (!place->count)
			continue;
		unwind_name(walk->unwind, &step, &of->frame);
		of->frame.function[name_len(of->frame.function)] = '\0';
		of->begin = *of->frame.function ? 0 : unwind_function(walk->unwind, place->pc);
		of->times = of->greatest = place->count;
		for (same = 0; !is_same(&counted[same], of); same++)
			;
		if (same == count) {
			count++;
			continue;
		}
		counted[same].times += place->count;
		if (place->count > counted[same].greatest) {
			counted[same].greatest = place->count;
			counted[same].frame.address = place->address;
		}
		memset(of, 0, sizeof(*of));
	}
	if (counted)
		qsort(counted, count, sizeof(*counted), by_times);
	for (size_t i = 0; i < count && i < CRASH_FUNCTIONS && counted[i].times > 1; i++) {
		struct crash_repeat *repeat = &stack->repeat[stack->repeats++];

		repeat->times = counted[i].times;
		repeat->address = counted[i].frame.address;
		memcpy(repeat->function, counted[i].frame.function, sizeof(repeat->function));
		memcpy(repeat->module, counted[i].frame.module, sizeof(repeat->module));
	}
	free(counted);
}

/*
 * Names the frames behind the innermost ones: all of them, or only the outermost CRASH_OUTER. If
 * the walk was cut, the outermost frames are not known, and none is named.
 */
static void add_outer(const struct stack_walk *walk)
{
	struct crash_stack *stack = walk->stack;
	uint64_t first = CRASH_INNER;

	if (stack->is_cut)
		return;
	if (stack->total > CRASH_INNER + CRASH_OUTER)
		first = stack->total - CRASH_OUTER;
	for (uint64_t i = first; i < stack->total; i++) {
		stack->number[stack->frames] = i;
		unwind_name(walk->unwind, &walk->outer[i % CRASH_OUTER],
			    &stack->frame[stack->frames++]);
	}
}

struct crash_stack *crash_stack_read(const struct unwind *unwind, pid_t tid)
{
	struct stack_walk *walk = calloc(1, sizeof(*walk));
	struct crash_stack *stack = calloc(1, sizeof(*stack));

	if (walk && stack && unwind) {
		walk->unwind = unwind;
		walk->stack = stack;
		walk->end_ns = until_now_ns() + WALK_NS;
		unwind_walk(unwind, tid, take_step, walk);
		add_outer(walk);
		add_repeats(walk);
	}
	if (!walk) {
		free(stack);
		stack = NULL;
	}
	free(walk);
	return stack;
}

int crash_stack_find(const struct crash_stack *stack, const char *function)
{
	for (unsigned i = 0; i < stack->frames; i++)
		if (is_frame_of(&stack->frame[i], function))
			return (int)i;
	return -1;
}
