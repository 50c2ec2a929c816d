/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fleet.c - the statements that make the tables and views of a fleet's database. */
#include "query/fleet.h"

#include <stdio.h>
#include <string.h>

#include "base/table.h"

#define MARK "tables " /* a mark has this text and a number */
#define TEXT_OF(number) #number
#define PARTITION(number) "PARTITION BY (row_day, row_source % " TEXT_OF(number) ") "

const struct fleet_columns fleet_events[FLEET_COLUMNS] = {
	[FLEET_DAY] = { "row_day", "Date" },
	[FLEET_ATTEMPT] = { "row_attempt", "UInt64" },
	[FLEET_SOURCE] = { "row_source", "UInt64" },
	[FLEET_SEQ] = { "row_seq", "UInt64" },
	[FLEET_HOST] = { "row_host", "String" },
	[FLEET_PROCESS] = { "row_process", "Int32" },
	[FLEET_LOG] = { "row_log", "String" },
	[FLEET_TIME] = { "row_time", "Int64" },
	[FLEET_NAME] = { "row_name", "String" },
	[FLEET_TYPE] = { "row_type", "UInt32" },
	[FLEET_PID] = { "row_pid", "Int32" },
	[FLEET_TID] = { "row_tid", "Int32" },
	[FLEET_THREAD] = { "row_thread", "Int64" },
	[FLEET_ADDRESS] = { "row_address", "Int64" },
	[FLEET_DATA] = { "row_data", "String" },
	[FLEET_KEYS] = { "row_keys", "Array(UInt64)" },
	[FLEET_NUMBERS] = { "row_numbers", "Array(Int64)" },
	[FLEET_TEXTS] = { "row_texts", "Array(String)" },
	[FLEET_MARKS] = { "row_marks", "UInt8" },
	[FLEET_TOOK] = { "row_took", "UInt64" },
	[FLEET_LEVEL] = { "row_level", "UInt8" },
	[FLEET_FLAGS] = { "row_flags", "UInt8" },
	[FLEET_FUNCTION] = { "row_function", "String" },
	[FLEET_FILE] = { "row_file", "String" },
	[FLEET_LINE] = { "row_line", "UInt32" },
	[FLEET_MODULE] = { "row_module", "String" },
	[FLEET_LABELS] = { "row_labels", "String" },
	[FLEET_MESSAGE] = { "row_message", "String" },
};

/*
 * With FLEET_LEAN, the column of the texts that the data lacks is in the place of the array of
 * texts.
 */
const struct fleet_columns *fleet_event_column(size_t i, enum fleet_layout layout)
{
	static const struct fleet_columns text = { "row_text", "String" };
	bool is_there = i < FLEET_MARKS;

	if (i == FLEET_TEXTS && layout == FLEET_LEAN)
		return &text;
	if (i == FLEET_MARKS)
		is_there = fleet_has_facts(layout);
	else if (i == FLEET_TOOK)
		is_there = layout == FLEET_LEAN;
	else if (i > FLEET_TOOK)
		is_there = !fleet_has_facts(layout);
	return is_there ? &fleet_events[i] : NULL;
}

/*
 * If the layout has facts, row_table is a number: fleet_table_number(). A number needs less room
 * than a name, and the rows of an INSERT are already in the order of the numbers. With FLEET_LEAN,
 * row_nulls has another name. So an older version, which would send the row of each span, cannot
 * send a summary into such a table.
 */
#define LEAN_NULLS "row_missing"
const struct fleet_columns *fleet_summary_column(size_t i, enum fleet_layout layout)
{
	static const struct fleet_columns column[] = {
		[FLEET_TABLE - FLEET_ROW_COLUMNS] = { "row_table", "String" },
		[FLEET_NULLS - FLEET_ROW_COLUMNS] = { "row_nulls", "UInt32" },
		[FLEET_INTEGERS - FLEET_ROW_COLUMNS] = { "row_integers", "Array(Int64)" },
		[FLEET_STRINGS - FLEET_ROW_COLUMNS] = { "row_strings", "Array(String)" },
	}, number = { "row_table", "UInt8" }, nulls = { LEAN_NULLS, "UInt32" };

	if (i == FLEET_TABLE && fleet_has_facts(layout))
		return &number;
	if (i == FLEET_NULLS && layout == FLEET_LEAN)
		return &nulls;
	return &column[i - FLEET_ROW_COLUMNS];
}

/*
 * An older version voids the summaries of a log without a position before it sends a row, and
 * finds them by the number of the table "logs". With FLEET_LEAN it must find none, because the
 * server refuses its rows afterwards.
 */
int fleet_table_number(int table, enum fleet_layout layout)
{
	return layout == FLEET_LEAN ? table + 100 : table;
}

void fleet_lean_sql(const char *database, struct bytes *sql)
{
	bytes_printf(sql, "toString((SELECT sum(if(table = 'events_rows', %d, %d)) FROM "
		     "system.columns WHERE database = '%s' AND "
		     "(table = 'events_rows' AND name = '%s' OR table = '" FLEET_OTHER "' AND "
		     "name = '" LEAN_NULLS "')))", FLEET_LEAN_EVENTS, FLEET_LEAN_OTHER, database,
		     fleet_events[FLEET_TOOK].name);
}

void fleet_took_sql(enum fleet_layout layout, struct bytes *sql)
{
	if (layout == FLEET_LEAN)
		bytes_printf(sql, "sum((row_took * 2 + (row_marks >= %d OR arrayExists(key -> "
			     "key = %d OR key > %d, row_keys))) * (row_seq * 2 + 1))",
			     FLEET_LEVEL_UNIT, FLEET_FACT_MESSAGE, FLEET_FACT_LINE);
	else
		bytes_str(sql, "toUInt64(0)");
}

uint64_t fleet_took(uint64_t seq, uint64_t took, bool is_described)
{
	return (took * 2 + is_described) * (seq * 2 + 1);
}

bool fleet_has_column(const struct fleet_field *field)
{
	return (field->kinds & ~(1u << SQLVALUE_NULL)) && strncmp(field->name, "row_", 4) != 0;
}

/* The hash is stored in the database, so this function must never change. */
uint64_t fleet_key(const char *field, enum sqlvalue_kind kind)
{
	unsigned char letter = (unsigned char)kind;

	return hash_bytes(hash_bytes(HASH_BEGIN, &letter, 1), field, strlen(field));
}

/* ------------------------------------------------------------------ tables of rows */

/*
 * Appends the engine of a table. The replicas of a replicated table find each other in ZooKeeper by
 * the path. An INSERT has rows of only one log, and all rows of a log are in one partition.
 * Therefore each INSERT makes exactly one part of the table. This part is either complete or
 * absent.
 */
static void put_engine(const char *table, const char *database, const char *replica,
		       const char *kind, const char *order, struct bytes *sql)
{
	bytes_str(sql, ") ENGINE = ");
	if (replica)
		bytes_printf(sql, "Replicated%sMergeTree('/clickhouse/tables/{shard}/%s/%s', "
			     "'%s')", kind, database, table, replica);
	else
		bytes_printf(sql, "%sMergeTree()", kind);
	bytes_printf(sql, " %s", order);
}

/* Appends the first columns of events_rows with their types. "count" is the number of columns. */
static void put_columns(size_t count, struct bytes *sql)
{
	for (size_t i = 0; i < count; i++)
		bytes_printf(sql, "%s%s %s", i ? ", " : "", fleet_events[i].name,
			     fleet_events[i].type);
}

/*
 * ClickHouse computes an expression only once if a statement has it several times. The element of
 * an array with the index 0 is 0 or the empty text.
 */
#define PLACED(text, place) \
	"substring(" text ", 1 + bitShiftRight(" place ", 32), bitAnd(" place ", 4294967295))"
void fleet_text_sql(const char *index, enum fleet_layout layout, struct bytes *sql)
{
	if (layout == FLEET_LEAN)
		bytes_printf(sql, PLACED("concat(row_data, row_text)", "row_numbers[%s]"), index,
			     index);
	else
		bytes_printf(sql, "row_texts[%s]", index);
}

/*
 * Appends the expression of the column of a fact, which is an ALIAS. If a row lacks the key,
 * indexOf() returns 0.
 */
static void put_alias(size_t i, enum fleet_layout layout, struct bytes *sql)
{
	static const enum fleet_fact facts[FLEET_COLUMNS] = {
		[FLEET_FUNCTION] = FLEET_FACT_FUNCTION, [FLEET_FILE] = FLEET_FACT_FILE,
		[FLEET_MODULE] = FLEET_FACT_MODULE, [FLEET_LABELS] = FLEET_FACT_LABELS,
		[FLEET_MESSAGE] = FLEET_FACT_MESSAGE,
	};
	char index[64];

	switch (i) {
	case FLEET_LEVEL:
		bytes_printf(sql, "toUInt8(intDiv(row_marks, %d))", FLEET_LEVEL_UNIT);
		break;
	case FLEET_FLAGS:
		bytes_printf(sql, "toUInt8(row_marks %% %d)", FLEET_LEVEL_UNIT);
		break;
	case FLEET_LINE:
		bytes_printf(sql, "toUInt32(row_numbers[indexOf(row_keys, toUInt64(%d))])",
			     layout == FLEET_LEAN ? FLEET_FACT_LINE : FLEET_FACT_FILE);
		break;
	default:
		snprintf(index, sizeof(index), "indexOf(row_keys, toUInt64(%d))", facts[i]);
		fleet_text_sql(index, layout, sql);
	}
}

/*
 * Appends the statement that makes events_rows. The order of the rows makes conditions on the log
 * and on times fast. It also makes similar rows neighbours, so that they compress well.
 */
static void put_events_rows(enum fleet_layout layout, const char *database, const char *replica,
			    struct bytes *sql)
{
	bytes_printf(sql, "CREATE TABLE IF NOT EXISTS %s.events_rows (", database);
	put_columns(FLEET_ROW_COLUMNS, sql);
	for (size_t i = FLEET_ROW_COLUMNS; i < FLEET_COLUMNS; i++) {
		const struct fleet_columns *column = fleet_event_column(i, layout);

		if (!column && i < FLEET_LEVEL)
			continue;
		bytes_printf(sql, ", %s %s", column ? column->name : fleet_events[i].name,
			     column ? column->type : fleet_events[i].type);
		if (column)
			continue;
		bytes_str(sql, " ALIAS ");
		put_alias(i, layout, sql);
	}
	/*
	 * Elements of numbers have any text here. A lambda expression of an ALIAS cannot use
	 * columns, but replicate() can.
	 */
	if (layout == FLEET_LEAN)
		bytes_str(sql, ", row_texts Array(String) ALIAS arrayMap((place, text) -> "
			  PLACED("text", "place")
			  ", row_numbers, replicate(concat(row_data, row_text), row_numbers))");
	put_engine("events_rows", database, replica, "",
		   PARTITION(FLEET_PARTITIONS) "ORDER BY (row_source, row_time)", sql);
}

/*
 * Appends the statement that makes the table of rows for a table of the command query. The columns
 * of that table may be NULL here, too.
 */
static void put_rows(const struct query_schema *schema, const char *database, const char *replica,
		     struct bytes *sql)
{
	char table[64] = "";

	strcat(strcat(table, schema->name), "_rows");
	bytes_printf(sql, "CREATE TABLE IF NOT EXISTS %s.%s (", database, table);
	put_columns(FLEET_ROW_COLUMNS, sql);
	for (size_t i = 0; i < query_schema_columns(schema); i++)
		bytes_printf(sql, ", `%s` Nullable(%s)", schema->column[i].name,
			     schema->column[i].is_text ? "String" : "Int64");
	put_engine(table, database, replica, "",
		   PARTITION(FLEET_PARTITIONS) "ORDER BY (row_source, row_seq)", sql);
}

/*
 * Appends the statement that makes other_rows or summary_rows. row_table is the first column of the
 * order, so a view reads only the rows of its own table.
 */
static void put_summary_rows(enum fleet_layout layout, const char *database, const char *replica,
			     struct bytes *sql)
{
	const char *table = fleet_summary_table(layout);

	bytes_printf(sql, "CREATE TABLE IF NOT EXISTS %s.%s (", database, table);
	put_columns(FLEET_ROW_COLUMNS, sql);
	for (size_t i = FLEET_ROW_COLUMNS; i < FLEET_SUMMARY_COLUMNS; i++)
		bytes_printf(sql, ", %s %s", fleet_summary_column(i, layout)->name,
			     fleet_summary_column(i, layout)->type);
	put_engine(table, database, replica, "",
		   PARTITION(FLEET_PARTITIONS) "ORDER BY (row_table, row_source, row_seq)", sql);
}

/* Appends the spans that are one event each to the rows of spans. */
static void put_event_spans(const char *database, struct bytes *sql)
{
	bytes_printf(sql, " UNION ALL SELECT row_day, row_attempt, row_source, "
		     "row_seq * toUInt64(%d) AS row_seq, row_host, toNullable(row_name) AS `span`, "
		     "toNullable('event') AS `kind`, "
		     "toNullable(row_time - toInt64(row_took - 1)) AS `begin`, "
		     "toNullable(row_time) AS `end`, "
		     "toNullable(toInt64(row_took - 1)) AS `duration`, "
		     "CAST(NULL AS Nullable(Int64)) AS `cpu`, "
		     "toNullable(toInt64(row_pid)) AS `pid`, "
		     "toNullable(toInt64(row_tid)) AS `tid`, "
		     "toNullable(toInt64(row_tid)) AS `begin_tid`, "
		     "toNullable(row_name) AS `event`, toNullable(row_log) AS `log` "
		     "FROM %s.events_rows WHERE row_took != 0", QUERY_SPANS_OF_EVENT, database);
}

/* Appends the statement that makes the view of a table's rows in other_rows or summary_rows. */
static void put_shared_rows(int table, enum fleet_layout layout, const char *database,
			    struct bytes *sql)
{
	const struct query_schema *schema = &query_schema[table];
	unsigned integers = 0, strings = 0;

	bytes_printf(sql, "CREATE VIEW IF NOT EXISTS %s.%s_rows AS SELECT ", database,
		     schema->name);
	for (size_t i = 0; i < FLEET_ROW_COLUMNS; i++)
		bytes_printf(sql, "%s%s", i ? ", " : "", fleet_events[i].name);
	for (size_t i = 0; i < query_schema_columns(schema); i++) {
		const bool is_text = schema->column[i].is_text;

		bytes_printf(sql, ", multiIf(bitAnd(%s, %u) != 0, NULL, %s[%u]) AS `%s`",
			     fleet_summary_column(FLEET_NULLS, layout)->name, 1u << i,
			     is_text ? "row_strings" : "row_integers",
			     is_text ? ++strings : ++integers, schema->column[i].name);
	}
	bytes_printf(sql, " FROM %s.%s WHERE row_table = ", database, fleet_summary_table(layout));
	if (fleet_has_facts(layout))
		bytes_printf(sql, "%d", fleet_table_number(table, layout));
	else
		bytes_printf(sql, "'%s'", schema->name);
	if (table == QUERY_SPANS && layout == FLEET_LEAN)
		put_event_spans(database, sql);
}

static bool is_small(int table)
{
	return table != QUERY_EVENTS && table != QUERY_SPANS;
}

bool fleet_is_shared(int table, enum fleet_layout layout)
{
	return fleet_has_facts(layout) ? table != QUERY_EVENTS
				       : layout == FLEET_SHARED && is_small(table);
}

const char *fleet_summary_table(enum fleet_layout layout)
{
	return fleet_has_facts(layout) ? FLEET_OTHER : FLEET_SUMMARY;
}

const char *fleet_logs_table(enum fleet_layout layout)
{
	return fleet_is_shared(QUERY_LOGS, layout) ? fleet_summary_table(layout) : "logs_rows";
}

const char *fleet_rows_table(int table, enum fleet_layout layout)
{
	static char name[64];

	if (fleet_is_shared(table, layout))
		return fleet_is_shared(table - 1, layout) ? NULL : fleet_summary_table(layout);
	*name = '\0';
	return strcat(strcat(name, query_table_name(table)), "_rows");
}

/*
 * The condition uses the table voided. This table is small, since it only has the INSERTs that
 * failed. So the server can keep the table in memory as a set.
 */
void fleet_counts_sql(const char *database, struct bytes *sql)
{
	bytes_printf(sql, "row_attempt NOT IN (SELECT attempt FROM %s.voided)", database);
}

/*
 * Appends the statement that makes a view. If the table of the command query lacks the column host,
 * the function adds this column to the view.
 */
static void put_view(const struct query_schema *schema, const char *database, struct bytes *sql)
{
	bytes_printf(sql, "CREATE VIEW IF NOT EXISTS %s.%s AS SELECT ", database, schema->name);
	for (size_t i = 0; i < query_schema_columns(schema); i++)
		bytes_printf(sql, "%s`%s`", i ? ", " : "", schema->column[i].name);
	if (!query_schema_has(schema, "host"))
		bytes_str(sql, ", row_host AS host");
	bytes_printf(sql, " FROM %s.%s_rows WHERE ", database, schema->name);
	fleet_counts_sql(database, sql);
}

static void put_stored(const char *database, struct bytes *sql)
{
	bytes_printf(sql, "SELECT row_host AS host, row_process AS pid, row_name AS name, "
		     "toInt64(count()) AS count, row_log AS log FROM %s.events_rows WHERE ",
		     database);
	fleet_counts_sql(database, sql);
	bytes_str(sql, " GROUP BY row_host, row_process, row_name, row_log");
}

/*
 * Appends the selections of the views of rates and durations per minute. The server computes these
 * views when a client reads them. A materialized view would be filled by each INSERT instead. It
 * would keep the rows of attempts that are voided later. It would lack the rows of an INSERT if the
 * server was killed between this INSERT and the filling of the view.
 */
static void put_rates(const char *database, struct bytes *sql)
{
	bytes_printf(sql, "SELECT toStartOfMinute(toDateTime(intDiv(row_time, 1000000000))) "
		     "AS minute, row_host AS host, row_name AS name, toInt64(count()) AS events "
		     "FROM %s.events_rows WHERE ", database);
	fleet_counts_sql(database, sql);
	bytes_str(sql, " GROUP BY minute, host, name");
}

static void put_durations(const char *database, struct bytes *sql)
{
	static const struct {
		const char *level, *name;
	} quantile[] = { { "0.5", "p50" }, { "0.95", "p95" }, { "0.99", "p99" } };

	bytes_str(sql, "SELECT toStartOfMinute(toDateTime(intDiv(assumeNotNull(`end`), "
		  "1000000000))) AS minute, row_host AS host, assumeNotNull(span) AS name, "
		  "toInt64(count()) AS spans");
	for (size_t i = 0; i < sizeof(quantile) / sizeof(quantile[0]); i++)
		bytes_printf(sql, ", toInt64(quantileTDigest(%s)(assumeNotNull(duration))) AS %s",
			     quantile[i].level, quantile[i].name);
	bytes_printf(sql, ", max(assumeNotNull(duration)) AS longest FROM %s.spans_rows "
		     "WHERE isNotNull(duration) AND isNotNull(`end`) AND isNotNull(span) AND ",
		     database);
	fleet_counts_sql(database, sql);
	bytes_str(sql, " GROUP BY minute, host, name");
}

static const struct {
	const char *name;
	void (*put)(const char *database, struct bytes *sql);
} views[] = {
	[FLEET_STORED] = { "stored", put_stored },
	[FLEET_RATES] = { "rates", put_rates },
	[FLEET_DURATIONS] = { "durations", put_durations },
};

void fleet_view_sql(enum fleet_view view, const char *database, struct bytes *sql)
{
	views[view].put(database, sql);
}

static void make_view(enum fleet_view view, const char *database, struct bytes *sql)
{
	bytes_printf(sql, "CREATE VIEW IF NOT EXISTS %s.%s AS ", database, views[view].name);
	fleet_view_sql(view, database, sql);
}

/*
 * The numbers of the statements. The table with the marks is the first, because a process that is
 * killed after it has made another table must have left a mark. The two views per minute are the
 * last.
 */
enum { DATABASE, FIELDS, VOIDED, EVENTS, STORED, SUMMARY, ROWS, RATES = ROWS + 2 * QUERY_TABLES,
       DURATIONS, STATEMENTS };

/* FLEET_SEPARATE lacks the statement SUMMARY. Returns the number of the statement. */
static unsigned statement_of(unsigned index, enum fleet_layout layout)
{
	return index + (layout == FLEET_SEPARATE && index >= SUMMARY);
}

/* The statement that makes a table precedes the statements that make the views of this table. */
bool fleet_create_sql(unsigned index, enum fleet_layout layout, const char *database,
		      const char *replica, struct bytes *sql)
{
	index = statement_of(index, layout);
	if (index >= STATEMENTS)
		return false;
	switch (index) {
	case DATABASE:
		bytes_printf(sql, "CREATE DATABASE IF NOT EXISTS %s", database);
		break;
	case VOIDED:
		bytes_printf(sql, "CREATE TABLE IF NOT EXISTS %s.voided (attempt UInt64", database);
		put_engine("voided", database, replica, "", "ORDER BY attempt", sql);
		break;
	case FIELDS:
		bytes_printf(sql, "CREATE TABLE IF NOT EXISTS %s.fields (name String, kind UInt8",
			     database);
		put_engine("fields", database, replica, "Replacing", "ORDER BY (name, kind)",
			   sql);
		break;
	case EVENTS:
		put_events_rows(layout, database, replica, sql);
		break;
	case STORED:
		make_view(FLEET_STORED, database, sql);
		break;
	case SUMMARY:
		put_summary_rows(layout, database, replica, sql);
		break;
	case RATES:
		make_view(FLEET_RATES, database, sql);
		break;
	case DURATIONS:
		make_view(FLEET_DURATIONS, database, sql);
		break;
	default:
		index -= ROWS;
		if (index < QUERY_TABLES && fleet_is_shared((int)index, layout))
			put_shared_rows((int)index, layout, database, sql);
		else if (index < QUERY_TABLES)
			put_rows(&query_schema[index], database, replica, sql);
		else
			put_view(&query_schema[index - QUERY_TABLES], database, sql);
	}
	return true;
}

bool fleet_makes_fields(unsigned index)
{
	return index == FIELDS;
}

void fleet_mark_sql(const char *database, uint64_t number, struct bytes *sql)
{
	bytes_printf(sql, "INSERT INTO %s.fields VALUES ('" MARK "%llu', 0)", database,
		     (unsigned long long)number);
}

void fleet_identity_sql(const char *database, struct bytes *sql)
{
	bytes_printf(sql, "SELECT toUInt64(sum(number)) FROM (SELECT "
		     "toUInt64OrZero(substring(name, %zu)) AS number FROM %s.fields "
		     "WHERE name LIKE '" MARK "%%' GROUP BY number) FORMAT RowBinary",
		     sizeof(MARK), database);
}

bool fleet_is_optional(unsigned index, enum fleet_layout layout)
{
	index = statement_of(index, layout);
	return index == RATES || index == DURATIONS;
}

void fleet_optional_sql(struct bytes *sql)
{
	bytes_str(sql, "'rates', 'durations'");
}

void fleet_small_sql(struct bytes *sql)
{
	const char *comma = "";

	for (int i = 0; i < QUERY_TABLES; i++)
		if (is_small(i)) {
			bytes_printf(sql, "%s'%s_rows'", comma, query_schema[i].name);
			comma = ", ";
		}
}

void fleet_names_sql(struct bytes *sql)
{
	bytes_str(sql, "'voided', 'fields', 'events_rows', '" FLEET_OTHER "', '" FLEET_SUMMARY "', "
		  "'stored', ");
	fleet_optional_sql(sql);
	for (size_t i = 0; i < QUERY_TABLES; i++)
		bytes_printf(sql, ", '%s_rows', '%s'", query_schema[i].name, query_schema[i].name);
}

/* ------------------------------------------------------------------ the view events */

/*
 * Appends the expression for a field's value of one kind. If as_text is true, the expression
 * converts numbers to text.
 */
static void put_value(const char *field, enum sqlvalue_kind kind, bool as_text,
		      enum fleet_layout layout, struct bytes *sql)
{
	unsigned long long key = fleet_key(field, kind);
	char index[64];

	if (kind == SQLVALUE_REAL)
		bytes_printf(sql, "%sreinterpretAsFloat64(reinterpretAsString("
			     "row_numbers[indexOf(row_keys, %llu)]))%s",
			     as_text ? "toString(" : "", key, as_text ? ")" : "");
	else if (kind == SQLVALUE_INTEGER)
		bytes_printf(sql, "%srow_numbers[indexOf(row_keys, %llu)]%s",
			     as_text ? "toString(" : "", key, as_text ? ")" : "");
	else {
		snprintf(index, sizeof(index), "indexOf(row_keys, %llu)", key);
		fleet_text_sql(index, layout, sql);
	}
}

/*
 * In ClickHouse a column has only one type. If the values of the field have several kinds, the type
 * is text. For an event without the field the value is NULL.
 */
static void put_field(const struct fleet_field *field, enum fleet_layout layout,
		      struct bytes *sql)
{
	unsigned kinds = field->kinds & ~(1u << SQLVALUE_NULL);
	bool as_text = (kinds & (kinds - 1)) != 0;

	bytes_str(sql, "multiIf(");
	for (int kind = SQLVALUE_INTEGER; kind <= SQLVALUE_BLOB; kind++) {
		if (!(kinds & 1u << kind))
			continue;
		bytes_printf(sql, "has(row_keys, %llu), ",
			     (unsigned long long)fleet_key(field->name, (enum sqlvalue_kind)kind));
		put_value(field->name, (enum sqlvalue_kind)kind, as_text, layout, sql);
		bytes_str(sql, ", ");
	}
	bytes_str(sql, "NULL)");
}

void fleet_events_view(enum fleet_layout layout, const char *database,
		       const struct sqlfields *columns, const struct fleet_field *field,
		       size_t fields, struct bytes *sql)
{
	bytes_str(sql,
		  "SELECT row_time AS time, row_name AS name, row_type AS type, row_pid AS pid, "
		  "row_tid AS tid, row_thread AS thread, row_address AS address, "
		  "nullIf(row_level, 0) AS level, length(row_data) AS len, row_data AS data, "
		  "multiIf(row_flags = 1, 'truncated', row_flags = 2, 'late', row_flags = 3, "
		  "'truncated,late', NULL) AS flags, row_log AS log, row_host AS `log.host`, "
		  "row_process AS `log.pid`, nullIf(row_function, '') AS function, "
		  "nullIf(row_file, '') AS source, nullIf(row_line, 0) AS line, "
		  "nullIf(row_module, '') AS module, nullIf(row_labels, '') AS labels, "
		  "nullIf(row_message, '') AS message");
	for (size_t i = 0; i < fields; i++) {
		int column = sqlfields_find(columns, field[i].name);

		if (column < 0 || !fleet_has_column(&field[i]))
			continue;
		bytes_str(sql, ", ");
		put_field(&field[i], layout, sql);
		bytes_printf(sql, " AS `%s`", columns->field[column].name);
	}
	bytes_printf(sql, " FROM %s.events_rows WHERE ", database);
	fleet_counts_sql(database, sql);
}
