/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where_atom.c - parses the operands of an expression: numbers, texts, fields, and facts of events
 * such as event.pid. It also prints the errors of the parser, with the place of each error.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "choose/facts.h"
#include "choose/where_part.h"

#define FIELD_PREFIX "field."

/*
 * Converts an offset in the text to a column in the file. Offset and column differ, because the
 * file has some backslashes that the text does not have.
 */
static size_t column_of(const struct where *where, size_t at)
{
	size_t raw = 0;

	for (size_t i = 0; i < at && where->raw[raw]; i++)
		raw += where->raw[raw] == '\\' && where->raw[raw + 1] ? 2 : 1;
	return where->column + raw;
}

/*
 * The message shows at most 60 bytes of the text before the error, so that the caret is not beyond
 * the right edge of the screen.
 */
bool where_wrong(const struct where *where, size_t at, size_t len, const char *reason)
{
	char marks[128];
	size_t first = at > 60 ? at - 60 : 0; /* where the shown part of a long text begins */
	size_t used = at - first;

	memset(marks, ' ', used);
	marks[used++] = '^';
	/* The marks stop when the buffer is full. So the end of a very long name is not marked. */
	for (; len > 1 && used < sizeof(marks) - 1; len--)
		marks[used++] = '~';
	marks[used] = '\0';
	if (where->raw)
		say("%s:%zu: error: %s", where->option, column_of(where, at), reason);
	else
		say("%s: %s", where->option, reason);
	say("  %.120s", where->text + first);
	say("  %s", marks);
	return false;
}

bool where_wrong_here(const struct where_reader *reader, const char *reason)
{
	return where_wrong(reader->where, (size_t)(reader->p - reader->where->text), 1, reason);
}

/*
 * When one of the parser's functions returns NULL or false, its caller returns false immediately.
 * So only one error is printed.
 */
struct where_node *where_add(struct where_reader *reader, enum where_op op, unsigned *node)
{
	struct where *where = reader->where;
	struct where_node *added;

	/*
	 * The number of nodes is limited. This limits the memory of the expression, and the time
	 * that it takes for each event.
	 */
	if (where->nodes == WHERE_NODES) {
		where_wrong_here(reader, "this expression has too many parts");
		return NULL;
	}
	*node = where->nodes;
	added = &where->node[where->nodes++];
	added->op = op;
	return added;
}

bool where_is_name_byte(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

/* Returns the length of the name at p, or 0 if there is none. */
static size_t name_len(const char *p)
{
	size_t len = 0;

	while (where_is_name_byte(p[len], !len))
		len++;
	return len;
}

static const struct {
	const char *name;
	int64_t factor;
} units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
};

/* Parses an optional unit. If there is none, the factor is 1. */
static bool parse_unit(struct where_reader *reader, int64_t *factor)
{
	size_t len = name_len(reader->p);

	*factor = 1;
	if (!len)
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		/* The whole word must match: "m" is not a unit, although "ms" is. */
		if (strlen(units[i].name) == len && !strncmp(units[i].name, reader->p, len)) {
			*factor = units[i].factor;
			reader->p += len;
			return true;
		}
	}
	return where_wrong(reader->where, (size_t)(reader->p - reader->where->text), len,
		     "the units are ns us ms s and K M G");
}

/* Parses a number with a decimal point; where_number() has found the point. */
static bool parse_real(struct where_reader *reader, const char *begin, unsigned *node)
{
	struct where_node *added;
	char *end;
	double value = strtod(begin, &end);
	int64_t factor;

	reader->p = end;
	if (!parse_unit(reader, &factor))
		return false;
	added = where_add(reader, WHERE_REAL, node);
	if (!added)
		return false;
	/* The unit of all times in an expression is a nanosecond, so 1.5ms is 1500000. */
	added->real = value * (double)factor;
	return true;
}

/* Parses an integer or, if a point and a digit follow, a real. */
bool where_number(struct where_reader *reader, unsigned *node)
{
	const char *begin = reader->p;
	struct where_node *added;
	unsigned long long value;
	int64_t factor;
	char *end;

	errno = 0;
	/*
	 * Base 0 accepts 0x and octal numbers as C does. The caller has checked that the first
	 * character is a digit, so the number has no sign.
	 */
	value = strtoull(begin, &end, 0);
	if (*end == '.' && end[1] >= '0' && end[1] <= '9')
		return parse_real(reader, begin, node);
	reader->p = end;
	if (errno)
		return where_wrong(reader->where, (size_t)(begin - reader->where->text),
			     (size_t)(end - begin), "a number of more than 64 bits");
	if (!parse_unit(reader, &factor))
		return false;
	added = where_add(reader, WHERE_NUMBER, node);
	if (!added)
		return false;
	/* A number of 64 bits times a unit fits into 128 bits. */
	added->number = (__int128)value * factor;
	return true;
}

/*
 * Parses a quoted text. The function drops a backslash and uses the byte behind it as it is, even
 * if that byte is a quote or a backslash.
 */
bool where_text(struct where_reader *reader, unsigned *node)
{
	char quote = *reader->p;
	const char *p = reader->p + 1;
	/* The node is added first, so that the tree owns the text even after an error. */
	struct where_node *added = where_add(reader, WHERE_TEXT, node);

	if (!added)
		return false;
	/* The text is not longer than the rest of the expression, so it fits into this memory. */
	added->text = malloc(strlen(p) + 1);
	if (!added->text)
		return where_wrong_here(reader, strerror(ENOMEM));
	for (; *p && *p != quote; p++) {
		if (*p == '\\' && p[1])
			p++;
		added->text[added->len++] = *p;
	}
	added->text[added->len] = '\0';
	if (!*p)
		return where_wrong_here(reader, "this text is not closed");
	reader->p = p + 1;
	return true;
}

/* Parses event.NAME. reader->p is at "event.". */
bool where_fact(struct where_reader *reader, unsigned *node)
{
	static const struct {
		const char *name;
		enum where_op op;
	} facts[] = {
#define WHERE_FACT(name, constant, width) { #name, WHERE_##constant },
		FACTS(WHERE_FACT)
		{ "duration", WHERE_DURATION },
	};
	size_t len;

	reader->p += strlen("event.");
	len = name_len(reader->p);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strlen(facts[i].name) != len || strncmp(facts[i].name, reader->p, len) != 0)
			continue;
		reader->p += len;
		reader->where->uses_duration |= facts[i].op == WHERE_DURATION;
		return where_add(reader, facts[i].op, node) != NULL;
	}
	return where_wrong(reader->where, (size_t)(reader->p - reader->where->text), len,
		     "the facts of an event are event, id, pid, tid, thread, time, len, address, "
		     "level and duration");
}

bool where_is_duration(const struct where_name *name)
{
	return !name->is_field && !strcmp(name->name, WHERE_DURATION_NAME);
}

/*
 * Stores in *number the index of the name of a field in where->field. Each distinct name of the
 * expression has an element there. where_say_unknown() later checks the name against the schemas of
 * the log. For the message of that check, field_number() stores the position of the name.
 */
static bool field_number(struct where_reader *reader, const char *name, size_t len, bool is_field,
			 unsigned *number)
{
	struct where *where = reader->where;

	for (*number = 0; *number < where->fields; ++*number)
		if (where->field[*number].len == len &&
		    where->field[*number].is_field == is_field &&
		    !memcmp(where->field[*number].name, name, len))
			return true;
	if (where->fields == WHERE_FIELDS || len > POSIX_TRACE_FIELD_NAME_MAX_NP)
		return where_wrong(where, (size_t)(name - where->text), len,
			     len > POSIX_TRACE_FIELD_NAME_MAX_NP ? "no field has such a long name"
								 : "too many fields");
	where->field[where->fields].at = (size_t)(name - where->text);
	where->field[where->fields].len = len;
	where->field[where->fields].is_field = is_field;
	memcpy(where->field[where->fields].name, name, len);
	/*
	 * "nearest" finds the most similar name, for the message about an unknown field.
	 * where_mark_names() later gives this search the names of the schemas' fields.
	 */
	nearest_begin(&where->field[where->fields].nearest, where->field[where->fields].name);
	where->uses_duration |= where_is_duration(&where->field[where->fields++]);
	return true;
}

/*
 * Parses an optional [INDEX] behind a field. An index that is too great for the array of any schema
 * is an error.
 */
static bool parse_index(struct where_reader *reader, unsigned *index)
{
	char *end;
	unsigned long value;

	*index = 0;
	if (*reader->p != '[')
		return true;
	reader->p++;
	/* The test is necessary because strtoul() would also accept a sign and blanks. */
	if (*reader->p < '0' || *reader->p > '9')
		return where_wrong_here(reader, "the number of an element was expected");
	value = strtoul(reader->p, &end, 10);
	if (value > POSIX_TRACE_ELEMENTS_MAX_NP)
		return where_wrong_here(reader, "no array has so many elements");
	reader->p = end;
	if (*end != ']')
		return where_wrong_here(reader, "a ] was expected");
	*index = (unsigned)value;
	reader->p = end + 1;
	return true;
}

/* Parses NAME, NAME[INDEX], field.NAME or field.NAME[INDEX]. */
bool where_field(struct where_reader *reader, unsigned *node)
{
	const bool is_field = !strncmp(reader->p, FIELD_PREFIX, strlen(FIELD_PREFIX));
	struct where_node *added;
	unsigned number, index;
	size_t len;

	reader->p += is_field ? strlen(FIELD_PREFIX) : 0;
	len = name_len(reader->p);
	if (!len)
		return where_wrong_here(reader, "the name of a field was expected");
	if (!field_number(reader, reader->p, len, is_field, &number))
		return false;
	reader->p += len;
	if (!parse_index(reader, &index))
		return false;
	added = where_add(reader, WHERE_FIELD, node);
	if (!added)
		return false;
	added->field = number;
	added->index = index;
	return true;
}
