/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* where_parse.c - the expression into nodes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "choose/where_part.h"

static bool parse_or(struct where_reader *reader, unsigned *node);

static void blanks(struct where_reader *reader)
{
	while (*reader->p == ' ' || *reader->p == '\t' || *reader->p == '\n')
		reader->p++;
}

/* One of the operators in list, which are tried in their order; -1: none. */
static int operator(struct where_reader *reader, const char *const *list)
{
	blanks(reader);
	for (int i = 0; list[i]; i++) {
		size_t len = strlen(list[i]);

		if (strncmp(reader->p, list[i], len) != 0)
			continue;
		/* && is no &, and != no ! */
		if (len == 1 && ((*list[i] == '&' && reader->p[1] == '&') ||
				 (*list[i] == '!' && (reader->p[1] == '=' || reader->p[1] == '~'))))
			continue;
		reader->p += len;
		return i;
	}
	return -1;
}

static bool add_operation(struct where_reader *reader, enum where_op op, unsigned a, unsigned b,
			  unsigned *node)
{
	struct where_node *added = where_add(reader, op, node);

	if (!added)
		return false;
	added->a = a;
	added->b = b;
	return true;
}

static bool atom(struct where_reader *reader, unsigned *node)
{
	char c;

	blanks(reader);
	c = *reader->p;
	if (c == '(') {
		reader->p++;
		if (!parse_or(reader, node))
			return false;
		blanks(reader);
		if (*reader->p != ')')
			return where_wrong_here(reader, "a ) was expected");
		reader->p++;
		return true;
	}
	if (c >= '0' && c <= '9')
		return where_number(reader, node);
	if (c == '"' || c == '\'')
		return where_text(reader, node);
	if (!strncmp(reader->p, "event.", 6))
		return where_fact(reader, node);
	if (where_is_name_byte(c, true))
		return where_field(reader, node);
	return where_wrong_here(reader, "a field, a number or a text was expected");
}

/*
 * ------------------------------------------------------------------ operators, from the tightest
 */

static bool sign(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "-", "!", NULL };
	int which = operator(reader, list);
	unsigned of;
	bool good;

	if (which < 0)
		return atom(reader, node);
	if (reader->depth == WHERE_DEPTH)
		return where_wrong_here(reader, "this is nested too deep");
	reader->depth++;
	good = sign(reader, &of) &&
	       add_operation(reader, which ? WHERE_NOT : WHERE_NEGATE, of, 0, node);
	reader->depth--;
	return good;
}

static bool chain(struct where_reader *reader, const char *const *list, const enum where_op *op,
		  bool (*operand)(struct where_reader *reader, unsigned *node), unsigned *node)
{
	int which;

	if (!operand(reader, node))
		return false;
	while ((which = operator(reader, list)) >= 0) {
		unsigned a = *node, b;

		if (!operand(reader, &b) || !add_operation(reader, op[which], a, b, node))
			return false;
	}
	return true;
}

static bool product(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "*", "/", "%", "&", NULL };
	static const enum where_op op[] = { WHERE_MULTIPLY, WHERE_DIVIDE, WHERE_REST, WHERE_BITS };

	return chain(reader, list, op, sign, node);
}

static bool sum(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "+", "-", NULL };
	static const enum where_op op[] = { WHERE_ADD, WHERE_SUBTRACT };

	return chain(reader, list, op, product, node);
}

static bool comparison(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "==", "!=", "<=", ">=", "<", ">", "!~", "~", NULL };
	static const enum where_op op[] = { WHERE_EQUAL, WHERE_UNEQUAL, WHERE_AT_MOST,
					    WHERE_AT_LEAST, WHERE_LESS, WHERE_MORE, WHERE_NO_MATCH,
					    WHERE_MATCH };
	const char *behind;
	unsigned a, b;
	int which;

	if (!sum(reader, node))
		return false;
	which = operator(reader, list);
	if (which < 0)
		return true;
	a = *node;
	if (!sum(reader, &b) || !add_operation(reader, op[which], a, b, node))
		return false;
	if ((op[which] == WHERE_MATCH || op[which] == WHERE_NO_MATCH) &&
	    reader->where->node[b].op != WHERE_TEXT)
		return where_wrong_here(reader, "a pattern in quotes was expected before this");
	blanks(reader);
	behind = reader->p;
	if (operator(reader, list) < 0)
		return true;
	/* a < b < c would compare c with 0 or 1. */
	reader->p = behind;
	return where_wrong_here(reader, "comparisons need && between them");
}

static bool parse_and(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "&&", NULL };
	static const enum where_op op[] = { WHERE_AND };

	return chain(reader, list, op, comparison, node);
}

static bool parse_or(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "||", NULL };
	static const enum where_op op[] = { WHERE_OR };
	bool good;

	if (reader->depth == WHERE_DEPTH)
		return where_wrong_here(reader, "this is nested too deep");
	reader->depth++;
	good = chain(reader, list, op, parse_and, node);
	reader->depth--;
	return good;
}

static bool parse_all(struct where_reader *reader)
{
	if (!parse_or(reader, &reader->where->root))
		return false;
	blanks(reader);
	if (!*reader->p)
		return true;
	if (*reader->p == '=' && reader->p[1] != '=')
		return where_wrong_here(reader, "equal is ==");
	return where_wrong_here(reader, "an operator such as == or && was expected");
}

struct where *where_parse(const char *option, const char *text)
{
	return where_parse_at(option, 0, NULL, text);
}

struct where *where_parse_at(const char *option, size_t column, const char *raw, const char *text)
{
	struct where *where = calloc(1, sizeof(*where));
	struct where_reader reader = { where, NULL, 0 };

	if (where) {
		where->option = strdup(option);
		where->text = strdup(text);
		where->raw = raw ? strdup(raw) : NULL;
		where->column = column;
	}
	if (!where || !where->option || !where->text || (raw && !where->raw)) {
		say("%s: %s", option, strerror(ENOMEM));
		where_free(where);
		return NULL;
	}
	reader.p = where->text;
	if (parse_all(&reader))
		return where;
	where_free(where);
	return NULL;
}

void where_free(struct where *where)
{
	for (unsigned i = 0; where && i < where->nodes; i++)
		free(where->node[i].text);
	if (where) {
		free(where->option);
		free(where->text);
		free(where->raw);
	}
	free(where);
}

bool where_say_unknown(const struct where *where)
{
	for (unsigned i = 0; i < where->fields; i++) {
		const struct where_name *field = &where->field[i];
		char reason[128];

		if (field->known)
			continue;
		snprintf(reason, sizeof(reason), "no event type has a field of this name%s",
			 nearest_hint(&field->nearest));
		return !where_wrong(where, field->at, field->len, reason);
	}
	return false;
}
