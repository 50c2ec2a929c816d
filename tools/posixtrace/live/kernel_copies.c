/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_copies.c - keeps copies of stacks in a file, in the form in which the preload library
 * records its own copies, so that one unwinder reads both.
 */
#include "live/kernel_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __x86_64__
# include <asm/perf_regs.h>
#endif

#include "base/say.h"
#include "base/spool.h"
#include "base/vec.h"
#include "base/whole.h"
#include "log/stacks.h"
#include "../../../lib/preload/stack_copy.h" /* the form of a copy */

#if defined HAVE_LIBDW && defined __x86_64__

/* The kernel's numbers of the registers, in the order of their numbers in DWARF. */
static const unsigned char perf_register[SHIM_STACK_REGISTERS] = {
	PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX, PERF_REG_X86_SI,
	PERF_REG_X86_DI, PERF_REG_X86_BP, PERF_REG_X86_SP, PERF_REG_X86_R8, PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,
};
# define PERF_REGISTERS SHIM_STACK_REGISTERS

#else /* not supported here: no sample has a copy */

# define PERF_REGISTERS 0

#endif

#define COPY_BYTES (sizeof(struct shim_stack_copy) + SHIM_STACK_MAX + sizeof(struct shim_stack_end))

struct kernel_copies {
	int fd;
	uint64_t bytes;        /* of the file */
	struct copied {
		uint64_t first;
		uint32_t bytes, number;
	} *copy;
	size_t copies;
	unsigned char data[COPY_BYTES];
};

bool kernel_copies_has(void)
{
	return PERF_REGISTERS > 0;
}

uint64_t kernel_copies_registers(void)
{
	uint64_t mask = 0;

#if PERF_REGISTERS
	for (unsigned i = 0; i < PERF_REGISTERS; i++)
		mask |= UINT64_C(1) << perf_register[i];
#endif
	return mask;
}

struct kernel_copies *kernel_copies_begin(void)
{
	struct kernel_copies *copies = calloc(1, sizeof(*copies));
	int err = copies ? spool_create(&copies->fd) : ENOMEM;

	if (!err)
		return copies;
	spool_say_why("--sample-stack", err);
	free(copies);
	return NULL;
}

void kernel_copies_end(struct kernel_copies *copies)
{
	if (!copies)
		return;
	close(copies->fd);
	free(copies->copy);
	free(copies);
}

/* A part of a record of the kernel. */
struct rest {
	const unsigned char *at;
	size_t bytes;
};

/* Reads the next number. Returns 0 at the end of the record. */
static uint64_t next_word(struct rest *rest)
{
	uint64_t value = 0;

	if (rest->bytes < sizeof(value)) {
		rest->bytes = 0;
		return 0;
	}
	memcpy(&value, rest->at, sizeof(value));
	rest->at += sizeof(value);
	rest->bytes -= sizeof(value);
	return value;
}

/*
 * Converts a copy of a stack that the kernel has made. The kernel writes the registers in the order
 * of its own numbers. Behind them the record has the size of the copy, its bytes, and how many of
 * these bytes the kernel could read. Returns the number of bytes in copies->data, or 0 if the
 * record has no copy.
 */
static size_t copies_form(struct kernel_copies *copies, const void *data, size_t bytes)
{
	struct rest rest = { data, bytes };
	struct shim_stack_copy head = { .bytes = 0 };
	struct shim_stack_end end = { .magic = SHIM_STACK_MAGIC };
	uint64_t size, known;

	if (!PERF_REGISTERS || !next_word(&rest)) /* the kind of registers; 0: none */
		return 0;
#if PERF_REGISTERS
	for (unsigned number = 0; number < 64; number++)
		for (unsigned i = 0; i < PERF_REGISTERS; i++)
			if (perf_register[i] == number)
				head.reg[i] = next_word(&rest);
	head.pc = head.reg[SHIM_STACK_REGISTERS - 1];
#endif
	size = next_word(&rest);
	if (!size || size > SHIM_STACK_MAX || rest.bytes < size + sizeof(known))
		return 0;
	memcpy(&known, rest.at + size, sizeof(known));
	head.bytes = (known < size ? known : size) & ~UINT64_C(7);
	end.bytes = (uint32_t)(sizeof(head) + head.bytes);
	memcpy(copies->data, &head, sizeof(head));
	memcpy(copies->data + sizeof(head), rest.at, head.bytes);
	memcpy(copies->data + end.bytes, &end, sizeof(end));
	return end.bytes + sizeof(end);
}

bool kernel_copies_keep(struct kernel_copies *copies, const void *data, size_t bytes,
			uint32_t number, uint32_t *index)
{
	size_t formed = copies ? copies_form(copies, data, bytes) : 0;

	if (!formed || copies->bytes + formed > KERNEL_COPIES_MAX ||
	    !vec_grow(&copies->copy, copies->copies, 1) ||
	    whole_pwrite(copies->fd, copies->data, formed, copies->bytes))
		return false;
	*index = (uint32_t)copies->copies;
	copies->copy[copies->copies++] = (struct copied){
		.first = copies->bytes, .bytes = (uint32_t)formed, .number = number,
	};
	copies->bytes += formed;
	return true;
}

bool kernel_copies_set_stack(struct kernel_copies *copies, uint32_t index,
			     const struct kernel_raw *raw)
{
	copies->copy[index].number = kernel_frames_number(raw, copies->copy[index].number);
	return copies->copy[index].number != STACK_NONE;
}

uint32_t kernel_copies_number(const struct kernel_copies *copies, uint32_t index)
{
	return copies->copy[index].number;
}

/*
 * Stores the kernel's functions of a stack, which are the innermost ones, and returns their number.
 * The copy has only the stack of the user's functions.
 */
static size_t kernel_copies_inner(const struct stack_store *store, uint32_t number, uint64_t *to)
{
	const struct stack *stack = &store->stack[number];
	size_t count = 0;

	while (count < stack->count && stacks_is_kernel(store->frame[stack->first + count])) {
		to[count] = store->frame[stack->first + count];
		count++;
	}
	return count;
}

uint32_t kernel_copies_unwind(struct kernel_copies *copies, uint32_t index,
			      struct stack_unwinder *unwinder, struct stack_store *store, pid_t pid,
			      pid_t tid, int64_t time_ns)
{
	const struct copied *copy = &copies->copy[index];
	struct posix_trace_event_np event = {
		.info.posix_pid = pid, .tid = tid, .time_ns = time_ns, .data = copies->data,
		.data_len = copy->bytes,
	};
	struct shim_stack_copy head;
	uint64_t chain[2 * STACK_FRAMES];
	size_t count, inner;
	uint32_t number;

	if (whole_pread(copies->fd, copies->data, copy->bytes, copy->first))
		return copy->number;
	memcpy(&head, copies->data, sizeof(head));
	event.info.posix_prog_address = (void *)(uintptr_t)head.pc;
	inner = kernel_copies_inner(store, copy->number, chain);
	count = stack_unwind(unwinder, &event, chain + inner);
	/*
	 * If the copy yields no caller, the stack that the kernel has found is used. The kernel
	 * follows frame pointers, and may find more callers in code without unwind tables.
	 */
	if (count <= 1)
		return copy->number;
	number = stack_store_keep(store, chain, inner + count);
	return number == STACK_NONE ? copy->number : number;
}
