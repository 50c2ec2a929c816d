/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite_views.c - makes the same views of events, types, threads, losses and objects that
 * posixtrace query has, so that statements for query work here, too.
 *
 * In the table event, the columns of fields are numbered as the fields of a schema. In the view
 * events, each name of a field has a column. The type of the event decides from which numbered
 * column of the table the value comes. All names from the trace are quoted by SQLite's %Q and %w
 * against injection.
 */
#include "convert/text/sqlite_schema.h"

/*
 * Adds a column of the view. For each type that has a field with this name, the column has the
 * value of this field. Names that differ only in case are different fields. sqlite3_stricmp()
 * ignores case, so sqlite3_strglob() afterwards compares the names exactly.
 */
static void field_column(sqlite3_str *sql, const struct sqlfield *field,
			 const struct fmt_type *const *type, size_t types)
{
	sqlite3_str_appendall(sql, ", CASE event.type");
	for (size_t i = 0; i < types; i++) {
		const struct posix_trace_schema_np *schema = type[i]->fields;

		for (unsigned f = 0; schema && f < schema->fields; f++)
			if (!sqlite3_stricmp(schema->field[f].name, field->field) &&
			    !sqlite3_strglob(field->field, schema->field[f].name))
				sqlite3_str_appendf(sql, " WHEN %d THEN f%u",
						    (int)type[i]->index + 1, f);
	}
	sqlite3_str_appendf(sql, " END AS \"%w\"", field->name);
}

/* Adds the view "events". */
static void append_events_view(sqlite3_str *sql, const struct sqlfields *fields,
			       const struct fmt_type *const *type, size_t types, const char *log)
{
	sqlite3_str_appendall(sql,
		"CREATE VIEW events AS SELECT event.ns AS time, type.name AS name, "
		"type.number AS type, pid, tid, handle AS thread, address, level, "
		"length(data) AS len, data, "
		"CASE truncated + 2 * late WHEN 1 THEN 'truncated' WHEN 2 THEN 'late' "
		"WHEN 3 THEN 'truncated,late' END AS flags, ");
	if (log)
		sqlite3_str_appendf(sql, "%Q AS log", log);
	else
		sqlite3_str_appendall(
			sql, "(SELECT path FROM log WHERE log.id = event.log) AS log");
	for (size_t i = 0; i < fields->count; i++)
		field_column(sql, &fields->field[i], type, types);
	/*
	 * With CROSS JOIN, SQLite does not reorder the join, so that the rows are in the order of
	 * the events.
	 */
	sqlite3_str_appendall(sql, " FROM event CROSS JOIN type ON type.id = event.type "
				   "CROSS JOIN thread ON thread.id = event.thread;");
}

/* Adds the counts of a type or a thread, from its lines of the ledger. */
static void append_counts(sqlite3_str *sql, const char *of)
{
	sqlite3_str_appendf(
		sql,
		"(SELECT reported FROM ledger WHERE ledger.%s = %s.id AND cause IS NULL) "
		"AS events, "
		"(SELECT called FROM ledger WHERE ledger.%s = %s.id AND cause IS NULL) AS called, "
		"coalesce((SELECT sum(lost) FROM ledger WHERE ledger.%s = %s.id), 0) AS lost",
		of, of, of, of, of, of);
}

int sqlite_views(sqlite3 *db, const struct sqlfields *fields, const struct fmt_type *const *type,
		 size_t types, const char *log)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int err;

	/* If "log" is a null pointer, %Q writes the SQL value NULL. */
	append_events_view(sql, fields, type, types, log);
	sqlite3_str_appendall(sql, "CREATE VIEW types AS SELECT number AS type, name, ");
	append_counts(sql, "type");
	sqlite3_str_appendf(sql, ", level, phase AS role, span, schema, %Q AS log FROM type;", log);
	sqlite3_str_appendall(sql, "CREATE VIEW threads AS SELECT pid, tid, handle AS thread, ");
	append_counts(sql, "thread");
	sqlite3_str_appendf(sql, ", %Q AS log FROM thread;", log);
	/*
	 * The view losses shows the losses of the ledger. The total of the ledger also counts
	 * events of unknown type, which get the empty name. Without a ledger, the view shows the
	 * counted losses of the trace.
	 */
	sqlite3_str_appendf(
		sql,
		"CREATE VIEW losses AS SELECT type.name AS name, cause, ledger.lost AS lost, "
		"%Q AS log FROM ledger JOIN type ON type.id = ledger.type WHERE cause IS NOT NULL "
		"UNION ALL SELECT '', cause, lost - known, %Q FROM (SELECT cause, lost, (SELECT "
		"coalesce(sum(lost), 0) FROM ledger AS part WHERE part.type IS NOT NULL AND "
		"part.cause = ledger.cause) AS known FROM ledger WHERE type IS NULL AND "
		"thread IS NULL AND cause IS NOT NULL) WHERE lost > known "
		"UNION ALL SELECT (SELECT name FROM type WHERE type.id = lost.type), cause, "
		"sum(count), %Q FROM lost WHERE count IS NOT NULL AND NOT EXISTS "
		"(SELECT 1 FROM ledger) "
		"GROUP BY type, cause;"
		"CREATE VIEW objects AS SELECT kind, pid, pointer, name, since_ns AS since, "
		"%Q AS log FROM object;",
		log, log, log, log);
	text = sqlite3_str_finish(sql);
	err = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	return err;
}
