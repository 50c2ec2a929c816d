/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard_start.c: whether a log gets a guardian. The test can make the start of the guardian's
 * process fail. posix/guard.c: which log a guardian completes.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "arena/arena.h"
#include "log/format.h"
#include "posix/guard.h"
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

/*
 * Runs a guardian in a child process. Its stream has ended, and has recorded no events in the log
 * of the file `fd`.
 */
static void guard_unused(int fd, const uint8_t *uuid)
{
	const struct ptx_guarded guarded = {
		.arena_fd = dup(ptx_arena_fd(&ptx_arena_self)),
		.log_fd = dup(fd),
		.life_fd = -1,
		.bit = PTX_STREAMS - 1,
		.generation = 1,
		.same_ids = true,
		.log_number = 1,
		.uuid = uuid,
	};
	int status;
	const pid_t child = fork();

	if (child == 0)
		_exit(ptx_guard_run(&guarded));
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(guarded.arena_fd);
	close(guarded.log_fd);
}

/*
 * The file has a log that names no guardian and that a process is writing. It may be the log of
 * another stream: a creator in another namespace of process ids cannot name the guardian.
 */
START_TEST(a_guardian_completes_only_the_log_with_its_uuid)
{
	static const uint8_t other[PTX_LOG_UUID_BYTES] = { 1 };
	uint8_t own[PTX_LOG_UUID_BYTES];
	struct posix_trace_check_np check;
	unsigned char *before, *after;
	size_t bytes, bytes_after;
	trace_id_t trid;
	int fd = log_file();

	setenv("POSIXTRACE_GUARDIAN", "/no/guardian", 1);
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
	before = log_bytes(fd, &bytes);
	memcpy(own, before + offsetof(struct ptx_log_header, uuid), sizeof(own));
	guard_unused(fd, other);
	guard_unused(fd, NULL);
	after = log_bytes(fd, &bytes_after);
	ck_assert_uint_eq(bytes_after, bytes);
	ck_assert_mem_eq(after, before, bytes);
	guard_unused(fd, own);
	ck_assert_int_eq(posix_trace_check_np(fd, NULL, NULL, &check), 0);
	ck_assert(check.complete);
	posix_trace_shutdown(trid);
	free(before);
	free(after);
	close(fd);
}
END_TEST

SUITE_MAIN("posix: who gets a guardian", a_log_has_a_guardian,
	   where_there_are_no_record_locks_there_is_no_guardian,
	   a_guardian_completes_only_the_log_with_its_uuid)
