/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Probes at every kind of place, with every kind of argument. README says how probes.so was made.
 */
.macro fn name
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
.endm
.macro endfn name
	.cfi_endproc
	.size	\name, . - \name
	.p2align 4
.endm
.macro probe name, arguments, semaphore=0, provider="shop", nop=0x90
990:	.byte	\nop
	note_of "\name", "\arguments", \semaphore, "\provider"
.endm
.macro note_of name, arguments, semaphore=0, provider="shop"
	.pushsection .note.stapsdt, "", "note"
	.balign	4
	.4byte	992f-991f, 994f-993f, 3
991:	.asciz	"stapsdt"
992:	.balign	4
993:	.8byte	990b, _.stapsdt.base, \semaphore
	.asciz	"\provider"
	.asciz	"\name"
	.asciz	"\arguments"
994:	.balign	4
	.popsection
.endm

	.section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
	.weak	_.stapsdt.base
_.stapsdt.base:	.space	1
	.size	_.stapsdt.base, 1

	.data
	.globl	shop_stock, shop_asked_semaphore
	.type	shop_stock, @object
	.type	shop_asked_semaphore, @object
shop_stock:
	.long	7, 8, 9, -10
	.size	shop_stock, . - shop_stock
shop_asked_semaphore:
	.short	0
	.size	shop_asked_semaphore, 2

	.text
	.p2align 4
fn probes_moved
	subq	$32, %rsp
	probe values, "8@%rdi -8@%rdi -4@%edi 2@%di -1@%dil -1@%ah 4@%r12d 8@8(%rsp) -4@(%rdx,%rcx,4) -4@$-5 -4@shop_stock(%rip) -4@12+shop_stock(%rip)"
	addq	$32, %rsp
	ret
endfn probes_moved
fn probes_text
	movq	%rdi, %rax
	probe text, "8@%rsi 8@$0 8@$16"
	addq	$1, %rax
	addq	$2, %rax
	ret
endfn probes_text
fn probes_floats
	addsd	%xmm0, %xmm0
	probe floats, "8f@%xmm0 4f@%xmm1"
	addsd	%xmm0, %xmm0
	addsd	%xmm1, %xmm0
	ret
endfn probes_floats
fn probes_before
	xorl	%eax, %eax
	leaq	1(%rdi), %rdx
	probe before, "8@%rdi"
1:	addq	%rdi, %rax
	decq	%rdi
	jne	1b
	ret
endfn probes_before
fn probes_loop
	xorl	%eax, %eax
2:	probe loop, "8@%rdi"
1:	addq	%rdi, %rax
	decq	%rdi
	jne	1b
	decq	%rsi
	jne	2b
	ret
endfn probes_loop
fn probes_room
	leaq	1(%rdi), %rax
990:	.byte	0x0f, 0x1f, 0x44, 0, 0
	note_of "room", "-8@%rax -8@%rdi"
	ret
endfn probes_room
fn probes_several
	movl	$40, %eax
	probe one, "-4@%eax"
	probe two, "-4@%eax"
	incl	%eax
	probe three__last, "-4@%eax"
	addl	shop_stock(%rip), %eax
	ret
endfn probes_several
fn probes_wrong
	probe wrong, "", 0, "shop", 0xc3
endfn probes_wrong
fn probes_semaphores
	movl	$1, %eax
	probe asked, "-4@$1", shop_asked_semaphore
	addl	$10, %eax
	addl	$20, %eax
	probe unasked, "-4@$1", probes_semaphores
	addl	$10, %eax
	addl	$20, %eax
	ret
endfn probes_semaphores
fn probes_other_provider
	movl	$1, %eax
	probe strange, "8@%xyz 3@%rdi @ 8@nowhere(%rip) 8@(%rsp,%rax,3)", 0, "other"
	addl	$10, %eax
	addl	$20, %eax
	ret
endfn probes_other_provider
	.section .text.last, "ax"
990:	nop
	note_of "end", ""
	.section .note.GNU-stack, "", @progbits
