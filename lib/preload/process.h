/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process.h - children of this process, for the wrappers that make them.
 *
 * Threads   any, as for shim.h.
 */
#ifndef PTX_PRELOAD_PROCESS_H
#define PTX_PRELOAD_PROCESS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The fields of process.fork and process.vfork. */
struct shim_fork {
	uint64_t time;
	int32_t child, error;
	/* of clone(2), with the exit signal in the lowest byte; 0: the call has none */
	uint64_t flags;
};

/* Records process.child. A child calls it, before any other event. */
void shim_child_begins(const void *caller);

/*
 * Records process.fork in the parent. `result` is the id of the child, or negative; `error` is the
 * error number of the call. `begin` is 0 if the call has no event. errno is unchanged.
 */
void shim_put_fork(uint64_t begin, uint64_t flags, long result, int error, const void *caller);

/*
 * Called first in a child that has a copy of the memory and for which no fork handler has run.
 * Resets the shim and records process.child. It is async-signal-safe.
 */
void shim_copy_begins(const void *caller);

/*
 * shim_vfork_child() is called first in a child that shares the memory and whose parent sleeps.
 * shim_vfork_ends() is called later in the parent: `begin` is 0 if the call has no event, and
 * `depth` is the value of shim_vfork_depth before the call. It sets errno if `result` is a negative
 * error number, and returns the result of the call.
 */
void shim_vfork_child(const void *caller);
pid_t shim_vfork_ends(uint64_t begin, uint64_t flags, long result, const void *caller,
		      unsigned depth);

/*
 * Two functions for a call whose parent keeps nothing on its stack. shim_vfork_before() runs before
 * the system call, notes the time of the beginning in thread-local memory, and returns the depth.
 * shim_vfork_parent() does the same as shim_vfork_ends(), with the noted time. In a guest (self.h)
 * shim_vfork_before() returns -1u, and shim_vfork_parent() must not be called.
 */
unsigned shim_vfork_before(void);
pid_t shim_vfork_parent(long result, uint64_t flags, const void *caller, unsigned depth);

/*
 * Called before pidfd_send_signal(2), also by syscall(2). If the signal may end the caller, records
 * the event, because the call may then never return. errno is unchanged.
 */
void shim_pidfd_kills(int fd, int signal, unsigned flags, const void *caller);

/*
 * Returns the id of the process that a descriptor names, or -1 if it cannot be read. errno is
 * unchanged.
 */
int shim_pidfd_id(int fd);

/*
 * unshare(2) and setns(2), also by syscall(2). They pause the threads of the library if necessary.
 */
int shim_unshare(int flags);
int shim_setns(int fd, int type);

/*
 * A child that is made with one of these flags of clone(2) must not return from the C function of
 * the shim that made it. With CLONE_VM it shares the parent's memory. With CLONE_SETTLS it has
 * other thread-local memory, in which errno and the stack protector's value are.
 */
#define SHIM_NO_COPY (CLONE_VM | CLONE_SETTLS)

/*
 * Returns whether a system call makes a child with a copy of the memory and of the stack, as fork()
 * does. `a` and `b` are its first two arguments. The wrapper of syscall() calls this function
 * before the system call. If the child will use the memory of this thread while the thread runs,
 * the function calls shim_share_memory().
 */
bool shim_forks(long number, long a, long b);

/*
 * Two macros for the assembly of a wrapper. SHIM_SAVE_ARGUMENTS makes a frame for a call and stores
 * the arguments there that are in registers. SHIM_LOAD_ARGUMENTS loads them again and removes the
 * frame.
 */
#if defined __x86_64__
/* The frame has 56 bytes, which align the stack. The first 48 bytes have the arguments. */
#define SHIM_SAVE_ARGUMENTS \
	"	subq $56, %rsp\n" \
	"	.cfi_adjust_cfa_offset 56\n" \
	"	movq %rdi, (%rsp)\n" \
	"	movq %rsi, 8(%rsp)\n" \
	"	movq %rdx, 16(%rsp)\n" \
	"	movq %rcx, 24(%rsp)\n" \
	"	movq %r8, 32(%rsp)\n" \
	"	movq %r9, 40(%rsp)\n"
#define SHIM_LOAD_ARGUMENTS \
	"	movq (%rsp), %rdi\n" \
	"	movq 8(%rsp), %rsi\n" \
	"	movq 16(%rsp), %rdx\n" \
	"	movq 24(%rsp), %rcx\n" \
	"	movq 32(%rsp), %r8\n" \
	"	movq 40(%rsp), %r9\n" \
	"	addq $56, %rsp\n" \
	"	.cfi_adjust_cfa_offset -56\n"
#elif defined __aarch64__
/* The frame also has the caller's frame and return address. It has the first seven arguments. */
#define SHIM_SAVE_ARGUMENTS \
	"	stp x29, x30, [sp, #-80]!\n" \
	"	.cfi_adjust_cfa_offset 80\n" \
	"	.cfi_offset 29, -80\n" \
	"	.cfi_offset 30, -72\n" \
	"	mov x29, sp\n" \
	"	stp x0, x1, [sp, #16]\n" \
	"	stp x2, x3, [sp, #32]\n" \
	"	stp x4, x5, [sp, #48]\n" \
	"	str x6, [sp, #64]\n"
#define SHIM_LOAD_ARGUMENTS \
	"	ldp x0, x1, [sp, #16]\n" \
	"	ldp x2, x3, [sp, #32]\n" \
	"	ldp x4, x5, [sp, #48]\n" \
	"	ldr x6, [sp, #64]\n" \
	"	ldp x29, x30, [sp], #80\n" \
	"	.cfi_adjust_cfa_offset -80\n" \
	"	.cfi_restore 29\n" \
	"	.cfi_restore 30\n"
#endif

typedef long shim_syscall_function(long number, ...);

/*
 * Makes a call for which shim_forks() has returned true, by the function `call` with six arguments.
 * Records it in the parent and in the child. It returns in both processes. errno is that of the
 * call.
 */
long shim_fork_call(shim_syscall_function *call, long number, const long *a, const void *caller);

#endif
