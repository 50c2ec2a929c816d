/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thrift.h - writes structures in the compact protocol of Thrift, in which Parquet has its page
 * headers and its footer (github.com/apache/thrift, doc/specs/thrift-compact-protocol.md).
 *
 * The caller must write the fields in the order of their numbers. After the fields of each
 * structure, it must call thrift_end(). A lack of memory is noted in the struct bytes
 * (base/bytes.h).
 */
#ifndef POSIXTRACE_PARQUET_THRIFT_H
#define POSIXTRACE_PARQUET_THRIFT_H

#include "base/bytes.h"

#define THRIFT_DEPTH 8 /* the greatest depth of nested structures; Parquet needs 5 */

enum thrift_type {
	THRIFT_TRUE = 1, THRIFT_FALSE, THRIFT_I8, THRIFT_I32 = 5, THRIFT_I64, THRIFT_BINARY = 8,
	THRIFT_LIST, THRIFT_STRUCT = 12
};

struct thrift {
	struct bytes *to;
	int last[THRIFT_DEPTH]; /* the number of the last field, for each open structure */
	unsigned depth;
};

/*
 * Begins a structure that is not within another structure, at the end of *to. thrift_end() closes
 * it.
 */
struct thrift thrift_begin(struct bytes *to);
void thrift_end(struct thrift *thrift);

/* These functions write a field. */
void thrift_bool(struct thrift *thrift, int field, bool value);
void thrift_i8(struct thrift *thrift, int field, int8_t value);
void thrift_i32(struct thrift *thrift, int field, int32_t value);
void thrift_i64(struct thrift *thrift, int field, int64_t value);
void thrift_binary(struct thrift *thrift, int field, const void *bytes, size_t len);
void thrift_text(struct thrift *thrift, int field, const char *text);
void thrift_struct(struct thrift *thrift, int field);

/*
 * Begins a list with "count" elements. The caller must then write the elements with the functions
 * below.
 */
void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count);
void thrift_list_struct(struct thrift *thrift);
void thrift_list_i32(struct thrift *thrift, int32_t value);
void thrift_list_text(struct thrift *thrift, const char *text);

#endif
