/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_clone.c - family process: children that the C library does not know.
 *
 * A program that needs flags of clone(2), for example new namespaces for a sandbox, makes its
 * child by clone(3) or by syscall(2), not by fork(). No fork handlers run then. There are three
 * kinds of children:
 *
 *	copy     The child has a copy of the memory. It is a process like a child of fork(), and has
 *		 the same events.
 *	vfork    The child shares the memory, and the parent sleeps until the child has executed a
 *		 program or ended. It has the events of a child of vfork().
 *	apart    The child shares the memory. Either it runs while its parent runs, or the caller
 *		 gives it thread-local memory of its own. Only the parent's call is an event. No
 *		 function of the shim runs in the child at its beginning. A child that uses its
 *		 parent's thread-local memory records no events (shim_share_memory()). A thread that
 *		 the C library does not know is such a child, too.
 */
#include <linux/sched.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/process.h"
#include "preload/shim.h"
#include "preload/start.h"
#include "preload/text.h"
#include "preload/vfork.h"

/* The exit signal is in the lowest byte of the flags of clone(2). */
#define EXIT_SIGNAL 0xff

/*
 * Resets the shim in the child and records its first event. A quiet process must not call getpid(),
 * so it has no such event.
 */
void shim_copy_begins(const void *caller)
{
	shim_after_copy();
	if (!shim_is_quiet())
		shim_child_begins(caller);
}

/* Returns the time now if a call from `caller` is traced with this type, and else 0. */
static uint64_t begin_of(enum shim_type type, const void *caller)
{
	return *shim_switch[type] && shim_is_wanted(type, caller) ? shim_now() : 0;
}

static bool is_vfork_like(uint64_t flags)
{
	return (flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS | CLONE_THREAD)) ==
	       (CLONE_VM | CLONE_VFORK);
}

/*
 * Copies the first members of the struct that clone3(2) gets. Returns false if the struct is too
 * short or cannot be read; the kernel then refuses the call. Also returns false if a quiet process
 * cannot determine whether the struct can be read.
 */
static bool read_arguments(struct clone_args *copy, long from, long size)
{
	memset(copy, 0, sizeof *copy);
	if (size < CLONE_ARGS_SIZE_VER0 || !shim_can_read((const void *)from, CLONE_ARGS_SIZE_VER0))
		return false;
	memcpy(copy, (const void *)from, CLONE_ARGS_SIZE_VER0);
	return true;
}

/*
 * If the child will run beside this thread and use its thread-local memory, notes that this thread
 * owns it.
 */
static void share_memory(uint64_t flags)
{
	if ((flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM)
		shim_share_memory();
}

/*
 * Finds the flags and the stack of a call of clone(2) or clone3(2). Returns false for other calls,
 * and if read_arguments() returns false.
 */
static bool find_arguments(struct clone_args *copy, long number, long a, long b)
{
	*copy = (struct clone_args){ .flags = (uint32_t)a, .stack = (uint64_t)b };
	return number == SYS_clone || (number == SYS_clone3 && read_arguments(copy, a, b));
}

bool shim_forks(long number, long a, long b)
{
	struct clone_args copy;

#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	if (!find_arguments(&copy, number, a, b))
		return false;
	share_memory(copy.flags);
	return !copy.stack && !(copy.flags & SHIM_NO_COPY);
}

/* Returns the flags of a call of clone(2) or clone3(2), with the exit signal in the lowest byte. */
static uint64_t flags_of(long number, const long *a)
{
	struct clone_args copy;

	if (number == SYS_clone)
		return (uint32_t)a[0];
	if (number != SYS_clone3 || !read_arguments(&copy, a[0], a[1]))
		return 0;
	return copy.flags | (copy.exit_signal & EXIT_SIGNAL);
}

/* The child continues in the same frames, because its stack is a copy. */
long shim_fork_call(shim_syscall_function *call, long number, const long *a, const void *caller)
{
	const uint64_t begin = begin_of(PROCESS_FORK, caller);
	const uint64_t flags = begin ? flags_of(number, a) : 0;
	long result = call(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	if (result == 0)
		shim_copy_begins(caller);
	else
		shim_put_fork(begin, flags, result, errno, caller);
	return result;
}

/* The actions of the assembly of syscall(). */
enum raw_way {
	RAW_PASS,  /* it jumps to the real function */
	RAW_COPY,  /* it jumps to shim_syscall() */
	/* it makes a child that calls shim_new_child() on the parent's stack or a copy of it */
	RAW_STACK,
	RAW_APART  /* it makes a child that returns to the program immediately */
};

/*
 * The member `call` of struct raw_plan has two flags in its highest bits. The other bits have the
 * time when the call began, or 0 if the call has no event. If the parent sleeps, they have the
 * depth for shim_vfork_ends() instead.
 */
#define RAW_IS_STACK (UINT64_C(1) << 63) /* the way is RAW_STACK; the assembly tests this bit */
#define RAW_SLEEPS   (UINT64_C(1) << 62) /* the parent sleeps; the assembly passes this bit */
#define RAW_TIME     (RAW_SLEEPS - 1)

/* Two registers return these values to the assembly. */
struct raw_plan {
	uint64_t call;
	uint64_t way; /* enum raw_way */
};

__attribute__((used)) struct raw_plan shim_raw_before(long number, long a, long b,
						      const void *caller);
__attribute__((used)) void shim_new_child(bool shares, const void *caller);
__attribute__((used)) long shim_raw_after(long result, long number, long a, long b, uint64_t call,
					  const void *caller);

/*
 * A child that shares the memory and has no stack of its own overwrites the return address of the
 * call if this address is on the stack. The program fails without the shim, too.
 */
#if defined __x86_64__
#define KEEPS_RETURN(copy) ((copy).stack != 0)
#else
#define KEEPS_RETURN(copy) true
#endif

/*
 * Runs before clone(2) or clone3(2) by syscall(). The child of such a call continues behind the
 * call, like its parent.
 */
struct raw_plan shim_raw_before(long number, long a, long b, const void *caller)
{
	struct raw_plan plan = { 0, RAW_PASS };
	struct clone_args copy;

	if (shim_is_own(caller) || !find_arguments(&copy, number, a, b))
		return plan;
	share_memory(copy.flags);
	if (!copy.stack && !(copy.flags & SHIM_NO_COPY)) {
		plan.way = RAW_COPY;
	} else if (!(copy.flags & SHIM_NO_COPY)) {
		plan.way = RAW_STACK;
		plan.call = RAW_IS_STACK | begin_of(PROCESS_FORK, caller);
	} else if (!is_vfork_like(copy.flags)) {
		plan.call = begin_of(PROCESS_FORK, caller);
		plan.way = plan.call ? RAW_APART : RAW_PASS;
	} else if (KEEPS_RETURN(copy) && !shim_is_guest()) {
		plan.way = RAW_STACK;
		plan.call = RAW_IS_STACK | RAW_SLEEPS | shim_vfork_before();
	}
	return plan;
}

/*
 * Runs at the beginning of a child. If the child gets a stack of its own, it changes to that stack
 * after this call. Until then it uses its parent's stack or a copy of it. `shares` is true if the
 * child shares the memory and its parent sleeps.
 */
void shim_new_child(bool shares, const void *caller)
{
	if (shares)
		shim_vfork_child(caller);
	else
		shim_copy_begins(caller);
}

/* Runs in the parent. `result` is an id or a negative error number. */
long shim_raw_after(long result, long number, long a, long b, uint64_t call, const void *caller)
{
	const long arguments[] = { a, b };
	const uint64_t flags = flags_of(number, arguments);

	if (call & RAW_SLEEPS)
		return shim_vfork_parent(result, flags, caller, (unsigned)(call & RAW_TIME));
	if (result < 0)
		errno = (int)-result;
	shim_put_fork(call & RAW_TIME, flags, result, (int)-result, caller);
	return result < 0 ? -1 : result;
}

SHIM_NEXT(clone, shim_no_number);

#if defined __x86_64__ || defined __aarch64__

/* The actions of the assembly of clone(). */
enum way {
	WAY_PASS,  /* it jumps to the real function */
	/*
	 * It makes the system call without a new stack and without the flag CLONE_SETTLS. The child
	 * begins on the parent's stack, where it calls shim_new_child(), and then changes to its
	 * own stack. The shim thus records its events on the parent's stack: the child's stack may
	 * be small.
	 */
	WAY_SAME,
	WAY_APART  /* it makes the system call with the new stack */
};

/* Two registers return these values to the assembly. */
struct plan {
	uint64_t begin; /* 0: the call has no event */
	uint32_t way;
	uint32_t depth; /* for shim_vfork_ends() */
};

__attribute__((used)) struct plan shim_clone_before(int (*function)(void *), const void *stack,
						    int flags, const void *caller,
						    const void *local);
__attribute__((used)) int shim_clone_after(int flags, long result, uint64_t begin,
					   const void *caller, unsigned depth);
__attribute__((used, visibility("hidden"))) _Atomic(void *) shim_clone_next;

/*
 * Returns true if `local` may be thread-local memory of the C library. On x86-64 the first word of
 * this memory is its address.
 */
static bool may_be_local(const void *local)
{
	if (!local || !shim_can_read(local, sizeof local))
		return false;
#if defined __x86_64__
	return *(const void *const *)local == local;
#else
	return true;
#endif
}

/*
 * Returns true if the child must get the thread-local memory of its parent. That is necessary if
 * `local` is no thread-local memory of the C library. It is safe if the child has a copy of the
 * memory or if the parent sleeps. The caller then removes CLONE_SETTLS from the flags. For example,
 * a sandbox passes a null pointer so that its child cannot change the errno of the parent. Without
 * thread-local memory, the first call of a wrapper would end the child. With the memory of its
 * parent the child can call wrappers, and shim_clone_after() restores the parent's errno.
 */
static bool needs_memory(int flags, const void *local)
{
	const bool is_safe = !(flags & CLONE_VM) || is_vfork_like(flags & ~CLONE_SETTLS);

	return flags & CLONE_SETTLS && is_safe && !may_be_local(local);
}

/*
 * If needs_memory(): the errno that the parent had before the call of clone(), plus 1. Otherwise 0.
 */
static _Thread_local int kept_errno __attribute__((tls_model("initial-exec")));

/*
 * Runs before the system call. Without a function or a stack the call is passed on, and the real
 * function fails.
 */
struct plan shim_clone_before(int (*function)(void *), const void *stack, int flags,
			      const void *caller, const void *local)
{
	struct plan plan = { 0, WAY_PASS, shim_vfork_depth };

	atomic_store_explicit(&shim_clone_next, (void *)next(clone), memory_order_relaxed);
	if (!function || !stack || shim_is_own(caller))
		return plan;
	kept_errno = 0;
	if (needs_memory(flags, local)) {
		flags &= ~CLONE_SETTLS;
		kept_errno = errno + 1;
	}
	/*
	 * This process is a guest: a thread that runs beside it owns the thread-local memory. In a
	 * child of the guest the shim would store into this memory, so the call is passed on.
	 */
	if (is_vfork_like(flags) && shim_is_guest())
		return plan;
	share_memory((uint32_t)flags);
	plan.begin = begin_of(is_vfork_like(flags) ? PROCESS_VFORK : PROCESS_FORK, caller);
	if (is_vfork_like(flags) || !(flags & SHIM_NO_COPY))
		plan.way = WAY_SAME;
	else if (plan.begin)
		plan.way = WAY_APART;
	return plan;
}

/* Runs in the parent. `result` is an id or a negative error number. */
int shim_clone_after(int flags, long result, uint64_t begin, const void *caller, unsigned depth)
{
	if (kept_errno)
		errno = kept_errno - 1;
	if (is_vfork_like(flags))
		return shim_vfork_ends(begin, (uint32_t)flags, result, caller, depth);
	if (result < 0)
		errno = (int)-result;
	shim_put_fork(begin, (uint32_t)flags, result, (int)-result, caller);
	return result < 0 ? -1 : (int)result;
}

/*
 * clone(3). The child's stack may begin immediately below the frame of the caller, and the child
 * may use it while the parent still runs this code. So after the system call the parent uses
 * nothing that it has stored on the stack. As in the C library, the child ends with the result of
 * the function.
 */
#if defined __x86_64__

/*
 * The time of the beginning is in r9, and the depth in r8, which the system call does not change.
 * With a new stack r8 has the thread-local memory; then shim_clone_after() does not use the depth.
 *
 * The first 48 bytes of the frame have the arguments in registers. A child on its parent's stack
 * reads the function, its argument and the new stack from there, and then leaves that stack for
 * ever.
 */
__asm__(
	"	.text\n"
	"	.globl clone\n"
	"	.type clone, @function\n"
	"	.globl __clone\n"
	"	.type __clone, @function\n"
	"	.p2align 4\n"
	"__clone:\n"
	"clone:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	SHIM_SAVE_ARGUMENTS
	"	movq 56(%rsp), %rcx\n" /* the return address */
	"	movq %r9, %r8\n"
	"	call shim_clone_before\n"
	"	testl %edx, %edx\n"
	"	jz 4f\n"
	"	movq %rax, %r9\n"
	"	movq %rdx, %rcx\n"
	"	shrq $32, %rcx\n" /* plan.depth */
	"	movl %edx, %eax\n"
	"	movl 16(%rsp), %edi\n" /* flags */
	"	movq 32(%rsp), %rdx\n"
	"	movq 64(%rsp), %r10\n" /* the argument on the caller's stack */
	"	movq 40(%rsp), %r8\n"
	"	xorl %esi, %esi\n"
	"	cmpl $2, %eax\n" /* WAY_APART */
	"	je 6f\n"
	"	andl $~0x80000, %edi\n" /* CLONE_SETTLS */
	"	movl %ecx, %r8d\n" /* Without the flag the kernel does not use this argument. */
	"	jmp 1f\n"
	"6:	movq 8(%rsp), %rsi\n"
	"	andq $-16, %rsi\n"
	"	movq (%rsp), %rax\n"
	"	movq %rax, -16(%rsi)\n"
	"	movq 24(%rsp), %rax\n"
	"	movq %rax, -8(%rsi)\n"
	"	subq $16, %rsi\n"
	"1:	movl $56, %eax\n" /* SYS_clone */
	"	syscall\n"
	"	testq %rax, %rax\n"
	"	jz 2f\n"
	"	addq $56, %rsp\n"
	"	.cfi_adjust_cfa_offset -56\n"
	"	movq %rax, %rsi\n"
	"	movq %r9, %rdx\n"
	"	movq (%rsp), %rcx\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call shim_clone_after\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	/* The child has no caller, so an unwinder ends here. */
	"	.cfi_startproc\n"
	"	.cfi_undefined %rip\n"
	"2:	testq %rsi, %rsi\n"
	"	jnz 3f\n"
	"	movq 56(%rsp), %rsi\n"
	"	shrl $8, %edi\n" /* CLONE_VM */
	"	andl $1, %edi\n"
	"	call shim_new_child\n"
	"	movq (%rsp), %rax\n"
	"	movq 24(%rsp), %rdi\n"
	"	movq 8(%rsp), %rsp\n"
	"	andq $-16, %rsp\n"
	"	jmp 5f\n"
	"3:	popq %rax\n"
	"	popq %rdi\n"
	"5:	xorl %ebp, %ebp\n"
	"	call *%rax\n"
	"	movl %eax, %edi\n"
	"	movl $60, %eax\n" /* SYS_exit */
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 64\n"
	"4:\n"
	SHIM_LOAD_ARGUMENTS
	"	jmp *shim_clone_next(%rip)\n"
	"	.cfi_endproc\n"
	"	.size clone, . - clone\n"
	"	.size __clone, . - __clone\n");

#else /* arm64 */

/*
 * The system call preserves all registers but x0. x9 has the time of the beginning, w10 the flags,
 * w11 the depth, x12 to x14 the function, its argument and the new stack, and w15 the way. A child
 * on its parent's stack stores three of them there during the call of shim_new_child(), and then
 * leaves that stack for ever.
 */
__asm__(
	"	.text\n"
	"	.globl clone\n"
	"	.type clone, %function\n"
	"	.globl __clone\n"
	"	.type __clone, %function\n"
	"	.p2align 4\n"
	"__clone:\n"
	"clone:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	SHIM_SAVE_ARGUMENTS
	"	mov x3, x30\n"
	"	mov x4, x5\n" /* the thread-local memory */
	"	bl shim_clone_before\n"
	"	mov x9, x0\n"
	"	mov w15, w1\n"
	"	lsr x11, x1, #32\n" /* plan.depth */
	SHIM_LOAD_ARGUMENTS
	"	cbz w15, 4f\n"
	"	mov w10, w2\n"
	"	mov x12, x0\n"
	"	mov x13, x3\n"
	"	and x14, x1, #-16\n"
	"	mov w0, w2\n"
	"	mov x1, x14\n"
	"	mov x2, x4\n"
	"	mov x3, x5\n"
	"	mov x4, x6\n"
	"	cmp w15, #2\n" /* WAY_APART */
	"	b.eq 1f\n"
	"	mov x1, #0\n"
	"	and w10, w10, #~0x80000\n" /* CLONE_SETTLS */
	"	mov w0, w10\n"
	"1:	mov x8, #220\n" /* SYS_clone */
	"	svc #0\n"
	"	cbz x0, 2f\n"
	"	mov x1, x0\n"
	"	mov w0, w10\n"
	"	mov x2, x9\n"
	"	mov x3, x30\n"
	"	mov w4, w11\n"
	"	b shim_clone_after\n"
	"4:	adrp x16, shim_clone_next\n"
	"	ldr x16, [x16, :lo12:shim_clone_next]\n"
	"	br x16\n"
	"	.cfi_endproc\n"
	/* The child has no caller, so an unwinder ends here. */
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"2:	cmp w15, #2\n" /* WAY_APART */
	"	b.eq 3f\n"
	"	stp x12, x13, [sp, #-32]!\n"
	"	str x14, [sp, #16]\n"
	"	ubfx w0, w10, #8, #1\n" /* CLONE_VM */
	"	mov x1, x30\n"
	"	mov x29, #0\n"
	"	bl shim_new_child\n"
	"	ldp x12, x13, [sp]\n"
	"	ldr x14, [sp, #16]\n"
	"	mov sp, x14\n"
	"3:	mov x29, #0\n"
	"	mov x0, x13\n"
	"	blr x12\n"
	"	mov x8, #93\n" /* SYS_exit */
	"	svc #0\n"
	"	brk #0\n"
	"	.cfi_endproc\n"
	"	.size clone, . - clone\n"
	"	.size __clone, . - __clone\n");

#endif

#else /* other processors */

/* The call as the program made it. The child reads it in its copy of the parent's frame. */
struct clone_call {
	int (*function)(void *argument);
	void *argument;
	const void *caller;
};

/*
 * The real clone() calls this function in the child. Returns the result of the program's function.
 */
static int clone_begins(void *argument)
{
	const struct clone_call call = *(const struct clone_call *)argument;

	shim_copy_begins(call.caller);
	return call.function(call.argument);
}

/*
 * clone(3). Most programs pass only some of the last three arguments, which the real function reads
 * if the flags say so. Children that share the memory have no event here.
 */
SHIM_WRAPPER int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	struct clone_call call = { function, argument, shim_caller() };
	pid_t *parent, *child;
	uint64_t begin;
	va_list list;
	void *local;
	int result;

	va_start(list, argument);
	parent = va_arg(list, pid_t *);
	local = va_arg(list, void *);
	child = va_arg(list, pid_t *);
	va_end(list);
	/* Without a function or a stack the call fails. */
	share_memory((uint32_t)flags);
	if ((flags & SHIM_NO_COPY) || !function || !stack || shim_is_own(call.caller))
		return next(clone)(function, stack, flags, argument, parent, local, child);
	begin = begin_of(PROCESS_FORK, call.caller);
	result = next(clone)(clone_begins, stack, flags, &call, parent, local, child);
	shim_put_fork(begin, (uint32_t)flags, result, errno, call.caller);
	return result;
}

SHIM_ALIAS(__clone, clone);

#endif
