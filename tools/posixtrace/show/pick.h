/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pick.h - the columns of --fields: facts of every event, and fields of schemas by name.
 *
 * Example: time,event,fd,path,args[2],field.pid
 *
 * If a name is both a fact and a field, it means the fact. event.NAME always means a fact, and
 * field.NAME always means a field. If an event lacks a value, the text has "-" and JSON has null.
 */
#ifndef POSIXTRACE_SHOW_PICK_H
#define POSIXTRACE_SHOW_PICK_H

#include <stdbool.h>

#include "base/nearest.h"
#include "base/option.h"
#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

#define PICK_MAX   64
#define PICK_CACHE 256 /* number of elements of the cache of schemas */

/* The row of --fields for tables of options. */
extern const struct option_row pick_rows[];

enum { PICK_FIELDS = 1100 }; /* value of the option */

enum pick_fact {
	PICK_FIELD,
	PICK_TIME, PICK_DELTA, PICK_PID, PICK_TID, PICK_THREAD, PICK_ADDRESS, PICK_EVENT, PICK_ID,
	PICK_LEVEL, PICK_LEN, PICK_DATA, PICK_FLAGS, PICK_LOG, PICK_SYMBOL, PICK_SOURCE,
};

struct pick_column {
	enum pick_fact fact;
	bool has_index;        /* the column is one element of an array */
	unsigned index;
	bool known;            /* a schema has the field */
	struct nearest nearest; /* the most similar name of a field in the schemas */
	size_t width;
	char label[POSIX_TRACE_FIELD_NAME_MAX_NP + 32]; /* the title, as the user wrote it */
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
};

struct pick {
	unsigned count;        /* 0: --fields was not given */
	struct pick_column column[PICK_MAX];
	struct {
		const struct posix_trace_schema_np *schema;
		/* index of each field in the schema; -1: the schema lacks the field */
		signed char field[PICK_MAX];
	} place[PICK_CACHE];
};

/* Values of a line that the event does not contain. */
struct pick_line {
	enum when_form when;
	int64_t delta_ns;      /* the time since the event that was shown last */
	const char *log_name;  /* as given on the command line */
};

/* Parses the value of --fields. Returns false after it printed an error. */
bool pick_parse(struct pick *pick, const char *list);

/*
 * pick_mark_fields() marks those fields of --fields that this schema has. The caller calls it for
 * all schemas, and then pick_say_unknown(). If some of the fields are in no schema,
 * pick_say_unknown() prints them and returns true.
 */
void pick_mark_fields(struct pick *pick, const struct posix_trace_schema_np *schema);
bool pick_say_unknown(struct pick *pick);

/*
 * Each of these functions writes a line. pick_tabs() writes the values with tabs between them.
 * pick_header() writes the titles of the columns. pick_columns() writes the values in columns of
 * their usual width. pick_json() writes the values as a JSON object.
 */
void pick_tabs(struct out *out, struct pick *pick, const struct pick_line *line,
	       const struct logfile *log, const struct log_type *type,
	       const struct posix_trace_event_np *event);
void pick_header(struct out *out, struct pick *pick, enum when_form when);
void pick_columns(struct out *out, struct pick *pick, const struct pick_line *line,
		  const struct logfile *log, const struct log_type *type,
		  const struct posix_trace_event_np *event);
void pick_json(struct out *out, struct pick *pick, const struct pick_line *line,
	       const struct logfile *log, const struct log_type *type,
	       const struct posix_trace_event_np *event);

#endif
