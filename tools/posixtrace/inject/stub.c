/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stub.c - the code that is copied into the process. The code contains no addresses, because the
 * block to which r12 points has them.
 *
 * The stub is assembled as data of the tool, so that it needs no relocation. The code keeps its
 * state in registers that the functions of the C library preserve. Register r12 has the address of
 * the block, and rbx the former state of cancellation. Register r13 has the address of errno, and
 * r14 its value.
 */
#include "inject/stub.h"

#if defined __x86_64__

#define AT(member) "%c[" #member "](%%r12)"
#define OFFSET(member) [member] "i"(offsetof(struct stub_block, member))

/*
 * This function is never called. It exists because a function can give the assembly the offsets of
 * the members.
 *
 * Cancellation is disabled, because the interrupted system call may be a cancellation point. errno
 * is restored at the end. A tracer makes the thread skip rt_sigreturn() and restores the thread
 * itself. If the tracer is killed in between, the thread continues behind the skipped call and
 * repeats the last three instructions.
 */
__attribute__((used, noinline)) static void define_stub(void)
{
	__asm__ volatile(
		"	.pushsection .rodata\n"
		"	.globl stub_code, stub_code_end, stub_return\n"
		"	.hidden stub_code, stub_code_end, stub_return\n"
		"stub_code:\n"
		"	call *" AT(errno_location) "\n"
		"	movq %%rax, %%r13\n"
		"	movl (%%r13), %%r14d\n"
		"	movl $1, %%edi\n"		/* PTHREAD_CANCEL_DISABLE */
		"	subq $16, %%rsp\n"
		"	movq %%rsp, %%rsi\n"
		"	call *" AT(set_cancel_state) "\n"
		"	movl (%%rsp), %%ebx\n"
		"	movq " AT(path) ", %%rdi\n"
		"	movq " AT(flags) ", %%rsi\n"
		"	call *" AT(dlopen) "\n"
		"	movq %%rax, " AT(handle) "\n"
		"	testq %%rax, %%rax\n"
		"	je 1f\n"
		"	movq %%rax, %%rdi\n"
		"	movq " AT(symbol) ", %%rsi\n"
		"	call *" AT(dlsym) "\n"
		"	movq %%rax, " AT(function) "\n"
		"	testq %%rax, %%rax\n"
		"	je 1f\n"
		"	movq " AT(argument) ", %%rdi\n"
		"	call *%%rax\n"
		"	movq %%rax, " AT(result) "\n"
		"	jmp 2f\n"
		"1:	call *" AT(dlerror) "\n"
		"	movq %%rax, " AT(message) "\n"
		"2:	movl %%ebx, %%edi\n"
		"	xorl %%esi, %%esi\n"
		"	call *" AT(set_cancel_state) "\n"
		"	movl %%r14d, (%%r13)\n"
		"	movq $1, " AT(is_done) "\n"
		"3:	movq " AT(frame) ", %%rsp\n"
		"	movl $15, %%eax\n"		/* SYS_rt_sigreturn */
		"	syscall\n"
		"stub_return:\n"
		"	jmp 3b\n"
		"stub_code_end:\n"
		"	.popsection\n"
		:
		: OFFSET(errno_location), OFFSET(set_cancel_state), OFFSET(dlopen), OFFSET(dlsym),
		  OFFSET(dlerror), OFFSET(path), OFFSET(symbol), OFFSET(argument), OFFSET(flags),
		  OFFSET(frame), OFFSET(handle), OFFSET(function), OFFSET(result), OFFSET(message),
		  OFFSET(is_done));
}

#endif
