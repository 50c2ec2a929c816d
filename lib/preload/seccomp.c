/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/seccomp.c - family process: the program limits the system calls that it may make.
 *
 * Before a filter is installed the library takes what it needs; from then on it makes no system
 * call that the program did not ask for. A thread in strict mode, or after prctl(PR_SET_TSC), must
 * not read the processor's counter, which the clock is made of: its tracing ends.
 *
 * A filter that is installed by an instruction of the program's own is not seen.
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

enum limit { LIMIT_NONE, LIMIT_FILTER, LIMIT_STRICT, LIMIT_CLOCK, LIMIT_CLOCK_NO_MORE };

struct change {
	enum limit limit;
	uint32_t flags;
};

/* Programs ask by a filter at NULL whether there are filters; that installs none. */
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

static void tell(struct change change, int error, const void *caller)
{
	const struct {
		int32_t mode;
		uint32_t flags;
		int32_t error;
	} data = { change.limit == LIMIT_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER,
		   change.flags, error };

	if (*shim_switch[PROCESS_SECCOMP] && shim_is_wanted(PROCESS_SECCOMP, caller))
		shim_put(PROCESS_SECCOMP, &data, sizeof data, caller);
}

static void before(struct change change, const void *caller)
{
	if (change.limit == LIMIT_FILTER || change.limit == LIMIT_STRICT) {
		posix_trace_confine_np(change.flags & SECCOMP_FILTER_FLAG_TSYNC ?
					       POSIX_TRACE_CONFINE_ALL_NP :
					       POSIX_TRACE_CONFINE_PROCESS_NP);
		atomic_store_explicit(&shim_quiet, true, memory_order_relaxed);
	}
	if (change.limit == LIMIT_STRICT)
		tell(change, 0, caller); /* the last event of this thread */
	if (change.limit == LIMIT_STRICT || change.limit == LIMIT_CLOCK)
		shim_blind(true);
}

static void after(struct change change, long result, const void *caller)
{
	const bool failed = result < 0;

	if ((change.limit == LIMIT_CLOCK_NO_MORE && !failed) ||
	    ((change.limit == LIMIT_STRICT || change.limit == LIMIT_CLOCK) && failed))
		shim_blind(false);
	if (change.limit == LIMIT_FILTER || (change.limit == LIMIT_STRICT && failed))
		tell(change, failed ? errno : 0, caller);
}

SHIM_NEXT(prctl, shim_no_number);

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
	before(change, shim_caller());
	result = next(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
	after(change, result, shim_caller());
	return result;
}

SHIM_NEXT(syscall, shim_no_number);

/* Called by the code below, by a jump: the arguments and the caller are those of syscall(). */
__attribute__((used)) long shim_syscall(long number, long a, long b, long c, long d, long e,
					long f);
__attribute__((used, visibility("hidden"))) _Atomic(void *) shim_syscall_next;

long shim_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	struct change change = of_syscall(number, a, b, c);
	long result;

	before(change, shim_caller());
	result = next(syscall)(number, a, b, c, d, e, f);
	after(change, result, shim_caller());
	return result;
}

void shim_syscall_begin(void)
{
	atomic_store_explicit(&shim_syscall_next, next(syscall), memory_order_release);
}

/*
 * A wrapper with a frame of its own would be in the way of calls that return twice, or on another
 * stack.
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
