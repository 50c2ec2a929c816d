// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with USDT probes at all kinds of places, for test_usdt.sh. It prints results that
 * change if a probe changes a register, the flags or the red zone.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usdt.h"

#ifdef __clang__ /* it makes no clones */
# define APART __attribute__((noinline))
#else
# define APART __attribute__((noinline, noclone))
#endif

/* The tracer increments it. */
volatile uint16_t shop_asked_semaphore __attribute__((used));
int stock[4] __attribute__((used)) = { 7, 8, 9, -10 };

/* Every place of a value, and every size. */
APART static void values(long a, const char *text, const int *array, long index)
{
	__asm__ volatile(
		"	subq $32, %%rsp\n"
		"	movq $0x1234567890abcdef, %%r11\n"
		"	movq %%r11, 8(%%rsp)\n"
		"	movb $0x81, %%ah\n"
		"	movq $-3, %%r12\n"
		PROBE("values", "8@%%rdi -8@%%rdi -4@%%edi 2@%%di -1@%%dil -1@%%ah 4@%%r12d "
		      "8@8(%%rsp) -4@(%%rdx,%%rcx,4) -4@$-5 -4@stock(%%rip) -4@12+stock(%%rip)")
		PROBE("text", "8@%%rsi 8@$0 8@$16")
		"	addq $32, %%rsp\n"
		:
		: "D"(a), "S"(text), "d"(array), "c"(index)
		: "rax", "r11", "r12", "memory", "cc");
}

APART static double floats(double d, float f)
{
	register double first __asm__("xmm0") = d;
	register float second __asm__("xmm1") = f;

	__asm__ volatile(PROBE("floats", "8f@%%xmm0 4f@%%xmm1") : "+x"(first), "+x"(second));
	return first + second;
}

/* The flags are used behind the probe. */
APART static int compare(long a, long b)
{
	int less;

	__asm__ volatile("	cmpq %2, %1\n" PROBE("flags", "-8@%%rdi") "	setl %b0\n"
			 "	movzbl %b0, %0\n"
			 : "=&q"(less)
			 : "D"(a), "S"(b)
			 : "cc");
	return less;
}

/* A function without a frame has values below the stack pointer. */
long leaf(long a);
__asm__("	.text\n"
	"	.globl leaf\n"
	"	.type leaf, @function\n"
	"leaf:	.cfi_startproc\n"
	"	movq %rdi, -8(%rsp)\n"
	"	movq %rdi, -128(%rsp)\n"
	"	movq %rdi, %xmm7\n"
	PROBE("leaf", "8@-128(%rsp)")
	"	movq -8(%rsp), %rax\n"
	"	addq -128(%rsp), %rax\n"
	"	movq %xmm7, %rdi\n"
	"	addq %rdi, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size leaf, .-leaf\n");

/* A branch leads behind the NOP, into the bytes of a jump. */
long loops(long count);
__asm__("	.text\n"
	"	.globl loops\n"
	"	.type loops, @function\n"
	"loops:	.cfi_startproc\n"
	"	xorl %eax, %eax\n"
	PROBE("loops", "8@%rdi")
	"1:	addq %rdi, %rax\n"
	"	decq %rdi\n"
	"	jne 1b\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size loops, .-loops\n");

/* A NOP that a jump fits into. */
long room(long a);
__asm__("	.text\n"
	"	.globl room\n"
	"	.type room, @function\n"
	"room:	.cfi_startproc\n"
	"	leaq 1(%rdi), %rax\n"
	PROBE_AT(".byte 0x0f, 0x1f, 0x44, 0, 0", "room", "-8@%rax -8@%rdi", "0")
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size room, .-room\n");

/* Probes one behind another, and a moved instruction that refers to its place. */
long three(void);
__asm__("	.text\n"
	"	.globl three\n"
	"	.type three, @function\n"
	"three:	.cfi_startproc\n"
	"	movl $40, %eax\n"
	PROBE("one", "-4@%eax")
	PROBE("two", "-4@%eax")
	"	incl %eax\n"
	PROBE("three__last", "-4@%eax")
	"	addl stock(%rip), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size three, .-three\n");

/* There is no NOP here. */
void wrong(void);
__asm__("	.text\n"
	"	.globl wrong\n"
	"	.type wrong, @function\n"
	"wrong:	.cfi_startproc\n"
	PROBE_AT("ret", "wrong", "", "0")
	"	.cfi_endproc\n"
	"	.size wrong, .-wrong\n");

int main(void)
{
	const int array[3] = { 1, 2, 300 };

	values(-2, "apples", array, 2);
	printf("%g\n", floats(1.5, 0.25f));
	printf("%d %d\n", compare(1, 2), compare(2, 1));
	printf("%ld %ld %ld %ld\n", leaf(1000), loops(10), room(41), three());
	wrong();
	if (shop_asked_semaphore)
		__asm__ volatile(PROBE_AT("nop", "asked", "-4@$1", "shop_asked_semaphore"));
	return 0;
}
