/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dropped.c - ships the account of a log that was dropped from a spool.
 *
 * Some events of the log may have been shipped before the drop, and the INSERT with the last of
 * these events may not be confirmed. So the number of dropped events is not known at the time of
 * the drop. It is known here, when the position is settled. The account has the number of events of
 * each type and thread, and the database has the number of rows of each. The difference was lost.
 */
#include "ship/ship.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/path.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "query/query_account.h"

#define ANSWER_MOST (64u << 20)

/*
 * The statements that make the account agree with the rows in the database. The table stored has
 * the numbers of these rows.
 */
static const char correct_tables[] =
	/* The line without a name counts events of types that the log does not list. */
	"UPDATE stored SET name = '' WHERE name NOT IN (SELECT name FROM types);"
	"CREATE TABLE dropped AS SELECT host, pid, name, log,"
	"  count - (SELECT coalesce(sum(count), 0) FROM stored"
	"    WHERE stored.name = ledger.name) AS count"
	"  FROM ledger WHERE term = 'reported';"
	"DELETE FROM dropped WHERE count <= 0;"
	"INSERT INTO ledger(host, pid, name, term, count, log)"
	"  SELECT host, pid, name, 'lost: spool', count, log FROM dropped;"
	"INSERT INTO losses(name, cause, lost, log) SELECT name, 'spool', count, log FROM dropped;"
	"UPDATE ledger SET count = count - (SELECT count FROM dropped"
	"  WHERE dropped.name = ledger.name)"
	"  WHERE term = 'reported' AND name IN (SELECT name FROM dropped);"
	"DELETE FROM ledger WHERE term = 'reported' AND count = 0;"
	"UPDATE types SET (events, lost) = (SELECT types.events - count, lost + count FROM dropped"
	"  WHERE dropped.name = types.name) WHERE name IN (SELECT name FROM dropped);"
	"UPDATE threads SET (events, lost) = (SELECT n, lost + events - n FROM (SELECT"
	"  min(threads.events, coalesce(sum(count), 0)) AS n FROM stored WHERE"
	"  stored.pid = threads.pid AND stored.tid = threads.tid AND"
	"  stored.thread = threads.thread));"
	"UPDATE streams SET (events, lost) = (SELECT events - n, lost + n FROM"
	"  (SELECT coalesce(sum(count), 0) AS n FROM dropped));";

#define NUMBERS 4

/* A row of the server's answer: the name of a type, and numbers. */
struct stored_row {
	const char *name;
	size_t len;
	uint64_t number[NUMBERS];
};

static bool read_stored(const struct bytes *answer, size_t *at, struct stored_row *row)
{
	bool good = server_get_text(answer, at, &row->name, &row->len);

	for (int i = 0; good && i < NUMBERS; i++)
		good = server_get_u64(answer, at, &row->number[i]);
	return good;
}

/* Returns whether the answer consists of whole rows. */
static bool has_whole_rows(const struct bytes *answer)
{
	struct stored_row row;
	size_t at = 0;

	while (at < answer->used)
		if (!read_stored(answer, &at, &row))
			return false;
	return true;
}

/*
 * Adds the next row of the server's answer, which must exist, to the table stored. Returns an error
 * of SQLite.
 */
static int add_stored(sqlite3_stmt *statement, const struct bytes *answer, size_t *at)
{
	struct stored_row row;

	if (!read_stored(answer, at, &row))
		return SQLITE_CORRUPT;
	sqlite3_bind_text(statement, 1, row.name, (int)row.len, SQLITE_TRANSIENT);
	for (int i = 0; i < NUMBERS; i++)
		sqlite3_bind_int64(statement, i + 2, (int64_t)row.number[i]);
	sqlite3_step(statement);
	return sqlite3_reset(statement);
}

/*
 * Asks the server for the numbers of the log's rows, without the rows of voided attempts. A replica
 * may lack rows that another replica has confirmed, so link_sync() is called first.
 */
static bool query_stored(struct shipment *shipment)
{
	struct link *link = shipment->link;
	struct bytes sql = { .at = NULL };
	bool good;

	bytes_printf(&sql, "SELECT row_name, toInt64(row_pid), toInt64(row_tid), row_thread, "
		     "toUInt64(count()) FROM events_rows WHERE row_source = %" PRIu64 " AND ",
		     shipment->source);
	fleet_counts_sql(link->server.address.database, &sql);
	bytes_str(&sql, " GROUP BY row_name, row_pid, row_tid, row_thread FORMAT RowBinary");
	good = link_query_synced(link, &sql, ANSWER_MOST, has_whole_rows);
	bytes_free(&sql);
	return good;
}

/* Makes the tables of the account agree with the events in the database. */
static bool correct_account(struct shipment *shipment, sqlite3 *db)
{
	const struct bytes *answer = &shipment->link->server.answer;
	sqlite3_stmt *row = NULL;
	size_t at = 0;
	int err;

	if (!query_stored(shipment))
		return false;
	err = sqlite3_exec(db, "CREATE TABLE stored(name TEXT, pid INTEGER, tid INTEGER, "
			   "thread INTEGER, count INTEGER)", NULL, NULL, NULL);
	if (!err)
		err = sqlite3_prepare_v2(db, "INSERT INTO stored VALUES(?, ?, ?, ?, ?)", -1, &row,
					 NULL);
	while (!err && at < answer->used)
		err = add_stored(row, answer, &at);
	sqlite3_finalize(row);
	if (!err)
		err = sqlite3_exec(db, correct_tables, NULL, NULL, NULL);
	if (err)
		say("%s: %s", shipment->log->path, sqlite3_errmsg(db));
	return !err;
}

/* Returns the number of events that were lost by the drop. */
static uint64_t count_dropped(sqlite3 *db)
{
	sqlite3_stmt *row = NULL;
	int64_t count = 0;

	if (!sqlite3_prepare_v2(db, "SELECT coalesce(sum(count), 0) FROM dropped", -1, &row,
				NULL) &&
	    sqlite3_step(row) == SQLITE_ROW)
		count = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return count < 0 ? 0 : (uint64_t)count;
}

/* Sends the account, unless the database has the account or the summary of the whole log. */
static bool send_account(struct shipment *shipment, sqlite3 *db)
{
	uint64_t dropped;

	if (summary_is_sent(&shipment->position, SUMMARY_ACCOUNT))
		return true;
	if (!correct_account(shipment, db) || !summary_send_tables(shipment, db, SUMMARY_ACCOUNT))
		return false;
	dropped = count_dropped(db);
	out_printf(&out_stdout, "%s: %" PRIu64 " event%s dropped before they were shipped, %" PRIu64
		   " in all\n", shipment->log->path, dropped,
		   dropped == 1 ? " was" : "s were", shipment->position.events);
	return true;
}

static int ship_account(struct shipment *shipment, sqlite3 *db, bool is_last)
{
	enum state_result result = shipment_start(shipment);
	bool good;

	if (result == STATE_BUSY)
		return shipment_busy(shipment->log->path, is_last, &shipment->state);
	if (result != STATE_OK)
		return TOOL_FAILURE;
	good = send_account(shipment, db);
	if (good)
		shipment->state = SHIPMENT_ENDED;
	position_close(&shipment->position);
	return good ? TOOL_OK : TOOL_FAILURE;
}

/*
 * Ships the account of one log; of the type shipment_once. This account may be a part of a merged
 * account.
 */
static int ship_part(const struct shipment_plan *plan, enum shipment_state *state, bool *again)
{
	struct shipment shipment = { .options = plan->options, .link = plan->link,
				     .made = plan->link->made, .state = SHIPMENT_MORE };
	struct posix_trace_loginfo_np info;
	int status = TOOL_FAILURE;
	sqlite3 *db = NULL;

	shipment.log = &shipment.only.file;
	shipment.log->path = plan->path;
	shipment.position.state.fd = -1;
	*state = SHIPMENT_FAULTY;
	if (account_read(plan->path, plan->part, plan->parts, &db, &info)) {
		shipment_identify(&shipment, &info);
		status = ship_account(&shipment, db, plan->is_last);
		*state = shipment.state;
	}
	sqlite3_close(db);
	*again = !shipment_is_current(&shipment) && !ship_stopped;
	return status;
}

/*
 * Removes an account that the database has. If another process merges accounts now, or has added an
 * account meanwhile, the file remains and is shipped again. While ship waited for the server,
 * another process may also have merged the account and dropped a later log of the same name. In
 * this case the path has the account of the later log, which the database lacks, so this file
 * remains.
 */
static int remove_account(const char *path, const struct stat *was, enum shipment_state *state)
{
	if (account_merged_number(path_last(path))) {
		if (!account_remove_merged(path, was))
			*state = SHIPMENT_BUSY;
		return TOOL_OK;
	}
	if (!access(path, F_OK) && !account_is_unchanged(path, was)) {
		*state = SHIPMENT_BUSY;
		return TOOL_OK;
	}
	if (!unlink(path) || errno == ENOENT)
		return TOOL_OK;
	say("%s: %s", path, strerror(errno));
	return TOOL_FAILURE;
}

/*
 * If another process ships one log of a merged account, or if the part of a log is wrong, the
 * function ships the other logs nevertheless.
 */
int dropped_run(const struct ship_options *options, struct link *link, const char *path,
		bool is_last, enum shipment_state *state)
{
	int status = TOOL_OK;
	size_t parts = 1;
	struct stat st;

	*state = SHIPMENT_ENDED;
	if (lstat(path, &st)) {
		say("%s: %s", path, strerror(errno));
		*state = SHIPMENT_FAULTY;
		return TOOL_FAILURE;
	}
	for (size_t part = 1; part <= parts && !ship_stopped; part++) {
		const struct shipment_plan plan = { options, link, path, is_last, part, &parts };
		enum shipment_state of_part;
		int now = shipment_repeat(&plan, ship_part, &of_part);

		status = tool_worse(status, now);
		if (of_part != SHIPMENT_ENDED)
			*state = of_part;
		/*
		 * The database or the folder of positions has failed, and would fail again for the
		 * next log.
		 */
		if (now == TOOL_FAILURE && of_part == SHIPMENT_MORE)
			break;
	}
	if (ship_stopped && *state == SHIPMENT_ENDED)
		*state = SHIPMENT_MORE;
	if (*state == SHIPMENT_ENDED)
		status = tool_worse(status, remove_account(path, &st, state));
	return status;
}
