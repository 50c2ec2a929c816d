/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite.c - the sink "sqlite": a database of SQLite (sqlite.org/c3ref/intro.html).
 *
 * Its tables have comments, which .schema prints. The table spans equals that of posixtrace query.
 * sqlite_views.c makes views that equal other tables of query. All rows are inserted in one
 * transaction by prepared statements. For events and spans, one statement inserts many rows at a
 * time. Functions that return int return 0, an error number, or -1 after a message.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "convert/flow.h"
#include "convert/jsonfields.h"
#include "convert/pairings.h"
#include "convert/plain.h"
#include "convert/text/sqlite_rows.h"
#include "convert/text/sqlite_schema.h"
#include "convert/threads.h"

extern const struct format format_sqlite;

#define FIRST_VALUE  14u /* the first column of event for a field */
#define SPAN_COLUMNS 11
#define SPAN_LABELS  64 /* a power of two */
#define TEXT_MOST    1024 /* bytes; longer texts are shortened */

/* A text that many rows have. Its unsafe characters are escaped only once and not for each row. */
struct label {
	char *text;
	size_t len;
};

/*
 * The name of a series of spans. The address of the series determines the element of the array
 * "span".
 */
struct series_label {
	const struct series *series;
	struct label name;
};

struct base {
	struct fmt_flow *flow;
	const char *shown;
	sqlite3 *db;
	sqlite3_stmt *statement[STATEMENTS];
	struct threads known;          /* the mark of a thread is its row in the table thread */
	struct thread *last;           /* the thread of the last event */
	int64_t last_row;              /* the row of the last thread that got a new row */
	int64_t threads;               /* the number of rows of the table thread */
	/* memory for the JSON of one event; never written to a file */
	struct out scratch;
	struct pairings pairings;
	struct rows *new_events, *new_spans; /* rows that are not inserted yet */
	/* the plain name of each type, at the type's index; "labels" is the length */
	struct label *name_of_type;
	size_t labels;
	/* the name of each source; the array has as many elements as pairings.log */
	struct label *name_of_log;
	struct series_label span[SPAN_LABELS];
	const struct fmt_type **type;
	/* one element for each type, at the type's index; "plans" is the length */
	struct fieldplan **plan;
	size_t types, plans;
	struct sqlfields fields;
	unsigned values;               /* number of columns f0, f1 ... */
	int err;                       /* error of take_span(), which cannot return it */
};

/*
 * Prints the error of SQLite, which is more precise than an error number. Returns -1, so that the
 * caller does not print the error again.
 */
static int print_error(struct base *base)
{
	say("%s: %s", base->shown, base->db ? sqlite3_errmsg(base->db) : strerror(ENOMEM));
	return -1;
}

static int execute_sql(struct base *base, const char *sql)
{
	return sqlite3_exec(base->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : print_error(base);
}

/*
 * The function may also be called for a sink that sqlite_open() could not complete, because
 * SQLite's functions accept NULL here.
 */
static void sqlite_close(void *context)
{
	struct base *base = context;

	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(base->statement[i]);
	sqlite3_close(base->db);
	rows_free(base->new_events);
	rows_free(base->new_spans);
	for (size_t i = 0; i < base->labels; i++)
		free(base->name_of_type[i].text);
	free(base->name_of_type);
	for (unsigned i = 0; base->name_of_log && i < base->pairings.logs; i++)
		free(base->name_of_log[i].text);
	free(base->name_of_log);
	for (size_t i = 0; i < SPAN_LABELS; i++)
		free(base->span[i].name.text);
	for (size_t i = 0; i < base->plans; i++)
		free(base->plan[i]);
	free(base->plan);
	threads_fini(&base->known);
	pairings_fini(&base->pairings);
	sqlfields_free(&base->fields);
	free(base->type);
	free(base);
}

static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end);

/*
 * Keeps a copy of a text with its unsafe characters escaped. The end of a long text is omitted.
 * Returns false if memory is lacking.
 */
static bool keep_label(struct label *label, const char *text, size_t len)
{
	label->text = plain_copy(text, len > TEXT_MOST ? TEXT_MOST : len);
	label->len = label->text ? strlen(label->text) : 0;
	return label->text;
}

/* Keeps the names of the logs. */
static int keep_logs(struct base *base)
{
	base->name_of_log = calloc(base->pairings.logs, sizeof(*base->name_of_log));
	for (unsigned i = 0; base->name_of_log && i < base->pairings.logs; i++) {
		const char *name = base->pairings.log[i].name;

		if (!keep_label(&base->name_of_log[i], name, strlen(name)))
			return ENOMEM;
	}
	return base->name_of_log ? 0 : ENOMEM;
}

/* Makes the virtual tables whose rows are inserted into the tables of events and spans. */
static int open_rows(struct base *base)
{
	base->new_events = rows_new(base->db, "new_event", FIRST_VALUE - 1);
	base->new_spans = rows_new(base->db, "new_span", SPAN_COLUMNS);
	return base->new_events && base->new_spans ? 0 : ENOMEM;
}

static int sqlite_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct base *base = calloc(1, sizeof(*base));
	int err = 0;

	if (!base)
		return ENOMEM;
	base->flow = flow;
	base->shown = output->shown;
	base->scratch.fd = -1;
	threads_init(&base->known, true, 0);
	/*
	 * One thread runs a conversion, and no limit of memory is set. So SQLite needs no mutexes
	 * and no counts of memory; without them a row needs an eighth less time. If one of these
	 * calls fails, the only effect is that SQLite keeps the mutexes or the counts.
	 */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	/* The command convert has made the file. SQLite opens it by name. */
	if (sqlite3_open_v2(output->path, &base->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		err = print_error(base);
	if (!err)
		err = pairings_init(&base->pairings, flow, take_span, base);
	if (!err)
		err = keep_logs(base);
	if (!err)
		err = execute_sql(base, sqlite_schema);
	if (!err)
		err = open_rows(base);
	for (int i = 0; i < STATEMENTS && !err; i++)
		if (sqlite3_prepare_v3(base->db, sqlite_statements[i], -1,
				       SQLITE_PREPARE_PERSISTENT, &base->statement[i],
				       NULL) != SQLITE_OK)
			err = print_error(base);
	/*
	 * The flow calls close() only if open() has set the context, so after an error this
	 * function releases everything itself.
	 */
	if (err)
		sqlite_close(base);
	else
		*context = base;
	return err;
}

/*
 * Executes the statement and then removes the values of its parameters, so that a parameter that is
 * not bound for the next row is NULL.
 */
static int insert_row(struct base *base, enum statement which)
{
	sqlite3_stmt *statement = base->statement[which];
	int answer = sqlite3_step(statement);
	int err = answer == SQLITE_DONE ? 0 : print_error(base);

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return err;
}

/*
 * Inserts all waiting rows. If a second thread inserted one set of rows while this thread makes the
 * next set, the export would not be faster. To read the rows from another processor needs as much
 * time as to make them.
 */
static int insert_rows(struct base *base, struct rows *rows, enum statement which)
{
	int err = rows->failed ? ENOMEM : 0;

	if (which == INSERT_EVENT && !rows->is_rare)
		which = INSERT_PLAIN;
	if (!err && rows->count)
		err = insert_row(base, which);
	rows_clear(rows);
	return err;
}

static void bind_number(struct base *base, enum statement which, int column, int64_t number)
{
	sqlite3_bind_int64(base->statement[which], column, number);
}

/*
 * Binds the first TEXT_MOST bytes of a text. Unsafe characters, and bytes that are not UTF-8, are
 * escaped. Returns false if the bound text has such an escape or is shortened.
 */
static bool bind_text(struct base *base, enum statement which, int column, const char *text,
		      size_t len)
{
	char plain[PLAIN_FACTOR * TEXT_MOST + 1];
	size_t kept = len > TEXT_MOST ? TEXT_MOST : len, n;
	bool exact;

	n = plain_text(plain, text, kept, &exact);
	sqlite3_bind_text(base->statement[which], column, plain, (int)n, SQLITE_TRANSIENT);
	return exact && kept == len;
}

/*
 * Inserts a row into the table trace, unless the text is empty. "room" bounds the text, since a
 * text from a log may lack its NUL.
 */
static int insert_text_fact(struct base *base, const char *key, const char *text, size_t room)
{
	size_t len = strnlen(text, room);

	if (!len)
		return 0;
	bind_text(base, INSERT_FACT, 1, key, strlen(key));
	bind_text(base, INSERT_FACT, 2, text, len);
	return insert_row(base, INSERT_FACT);
}

static int insert_fact(struct base *base, const char *key, int64_t number)
{
	bind_text(base, INSERT_FACT, 1, key, strlen(key));
	bind_number(base, INSERT_FACT, 2, number);
	return insert_row(base, INSERT_FACT);
}

static int sqlite_begin(void *context, const struct fmt_facts *facts)
{
	struct base *base = context;
	int err = insert_text_fact(base, "name", facts->name, sizeof(facts->name));

	if (!err)
		err = insert_text_fact(base, "generation", facts->generation,
				       sizeof(facts->generation));
	if (!err)
		err = insert_text_fact(base, "host", facts->host, sizeof(facts->host));
	if (!err)
		err = insert_text_fact(base, "clock", facts->clock, sizeof(facts->clock));
	if (!err)
		err = insert_fact(base, "pid", facts->pid);
	if (!err && facts->has_creation)
		err = insert_fact(base, "creation_ns", facts->creation_ns);
	if (!err && facts->resolution_ns)
		err = insert_fact(base, "resolution_ns", facts->resolution_ns);
	/*
	 * The table log exists also for a single log, so that users can use the same statements in
	 * this case.
	 */
	for (unsigned i = 0; !err && i < base->flow->sources; i++) {
		bind_number(base, INSERT_LOG, 1, i + 1);
		bind_text(base, INSERT_LOG, 2, base->pairings.log[i].name,
			  strlen(base->pairings.log[i].name));
		err = insert_row(base, INSERT_LOG);
	}
	return err;
}

/*
 * Prepares a statement for events again, with the columns of all fields. Its text is the text in
 * sqlite_statements with further cells before FROM.
 */
static int prepare_events(struct base *base, enum statement which)
{
	const char *text = sqlite_statements[which];
	char sql[1024], *end = sql + (strstr(text, " FROM") - text);

	memcpy(sql, text, (size_t)(end - sql));
	for (unsigned i = FIRST_VALUE; i < FIRST_VALUE + base->values; i++)
		end += sprintf(end, ",c%u", i);
	strcpy(end, " FROM new_event");
	sqlite3_finalize(base->statement[which]);
	base->statement[which] = NULL;
	return sqlite3_prepare_v3(base->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
				  &base->statement[which], NULL) == SQLITE_OK
		       ? 0
		       : print_error(base);
}

/*
 * If a type has more fields than all types before it, adds columns for them and prepares
 * INSERT_EVENT and INSERT_PLAIN for all columns. The number of fields in a schema is limited, so
 * the text fits.
 */
static int make_columns(struct base *base, unsigned values)
{
	char sql[1024];
	int err = 0;

	if (values <= base->values)
		return 0;
	/*
	 * The rows in memory have the old columns, so they are inserted before the statement
	 * changes.
	 */
	err = insert_rows(base, base->new_events, INSERT_EVENT);
	for (unsigned i = base->values; !err && i < values; i++) {
		snprintf(sql, sizeof(sql), "ALTER TABLE event ADD COLUMN f%u", i);
		err = execute_sql(base, sql);
	}
	base->values = values;
	base->new_events->columns = FIRST_VALUE - 1 + values;
	if (!err)
		err = prepare_events(base, INSERT_EVENT);
	if (!err)
		err = prepare_events(base, INSERT_PLAIN);
	return err;
}

/* Keeps the type and its fields for the views. */
static int keep_type(struct base *base, const struct fmt_type *type)
{
	const struct fmt_type **more;

	if (!vec_reach(&base->type, &base->types, type->index) ||
	    !vec_reach(&base->name_of_type, &base->labels, type->index) ||
	    !keep_label(&base->name_of_type[type->index], type->name, type->name_len) ||
	    !vec_reach(&base->plan, &base->plans, type->index) ||
	    !json_plan(&base->plan[type->index], type->fields))
		return ENOMEM;
	more = base->type;
	more[type->index] = type;
	if (!type->fields)
		return 0;
	return sqlfields_add(&base->fields, type->fields) ? make_columns(base, type->fields->fields)
							   : ENOMEM;
}

/*
 * Inserts the type. The column "number" is NULL for a source without numbers. The column "level" is
 * NULL for a type without a level. The column "name_bytes" is NULL if the column "name" is exact.
 */
static int sqlite_type(void *context, const struct fmt_type *type)
{
	static const char *const phases[] = { [FMT_BEGIN] = "begin", [FMT_END] = "end" };
	struct base *base = context;
	int err;

	bind_number(base, INSERT_TYPE, 1, (int64_t)type->index + 1);
	if (type->number)
		bind_number(base, INSERT_TYPE, 2, (int64_t)type->number);
	/* If the name was escaped or shortened, its exact bytes are inserted, too. */
	if (!bind_text(base, INSERT_TYPE, 3, type->name, type->name_len))
		sqlite3_bind_blob64(base->statement[INSERT_TYPE], 4, type->name, type->name_len,
				    SQLITE_TRANSIENT);
	if (type->schema)
		bind_text(base, INSERT_TYPE, 5, type->schema, strlen(type->schema));
	if (type->level >= 0)
		bind_number(base, INSERT_TYPE, 6, type->level);
	if (type->phase != FMT_MARK) {
		bind_text(base, INSERT_TYPE, 7, phases[type->phase], strlen(phases[type->phase]));
		bind_text(base, INSERT_TYPE, 8, type->span, strlen(type->span));
	}
	err = insert_row(base, INSERT_TYPE);
	return err ? err : keep_type(base, type);
}

/* Adds a row to the table thread. */
static int add_thread(struct base *base, uint32_t pid, uint32_t tid, uint64_t handle, int64_t *row)
{
	*row = ++base->threads;
	bind_number(base, INSERT_THREAD, 1, *row);
	bind_number(base, INSERT_THREAD, 2, pid);
	bind_number(base, INSERT_THREAD, 3, tid);
	bind_number(base, INSERT_THREAD, 4, (int64_t)handle);
	return insert_row(base, INSERT_THREAD);
}

/*
 * Stores the row of the event's thread in *row. If the thread is new, makes its row. Most events
 * have the same thread as the event before, so they need no search. A thread beyond the limit of
 * threads.h gets a new row for each of its events.
 */
static int thread_row(struct base *base, const struct fmt_event *event, int64_t *row)
{
	struct thread *last = base->last;
	int err = 0;

	if (!last || last->tid != event->tid || last->pid != event->pid ||
	    last->handle != event->thread) {
		last = base->last = threads_of(&base->known, event->pid, event->tid,
					       event->thread);
		if (!last || !last->mark)
			err = add_thread(base, event->pid, event->tid, event->thread,
					 &base->last_row);
		if (last && !last->mark)
			last->mark = (uint64_t)base->last_row;
	}
	*row = last ? (int64_t)last->mark : base->last_row;
	return err;
}

/*
 * Adds the fields as a JSON object. If the object may be larger than the buffer, the event has no
 * JSON, and its fields are only in the columns.
 */
static void put_fields(struct base *base, const struct fmt_event *event)
{
	const struct fieldplan *plan = base->plan[event->type->index];
	struct rows *rows = base->new_events;
	struct out *out = &base->scratch;
	struct json json = json_begin(out);
	char *to;

	if (event->data_len > OUT_BYTES / 16 || !event->type->fields->fields)
		return;
	/*
	 * If the type has a plan, the plan writes the text directly into the memory from which
	 * SQLite reads.
	 */
	if (fieldplan_fits(plan, event->data_len)) {
		to = rows_room(rows, plan->most);
		if (to)
			rows_done(rows, 11, SQLVALUE_TEXT, to,
				  (size_t)(json_plan_put(plan, to, event->data) - to));
		return;
	}
	out->used = 0;
	json_fields_object(&json, NULL, event);
	rows_bytes(rows, 11, SQLVALUE_TEXT, out->bytes, out->used);
	/* rows_bytes() has copied the fields, so the buffer is free for the names. */
	out->used = 0;
	json = json_begin(out);
	if (json_names(&json, NULL, base->flow, event) && out->used) {
		rows_bytes(rows, 12, SQLVALUE_TEXT, out->bytes, out->used);
		rows->is_rare = true;
	}
}

/*
 * Adds each field with its own type in SQLite. If the data is too short for a field, the field is
 * NULL.
 */
static void put_values(struct base *base, const struct fmt_event *event)
{
	struct sqlvalue value;

	for (unsigned i = 0; i < event->type->fields->fields; i++) {
		sqlvalue_of(event->type->fields, i, event->data, event->data_len, &value);
		rows_value(base->new_events, FIRST_VALUE + i, &value);
	}
}

/* Adds a text as bind_text() does. */
static void put_text(struct rows *rows, unsigned column, const char *text, size_t len)
{
	char *to;

	if (len > TEXT_MOST)
		len = TEXT_MOST;
	to = rows_room(rows, PLAIN_FACTOR * len + 1);
	if (to)
		rows_done(rows, column, SQLVALUE_TEXT, to, plain_text(to, text, len, NULL));
}

/* Adds a text without copying it, because the text exists as long as the sink. */
static void put_label(struct rows *rows, unsigned column, const struct label *label)
{
	rows_done(rows, column, SQLVALUE_TEXT, label->text, label->len);
}

/*
 * Adds the name of a series. A series exists as long as the sink, so its escaped name is kept in
 * base->span. If another series already has the element, the name is escaped again for each row.
 */
static void put_series(struct base *base, struct rows *rows, const struct series *series)
{
	struct series_label *kept =
		&base->span[(uintptr_t)series / sizeof(*series) % SPAN_LABELS];
	size_t len = strlen(series->name);

	if (!kept->series && keep_label(&kept->name, series->name, len))
		kept->series = series;
	if (kept->series == series)
		put_label(rows, 1, &kept->name);
	else
		put_text(rows, 1, series->name, len);
}

/*
 * Receives a span from the pairing and adds it. An error is kept in base->err, because the function
 * has no result.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct base *base = arg;
	const char *kind = pairing_kind_name(span->series->kind);
	const struct fmt_event *at = base->pairings.at;
	struct rows *rows = base->new_spans;

	(void)end;
	if (base->err)
		return;
	put_series(base, rows, span->series);
	rows_done(rows, 2, SQLVALUE_TEXT, kind, strlen(kind));
	rows_integer(rows, 3, span->begin_ns);
	rows_integer(rows, 4, span->end_ns);
	rows_integer(rows, 5, span_signed_ns(span));
	if (span->has_cpu)
		rows_integer(rows, 6, (int64_t)span->cpu_ns);
	rows_integer(rows, 7, span->pid);
	rows_integer(rows, 8, span->tid);
	rows_integer(rows, 9, span->begin_tid);
	put_label(rows, 10, &base->name_of_type[at->type->index]);
	put_label(rows, 11, &base->name_of_log[at->source]);
	if (rows_end(rows))
		base->err = insert_rows(base, base->new_spans, INSERT_SPAN);
}

static int sqlite_event(void *context, const struct fmt_event *event)
{
	struct base *base = context;
	struct rows *rows = base->new_events;
	int64_t row;
	int err = thread_row(base, event, &row);

	if (err)
		return err;
	/* Column 1 is the number of the row, which SQLite sets. */
	rows_integer(rows, 2, event->time_ns);
	rows_integer(rows, 3, (int64_t)event->type->index + 1);
	rows_integer(rows, 4, row);
	rows_integer(rows, 5, (int64_t)event->address);
	if (event->cpu >= 0)
		rows_integer(rows, 6, event->cpu);
	rows_integer(rows, 7, event->truncation != POSIX_TRACE_NOT_TRUNCATED);
	rows_integer(rows, 8, (event->flags & POSIX_TRACE_EVENT_LATE_NP) != 0);
	rows_integer(rows, 9, (event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0);
	/* An empty BLOB differs from NULL: the event has data of length 0. */
	rows_bytes(rows, 10, SQLVALUE_BLOB, event->data, event->data_len);
	/* The rows of the table log are numbered from 1. */
	rows_integer(rows, 13, event->source + 1);
	if (event->type->fields) {
		put_fields(base, event);
		put_values(base, event);
	}
	rows->is_rare |= event->cpu >= 0 || event->truncation != POSIX_TRACE_NOT_TRUNCATED ||
			 event->flags;
	if (rows_end(rows))
		err = insert_rows(base, base->new_events, INSERT_EVENT);
	if (!err)
		err = pairings_event(&base->pairings, event, true);
	return err ? err : base->err;
}

static int sqlite_unwanted(void *context, const struct fmt_event *event)
{
	struct base *base = context;
	int err = pairings_event(&base->pairings, event, false);

	return err ? err : base->err;
}

static int sqlite_thread(void *context, const struct fmt_thread *thread)
{
	struct base *base = context;

	bind_number(base, INSERT_NAME, 1, thread->pid);
	bind_number(base, INSERT_NAME, 2, thread->tid);
	bind_number(base, INSERT_NAME, 3, (int64_t)thread->thread);
	bind_text(base, INSERT_NAME, 4, thread->name, thread->name_len);
	return insert_row(base, INSERT_NAME);
}

/* Inserts the name of an object. The column since_ns is NULL for a name that is always valid. */
static int sqlite_object(void *context, const struct fmt_object *object)
{
	struct base *base = context;

	/*
	 * An object of this kind is a note about a child process and not an object of the program,
	 * so it gets no row.
	 */
	if (object->number == POSIX_TRACE_OBJECT_CHILD_NP)
		return SQLITE_OK;
	bind_number(base, INSERT_OBJECT, 1, object->pid);
	bind_text(base, INSERT_OBJECT, 2, object->kind, strlen(object->kind));
	bind_number(base, INSERT_OBJECT, 3, (int64_t)object->pointer);
	bind_text(base, INSERT_OBJECT, 4, object->name, object->name_len);
	if (object->has_since)
		bind_number(base, INSERT_OBJECT, 5, object->since_ns);
	return insert_row(base, INSERT_OBJECT);
}

static int sqlite_lost(void *context, const struct fmt_lost *lost)
{
	struct base *base = context;
	const char *cause = posix_trace_lost_name_np(lost->cause);

	/* Events are missing here, so open spans get no end. */
	pairings_cut(&base->pairings, lost->source);
	bind_text(base, INSERT_LOST, 1, cause, strlen(cause));
	if (lost->counted)
		bind_number(base, INSERT_LOST, 2, (int64_t)lost->count);
	if (lost->has_interval) {
		bind_number(base, INSERT_LOST, 3, lost->begin_ns);
		bind_number(base, INSERT_LOST, 4, lost->end_ns);
	}
	if (lost->type)
		bind_number(base, INSERT_LOST, 5, (int64_t)lost->type->index + 1);
	if (lost->pid) {
		bind_number(base, INSERT_LOST, 6, lost->pid);
		bind_number(base, INSERT_LOST, 7, lost->tid);
	}
	return insert_row(base, INSERT_LOST);
}

/* Inserts one row with the counts, and one row for each cause with losses. */
static int insert_ledger(struct base *base, int64_t type, int64_t thread,
			 const struct posix_trace_ledger_np *line)
{
	for (int i = -1; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		int err;

		if (i >= 0 && !line->lost[i])
			continue;
		if (type)
			bind_number(base, INSERT_LEDGER, 1, type);
		if (thread)
			bind_number(base, INSERT_LEDGER, 2, thread);
		if (i < 0) {
			bind_number(base, INSERT_LEDGER, 3, (int64_t)line->called);
			bind_number(base, INSERT_LEDGER, 4, (int64_t)line->reported);
			bind_number(base, INSERT_LEDGER, 5, (int64_t)line->unread);
		} else {
			const char *cause = posix_trace_lost_name_np(i);

			bind_text(base, INSERT_LEDGER, 6, cause, strlen(cause));
			bind_number(base, INSERT_LEDGER, 7, (int64_t)line->lost[i]);
		}
		err = insert_row(base, INSERT_LEDGER);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Inserts the ledger in total, by type and by thread. A thread without an event in the database
 * gets its row here.
 */
static int insert_ledgers(struct base *base, const struct fmt_end *end)
{
	int err = insert_ledger(base, 0, 0, &end->ledger);

	for (size_t i = 0; i < end->types && !err; i++)
		err = insert_ledger(base, (int64_t)end->type[i].type->index + 1, 0,
				    &end->type[i].ledger);
	for (size_t i = 0; i < end->threads && !err; i++) {
		const struct posix_trace_thread_np *who = &end->thread[i].thread;
		struct fmt_event event = { .pid = (uint32_t)who->pid, .tid = (uint32_t)who->tid,
					   .thread = (uint64_t)who->thread };
		int64_t row;

		err = thread_row(base, &event, &row);
		if (!err)
			err = insert_ledger(base, 0, row, &end->thread[i].ledger);
	}
	return err;
}

/*
 * Inserts the status and the ledger, makes the views, and commits the transaction. The views are
 * made at the end, because they need all types.
 */
static int sqlite_end(void *context, const struct fmt_end *end)
{
	struct base *base = context;
	const char *log = base->flow->sources == 1 ? base->pairings.log[0].name : NULL;
	int err = insert_rows(base, base->new_events, INSERT_EVENT);

	if (!err)
		err = insert_rows(base, base->new_spans, INSERT_SPAN);
	if (!err)
		err = insert_fact(base, "complete", end->complete);

	if (!err && end->has_status) {
		err = insert_fact(base, "overrun", end->status.posix_stream_overrun_status);
		if (!err)
			err = insert_fact(base, "stream_full",
					  end->status.posix_stream_full_status);
		if (!err)
			err = insert_fact(base, "log_full", end->status.posix_log_full_status);
		if (!err)
			err = insert_fact(base, "log_overrun",
					  end->status.posix_log_overrun_status);
		if (!err)
			err = insert_fact(base, "flush_error",
					  end->status.posix_stream_flush_error);
	}
	if (!err && end->has_ledger)
		err = insert_ledgers(base, end);
	if (!err &&
	    sqlite_views(base->db, &base->fields, base->type, base->types, log) != SQLITE_OK)
		err = print_error(base);
	return err ? err : execute_sql(base, "COMMIT");
}

const struct format format_sqlite = {
	.name = "sqlite",
	.summary = "database of SQLite",
	.suffix = "db",
	.output = FMT_TO_FILE,
	.open = sqlite_open,
	.begin = sqlite_begin,
	.type = sqlite_type,
	.thread = sqlite_thread,
	.object = sqlite_object,
	.event = sqlite_event,
	.unwanted = sqlite_unwanted,
	.lost = sqlite_lost,
	.end = sqlite_end,
	.close = sqlite_close,
};
