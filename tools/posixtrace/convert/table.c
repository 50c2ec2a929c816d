/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.c - the table of formats, made from list.h. A build that lacks a library, or was configured
 * with --disable options, has fewer formats.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/format.h"

#define FORMAT(name) extern const struct format format_##name;
#include "convert/list.h"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(name) &format_##name,
#include "convert/list.h"
#undef FORMAT
};

const size_t formats_count = sizeof(formats) / sizeof(formats[0]);

/* A message has "built without this format" before the reason. */
const char *fmt_left_out(const char *name)
{
	static const struct {
		const char *name, *why;
	} formats_left_out[] = {
#ifndef ENABLE_ETW
		{ "etw", "it needs libuuid, and no --disable-etw" },
#endif
#ifndef ENABLE_TRACEX
		{ "tracex", "configure --disable-tracex" },
#endif
#ifndef ENABLE_RKH
		{ "rkh", "configure --disable-rkh" },
#endif
#ifndef HAVE_SQLITE
		{ "sqlite", "it needs SQLite" },
#endif
#ifndef HAVE_SQLITE_QUERY
		{ "parquet", "it needs SQLite 3.38" },
#endif
		{ NULL, NULL }
	};

	for (size_t i = 0; formats_left_out[i].name; i++)
		if (!strcmp(formats_left_out[i].name, name))
			return formats_left_out[i].why;
	return NULL;
}

const struct format *fmt_by_name(const char *name)
{
	for (size_t i = 0; i < formats_count; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct format *fmt_detect(const struct fmt_head *head)
{
	/*
	 * The first format that accepts the head is the result. So the formats with the strictest
	 * tests are first in list.h.
	 */
	for (size_t i = 0; i < formats_count; i++)
		if (formats[i]->detect && formats[i]->detect(head))
			return formats[i];
	return NULL;
}

bool fmt_read_head(int fd, struct fmt_head *head)
{
	/*
	 * The array has the same length as the head of fmt_input, so that the callers and convert
	 * recognize the same formats. It is static, because it is too large for the stack. Only one
	 * thread of the tool calls this function.
	 */
	static unsigned char bytes[65536];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	struct stat st;

	if (n < 0 || fstat(fd, &st))
		return false;
	head->bytes = bytes;
	head->len = (size_t)n;
	head->file_bytes = (uint64_t)st.st_size;
	head->whole = head->len >= head->file_bytes;
	return true;
}

const char *fmt_foreign_name(int fd)
{
	const struct format *format;
	struct fmt_head head;

	if (!fmt_read_head(fd, &head) || !head.len)
		return NULL;
	format = fmt_detect(&head);
	return format && strcmp(format->name, "log") != 0 ? format->name : NULL;
}
