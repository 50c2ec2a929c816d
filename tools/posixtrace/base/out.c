/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* out.c - the buffer of the output. The struct keeps the first error, as the header explains. */
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIPE_BYTES (1024 * 1024) /* the most that the kernel permits by default */

struct out out_stdout = { .fd = STDOUT_FILENO };

/*
 * Ends the process by SIGPIPE. Some shells and supervisors start programs with this signal ignored.
 * Therefore the function first restores the signal's default action. So the exit status is the same
 * whether the signal was ignored or not.
 */
static _Noreturn void end_as_reader_has_closed(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	_exit(1);
}

/*
 * Writes all bytes unless the output has failed. A signal handler may interrupt a write to a slow
 * terminal or pipe, so the write is repeated after EINTR.
 */
static void write_all(struct out *out, const char *bytes, size_t len)
{
	while (len && !out->err) {
		ssize_t n = write(out->fd, bytes, len);

		if (n >= 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (errno == EPIPE) {
			end_as_reader_has_closed();
		} else if (errno != EINTR) {
			out->err = errno;
		}
	}
}

int out_flush(struct out *out)
{
	write_all(out, out->bytes, out->used);
	out->used = 0;
	return out->err;
}

/*
 * Enlarges a pipe when the first full buffer is written, so that this process and the reader of a
 * large output run at the same time on two processors. A pipe of the usual size has room for only
 * one buffer, so the two processes would wait for each other after each buffer. A pipe that is
 * already larger remains as it is. If the kernel permits no larger pipe, nothing changes.
 */
static void widen_pipe(struct out *out)
{
	int size;

	if (out->is_large)
		return;
	out->is_large = true;
	size = fcntl(out->fd, F_GETPIPE_SZ); /* -1 if the output is not a pipe */
	if (size >= 0 && size < PIPE_BYTES)
		fcntl(out->fd, F_SETPIPE_SZ, PIPE_BYTES);
}

void out_make_room(struct out *out)
{
	widen_pipe(out);
	out_flush(out);
}

void out_bytes_past(struct out *out, const void *bytes, size_t len)
{
	out_make_room(out);
	/* The buffer is empty now, so a piece that does not fit into it is written directly. */
	if (len > OUT_BYTES)
		write_all(out, bytes, len);
	else
		out_bytes(out, bytes, len);
}

void out_printf(struct out *out, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	/*
	 * If the text could not be formatted, the function stores this as an error of the output.
	 * The caller checks for errors once, at the end.
	 */
	if (len < 0) {
		if (!out->err)
			out->err = ENOMEM;
		return;
	}
	out_bytes(out, text, (size_t)len);
	free(text);
}

void out_hex(struct out *out, const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;

	while (len) {
		/*
		 * out_room() provides OUT_PIECE bytes, so half as many bytes can be converted at a
		 * time.
		 */
		size_t n = len < OUT_PIECE / 2 ? len : OUT_PIECE / 2;

		out_done(out, put_hex_bytes(out_room(out), byte, n));
		len -= n;
		byte += n;
	}
}

void out_base64(struct out *out, const void *bytes, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t x = (uint32_t)byte[i] << 16;
		char *p = out_room(out);

		x |= i + 1 < len ? (uint32_t)byte[i + 1] << 8 : 0;
		x |= i + 2 < len ? byte[i + 2] : 0;
		p[0] = digit[x >> 18];
		p[1] = digit[x >> 12 & 63];
		p[2] = i + 1 < len ? digit[x >> 6 & 63] : '=';
		p[3] = i + 2 < len ? digit[x & 63] : '=';
		out_done(out, p + 4);
	}
}

void out_unsigned(struct out *out, uint64_t value)
{
	out_done(out, put_unsigned(out_room(out), value));
}

void out_signed(struct out *out, int64_t value)
{
	out_done(out, put_signed(out_room(out), value));
}
