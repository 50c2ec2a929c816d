/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/seccomp.c - family process: the program restricts the system calls that it may make.
 *
 * Before a filter is installed, the library acquires all that it needs. From then on it makes no
 * system call that the program did not request (posix_trace_confine_np()). A thread in strict
 * mode, or after prctl(PR_SET_TSC), must not read the processor's counter, on which the clock is
 * based: the thread's events are counted as lost.
 *
 * The shim does not see a filter that the program installs by its own system call instruction.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/call.h"
#include "preload/filter.h"
#include "preload/seccomp.h"
#include "preload/self.h"
#include "preload/shim.h"
#include "preload/text.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/*
 * The effect of a call. In the order of the constants: none; a filter for system calls is
 * installed; only read(), write() and exit() remain allowed; the thread must not read the clock;
 * the thread may read the clock again.
 */
enum limit { LIMIT_NONE, LIMIT_FILTER, LIMIT_STRICT, LIMIT_CLOCK, LIMIT_CLOCK_NO_MORE };

/*
 * Determines the effect of prctl(). Programs pass a null pointer as `filter` to determine whether
 * the kernel supports filters; such a call installs no filter. After PR_SET_SYSCALL_USER_DISPATCH,
 * system calls from outside a range of addresses raise SIGSYS. The shim therefore treats this
 * option as a filter.
 */
static struct shim_change of_prctl(int option, unsigned long value, unsigned long filter)
{
	struct shim_change change = { .limit = LIMIT_NONE };

	if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
		change.limit = LIMIT_STRICT;
	else if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_FILTER && filter)
		change = (struct shim_change){ .limit = LIMIT_FILTER, .filter = filter };
	else if (option == PR_SET_SYSCALL_USER_DISPATCH && value)
		change.limit = LIMIT_FILTER;
	else if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		change.limit = LIMIT_CLOCK;
	else if (option == PR_SET_TSC && value == PR_TSC_ENABLE)
		change.limit = LIMIT_CLOCK_NO_MORE;
	return change;
}

/*
 * Determines the effect of a system call that a program makes through syscall(). libseccomp asks
 * for strict mode with a flag, only to find out whether the kernel has the call. The kernel refuses
 * strict mode with a flag or an argument.
 */
struct shim_change shim_change_of(long number, long a, long b, long c)
{
	struct shim_change change = { .limit = LIMIT_NONE };

	if (number == SYS_prctl)
		return of_prctl((int)a, (unsigned long)b, (unsigned long)c);
	if (number != SYS_seccomp)
		return change;
	change.flags = (uint32_t)b;
	if (a == SECCOMP_SET_MODE_STRICT && !change.flags && !c) {
		change.limit = LIMIT_STRICT;
	} else if (a == SECCOMP_SET_MODE_FILTER && c) {
		change.limit = LIMIT_FILTER;
		change.filter = (uintptr_t)c;
	}
	return change;
}

/*
 * Records the change or its failure. It is called after the call; but for strict mode, in which no
 * event is possible, it is called before the call, and again if the call fails.
 */
static void put_seccomp(const struct shim_change *change, int error, const void *caller)
{
	/* The fields of process.seccomp. */
	const struct {
		int32_t mode;
		uint32_t flags;
		int32_t error;
	} data = { change->limit == LIMIT_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER,
		   change->flags, error };

	if (*shim_switch[PROCESS_SECCOMP] && shim_is_wanted(PROCESS_SECCOMP, caller))
		shim_put(PROCESS_SECCOMP, &data, sizeof data, caller);
}

/*
 * Makes the process quiet. If the caller is a child that borrows the memory of a thread, as after
 * vfork(), makes only this thread quiet. The filter applies to the child and not to the parent.
 */
static void become_quiet(const struct shim_change *change)
{
	if (change->is_of_child) {
		posix_trace_confine_np(POSIX_TRACE_CONFINE_VFORK_NP);
		shim_quiet_lent = true;
		return;
	}
	posix_trace_confine_np(change->flags & SECCOMP_FILTER_FLAG_TSYNC ?
				       POSIX_TRACE_CONFINE_ALL_NP :
				       POSIX_TRACE_CONFINE_PROCESS_NP);
	atomic_store_explicit(&shim_quiet, true, memory_order_relaxed);
}

/*
 * Prepares the library before the call. If the call fails, the process remains quiet, because a
 * process never leaves the quiet state.
 */
void shim_before_change(struct shim_change *change, const void *caller)
{
	if (change->limit == LIMIT_NONE)
		return;
	change->is_of_child = shim_is_borrower();
	if (change->limit == LIMIT_FILTER || change->limit == LIMIT_STRICT)
		become_quiet(change);
	/*
	 * In strict mode this thread can record no events, so process.seccomp is recorded before
	 * the call.
	 */
	if (change->limit == LIMIT_STRICT)
		put_seccomp(change, 0, caller); /* the last event of this thread */
	if (change->limit == LIMIT_STRICT || change->limit == LIMIT_CLOCK)
		shim_blind(true);
}

/*
 * Called after the call. If the call failed, undoes the parts of the preparation that can be
 * undone. Records the installation of a filter, and failures.
 */
void shim_after_change(const struct shim_change *change, long result, const void *caller)
{
	const bool failed = result < 0;
	const int limit = change->limit;

	/*
	 * The thread may read the clock: the program has enabled it again, or the restriction
	 * failed.
	 */
	if ((limit == LIMIT_CLOCK_NO_MORE && !failed) ||
	    ((limit == LIMIT_STRICT || limit == LIMIT_CLOCK) && failed))
		shim_blind(false);
	/* The kernel has read and checked the filter, so the shim can read it, too. */
	if (change->filter && !failed)
		shim_filter_installed((const struct sock_fprog *)change->filter,
				      change->is_of_child);
	if (limit == LIMIT_FILTER || (limit == LIMIT_STRICT && failed))
		put_seccomp(change, failed ? errno : 0, caller);
}

/* The kernel reads and writes this number of bytes of a thread's name, with its NUL. */
#define NAME_BYTES 16

/*
 * Records a call that has no event process.seccomp. `value` is the second argument. For PR_SET_NAME
 * `value` is a pointer to a string. A call that succeeded has read the string up to its NUL, or 16
 * bytes.
 */
static void put_prctl(int option, unsigned long value, int result, const void *caller)
{
	struct {
		int32_t option, result, error;
		/* The schema has no gaps, so the 64-bit field consists of two halves here. */
		uint32_t value[2];
		char name[NAME_BYTES];
	} data = { .option = option, .result = result, .error = result == -1 ? errno : 0 };
	const uint64_t number = value;
	size_t len = 0;

	memcpy(data.value, &number, sizeof number);
	if (option == PR_SET_NAME && !result)
		len = strnlen((const char *)value, NAME_BYTES - 1);
	/* data.name ends with a NUL in any case. */
	if (len)
		memcpy(data.name, (const char *)value, len);
	shim_put(PROCESS_PRCTL, &data, offsetof(__typeof__(data), name) + len + 1, caller);
}

SHIM_NEXT(prctl, shim_no_number);
SHIM_WRAPPED(prctl, PROCESS_PRCTL);

/*
 * prctl(2) has up to four further arguments. If the caller passed fewer, the wrapper reads
 * arbitrary values for the rest. For an option that has fewer arguments, the kernel ignores the
 * rest.
 */
SHIM_WRAPPER int prctl(int option, ...)
{
	unsigned long argument[4];
	struct shim_change change;
	va_list list;
	int result;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		argument[i] = va_arg(list, unsigned long);
	va_end(list);
	change = of_prctl(option, argument[0], argument[1]);
	shim_before_change(&change, shim_caller());
	result = next(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
	shim_after_change(&change, result, shim_caller());
	/*
	 * A call that limits the process has the event process.seccomp. A call after which this
	 * thread must not read the clock has no event, because the thread can record none.
	 */
	if ((change.limit == LIMIT_NONE || change.limit == LIMIT_CLOCK_NO_MORE ||
	     (change.limit == LIMIT_CLOCK && result < 0)) &&
	    shim_on(PROCESS_PRCTL))
		put_prctl(option, argument[0], result, shim_caller());
	return result;
}
