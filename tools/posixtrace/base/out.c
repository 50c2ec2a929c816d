/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* out.c - the buffer and its digits. Errors are kept in the struct; see the header. */
#include "base/out.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct out out_stdout = { .fd = STDOUT_FILENO };

/*
 * Ends the process as SIGPIPE does. The signal may be ignored, as under some shells and
 * supervisors; the exit status shall not depend on that.
 */
static _Noreturn void reader_went_away(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	_exit(1);
}

/*
 * Writes all bytes unless the output has failed. A signal handler may interrupt a write to a slow
 * terminal or pipe, so EINTR repeats it.
 */
static void write_all(struct out *out, const char *bytes, size_t len)
{
	while (len && !out->err) {
		ssize_t n = write(out->fd, bytes, len);

		if (n >= 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (errno == EPIPE) {
			reader_went_away();
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

void out_bytes(struct out *out, const void *bytes, size_t len)
{
	/* Large pieces bypass the buffer after its contents are written. */
	if (len > OUT_BYTES - out->used) {
		out_flush(out);
		if (len > OUT_BYTES) {
			write_all(out, bytes, len);
			return;
		}
	}
	if (len) /* bytes may be NULL then, which memcpy() forbids */
		memcpy(out->bytes + out->used, bytes, len);
	out->used += len;
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
	 * A failed format counts as an error of the output: the caller checks that once, at the
	 * end.
	 */
	if (len < 0) {
		if (!out->err)
			out->err = ENOMEM;
		return;
	}
	out_bytes(out, text, (size_t)len);
	free(text);
}

/* Digits are produced from the lowest and then reversed. */
char *put_unsigned(char *p, uint64_t value)
{
	char digits[20]; /* UINT64_MAX has 20 digits */
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

char *put_padded(char *p, uint64_t value, unsigned width, char pad)
{
	char digits[20];
	size_t len = (size_t)(put_unsigned(digits, value) - digits);

	for (; width > len; width--)
		*p++ = pad;
	memcpy(p, digits, len);
	return p + len;
}

char *put_digits(char *p, uint64_t value, unsigned digits)
{
	for (unsigned i = digits; i--; value /= 10)
		p[i] = (char)('0' + value % 10);
	return p + digits;
}

char *put_hex(char *p, uint64_t value, unsigned digits)
{
	/* Extends the number of digits until the value fits. */
	while (digits < 16 && value >> (4 * digits))
		digits++;
	for (unsigned i = digits; i--; value >>= 4)
		p[i] = "0123456789abcdef"[value & 15];
	return p + digits;
}

void out_hex(struct out *out, const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;

	while (len) {
		/* out_room() provides OUT_PIECE bytes at a time. */
		size_t n = len < OUT_PIECE / 2 ? len : OUT_PIECE / 2;
		char *p = out_room(out);

		len -= n;
		for (; n; n--, byte++) {
			*p++ = "0123456789abcdef"[*byte >> 4];
			*p++ = "0123456789abcdef"[*byte & 15];
		}
		out_done(out, p);
	}
}

void out_unsigned(struct out *out, uint64_t value)
{
	out_done(out, put_unsigned(out_room(out), value));
}

void out_signed(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	/* The negation is unsigned: -INT64_MIN has no signed value. */
	out_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}
