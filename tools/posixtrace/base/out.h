/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * out.h - standard output with a buffer of our own: stdio's locks and formats would take longer
 * than the library takes to read an event.
 *
 * Errors    the first one is kept in err; what follows is dropped, so that a caller may write on
 *           and look at the end. A reader that went away (EPIPE) ends the process as SIGPIPE does.
 */
#ifndef POSIXTRACE_BASE_OUT_H
#define POSIXTRACE_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_BYTES (64 * 1024)
#define OUT_PIECE 256 /* the most that out_room() gives */

struct out {
	size_t used;
	int fd;
	int err;
	char bytes[OUT_BYTES];
};

extern struct out out_stdout;

/* 0 or the first error. */
int out_flush(struct out *out);

/* Any number of bytes. */
void out_bytes(struct out *out, const void *bytes, size_t len);
void out_printf(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for OUT_PIECE bytes; out_done() says where the writing ended. */
static inline char *out_room(struct out *out)
{
	if (OUT_BYTES - out->used < OUT_PIECE)
		out_flush(out);
	return out->bytes + out->used;
}

static inline void out_done(struct out *out, const char *end)
{
	out->used = (size_t)(end - out->bytes);
}

static inline void out_char(struct out *out, char c)
{
	char *p = out_room(out);

	*p = c;
	out_done(out, p + 1);
}

static inline void out_str(struct out *out, const char *string)
{
	out_bytes(out, string, strlen(string));
}

/*
 * Digits into memory, the end returned; no NUL. width is the least number of characters, filled
 * from the left with pad; digits exactly that many.
 */
char *put_unsigned(char *p, uint64_t value);
char *put_padded(char *p, uint64_t value, unsigned width, char pad);
char *put_digits(char *p, uint64_t value, unsigned digits);
char *put_hex(char *p, uint64_t value, unsigned digits);

/* Bytes as pairs of hexadecimal digits. */
void out_hex(struct out *out, const void *bytes, size_t len);

void out_unsigned(struct out *out, uint64_t value);
void out_signed(struct out *out, int64_t value);

#endif
