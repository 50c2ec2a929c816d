/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_vfork.c - family process: vfork(), which returns twice on one stack.
 *
 * The child returns first and runs in the caller's frame, where it overwrites everything that a
 * wrapper would have left on the stack. The wrapper therefore leaves nothing there. Like the C
 * library's vfork(), it moves the return address into a register, which the kernel preserves for
 * both processes. After the system call it moves the address back to the stack. Data that the
 * parent needs after the call is thread-local. The child shares this data with its parent, which
 * sleeps meanwhile.
 *
 * Events of the child are recorded as events of the parent's thread, whose memory the child uses.
 * The fields of these events have the child's process id. When the child has executed a program or
 * ended, the parent's thread continues.
 *
 * On other processors than x86-64 and arm64, the shim does not wrap vfork().
 */
#include <unistd.h>

#include "preload/process.h"
#include "preload/shim.h"
#include "preload/vfork.h"

/*
 * The child increases this variable, in memory that it shares with the parent. When the parent
 * continues, it does not decrease the variable but stores the former value, because a child that
 * was killed at its beginning has not increased it.
 */
_Thread_local unsigned shim_vfork_depth __attribute__((tls_model("initial-exec")));

/*
 * Times of the calls of vfork() by the depth of the caller; 0 if the type was not traced then. A
 * child that calls vfork() must not overwrite the time of its parent, which sleeps. The calls of
 * deeper children share the last place.
 */
#define DEPTHS 4
static _Thread_local uint64_t begin[DEPTHS] __attribute__((tls_model("initial-exec")));

static uint64_t *begin_at(unsigned depth)
{
	return &begin[depth < DEPTHS ? depth : DEPTHS - 1];
}

/* The assembly below calls this function, and each function that is marked as used. */
__attribute__((used)) pid_t shim_vfork_of_guest(long result);

#define GUEST (-1u)

/*
 * Runs before the system call, in the parent. Returns shim_vfork_depth, or GUEST if the parent is a
 * guest (self.h). In the second case the owner of the thread-local memory runs meanwhile, so the
 * call has no event and stores nothing there.
 */
__attribute__((used)) unsigned shim_vfork_before(void)
{
	if (shim_is_guest())
		return GUEST;
	*begin_at(shim_vfork_depth) = *shim_switch[PROCESS_VFORK] ? shim_now() : 0;
	return shim_vfork_depth;
}

/* Runs after the system call of a guest, in the child and in the parent. */
pid_t shim_vfork_of_guest(long result)
{
	if (result < 0)
		errno = (int)-result;
	return result < 0 ? -1 : (pid_t)result;
}

/*
 * The assembly calls this function in the child. shim_pid() may call getpid() here, because the
 * child's id is new. The parent's id is known without a system call.
 */
__attribute__((used)) void shim_vfork_child(const void *caller)
{
	int32_t data[2];

	shim_vfork_depth++;
	shim_self_vforked();
	if (!*shim_switch[PROCESS_VCHILD] || !shim_is_wanted(PROCESS_VCHILD, caller))
		return;
	data[0] = shim_pid();
	data[1] = shim_parent();
	shim_put(PROCESS_VCHILD, data, sizeof data, caller);
}

/*
 * Runs in the parent after the child has executed a program or ended. `result` is the result of the
 * system call: an id or a negative error number. As the C library does, this function must set
 * errno after an error.
 */
pid_t shim_vfork_ends(uint64_t since, uint64_t flags, long result, const void *caller,
		      unsigned depth)
{
	struct shim_fork data = { .child = result < 0 ? -1 : (int32_t)result,
				  .error = result < 0 ? (int32_t)-result : 0,
				  .flags = flags };

	/* After an error there was no child. */
	if (result >= 0) {
		shim_vfork_depth = depth;
		shim_self_vfork_ends();
	}
	if (result < 0)
		errno = (int)-result;
	if (since && *shim_switch[PROCESS_VFORK] && shim_is_wanted(PROCESS_VFORK, caller)) {
		data.time = shim_now() - since;
		shim_put(PROCESS_VFORK, &data, sizeof data, caller);
	}
	return data.child;
}

__attribute__((used)) pid_t shim_vfork_parent(long result, uint64_t flags, const void *caller,
					      unsigned depth)
{
	return shim_vfork_ends(*begin_at(depth), flags, result, caller, depth);
}

#if defined __x86_64__

/*
 * vfork() itself, which has no flags. The return address is kept in rdi, which the system call does
 * not change. syscall overwrites rcx and r11. The cfi directives describe where the return address
 * is at each instruction.
 */
__asm__(
	"	.text\n"
	"	.globl vfork\n"
	"	.type vfork, @function\n"
	"	.globl __vfork\n"
	"	.type __vfork, @function\n"
	"	.globl shim_vfork\n" /* for syscall(SYS_vfork) */
	"	.hidden shim_vfork\n"
	"	.type shim_vfork, @function\n"
	"	.p2align 4\n"
	"__vfork:\n"
	"shim_vfork:\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call shim_vfork_before\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	movl %eax, %r9d\n" /* which the system call does not change */
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	movl $58, %eax\n" /* SYS_vfork */
	"	syscall\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rip, -8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	cmpl $-1, %r9d\n" /* GUEST */
	"	je 2f\n"
	"	testq %rax, %rax\n"
	"	je 1f\n"
	"	movq %rdi, %rdx\n"
	"	movq %rax, %rdi\n"
	"	xorl %esi, %esi\n"
	"	movl %r9d, %ecx\n"
	"	call shim_vfork_parent\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"1:	call shim_vfork_child\n"
	"	xorl %eax, %eax\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"2:	movq %rax, %rdi\n"
	"	call shim_vfork_of_guest\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size vfork, . - vfork\n");

#elif defined __aarch64__

/*
 * vfork() itself. The kernel has no such system call here, but clone(2) with these flags does the
 * same. The system call preserves all registers but x0. So both processes find the return address
 * in x30, and shim_vfork_depth is kept in w9.
 */
__asm__(
	"	.text\n"
	"	.globl vfork\n"
	"	.type vfork, %function\n"
	"	.globl __vfork\n"
	"	.type __vfork, %function\n"
	"	.p2align 4\n"
	"__vfork:\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov x29, sp\n"
	"	bl shim_vfork_before\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	mov w9, w0\n"
	"	mov x0, #0x4111\n" /* CLONE_VFORK | CLONE_VM | SIGCHLD */
	"	mov x1, #0\n"      /* no stack of its own */
	"	mov x8, #220\n"    /* SYS_clone */
	"	svc #0\n"
	"	cmn w9, #1\n" /* GUEST */
	"	b.eq shim_vfork_of_guest\n"
	"	cbz x0, 1f\n"
	"	mov x1, #0\n"
	"	mov x2, x30\n"
	"	mov w3, w9\n"
	"	b shim_vfork_parent\n"
	"1:	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov x29, sp\n"
	"	mov x0, x30\n"
	"	bl shim_vfork_child\n"
	"	mov x0, #0\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size vfork, . - vfork\n");

#endif
