/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_facts.c - fills the tables ledger, logs, hosts and clocks. They have the event counts and
 * the origin of each log.
 */
#include <string.h>

#include "base/out.h"
#include "query/query.h"
#include "query/query_schema.h"

/*
 * Binds sixteen bytes as hexadecimal digits. If all bytes are zero, the identifier is unknown, and
 * the column becomes NULL.
 */
static void bind_id(sqlite3_stmt *row, int column, const unsigned char id[16])
{
	static const unsigned char unknown[16];
	char text[33];

	*put_hex_bytes(text, id, 16) = '\0';
	if (memcmp(id, unknown, sizeof(unknown)) != 0)
		query_bind_text(row, column, text);
}

/* Inserts a row for one term of a type's ledger, such as "called". A term that is 0 gets no row. */
static int fill_term(sqlite3_stmt *row, const struct logfile *log, const char *name,
		     const char *term, uint64_t count)
{
	if (!count)
		return SQLITE_OK;
	query_bind_text(row, 1, log->info.host);
	sqlite3_bind_int64(row, 2, log->info.pid);
	query_bind_text(row, 3, name);
	query_bind_text(row, 4, term);
	sqlite3_bind_int64(row, 5, (int64_t)count);
	query_bind_text(row, 6, log->path);
	return query_insert_row(row);
}

/* Inserts the terms of a type, as the ledger of the log has them. */
static int fill_line(sqlite3_stmt *row, const struct logfile *log, const char *name,
		     const struct posix_trace_ledger_np *line)
{
	char term[64];
	int err = fill_term(row, log, name, "called", line->called);

	if (!err)
		err = fill_term(row, log, name, "reported", line->reported);
	if (!err)
		err = fill_term(row, log, name, "unread", line->unread);
	if (!err)
		err = fill_term(row, log, name, "unattributed", line->unattributed);
	for (int cause = 0; !err && cause < POSIX_TRACE_LOST_CAUSES_NP; cause++) {
		sqlite3_snprintf(sizeof(term), term, "lost: %s", posix_trace_lost_name_np(cause));
		err = fill_term(row, log, name, term, line->lost[cause]);
	}
	return err;
}

/* Inserts the terms of all types. The line for events of unknown type gets the empty name. */
static int fill_account(sqlite3_stmt *row, const struct logfile *log)
{
	struct posix_trace_ledger_np line;
	int err = SQLITE_OK;

	for (size_t i = 0; !err && i < log->types; i++)
		if (!posix_trace_get_ledger_type_np(log->trid, log->list[i]->id, &line))
			err = fill_line(row, log, log->list[i]->name, &line);
	if (!err && !posix_trace_get_ledger_type_np(log->trid, 0, &line))
		err = fill_line(row, log, "", &line);
	return err;
}

static int fill_log_row(sqlite3_stmt *row, const struct logfile *log)
{
	query_bind_text(row, 1, log->path);
	bind_id(row, 2, log->info.uuid);
	query_bind_text(row, 3, log->info.host);
	sqlite3_bind_int64(row, 4, log->info.pid);
	sqlite3_bind_int64(row, 5, log->info.begin_ns);
	sqlite3_bind_int(row, 6, log->info.complete != 0);
	return query_insert_row(row);
}

static int fill_host(sqlite3_stmt *row, const struct logfile *log)
{
	query_bind_text(row, 1, log->info.host);
	bind_id(row, 2, log->info.boot_id);
	query_bind_text(row, 3, log->path);
	return query_insert_row(row);
}

/* If the frequency or the resolution is 0, it is unknown, and its column becomes NULL. */
static int fill_clock(sqlite3_stmt *row, const struct logfile *log)
{
	query_bind_text(row, 1, log->info.host);
	bind_id(row, 2, log->info.boot_id);
	query_bind_text(row, 3, log->info.clock);
	if (log->info.clock_hz)
		sqlite3_bind_int64(row, 4, (int64_t)log->info.clock_hz);
	if (log->info.resolution_ns)
		sqlite3_bind_int64(row, 5, log->info.resolution_ns);
	sqlite3_bind_int64(row, 6, log->info.begin_ns);
	query_bind_text(row, 7, log->path);
	return query_insert_row(row);
}

int query_facts(sqlite3_stmt **row, const struct logfile *log)
{
	int err = fill_account(row[QUERY_LEDGER], log);

	if (!err)
		err = fill_log_row(row[QUERY_LOGS], log);
	if (!err)
		err = fill_host(row[QUERY_HOSTS], log);
	return err ? err : fill_clock(row[QUERY_CLOCKS], log);
}
