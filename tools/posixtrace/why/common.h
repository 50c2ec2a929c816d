/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * common.h - finds the innermost function that most samples of a time have in common in their call
 * stacks. A slow request usually spends its time in many small functions. The function that calls
 * them all, directly or not, shows what the thread did.
 */
#ifndef POSIXTRACE_WHY_COMMON_H
#define POSIXTRACE_WHY_COMMON_H

#include "why/history.h"

struct common {
	char label[400];      /* the function and some of its callers; empty: there is no common
			       * function */
	unsigned char *has;   /* for each number of a stack: whether the function is in the stack */
	size_t stacks;        /* length of has */
};

/* Fills common for the samples of a thread. Returns 0 or ENOMEM; the caller calls common_fini(). */
int common_find(struct common *common, const struct history *history, uint32_t thread,
		int64_t from_ns, int64_t to_ns);
void common_fini(struct common *common);

/* Returns whether a sample belongs to the common function. */
bool common_has(const struct common *common, const struct sample *sample);

#endif
