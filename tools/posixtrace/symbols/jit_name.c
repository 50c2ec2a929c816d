/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit_name.c - splits the names of functions that V8 and Python write. */
#include "symbols/jit_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "py::"

/* V8's kinds of code that are functions of the program. */
static const char *const v8_kinds[] = {
	"JS:", "LazyCompile:", "InterpretedFunction:", "Function:", "Script:", "Eval:",
};

/*
 * Returns the text behind V8's kind of code and behind the mark of the compiler that made the code.
 * NULL: the text has another form.
 */
static char *behind_kind(char *text)
{
	for (size_t i = 0; i < sizeof(v8_kinds) / sizeof(*v8_kinds); i++) {
		size_t len = strlen(v8_kinds[i]);

		if (strncmp(text, v8_kinds[i], len) != 0)
			continue;
		text += len;
		return *text && strchr("*~^+-", *text) ? text + 1 : text;
	}
	return NULL;
}

/*
 * Removes ":NUMBER" at the end of a text, and stores the number. Returns false if the text has no
 * such end.
 */
static bool cut_number(char *text, unsigned *number)
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || !isdigit((unsigned char)colon[1]) ||
	    colon[1 + strspn(colon + 1, "0123456789")])
		return false;
	*number = (unsigned)strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	return true;
}

/*
 * Returns the space before the file. A name may have spaces ("get size"), and a path may have some,
 * too. So the first space before a text that looks like the begin of a path counts, or else the
 * last space.
 */
static char *before_file(char *text)
{
	static const char *const begins[] = { " /", " file:", " node:", " http:", " https:" };
	char *first = NULL;

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		char *at = strstr(text, begins[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first ? first : strrchr(text, ' ');
}

/* Splits "name file:LINE:COLUMN"; the name may be missing. */
static void split_v8(char *text, struct jit_name *name)
{
	char *space = before_file(text);
	unsigned column;

	name->function = text;
	if (space && cut_number(space + 1, &column)) {
		*space = '\0';
		name->file = space + 1;
		/* If there is only one number, it is the line. */
		if (!cut_number(space + 1, &name->line))
			name->line = column;
	}
	if (!*name->function)
		name->function = "(anonymous)";
}

void jit_name_split(char *text, struct jit_name *name)
{
	char *rest = behind_kind(text);

	*name = (struct jit_name){ .function = text };
	if (rest) {
		split_v8(rest, name);
	} else if (!strncmp(text, PYTHON, sizeof(PYTHON) - 1)) {
		char *function = text + sizeof(PYTHON) - 1;

		name->function = function;
		rest = strchr(function, ':');
		if (rest && rest > function && rest[1]) {
			*rest = '\0';
			name->file = rest + 1;
		}
	}
}
