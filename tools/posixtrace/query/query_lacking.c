/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_lacking.c - compares sums of a table with the sums in the summaries of the logs.
 *
 * The command ship sends the row of the table logs after all other small tables. So if the server
 * has this row of a log, ship has sent the whole ledger of the log, and a smaller sum means that
 * this server lacks rows.
 */
#include "query/query_lacking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"
#include "query/fleet.h"
#include "query/query_schema.h"

#define SUMS_BYTES ((size_t)1 << 28)

/* The sum of a column over the rows of one log. */
struct sum {
	uint64_t source, value;
};

struct sums {
	struct sum *sum;
	size_t count;
};

/*
 * For each table: a column of streams, and the expression and the condition that compute the same
 * sum from the rows of the table.
 */
static const struct comparison {
	const char *column, *expression, *condition;
} comparisons[QUERY_TABLES] = {
	[QUERY_LEDGER] = { "called", "count", " AND term = 'called'" },
	[QUERY_LOSSES] = { "lost", "lost", "" },
	[QUERY_TYPES] = { "events", "events", "" },
};

static int by_source(const void *x, const void *y)
{
	const struct sum *a = x, *b = y;

	return (a->source > b->source) - (a->source < b->source);
}

/*
 * Appends the request for the sum of a column for each log. The table logs lists the logs whose
 * rows the server should have.
 */
static void put_sums(const char *database, const char *table, const char *column,
		     const char *condition, struct bytes *sql)
{
	bytes_printf(sql, "SELECT row_source, toInt64(sum(ifNull(`%s`, 0))) FROM %s_rows WHERE ",
		     column, table);
	fleet_counts_sql(database, sql);
	bytes_printf(sql, "%s AND row_source IN (SELECT row_source FROM logs_rows WHERE ",
		     condition);
	fleet_counts_sql(database, sql);
	bytes_str(sql, ") GROUP BY row_source FORMAT RowBinary");
	bytes_add(sql, "", 1);
}

/*
 * Adds the sums of the table, and sorts all sums by their sources. Returns false after it printed
 * an error.
 */
static bool fetch_sums(struct server *server, const char *table, const char *column,
		       const char *condition, struct sums *sums)
{
	struct bytes sql = { .at = NULL };
	size_t at = 0;
	bool good;

	put_sums(server->address.database, table, column, condition, &sql);
	good = !sql.failed;
	if (!good)
		say("%s", strerror(ENOMEM));
	else if (server_request(server, sql.at, NULL, SUMS_BYTES) != SERVER_OK) {
		say("%s", server->reason);
		good = false;
	}
	bytes_free(&sql);
	while (good && at < server->answer.used) {
		struct sum *sum;

		if (!vec_grow(&sums->sum, sums->count, 1)) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		sum = &sums->sum[sums->count++];
		good = server_get_u64(&server->answer, &at, &sum->source) &&
		       server_get_u64(&server->answer, &at, &sum->value);
		if (!good)
			say("the answer of the server about %s is cut or wrong", table);
	}
	if (good && sums->count)
		qsort(sums->sum, sums->count, sizeof(*sums->sum), by_source);
	return good;
}

/*
 * Counts the logs whose sum is less than in their summary. Both arrays are sorted. If "found" has
 * several sums of a log, they are added up.
 */
static size_t count_lacking(const struct sums *wanted, const struct sums *found, uint64_t *lacking)
{
	size_t at = 0, logs = 0;

	*lacking = 0;
	for (size_t i = 0; i < wanted->count; i++) {
		const struct sum *want = &wanted->sum[i];
		uint64_t value = 0;

		while (at < found->count && found->sum[at].source < want->source)
			at++;
		while (at < found->count && found->sum[at].source == want->source)
			value += found->sum[at++].value;
		if (value < want->value) {
			*lacking += want->value - value;
			logs++;
		}
	}
	return logs;
}

/*
 * An older version of ship sent no rows of losses with the empty name, for lost events of unknown
 * type. It sent these losses in the ledger only. For the logs of such a version, this function adds
 * these losses to "found". Returns false after it printed an error.
 *
 * The rows of losses of a log arrive together. So if the server has no such row of a log, the rows
 * may be late, and the losses of this log are not added.
 */
static bool add_older(struct server *server, struct sums *found)
{
	return fetch_sums(server, query_schema[QUERY_LEDGER].name, "count",
			  " AND name = '' AND term LIKE 'lost: %' AND row_source IN "
			  "(SELECT row_source FROM losses_rows WHERE name <> '') AND row_source "
			  "NOT IN (SELECT row_source FROM losses_rows WHERE name = '')", found);
}

bool query_lacks(struct server *server, int table)
{
	const struct comparison *of = table < QUERY_TABLES ? &comparisons[table] : NULL;
	struct sums wanted = { NULL, 0 }, found = { NULL, 0 };
	uint64_t lacking = 0, older;
	size_t logs = 0, older_logs;
	bool good;

	if (!of || !of->column)
		return false;
	good = fetch_sums(server, "streams", of->column, "", &wanted) &&
	       fetch_sums(server, query_schema[table].name, of->expression, of->condition, &found);
	if (good)
		logs = count_lacking(&wanted, &found, &lacking);
	if (logs && table == QUERY_LOSSES) {
		older = lacking;
		older_logs = logs;
		good = add_older(server, &found);
		logs = good ? count_lacking(&wanted, &found, &lacking) : 0;
		if (good && !logs)
			say("the table losses lacks %" PRIu64 " lost event%s of unknown type, "
			    "because an older version of ship has sent %zu log%s; the table "
			    "ledger has these events, with the empty name", older,
			    text_plural(older), older_logs, text_plural(older_logs));
	}
	if (good && logs && table == QUERY_LOSSES)
		say("the table ledger has lost events of unknown type, with the empty name, even "
		    "if an older version of ship has sent the log");
	if (!good)
		say_warning("it is not known whether the table %s of the database has all its rows",
			    query_schema[table].name);
	else if (logs)
		say_warning("the table %s of the database lacks rows of %zu log%s: %" PRIu64 " of "
			    "the events that are %s in the table streams: try again when this "
			    "replica has them, or ask another host", query_schema[table].name,
			    logs, logs == 1 ? "" : "s", lacking,
			    strcmp(of->column, "events") ? of->column : "counted");
	free(wanted.sum);
	free(found.sum);
	return !good || logs;
}
