/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pick.h - the columns of --fields: facts of every event, and fields of schemas by name.
 *
 * Example: time,event,fd,path,args[2],field.pid
 *
 * If a name is both a fact and a field, it means the fact. event.NAME is always a fact, field.NAME
 * always a field. A value that an event lacks is "-", in JSON null.
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
#define PICK_CACHE 256 /* places of the cache of schemas */

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
	bool has_index;        /* one element of an array */
	unsigned index;
	bool known;            /* a schema has the field */
	struct nearest nearest; /* the most similar field of the schemas */
	size_t width;
	char label[POSIX_TRACE_FIELD_NAME_MAX_NP + 32]; /* the title, as the user wrote it */
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
};

struct pick {
	unsigned count;        /* 0: --fields was not given */
	struct pick_column column[PICK_MAX];
	struct {
		const struct posix_trace_schema_np *schema;
		signed char field[PICK_MAX]; /* index in the schema; -1: none */
	} place[PICK_CACHE];
};

/* Values of a line besides the event. */
struct pick_line {
	enum when_form when;
	int64_t delta_ns;      /* since the event shown before */
	const char *log_name;  /* as given on the command line */
};

/* Parses the value of --fields. Returns false after it printed an error. */
bool pick_parse(struct pick *pick, const char *list);

/*
 * pick_learn() marks the fields that this schema has. It must be called for all schemas. Then
 * pick_say_unknown() returns true if a field is in no schema, and prints these fields.
 */
void pick_learn(struct pick *pick, const struct posix_trace_schema_np *schema);
bool pick_say_unknown(struct pick *pick);

/*
 * These write a line in four forms, in this order: values separated by tabs; the titles of the
 * columns; values in columns of their usual width; a JSON object.
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
