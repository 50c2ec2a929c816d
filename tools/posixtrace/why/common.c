/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* common.c - follows the stacks of samples from the outermost function inwards. */
#include "why/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbols/symbols.h"
#include "why/interpreter.h"

#define LEVELS  64  /* the most levels of a stack that are followed */
#define CALLERS 4   /* the most callers in the label */
#define NAME    100

/* The function at one level. */
struct common_level {
	char name[NAME];
	bool is_named;       /* the name comes from a symbol */
	bool is_interpreter; /* so it says little about the program */
};

/* A call stack that samples have. The present level is the level that follow_level() compares. */
struct common_stack {
	uint32_t number;      /* of the stack */
	uint64_t samples;
	int64_t time_ns;      /* time of one of these samples; names are looked up for it */
	uint64_t hash;        /* of the function's name at the present level; 0: no name */
};

static bool is_stack(const void *array, uint32_t index, const void *key)
{
	return ((const struct common_stack *)array)[index].number == *(const uint32_t *)key;
}

/*
 * Returns the name of the function at a level of a stack, or NULL if there is none. The outermost
 * function has level 0. Stores in *of what is known of the function, except its name.
 */
static const char *name_at(const struct history *history, pid_t pid,
			   const struct common_stack *stack, size_t level, struct common_level *of)
{
	struct stacks_found found;
	const struct symbol *symbol;

	if (!stacks_number(&history->stacks, stack->number, &found) || level >= found.count)
		return NULL;
	/*
	 * A function of the kernel explains less than the program's function that called the
	 * kernel.
	 */
	if (stacks_is_kernel(found.frame[found.count - 1 - level]))
		return NULL;
	found.is_exact = true;
	symbol = symbols_of_frame(history->log->trid, pid, &found, found.count - 1 - level,
				  stack->time_ns);
	if (!symbol)
		return NULL;
	of->is_named = symbol->is_function;
	of->is_interpreter = interpreter_is(symbol->module);
	/* If neither a symbol nor the function's begin is known, the name is only an address. */
	return symbol->is_function || symbol->whole != symbol->name ? symbol->whole : NULL;
}

/* Counts the samples of each stack, and all samples in *all. Returns false if memory is lacking. */
static bool collect_stacks(const struct history_thread *thread, int64_t from_ns, int64_t to_ns,
			   struct common_stack **stack, size_t *stacks, uint64_t *all)
{
	struct table table = { .used = 0 };
	bool good = true;

	for (size_t i = history_sample_at(thread, from_ns);
	     good && i < thread->samples && thread->sample[i].time_ns < to_ns; i++) {
		const struct sample *sample = &thread->sample[i];
		uint32_t number = sample->stack - 1, at;

		++*all;
		if (!sample->stack)
			continue;
		at = table_find(&table, hash_number(HASH_BEGIN, number), is_stack, *stack,
				&number);
		if (at == TABLE_NONE) {
			at = (uint32_t)*stacks;
			good = vec_grow(stack, *stacks, 1) &&
			       table_add(&table, hash_number(HASH_BEGIN, number), at);
			if (!good)
				break;
			(*stack)[(*stacks)++] = (struct common_stack){
				.number = number, .time_ns = sample->time_ns,
			};
		}
		(*stack)[at].samples++;
	}
	table_fini(&table);
	return good;
}

static int by_hash(const void *a, const void *b)
{
	const struct common_stack *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

/*
 * Finds the most frequent name at a level. If two thirds of all samples have it, keeps only the
 * stacks with this name and stores the name. Otherwise keeps all stacks and returns false.
 */
static bool follow_level(const struct history *history, pid_t pid, struct common_stack *stack,
			 size_t *stacks, uint64_t all, size_t level, struct common_level *of)
{
	size_t best = 0, length = 0;
	uint64_t most = 0;
	const char *text;

	for (size_t i = 0; i < *stacks; i++) {
		text = name_at(history, pid, &stack[i], level, of);
		stack[i].hash = text ? hash_bytes(HASH_BEGIN, text, strlen(text)) : 0;
	}
	qsort(stack, *stacks, sizeof(*stack), by_hash);
	for (size_t i = 0, next; i < *stacks; i = next) {
		uint64_t samples = 0;

		for (next = i; next < *stacks && stack[next].hash == stack[i].hash; next++)
			samples += stack[next].samples;
		if (stack[i].hash && samples > most) {
			most = samples;
			best = i;
			length = next - i;
		}
	}
	if (!most || most < all - all / 3)
		return false;
	memmove(stack, stack + best, length * sizeof(*stack));
	*stacks = length;
	text = name_at(history, pid, &stack[0], level, of);
	snprintf(of->name, NAME, "%s", text ? text : "?");
	return true;
}

/* Writes the function and its callers, the innermost first, without functions of an interpreter. */
static void write_label(struct common *common, const struct common_level *level, size_t levels)
{
	size_t used = (size_t)snprintf(common->label, sizeof(common->label),
				       "%s and what it calls", level[levels - 1].name);
	size_t callers = 0;

	/* The list ends with main(), because the C library calls main(). */
	for (size_t i = levels - 1; i > 0 && callers < CALLERS && used < sizeof(common->label) &&
	     strcmp(level[i].name, "main") != 0; i--)
		if (!level[i - 1].is_interpreter)
			used += (size_t)snprintf(common->label + used, sizeof(common->label) - used,
						 "%s%s", callers++ ? " < " : ", called by ",
						 level[i - 1].name);
}

/*
 * Marks these stacks in common->has, and no others. Returns false if memory is lacking.
 */
static bool note_stacks(struct common *common, const struct common_stack *stack, size_t stacks)
{
	if (common->stacks)
		memset(common->has, 0, common->stacks);
	for (size_t i = 0; i < stacks; i++) {
		if (!vec_reach(&common->has, &common->stacks, stack[i].number))
			return false;
		common->has[stack[i].number] = 1;
	}
	return true;
}

/*
 * The result is the innermost common function that has a name, because an address says little. If
 * no common function has a name, the result is the innermost one. The functions that start every
 * program, main() and those with a leading underscore, are never the result. Neither are the
 * functions of an interpreter.
 */
int common_find(struct common *common, const struct history *history, uint32_t thread,
		int64_t from_ns, int64_t to_ns)
{
	const struct history_thread *of = &history->thread[thread];
	struct common_level *of_level = calloc(LEVELS, sizeof(*of_level));
	struct common_stack *stack = NULL;
	size_t stacks = 0, found = 0;
	bool has_name = false;
	uint64_t all = 0;
	bool good = of_level && collect_stacks(of, from_ns, to_ns, &stack, &stacks, &all);

	*common = (struct common){ .has = NULL };
	for (size_t level = 0; good && stacks && level < LEVELS &&
	     follow_level(history, of->pid, stack, &stacks, all, level, &of_level[level]);
	     level++) {
		const struct common_level *at = &of_level[level];

		if ((has_name && !at->is_named) || !strcmp(at->name, "main") ||
		    *at->name == '_' || at->is_interpreter)
			continue;
		has_name = at->is_named;
		found = level + 1;
		good = note_stacks(common, stack, stacks);
	}
	if (found)
		write_label(common, of_level, found);
	free(stack);
	free(of_level);
	return good ? 0 : ENOMEM;
}

void common_fini(struct common *common)
{
	free(common->has);
}

bool common_has(const struct common *common, const struct sample *sample)
{
	return sample->stack && sample->stack - 1 < common->stacks &&
	       common->has[sample->stack - 1];
}
