/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query.c - the command query: SQL statements over logs. */
#include "query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "query/query_columns.h"
#include "query/query_fleet.h"
#include "query/query_schema.h"
#include "query/query_weighted.h"
#include "symbols/symbols.h"

extern const struct tool_command query_command;

/*
 * A limit for SQLite's memory, so that a statement with millions of groups ends with a message
 * before it uses up the machine's memory. Sorting needs no limit, because SQLite sorts in temporary
 * files if necessary.
 */
#define HEAP_BYTES (40 * 1024 * 1024)

/* Set by the signal handler of SIGINT. The progress handler and the loops over events read it. */
volatile sig_atomic_t query_interrupted;

/*
 * The values of the options. query_run() sets them before the logs are opened; later they are
 * constant.
 */
static struct {
	enum query_form form;
	enum when_form when;
	bool tables;
	const char *at;   /* the URL of a fleet's database; NULL: logs */
} options;

static void query_interrupt(int number)
{
	(void)number;
	query_interrupted = 1;
}

/*
 * SQLite calls this function regularly, because sqlite3_progress_handler() registers it. If the
 * result is not 0, SQLite ends the statement with SQLITE_INTERRUPT.
 */
static int query_progress(void *arg)
{
	(void)arg;
	return query_interrupted;
}

/* ------------------------------------------------------------------ what is allowed */

/*
 * The authorizer, which allows only reading. While SQLite prepares a statement, SQLite calls this
 * function for each action, also for the actions of subqueries. So the tool need not examine the
 * text of the statement. For query_weighted_fits(), this function also collects the SQL functions
 * that the statement calls. It notes whether the statement reads the table of stacks.
 */
static int query_authorize(void *arg, int action, const char *a, const char *b, const char *c,
			   const char *d)
{
	struct query *query = arg;

	(void)c;
	(void)d;
	if (action == SQLITE_FUNCTION && b)
		query_weighted_function(query, b);
	if (action == SQLITE_READ && a && !sqlite3_stricmp(a, query_schema[QUERY_STACKS].name))
		query->reads_stacks = true;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && !sqlite3_stricmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA: /* the table function pragma_table_info() uses this pragma */
		return a && !sqlite3_stricmp(a, "table_info") ? SQLITE_OK : SQLITE_DENY;
	}
	return SQLITE_DENY;
}

/* ------------------------------------------------------------------ errors */

/*
 * Prints the reason of an error, the line of the statement that has the error, and a caret below
 * it. If the place of the error is unknown, only the reason is printed.
 */
static int say_wrong(const char *sql, int offset, const char *reason)
{
	static const char blanks[121] =
		"                                                                                "
		"                                        ";
	size_t begin, len, line = 1, shown;

	if (offset < 0 || (size_t)offset > strlen(sql)) {
		say("query: %s", reason);
		return TOOL_USAGE;
	}
	begin = (size_t)offset;
	while (begin && sql[begin - 1] != '\n')
		begin--;
	for (size_t i = 0; i < begin; i++)
		line += sql[i] == '\n';
	say("query:%zu:%zu: %s", line, (size_t)offset - begin + 1, reason);
	shown = begin; /* at most 100 bytes of the line are shown before the error */
	if ((size_t)offset - begin > 100)
		shown = (size_t)offset - 100;
	len = strcspn(sql + shown, "\n");
	say("  %.*s", (int)(len < 120 ? len : 120), sql + shown);
	say("  %.*s^", (int)((size_t)offset - shown), blanks);
	return TOOL_USAGE;
}

/*
 * Prints SQLite's last error. The offset and the message of the error are read before query_hint()
 * is called. query_hint() runs statements, which replace the offset and the message.
 */
static int say_sqlite(sqlite3 *db, const char *sql, int err)
{
	char reason[512], hinted[1024];
	int offset;

	if (err == SQLITE_AUTH)
		return say_wrong(sql, sqlite3_error_offset(db),
				 "only SELECT is possible, because logs are not changed");
	offset = sqlite3_error_offset(db);
	snprintf(reason, sizeof(reason), "%s", sqlite3_errmsg(db));
	snprintf(hinted, sizeof(hinted), "%s%s", reason, query_hint(db, reason));
	return say_wrong(sql, offset, hinted);
}

/*
 * Prints why a statement failed. After an interrupt it prints nothing, because end_interrupted()
 * prints the message.
 */
static int say_failed(sqlite3 *db, int err)
{
	if (err == SQLITE_NOMEM)
		say("query: the statement needs more memory than its limit (%d MiB)",
		    HEAP_BYTES >> 20);
	else if (err != SQLITE_INTERRUPT)
		say("query: %s", sqlite3_errmsg(db));
	return TOOL_FAILURE;
}

/* ------------------------------------------------------------------ the statement */

/* Returns true if anything except for blanks, comments and semicolons follows the statement. */
static bool has_more(sqlite3 *db, const char *tail)
{
	sqlite3_stmt *second = NULL;
	bool more = sqlite3_prepare_v2(db, tail, -1, &second, NULL) != SQLITE_OK || second;

	sqlite3_finalize(second);
	return more;
}

/*
 * Returns true if SQLite executes an OR by several scans of a table. If two scans find the same
 * row, SQLite recognizes the row by its number. In the table "events", the number of a row is its
 * position in the scan. So a row has the same number in two scans only if both scans return all
 * rows. For such a statement query->plain is set, and all scans then ignore the conditions.
 */
static bool scans_by_parts(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *plan = NULL;
	char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	bool parts = false;

	if (explain && !sqlite3_prepare_v2(db, explain, -1, &plan, NULL))
		while (!parts && sqlite3_step(plan) == SQLITE_ROW) {
			const char *detail = (const char *)sqlite3_column_text(plan, 3);

			parts = detail && strstr(detail, "MULTI-INDEX OR");
		}
	sqlite3_finalize(plan);
	sqlite3_free(explain);
	return parts;
}

/*
 * Prepares and executes the statement. While SQLite prepares the statement, SQLite calls
 * xBestIndex, which depends on whether rows have weights (query_weighted.h). So
 * query_weighted_fits() decides that first. sqlite3_stmt_readonly() returns whether the prepared
 * statement only reads, so this function does not examine the text.
 */
static int run_statement(sqlite3 *db, struct query *query, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	const char *tail;
	int status = TOOL_OK, err;

	sqlite3_set_authorizer(db, query_authorize, query);
	query->plain = scans_by_parts(db, sql);
	if (query->reads_stacks && !query->remote) {
		sqlite3_set_authorizer(db, NULL, NULL);
		err = query_tables_stacks(db, query);
		if (err)
			return say_failed(db, err);
		sqlite3_set_authorizer(db, query_authorize, query);
	}
	if (!query->plain)
		query->weighted = query_weighted_fits(query, db, sql);
	err = sqlite3_prepare_v2(db, sql, -1, &statement, &tail);

	if (err)
		return say_sqlite(db, sql, err);
	if (!statement)
		return say_wrong(sql, 0, "no statement");
	while (*tail == ';' || *tail == ' ' || *tail == '\n' || *tail == '\t')
		tail++;
	if (*tail && has_more(db, tail)) {
		status = say_wrong(sql, (int)(tail - sql), "only one statement is possible");
	} else if (!sqlite3_stmt_readonly(statement) || !sqlite3_column_count(statement)) {
		status = say_wrong(sql, 0, "only SELECT is possible, because logs are not changed");
	} else {
		meter_begin(&query->meter, query->events, false);
		err = query_print(statement, options.form);
		meter_end(&query->meter);
		if (err != SQLITE_DONE && !out_stdout.err)
			status = say_failed(db, err);
	}
	sqlite3_finalize(statement);
	query_weighted_end(query);
	return status;
}

/*
 * pragma_table_xinfo() also lists hidden columns. The statement may use it, because the authorizer
 * is not set yet.
 */
static int list_tables(sqlite3 *db)
{
	static const char sql[] =
		"SELECT m.name AS \"table\", i.name AS \"column\", i.type FROM sqlite_schema AS m, "
		"pragma_table_xinfo(m.name) AS i WHERE m.type IN ('table', 'view') "
		"ORDER BY m.rowid, i.cid";
	sqlite3_stmt *statement = NULL;
	int err = sqlite3_prepare_v2(db, sql, -1, &statement, NULL), status = TOOL_OK;

	if (!err)
		err = query_print(statement, options.form);
	if (err != SQLITE_DONE && !out_stdout.err)
		status = say_failed(db, err);
	sqlite3_finalize(statement);
	return status;
}

/* ------------------------------------------------------------------ the log */

/*
 * SQLite creates these virtual tables when a statement first uses them. The authorizer would refuse
 * the creation, so this function uses each table once before the authorizer is set.
 */
static void connect_tables(sqlite3 *db)
{
	static const char *const sql[] = {
		"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')",
		"SELECT 1 FROM pragma_table_info('events')",
	};

	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++)
		sqlite3_exec(db, sql[i], NULL, NULL, NULL);
}

/*
 * Opens a database in memory, makes the tables and executes the statement. The database needs no
 * mutexes, because only one thread uses it. SQLITE_LIMIT_ATTACHED is 0, so that no statement can
 * attach a file.
 */
static int query_answer(struct query *query, const char *sql)
{
	sqlite3 *db = NULL;
	int status, err;

	sqlite3_hard_heap_limit64(HEAP_BYTES);
	err = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
			      SQLITE_OPEN_NOMUTEX, NULL);
	if (!err)
		err = query->remote ? query_fleet_tables(db, query) : query_tables(db, query);
	if (!err)
		err = query_functions(db, query);
	if (err) {
		status = db ? say_failed(db, err) : TOOL_FAILURE;
	} else {
		sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
		connect_tables(db);
		sqlite3_progress_handler(db, 10000, query_progress, NULL);
		if (options.tables)
			status = list_tables(db);
		else
			status = run_statement(db, query, sql);
	}
	sqlite3_close(db);
	return status;
}

/*
 * Computes the times of the first and the last event of all logs, which at() needs, and the columns
 * of the fields. Returns false if memory is lacking.
 */
static bool query_prepare(struct query *query)
{
	for (unsigned i = 0; i < query->logs; i++) {
		struct query_log *log = &query->log[i];
		const struct posix_trace_loginfo_np *info = &log->file.info;

		log->events_of = calloc(log->file.types + 1, sizeof(*log->events_of));
		if (!log->events_of)
			return false;
		if (i == 0 || info->first_ns < query->first_ns)
			query->first_ns = info->first_ns;
		if (i == 0 || info->last_ns > query->last_ns)
			query->last_ns = info->last_ns;
	}
	return query_fields_read(query);
}

/*
 * Returns the exit status for a log. If the reader skipped damaged parts of the log, the statement
 * still has results. TOOL_DAMAGED shows that these results may be incomplete.
 */
static int how_whole(const struct query_log *log)
{
	if (log->gap)
		say("%s: damaged; 'posixtrace verify' says where", log->file.path);
	return log->gap || !log->file.whole || !log->file.info.complete ? TOOL_DAMAGED : TOOL_OK;
}

/*
 * Executes the statement on the open logs and returns the exit status. If the statement fails, only
 * the failure determines the status. Damage of the logs is considered only if there are results.
 */
static int query_logs(struct query *query, const char *sql)
{
	int status = TOOL_FAILURE;

	if (query_prepare(query))
		status = query_answer(query, sql);
	else
		say("%s", strerror(ENOMEM));
	for (unsigned i = 0; i < query->logs && (status == TOOL_OK || status == TOOL_DAMAGED); i++)
		status = tool_worse(status, how_whole(&query->log[i]));
	query_fields_forget(query);
	for (unsigned i = 0; i < query->logs; i++)
		free(query->log[i].events_of);
	return status;
}

/*
 * Installs the handler of SIGINT. If SIGINT is ignored, as in a background command of a shell,
 * SIGINT remains ignored.
 */
static void catch_interrupt(void)
{
	struct sigaction action = { .sa_handler = query_interrupt }, before;

	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

/*
 * After an interrupt, writes the rows that are still in the buffer, and ends the process by SIGINT.
 */
static void end_interrupted(void)
{
	out_flush(&out_stdout);
	say("query: interrupted");
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}

/*
 * Opens all logs before the statement runs. So if any log cannot be opened, the command has not
 * printed a part of a result.
 */
static int open_and_query(char **paths, unsigned count, const char *sql)
{
	struct query query = { .when = options.when };
	int status = TOOL_OK;

	query.log = calloc(count, sizeof(*query.log));
	if (!query.log) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	while (!status && query.logs < count) {
		status = logfile_open(&query.log[query.logs].file, paths[query.logs], NULL);
		query.logs += !status;
	}
	if (!status) {
		catch_interrupt();
		status = query_logs(&query, sql);
	}
	for (unsigned i = 0; i < query.logs; i++)
		logfile_close(&query.log[i].file);
	free(query.log);
	if (query_interrupted)
		end_interrupted();
	return status;
}

/* Executes the statement in a fleet's database. No logs are opened. */
static int query_fleet(const char *sql)
{
	struct query query = { .when = options.when };
	int status = TOOL_FAILURE;

	catch_interrupt();
	if (query_fleet_open(&query, options.at))
		status = query_logs(&query, sql);
	if (query.lacks && status == TOOL_OK)
		status = TOOL_DAMAGED;
	query_fleet_close(&query);
	if (query_interrupted)
		end_interrupted();
	return status;
}

enum {
	OPT_AT = 256,
	OPT_CSV,
	OPT_JSON,
	OPT_TABLES,
	OPT_UTC,
};

static const struct option_row option_rows[] = {
	{ "at", OPT_AT, "URL", "instead of logs, the database to which ship has sent them: "
		"clickhouse://HOST[:PORT]/DATABASE" },
	{ "csv", OPT_CSV, NULL, "comma-separated values, with a header", .excludes = "json" },
	{ "json", OPT_JSON, NULL, "a JSON object a line" },
	{ "tables", OPT_TABLES, NULL, "only list the tables and their columns" },
	{ "utc", OPT_UTC, NULL, "at() and stamp() in UTC" },
	{ .rows = symbols_rows },
	OPTION_HELP,
	OPTION_END
};

/*
 * The operands are the logs and, behind them, the statement. Users often write the statement before
 * the logs. The function recognizes this mistake: the first operand is not a file, but the last
 * operand is a file.
 */
static int query_run(int argc, char **argv)
{
	int option;

	while ((option = tool_option(argc, argv, &query_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&query_command);
		case OPT_AT:
			options.at = optarg;
			break;
		case OPT_CSV:
			options.form = QUERY_CSV;
			break;
		case OPT_JSON:
			options.form = QUERY_JSON;
			break;
		case OPT_TABLES:
			options.tables = true;
			break;
		case OPT_UTC:
			options.when = WHEN_UTC;
			break;
		default:
			if (!symbols_option(option, optarg))
				return tool_usage(&query_command);
		}
	}
	if (options.at) {
		if (argc - optind == (options.tables ? 0 : 1))
			return query_fleet(argv[optind]);
		say("query: %s", argc == optind ? "the SQL statement is missing"
						: "--at accepts no LOG beside the database");
		return tool_usage(&query_command);
	}
	if (argc - optind < (options.tables ? 1 : 2)) {
		say("query: %s is missing",
		    argc == optind ? "the name of a log" : "the SQL statement");
		return tool_usage(&query_command);
	}
	if (!options.tables && access(argv[optind], F_OK) && !access(argv[argc - 1], F_OK)) {
		say("query: the statement must follow the logs");
		return tool_usage(&query_command);
	}
	if (options.tables)
		return open_and_query(argv + optind, (unsigned)(argc - optind), NULL);
	return open_and_query(argv + optind, (unsigned)(argc - optind - 1), argv[argc - 1]);
}

const struct tool_command query_command = {
	.name = "query",
	.usage = "[OPTION]... LOG... STATEMENT\n"
		 "[OPTION]... --at URL STATEMENT\n"
		"--tables LOG...",
	.about =
		"Answers a question in SQL, in the dialect of SQLite, about each LOG (- is "
		"standard input). The logs are not changed and no database is written: the logs "
		"are read as the statement needs them.\n"
		"\n"
		"  events    time name type pid tid thread address level len data flags log, "
		"and each\n"
		"            field of the schemas, NULL for events without it. Not in *, "
		"because they\n"
		"            take longer: function source line module, for the event's address\n"
		"  spans     span kind begin end duration cpu pid tid begin_tid event\n"
		"  types     type name events called lost level role span schema\n"
		"  threads   pid tid thread events called lost\n"
		"  losses    name cause lost\n"
		"  objects   kind pid pointer name since\n"
		"  streams   name pid host clock hz created first last events called lost "
		"complete bytes\n"
		"  ledger    host pid name term count\n"
		"  stored    host pid name count: how many events the logs have\n"
		"  rates     minute host name events\n"
		"  durations minute host name spans p50 p95 p99 longest\n"
		"  logs      uuid host pid begun complete\n"
		"  hosts     host boot\n"
		"  clocks    host boot clock hz resolution begun\n"
		"\n"
		"All tables except rates and durations have the column log, the name of the log. "
		"Times are nanoseconds since 1970, durations nanoseconds. at('+1.5s') is a TIME "
		"as for dump, stamp(time) prints one. Conditions on time use the indexes of the "
		"logs.",
	.options = option_rows,
	.notes = "  posixtrace query LOG 'select name, count(*) from events group by name'\n"
		 "  posixtrace query LOG \"select fd, sum(len) from events where name glob "
		 "'io.*' group by fd\"\n"
		 "\n"
		 "Exit status: 0 ok, 1 failure, 2 usage or a wrong statement, 3 damaged or never "
		 "closed.",
	.operands = OPTION_LOG,
	.run = query_run,
};
