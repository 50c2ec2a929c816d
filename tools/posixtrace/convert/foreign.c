/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * foreign.c - recognizes files that no command reads as a log: traces of other tools, outputs of
 * convert, programs and compressed files. The result is used in error messages only, so a short
 * test is enough. The bytes are hostile: only their presence within the head is examined.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "convert/format.h"

#define WRITTEN ", which posixtrace writes but does not read"

/* Files that begin with fixed bytes. */
static const struct {
	const char *bytes;
	size_t len;
	const char *text;
} magics[] = {
	{ "/* CTF 1", 8, "metadata of the Common Trace Format" WRITTEN },
	{ "\x57\x1d\xd1\x75", 4, "metadata of the Common Trace Format" WRITTEN },
	{ "\x75\xd1\x1d\x57", 4, "metadata of the Common Trace Format" WRITTEN },
	{ "\xc1\x1f\xfc\xc1", 4, "a stream of the Common Trace Format" WRITTEN },
	{ "\xc1\xfc\x1f\xc1", 4, "a stream of the Common Trace Format" WRITTEN },
	{ "SQLite format 3", 16, "a database of SQLite, which convert writes but does not read" },
	{ "PAR1", 4, "a table of Apache Parquet" WRITTEN },
	{ "PERFILE2", 8, "a file of perf, which posixtrace does not read" },
	{ "\x7f" "ELF", 4,
	  "a program, library or core dump; 'posixtrace recover' reads core dumps" },
	{ "\x1f\x8b", 2, "a file of gzip; decompress it first" },
	{ "\xfd" "7zXZ", 6, "a file of xz; decompress it first" },
	{ "\x28\xb5\x2f\xfd", 4, "a file of zstd; decompress it first" },
};

/* Returns true if the head has the text. */
static bool head_has(const struct fmt_head *head, const char *text)
{
	return memmem(head->bytes, head->len, text, strlen(text)) != NULL;
}

/* Recognizes the JSON documents of viewers by members that their formats require. */
static const char *viewer_of_json(const struct fmt_head *head)
{
	size_t at = 0;

	while (at < head->len && memchr(" \t\r\n", head->bytes[at], 4))
		at++;
	if (at == head->len || (head->bytes[at] != '{' && head->bytes[at] != '['))
		return NULL;
	if (head_has(head, "speedscope.app/file-format-schema"))
		return "a JSON document for speedscope" WRITTEN;
	if (head_has(head, "\"traceEvents\"") ||
	    (head->bytes[at] == '[' && head_has(head, "\"ph\"")))
		return "a JSON trace of Chrome" WRITTEN;
	return NULL;
}

const char *fmt_unread(const struct fmt_head *head)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (head->len >= magics[i].len &&
		    !memcmp(head->bytes, magics[i].bytes, magics[i].len))
			return magics[i].text;
	return viewer_of_json(head);
}

const char *fmt_unread_file(int fd)
{
	struct fmt_head head;
	bool is_read;
	int metadata;

	if (fmt_read_head(fd, &head))
		return fmt_unread(&head);
	/* A trace of the Common Trace Format is a folder with this file. */
	metadata = openat(fd, "metadata", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (metadata < 0)
		return NULL;
	is_read = fmt_read_head(metadata, &head);
	close(metadata);
	return is_read && fmt_unread(&head) ? "a folder of the Common Trace Format" WRITTEN : NULL;
}
