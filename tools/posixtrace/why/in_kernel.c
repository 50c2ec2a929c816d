/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* in_kernel.c - the functions of the kernel in the stacks of samples. */
#include "why/in_kernel.h"

#include <stdio.h>
#include <string.h>

#include "symbols/symbols.h"

#define CHAIN 3 /* the most functions in a text */

/* Returns the name of a function of the kernel, or NULL if the log has no name of it. */
static const char *kernel_name(const struct history *history, pid_t pid,
			       const struct sample *sample, uint64_t address)
{
	const struct symbol *symbol = symbols_at(history->log->trid, pid, address, sample->time_ns,
						 true);

	return symbol ? symbol->name : NULL;
}

/* Stores the stack of a sample. Returns the number of its functions of the kernel. */
static size_t kernel_stack(const struct history *history, const struct sample *sample,
			   struct stacks_found *stack)
{
	size_t count = 0;

	if (!sample->stack || !stacks_number(&history->stacks, sample->stack - 1, stack))
		return 0;
	while (count < stack->count && stacks_is_kernel(stack->frame[count]))
		count++;
	return count;
}

/*
 * The names below are parts of the names of the functions by which threads enter the kernel on
 * x86-64 and arm64. Such a function calls all other functions of the kernel in the stack, so the
 * outermost one decides.
 */
bool in_kernel_is_fault(const struct history *history, pid_t pid, const struct sample *sample)
{
	struct stacks_found stack;

	for (size_t i = kernel_stack(history, sample, &stack); i > 0; i--) {
		const char *name = kernel_name(history, pid, sample, stack.frame[i - 1]);

		if (!name)
			continue;
		if (strstr(name, "page_fault") || strstr(name, "mem_abort"))
			return true;
		if (strcasestr(name, "syscall") || strstr(name, "svc"))
			return false;
	}
	return false;
}

void in_kernel_text(const struct history *history, pid_t pid, const struct sample *sample,
		    char *text, size_t size)
{
	struct stacks_found stack;
	size_t count = kernel_stack(history, sample, &stack);
	size_t used = (size_t)snprintf(text, size, "in the kernel: ");

	/* The log may lack the stack, or the stack may not begin in the kernel. */
	if (!count) {
		stack = (struct stacks_found){ .frame = &sample->address, .count = 1 };
		count = 1;
	}
	for (size_t i = 0; i < count && i < CHAIN && used < size; i++) {
		const char *name = kernel_name(history, pid, sample, stack.frame[i]);

		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " <- " : "",
					 name ? name : "a function without a name");
	}
}
