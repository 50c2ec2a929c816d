/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * say.c - prints messages on standard error. Only the main thread calls these functions, so they
 * need no lock.
 */
#include "base/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/text.h"

static void (*clear_line)(void);
static bool is_quiet;

/* The memory of say_keep(), in which messages are stored. */
static struct {
	char *text;
	size_t bytes;
} kept;

void say_nothing(bool quiet)
{
	is_quiet = quiet;
}

void say_keep(char *text, size_t bytes)
{
	kept.text = text;
	kept.bytes = bytes;
	if (bytes)
		*text = '\0';
}

/*
 * Appends the text of a message to an output. Messages contain names and text of logs, files and
 * other processes. This function escapes line ends and characters that a terminal would obey. So
 * each message is one line.
 */
static void __attribute__((format(printf, 2, 0)))
put_message(struct out *out, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		out_str(out, "out of memory");
		return;
	}
	text_safe(out, text, strlen(text));
	free(text);
}

/*
 * Appends a message to the stored messages, as a line of its own. If the caller prints the message
 * later, say() escapes it again, which changes nothing.
 */
static void __attribute__((format(printf, 1, 0))) keep_formatted(const char *format, va_list args)
{
	/* This output has no file, so a message that fills the buffer loses its beginning. */
	static struct out line = { .fd = -1 };
	size_t used = strlen(kept.text), len;

	if (used && used + 1 < kept.bytes)
		kept.text[used++] = '\n';
	line.used = 0;
	line.err = 0;
	put_message(&line, format, args);
	len = line.used < kept.bytes - used ? line.used : kept.bytes - used - 1;
	memcpy(kept.text + used, line.bytes, len);
	kept.text[used + len] = '\0';
}

void say_after(void (*clear)(void))
{
	clear_line = clear;
}

static void __attribute__((format(printf, 2, 0)))
say_line(const char *prefix, const char *format, va_list args)
{
	/*
	 * Messages have a buffer of their own, so that each message reaches the terminal by one
	 * call of write().
	 */
	static struct out err = { .fd = STDERR_FILENO };

	if (is_quiet)
		return;
	if (kept.text) {
		keep_formatted(format, args);
		return;
	}
	/*
	 * The function first removes the progress line. Then it writes the pending output, so that
	 * a terminal shows the output before the message.
	 */
	if (clear_line)
		clear_line();
	out_flush(&out_stdout);
	out_str(&err, prefix);
	put_message(&err, format, args);
	out_char(&err, '\n');
	out_flush(&err);
	err.err = 0; /* a failed write must not silence later messages */
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("posixtrace: ", format, args);
	va_end(args);
}

void say_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("WARNING: ", format, args);
	va_end(args);
}

const char *say_strerror(int err)
{
	switch (err) {
	case EMFILE:
		return "Too many open files; see ulimit -n";
	case ENFILE:
		return "Too many open files in system; see /proc/sys/fs/file-max";
	default:
		return strerror(err);
	}
}
