/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bytes.h - memory that grows, for the parts of a file or of a request.
 *
 * If memory is lacking, a call sets the member "failed". All further calls then do nothing, and the
 * caller examines "failed" at the end. A struct of zeros is empty. One thread uses a struct at a
 * time.
 */
#ifndef POSIXTRACE_BASE_BYTES_H
#define POSIXTRACE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	char *at;
	size_t used, room;
	bool failed;
};

/*
 * These functions append bytes. If memory is lacking, they set "failed" and append nothing.
 * bytes_printf() does the same if the text has more than 1023 bytes.
 */
static inline void bytes_add(struct bytes *bytes, const void *more, size_t len);
void bytes_str(struct bytes *bytes, const char *text);
void bytes_printf(struct bytes *bytes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends an integer in one to ten bytes: seven bits a byte, the lowest bits first (LEB128). */
void bytes_varint(struct bytes *bytes, uint64_t value);

/* Appends bytes for which there is no room; also if len is 0. Only bytes_add() calls it. */
void bytes_add_past(struct bytes *bytes, const void *more, size_t len);

/* Inlined, because ship appends dozens of numbers for each event. */
static inline void bytes_add(struct bytes *bytes, const void *more, size_t len)
{
	if (__builtin_expect(!len || len > bytes->room - bytes->used || bytes->failed, 0)) {
		bytes_add_past(bytes, more, len);
		return;
	}
	memcpy(bytes->at + bytes->used, more, len);
	bytes->used += len;
}

/*
 * Reads an integer in the form of bytes_varint() and returns the end. The function checks nothing,
 * so it must not be used for the bytes of a file, which may be wrong.
 */
static inline const char *bytes_get_varint(const char *at, uint64_t *value)
{
	unsigned shift = 0;
	uint64_t byte;

	*value = 0;
	do {
		byte = (unsigned char)*at++;
		*value |= (byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return at;
}
void bytes_free(struct bytes *bytes);

#endif
