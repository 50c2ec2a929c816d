/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * out.h - an output with a buffer of its own, usually standard output. stdio is too slow for the
 * events: its locks and formats would need more time than the library needs to read an event.
 *
 * Errors: the first error number is kept in the member "err", and all later bytes are dropped. A
 * caller may therefore write everything and check once at the end. If the output is a pipe without
 * a reader (EPIPE), the process ends by SIGPIPE. One thread uses an output at a time.
 */
#ifndef POSIXTRACE_BASE_OUT_H
#define POSIXTRACE_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/put.h"

#define OUT_BYTES (64 * 1024)
#define OUT_PIECE 256 /* the bytes that out_room() provides */

struct out {
	size_t used;
	int fd;
	int err;
	bool is_large;         /* a full buffer was written */
	char bytes[OUT_BYTES];
};

extern struct out out_stdout;

/* Writes the buffer to the file. Returns 0 or the first error number. */
int out_flush(struct out *out);

/*
 * Writes the buffer to the file and empties it. Only out_room_for() and out_bytes_past() call it.
 */
void out_make_room(struct out *out);

/* Appends bytes for which the buffer has no room. Only out_bytes() calls it. */
void out_bytes_past(struct out *out, const void *bytes, size_t len);

/* out_bytes() appends any number of bytes, out_printf() a formatted text of any length. */
static inline void out_bytes(struct out *out, const void *bytes, size_t len)
{
	if (__builtin_expect(len > OUT_BYTES - out->used, 0)) {
		out_bytes_past(out, bytes, len);
		return;
	}
	if (len) /* if len is 0, bytes may be NULL, which memcpy() forbids */
		memcpy(out->bytes + out->used, bytes, len);
	out->used += len;
}
void out_printf(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns room for len bytes, as out_room() does for OUT_PIECE bytes. len is at most OUT_BYTES. */
static inline char *out_room_for(struct out *out, size_t len)
{
	if (__builtin_expect(OUT_BYTES - out->used < len, 0))
		out_make_room(out);
	return out->bytes + out->used;
}

/* Returns room for OUT_PIECE bytes. The caller writes there and passes the end to out_done(). */
static inline char *out_room(struct out *out)
{
	return out_room_for(out, OUT_PIECE);
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

/* Appends each byte as two hexadecimal digits. */
void out_hex(struct out *out, const void *bytes, size_t len);

/* Appends bytes in base 64 with padding (RFC 4648). */
void out_base64(struct out *out, const void *bytes, size_t len);

/* These functions append a decimal number. */
void out_unsigned(struct out *out, uint64_t value);
void out_signed(struct out *out, int64_t value);

#endif
