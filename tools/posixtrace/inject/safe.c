/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* safe.c - finds threads that are at a safe place. DESIGN explains why such a place is safe. */
#include "inject/safe.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/procfile.h"
#include "inject/frames.h"

#define STACK_MAX     ((uint64_t)16 << 20) /* bytes; a deeper stack counts as unsafe */
#define CALL_BYTES    7                    /* the longest instruction of a call */
#define DESCRIPTOR_BYTES 2304              /* the least size of glibc's descriptor of a thread */
#define DESCRIPTOR_BEGIN 128

#if defined __x86_64__

/*
 * A thread in a system call is safe if three conditions hold: it waits for an event outside of
 * itself; the call has had no effect yet; and the kernel restarts the call so that the program does
 * not notice the interruption. A call that writes is not safe, because it may return after it has
 * written only a part.
 */
static enum safe_rank rank_of(const struct procfile_call *call)
{
	const unsigned long *argument = call->argument;

	switch (call->number) {
	case SYS_read:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_pause:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvmsg:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_rt_sigsuspend:
	case SYS_restart_syscall: /* one of the calls above, which was interrupted before */
		return SAFE_WAITING;
	case SYS_recvfrom:
		/* With MSG_WAITALL the call may already have received a part of its data. */
		return argument[3] & MSG_WAITALL ? SAFE_NOT : SAFE_WAITING;
	case SYS_futex:
		/*
		 * A thread that waits for a condition variable, a semaphore or the end of a thread
		 * uses FUTEX_WAIT_BITSET and is safe. A thread that waits for a mutex or for a lock
		 * of the C library uses FUTEX_WAIT and is not safe.
		 */
		return (argument[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET ? SAFE_WAITING :
									     SAFE_NOT;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
	case SYS_rt_sigtimedwait:
		return SAFE_TIMED;
	}
	return SAFE_NOT;
}

/*
 * Most programs ignore the signal of a child's end by default. While the thread is traced, the
 * kernel does not drop this signal. It wakes another thread by the signal, and epoll_wait() of that
 * thread would return EINTR.
 */
bool safe_has_children(pid_t pid, pid_t tid)
{
	char path[64];
	FILE *file;
	bool has;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	file = fopen(path, "re");
	/*
	 * A kernel without CONFIG_PROC_CHILDREN has no such file. After any other error, the thread
	 * counts as one with children.
	 */
	has = file ? fgetc(file) != EOF : errno != ENOENT;
	if (file)
		fclose(file);
	return has;
}

/*
 * Returns the rank of the system call in which the thread is. Returns SAFE_NOT also if the system
 * call is unknown.
 */
static enum safe_rank look_at_call(pid_t pid, pid_t tid)
{
	struct procfile_call call;

	switch (procfile_call(pid, tid, &call)) {
	case PROCFILE_RUNNING:
		return SAFE_RUNNING;
	case PROCFILE_IN_CALL:
		return rank_of(&call);
	case PROCFILE_NO_CALL:
		break;
	}
	return SAFE_NOT;
}

enum safe_rank safe_look(pid_t pid, pid_t tid, bool is_alone)
{
	enum safe_rank rank = look_at_call(pid, tid);

	return rank != SAFE_NOT && !is_alone && safe_has_children(pid, tid) ? SAFE_PARENT : rank;
}

/* The bytes of a stack from the stack pointer to its end. */
struct stack {
	uint64_t begin, *word;
	size_t words;
};

/*
 * Reads the stack of a thread. Returns false if the stack is too deep to search, or cannot be read.
 * "mapping" contains the stack pointer. The caller frees stack->word in both cases. The thread is
 * stopped, so its stack does not change.
 */
static bool read_stack(struct stack *stack, const struct target *target,
		       const struct stopped *thread, const struct mapping *mapping)
{
	size_t bytes;

	stack->begin = thread->regs.rsp & ~(uint64_t)7;
	bytes = memory_stack(target->memory, stack->begin, mapping, STACK_MAX, &stack->word);
	stack->words = bytes / sizeof(*stack->word);
	return stack->words;
}

/* Returns the word at an address of the stack, or 0 if the address is outside of the stack. */
static uint64_t word_at(const struct stack *stack, uint64_t address)
{
	uint64_t i = (address - stack->begin) / sizeof(*stack->word);

	return address >= stack->begin && i < stack->words ? stack->word[i] : 0;
}

/*
 * Returns whether the word i begins a signal frame. The stack may still contain the frame of a
 * handler that has returned. Later calls have usually overwritten a part of such an old frame, so
 * the function checks all parts.
 */
static bool is_signal_frame(const struct target *target, const struct stack *stack, size_t i)
{
	uint64_t context = stack->begin + (i + 1) * 8, registers, state;

	if (stack->word[i] != target->place.restorer)
		return false;
	registers = context + offsetof(ucontext_t, uc_mcontext);
	state = word_at(stack, context + offsetof(ucontext_t, uc_mcontext.fpregs));
	/*
	 * 0x46505853 is the kernel's FP_XSTATE_MAGIC1, and 464 is its offset in the vector state.
	 * cs is 0x33 in programs of 64 bits. The flags of the context are at most 7.
	 */
	return word_at(stack, context) <= 7 && word_at(stack, context + 8) == 0 &&
	       (word_at(stack, registers + REG_CSGSFS * 8) & 0xffff) == 0x33 &&
	       mappings_at(&target->mappings, word_at(stack, registers + REG_RIP * 8)) &&
	       state > context && !(state & 63) &&
	       (uint32_t)word_at(stack, state + 464) == 0x46505853;
}

/*
 * Returns whether the address follows a call instruction of the module. A return address follows
 * one; a pointer to a function does not.
 */
static bool is_return_address(const struct elf_module *module, uint64_t address)
{
	const unsigned char *at;

	if (!elf_has_code(module, address) || address - module->code_begin < CALL_BYTES)
		return false;
	at = module->code + (address - module->code_begin);
	if (at[-5] == 0xe8)
		return true;
	/*
	 * Other calls have the opcode ff /2, with a register, with memory, or with memory and an
	 * offset.
	 */
	for (int bytes = 2; bytes <= CALL_BYTES; bytes++)
		if (at[-bytes] == 0xff && (at[-bytes + 1] & 0x38) == 0x10)
			return true;
	return false;
}

/*
 * Returns whether a word of the stack is a return address in locked code. Locked code is the code
 * of functions that may call the program while they hold a lock of the dynamic linker. The
 * allocator is no locked code, because it never calls the program.
 */
static bool is_in_locked_code(const struct target *target, uint64_t address)
{
	if (is_return_address(&target->loader, address))
		return true;
	for (size_t i = 0; i < TARGET_CALLERS; i++)
		if (address > target->caller[i].begin && address <= target->caller[i].end &&
		    is_return_address(&target->libc, address))
			return true;
	return false;
}

/*
 * Returns whether the handler of a frame has interrupted a system call in which a thread waits.
 * There are two cases. If the kernel will restart the call, the context has the address of the
 * instruction that enters the kernel. If the call returns EINTR, the context has the address behind
 * this instruction. In the second case the function reads the number of the call from the code: the
 * instruction before (b8 and four bytes) loads the number.
 */
static bool has_interrupted_wait(const struct target *target, const struct stack *stack, size_t i)
{
	uint64_t registers = stack->begin + (i + 1) * 8 + offsetof(ucontext_t, uc_mcontext);
	uint64_t rip = word_at(stack, registers + REG_RIP * 8);
	struct procfile_call call = {
		(long)word_at(stack, registers + REG_RAX * 8),
		{ word_at(stack, registers + REG_RDI * 8), word_at(stack, registers + REG_RSI * 8),
		  word_at(stack, registers + REG_RDX * 8), word_at(stack, registers + REG_R10 * 8),
		  word_at(stack, registers + REG_R8 * 8), word_at(stack, registers + REG_R9 * 8) },
	};
	unsigned char code[9]; /* b8, the number, the instruction 0f 05, and two more bytes */
	uint32_t number;

	if (!memory_read(target->memory, rip - 7, code, sizeof(code)))
		return false;
	if (call.number == -EINTR && code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05) {
		memcpy(&number, code + 1, sizeof(number));
		call.number = number;
	} else if (code[7] != 0x0f || code[8] != 0x05) {
		return false;
	}
	return rank_of(&call) != SAFE_NOT;
}

/* Returns whether the thread may be in a signal handler that interrupted anything but a wait. */
static bool has_signal_frame(const struct target *target, const struct stack *stack)
{
	for (size_t i = 0; i < stack->words; i++)
		if (is_signal_frame(target, stack, i) && !has_interrupted_wait(target, stack, i))
			return true;
	return false;
}

/*
 * Returns whether the stack has a return address in locked code. If a variable has a value that
 * looks like such an address, the result is also true; frames_are_good() then decides.
 */
static bool has_locked_code(const struct target *target, const struct stack *stack)
{
	for (size_t i = 0; i < stack->words; i++)
		if (is_in_locked_code(target, stack->word[i]))
			return true;
	return false;
}

/*
 * Returns whether the thread has its own descriptor of the C library, which functions of the C
 * library need. A thread that was made by a direct call of clone() may share the descriptor of its
 * parent, or have none.
 */
static bool has_descriptor(const struct target *target, const struct stopped *thread)
{
	uint64_t base = thread->regs.fs_base, word[DESCRIPTOR_BYTES / 8];
	int32_t id;

	if (!base || !memory_read(target->memory, base, word, sizeof(word)) || word[0] != base ||
	    word[2] != base)
		return false;
	/*
	 * If the process is in another namespace of process ids, the descriptor has the number of
	 * the thread in that namespace.
	 */
	id = (int32_t)stop_inner_id(thread);
	for (size_t at = DESCRIPTOR_BEGIN; at + 4 <= sizeof(word); at += 4)
		if (!memcmp((const char *)word + at, &id, 4))
			return true;
	return false;
}

/*
 * Returns whether the thread was interrupted in the program's own code. Returns false if the thread
 * is in the C library (which contains the allocator), in the dynamic linker, or in a function that
 * the linker has called.
 */
static bool is_safe_running(const struct target *target, const struct stopped *thread,
			    const struct stack *stack)
{
	const struct mapping *code = mappings_at(&target->mappings, thread->regs.rip);

	return code && code->is_executable && !elf_has_code(&target->libc, thread->regs.rip) &&
	       !elf_has_code(&target->loader, thread->regs.rip) &&
	       !strstr(code->path, "libposixtrace") && !strstr(code->path, "[v") &&
	       target_has_libc_malloc(target) &&
	       (!has_locked_code(target, stack) ||
		frames_are_good(target, thread, is_in_locked_code));
}

/*
 * This decision is made after the stop, because the thread may have continued after safe_look().
 * orig_rax is negative if the thread was not in a system call. If cs is 0x33, the thread runs code
 * of 64 bits. All conditions must hold. The function tests the cheap conditions before it searches
 * the stack.
 */
bool safe_is_here(const struct target *target, const struct stopped *thread,
		  const struct mapping *mapping)
{
	const struct user_regs_struct *regs = &thread->regs;
	struct procfile_call call = {
		(long)regs->orig_rax,
		{ regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 },
	};
	struct stack stack = { .word = NULL };
	bool is_safe;

	is_safe = (regs->cs & 0xffff) == 0x33 && !stop_has_signal(thread) &&
		  (call.number < 0 || rank_of(&call) != SAFE_NOT) &&
		  has_descriptor(target, thread) && read_stack(&stack, target, thread, mapping) &&
		  !has_signal_frame(target, &stack) &&
		  (call.number >= 0 || is_safe_running(target, thread, &stack));
	free(stack.word);
	return is_safe;
}

#else

enum safe_rank safe_look(pid_t pid, pid_t tid, bool is_alone)
{
	(void)pid, (void)tid, (void)is_alone;
	return SAFE_NOT;
}

#endif
