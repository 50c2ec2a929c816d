/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diag.c - keeps the messages about templates and prints them in order. */
#include "report/template/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/text.h"

/*
 * The caller adds the messages of each file in the order of its lines. So if there are too many
 * messages, the last messages are not kept.
 */
void diag_add(struct diags *diags, struct diag_place place, const char *code, const char *text)
{
	bool is_error = code[0] == 'E';
	size_t count = is_error ? diags->errors++ : diags->warnings++;
	struct diag *diag;

	if (count >= (is_error ? DIAG_ERRORS : DIAG_WARNINGS))
		return;
	diag = (is_error ? diags->error : diags->warning) + count;
	diag->place = place;
	diag->text = text;
	snprintf(diag->code, sizeof(diag->code), "%s", code);
}

/*
 * Orders messages by position, for qsort(3). Two messages about the same byte are ordered by their
 * codes, so that the order does not depend on the sorting algorithm.
 */
static int diag_compare(const void *a, const void *b)
{
	const struct diag *first = a, *second = b;

	if (first->place.file != second->place.file)
		return first->place.file < second->place.file ? -1 : 1;
	if (first->place.offset != second->place.offset)
		return first->place.offset < second->place.offset ? -1 : 1;
	return strcmp(first->code, second->code);
}

/*
 * Finds the line and the column of a byte. Both count from 1, and the column counts bytes. The file
 * is searched from its beginning each time. At most 120 messages are printed, so this is fast
 * enough.
 */
static void line_and_column(const struct diag_file *file, size_t offset, size_t *line,
			    size_t *column)
{
	const char *p = file->bytes, *at = file->bytes + offset, *end;

	*line = 1;
	while ((end = memchr(p, '\n', (size_t)(at - p)))) {
		p = end + 1;
		++*line;
	}
	*column = (size_t)(at - p) + 1;
}

/* The name of the file may have control characters, which are escaped. */
static void print_one_diag(struct out *err, const struct diags *diags, const struct diag *diag)
{
	const struct diag_file *file = &diags->file[diag->place.file];
	size_t line, column;

	line_and_column(file, diag->place.offset, &line, &column);
	text_safe(err, file->name, strlen(file->name));
	out_printf(err, ":%zu:%zu: %s: [%s] ", line, column,
		   diag->code[0] == 'E' ? "error" : "warning", diag->code);
	text_safe(err, diag->text, strlen(diag->text));
	out_char(err, '\n');
}

/*
 * Sorts the messages that were kept and prints them. Then prints how many more messages there were.
 */
static void print_kind(struct out *err, const struct diags *diags, struct diag *diag, size_t count,
		       size_t kept, const char *what)
{
	size_t printed = count < kept ? count : kept;

	qsort(diag, printed, sizeof(*diag), diag_compare);
	for (size_t i = 0; i < printed; i++)
		print_one_diag(err, diags, &diag[i]);
	if (count > printed)
		out_printf(err, "posixtrace: and %zu %s more\n", count - printed, what);
}

/*
 * Standard output is flushed first, so that the messages follow the output that preceded them. An
 * error of writing to standard error is ignored, because there is no other place to report it.
 */
void diag_report(struct diags *diags)
{
	static struct out err = { .fd = STDERR_FILENO };

	out_flush(&out_stdout);
	print_kind(&err, diags, diags->warning, diags->warnings, DIAG_WARNINGS, "warnings");
	print_kind(&err, diags, diags->error, diags->errors, DIAG_ERRORS, "errors");
	out_flush(&err);
	err.err = 0;
}

/*
 * The struct diags owns the bytes of the files, because the messages compute their lines from these
 * bytes.
 */
void diag_fini(struct diags *diags)
{
	for (size_t i = 0; i < diags->files; i++)
		free((void *)diags->file[i].bytes);
	free(diags->file);
}
