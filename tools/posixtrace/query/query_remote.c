/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_remote.c - virtual tables whose rows are in a fleet's database.
 *
 * SQLite evaluates the statement here, as it does for logs, so that each statement has the same
 * answer in both cases. All tables are virtual, and each scan of a table sends one request to
 * ClickHouse. The request asks for the columns that the statement uses. It contains those
 * conditions of the statement that have the same meaning in ClickHouse and in SQLite. If the
 * statement only counts (query_weighted.h), the request has a GROUP BY, and the server counts equal
 * rows.
 *
 * A cursor keeps the answer in memory until its next scan needs another request.
 */
#include "query/query_fleet.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "fleet/address.h"
#include "fleet/server.h"
#include "query/fleet.h"
#include "query/query_answer.h"
#include "query/query_columns.h"
#include "query/query_lacking.h"

#define ANSWER_MOST ((size_t)1 << 30)
#define LISTS_MOST  ((size_t)1 << 22)
#define REMOTE_WEIGHTED 'w'

/*
 * The tables that query_schema.h lacks, and the columns of events that query_columns.h lacks. The
 * last tables are views. The number of a view is REMOTE_VIEWS plus its number in enum fleet_view.
 */
enum { REMOTE_EVENTS = QUERY_TABLES, REMOTE_VIEWS };
enum { REMOTE_TABLES = REMOTE_VIEWS + FLEET_DURATIONS + 1 };
enum { REMOTE_HOST = QUERY_COLUMNS, REMOTE_PID, REMOTE_FIELDS };

/*
 * Each view has the column host. In a view, a minute is the number of nanoseconds at its beginning,
 * like all other times.
 */
#define MINUTE "minute"
static const struct query_schema views[] = {
	[FLEET_STORED] = { "stored", {
		{ "host", true }, { "pid", false }, { "name", true }, { "count", false },
		{ "log", true } } },
	[FLEET_RATES] = { "rates", {
		{ MINUTE, false }, { "host", true }, { "name", true }, { "events", false } } },
	[FLEET_DURATIONS] = { "durations", {
		{ MINUTE, false }, { "host", true }, { "name", true }, { "spans", false },
		{ "p50", false }, { "p95", false }, { "p99", false }, { "longest", false } } },
};

/*
 * For each column of events, except for the columns of fields: the expression of its value in
 * ClickHouse, and the form of the value in an answer.
 */
static const struct {
	const char *expression;
	enum answer_form form;
} event_columns[REMOTE_FIELDS] = {
	[QUERY_TIME] = { "row_time", ANSWER_INTEGER },
	[QUERY_NAME] = { "row_name", ANSWER_TEXT },
	[QUERY_TYPE] = { "toInt64(row_type)", ANSWER_INTEGER },
	[QUERY_PID] = { "toInt64(row_pid)", ANSWER_INTEGER },
	[QUERY_TID] = { "toInt64(row_tid)", ANSWER_INTEGER },
	[QUERY_THREAD] = { "row_thread", ANSWER_INTEGER },
	[QUERY_ADDRESS] = { "row_address", ANSWER_INTEGER },
	[QUERY_LEVEL] = { "toInt64(row_level)", ANSWER_POSITIVE },
	[QUERY_LEN] = { "toInt64(length(row_data))", ANSWER_INTEGER },
	[QUERY_DATA] = { "row_data", ANSWER_BLOB },
	[QUERY_FLAGS] = { "toInt64(row_flags)", ANSWER_FLAGS },
	[QUERY_LOG] = { "row_log", ANSWER_TEXT },
	[QUERY_FUNCTION] = { "row_function", ANSWER_FILLED },
	[QUERY_SOURCE] = { "row_file", ANSWER_FILLED },
	[QUERY_LINE] = { "toInt64(row_line)", ANSWER_POSITIVE },
	[QUERY_MODULE] = { "row_module", ANSWER_FILLED },
	[QUERY_LABELS] = { "row_labels", ANSWER_FILLED },
	[QUERY_MESSAGE] = { "row_message", ANSWER_FILLED },
	[REMOTE_HOST] = { "row_host", ANSWER_TEXT },
	[REMOTE_PID] = { "toInt64(row_process)", ANSWER_INTEGER },
};

/* The fleet's database. The fields and their columns are in the order of the fields' names. */
struct remote {
	struct query *query;
	struct server server;
	struct fleet_field *field;
	size_t fields;
	enum fleet_layout layout; /* FLEET_COMPACT also if the layout is older */
	unsigned compared; /* bits of the tables that query_lacks() has examined */
};

/*
 * A row of an answer. A row has a pointer to its values, so that a sort of the rows does not move
 * the values.
 */
struct remote_row {
	struct sqlvalue *value;       /* the values of the columns that the request asks for */
	uint64_t weight;
};

/* The answer to a request. The texts of the values point into "bytes". */
struct remote_rows {
	char *sql;
	struct bytes bytes;
	struct sqlvalue *value;
	struct remote_row *row;
	size_t rows;
	/*
	 * for each column of the table: the index of its value in a row; -1: the column was not
	 * requested
	 */
	signed short *field_place;
};

struct remote_table {
	sqlite3_vtab base;
	struct remote *remote;
	/* a number of enum query_tables, REMOTE_EVENTS, or REMOTE_VIEWS and a number of a view */
	int number;
};

struct remote_cursor {
	sqlite3_vtab_cursor base;
	/* the answer of the last scan; the next scan may need the same answer */
	struct remote_rows rows;
	size_t at;
};

static bool is_view(const struct remote_table *table)
{
	return table->number >= REMOTE_VIEWS;
}

/* Returns the schema of the table with this number, which must not be REMOTE_EVENTS. */
static const struct query_schema *numbered_schema(int number)
{
	return number >= REMOTE_VIEWS ? &views[number - REMOTE_VIEWS] : &query_schema[number];
}

static const struct query_schema *schema_of(const struct remote_table *table)
{
	return numbered_schema(table->number);
}

/* ------------------------------------------------------------------ the fields of the fleet */

/*
 * Adds a kind of a field from the table fields. If the row is not a valid field, the function
 * ignores the row. Returns false if memory is lacking.
 */
static bool add_field(struct remote *remote, const char *text, size_t len, uint8_t kind)
{
	struct fleet_field *field;

	if (!len || len > POSIX_TRACE_FIELD_NAME_MAX_NP || kind > SQLVALUE_BLOB ||
	    remote->fields == SQLFIELDS_MAX)
		return true;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return true;
	field = remote->fields ? &remote->field[remote->fields - 1] : NULL;
	if (!field || strlen(field->name) != len || memcmp(field->name, text, len) != 0) {
		if (!vec_grow(&remote->field, remote->fields, 1))
			return false;
		field = &remote->field[remote->fields++];
		memcpy(field->name, text, len);
	}
	/* The kind NULL only means that a schema has the field, so it sets no bit. */
	field->kinds |= kind ? 1u << kind : 0;
	return true;
}

/*
 * Sends a request that must succeed before the statement can run. If it fails, prints the reason
 * and returns false.
 */
static bool request_remote(struct remote *remote, const char *sql)
{
	if (server_request(&remote->server, sql, NULL, LISTS_MOST) == SERVER_OK)
		return true;
	say("%s", remote->server.reason);
	return false;
}

/*
 * Fetches the table fields, and makes columns for all fields. The columns have pointers to the
 * names in the array "field". So the columns are added only when the array no longer grows.
 */
static bool fetch_fields(struct remote *remote)
{
	const struct bytes *answer = &remote->server.answer;
	const char *text;
	size_t at = 0, len;
	uint8_t kind;
	bool good = true;

	if (!request_remote(remote, "SELECT name, kind FROM fields GROUP BY name, kind "
				    "ORDER BY name, kind FORMAT RowBinary"))
		return false;
	while (good && server_get_text(answer, &at, &text, &len) &&
	       server_get_u8(answer, &at, &kind))
		good = add_field(remote, text, len, kind);
	for (size_t i = 0; good && i < remote->fields; i++)
		good = sqlfields_add_name(&remote->query->fields, remote->field[i].name);
	if (!good)
		say("%s", strerror(ENOMEM));
	return good;
}

/*
 * Fetches the times of the first and the last event, which at() needs, the number of events, and
 * the layout.
 */
static bool fetch_times(struct remote *remote)
{
	struct query *query = remote->query;
	const struct bytes *answer = &remote->server.answer;
	struct bytes sql = { .at = NULL };
	uint64_t first = 0, last = 0, events = 0;
	const char *lean;
	size_t at = 0, len;
	bool good;

	bytes_str(&sql, "SELECT toInt64(min(row_time)), toInt64(max(row_time)), "
		  "toInt64(count()), ");
	fleet_lean_sql(remote->server.address.database, &sql);
	bytes_str(&sql, " FROM events_rows FORMAT RowBinary");
	bytes_add(&sql, "", 1);
	good = !sql.failed && request_remote(remote, sql.at);
	if (sql.failed)
		say("%s", strerror(ENOMEM));
	bytes_free(&sql);
	if (!good)
		return false;
	server_get_u64(answer, &at, &first);
	server_get_u64(answer, &at, &last);
	server_get_u64(answer, &at, &events);
	good = server_get_text(answer, &at, &lean, &len) && (len != 1 || *lean != '0');
	remote->layout = good ? FLEET_LEAN : FLEET_COMPACT;
	query->first_ns = (int64_t)first;
	query->last_ns = (int64_t)last;
	query->events = events;
	return true;
}

bool query_fleet_open(struct query *query, const char *url)
{
	struct remote *remote = calloc(1, sizeof(*remote));
	struct address address;

	if (!remote) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	if (!address_parse(&address, "--at", url) || !server_init(&remote->server, &address)) {
		free(remote);
		return false;
	}
	query->remote = remote;
	remote->query = query;
	remote->server.has_database = true;
	remote->server.timeout_s = 0;
	remote->server.stop = &query_interrupted;
	return fetch_fields(remote) && fetch_times(remote);
}

void query_fleet_close(struct query *query)
{
	if (!query->remote)
		return;
	server_free(&query->remote->server);
	free(query->remote->field);
	free(query->remote);
	query->remote = NULL;
}

/* ------------------------------------------------------------------ answers */

/* Frees the memory of an answer and makes the struct empty. */
static void free_rows(struct remote_rows *rows)
{
	sqlite3_free(rows->sql);
	bytes_free(&rows->bytes);
	free(rows->value);
	free(rows->row);
	free(rows->field_place);
	memset(rows, 0, sizeof(*rows));
}

/* ------------------------------------------------------------------ requests */

/*
 * Stores the expression for the index that a field's value has in the arrays. The value may have
 * one of two kinds, "kind" and "other". Returns false if the fleet has no value of these kinds.
 */
#define INDEX_BYTES 128
static bool find_index(const struct fleet_field *field, unsigned kind, unsigned other,
		       char index[INDEX_BYTES])
{
	unsigned kinds = field->kinds & (1u << kind | 1u << other);
	size_t len = 0;

	for (unsigned i = SQLVALUE_INTEGER; i <= SQLVALUE_BLOB; i++)
		if (kinds & 1u << i)
			len += (size_t)snprintf(index + len, INDEX_BYTES - len,
						"%sindexOf(row_keys, %" PRIu64 ")",
						len ? " + " : "",
						fleet_key(field->name, (enum sqlvalue_kind)i));
	return kinds;
}

/*
 * Appends three expressions for a field: the kind of its value, the number and the text. The
 * expressions consider only kinds that the field has in the fleet.
 */
static void put_field(const struct fleet_field *field, enum fleet_layout layout,
		      struct bytes *sql)
{
	char index[INDEX_BYTES];

	bytes_str(sql, "toInt64(");
	for (unsigned kind = SQLVALUE_INTEGER; kind <= SQLVALUE_BLOB; kind++)
		if (field->kinds & 1u << kind)
			bytes_printf(sql, "has(row_keys, %" PRIu64 ") * %u + ",
				     fleet_key(field->name, (enum sqlvalue_kind)kind), kind);
	bytes_str(sql, "0), ");
	if (find_index(field, SQLVALUE_INTEGER, SQLVALUE_REAL, index))
		bytes_printf(sql, "row_numbers[%s], ", index);
	else
		bytes_str(sql, "toInt64(0), ");
	if (find_index(field, SQLVALUE_TEXT, SQLVALUE_BLOB, index))
		fleet_text_sql(index, layout, sql);
	else
		bytes_str(sql, "''");
}

/*
 * Returns whether the statement uses the column. Bit 63 of SQLite's mask is for all columns from 63
 * on.
 */
static bool is_used(uint64_t used, int column)
{
	return used >> (column < 63 ? column : 63) & 1;
}

/*
 * Returns the number of columns of a table. The column host is counted, although it is hidden in
 * some tables.
 */
static int columns_of_table(const struct remote_table *table)
{
	if (table->number == REMOTE_EVENTS)
		return REMOTE_FIELDS + (int)table->remote->fields;
	return (int)query_schema_columns(schema_of(table)) +
	       !query_schema_has(schema_of(table), "host");
}

/* Appends the expression of a column of a view. */
static void put_view_column(const struct query_schema *view, int column, struct bytes *sql,
			    enum answer_form *form)
{
	const char *name = view->column[column].name;

	*form = view->column[column].is_text ? ANSWER_TEXT : ANSWER_INTEGER;
	if (view->column[column].is_text)
		bytes_str(sql, name);
	else
		bytes_printf(sql, "toInt64(%s)%s", name,
			     strcmp(name, MINUTE) ? "" : " * 1000000000");
}

/* Appends the expressions of a column. Stores in *form how its value in the answer must be read. */
static void put_column(const struct remote_table *table, int column, struct bytes *sql,
		       enum answer_form *form)
{
	const struct query_schema *schema;

	if (table->number == REMOTE_EVENTS && column >= REMOTE_FIELDS) {
		*form = ANSWER_FIELD;
		put_field(&table->remote->field[column - REMOTE_FIELDS], table->remote->layout,
			  sql);
	} else if (table->number == REMOTE_EVENTS) {
		*form = event_columns[column].form;
		bytes_str(sql, event_columns[column].expression);
	} else if (is_view(table)) {
		put_view_column(schema_of(table), column, sql, form);
	} else {
		schema = schema_of(table);
		if (column == (int)query_schema_columns(schema)) {
			*form = ANSWER_TEXT;
			bytes_str(sql, "row_host");
			return;
		}
		*form = schema->column[column].is_text ? ANSWER_NULLABLE_TEXT : ANSWER_NULLABLE;
		bytes_printf(sql, "`%s`", schema->column[column].name);
	}
}

/*
 * Appends the request for the columns in the mask "used". If the mask has no column, the request
 * asks for a constant, since a request needs a column.
 */
static void put_request(struct remote_table *table, uint64_t used, bool is_weighted,
			const char *conditions, struct bytes *sql, enum answer_form *form)
{
	const char *database = table->remote->server.address.database;
	size_t count = 0;

	bytes_str(sql, "SELECT ");
	for (int i = 0; i < columns_of_table(table); i++)
		if (is_used(used, i)) {
			bytes_str(sql, count ? ", " : "");
			put_column(table, i, sql, &form[count++]);
		}
	if (!count)
		bytes_str(sql, "toUInt8(0)");
	if (is_weighted)
		bytes_str(sql, ", toUInt64(count())");
	if (is_view(table)) {
		bytes_str(sql, " FROM (");
		fleet_view_sql((enum fleet_view)(table->number - REMOTE_VIEWS), database, sql);
		bytes_str(sql, ")");
	} else {
		bytes_printf(sql, " FROM %s_rows WHERE ",
			     table->number == REMOTE_EVENTS ? "events" : schema_of(table)->name);
		fleet_counts_sql(database, sql);
		bytes_str(sql, conditions);
	}
	if (is_weighted) {
		enum answer_form unused;

		bytes_str(sql, count ? " GROUP BY " : "");
		count = 0;
		for (int i = 0; i < columns_of_table(table); i++)
			if (is_used(used, i)) {
				bytes_str(sql, count++ ? ", " : "");
				put_column(table, i, sql, &unused);
			}
	} else if (!is_view(table)) {
		/* the rows of each log are in the order of the log */
		bytes_str(sql, " ORDER BY row_host, row_source, row_seq");
	}
	bytes_str(sql, " FORMAT RowBinary");
	bytes_add(sql, "", 1);
}

/* Reads all rows of the answer. Returns false if the answer is wrong or if memory is lacking. */
static bool read_rows(struct remote_rows *rows, const enum answer_form *form, size_t columns,
		      bool is_weighted)
{
	size_t at = 0, values = 0, room = 0, row_room = 0;
	uint8_t nothing;

	while (at < rows->bytes.used) {
		uint64_t weight = 1;

		if (!vec_reserve(&rows->value, &room, values, columns + 1) ||
		    !vec_reserve(&rows->row, &row_room, rows->rows, 1))
			return false;
		if (!columns && !server_get_u8(&rows->bytes, &at, &nothing))
			return false;
		for (size_t i = 0; i < columns; i++)
			if (!answer_value(&rows->bytes, &at, form[i], &rows->value[values + i]))
				return false;
		if (is_weighted && !server_get_u64(&rows->bytes, &at, &weight))
			return false;
		rows->row[rows->rows++].weight = weight;
		values += columns;
	}
	/* The pointers are set only now, because from now on the array of values does not move. */
	for (size_t i = 0; i < rows->rows; i++)
		rows->row[i].value = rows->value + i * columns;
	return true;
}

/*
 * Computes the index that the value of each requested column has in a row. Returns false if memory
 * is lacking.
 */
static bool place_columns(const struct remote_table *table, uint64_t used,
			  struct remote_rows *rows)
{
	int columns = columns_of_table(table);
	short next = 0;

	rows->field_place = malloc((size_t)columns * sizeof(*rows->field_place) + 1);
	if (!rows->field_place)
		return false;
	for (int i = 0; i < columns; i++)
		rows->field_place[i] = is_used(used, i) ? next++ : -1;
	return true;
}

/* ------------------------------------------------------------------ tables */

/*
 * Returns the declaration of a table. Every table has the column host. If the table of the same
 * name lacks this column when query reads logs, the column is hidden here. So SELECT * has the same
 * columns for logs and for a fleet's database.
 */
static char *declare_remote(const struct remote_table *table)
{
	const struct sqlfields *fields = &table->remote->query->fields;
	sqlite3_str *sql;

	if (table->number != REMOTE_EVENTS)
		return query_schema_sql(schema_of(table),
					query_schema_has(schema_of(table), "host") ?
						"" : ", host TEXT HIDDEN");
	sql = sqlite3_str_new(NULL);
	sqlite3_str_appendall(sql, "CREATE TABLE events(");
	for (size_t i = 0; i < QUERY_COLUMNS; i++)
		sqlite3_str_appendf(sql, "%s %s, ", query_columns[i].name, query_columns[i].type);
	sqlite3_str_appendall(sql, "\"log.host\" TEXT HIDDEN, \"log.pid\" INTEGER HIDDEN");
	for (size_t i = 0; i < fields->count; i++)
		sqlite3_str_appendf(sql, ",\"%w\"", fields->field[i].name);
	sqlite3_str_appendchar(sql, 1, ')');
	return sqlite3_str_finish(sql);
}

/*
 * Returns the number of the table with this name. query_fleet_tables() uses only names of existing
 * tables.
 */
static int table_number(const char *name)
{
	for (int i = 0; i < REMOTE_TABLES; i++)
		if (i != REMOTE_EVENTS && !strcmp(numbered_schema(i)->name, name))
			return i;
	return REMOTE_EVENTS;
}

/* argv[0] is the name of the module, which is also the name of the table. */
static int connect_remote(sqlite3 *db, void *aux, int argc, const char *const *argv,
			  sqlite3_vtab **result, char **error)
{
	struct remote_table *table = sqlite3_malloc(sizeof(*table));
	char *sql;
	int err;

	(void)argc;
	(void)error;
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->remote = aux;
	table->number = table_number(argv[0]);
	sql = declare_remote(table);
	err = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (err)
		sqlite3_free(table);
	else
		*result = &table->base;
	return err;
}

static int disconnect_remote(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* ------------------------------------------------------------------ plans */

/*
 * Returns the letter of the plan for a condition that ClickHouse evaluates as SQLite does, or 0 for
 * any other condition.
 */
static char remote_comparison(int column, int op)
{
	switch (column) {
	case QUERY_TIME:
		return query_time_comparison(op);
	case QUERY_NAME:
	case QUERY_LOG:
	case REMOTE_HOST:
	case QUERY_TYPE:
	case QUERY_PID:
	case QUERY_TID:
	case REMOTE_PID:
		return op == SQLITE_INDEX_CONSTRAINT_EQ ? '=' : 0;
	}
	return 0;
}

/*
 * Returns whether a column that remote_comparison() accepts is a text. All other columns that it
 * accepts are integers.
 */
static bool is_text_column(int column)
{
	return column == QUERY_NAME || column == QUERY_LOG || column == REMOTE_HOST;
}

/*
 * The plan begins with the set of used columns and a letter: w for weighted rows, else a blank. The
 * conditions follow, each as a column and a comparison. Only a weighted plan has an order: a # and
 * behind it the columns by which the rows are ordered.
 */
static int plan_remote(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct remote_table *table = (struct remote_table *)base;
	struct query *query = table->remote->query;
	bool is_events = table->number == REMOTE_EVENTS;
	bool is_weighted = is_events && query->weighted;
	double rows = is_events ? (double)query->events + 1 : 1000;
	sqlite3_str *plan = sqlite3_str_new(NULL);
	int arguments = 0;

	for (int i = 0; is_weighted && i < info->nOrderBy; i++)
		is_weighted = info->aOrderBy[i].iColumn >= 0;
	sqlite3_str_appendf(plan, "%llx%c", (unsigned long long)info->colUsed,
			    is_weighted ? REMOTE_WEIGHTED : ' ');
	for (int i = 0; is_events && !query->plain && i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		char op = column < 0 ? 0 : remote_comparison(column, info->aConstraint[i].op);

		if (!op || !info->aConstraint[i].usable ||
		    (is_text_column(column) &&
		     strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
			continue;
		info->aConstraintUsage[i].argvIndex = ++arguments;
		sqlite3_str_appendf(plan, "%d%c", column, op);
		rows /= 10;
	}
	if (is_weighted) {
		sqlite3_str_appendall(plan, "#");
		for (int i = 0; i < info->nOrderBy; i++)
			sqlite3_str_appendf(plan, "%d%c", info->aOrderBy[i].iColumn,
					    info->aOrderBy[i].desc ? 'd' : 'a');
		info->orderByConsumed = 1;
		query->columns = (uint64_t)info->colUsed;
		rows = 100;
	}
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	/* each scan sends a request, so it is expensive */
	info->estimatedCost = 100000 + rows;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/*
 * Appends a condition if its value has the type of the column. Other conditions may be omitted,
 * because SQLite checks all conditions again.
 */
static void put_condition(int column, char op, sqlite3_value *value, struct bytes *sql)
{
	const char *name = event_columns[column].expression;

	if (is_text_column(column)) {
		if (sqlite3_value_type(value) != SQLITE_TEXT || op != '=')
			return;
		bytes_printf(sql, " AND %s = ", name);
		bytes_quoted(sql, (const char *)sqlite3_value_text(value),
			     (size_t)sqlite3_value_bytes(value));
	} else if (sqlite3_value_type(value) == SQLITE_INTEGER) {
		/*
		 * ClickHouse would treat a bare number as unsigned. The comparison of this number
		 * with a signed column would be wrong.
		 */
		bytes_printf(sql, " AND %s %s toInt64('%lld')", name,
			     op == '=' ? "=" : op == '<' ? "<=" : ">=",
			     sqlite3_value_int64(value));
	}
}

/* ------------------------------------------------------------------ order */

/*
 * The order by which qsort(3) sorts at present, and for each column the index of its value in a
 * row. These variables may be static, because only one scan is sorted at a time.
 */
static const char *sorted_by;
static const signed short *sorted_place;

/*
 * Compares two rows by the columns of the order. Rows that are equal in all these columns may be in
 * any order.
 */
static int compare_rows(const void *x, const void *y)
{
	const struct remote_row *a = x, *b = y;
	char *end;

	for (const char *by = sorted_by; *by; by = end + 1) {
		long column = strtol(by, &end, 10);
		int order = answer_compare(&a->value[sorted_place[column]],
					   &b->value[sorted_place[column]]);

		if (order)
			return *end == 'd' ? -order : order;
	}
	return 0;
}

/* ------------------------------------------------------------------ scans */

/* Makes the scan fail. SQLite returns the reason as its error message. */
static int fail_remote(struct remote_cursor *cursor, const char *reason)
{
	sqlite3_vtab *table = cursor->base.pVtab;

	sqlite3_free(table->zErrMsg);
	table->zErrMsg = sqlite3_mprintf("%s", reason);
	free_rows(&cursor->rows);
	return query_interrupted ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

/*
 * Sends the request and reads its answer. If the last scan had the same request, its answer is used
 * again.
 */
static int fetch_rows(struct remote_cursor *cursor, uint64_t used, bool is_weighted,
		      const char *conditions)
{
	struct remote_table *table = (struct remote_table *)cursor->base.pVtab;
	struct server *server = &table->remote->server;
	enum answer_form form[REMOTE_FIELDS + SQLFIELDS_MAX];
	struct bytes sql = { .at = NULL };
	size_t columns = 0;
	int err = SQLITE_OK;

	put_request(table, used, is_weighted, conditions, &sql, form);
	if (!sql.failed && cursor->rows.sql && !strcmp(cursor->rows.sql, sql.at)) {
		bytes_free(&sql);
		return SQLITE_OK;
	}
	free_rows(&cursor->rows);
	for (int i = 0; i < columns_of_table(table); i++)
		columns += is_used(used, i);
	if (sql.failed || !place_columns(table, used, &cursor->rows))
		err = SQLITE_NOMEM;
	else if (server_request(server, sql.at, NULL, ANSWER_MOST) != SERVER_OK)
		err = fail_remote(cursor, server->reason);
	if (!err) {
		/* The cursor takes over the memory of the answer, because texts point into it. */
		cursor->rows.bytes = server->answer;
		memset(&server->answer, 0, sizeof(server->answer));
		cursor->rows.sql = sqlite3_mprintf("%s", sql.at);
		if (!read_rows(&cursor->rows, form, columns, is_weighted))
			err = fail_remote(cursor, "the answer of the server is cut or wrong");
	}
	bytes_free(&sql);
	return err;
}

/* Begins a scan and moves to its first row. query->weight is the weight of the current row. */
static int filter_remote(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
			 sqlite3_value **argv)
{
	struct remote_cursor *cursor = (struct remote_cursor *)base;
	struct remote_table *table = (struct remote_table *)base->pVtab;
	struct bytes conditions = { .at = NULL };
	char *at;
	uint64_t used = strtoull(plan, &at, 16);
	bool is_weighted = *at++ == REMOTE_WEIGHTED;
	int err;

	(void)number;
	for (int i = 0; i < argc; i++) {
		long column = strtol(at, &at, 10);

		put_condition((int)column, *at++, argv[i], &conditions);
	}
	bytes_add(&conditions, "", 1);
	err = conditions.failed ? SQLITE_NOMEM
				: fetch_rows(cursor, used, is_weighted, conditions.at);
	bytes_free(&conditions);
	if (!err && !(table->remote->compared >> table->number & 1)) {
		table->remote->compared |= 1u << table->number;
		table->remote->query->lacks |= query_lacks(&table->remote->server, table->number);
	}
	if (!err && is_weighted && cursor->rows.rows) {
		sorted_by = at + 1;
		sorted_place = cursor->rows.field_place;
		qsort(cursor->rows.row, cursor->rows.rows, sizeof(*cursor->rows.row), compare_rows);
	}
	cursor->at = 0;
	if (!err)
		table->remote->query->weight = cursor->rows.rows ? cursor->rows.row[0].weight : 1;
	return err;
}

static int open_remote(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
	struct remote_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)base;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*result = &cursor->base;
	return SQLITE_OK;
}

static int close_remote(sqlite3_vtab_cursor *base)
{
	free_rows(&((struct remote_cursor *)base)->rows);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int next_remote(sqlite3_vtab_cursor *base)
{
	struct remote_cursor *cursor = (struct remote_cursor *)base;
	struct remote_table *table = (struct remote_table *)base->pVtab;

	cursor->at++;
	table->remote->query->weight =
		cursor->at < cursor->rows.rows ? cursor->rows.row[cursor->at].weight : 1;
	return SQLITE_OK;
}

static int is_remote_end(sqlite3_vtab_cursor *base)
{
	return ((struct remote_cursor *)base)->at >=
	       ((struct remote_cursor *)base)->rows.rows;
}

static int remote_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	const struct remote_cursor *cursor = (struct remote_cursor *)base;
	int place = cursor->rows.field_place[number];

	if (place >= 0)
		query_value_result(context, &cursor->rows.row[cursor->at].value[place]);
	return SQLITE_OK;
}

/*
 * The row number is the position in the answer. Except for views and for weighted rows, the request
 * has an ORDER BY, so a row has the same number in each scan with this request.
 */
static int remote_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	*row = (sqlite3_int64)((struct remote_cursor *)base)->at + 1;
	return SQLITE_OK;
}

static const sqlite3_module remote_module = {
	.xCreate = connect_remote,
	.xConnect = connect_remote,
	.xBestIndex = plan_remote,
	.xDisconnect = disconnect_remote,
	.xDestroy = disconnect_remote,
	.xOpen = open_remote,
	.xClose = close_remote,
	.xFilter = filter_remote,
	.xNext = next_remote,
	.xEof = is_remote_end,
	.xColumn = remote_column,
	.xRowid = remote_row_id,
};

/* All tables are virtual, so that the tool requests only the tables that a statement reads. */
int query_fleet_tables(sqlite3 *db, struct query *query)
{
	int err = SQLITE_OK;

	for (int i = 0; !err && i < REMOTE_TABLES; i++) {
		const char *name = i == REMOTE_EVENTS ? "events" : numbered_schema(i)->name;
		char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE %s USING %s", name, name);

		err = sqlite3_create_module(db, name, &remote_module, query->remote);
		if (!err)
			err = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	return err;
}
