/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fetch_find.c - finds the logs of the database that a command reads. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "base/when.h"
#include "fetch/fetch_part.h"
#include "query/fleet.h"

#define LIST_BYTES ((size_t)1 << 28)
#define UUID_SHOWN 8 /* number of digits of a UUID in a short name */
#define NAMES_MOST 4 /* number of names that a log can have, each longer than the name before */
#define UUIDS_ASKED 1000

/* ------------------------------------------------------------------ the list */

/*
 * Returns true if the pattern of --host means exactly one host, so that the server can search for
 * this host.
 */
static bool is_plain(const char *pattern)
{
	return !pattern[strcspn(pattern, "*?[\\")];
}

/* Appends a condition on the hosts, if no pattern of --host has wildcards. */
static void put_hosts(struct bytes *sql)
{
	const struct choose_names *host = &fetch.at->host;

	for (size_t i = 0; i < host->count; i++)
		if (!is_plain(host->glob[i]))
			return;
	for (size_t i = 0; i < host->count; i++) {
		bytes_str(sql, i ? ", " : " AND row_host IN (");
		bytes_quoted(sql, host->glob[i], strlen(host->glob[i]));
	}
	bytes_str(sql, host->count ? ")" : "");
}

/*
 * Appends conditions on the times of the logs. A log that is not complete may have events that are
 * later than the last time of its summary. Bounds that are relative to a log are compared later,
 * for each log.
 */
static void put_range(struct bytes *sql)
{
	const struct wanted *wanted = fetch.at->wanted;

	if (wanted->end.kind == BOUND_TIME)
		bytes_printf(sql, " AND `first` <= toInt64('%" PRId64 "')", wanted->end.ns);
	if (wanted->begin.kind == BOUND_TIME)
		bytes_printf(sql, " AND (`last` >= toInt64('%" PRId64 "') OR complete = 0)",
			     wanted->begin.ns);
}

static bool read_log(struct fetch_row *row, struct fetch_log *log)
{
	log->source = fetch_u64(row);
	log->host = fetch_copy(row);
	log->log = fetch_copy(row);
	log->stream = fetch_copy(row);
	log->clock = fetch_copy(row);
	log->pid = (int64_t)fetch_u64(row);
	log->hz = (int64_t)fetch_u64(row);
	log->created_ns = (int64_t)fetch_u64(row);
	log->first_ns = (int64_t)fetch_u64(row);
	log->last_ns = (int64_t)fetch_u64(row);
	log->events = fetch_u64(row);
	log->called = fetch_u64(row);
	log->lost = fetch_u64(row);
	/* A negative number is wrong, so the summary is not compared with the ledger. */
	log->called = log->called > INT64_MAX ? 0 : log->called;
	log->lost = log->lost > INT64_MAX ? 0 : log->lost;
	log->is_complete = fetch_u64(row) != 0;
	return !row->failed;
}

/*
 * Fetches the list of the logs of the hosts in the range. A log always has a value in the column
 * "first", so the conditions of put_range() compare no NULL.
 */
static bool list_logs(void)
{
	struct bytes sql = { .at = NULL };
	struct fetch_row row = { .at = 0 };

	bytes_str(&sql, "SELECT row_source, row_host, ifNull(`log`, ''), ifNull(name, ''), "
		  "ifNull(clock, ''), toInt64(ifNull(pid, 0)), toInt64(ifNull(hz, 0)), "
		  "toInt64(ifNull(created, 0)), toInt64(ifNull(`first`, 0)), "
		  "toInt64(ifNull(`last`, 0)), toInt64(ifNull(events, 0)), "
		  "toInt64(ifNull(called, 0)), toInt64(ifNull(lost, 0)), "
		  "toInt64(ifNull(complete, 0))");
	fetch_from("streams_rows", &sql);
	put_hosts(&sql);
	put_range(&sql);
	bytes_str(&sql, " ORDER BY row_host, `first`, `log`, row_source");
	if (!fetch_request(&sql, LIST_BYTES))
		return false;
	while (fetch_has_row(&row)) {
		if (!vec_grow(&fetch.log, fetch.logs, 1)) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		if (!read_log(&row, &fetch.log[fetch.logs++]))
			return fetch_say_wrong("streams");
	}
	return true;
}

static int by_source(const void *x, const void *y)
{
	const struct fetch_log *const *a = x, *const *b = y;

	return (*a)->source < (*b)->source ? -1 : (*a)->source > (*b)->source;
}

/*
 * Stores the UUIDs of the answer in the logs. The array "sorted" has the logs in the order of the
 * member "source".
 */
static bool read_uuids(struct fetch_log **sorted)
{
	struct fetch_row row = { .at = 0 };

	while (fetch_has_row(&row)) {
		struct fetch_log key = { .source = fetch_u64(&row) }, *wanted = &key, **found;

		fetch_string(&row, key.uuid, sizeof(key.uuid));
		found = bsearch(&wanted, sorted, fetch.logs, sizeof(*sorted), by_source);
		if (found) {
			strcpy((*found)->uuid, key.uuid);
			(*found)->is_listed = true;
		}
	}
	return !row.failed || fetch_say_wrong("logs");
}

/*
 * Fetches the UUIDs. If the list has few logs, the request contains the number of each log, because
 * the database may have many other logs.
 */
static bool list_uuids(void)
{
	struct fetch_log **sorted = calloc(fetch.logs + 1, sizeof(*sorted));
	struct bytes sql = { .at = NULL };
	bool good = sorted != NULL;

	for (size_t i = 0; good && i < fetch.logs; i++)
		sorted[i] = &fetch.log[i];
	if (good)
		qsort(sorted, fetch.logs, sizeof(*sorted), by_source);
	else
		say("%s", strerror(ENOMEM));
	bytes_str(&sql, "SELECT row_source, ifNull(uuid, '')");
	fetch_from("logs_rows", &sql);
	put_hosts(&sql);
	for (size_t i = 0; fetch.logs <= UUIDS_ASKED && i < fetch.logs; i++)
		bytes_printf(&sql, "%s%" PRIu64, i ? ", " : " AND row_source IN (",
			     fetch.log[i].source);
	if (fetch.logs && fetch.logs <= UUIDS_ASKED)
		bytes_str(&sql, ")");
	if (good && fetch.logs)
		good = fetch_request(&sql, LIST_BYTES) && read_uuids(sorted);
	bytes_free(&sql);
	free(sorted);
	return good;
}

static void free_log(struct fetch_log *log)
{
	free(log->name);
	free(log->host);
	free(log->log);
	free(log->stream);
	free(log->clock);
}

/*
 * Removes the logs that the table of logs lacks. The command ship sends the row of this table after
 * the ledger. So if a log has no such row, it may lack losses or types, for example because ship
 * was killed.
 */
static void drop_unlisted(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < fetch.logs; i++)
		if (fetch.log[i].is_listed)
			fetch.log[kept++] = fetch.log[i];
		else
			free_log(&fetch.log[i]);
	fetch.logs = kept;
}

static int by_name(const void *x, const void *y)
{
	const struct fetch_log *const *a = x, *const *b = y;

	return strcmp((*a)->name, (*b)->name);
}

/*
 * Gives the log the name with this index. A greater index means a longer name. Returns false if
 * memory is lacking.
 */
static bool put_name(struct fetch_log *log, unsigned name)
{
	static const int digits[NAMES_MOST] = { 0, UUID_SHOWN, 32, 32 };
	char number[24] = "";

	/* Only logs without a UUID need the number. */
	if (name == NAMES_MOST - 1)
		snprintf(number, sizeof(number), "@%" PRIu64, log->source);
	free(log->name);
	if (asprintf(&log->name, "%s:%s%s%.*s%s", log->host, log->log, name ? "@" : "",
		     digits[name], log->uuid, number) < 0)
		log->name = NULL;
	return log->name != NULL;
}

/* Returns whether a neighbour of this log in the sorted array has the same name. */
static bool is_same_name(struct fetch_log **sorted, size_t i)
{
	return (i && !by_name(&sorted[i - 1], &sorted[i])) ||
	       (i + 1 < fetch.logs && !by_name(&sorted[i], &sorted[i + 1]));
}

/*
 * Gives each log the shortest name that no other log has. Since a host and a log may contain colons
 * and the sign @, the whole names are compared. Returns false if memory is lacking.
 */
static bool name_logs(void)
{
	struct fetch_log **sorted = calloc(fetch.logs + 1, sizeof(*sorted));
	bool *is_same = calloc(fetch.logs + 1, sizeof(*is_same));
	bool good = sorted && is_same, any = true;

	for (size_t i = 0; good && i < fetch.logs; i++) {
		sorted[i] = &fetch.log[i];
		is_same[i] = true;
	}
	for (unsigned name = 0; good && any && name < NAMES_MOST; name++) {
		any = false;
		for (size_t i = 0; good && i < fetch.logs; i++)
			good = !is_same[i] || put_name(sorted[i], name);
		if (good)
			qsort(sorted, fetch.logs, sizeof(*sorted), by_name);
		for (size_t i = 0; good && i < fetch.logs; i++) {
			is_same[i] = is_same_name(sorted, i);
			any |= is_same[i];
		}
	}
	free(is_same);
	free(sorted);
	return good;
}

/* ------------------------------------------------------------------ the choice */

/*
 * Returns true if the pattern matches the name of a log. A pattern without a slash also matches the
 * last part of a path.
 */
static bool matches_name(const char *pattern, const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0) ||
	       (slash && !strchr(pattern, '/') && !fnmatch(pattern, slash + 1, 0));
}

/*
 * Returns true if the pattern [HOST:]NAME or HOST: matches the log. Both parts may contain colons.
 */
static bool matches_log(char *pattern, const struct fetch_log *log)
{
	bool matches = matches_name(pattern, log->log);
	char *colon = strchr(pattern, ':');

	for (; colon && !matches; colon = strchr(colon + 1, ':')) {
		*colon = '\0';
		matches = !fnmatch(pattern, log->host, 0) &&
			  (!colon[1] || matches_name(colon + 1, log->log));
		*colon = ':';
	}
	return matches;
}

/*
 * Returns true if the operand [HOST:][NAME][@UUID] chooses the log. UUID consists of at least the
 * first 4 digits of the log's UUID.
 */
static bool chooses_log(char *operand, const struct fetch_log *log)
{
	char *sign = strrchr(operand, '@');
	bool chooses = !strcmp(operand, log->name) || matches_log(operand, log);

	if (chooses || !sign || strlen(sign + 1) < 4 ||
	    strncmp(sign + 1, log->uuid, strlen(sign + 1)) != 0)
		return chooses;
	*sign = '\0';
	chooses = !*operand || matches_log(operand, log);
	*sign = '@';
	return chooses;
}

static bool is_host_chosen(const struct fetch_log *log)
{
	const struct choose_names *host = &fetch.at->host;

	for (size_t i = 0; i < host->count; i++)
		if (!fnmatch(host->glob[i], log->host, 0))
			return true;
	return !host->count;
}

/* Adds the log to the results, unless an earlier operand has chosen it. */
static bool choose_log(struct fetch_log *log)
{
	struct at *at = fetch.at;
	char **path;

	if (log->is_chosen)
		return true;
	if (!vec_grow(&at->path, at->paths, 1)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	path = at->path;
	path[at->paths++] = log->name;
	log->is_chosen = true;
	return true;
}

/* Returns the part of a name behind the host and the folders. */
static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/'), *colon = strrchr(name, ':');

	return slash ? slash + 1 : colon ? colon + 1 : name;
}

/* Prints that an operand chooses no log, and a similar name if there is one. */
static int say_no_log(const char *operand)
{
	struct nearest nearest;

	nearest_begin(&nearest, last_part(operand));
	for (size_t i = 0; i < fetch.logs; i++)
		nearest_offer(&nearest, last_part(fetch.log[i].name));
	say("%s: the database %s has no such log%s%s", operand, fetch.place,
	    fetch.at->host.count || fetch.at->wanted->begin.kind == BOUND_TIME ||
	    fetch.at->wanted->end.kind == BOUND_TIME ? " of these hosts in this time" : "",
	    nearest_hint(&nearest));
	return TOOL_FAILURE;
}

/* Prints why no log is chosen. If the hosts have logs, prints the range of times of these logs. */
static int say_none(void)
{
	const struct at *at = fetch.at;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	char first[WHEN_BYTES], last[WHEN_BYTES];
	size_t logs = 0;

	for (size_t i = 0; i < fetch.logs; i++) {
		const struct fetch_log *log = &fetch.log[i];

		if (!is_host_chosen(log))
			continue;
		logs++;
		first_ns = log->first_ns < first_ns ? log->first_ns : first_ns;
		last_ns = log->last_ns > last_ns ? log->last_ns : last_ns;
	}
	if (logs)
		say("%s: no log has events between --begin and --end: the logs have events from %s "
		    "to %s", fetch.place, when_string(first, first_ns, WHEN_UTC),
		    when_string(last, last_ns, WHEN_UTC));
	else if (at->wanted->begin.kind == BOUND_TIME || at->wanted->end.kind == BOUND_TIME)
		say("%s: no log%s has events between --begin and --end; 'posixtrace query --at %s "
		    "\"SELECT * FROM streams\"' lists all logs", fetch.place,
		    at->host.count ? " of these hosts" : "", fetch.place);
	else
		say("%s: the database has no log%s", fetch.place,
		    at->host.count ? " of these hosts" : "");
	return TOOL_FAILURE;
}

/*
 * Computes the chosen range of times of each log. With --merge, relative times refer to all logs
 * that the command merges.
 */
static void bound_logs(void)
{
	const struct wanted *wanted = fetch.at->wanted;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < fetch.logs; i++) {
		const struct fetch_log *log = &fetch.log[i];

		if (!log->is_chosen || !log->events)
			continue;
		first_ns = log->first_ns < first_ns ? log->first_ns : first_ns;
		last_ns = log->last_ns > last_ns ? log->last_ns : last_ns;
	}
	for (size_t i = 0; i < fetch.logs; i++) {
		struct fetch_log *log = &fetch.log[i];
		bool merged = fetch.at->is_merged && first_ns != INT64_MAX;

		log->begin_ns = bound_at(&wanted->begin, merged ? first_ns : log->first_ns,
					 merged ? last_ns : log->last_ns, INT64_MIN);
		log->end_ns = bound_at(&wanted->end, merged ? first_ns : log->first_ns,
				       merged ? last_ns : log->last_ns, INT64_MAX);
	}
}

/*
 * Returns whether the bound may exclude a whole log. A bound that is relative to all chosen logs
 * together cannot exclude one, because these logs are known only after the choice.
 */
static bool is_decisive(const struct bound *bound)
{
	return !fetch.at->is_merged || bound->kind == BOUND_TIME;
}

/* Without operands, the command reads all logs of the hosts that may have events in the range. */
static int choose_all(void)
{
	const struct wanted *wanted = fetch.at->wanted;

	bound_logs();
	for (size_t i = 0; i < fetch.logs; i++) {
		struct fetch_log *log = &fetch.log[i];

		if (!is_host_chosen(log) ||
		    (is_decisive(&wanted->end) && log->first_ns > log->end_ns) ||
		    (is_decisive(&wanted->begin) && log->last_ns < log->begin_ns &&
		     log->is_complete))
			continue;
		if (!choose_log(log))
			return TOOL_FAILURE;
	}
	return fetch.at->paths ? TOOL_OK : say_none();
}

/* The logs are in the order of the operands. Each operand must choose at least one log. */
static int choose_operand(char *operand)
{
	bool chooses = false;

	for (size_t i = 0; i < fetch.logs; i++) {
		struct fetch_log *log = &fetch.log[i];

		if (!is_host_chosen(log) || !chooses_log(operand, log))
			continue;
		chooses = true;
		if (!choose_log(log))
			return TOOL_FAILURE;
	}
	return chooses ? TOOL_OK : say_no_log(operand);
}

int fetch_find(char **operand, size_t operands)
{
	int status = TOOL_OK;

	if (!list_logs() || !list_uuids())
		return TOOL_FAILURE;
	drop_unlisted();
	if (!name_logs()) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	if (!operands)
		status = choose_all();
	for (size_t i = 0; !status && i < operands; i++)
		status = choose_operand(operand[i]);
	bound_logs();
	return status;
}

void fetch_free_logs(void)
{
	for (size_t i = 0; i < fetch.logs; i++)
		free_log(&fetch.log[i]);
	free(fetch.log);
	if (fetch.at) {
		free(fetch.at->path);
		fetch.at->path = NULL;
		fetch.at->paths = 0;
	}
}
