/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* load.c - template files and their logical lines. */
#include "report/template/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "report/template/lex.h"

/*
 * Reads up to the end of the file. Fails with EFBIG when it has read more than "limit" bytes,
 * because the size of a pipe is not known in advance. The caller owns *bytes, also after an error.
 */
static int read_fd(int fd, size_t limit, char **bytes, size_t *len)
{
	size_t room = 0;

	*bytes = NULL;
	*len = 0;
	for (;;) {
		ssize_t n;

		if (!vec_reserve(bytes, &room, *len, 65536))
			return ENOMEM;
		n = read(fd, *bytes + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		*len += (size_t)n;
		if (*len > limit)
			return EFBIG;
	}
}

/*
 * Reads a whole file; the path "-" is standard input. With O_NOCTTY, a terminal at this path does
 * not become the controlling terminal. After an error the caller has nothing to free.
 */
static int read_file(const char *path, size_t limit, char **bytes, size_t *len)
{
	int fd =
		strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : dup(STDIN_FILENO);
	int err;

	if (fd < 0)
		return errno;
	err = read_fd(fd, limit, bytes, len);
	close(fd);
	if (err)
		free(*bytes);
	return err;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Returns the end of the physical line at p, and stores the beginning of the next physical line in
 * *next.
 */
static const char *load_physical(const char *p, const char *end, const char **next)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));

	*next = newline ? newline + 1 : end;
	if (!newline)
		return end;
	return newline > p && newline[-1] == '\r' ? newline - 1 : newline;
}

/*
 * Reads the logical line at *p. A logical line is one or more physical lines, and each except for
 * the last ends with a backslash. A backslash with blanks behind it continues the line, too, but
 * the function notes the first such backslash as an error. A backslash at the end of the file
 * belongs to the line.
 */
static struct logical_line load_logical(const char **p, const char *end)
{
	struct logical_line line = { .bytes = *p };

	for (;;) {
		const char *begin = *p, *last, *stop = load_physical(*p, end, p);

		line.end = stop;
		for (last = stop; last > begin && is_blank(last[-1]); last--)
			;
		if (last == begin || last[-1] != '\\')
			return line;
		if (last != stop && !line.wrong_blank)
			line.wrong_blank = last - 1;
		if (*p == end) {
			line.end = end;
			return line;
		}
	}
}

/*
 * Reads all lines of a file. A comment is always one physical line, even if it ends with a
 * backslash. After an error, the function continues with the next line, so that one run reports the
 * errors of all templates.
 */
static void read_lines(struct templates *templates, uint32_t index)
{
	const struct diag_file *file = &templates->diags.file[index];
	const char *p = file->bytes, *end = p + file->len;

	while (p < end) {
		struct logical_line line;

		if (*p == '#') {
			load_physical(p, end, &p);
			continue;
		}
		line = load_logical(&p, end);
		if (line.end - line.bytes > LEX_LINE_BYTES)
			diag_add(&templates->diags,
				 (struct diag_place){ index, (uint32_t)(line.bytes - file->bytes) },
				 "E21", "a line of more than 65535 bytes");
		else
			templates_line(templates, index, &line);
	}
}

void templates_init(struct templates *templates)
{
	memset(templates, 0, sizeof(*templates));
}

/*
 * The bytes of the file are kept until templates_fini(), because the lines and columns of messages
 * are computed from these bytes.
 */
int templates_load(struct templates *templates, const char *path)
{
	struct diags *diags = &templates->diags;
	char *bytes = NULL;
	size_t len = 0;
	int err = read_file(path, TEMPLATE_FILE_BYTES - templates->bytes, &bytes, &len);

	if (err)
		return err;
	if (!vec_grow(&diags->file, diags->files, 1)) {
		free(bytes);
		return ENOMEM;
	}
	diags->file[diags->files++] = (struct diag_file){
		strcmp(path, "-") ? path : "standard input", bytes, len,
	};
	templates->bytes += len;
	read_lines(templates, (uint32_t)diags->files - 1);
	return templates->program.no_memory ? ENOMEM : 0;
}
