/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_answer.h - the values of an answer of ClickHouse, in the format RowBinary. The bytes are
 * hostile until they were read by these functions.
 */
#ifndef POSIXTRACE_QUERY_QUERY_ANSWER_H
#define POSIXTRACE_QUERY_QUERY_ANSWER_H

#include "fleet/server.h"
#include "query/sqlfields.h"

/* How a value of an answer is read. */
enum answer_form {
	ANSWER_INTEGER,   /* Int64 */
	ANSWER_POSITIVE,  /* Int64; 0: NULL */
	ANSWER_TEXT,
	ANSWER_FILLED,    /* text; empty: NULL */
	ANSWER_BLOB,
	ANSWER_FLAGS,     /* Int64: FLEET_TRUNCATED and FLEET_LATE */
	ANSWER_NULLABLE,  /* Nullable(Int64) */
	ANSWER_NULLABLE_TEXT,
	ANSWER_FIELD      /* Int64 with the kind, Int64, String */
};

/* Reads the next value. Its texts are in the answer. Returns false if it is cut or wrong. */
bool answer_value(const struct bytes *answer, size_t *at, enum answer_form form,
		  struct sqlvalue *value);

/* Compares two values as SQLite orders them: NULL, numbers, texts, blobs. */
int answer_compare(const struct sqlvalue *a, const struct sqlvalue *b);

#endif
