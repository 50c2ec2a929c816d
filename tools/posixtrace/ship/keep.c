/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * keep.c - deletes the rows of old logs from a database: the partitions of the days on which these
 * logs were begun. A day has several partitions, or one in a database of an older version: fleet.h.
 *
 * The statements work with every version of the server. A TTL of the table would need a newer
 * version, and would delete the rows of a log at different times. Several shippers may delete at
 * the same time, because it is not an error to drop a partition that does not exist.
 */
#include "ship/ship.h"

#include <string.h>
#include <time.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/when.h"

#define DAY_NS      INT64_C(86400000000000)
#define DAY_LEN     10 /* length of YYYY-MM-DD */
#define DAYS_MOST   65536
/* the longest text of a partition: ('2026-11-26',123456) */
#define PARTITION_MOST 24
#define ANSWER_MOST ((size_t)(PARTITION_MOST + 1) * FLEET_PARTITIONS * DAYS_MOST)

/* Returns whether the characters are a day. A hostile server may send other texts. */
static bool is_day(const char text[DAY_LEN])
{
	for (size_t i = 0; i < DAY_LEN; i++)
		if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

/*
 * Returns the day in the text of a partition, 2026-11-26 or ('2026-11-26',5), or NULL if the text
 * is of another kind.
 */
static const char *day_of(const char *text, size_t len)
{
	static const char before[] = "('", behind[] = "',";
	const size_t at = sizeof(before) - 1 + DAY_LEN, number = at + sizeof(behind) - 1;

	if (len == DAY_LEN)
		return is_day(text) ? text : NULL;
	if (len < number + 2 || len > PARTITION_MOST || memcmp(text, before, sizeof(before) - 1) ||
	    !is_day(text + sizeof(before) - 1) ||
	    memcmp(text + at, behind, sizeof(behind) - 1) || text[len - 1] != ')')
		return NULL;
	for (size_t i = number; i < len - 1; i++)
		if (text[i] < '0' || text[i] > '9')
			return NULL;
	return text + sizeof(before) - 1;
}

/* Returns whether the answer consists of texts. */
static bool has_texts(const struct bytes *answer)
{
	const char *text;
	size_t at = 0, len;

	while (at < answer->used)
		if (!server_get_text(answer, &at, &text, &len))
			return false;
	return true;
}

/* Returns the time since which logs are kept. Only rows of days before its day are deleted. */
static int64_t kept_since(uint64_t keep_days)
{
	return when_since((int64_t)keep_days * DAY_NS);
}

bool keep_has_expired(uint16_t day, uint64_t keep_days)
{
	return keep_days && day < kept_since(keep_days) / DAY_NS;
}

/* Appends the first day that is kept. */
static void put_first_day(uint64_t keep_days, struct bytes *sql)
{
	time_t seconds = (time_t)(kept_since(keep_days) / 1000000000);
	struct tm day;
	char text[32] = "1970-01-01";

	if (seconds > 0 && gmtime_r(&seconds, &day))
		strftime(text, sizeof(text), "%Y-%m-%d", &day);
	bytes_str(sql, text);
}

/* Drops a partition of a table. day_of() has checked its text. */
static bool drop_partition(struct link *link, const char *table, const char *text, size_t len)
{
	const char *quote = len == DAY_LEN ? "'" : "";
	struct bytes sql = { .at = NULL };
	bool good;

	bytes_printf(&sql, "ALTER TABLE %s.%s DROP PARTITION %s%.*s%s",
		     link->server.address.database, table, quote, (int)len, text, quote);
	good = link_query_bytes(link, &sql, 65536, NULL);
	bytes_free(&sql);
	return good;
}

/*
 * Returns whether all partitions of the answer are days. If not, prints it: a user may have made
 * the table with other partitions. No other text of a server becomes a part of a statement.
 */
static bool are_days(const struct link *link, const char *table, const struct bytes *answer)
{
	const char *text;
	size_t at = 0, len;

	while (server_get_text(answer, &at, &text, &len))
		if (!day_of(text, len)) {
			say("--keep: %s.%s has partitions that are not days; delete its old rows "
			    "yourself", link->server.address.database, table);
			return false;
		}
	return true;
}

/* Deletes the old days of a table, and adds their number to *days. */
static bool expire_table(struct link *link, const char *table, uint64_t keep_days, uint64_t *days)
{
	struct bytes sql = { .at = NULL }, answer = { .at = NULL };
	char last[DAY_LEN] = "";
	const char *text, *day;
	size_t at = 0, len;
	bool good;

	bytes_printf(&sql, "SELECT partition FROM system.parts WHERE active AND database = '%s' "
		     "AND table = '%s' AND max_date < toDate('", link->server.address.database,
		     table);
	put_first_day(keep_days, &sql);
	bytes_str(&sql, "') GROUP BY partition ORDER BY partition FORMAT RowBinary");
	good = link_query_bytes(link, &sql, ANSWER_MOST, has_texts);
	/*
	 * The requests of drop_partition() replace the server's answer, so the loop reads a copy of
	 * this answer.
	 */
	if (good)
		bytes_add(&answer, link->server.answer.at, link->server.answer.used);
	good = good && are_days(link, table, &answer);
	while (good && server_get_text(&answer, &at, &text, &len)) {
		day = day_of(text, len);
		good = drop_partition(link, table, text, len);
		*days += good && memcmp(day, last, DAY_LEN) != 0;
		memcpy(last, day, DAY_LEN);
	}
	bytes_free(&answer);
	bytes_free(&sql);
	return good;
}

bool keep_expire(struct link *link, uint64_t keep_days)
{
	uint64_t days = 0, ignored = 0;
	bool good = link_reach(link); /* the layout is known then */

	for (int i = QUERY_EVENTS; good && i < QUERY_TABLES; i++) {
		const char *table = fleet_rows_table(i, link->layout);

		if (table)
			good = expire_table(link, table, keep_days,
					    i == QUERY_EVENTS ? &days : &ignored);
	}
	if (days)
		out_printf(&out_stdout, "%s: the logs of %llu day%s were deleted\n",
			   link->server.address.database, (unsigned long long)days,
			   text_plural(days));
	return good;
}
