/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/template/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/text.h"

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

static int compare(const void *a, const void *b)
{
	const struct diag *first = a, *second = b;

	if (first->place.file != second->place.file)
		return first->place.file < second->place.file ? -1 : 1;
	if (first->place.offset != second->place.offset)
		return first->place.offset < second->place.offset ? -1 : 1;
	return strcmp(first->code, second->code);
}

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

static void tell(struct out *err, const struct diags *diags, const struct diag *diag)
{
	const struct diag_file *file = &diags->file[diag->place.file];
	size_t line, column;

	line_and_column(file, diag->place.offset, &line, &column);
	text_safe(err, file->name, strlen(file->name));
	out_printf(err, ":%zu:%zu: %s: [%s] %s\n", line, column,
		   diag->code[0] == 'E' ? "error" : "warning", diag->code, diag->text);
}

static void tell_kind(struct out *err, const struct diags *diags, struct diag *diag, size_t count,
		      size_t kept, const char *what)
{
	size_t told = count < kept ? count : kept;

	qsort(diag, told, sizeof(*diag), compare);
	for (size_t i = 0; i < told; i++)
		tell(err, diags, &diag[i]);
	if (count > told)
		out_printf(err, "posixtrace: and %zu %s more\n", count - told, what);
}

void diag_tell(struct diags *diags)
{
	static struct out err = { .fd = STDERR_FILENO };

	out_flush(&out_stdout);
	tell_kind(&err, diags, diags->warning, diags->warnings, DIAG_WARNINGS, "warnings");
	tell_kind(&err, diags, diags->error, diags->errors, DIAG_ERRORS, "errors");
	out_flush(&err);
	err.err = 0;
}

void diag_fini(struct diags *diags)
{
	for (size_t i = 0; i < diags->files; i++)
		free((void *)diags->file[i].bytes);
	free(diags->file);
}
