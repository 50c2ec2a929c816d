/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_answer.h - reads the values in an answer of ClickHouse, which has the format RowBinary. The
 * bytes of an answer may be hostile, so these functions check them.
 */
#ifndef POSIXTRACE_QUERY_QUERY_ANSWER_H
#define POSIXTRACE_QUERY_QUERY_ANSWER_H

#include "fleet/server.h"
#include "query/sqlfields.h"

/* The form in which an answer has a value. */
enum answer_form {
	ANSWER_INTEGER,   /* Int64 */
	ANSWER_POSITIVE,  /* Int64; 0 means NULL */
	ANSWER_TEXT,
	ANSWER_FILLED,    /* String; an empty one means NULL */
	ANSWER_BLOB,
	ANSWER_FLAGS,     /* Int64: FLEET_TRUNCATED and FLEET_LATE */
	ANSWER_NULLABLE,  /* Nullable(Int64) */
	ANSWER_NULLABLE_TEXT,
	ANSWER_FIELD      /* an Int64 with the kind, then an Int64 and a String */
};

/*
 * Reads the value at the offset *at and moves *at behind it. A text points into the answer. Returns
 * false if the value is incomplete or wrong.
 */
bool answer_value(const struct bytes *answer, size_t *at, enum answer_form form,
		  struct sqlvalue *value);

/* Compares two values in the order of SQLite: NULL, then numbers, then texts, then blobs. */
int answer_compare(const struct sqlvalue *a, const struct sqlvalue *b);

#endif
