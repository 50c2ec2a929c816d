/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* option.c - collects the rows of tables of options, and writes them as the lines of --help. */
#include "base/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/vec.h"

#define WIDTH      80 /* columns of --help */
#define LABEL_MAX  25 /* the text of an option with a longer label begins on the next line */
#define LABEL_SIZE 64
#define HELP_SIZE  4096 /* room for the text of an option and its relations to other options */

size_t option_find(const struct option_list *list, const char *name, size_t len)
{
	size_t i = 0;

	for (; i < list->count; i++) {
		const struct option_row *row = list->row[i];

		if (row->name ? strlen(row->name) == len && !memcmp(row->name, name, len) :
				len == 1 && row->value == *name)
			break;
	}
	return i;
}

/* Returns true if the list has a row with this long name. */
static bool is_listed(const struct option_list *list, const char *name)
{
	return name && option_find(list, name, strlen(name)) < list->count;
}

static bool append_rows(struct option_list *list, const struct option_row *rows);

/*
 * Appends the rows of all tables that more() returns. The function leaves out a row if the list
 * already has a row with the same name.
 */
static bool append_more(struct option_list *list, const struct option_row *(*more)(size_t index))
{
	const struct option_row *rows;

	for (size_t i = 0; (rows = more(i)); i++)
		for (; rows->name || rows->value; rows++) {
			if (is_listed(list, rows->name))
				continue;
			if (!vec_grow(&list->row, list->count, 1))
				return false;
			list->row[list->count++] = rows;
		}
	return true;
}

static bool append_rows(struct option_list *list, const struct option_row *rows)
{
	for (; rows->name || rows->value || rows->rows || rows->more; rows++) {
		if (rows->rows) {
			if (!append_rows(list, rows->rows))
				return false;
			continue;
		}
		if (rows->more) {
			list->own = list->count;
			return append_more(list, rows->more);
		}
		if (!vec_grow(&list->row, list->count, 1))
			return false;
		list->row[list->count++] = rows;
		list->own = list->count;
	}
	return true;
}

bool option_list(struct option_list *list, const struct option_row *rows)
{
	memset(list, 0, sizeof(*list));
	if (append_rows(list, rows))
		return true;
	free(list->row);
	memset(list, 0, sizeof(*list));
	return false;
}

/*
 * Writes the label of an option into label: two blanks and the names in the form of --help, such as
 * "-o, --output LOG". Returns the label's length.
 */
static size_t put_label(char *label, const struct option_row *row)
{
	const char *arg = row->arg ? row->arg : "", *blank = option_needs_arg(row) ? " " : "";

	if (!row->name)
		snprintf(label, LABEL_SIZE, "  -%c%s%s", row->value, blank, arg);
	else if (option_has_letter(row))
		snprintf(label, LABEL_SIZE, "  -%c, --%s%s%s", row->value, row->name, blank, arg);
	else
		snprintf(label, LABEL_SIZE, "      --%s%s%s", row->name, blank, arg);
	return strlen(label);
}

/*
 * Writes one line of a text. If the line is too long, the function breaks it at blanks. The len
 * bytes of text contain no line end.
 */
static void wrap_line(struct out *out, const char *text, size_t len, size_t column, size_t indent)
{
	const char *end = text + len;

	while (text < end) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		size_t word = (size_t)((blank ? blank : end) - text);

		if (column > indent && column + word + 1 > WIDTH) {
			out_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			out_char(out, ' ');
			column++;
		}
		out_bytes(out, text, word);
		column += word;
		text += word + (blank != NULL);
	}
	out_char(out, '\n');
}

void option_wrap(struct out *out, const char *text, size_t column, size_t indent)
{
	for (;;) {
		size_t len = strcspn(text, "\n");

		if (*text == ' ') {
			out_bytes(out, text, len);
			out_char(out, '\n');
		} else {
			/*
			 * The caller has already written "column" columns of the first line, so
			 * this line needs fewer blanks.
			 */
			out_printf(out, "%*s", (int)(len && indent > column ? indent - column : 0),
				   "");
			wrap_line(out, text, len, indent, indent);
		}
		if (!text[len] || !text[len + 1])
			return;
		text += len + 1;
		column = 0;
	}
}

/*
 * Appends a relation to other options, such as "; not with --head or --tail", to the text. It omits
 * names that the command does not have. Returns false if there is no room.
 */
static bool add_relation(char *text, size_t size, const struct option_list *list,
			 const char *relation, const char *names)
{
	const char *separator = relation;

	while (names && *names) {
		size_t len = strcspn(names, " "), at = option_find(list, names, len);
		size_t used = strlen(text);

		if (at < list->count &&
		    snprintf(text + used, size - used, "%s%s%.*s", separator,
			     list->row[at]->name ? "--" : "-", (int)len, names) >=
			    (int)(size - used))
			return false;
		separator = at < list->count ? " or " : separator;
		names += len + (names[len] == ' ');
	}
	return true;
}

/* Writes the text of an option and its relations to others. */
static void put_help(struct out *out, const struct option_list *list, const struct option_row *row,
		     size_t len, size_t column)
{
	char text[HELP_SIZE] = "";

	if (strlen(row->help) < sizeof(text))
		strcpy(text, row->help);
	if (*text && add_relation(text, sizeof(text), list, "; not with ", row->excludes) &&
	    add_relation(text, sizeof(text), list, "; needs ", row->needs))
		option_wrap(out, text, len, column);
	else
		option_wrap(out, row->help, len, column);
}

void option_help(struct out *out, const struct option_list *list)
{
	char label[LABEL_SIZE];
	size_t column = 0;

	for (size_t i = 0; i < list->own; i++) {
		size_t len = put_label(label, list->row[i]);

		if (list->row[i]->help && len <= LABEL_MAX && len + 2 > column)
			column = len + 2;
	}
	for (size_t i = 0; i < list->own; i++) {
		size_t len = put_label(label, list->row[i]);

		if (!list->row[i]->help)
			continue;
		out_bytes(out, label, len);
		if (len + 2 > column) {
			out_char(out, '\n');
			len = 0;
		}
		put_help(out, list, list->row[i], len, column);
	}
}
