/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/seccomp.c - family process: the program restricts the system calls that it may make.
 *
 * Before a filter is installed, the library reserves what it needs. From then on it makes no
 * system call that the program did not request (posix_trace_confine_np()). A thread in strict
 * mode, or after prctl(PR_SET_TSC), must not read the processor's counter, on which the clock is
 * based: the thread's events are counted as lost.
 *
 * A filter that the program installs by its own system call instruction is not seen.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/shim.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/*
 * The effect of a call: none; a filter for system calls; only read(), write() and exit() remain;
 * no clock; the clock is available again.
 */
enum limit { LIMIT_NONE, LIMIT_FILTER, LIMIT_STRICT, LIMIT_CLOCK, LIMIT_CLOCK_NO_MORE };

/* flags are those of seccomp(2). */
struct change {
	enum limit limit;
	uint32_t flags;
};

/*
 * Determines the effect of prctl(). Programs pass a null filter to find out whether the kernel
 * supports filters; that installs none. PR_SET_SYSCALL_USER_DISPATCH makes system calls outside
 * of a range signal SIGSYS, so that it is treated as a filter.
 */
static struct change of_prctl(int option, unsigned long value, unsigned long filter)
{
	struct change change = { LIMIT_NONE, 0 };

	if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
		change.limit = LIMIT_STRICT;
	else if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_FILTER && filter)
		change.limit = LIMIT_FILTER;
	else if (option == PR_SET_SYSCALL_USER_DISPATCH && value)
		change.limit = LIMIT_FILTER;
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		change.limit = LIMIT_CLOCK;
	else if (option == PR_SET_TSC && value == PR_TSC_ENABLE)
		change.limit = LIMIT_CLOCK_NO_MORE;
	return change;
}

/* Determines the effect of a system call that a program makes through syscall(). */
static struct change of_syscall(long number, long a, long b, long c)
{
	struct change change = { LIMIT_NONE, 0 };

	if (number == SYS_prctl)
		return of_prctl((int)a, (unsigned long)b, (unsigned long)c);
	if (number != SYS_seccomp)
		return change;
	change.flags = (uint32_t)b;
	if (a == SECCOMP_SET_MODE_STRICT)
		change.limit = LIMIT_STRICT;
	else if (a == SECCOMP_SET_MODE_FILTER && c)
		change.limit = LIMIT_FILTER;
	return change;
}

/*
 * Records the change. It is called after a filter is installed, and before strict mode, in which
 * no event is possible.
 */
static void put_seccomp(struct change change, int error, const void *caller)
{
	/* The fields of process.seccomp. */
	const struct {
		int32_t mode;
		uint32_t flags;
		int32_t error;
	} data = { change.limit == LIMIT_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER,
		   change.flags, error };

	if (*shim_switch[PROCESS_SECCOMP] && shim_is_wanted(PROCESS_SECCOMP, caller))
		shim_put(PROCESS_SECCOMP, &data, sizeof data, caller);
}

/*
 * Prepares the library, before the call. If the call fails, the process remains quiet, because
 * that state is never left.
 */
static void before_change(struct change change, const void *caller)
{
	if (change.limit == LIMIT_FILTER || change.limit == LIMIT_STRICT) {
		posix_trace_confine_np(change.flags & SECCOMP_FILTER_FLAG_TSYNC ?
					       POSIX_TRACE_CONFINE_ALL_NP :
					       POSIX_TRACE_CONFINE_PROCESS_NP);
		atomic_store_explicit(&shim_quiet, true, memory_order_relaxed);
	}
	/* Strict mode ends this thread's events. */
	if (change.limit == LIMIT_STRICT)
		put_seccomp(change, 0, caller); /* the last event of this thread */
	if (change.limit == LIMIT_STRICT || change.limit == LIMIT_CLOCK)
		shim_blind(true);
}

/* Completes after the call: undoes what does not apply after a failure, and records a filter. */
static void after_change(struct change change, long result, const void *caller)
{
	const bool failed = result < 0;

	/* Enabled again, or the restriction failed: the thread's clock is available. */
	if ((change.limit == LIMIT_CLOCK_NO_MORE && !failed) ||
	    ((change.limit == LIMIT_STRICT || change.limit == LIMIT_CLOCK) && failed))
		shim_blind(false);
	if (change.limit == LIMIT_FILTER || (change.limit == LIMIT_STRICT && failed))
		put_seccomp(change, failed ? errno : 0, caller);
}

SHIM_NEXT(prctl, shim_no_number);

/*
 * prctl(2) has up to four further arguments. Reading those that the caller did not pass yields
 * any values, which the kernel ignores for these options.
 */
SHIM_WRAPPER int prctl(int option, ...)
{
	unsigned long argument[4];
	struct change change;
	va_list list;
	int result;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		argument[i] = va_arg(list, unsigned long);
	va_end(list);
	change = of_prctl(option, argument[0], argument[1]);
	before_change(change, shim_caller());
	result = next(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
	after_change(change, result, shim_caller());
	return result;
}

SHIM_NEXT(syscall, shim_no_number);

/*
 * The assembly below jumps to it with the arguments of syscall(), so that its return address is
 * that of syscall()'s caller.
 */
__attribute__((used)) long shim_syscall(long number, long a, long b, long c, long d, long e,
					long f);
__attribute__((used, visibility("hidden"))) _Atomic(void *) shim_syscall_next;

long shim_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	struct change change = of_syscall(number, a, b, c);
	long result;

	before_change(change, shim_caller());
	result = next(syscall)(number, a, b, c, d, e, f);
	after_change(change, result, shim_caller());
	return result;
}

/*
 * The assembly jumps to the real function by this variable. Before it is set, every call is
 * handled in C.
 */
void shim_syscall_begin(void)
{
	atomic_store_explicit(&shim_syscall_next, next(syscall), memory_order_release);
}

/*
 * syscall(). A wrapper with a frame of its own would disturb calls that return twice, such as
 * clone(), or on another stack. All numbers but prctl and seccomp are passed on by a jump, with
 * the registers unchanged.
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
	"	cmpq $157, %rdi\n" /* SYS_prctl */
	"	je shim_syscall\n"
	"	cmpq $317, %rdi\n" /* SYS_seccomp */
	"	je shim_syscall\n"
	"	movq shim_syscall_next(%rip), %rax\n"
	"	testq %rax, %rax\n"
	"	je shim_syscall\n"
	"	jmp *%rax\n"
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
	"	cmp x0, #167\n" /* SYS_prctl */
	"	b.eq 1f\n"
	"	cmp x0, #277\n" /* SYS_seccomp */
	"	b.eq 1f\n"
	"	adrp x16, shim_syscall_next\n"
	"	ldr x16, [x16, :lo12:shim_syscall_next]\n"
	"	cbz x16, 1f\n"
	"	br x16\n"
	"1:	b shim_syscall\n"
	"	.cfi_endproc\n"
	"	.size syscall, . - syscall\n");

#endif
