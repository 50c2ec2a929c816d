/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/stack.c - copies the stack of the calling thread behind the data of an event.
 *
 * Unwinding needs the tables of the modules, locks of the dynamic linker, and microseconds for each
 * frame. So the program only copies its registers and the bytes above the stack pointer. posixtrace
 * unwinds the copy after the trace.
 *
 * A read beyond the stack would end the program, and the shim must not make a system call to check
 * the memory. So it finds the end of the stack in memory that is certainly readable:
 *
 * - The dynamic linker stores the end of the first thread's stack in __libc_stack_end. Below it,
 *   the kernel reserves 128 MiB or more for this stack alone.
 * - For every other thread, the C library keeps a descriptor at the upper end of the thread's
 *   stack. The descriptor has the address and the size of the stack's memory. The offset of these
 *   members depends on the version of the C library. This file searches for them, and uses them
 *   only if the memory that they describe contains the descriptor.
 * - The end of any other stack, such as a stack of a coroutine or of sigaltstack(2), is not known.
 *   Such a stack is not copied.
 */
#include "preload/stack.h"

#include <fnmatch.h>
#include <pthread.h>
#include <string.h>

#include "preload/choose.h"
#include "preload/stack_copy.h"

shim_start_data trace_event_id_t shim_stack_id[SHIM_TYPE_COUNT];

static shim_start_data bool chosen[SHIM_TYPE_COUNT];
static shim_start_data _Atomic unsigned most_bytes;

/* ------------------------------------------------------------------ the choice */

/*
 * Returns whether the name matches a pattern of the list. A pattern that is too long matches no
 * name.
 */
static bool stack_matches(const char *list, const char *name)
{
	const size_t prefix = sizeof SHIM_STACK_NAME - 1;
	char pattern[SHIM_STACK_PATTERN];

	for (; list && *list; list += *list == ',') {
		size_t len = strcspn(list, ",");

		if (!strncmp(list, SHIM_STACK_NAME, prefix) && len - prefix < sizeof pattern) {
			memcpy(pattern, list + prefix, len - prefix);
			pattern[len - prefix] = '\0';
			if (!fnmatch(pattern, name, 0))
				return true;
		}
		list += len;
	}
	return false;
}

/*
 * Returns whether events of the type may have a stack. Events of functions come from code that the
 * shim generates, which no table describes. The shim's own events have no caller.
 */
static bool can_choose(enum shim_type type)
{
	const enum shim_family family = shim_family_of(type);

	return family != FAMILY_SHIM && family != FAMILY_FUNC;
}

void shim_stack_choose(const char *list)
{
	unsigned bytes = shim_number_of(list, SHIM_STACK_BYTES_NAME, SHIM_STACK_MAX);

	atomic_store_explicit(&most_bytes, bytes ? bytes & ~7u : SHIM_STACK_BYTES,
			      memory_order_relaxed);
	/* If the list has no pattern of stacks, as most lists, no name is compared. */
	const bool has_pattern = SHIM_STACK_REGISTERS && list && strstr(list, SHIM_STACK_NAME);

	for (enum shim_type type = 0; type < SHIM_TYPE_COUNT; type++)
		chosen[type] = has_pattern && can_choose(type) &&
			       stack_matches(list, shim_name_of(type));
}

bool shim_stack_is_chosen(enum shim_type type)
{
	return chosen[type];
}

/* ------------------------------------------------------------------ the stack */

#if SHIM_STACK_REGISTERS

/*
 * The shim assumes that the first thread's stack is not larger than this. The kernel maps nothing
 * else so near its end.
 */
#define FIRST_MOST   ((uintptr_t)64 << 20)
/* The bytes of the stack that recording an event may need, and some more for a signal handler. */
#define RESERVE      16384u

/*
 * find_lowest() searches this number of bytes of a thread's descriptor for three members. They are
 * at byte 1680 on x86-64, and more than 500 bytes follow them in all versions, among them the state
 * of the resolver. So the search stays within the descriptor.
 */
#define DESCRIPTOR   2048u
/*
 * The stack's memory ends less than this number of bytes behind the beginning of the descriptor.
 * This memory has the descriptor and, on some processors, the variables of the thread.
 */
#define BEHIND_MOST  ((uintptr_t)1 << 20)

/* The exported variable of the dynamic linker. */
extern void *__libc_stack_end __attribute__((weak, visibility("default")));

/*
 * The lowest readable address of this thread's own stack; 0: not found yet. The value depends on
 * the thread alone. So a signal handler may search, too, and stores the same value.
 */
static _Thread_local uintptr_t lowest __attribute__((tls_model("initial-exec")));

/*
 * Searches for three members of the descriptor that follow each other: the address of the stack's
 * memory, its size, and the size of the guard at its lower end. Returns the lowest readable
 * address, or 0.
 */
static uintptr_t find_lowest(uintptr_t self, uintptr_t sp)
{
	const uintptr_t *word = (const uintptr_t *)self;

	for (size_t i = 0; i + 2 < DESCRIPTOR / sizeof *word; i++) {
		const uintptr_t begin = word[i], bytes = word[i + 1], guard = word[i + 2];

		if (begin && begin < self && bytes > self - begin &&
		    bytes - (self - begin) < BEHIND_MOST && guard < self - begin &&
		    sp >= begin + guard)
			return begin + guard;
	}
	return 0;
}

/*
 * Returns how many bytes from sp upwards can be read. Stores in *below how many bytes are free
 * below sp. On a stack of a coroutine or of sigaltstack(2), neither number is known, and both are
 * 0. Such a stack may have only a few KiB, so it may have no room for the copy.
 */
static size_t stack_above(uintptr_t sp, size_t *below)
{
	const uintptr_t first = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
	const uintptr_t self = (uintptr_t)pthread_self();

	*below = SIZE_MAX;
	/* If the stack pointer is above the end, the difference wraps around and is large. */
	if (first - sp < FIRST_MOST)
		return first - sp;
	if (sp < self && !lowest)
		lowest = find_lowest(self, sp);
	if (sp < self && lowest && sp >= lowest) {
		*below = sp - lowest;
		return self - sp;
	}
	*below = 0;
	return 0;
}

/*
 * Copies words. A sanitizer replaces memcpy() by a function that checks each byte, and reports a
 * read of other functions' variables.
 */
static void copy_words(unsigned char *to, uintptr_t from, size_t bytes)
{
#if defined __x86_64__
	size_t words = bytes / 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
#else
	for (size_t i = 0; i < bytes; i += 8) {
		const uint64_t word = *(const volatile uint64_t *)(from + i);

		__builtin_memcpy(to + i, &word, 8);
	}
#endif
}

/*
 * Records the event with the copy. The function is not inlined, so that its own stack is below the
 * part that is copied. The event is assembled on that stack.
 */
static __attribute__((noinline)) void put_copy(enum shim_type type, const void *data, size_t len,
					       const void *caller,
					       const struct shim_stack_copy *copy)
{
	const struct shim_stack_end end = {
		.bytes = (uint32_t)(sizeof *copy + copy->bytes), .magic = SHIM_STACK_MAGIC
	};
	unsigned char *all = __builtin_alloca(len + end.bytes + sizeof end);
	unsigned char *at = all;

	memcpy(at, data, len);
	at += len;
	memcpy(at, copy, sizeof *copy);
	at += sizeof *copy;
	copy_words(at, (uintptr_t)copy->reg[SHIM_STACK_SP], copy->bytes);
	at += copy->bytes;
	memcpy(at, &end, sizeof end);
	at += sizeof end;
	posix_trace_event_at_np(shim_stack_id[type], all, (size_t)(at - all), caller);
}

/* Stores the registers that a called function must preserve, and the address of this code. */
shim_inline void store_registers(struct shim_stack_copy *copy)
{
#if defined __x86_64__
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, (%0)\n\t"
			 "movq %%rbx, 32(%0)\n\t"
			 "movq %%rbp, 56(%0)\n\t"
			 "movq %%rsp, 64(%0)\n\t"
			 "movq %%r12, 104(%0)\n\t"
			 "movq %%r13, 112(%0)\n\t"
			 "movq %%r14, 120(%0)\n\t"
			 "movq %%r15, 128(%0)\n\t"
			 : : "r"(copy) : "rax", "memory");
	copy->reg[16] = copy->pc;
#elif defined __aarch64__
	__asm__ volatile("adr x9, .\n\t"
			 "str x9, [%0]\n\t"
			 "add x10, %0, #8\n\t"
			 "stp x19, x20, [x10, #152]\n\t"
			 "stp x21, x22, [x10, #168]\n\t"
			 "stp x23, x24, [x10, #184]\n\t"
			 "stp x25, x26, [x10, #200]\n\t"
			 "stp x27, x28, [x10, #216]\n\t"
			 "stp x29, x30, [x10, #232]\n\t"
			 "mov x9, sp\n\t"
			 "str x9, [x10, #248]\n\t"
			 : : "r"(copy) : "x9", "x10", "memory");
#endif
}

/*
 * The copy begins at the stack pointer of this function. The function does not change its stack
 * pointer after that. Its frame exists during put_copy(), because put_copy() has a pointer to one
 * of its variables.
 */
__attribute__((noinline)) void shim_stack_put(enum shim_type type, const void *data, size_t len,
					      const void *caller)
{
	struct shim_stack_copy copy = { .pc = 0 };
	size_t below, most = atomic_load_explicit(&most_bytes, memory_order_relaxed);
	size_t above;

	store_registers(&copy);
	above = stack_above((uintptr_t)copy.reg[SHIM_STACK_SP], &below) & ~(size_t)7;
	/*
	 * If a thread has little stack left, the event has the registers and no bytes of the stack.
	 */
	copy.bytes = above < most ? above : most;
	if (below < copy.bytes + RESERVE)
		copy.bytes = 0;
	put_copy(type, data, len, caller, &copy);
}

#else

void shim_stack_put(enum shim_type type, const void *data, size_t len, const void *caller)
{
	posix_trace_event_at_np(shim_stack_id[type], data, len, caller);
}

#endif
