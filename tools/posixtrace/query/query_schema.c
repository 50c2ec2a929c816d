/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_schema.c - the columns of the tables. */
#include "query/query_schema.h"

#include <sqlite3.h>
#include <string.h>

#define INTEGER(name) { name, false }
#define TEXT(name)    { name, true }

const struct query_schema query_schema[QUERY_TABLES] = {
	[QUERY_SPANS] = { "spans", {
		TEXT("span"), TEXT("kind"), INTEGER("begin"), INTEGER("end"), INTEGER("duration"),
		INTEGER("cpu"), INTEGER("pid"), INTEGER("tid"), INTEGER("begin_tid"),
		TEXT("event"), TEXT("log") } },
	[QUERY_TYPES] = { "types", {
		INTEGER("type"), TEXT("name"), INTEGER("events"), INTEGER("called"),
		INTEGER("lost"), INTEGER("level"), TEXT("role"), TEXT("span"), TEXT("schema"),
		TEXT("log") } },
	[QUERY_THREADS] = { "threads", {
		INTEGER("pid"), INTEGER("tid"), INTEGER("thread"), INTEGER("events"),
		INTEGER("called"), INTEGER("lost"), TEXT("log") } },
	[QUERY_LOSSES] = { "losses", {
		TEXT("name"), TEXT("cause"), INTEGER("lost"), TEXT("log") } },
	[QUERY_OBJECTS] = { "objects", {
		TEXT("kind"), INTEGER("pid"), INTEGER("pointer"), TEXT("name"), INTEGER("since"),
		TEXT("log") } },
	[QUERY_STACKS] = { "stacks", {
		INTEGER("stack"), INTEGER("pid"), INTEGER("depth"), INTEGER("address"),
		TEXT("function"), TEXT("source"), TEXT("log") } },
	[QUERY_STREAMS] = { "streams", {
		TEXT("log"), TEXT("name"), INTEGER("pid"), TEXT("host"), TEXT("clock"),
		INTEGER("hz"), INTEGER("created"), INTEGER("first"), INTEGER("last"),
		INTEGER("events"), INTEGER("called"), INTEGER("lost"), INTEGER("complete"),
		INTEGER("bytes") } },
	[QUERY_LEDGER] = { "ledger", {
		TEXT("host"), INTEGER("pid"), TEXT("name"), TEXT("term"), INTEGER("count"),
		TEXT("log") } },
	[QUERY_LOGS] = { "logs", {
		TEXT("log"), TEXT("uuid"), TEXT("host"), INTEGER("pid"), INTEGER("begun"),
		INTEGER("complete") } },
	[QUERY_HOSTS] = { "hosts", {
		TEXT("host"), TEXT("boot"), TEXT("log") } },
	[QUERY_CLOCKS] = { "clocks", {
		TEXT("host"), TEXT("boot"), TEXT("clock"), INTEGER("hz"), INTEGER("resolution"),
		INTEGER("begun"), TEXT("log") } },
};

size_t query_schema_columns(const struct query_schema *schema)
{
	size_t count = 0;

	while (count < QUERY_SCHEMA_COLUMNS && schema->column[count].name)
		count++;
	return count;
}

bool query_schema_has(const struct query_schema *schema, const char *column)
{
	for (size_t i = 0; i < query_schema_columns(schema); i++)
		if (!strcmp(schema->column[i].name, column))
			return true;
	return false;
}

/* The names of columns are quoted, because the name "end" is a keyword of SQL. */
char *query_schema_sql(const struct query_schema *schema, const char *more)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "CREATE TABLE %s(", schema->name);
	for (size_t i = 0; i < query_schema_columns(schema); i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", schema->column[i].name,
				    schema->column[i].is_text ? "TEXT" : "INTEGER");
	sqlite3_str_appendf(sql, "%s)", more);
	return sqlite3_str_finish(sql);
}
