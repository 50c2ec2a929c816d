/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/syscall.c - calls of syscall(2) by the program.
 *
 * The wrapper handles the system calls that restrict the thread (seccomp.c). It also traces
 * openat2(2), close_range(2), pidfd_open(2), pidfd_getfd(2) and pidfd_send_signal(2), for which
 * many versions of the C library have no function; futex(2), for which no version has a function;
 * and calls that make children (process_clone.c, process_vfork.c). unshare(2) and setns(2) are
 * handled as by their wrappers (process_unshare.c). All other system calls are passed on and not
 * traced. Before such a call, the wrapper forgets the memory that the call may unmap or make
 * unreadable (known.h).
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/io.h"
#include "preload/known.h"
#include "preload/process.h"
#include "preload/seccomp.h"
#include "preload/shim.h"
#include "preload/text.h"

SHIM_NEXT(syscall, shim_no_number);

/*
 * open_how(), close_some(), futex_call() and pidfd_call() do not use SHIM_CALL(), because
 * SHIM_CALL() would record their own return address. They get the address of the program's call as
 * the argument `caller`, and return the result of the system call.
 */

/*
 * openat2(2), for which most versions of the C library have no function. The struct with the flags
 * is copied before the call, if it is readable.
 */
static long open_how(long folder, long path, long how, long size, const void *caller)
{
	struct shim_opened opened;
	uint64_t words[2] = { 0 };
	long result;

	if (!*shim_switch[IO_OPEN] || !shim_is_wanted(IO_OPEN, caller))
		return next(syscall)(SYS_openat2, folder, path, how, size);
	/*
	 * The first two words of the struct are `flags` and `mode`; the third word is not recorded.
	 */
	shim_copy_input(words, (const void *)how, sizeof words);
	opened.folder = (int)folder;
	opened.flags = (uint32_t)words[0];
	opened.mode = (uint32_t)words[1];
	opened.path = (const char *)path;
	opened.len = shim_text_unsure(opened.text, sizeof opened.text, opened.path);
	/* Unlike open(), syscall() is no cancellation point, so no cleanup is needed. */
	opened.began = shim_now();
	result = next(syscall)(SYS_openat2, folder, path, how, size);
	opened.fd = (int)result;
	shim_put_open(&opened, caller);
	return result;
}

/*
 * close_range(2), for which glibc before 2.34 has no function. The library's own descriptors may be
 * in the range. That does no harm, because the library needs no descriptor to record events.
 */
static long close_some(long first, long last, long flags, const void *caller)
{
	struct {
		uint64_t time;
		int32_t error;
		uint32_t first, last, flags;
	} data = { .first = (uint32_t)first, .last = (uint32_t)last, .flags = (uint32_t)flags };
	long result;

	if (!*shim_switch[IO_CLOSE_RANGE] || !shim_is_wanted(IO_CLOSE_RANGE, caller))
		return next(syscall)(SYS_close_range, first, last, flags);
	data.time = shim_now();
	result = next(syscall)(SYS_close_range, first, last, flags);
	data.error = result ? errno : 0;
	data.time = shim_now() - data.time;
	shim_put(IO_CLOSE_RANGE, &data, sizeof data, caller);
	return result;
}

/* The fields of lock.futex; lock.futex_wake also has `result`, the number of woken threads. */
struct futex_data {
	uint64_t time;
	uint64_t lock;
	int32_t error;
	uint32_t operation;
	int32_t result;
};

static bool futex_waits(int operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case 13: /* FUTEX_LOCK_PI2, which older headers lack */
		return true;
	}
	return false;
}

/*
 * futex(2). A call that neither waits nor wakes a thread has no event: a program makes many such
 * calls, and they explain nothing.
 */
static long futex_call(long a, long b, long c, long d, long e, long f, const void *caller)
{
	const bool waits = futex_waits((int)b);
	const enum shim_type type = waits ? LOCK_FUTEX : LOCK_FUTEX_WAKE;
	struct futex_data data = { .lock = (uint64_t)a, .operation = (uint32_t)b };
	long result;

	if (!*shim_switch[type] || !shim_is_wanted(type, caller))
		return next(syscall)(SYS_futex, a, b, c, d, e, f);
	data.time = shim_now();
	result = next(syscall)(SYS_futex, a, b, c, d, e, f);
	data.error = result < 0 ? errno : 0;
	data.result = (int32_t)result;
	/* EAGAIN: the value has changed before the wait. */
	if (waits ? data.error == EAGAIN : result <= 0)
		return result;
	data.time = shim_now() - data.time;
	shim_put(type, &data, waits ? offsetof(struct futex_data, result) :
		 offsetof(struct futex_data, result) + sizeof data.result, caller);
	/* shim_put() keeps errno. */
	return result;
}

/*
 * pidfd_open(2), pidfd_getfd(2) and pidfd_send_signal(2). The events have the first two arguments.
 * The events of the first two calls also have the result, which is a descriptor.
 */
static long pidfd_call(long number, long a, long b, long c, long d, const void *caller)
{
	const enum shim_type type = number == SYS_pidfd_open ? PROCESS_PIDFD :
		number == SYS_pidfd_getfd ? PROCESS_PIDFD_GET : PROCESS_PIDFD_KILL;
	struct {
		uint64_t time;
		int32_t error, field[3];
	} data;
	unsigned fields = 0;
	long result;

	if (!*shim_switch[type] || !shim_is_wanted(type, caller))
		return next(syscall)(number, a, b, c, d);
	if (type == PROCESS_PIDFD_KILL)
		shim_pidfd_kills((int)a, (int)b, (unsigned)d, caller);
	data.time = shim_now();
	result = next(syscall)(number, a, b, c, d);
	data.error = result < 0 ? errno : 0;
	data.time = shim_now() - data.time;
	if (type != PROCESS_PIDFD_KILL)
		data.field[fields++] = (int32_t)result;
	data.field[fields++] = (int32_t)a;
	data.field[fields++] = (int32_t)b;
	shim_put(type, &data, offsetof(__typeof__(data), field) + fields * sizeof data.field[0],
		 caller);
	return result;
}

/*
 * The assembly below jumps to this function with the arguments of syscall(). So its return address
 * is in the caller of syscall().
 */
__attribute__((used)) long shim_syscall(long number, long a, long b, long c, long d, long e,
					long f);
__attribute__((used, visibility("hidden"))) shim_start_data _Atomic(void *) shim_syscall_next;

long shim_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	struct shim_change change;
	long result;

	/* None of these system calls returns on another stack, so C functions may make them. */
	if (number == SYS_openat2)
		return open_how(a, b, c, d, shim_caller());
	if (number == SYS_close_range)
		return close_some(a, b, c, shim_caller());
	if (number == SYS_futex)
		return futex_call(a, b, c, d, e, f, shim_caller());
	if (number == SYS_pidfd_open || number == SYS_pidfd_getfd ||
	    number == SYS_pidfd_send_signal)
		return pidfd_call(number, a, b, c, d, shim_caller());
	if (shim_forks(number, a, b)) {
		const long arguments[] = { a, b, c, d, e, f };

		return shim_fork_call(next(syscall), number, arguments, shim_caller());
	}
	if (number == SYS_unshare)
		return shim_unshare((int)a);
	if (number == SYS_setns)
		return shim_setns((int)a, (int)b);
	shim_forget_by_call(number, a, b, c, d, e);
	change = shim_change_of(number, a, b, c);
	shim_before_change(&change, shim_caller());
	result = next(syscall)(number, a, b, c, d, e, f);
	shim_after_change(&change, result, shim_caller());
	return result;
}

/*
 * The assembly jumps to the real function, whose address is in shim_syscall_next. Before this
 * variable is set, every call is handled in C.
 */
void shim_syscall_begin(void)
{
	atomic_store_explicit(&shim_syscall_next, next(syscall), memory_order_release);
}

/*
 * syscall(). A wrapper with a frame of its own would disturb system calls that return twice or on
 * another stack, such as clone(). The code jumps to the real function for each call that C does not
 * handle, with the registers unchanged. C handles clone() and clone3() if they have no new stack
 * and none of the flags SHIM_NO_COPY. shim_raw_before() decides this (process_clone.c). The
 * assembly makes the other children that the shim records. After the system call the parent uses
 * nothing that it has stored on the stack, because a child may use that stack, too. The wrapper of
 * vfork() makes the same system call as syscall(SYS_vfork).
 */
#if defined __x86_64__

__asm__(
	"	.text\n"
	"	.globl syscall\n"
	"	.type syscall, @function\n"
	"	.p2align 4\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmpq $56, %rdi\n" /* SYS_clone */
	"	je 1f\n"
	"	cmpq $435, %rdi\n" /* SYS_clone3 */
	"	je 1f\n"
	"	cmpq $57, %rdi\n" /* SYS_fork */
	"	je shim_syscall\n"
	"	cmpq $58, %rdi\n" /* SYS_vfork */
	"	je shim_vfork\n"
	"	leaq -9(%rdi), %rax\n" /* SYS_mmap, SYS_mprotect, SYS_munmap, SYS_brk */
	"	cmpq $3, %rax\n"
	"	jbe shim_syscall\n"
	"	cmpq $25, %rdi\n" /* SYS_mremap */
	"	je shim_syscall\n"
	"	cmpq $28, %rdi\n" /* SYS_madvise */
	"	je shim_syscall\n"
	"	cmpq $30, %rdi\n" /* SYS_shmat */
	"	je shim_syscall\n"
	"	cmpq $157, %rdi\n" /* SYS_prctl */
	"	je shim_syscall\n"
	"	cmpq $202, %rdi\n" /* SYS_futex */
	"	je shim_syscall\n"
	"	cmpq $272, %rdi\n" /* SYS_unshare */
	"	je shim_syscall\n"
	"	cmpq $308, %rdi\n" /* SYS_setns */
	"	je shim_syscall\n"
	"	cmpq $317, %rdi\n" /* SYS_seccomp */
	"	je shim_syscall\n"
	"	cmpq $329, %rdi\n" /* SYS_pkey_mprotect */
	"	je shim_syscall\n"
	"	cmpq $424, %rdi\n" /* SYS_pidfd_send_signal */
	"	je shim_syscall\n"
	"	cmpq $434, %rdi\n" /* SYS_pidfd_open */
	"	je shim_syscall\n"
	"	cmpq $436, %rdi\n" /* SYS_close_range */
	"	je shim_syscall\n"
	"	cmpq $437, %rdi\n" /* SYS_openat2 */
	"	je shim_syscall\n"
	"	cmpq $438, %rdi\n" /* SYS_pidfd_getfd */
	"	je shim_syscall\n"
	"2:	movq shim_syscall_next(%rip), %rax\n"
	"	testq %rax, %rax\n"
	"	je shim_syscall\n"
	"	jmp *%rax\n"
	"1:\n"
	SHIM_SAVE_ARGUMENTS
	"	movq 56(%rsp), %rcx\n" /* the return address */
	"	call shim_raw_before\n"
	"	cmpl $2, %edx\n" /* RAW_STACK */
	"	jae 3f\n"
	"	movl %edx, %eax\n"
	SHIM_LOAD_ARGUMENTS
	"	testl %eax, %eax\n"
	"	je 2b\n"
	"	jmp shim_syscall\n"
	"	.cfi_endproc\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 64\n"
	/*
	 * plan.call is in r9, which the system call does not use. For RAW_STACK, r8 has the frame
	 * of the parent. These calls have no thread-local memory, which would be in r8.
	 */
	"3:	movq %rax, %r9\n"
	"	movq %rsp, %r8\n"
	"	je 4f\n"
	"	movq 40(%rsp), %r8\n"
	"4:	movl (%rsp), %eax\n"
	"	movq 8(%rsp), %rdi\n"
	"	movq 16(%rsp), %rsi\n"
	"	movq 24(%rsp), %rdx\n"
	"	movq 32(%rsp), %r10\n"
	"	addq $56, %rsp\n"
	"	.cfi_adjust_cfa_offset -56\n"
	"	cmpl $56, %eax\n" /* SYS_clone */
	"	jne 5f\n"
	"	syscall\n"
	"	movl $56, %r10d\n"
	"	jmp 6f\n"
	"5:	syscall\n"
	"	movl $435, %r10d\n" /* SYS_clone3 */
	"6:	testq %rax, %rax\n"
	"	jz 7f\n"
	"	movq %rsi, %rcx\n"
	"	movq %rdi, %rdx\n"
	"	movl %r10d, %esi\n"
	"	movq %rax, %rdi\n"
	"	movq %r9, %r8\n"
	"	movq (%rsp), %r9\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call shim_raw_after\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	/*
	 * The child, which finds its return address on its own stack. shim_new_child() uses none of
	 * that stack.
	 */
	"7:	testq %r9, %r9\n"
	"	jns 8f\n"
	"	movq %rsp, (%r8)\n"
	"	movq %r8, %rsp\n"
	"	.cfi_adjust_cfa_offset 56\n"
	"	movq %r9, %rdi\n"
	"	shrq $62, %rdi\n" /* RAW_SLEEPS */
	"	andl $1, %edi\n"
	"	movq 56(%rsp), %rsi\n"
	"	call shim_new_child\n"
	"	movq (%rsp), %rsp\n"
	"	.cfi_adjust_cfa_offset -56\n"
	"	xorl %eax, %eax\n"
	"8:	ret\n"
	"	.cfi_endproc\n"
	"	.size syscall, . - syscall\n");

#elif defined __aarch64__

__asm__(
	"	.text\n"
	"	.globl syscall\n"
	"	.type syscall, %function\n"
	"	.p2align 4\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	cmp x0, #220\n" /* SYS_clone */
	"	b.eq 4f\n"
	"	sub x16, x0, #214\n" /* SYS_brk, SYS_munmap, SYS_mremap */
	"	cmp x16, #2\n"
	"	b.ls 1f\n"
	"	cmp x0, #222\n" /* SYS_mmap */
	"	b.eq 1f\n"
	"	cmp x0, #226\n" /* SYS_mprotect */
	"	b.eq 1f\n"
	"	cmp x0, #233\n" /* SYS_madvise */
	"	b.eq 1f\n"
	"	cmp x0, #196\n" /* SYS_shmat */
	"	b.eq 1f\n"
	"	cmp x0, #288\n" /* SYS_pkey_mprotect */
	"	b.eq 1f\n"
	"	cmp x0, #167\n" /* SYS_prctl */
	"	b.eq 1f\n"
	"	cmp x0, #98\n" /* SYS_futex */
	"	b.eq 1f\n"
	"	cmp x0, #97\n" /* SYS_unshare */
	"	b.eq 1f\n"
	"	cmp x0, #268\n" /* SYS_setns */
	"	b.eq 1f\n"
	"	cmp x0, #277\n" /* SYS_seccomp */
	"	b.eq 1f\n"
	"	mov x16, #435\n" /* SYS_clone3 */
	"	cmp x0, x16\n"
	"	b.eq 4f\n"
	"	cmp x0, #424\n" /* SYS_pidfd_send_signal */
	"	b.eq 1f\n"
	"	cmp x0, #434\n" /* SYS_pidfd_open */
	"	b.eq 1f\n"
	"	cmp x0, #438\n" /* SYS_pidfd_getfd */
	"	b.eq 1f\n"
	"	cmp x0, #436\n" /* SYS_close_range */
	"	b.eq 1f\n"
	"	cmp x0, #437\n" /* SYS_openat2 */
	"	b.eq 1f\n"
	"2:	adrp x16, shim_syscall_next\n"
	"	ldr x16, [x16, :lo12:shim_syscall_next]\n"
	"	cbz x16, 1f\n"
	"	br x16\n"
	"1:	b shim_syscall\n"
	"4:\n"
	SHIM_SAVE_ARGUMENTS
	"	mov x3, x30\n"
	"	bl shim_raw_before\n"
	"	mov x9, x0\n"
	"	mov w16, w1\n"
	SHIM_LOAD_ARGUMENTS
	"	cbz w16, 2b\n"
	"	cmp w16, #1\n" /* RAW_COPY */
	"	b.eq shim_syscall\n"
	/*
	 * The system call preserves all registers but x0. x9 has plan.call, x10 to x12 have the
	 * number and the first two arguments, and x13 has the parent's stack pointer.
	 */
	"	mov x10, x0\n"
	"	mov x11, x1\n"
	"	mov x12, x2\n"
	"	mov x13, sp\n"
	"	mov x14, x30\n"
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	mov x2, x3\n"
	"	mov x3, x4\n"
	"	mov x4, x5\n"
	"	mov x5, x6\n"
	"	svc #0\n"
	"	cbz x0, 5f\n"
	"	mov x1, x10\n"
	"	mov x2, x11\n"
	"	mov x3, x12\n"
	"	mov x4, x9\n"
	"	mov x5, x14\n"
	"	b shim_raw_after\n"
	/* The child. Its return address remains in x30. */
	"5:	tbz x9, #63, 6f\n"
	"	mov x10, sp\n"
	"	mov sp, x13\n"
	"	stp x10, x30, [sp, #-16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	.cfi_offset 30, -8\n"
	"	ubfx x0, x9, #62, #1\n" /* RAW_SLEEPS */
	"	mov x1, x14\n"
	"	bl shim_new_child\n"
	"	ldp x10, x30, [sp]\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.cfi_restore 30\n"
	"	mov sp, x10\n"
	"	mov x0, #0\n"
	"6:	ret\n"
	"	.cfi_endproc\n"
	"	.size syscall, . - syscall\n");

#endif
