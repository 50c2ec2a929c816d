/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bytes.c - memory that grows. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/proto.h"
#include "base/vec.h"

void bytes_add_past(struct bytes *bytes, const void *more, size_t len)
{
	if (!len || bytes->failed)
		return;
	if (!vec_reserve(&bytes->at, &bytes->room, bytes->used, len)) {
		bytes->failed = true;
		return;
	}
	memcpy(bytes->at + bytes->used, more, len);
	bytes->used += len;
}

void bytes_str(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

void bytes_printf(struct bytes *bytes, const char *format, ...)
{
	char text[1024];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(text))
		bytes->failed = true;
	else
		bytes_add(bytes, text, (size_t)len);
}

void bytes_varint(struct bytes *bytes, uint64_t value)
{
	uint8_t digits[PROTO_VARINT];

	bytes_add(bytes, digits, (size_t)(proto_put_varint(digits, value) - digits));
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->at);
	memset(bytes, 0, sizeof(*bytes));
}
