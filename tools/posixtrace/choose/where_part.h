/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* where_part.h - what where_parse.c makes and where.c asks. */
#ifndef POSIXTRACE_CHOOSE_WHERE_PART_H
#define POSIXTRACE_CHOOSE_WHERE_PART_H

#include "base/nearest.h"
#include "choose/where.h"

#define WHERE_NODES  512
#define WHERE_FIELDS 32
#define WHERE_DEPTH  64  /* of parentheses and signs within one another */
#define WHERE_DURATION_NAME "duration"
#define WHERE_CACHE  256 /* schemas whose fields are remembered */

enum where_op {
	WHERE_OR, WHERE_AND, WHERE_NOT,
	WHERE_EQUAL, WHERE_UNEQUAL, WHERE_LESS, WHERE_AT_MOST, WHERE_MORE, WHERE_AT_LEAST,
	WHERE_MATCH, WHERE_NO_MATCH,
	WHERE_ADD, WHERE_SUBTRACT, WHERE_MULTIPLY, WHERE_DIVIDE, WHERE_REST, WHERE_BITS,
	WHERE_NEGATE,
	WHERE_NUMBER, WHERE_REAL, WHERE_TEXT, WHERE_FIELD,
	WHERE_NAME, WHERE_PID, WHERE_TID, WHERE_TIME, WHERE_LEN, WHERE_ADDRESS, WHERE_DURATION,
};

struct where_node {
	enum where_op op;
	unsigned a, b;         /* nodes that it works on */
	__int128 number;
	double real;
	char *text;            /* decoded, with a NUL behind it */
	size_t len;
	unsigned field, index; /* of where->field; element */
};

struct where_name {
	size_t at, len;        /* in the text */
	bool known;            /* some schema has it */
	struct nearest nearest; /* of the fields that schemas have */
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
};

/* Where the fields are in a schema that was met before. */
struct where_place {
	const struct posix_trace_schema_np *schema;
	signed char field[WHERE_FIELDS]; /* -1: it does not have it */
};

struct where {
	char *option, *text;   /* copies: names are looked up when the log is known */
	char *raw;             /* as it stands in a file, from this column on; NULL: in none */
	size_t column;
	struct where_node node[WHERE_NODES];
	unsigned nodes, root;
	struct where_name field[WHERE_FIELDS];
	bool asks_duration;
	unsigned fields;
	struct where_place place[WHERE_CACHE];
};

struct where_reader {
	struct where *where;
	const char *p;
	unsigned depth;
};

/* where_atom.c. A new node; NULL: there are too many, and that has been said. */
struct where_node *where_add(struct where_reader *reader, enum where_op op, unsigned *node);
bool where_is_name_byte(char c, bool first);
bool where_number(struct where_reader *reader, unsigned *node);
bool where_text(struct where_reader *reader, unsigned *node);
bool where_fact(struct where_reader *reader, unsigned *node);
bool where_field(struct where_reader *reader, unsigned *node);

/* Says it, with the text and a caret below what is wrong. False. */
bool where_wrong(const struct where *where, size_t at, size_t len, const char *reason);
bool where_wrong_here(const struct where_reader *reader, const char *reason);

#endif
