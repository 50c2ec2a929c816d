/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions with every kind of first instruction that a patch has to move, and functions that must
 * not be patched. test_function.sh compiles and runs it: the results are the same with a patch.
 */
#include <stdio.h>

#define MOVED(name, body) \
	int f_##name(int a, int b); \
	__asm__(".text\n.globl f_" #name "\n.type f_" #name ", @function\nf_" #name ":\n" body \
		"\n.size f_" #name ", . - f_" #name "\n.p2align 4\n");
#define KEPT(name, body) \
	int x_##name(int a, int b); \
	__asm__(".text\n.globl x_" #name "\n.type x_" #name ", @function\nx_" #name ":\n" body \
		"\n.size x_" #name ", . - x_" #name "\n.p2align 4\n");

int word = 1000;
__asm__(".section .rodata\nconstant: .long 77\n.text\n");

/* Operands relative to the instruction. */
MOVED(load, "movl constant(%rip), %eax\n addl %edi, %eax\n ret")
MOVED(store_immediate, "movl $5, words(%rip)\n movl words(%rip), %eax\n addl %esi, %eax\n ret\n"
	".local words\n.comm words, 4, 4")
MOVED(address, "leaq constant(%rip), %rax\n movl (%rax), %eax\n subl %esi, %eax\n ret")
MOVED(compare, "cmpl $77, constant(%rip)\n sete %al\n movzbl %al, %eax\n addl %edi, %eax\n ret")
MOVED(sse, "movss constant(%rip), %xmm0\n movd %xmm0, %eax\n xorl %edi, %eax\n ret")
MOVED(two, "movl constant(%rip), %eax\n addl constant(%rip), %eax\n ret")
/* Branches out of the replaced bytes: short ones become long. */
MOVED(branch, "testl %edi, %edi\n js 1f\n leal (%rdi,%rsi), %eax\n ret\n1: movl $-1, %eax\n ret")
MOVED(branch_long, "testl %edi, %edi\n jns 1f\n movl $-1, %eax\n ret\n .skip 200, 0x90\n"
	"1: leal 1(%rdi), %eax\n ret")
MOVED(parity, "cmpl %esi, %edi\n jp 1f\n movl $3, %eax\n ret\n1: movl $4, %eax\n ret")
MOVED(jump, "jmp 1f\n .skip 20, 0x90\n1: leal 2(%rdi), %eax\n ret")
MOVED(tail, "jmp f_load")
MOVED(tail_short, "leal 1(%rdi), %edi\n jmp f_load")
/* A branch that has no long form, behind them. */
MOVED(counter, "movl $2, %ecx\n movl %edi, %eax\n1: incl %eax\n loop 1b\n ret")
/* Calls: the return address is the function's own. */
MOVED(call, "call f_load\n addl $1, %eax\n ret")
MOVED(call_later, "pushq %rbx\n movl %edi, %ebx\n call f_load\n addl %ebx, %eax\n popq %rbx\n ret")
MOVED(call_pointer, "call *pointer(%rip)\n addl $3, %eax\n ret\n.section .data.rel.local,\"aw\"\n"
	".p2align 3\npointer: .quad f_load\n.text")
/* The function ends inside the replaced bytes. */
MOVED(short_return, "leal 3(%rdi), %eax\n ret")
MOVED(tiny, "movl %edi, %eax\n ret")
MOVED(early_return, "xorl %eax, %eax\n testl %edi, %edi\n jne 1f\n ret\n1: movl $9, %eax\n ret")
/* The stack. */
MOVED(frame, "pushq %rbp\n movq %rsp, %rbp\n subq $32, %rsp\n movl %edi, -4(%rbp)\n"
	" movl -4(%rbp), %eax\n leave\n ret")
MOVED(seventh, "movl 8(%rsp), %eax\n addl %edi, %eax\n subl 8(%rsp), %eax\n ret")
MOVED(endbr, "endbr64\n leal 7(%rdi), %eax\n ret")
MOVED(long_first, "movabsq $0x1122334455667788, %rax\n xorl %edi, %eax\n ret")
MOVED(nops, ".skip 5, 0x90\n leal 8(%rdi), %eax\n ret")
MOVED(endbr_nops, "endbr64\n .skip 5, 0x90\n leal 9(%rdi), %eax\n ret")
MOVED(flags_direction, "std\n cld\n leal 4(%rdi), %eax\n ret")
/* Registers that are no arguments keep their values through both hooks: see keeps_registers(). */
MOVED(nothing, "nopl (%rax)\n nopl (%rax)\n ret")

/* The shim must refuse these functions. */
KEPT(loop, "addl %esi, %edi\n decl %esi\n jns x_loop\n movl %edi, %eax\n ret")
KEPT(loop_inside, "xorl %eax, %eax\n1: incl %eax\n cmpl %edi, %eax\n jl 1b\n ret")
KEPT(jrcxz, "jrcxz 1f\n movl $1, %eax\n ret\n1: movl $2, %eax\n ret")
KEPT(register_call, "pushq %rbx\n call *%rdx\n popq %rbx\n ret")
KEPT(pointed, "xorl %eax, %eax\nx_label: addl $3, %eax\n addl %edi, %eax\n ret\n"
	".section .data.rel.local,\"aw\"\n.p2align 3\nlabel_pointer: .quad x_label\n.text")
KEPT(data_inside, "leal 1(%rdi), %eax\n ret\n .byte 0x06, 0x06, 0x06, 0x06")

static int table_target(int a)
{
	return a;
}

/* Puts known values into all registers but the stack's, calls, and returns how many changed. */
int keeps_registers(void);
__asm__(".text\n.globl keeps_registers\n.type keeps_registers, @function\nkeeps_registers:\n"
	" pushq %rbx\n"
	" movl $101, %eax\n movl $102, %ecx\n movl $103, %edx\n movl $104, %esi\n"
	" movl $105, %edi\n movl $106, %r8d\n movl $107, %r9d\n movl $108, %r10d\n"
	" movl $109, %r11d\n"
	" movq %rax, %xmm0\n movq %rcx, %xmm7\n movq %rdx, %xmm8\n movq %rsi, %xmm15\n"
	" call f_nothing\n"
	" xorl %ebx, %ebx\n"
	" cmpq $101, %rax\n setne %bl\n"
	" cmpq $102, %rcx\n je 1f\n incl %ebx\n1:"
	" cmpq $103, %rdx\n je 1f\n incl %ebx\n1:"
	" cmpq $104, %rsi\n je 1f\n incl %ebx\n1:"
	" cmpq $105, %rdi\n je 1f\n incl %ebx\n1:"
	" cmpq $106, %r8\n je 1f\n incl %ebx\n1:"
	" cmpq $107, %r9\n je 1f\n incl %ebx\n1:"
	" cmpq $108, %r10\n je 1f\n incl %ebx\n1:"
	" cmpq $109, %r11\n je 1f\n incl %ebx\n1:"
	" movq %xmm0, %rax\n cmpq $101, %rax\n je 1f\n incl %ebx\n1:"
	" movq %xmm7, %rax\n cmpq $102, %rax\n je 1f\n incl %ebx\n1:"
	" movq %xmm8, %rax\n cmpq $103, %rax\n je 1f\n incl %ebx\n1:"
	" movq %xmm15, %rax\n cmpq $104, %rax\n je 1f\n incl %ebx\n1:"
	" movl %ebx, %eax\n popq %rbx\n ret\n"
	".size keeps_registers, . - keeps_registers\n");

#define SHOW(name) printf(#name " %d %d\n", name(5, 6), name(-5, 3))

int main(void)
{
	SHOW(f_load);
	SHOW(f_store_immediate);
	SHOW(f_address);
	SHOW(f_compare);
	SHOW(f_sse);
	SHOW(f_two);
	SHOW(f_branch);
	SHOW(f_branch_long);
	SHOW(f_parity);
	SHOW(f_jump);
	SHOW(f_tail);
	SHOW(f_tail_short);
	SHOW(f_call);
	SHOW(f_call_later);
	SHOW(f_call_pointer);
	SHOW(f_short_return);
	SHOW(f_tiny);
	SHOW(f_early_return);
	SHOW(f_frame);
	SHOW(f_seventh);
	SHOW(f_endbr);
	SHOW(f_long_first);
	SHOW(f_nops);
	SHOW(f_endbr_nops);
	SHOW(f_flags_direction);
	SHOW(x_loop);
	SHOW(x_loop_inside);
	SHOW(f_counter);
	SHOW(x_jrcxz);
	SHOW(x_pointed);
	SHOW(x_data_inside);
	printf("%d\n", ((int (*)(int, int, int (*)(int)))x_register_call)(3, 4, table_target));
	printf("registers changed: %d\n", keeps_registers());
	return 0;
}
