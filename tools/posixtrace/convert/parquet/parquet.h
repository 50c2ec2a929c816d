/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parquet.h - the interface of the files of the sink "parquet": a folder with a file of Apache
 * Parquet for each table of the command query. The columns have the same names and values as in
 * query. The table events lacks the columns that query computes.
 *
 * Functions that return int return 0, an error number, or -1 after they printed an error.
 *
 * Unlike in query, a column has only one type. If a field has integers in some events and texts in
 * others, its column has texts. Texts that are not UTF-8 are escaped as plain.h does.
 */
#ifndef POSIXTRACE_CONVERT_PARQUET_PARQUET_H
#define POSIXTRACE_CONVERT_PARQUET_PARQUET_H

#include "convert/flow.h"
#include "convert/pairings.h"
#include "convert/threads.h"
#include "parquet/file.h"
#include "query/query_schema.h"
#include "query/sqlfields.h"

/* ------------------------------------------------------------------ table.c: one table */

struct parquet_table {
	struct parquet file;
	int fd;
	bool is_open;
};

/* Opens NAME.parquet in a folder, without columns. Returns 0 or an error number. */
int parquet_table_create(struct parquet_table *table, int folder, const char *name,
			 enum codec codec);
/* Opens the file for a table of query, and adds the columns of the table. */
int parquet_table_open(struct parquet_table *table, int folder, const struct query_schema *schema,
		       enum codec codec);
/* Completes the file. Returns 0 or an error number. */
int parquet_table_end(struct parquet_table *table);
/* Frees the memory. The function may also be called for a table that was not opened. */
void parquet_table_close(struct parquet_table *table);

/*
 * These functions set a text, which may have any bytes. Bytes that are not UTF-8 are escaped. If
 * "text" is NULL, the value is NULL.
 */
void parquet_text(struct parquet *file, unsigned column, const void *text, size_t len);
void parquet_string(struct parquet *file, unsigned column, const char *text);

/* ------------------------------------------------------------------ fields.c: columns of fields */

struct parquet_field {
	char name[sizeof(((struct sqlfield *)NULL)->name)]; /* the name of the column */
	const char *field;
	enum column_kind kind;
	unsigned column;
};

struct parquet_plan {            /* the columns of a type's fields */
	/* for each field of the schema: its index in parquet_fields.field + 1; 0: no column */
	uint32_t *field;
	unsigned fields;
};

struct parquet_fields {
	struct sqlfields names;
	struct parquet_field *field;
	size_t count;
	struct parquet_plan *plan; /* one element for each type, at the type's index */
	size_t plans;
	/* number of columns that the file already has; their kinds no longer change */
	size_t made;
};

/* Adds the fields of a type. Returns false if memory is lacking. */
bool parquet_fields_add(struct parquet_fields *fields, const struct fmt_type *type);
/* Makes the columns that the file lacks. Must be called before values of a row are set. */
void parquet_fields_make(struct parquet_fields *fields, struct parquet *file);
/* Sets the values of the event's fields. */
void parquet_fields_put(struct parquet_fields *fields, struct parquet *file,
			const struct fmt_event *event);
void parquet_fields_free(struct parquet_fields *fields);

/* ------------------------------------------------------------------ counts.c */

/*
 * The tables types, threads and losses, for a source that is not a log or if events are selected,
 * and the table objects for a source that is not a log. Their contents come only from the flow.
 */
struct parquet_loss {
	int cause;
	const struct fmt_type *type;   /* NULL: unknown */
	uint64_t count;
};

struct parquet_counts {
	struct threads threads;        /* the threads of the events */
	struct parquet_loss *loss;     /* has each pair of cause and type once */
	size_t losses;
	struct parquet_table objects;
};

/* ------------------------------------------------------------------ the sink */

struct parquet_sink {
	struct fmt_flow *flow;
	const char *shown;
	int folder;
	enum codec codec;
	bool has_ended;
	struct parquet_table events, spans;
	struct parquet_fields fields;
	struct pairings pairings;
	struct parquet_counts counts;
	/* for several logs: the numbers of all types in each log; 0: not searched yet */
	trace_event_id_t *number;
	size_t numbers;
};

/*
 * Returns whether the tables types, threads and losses are read from the logs. Otherwise the sink
 * counts the events of the flow.
 */
static inline bool parquet_has_logs(const struct parquet_sink *sink)
{
	return sink->flow->logs && !sink->flow->wanted;
}

/* ------------------------------------------------------------------ logs.c and counts.c */

/*
 * Writes the tables of query that describe logs, which are all tables except events and spans. If
 * events are selected, the function does not write the tables that counts.c writes.
 */
int parquet_logs(const struct parquet_sink *sink);

/* parquet_counts_lost() counts a loss. parquet_counts_object() writes an object. */
int parquet_counts_lost(struct parquet_counts *counts, const struct fmt_lost *lost);
int parquet_counts_object(struct parquet_sink *sink, const struct fmt_object *object);
/* Writes the tables of counts.c. */
int parquet_counts_end(struct parquet_sink *sink, const struct fmt_end *end);
void parquet_counts_free(struct parquet_counts *counts);

#endif
