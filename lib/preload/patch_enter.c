/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_enter.c - the assembly between patched functions and the shim (x86-64).
 *
 * At the beginning of a patched function, any register may have a value that is needed, and not
 * only the registers of arguments. A compiler that sees caller and callee may keep values in
 * registers that this callee does not change (gcc -fipa-ra). So the code saves all general
 * registers that functions of C may change. It need not save the flags. While an event is recorded,
 * the C library may use any vector register. Therefore the code also saves the vector registers
 * that patched modules use.
 */
#include "preload/patch.h"

#if defined __x86_64__

/* used: the assembly below reads it, which optimization across files does not see */
int shim_vectors __attribute__((used));

/*
 * Bytes for 32 registers of 64 bytes, 8 masks, and the value of shim_vectors, at an address that is
 * a multiple of 64. The value of shim_vectors is saved, because shim_vectors may grow before the
 * registers are restored.
 */
#define KEEP_BYTES "2176"
#define KEPT_KIND  "2112"

/*
 * These macros make one instruction for each register; the register's number is pasted into the
 * text. The C library's memcpy() and similar functions use registers of 32 and 64 bytes, and clear
 * the upper halves of registers. The instruction xsave would save the registers with less code, but
 * costs several times as much on some virtual machines.
 */
#define ALL_16(m) \
	m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)
#define ALL_32(m) \
	ALL_16(m) m(16) m(17) m(18) m(19) m(20) m(21) m(22) m(23) m(24) m(25) m(26) m(27) m(28) \
	m(29) m(30) m(31)
#define KEEP_X(n) "	movups %xmm" #n ", 64*" #n "(%rsp)\n"
#define LOAD_X(n) "	movups 64*" #n "(%rsp), %xmm" #n "\n"
#define KEEP_Y(n) "	vmovdqu %ymm" #n ", 64*" #n "(%rsp)\n"
#define LOAD_Y(n) "	vmovdqu 64*" #n "(%rsp), %ymm" #n "\n"
#define KEEP_Z(n) "	vmovdqu64 %zmm" #n ", 64*" #n "(%rsp)\n"
#define LOAD_Z(n) "	vmovdqu64 64*" #n "(%rsp), %zmm" #n "\n"
#define ALL_8(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7)
#define KEEP_K(n) "	kmovq %k" #n ", 2048+8*" #n "(%rsp)\n"
#define LOAD_K(n) "	kmovq 2048+8*" #n "(%rsp), %k" #n "\n"

/* Saves the registers that functions of C may change; rbp points to the frame. */
#define KEEP_GENERAL \
	"	pushq %rax\n" \
	"	pushq %rcx\n" \
	"	pushq %rdx\n" \
	"	pushq %rsi\n" \
	"	pushq %rdi\n" \
	"	pushq %r8\n" \
	"	pushq %r9\n" \
	"	pushq %r10\n" \
	"	pushq %r11\n"

#define KEEP_VECTORS \
	"	subq $" KEEP_BYTES ", %rsp\n" \
	"	andq $-64, %rsp\n" \
	"	movl shim_vectors(%rip), %eax\n" \
	"	movl %eax, " KEPT_KIND "(%rsp)\n" \
	"	cmpl $1, %eax\n" \
	"	jb 1f\n" \
	"	je 2f\n" \
	ALL_32(KEEP_Z) ALL_8(KEEP_K) \
	"	jmp 3f\n" \
	"2:\n" ALL_16(KEEP_Y) \
	"	jmp 3f\n" \
	"1:\n" ALL_16(KEEP_X) \
	"3:\n"

/* Saves all registers but the stack pointer and the registers that functions of C do not change. */
#define KEEP_ALL KEEP_GENERAL KEEP_VECTORS

#define LOAD_VECTORS \
	"	movl " KEPT_KIND "(%rsp), %eax\n" \
	"	cmpl $1, %eax\n" \
	"	jb 1f\n" \
	"	je 2f\n" \
	ALL_32(LOAD_Z) ALL_8(LOAD_K) \
	"	jmp 3f\n" \
	"2:\n" ALL_16(LOAD_Y) \
	"	jmp 3f\n" \
	"1:\n" ALL_16(LOAD_X) \
	"3:\n"

/* Restores the nine general registers, which are in the 72 bytes below the frame. */
#define LOAD_GENERAL \
	"	leaq -72(%rbp), %rsp\n" \
	"	popq %r11\n" \
	"	popq %r10\n" \
	"	popq %r9\n" \
	"	popq %r8\n" \
	"	popq %rdi\n" \
	"	popq %rsi\n" \
	"	popq %rdx\n" \
	"	popq %rcx\n" \
	"	popq %rax\n"

#define LOAD_ALL LOAD_VECTORS LOAD_GENERAL

/*
 * The return address of a frame, for unwinders: the word of the stack that held the return address
 * has an address in a slot. The real return address is 0x80000 bytes (the size of shim_slots)
 * behind the slot.
 *
 * 	DW_CFA_expression rip: lit8 minus deref const1s(-16) and const4s(0x80000) plus
 *
 * In a slot itself, the frame's address (CFA) is 12 bytes above that word, which is 8 bytes below
 * the stack pointer. Behind the slot's call, the slot is free again. The word then has the address
 * behind this call, which is no multiple of 16 as the address of a slot is, and the real return
 * address is 8 bytes below the word. The expression is a sum with one term for each case; the other
 * term is 0. An expression with dup and bra would be shorter, but valgrind does not know these
 * operations. It would print a warning in each process, and end the stack there.
 *
 * 	lit12 minus deref const4s(0x80000) plus   breg7(-8) deref lit15 and lit0 eq   mul
 * 	breg7(-16)                                breg7(-8) deref lit15 and lit0 ne   mul   plus
 */
#define RETURN_OF_SLOT \
	"	.cfi_escape 0x10, 16, 12, 0x38, 0x1c, 0x06, 0x09, 0xf0, 0x1a, " \
	"0x0d, 0x00, 0x00, 0x08, 0x00, 0x22\n"
#define RETURN_IN_SLOT \
	"	.cfi_escape 0x10, 16, 28, 0x3c, 0x1c, 0x06, 0x0d, 0x00, 0x00, 0x08, 0x00, 0x22, " \
	"0x77, 0x78, 0x06, 0x3f, 0x1a, 0x30, 0x29, 0x1e, " \
	"0x77, 0x70, 0x77, 0x78, 0x06, 0x3f, 0x1a, 0x30, 0x2e, 0x1e, 0x22\n"
_Static_assert(SHIM_SLOTS * SHIM_SLOT_BYTES == 0x80000, "the expressions have this distance");

/*
 * shim_patch_enter: called by the trampoline to which the first instruction of a patched function
 * jumps. The stack has the return address into the trampoline, and above it the function's return
 * address. The directives describe the frame as the frame of the function, so that an unwinder sees
 * the function's caller next.
 *
 * shim_function_enters_fast does the usual work without vector registers, so they need not be
 * saved. If it returns 0, it has done nothing, and shim_function_enters does the work.
 *
 * shim_patch_return: called by a slot to which a function has returned. The call instruction of the
 * slot has overwritten the word of the stack that held the return address. shim_patch_return stores
 * the real return address below this word, and returns to the slot. The slot jumps to the real
 * return address. It would be simpler to return to the real address directly. But the processor
 * predicts that each return leads behind its call, and a wrong prediction costs as much as the rest
 * of this function. The jump in the slot usually has the same target as before, so the processor
 * predicts it correctly. Until the jump, the real address is below the stack pointer, in the red
 * zone, where no signal handler changes it.
 */
__asm__(
	"	.text\n"
	"	.p2align 4\n"
	"	.globl shim_patch_enter\n"
	"	.hidden shim_patch_enter\n"
	"	.type shim_patch_enter, @function\n"
	"shim_patch_enter:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	.cfi_offset %rip, -8\n"
	"	pushq %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbp, -24\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	KEEP_GENERAL
	"	movq 8(%rbp), %rdi\n"
	"	leaq 16(%rbp), %rsi\n"
	"	call shim_function_enters_fast\n"
	"	testb %al, %al\n"
	"	jnz 4f\n"
	KEEP_VECTORS
	"	movq 8(%rbp), %rdi\n"
	"	leaq 16(%rbp), %rsi\n"
	"	movq %rsp, %rdx\n"
	"	call shim_function_enters\n"
	LOAD_VECTORS
	"4:\n"
	LOAD_GENERAL
	"	popq %rbp\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size shim_patch_enter, . - shim_patch_enter\n"
	"\n"
	"	.p2align 4\n"
	"	.type shim_patch_return, @function\n"
	"shim_patch_return:\n"
	"	.cfi_startproc\n"
	RETURN_OF_SLOT
	"	leaq -8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbp, -24\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	KEEP_ALL
	"	movq 16(%rbp), %rdi\n"
	"	andq $-16, %rdi\n"
	"	movq 0x80000(%rdi), %rax\n"
	"	movq %rax, 8(%rbp)\n"
	"	.cfi_offset %rip, -16\n"
	"	movq %rbp, %rsi\n"
	"	movq %rsp, %rdx\n"
	"	call shim_function_leaves\n"
	LOAD_ALL
	"	popq %rbp\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	.cfi_restore %rbp\n"
	"	leaq 8(%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size shim_patch_return, . - shim_patch_return\n"
	"\n"
	/*
	 * shim_patch_probe: called by the trampoline of a probe, which has saved the flags and
	 * moved the stack pointer below the red zone. The frame has all general registers, in the
	 * order that patch_probe.c expects.
	 */
	"	.p2align 4\n"
	"	.globl shim_patch_probe\n"
	"	.hidden shim_patch_probe\n"
	"	.type shim_patch_probe, @function\n"
	"shim_patch_probe:\n"
	"	.cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbp, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	KEEP_GENERAL
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	KEEP_VECTORS
	"	cld\n" /* the direction flag may be set at any place in a function */
	"	movq 8(%rbp), %rdi\n"
	"	movq %rbp, %rsi\n"
	"	movq %rsp, %rdx\n"
	"	call shim_probe_is_reached\n"
	LOAD_ALL
	"	popq %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size shim_patch_probe, . - shim_patch_probe\n"
	"\n"
	/*
	 * The first slot is not used: an unwinder looks up the byte before a return address, and
	 * the byte before the first slot does not belong to the slots. An unwinder identifies a
	 * frame by its address (CFA). The function that returns to the slot has the stack pointer
	 * as its frame's address, so a slot's frame must have another address: 4 above the stack
	 * pointer. DW_CFA_val_expression rsp: lit4 minus restores the stack pointer from this
	 * address.
	 */
	"	.section .text.shim_slots, \"ax\", @progbits\n"
	"	.p2align 12\n"
	"	.globl shim_slots\n"
	"	.hidden shim_slots\n"
	"	.type shim_slots, @object\n"
	"shim_slots:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa %rsp, 4\n"
	"	.cfi_escape 0x16, 7, 2, 0x34, 0x1c\n"
	RETURN_IN_SLOT
	"	.rept 32768\n"
	"	call shim_patch_return\n"
	"	jmp *-16(%rsp)\n"
	"	.p2align 4\n"
	"	.endr\n"
	"	.cfi_endproc\n"
	"	.size shim_slots, . - shim_slots\n"
	"	.globl shim_slot_returns\n"
	"	.hidden shim_slot_returns\n"
	"	.type shim_slot_returns, @object\n"
	"shim_slot_returns:\n"
	"	.fill 65536, 8, 0\n"
	"	.size shim_slot_returns, . - shim_slot_returns\n"
	"	.text\n");

#endif
