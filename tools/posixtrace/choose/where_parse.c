/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where_parse.c - a recursive descent parser: one function for each level of precedence. The depth
 * of the recursion is limited, because each level needs stack, and a text may have any number of
 * parentheses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "choose/where_part.h"

static bool parse_or(struct where_reader *reader, unsigned *node);

/* Skips white space. */
static void skip_blanks(struct where_reader *reader)
{
	while (*reader->p == ' ' || *reader->p == '\t' || *reader->p == '\n')
		reader->p++;
}

/*
 * Parses one of the operators in list. The operators are tried in the order of the list. So <= must
 * precede <, which is its beginning. Returns the index of the operator in the list, or -1 if there
 * is none.
 */
static int parse_operator(struct where_reader *reader, const char *const *list)
{
	skip_blanks(reader);
	for (int i = 0; list[i]; i++) {
		size_t len = strlen(list[i]);

		if (strncmp(reader->p, list[i], len) != 0)
			continue;
		/*
		 * If & is the beginning of &&, it is not the operator &. If ! is the beginning of
		 * != or !~, it is not the operator !.
		 */
		if (len == 1 && ((*list[i] == '&' && reader->p[1] == '&') ||
				 (*list[i] == '!' && (reader->p[1] == '=' || reader->p[1] == '~'))))
			continue;
		reader->p += len;
		return i;
	}
	return -1;
}

/* Adds a node with two operands. A unary operator leaves b at 0. */
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

/* Parses an operand, or an expression in parentheses. */
static bool parse_atom(struct where_reader *reader, unsigned *node)
{
	char c;

	skip_blanks(reader);
	c = *reader->p;
	if (c == '(') {
		reader->p++;
		if (!parse_or(reader, node))
			return false;
		skip_blanks(reader);
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

/* ------------------------------------------------------------------ operators, tightest first */

/*
 * Parses unary operators. Any number of them may follow each other, so the function checks the
 * depth of the recursion, too.
 */
static bool parse_unary(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "-", "!", NULL };
	int which = parse_operator(reader, list);
	unsigned of;
	bool good;

	if (which < 0)
		return parse_atom(reader, node);
	if (reader->depth == WHERE_DEPTH)
		return where_wrong_here(reader, "this is nested too deeply");
	reader->depth++;
	/*
	 * The operand of ! is a unary expression. So ! a == b negates only a. To negate a
	 * comparison, the user must put it in parentheses.
	 */
	good = parse_unary(reader, &of) &&
	       add_operation(reader, which ? WHERE_NOT : WHERE_NEGATE, of, 0, node);
	reader->depth--;
	return good;
}

/* Parses operands joined by operators of one level, from left to right. */
static bool parse_chain(struct where_reader *reader, const char *const *list,
			const enum where_op *op,
			bool (*operand)(struct where_reader *reader, unsigned *node),
			unsigned *node)
{
	int which;

	if (!operand(reader, node))
		return false;
	while ((which = parse_operator(reader, list)) >= 0) {
		unsigned a = *node, b;

		if (!operand(reader, &b) || !add_operation(reader, op[which], a, b, node))
			return false;
	}
	return true;
}

/*
 * The bit operator & has the precedence of * and not the low precedence that it has in C, so that
 * flags & 4 == 4 means (flags & 4) == 4.
 */
static bool parse_product(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "*", "/", "%", "&", NULL };
	static const enum where_op op[] = { WHERE_MULTIPLY, WHERE_DIVIDE, WHERE_REST, WHERE_BITS };

	return parse_chain(reader, list, op, parse_unary, node);
}

static bool parse_sum(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "+", "-", NULL };
	static const enum where_op op[] = { WHERE_ADD, WHERE_SUBTRACT };

	return parse_chain(reader, list, op, parse_product, node);
}

/* Parses a sum, or the comparison of two sums. A second comparison behind it is an error. */
static bool parse_comparison(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "==", "!=", "<=", ">=", "<", ">", "!~", "~", NULL };
	static const enum where_op op[] = { WHERE_EQUAL, WHERE_UNEQUAL, WHERE_AT_MOST,
					    WHERE_AT_LEAST, WHERE_LESS, WHERE_MORE, WHERE_NO_MATCH,
					    WHERE_MATCH };
	const char *behind;
	unsigned a, b;
	int which;

	if (!parse_sum(reader, node))
		return false;
	which = parse_operator(reader, list);
	if (which < 0)
		return true;
	a = *node;
	if (!parse_sum(reader, &b) || !add_operation(reader, op[which], a, b, node))
		return false;
	/* A pattern must be a constant, because match_value() relies on the NUL at its end. */
	if ((op[which] == WHERE_MATCH || op[which] == WHERE_NO_MATCH) &&
	    reader->where->node[b].op != WHERE_TEXT)
		return where_wrong_here(reader, "a pattern in quotes was expected before this");
	skip_blanks(reader);
	behind = reader->p;
	if (parse_operator(reader, list) < 0)
		return true;
	/*
	 * a < b < c would compare c with the truth value of a < b. Users never mean that, so the
	 * parser reports an error.
	 */
	reader->p = behind;
	return where_wrong_here(reader, "comparisons need && between them");
}

/* && binds tighter than ||, as in C. */
static bool parse_and(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "&&", NULL };
	static const enum where_op op[] = { WHERE_AND };

	return parse_chain(reader, list, op, parse_comparison, node);
}

static bool parse_or(struct where_reader *reader, unsigned *node)
{
	static const char *const list[] = { "||", NULL };
	static const enum where_op op[] = { WHERE_OR };
	bool good;

	if (reader->depth == WHERE_DEPTH)
		return where_wrong_here(reader, "this is nested too deeply");
	reader->depth++;
	good = parse_chain(reader, list, op, parse_and, node);
	reader->depth--;
	return good;
}

/* Parses the whole text and requires that nothing follows. */
static bool parse_all(struct where_reader *reader)
{
	if (!parse_or(reader, &reader->where->root))
		return false;
	skip_blanks(reader);
	if (!*reader->p)
		return true;
	/* The most common mistake, = in place of ==, gets a special message. */
	if (*reader->p == '=' && reader->p[1] != '=')
		return where_wrong_here(reader, "the operator for equal values is ==");
	return where_wrong_here(reader, "an operator such as == or && was expected");
}

/*
 * Messages show the text of an option as it is, so the arguments 'raw' and 'column' are not needed.
 */
struct where *where_parse(const char *option, const char *text)
{
	return where_parse_at(option, 0, NULL, text);
}

/* The function copies its arguments, because where_say_unknown() may print them later. */
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

/* A node owns no memory except for its text. */
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

/*
 * Returns a hint for a name that is a column of the command dump, but no field: the hint names the
 * option that chooses events by this column, or the name that an expression has for it. Returns
 * NULL for other names, and if the expression is not a value of --where.
 */
static const char *option_hint(const struct where *where, const char *name)
{
	static const struct {
		const char *name, *hint;
	} hints[] = {
		{ "pid", "; --pid chooses a process" }, { "tid", "; --tid chooses a thread" },
		{ "event", "; -e chooses event types" }, { "len", "; write event.len" },
		{ "name", "; write event.name" }, { "time", "; write event.time" },
		{ "address", "; write event.address" }, { "level", "; write event.level" },
		{ "id", "; write event.id" }, { "thread", "; write event.thread" },
	};

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (!strcmp(where->option, "--where") && !strcmp(name, hints[i].name))
			return hints[i].hint;
	return NULL;
}

bool where_say_unknown(const struct where *where)
{
	for (unsigned i = 0; i < where->fields; i++) {
		const struct where_name *field = &where->field[i];
		const char *hint = field->is_field ? NULL : option_hint(where, field->name);
		char reason[128];

		if (field->known)
			continue;
		snprintf(reason, sizeof(reason),
			 "no event type has a field%s of this name%s",
			 field->is_field ? "" : " or a value",
			 hint ? hint : nearest_hint(&field->nearest));
		/* where_wrong() returns false; this function reports an unknown name by true. */
		return !where_wrong(where, field->at, field->len, reason);
	}
	return false;
}
