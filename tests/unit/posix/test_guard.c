/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard_start.c: whether a log gets a guardian. The test can make the start of its process
 * fail.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

#include "support/log.h"

static unsigned starts;
static bool no_locks;

int __real_fcntl(int fd, int command, void *argument);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (no_locks && command == F_SETLK) {
		errno = ENOLCK;
		return -1;
	}
	return __real_fcntl(fd, command, argument);
}

int __wrap___clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
int __wrap___clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	(void)function, (void)stack, (void)flags, (void)argument;
	starts++;
	return -1;
}

static void trace_with_log(void)
{
	trace_event_id_t u = type_of("u");
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);

	trace_number(u, 1);
	shut(trid);
	assert_log_whole(fd);
	close(fd);
}

START_TEST(a_log_has_a_guardian)
{
	setenv("POSIXTRACE_GUARDIAN", "/bin/true", 1);
	trace_with_log();
	ck_assert_uint_eq(starts, 1);
}
END_TEST

/*
 * A guardian that cannot see the creator would regard it as dead, and would complete the log that
 * the creator is writing.
 */
START_TEST(where_there_are_no_record_locks_there_is_no_guardian)
{
	setenv("POSIXTRACE_GUARDIAN", "/bin/true", 1);
	no_locks = true;
	trace_with_log();
	ck_assert_uint_eq(starts, 0);
}
END_TEST

SUITE_MAIN("posix: who gets a guardian", a_log_has_a_guardian,
	   where_there_are_no_record_locks_there_is_no_guardian)
