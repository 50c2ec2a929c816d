/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of shop.so with a function for each reason to patch it or to refuse it. README says how
 * shop.so was made.
 */
.macro fn name
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
.endm
.macro localfn name
	.type	\name, @function
\name:	.cfi_startproc
.endm
.macro endfn name
	.cfi_endproc
	.size	\name, . - \name
	.p2align 4
.endm

	.data
	.p2align 3
pointer_inside:
	.quad	label_pointed

	.section .rodata
constant:
	.long	77
	.p2align 2
table:	.long	case_one - table, case_three - table
table_inside:
	.long	case_two - table_inside, 0

	.text
	.p2align 4
/* Functions that can be patched: each has another first instruction. */
fn can_load
	movl	constant(%rip), %eax
	addl	%edi, %eax
	ret
endfn can_load
fn can_branch
	testl	%edi, %edi
	js	1f
	leal	(%rdi,%rsi), %eax
	ret
1:	movl	$-1, %eax
	ret
endfn can_branch
fn can_branch_long
	testl	%edi, %edi
	jns	1f
	movl	$-1, %eax
	ret
	.skip	200, 0x90
1:	leal	1(%rdi), %eax
	ret
endfn can_branch_long
fn can_jump
	jmp	1f
	.skip	20, 0x90
1:	leal	2(%rdi), %eax
	ret
endfn can_jump
fn can_tail
	jmp	can_load_hidden
endfn can_tail
fn can_call
	call	can_load_hidden
	addl	$1, %eax
	ret
endfn can_call
fn can_call_pointer
	call	*pointer_inside(%rip)
	addl	$3, %eax
	ret
endfn can_call_pointer
fn can_tiny
	movl	%edi, %eax
	ret
endfn can_tiny
fn can_frame
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$32, %rsp
	movl	%edi, -4(%rbp)
	movl	-4(%rbp), %eax
	leave
	ret
endfn can_frame
fn can_endbr
	endbr64
	leal	7(%rdi), %eax
	ret
endfn can_endbr
fn can_nops
	.skip	5, 0x90
	leal	8(%rdi), %eax
	ret
endfn can_nops
fn can_loop_later
	movl	$2, %ecx
	movl	%edi, %eax
1:	incl	%eax
	loop	1b
	ret
endfn can_loop_later
fn can_switch
	cmpl	$1, %edi
	ja	case_one
	leaq	table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
case_one:
	movl	$1, %eax
	ret
case_three:
	movl	$3, %eax
	ret
endfn can_switch
	.type	can_load_hidden, @function
can_load_hidden:
	movl	constant(%rip), %eax
	ret
	.size	can_load_hidden, . - can_load_hidden
	.p2align 4

/* Functions that are refused. */
fn no_loop
.Lno_loop:
	addl	%esi, %edi
	decl	%esi
	jns	.Lno_loop
	movl	%edi, %eax
	ret
endfn no_loop
fn no_loop_inside
	xorl	%eax, %eax
1:	incl	%eax
	cmpl	%edi, %eax
	jl	1b
	ret
endfn no_loop_inside
fn no_jrcxz
	jrcxz	1f
	movl	$1, %eax
	ret
1:	movl	$2, %eax
	ret
endfn no_jrcxz
fn no_register_call
	pushq	%rbx
	call	*%rdx
	popq	%rbx
	ret
endfn no_register_call
fn no_pointed
	xorl	%eax, %eax
label_pointed:
	addl	$3, %eax
	addl	%edi, %eax
	ret
endfn no_pointed
fn no_address_inside
	xorl	%eax, %eax
1:	addl	$3, %eax
	leaq	1b(%rip), %rdx
	ret
endfn no_address_inside
fn no_decoding
	leal	1(%rdi), %eax
	ret
	.byte	0x06, 0x06, 0x06, 0x06
endfn no_decoding
fn no_first_decoding
	.byte	0x06, 0x06, 0x06, 0x06, 0x06, 0x06
endfn no_first_decoding
fn no_return_address
	movq	(%rsp), %rax
	movq	%rax, %rdx
	ret
endfn no_return_address
fn no_return_address_frame
	pushq	%rbp
	movq	%rsp, %rbp
	movq	8(%rbp), %rax
	popq	%rbp
	ret
endfn no_return_address_frame
fn no_breakpoint
	int3
	movl	$1, %eax
	ret
endfn no_breakpoint
fn no_switch
	xorl	%eax, %eax
case_two:
	addl	$2, %eax
	leaq	table_inside(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
endfn no_switch
	.globl	no_room
	.type	no_room, @function
no_room:
	ret
	.size	no_room, . - no_room
	.globl	no_room_next
	.type	no_room_next, @function
no_room_next:
	movl	$4, %eax
	ret
	.size	no_room_next, 2
	.p2align 4
	.globl	no_symbol_inside
	.type	no_symbol_inside, @function
no_symbol_inside:
	xorl	%eax, %eax
	.globl	no_symbol_inside_too
	.type	no_symbol_inside_too, @function
no_symbol_inside_too:
	addl	$8, %eax
	ret
	.size	no_symbol_inside_too, . - no_symbol_inside_too
	.size	no_symbol_inside, . - no_symbol_inside
	.p2align 4
	.globl	no_size
	.type	no_size, @function
no_size:
	movl	$5, %eax
	ret
	.p2align 4
	.globl	no_resolver
	.type	no_resolver, @gnu_indirect_function
no_resolver:
	leaq	can_load_hidden(%rip), %rax
	ret
	.size	no_resolver, . - no_resolver
	.p2align 4
/* Names that are refused. They are local, so that no program uses these functions. */
localfn memcpy
	movq	%rdi, %rax
	movq	%rdx, %rcx
	rep movsb
	ret
endfn memcpy
localfn _setjmp
	xorl	%eax, %eax
	ret
	nop
	nop
endfn _setjmp
localfn __asan_init
	movl	$1, %eax
	ret
endfn __asan_init
localfn frame_dummy
	movl	$1, %eax
	ret
endfn frame_dummy
localfn can_load.cold
	movl	$1, %eax
	ret
endfn can_load.cold
	.section .note.GNU-stack, "", @progbits
