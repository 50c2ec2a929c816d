/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/status.c - the status of an ended process as text and data.
 *
 * The texts are assembled without snprintf(), because a program may wait for its children in a
 * signal handler, where that function is not allowed.
 */
/*
 * The tool includes this file, too. The tool has another include path, so it includes the header
 * before this file.
 */
#ifndef PTX_PRELOAD_STATUS_H
# include "preload/status.h"
#endif

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

/*
 * Writes text at `to` and returns a pointer to its NUL. The caller makes sure that there is enough
 * room.
 */
static char *status_add(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len + 1);
	return to + len;
}

/*
 * The digits are made from the last to the first, in an array that is large enough for a number of
 * 32 bits.
 */
char *shim_add_number(char *to, unsigned number)
{
	char digits[12], *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	return status_add(to, at);
}

/*
 * sigabbrev_np() reads a table of the C library; musl has no such function. Real-time signals have
 * no names; their text is SIGRTMIN plus a number.
 */
void shim_signal_text(char text[SHIM_STATUS_TEXT], int signal)
{
#ifdef __GLIBC__
	const char *name = sigabbrev_np(signal);
#else
	const char *name = NULL;
#endif

	if (name)
		status_add(status_add(text, "SIG"), name);
	else if (signal >= SIGRTMIN && signal <= SIGRTMAX)
		shim_add_number(status_add(text, "SIGRTMIN+"), (unsigned)(signal - SIGRTMIN));
	else
		shim_add_number(status_add(text, "signal "), (unsigned)signal);
}

/*
 * The longest text is that of a signal without a name that left a core dump. It has fewer than 40
 * bytes.
 */
void shim_status_text(char text[SHIM_STATUS_TEXT], bool is_known, int status)
{
	char name[SHIM_STATUS_TEXT], *end;

	if (!is_known) {
		status_add(text, "ended with unknown status");
	} else if (WIFSIGNALED(status)) {
		shim_signal_text(name, WTERMSIG(status));
		end = status_add(status_add(text, "killed by "), name);
		if (WCOREDUMP(status))
			status_add(end, " (core dumped)");
	} else {
		shim_add_number(status_add(text, "exited with "), WEXITSTATUS(status));
	}
}

/* Copies a value to the offset `at` of an event's data. Returns the offset behind the value. */
static size_t status_pack(unsigned char *data, size_t at, const void *value, size_t bytes)
{
	memcpy(data + at, value, bytes);
	return at + bytes;
}

/* `code` is -1 if a signal ended the process, or if the status is unknown. */
size_t shim_status_data(unsigned char data[SHIM_STATUS_DATA], int pid, bool is_known, int status)
{
	const bool is_killed = is_known && WIFSIGNALED(status);
	const int32_t number = pid, signal = is_killed ? WTERMSIG(status) : 0;
	const int32_t code = is_known && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	const uint8_t core = is_killed && WCOREDUMP(status);
	char text[SHIM_STATUS_TEXT];
	size_t len;

	shim_status_text(text, is_known, status);
	len = status_pack(data, 0, &number, sizeof number);
	len = status_pack(data, len, text, strlen(text) + 1);
	len = status_pack(data, len, &code, sizeof code);
	len = status_pack(data, len, &signal, sizeof signal);
	return status_pack(data, len, &core, sizeof core);
}
