/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/log/hex.h"

struct out {
	uint8_t *bytes;
	size_t size;
	size_t room;
};

static void put(struct out *out, uint8_t byte, unsigned long times)
{
	while (times--) {
		if (out->size == out->room) {
			out->room = 2 * out->room + 4096;
			out->bytes = realloc(out->bytes, out->room);
			ck_assert_ptr_nonnull(out->bytes);
		}
		out->bytes[out->size++] = byte;
	}
}

uint8_t *hex_read(const char *name, size_t *size)
{
	const char *top = getenv("top_srcdir");
	struct out out = { 0 };
	char path[300];
	unsigned byte;
	unsigned long times;
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "%s/tests/%s", top ? top : ".", name);
	file = fopen(path, "re");
	ck_assert_msg(file != NULL, "cannot open %s", path);
	while ((c = getc(file)) != EOF) {
		if (isspace(c))
			continue;
		if (c == '#') {
			while (c != '\n' && c != EOF)
				c = getc(file);
		} else if (c == '"') {
			while ((c = getc(file)) != '"') {
				ck_assert_int_ne(c, EOF);
				put(&out, (uint8_t)c, 1);
			}
		} else {
			ungetc(c, file);
			ck_assert_msg(fscanf(file, "%2x", &byte) == 1, "%s: byte %zu", path,
				      out.size);
			c = getc(file);
			times = 1;
			if (c == '*')
				ck_assert_int_eq(fscanf(file, "%lu", &times), 1);
			else
				ungetc(c, file);
			put(&out, (uint8_t)byte, times);
		}
	}
	fclose(file);
	*size = out.size;
	return out.bytes;
}
