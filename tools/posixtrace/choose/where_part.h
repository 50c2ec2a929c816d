/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* where_part.h - the tree that where_parse.c builds and where.c evaluates. */
#ifndef POSIXTRACE_CHOOSE_WHERE_PART_H
#define POSIXTRACE_CHOOSE_WHERE_PART_H

#include "base/nearest.h"
#include "choose/where.h"

#define WHERE_NODES  512
#define WHERE_FIELDS 32
#define WHERE_DEPTH  64  /* the greatest number of nested parentheses and unary operators */
#define WHERE_DURATION_NAME "duration"
#define WHERE_CACHE  256 /* places of the cache of schemas */

enum where_op {
	WHERE_OR, WHERE_AND, WHERE_NOT,
	WHERE_EQUAL, WHERE_UNEQUAL, WHERE_LESS, WHERE_AT_MOST, WHERE_MORE, WHERE_AT_LEAST,
	WHERE_MATCH, WHERE_NO_MATCH,
	WHERE_ADD, WHERE_SUBTRACT, WHERE_MULTIPLY, WHERE_DIVIDE, WHERE_REST, WHERE_BITS,
	WHERE_NEGATE,
	WHERE_NUMBER, WHERE_REAL, WHERE_TEXT, WHERE_FIELD,
	WHERE_EVENT, WHERE_ID, WHERE_PID, WHERE_TID, WHERE_THREAD, WHERE_TIME, WHERE_LEN,
	WHERE_ADDRESS, WHERE_DURATION, WHERE_LEVEL,
};

struct where_node {
	enum where_op op;
	unsigned a, b;         /* the operands of this node: indices in where->node */
	__int128 number;
	double real;
	char *text;            /* without escapes, with a NUL at the end */
	size_t len;
	unsigned field, index; /* index in where->field, and index of the array's element */
};

struct where_name {
	size_t at, len;        /* position and length in the text */
	bool is_field;         /* written as field.NAME, so it can only be the name of a field */
	bool known;            /* a schema has a field or a value of this name */
	struct nearest nearest; /* the most similar name of a field or value in the schemas */
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
};

/* The places of the expression's fields in one schema. */
struct where_place {
	const struct posix_trace_schema_np *schema;
	/* index of each field in the schema; -1: the schema lacks the field */
	signed char field[WHERE_FIELDS];
};

struct where {
	char *option, *text;   /* copies for messages that are printed after the log was opened */
	/* the text with its backslashes as in the file; NULL: the text is not from a file */
	char *raw;
	size_t column;         /* the column of the beginning of 'raw' in its line of the file */
	struct where_node node[WHERE_NODES];
	unsigned nodes, root;
	struct where_name field[WHERE_FIELDS];
	bool uses_duration;
	unsigned fields;
	struct where_place place[WHERE_CACHE];
};

struct where_reader {
	struct where *where;
	const char *p;
	unsigned depth;
};

/*
 * The functions below are in where_atom.c. where_add() makes a node, stores its index in *node, and
 * returns its address. If there are too many nodes, it prints an error and returns NULL.
 */
struct where_node *where_add(struct where_reader *reader, enum where_op op, unsigned *node);
/* Returns true if a name may contain the byte, or may begin with it. */
bool where_is_name_byte(char c, bool first);
/*
 * Each of these functions parses one operand at reader->p and moves reader->p behind it. It returns
 * false after it printed an error.
 */
bool where_number(struct where_reader *reader, unsigned *node);
bool where_text(struct where_reader *reader, unsigned *node);
bool where_fact(struct where_reader *reader, unsigned *node);
bool where_field(struct where_reader *reader, unsigned *node);

/*
 * Returns whether this is the name "duration", which has a meaning even if no schema has a field of
 * this name.
 */
bool where_is_duration(const struct where_name *name);

/*
 * Both functions print the reason, the text, and a caret below the place of the error, and return
 * false. 'at' is the offset of the error in the text, and 'len' is the number of bytes to mark.
 */
bool where_wrong(const struct where *where, size_t at, size_t len, const char *reason);
bool where_wrong_here(const struct where_reader *reader, const char *reason);

#endif
