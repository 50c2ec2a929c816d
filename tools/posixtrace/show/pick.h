/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pick.h - the columns that --fields asks for: facts of every event, and fields of schemas by name.
 *
 *	time,event,fd,path,args[2],field.pid
 *
 * A name that both a fact and a field have means the fact; event.NAME is always a fact, field.NAME
 * always a field. What an event does not have is "-", in JSON null.
 */
#ifndef POSIXTRACE_SHOW_PICK_H
#define POSIXTRACE_SHOW_PICK_H

#include <stdbool.h>

#include "base/nearest.h"
#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

#define PICK_MAX   64
#define PICK_CACHE 256 /* schemas whose fields are remembered */

#define PICK_OPTION \
	{ "fields", required_argument, NULL, PICK_FIELDS }

#define PICK_HELP \
	"      --fields LIST    only these columns, in this order: time delta pid tid thread " \
		"address\n" \
	"                       event id level len data flags log, symbol and source (the " \
		"function and\n" \
	"                       line of the address), and fields of the events' schemas\n"

enum { PICK_FIELDS = 1100 }; /* value of the option */

enum pick_fact {
	PICK_FIELD,
	PICK_TIME, PICK_DELTA, PICK_PID, PICK_TID, PICK_THREAD, PICK_ADDRESS, PICK_EVENT, PICK_ID,
	PICK_LEVEL, PICK_LEN, PICK_DATA, PICK_FLAGS, PICK_LOG, PICK_SYMBOL, PICK_SOURCE,
};

struct pick_column {
	enum pick_fact fact;
	bool has_index;        /* of a field: one element */
	unsigned index;
	bool known;            /* some schema has the field */
	struct nearest nearest; /* of the fields that schemas have */
	size_t width;
	char label[POSIX_TRACE_FIELD_NAME_MAX_NP + 32]; /* as it was given */
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
};

struct pick {
	unsigned count;        /* 0: --fields was not given */
	struct pick_column column[PICK_MAX];
	struct {
		const struct posix_trace_schema_np *schema;
		signed char field[PICK_MAX]; /* -1: it does not have it */
	} place[PICK_CACHE];
};

/* What a line needs besides the event. */
struct pick_line {
	enum when_form when;
	int64_t delta_ns;      /* since the event shown before */
	const char *log_name;  /* as the command line has it */
};

/* False: it has been said what is wrong. */
bool pick_parse(struct pick *pick, const char *list);

/*
 * Marks the fields that this schema has; pick_say_unknown() is true and has said so if no schema
 * that was learned has one of them.
 */
void pick_learn(struct pick *pick, const struct posix_trace_schema_np *schema);
bool pick_say_unknown(struct pick *pick);

/* A line of values with a tab between them; of columns, each as wide as it usually is; of JSON. */
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
