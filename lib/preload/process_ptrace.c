/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_ptrace.c - family process: the program examines or controls another process.
 *
 * Debuggers call ptrace(2) some thousand times a second, mostly to read words. The event has the
 * arguments and the result of the call. Memory to which the argument `data` points is not recorded.
 */
#include <stdarg.h>
#include <sys/ptrace.h>

#include "preload/call.h"

SHIM_NEXT(ptrace, shim_no_number);
SHIM_WRAPPED(ptrace, PROCESS_PTRACE);

/*
 * ptrace(2) has three further arguments. If the caller passed fewer, the wrapper reads arbitrary
 * values for the rest, which the kernel ignores. A request that reads a word may return -1 without
 * an error; the C library has then set errno to 0.
 */
SHIM_WRAPPER long ptrace(enum __ptrace_request request, ...)
{
	/*
	 * The fields of process.ptrace. Only the part up to call.len is recorded, without the
	 * padding at the end of the struct.
	 */
	struct {
		uint64_t time;
		int32_t error, request, pid;
		uint32_t words[6]; /* `address`, `data` and `result`: the schema has no gaps */
	} data = { .error = ECANCELED, .request = (int32_t)request };
	uint64_t word[3] = { 0 };
	va_list list;
	long result;

	/*
	 * The first of these arguments is the process for all requests; only PTRACE_TRACEME ignores
	 * it.
	 */
	va_start(list, request);
	data.pid = va_arg(list, pid_t);
	word[0] = (uint64_t)(uintptr_t)va_arg(list, void *);
	word[1] = (uint64_t)(uintptr_t)va_arg(list, void *);
	va_end(list);
	if (!shim_on(PROCESS_PTRACE))
		return next(ptrace)(request, data.pid, word[0], word[1]);
	SHIM_CALL(PROCESS_PTRACE, data);
	call.len = offsetof(__typeof__(data), words) + sizeof data.words;
	result = next(ptrace)(request, data.pid, word[0], word[1]);
	data.error = result == -1 ? errno : 0;
	word[2] = (uint64_t)result;
	/* The 64-bit numbers are not aligned in the event. */
	__builtin_memcpy(data.words, word, sizeof word);
	return result;
}
