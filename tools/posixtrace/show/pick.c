/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick.c - parses --fields and finds its fields in the schemas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "choose/facts.h"
#include "log/field.h"
#include "show/pick_part.h"

/* The columns that exist for every event, with their usual widths in characters. */
static const struct {
	const char *name;
	enum pick_fact fact;
	size_t width;
} facts[] = {
#define PICK_FACT(name, constant, width) { #name, PICK_##constant, width },
	FACTS(PICK_FACT)
	{ "delta", PICK_DELTA, 14 }, { "data", PICK_DATA, 24 }, { "flags", PICK_FLAGS, 9 },
	{ "log", PICK_LOG, 16 }, { "symbol", PICK_SYMBOL, 24 }, { "source", PICK_SOURCE, 32 },
};

#define FIELD_WIDTH 12 /* least width of a field's column */

/* Prints an error about a column and returns false. */
static bool wrong_column(const char *word, size_t len, const char *reason)
{
	say("--fields: %.*s: %s", (int)(len < 100 ? len : 100), word, reason);
	return false;
}

/*
 * Returns the word without the prefix "event." or "field.". It stores which of the two prefixes the
 * word has.
 */
static const char *without_prefix(const char *word, bool *fact, bool *field)
{
	*fact = !strncmp(word, "event.", 6);
	*field = !strncmp(word, "field.", 6);
	return *fact || *field ? word + 6 : word;
}

/* If the name is one of the facts, stores the fact in the column and returns true. */
static bool find_fact(struct pick_column *column, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strlen(facts[i].name) != len || strncmp(facts[i].name, name, len) != 0)
			continue;
		column->fact = facts[i].fact;
		column->width = facts[i].width;
		return true;
	}
	return false;
}

/*
 * Offers the names of all facts to the search for a similar name, because the user may have meant a
 * fact.
 */
static void offer_facts(struct nearest *nearest)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		nearest_offer(nearest, facts[i].name);
}

static size_t name_len(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* Parses NAME or NAME[INDEX]. Returns false if the text has another form. */
static bool parse_field(struct pick_column *column, const char *name, const char *end)
{
	size_t len = name_len(name);
	char *behind;

	if (!len || len > POSIX_TRACE_FIELD_NAME_MAX_NP)
		return false;
	memcpy(column->name, name, len);
	column->name[len] = '\0';
	nearest_begin(&column->nearest, column->name);
	column->width = len > FIELD_WIDTH ? len : FIELD_WIDTH;
	if (name + len == end)
		return true;
	/* The test is necessary because strtoul() would also accept blanks and a sign. */
	if (name[len] != '[' || name[len + 1] < '0' || name[len + 1] > '9')
		return false;
	column->index = (unsigned)strtoul(name + len + 1, &behind, 10);
	column->has_index = true;
	return *behind == ']' && behind + 1 == end && column->index < POSIX_TRACE_ELEMENTS_MAX_NP;
}

/* Parses a column and appends it. Returns false after it printed an error. */
static bool parse_column(struct pick *pick, const char *word, size_t len)
{
	struct pick_column *column = &pick->column[pick->count];
	const char *name, *end = word + len;
	bool fact, field;

	/* The array of columns and the elements of the cache have room for PICK_MAX columns. */
	if (pick->count == PICK_MAX)
		return wrong_column(word, len, "too many columns");
	if (!len)
		return wrong_column("''", 2, "a column has no name");
	if (len >= sizeof(column->label))
		return wrong_column(word, len, "this name of a column is too long");
	memcpy(column->label, word, len);
	name = without_prefix(word, &fact, &field);
	if (!field && find_fact(column, name, (size_t)(end - name))) {
		pick->count++;
		return true;
	}
	if (fact)
		return wrong_column(word, len, "events have no such fact");
	if (!parse_field(column, name, end))
		return wrong_column(word, len, "not a name of a column, NAME or NAME[NUMBER]");
	/* The column must be at least as wide as its title. */
	if (column->width < len)
		column->width = len;
	pick->count++;
	return true;
}

const struct option_row pick_rows[] = {
	{ "fields", PICK_FIELDS, "LIST",
		"only these columns, in this order: time delta pid tid thread address event id "
		"level len data flags log, symbol and source (the function and line of the "
		"address), and fields of the schemas",
		OPTION_LIST, "time delta pid tid thread address event id level len data flags "
		"log symbol source" },
	OPTION_END
};

/* If an element of the list is empty, parse_column() prints an error. */
bool pick_parse(struct pick *pick, const char *list)
{
	for (;;) {
		size_t len = strcspn(list, ",");

		if (!parse_column(pick, list, len))
			return false;
		if (!list[len])
			return true;
		list += len + 1;
	}
}

/*
 * A direct-mapped cache keeps the indices of the fields in each schema, as in where.c. A signed
 * char is enough for an index, because a schema has few fields.
 */
int pick_field(struct pick *pick, const struct posix_trace_schema_np *schema, unsigned column)
{
	size_t at = ((uintptr_t)schema / sizeof(*schema)) % PICK_CACHE;

	if (pick->place[at].schema != schema) {
		pick->place[at].schema = schema;
		for (unsigned i = 0; i < pick->count; i++) {
			pick->place[at].field[i] =
				pick->column[i].fact == PICK_FIELD ?
					(signed char)field_index(schema, pick->column[i].name) : -1;
		}
	}
	return pick->place[at].field[column];
}

/* A column whose field was found in another schema is skipped. */
void pick_mark_fields(struct pick *pick, const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < pick->count; i++) {
		struct pick_column *column = &pick->column[i];

		if (column->fact != PICK_FIELD || column->known)
			continue;
		column->known = pick_field(pick, schema, i) >= 0;
		for (unsigned f = 0; f < schema->fields; f++)
			nearest_offer(&column->nearest, schema->field[f].name);
	}
}

/* All unknown fields are printed. where_say_unknown(), in contrast, prints only the first one. */
bool pick_say_unknown(struct pick *pick)
{
	char reason[128];
	bool any = false;

	for (unsigned i = 0; i < pick->count; i++) {
		if (pick->column[i].fact != PICK_FIELD || pick->column[i].known)
			continue;
		any = true;
		offer_facts(&pick->column[i].nearest);
		snprintf(reason, sizeof(reason), "no event type of the log has this field%s",
			 nearest_hint(&pick->column[i].nearest));
		wrong_column(pick->column[i].label, strlen(pick->column[i].label), reason);
	}
	return any;
}
