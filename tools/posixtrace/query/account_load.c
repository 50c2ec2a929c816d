/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* account_load.c - reads accounts of dropped logs. The file of an account may be hostile. */
#include "query/account_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/whole.h"
#include "query/query_account.h"
#include "query/query_schema.h"

#define BYTES_MOST     (64 << 20) /* bytes of the file of an account */
#define VALUE_MOST     (1 << 20)  /* bytes of a value or of a row in an account */
#define PAGES_MOST     65536      /* pages of an account's tables in memory, 256 MiB */
/*
 * A file that has fewer bytes than this for each log that it claims to have is refused. Otherwise a
 * false number of logs would cost much time, because ship reads the file once for each log.
 */
#define BYTES_LEAST    64
#define NO_ACCOUNT     "this is not an account of posixtrace"

bool account_has_table(int table)
{
	return table != QUERY_SPANS && table != QUERY_OBJECTS && table != QUERY_STACKS;
}

int account_run(sqlite3 *db, char *sql)
{
	int err = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return err;
}

int64_t account_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *row = NULL;
	int64_t number = -1;

	if (!sqlite3_prepare_v2(db, sql, -1, &row, NULL) && sqlite3_step(row) == SQLITE_ROW)
		number = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return number;
}

/* "part" is the rowid in the table identity, whose rows are numbered from 1. */
bool account_identity(sqlite3 *db, size_t part, struct posix_trace_loginfo_np *info)
{
	sqlite3_stmt *row = NULL;
	bool good = false;

	memset(info, 0, sizeof(*info));
	if (!sqlite3_prepare_v2(db, "SELECT uuid, log_id, host, begun FROM account.identity "
				"WHERE rowid = ?", -1, &row, NULL) &&
	    !sqlite3_bind_int64(row, 1, (sqlite3_int64)part) &&
	    sqlite3_step(row) == SQLITE_ROW && sqlite3_column_bytes(row, 0) == ACCOUNT_UUID_BYTES) {
		const char *host = (const char *)sqlite3_column_text(row, 2);

		memcpy(info->uuid, sqlite3_column_blob(row, 0), ACCOUNT_UUID_BYTES);
		info->log_id = (uint64_t)sqlite3_column_int64(row, 1);
		snprintf(info->host, sizeof(info->host), "%s", host ? host : "");
		info->begin_ns = sqlite3_column_int64(row, 3);
		good = true;
	}
	sqlite3_finalize(row);
	return good;
}

/*
 * Makes the statement that copies a part of a table. In a merged account, each text is the number
 * of a row of the table texts, and the column part has the number of the log. The statement names
 * the columns, since the table in the file may have further columns.
 */
static char *load_sql(sqlite3 *db, const struct query_schema *schema, size_t part, bool is_merged)
{
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendf(sql, "INSERT INTO main.%s SELECT ", schema->name);
	for (size_t at = 0; at < query_schema_columns(schema); at++) {
		const char *column = schema->column[at].name;

		sqlite3_str_appendall(sql, at ? ", " : "");
		if (is_merged && schema->column[at].is_text)
			sqlite3_str_appendf(sql, "(SELECT value FROM account.texts "
					    "WHERE texts.rowid = t.\"%w\")", column);
		else
			sqlite3_str_appendf(sql, "t.\"%w\"", column);
	}
	sqlite3_str_appendf(sql, " FROM account.%s AS t", schema->name);
	if (is_merged)
		sqlite3_str_appendf(sql, " WHERE t.part = %llu", (unsigned long long)part);
	return sqlite3_str_finish(sql);
}

/* Makes the tables in memory and fills them. */
static int load_tables(sqlite3 *db, size_t part, bool is_merged)
{
	int err = SQLITE_OK;

	for (int i = 0; !err && i < QUERY_TABLES; i++) {
		err = account_run(db, query_schema_sql(&query_schema[i], ""));
		if (!err && account_has_table(i))
			err = account_run(db, load_sql(db, &query_schema[i], part, is_merged));
	}
	return err;
}

/*
 * Reads the file into memory of SQLite. Returns 0 or an error number. The error is EINVAL if the
 * file cannot be an account, because it is a device, a pipe, or too large.
 */
static int read_bytes(const char *account, void **bytes, int64_t *len)
{
	int fd = open(account, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;
	struct stat st = { .st_size = 0 };

	*bytes = NULL;
	if (fd < 0 || fstat(fd, &st))
		err = errno;
	else if (!S_ISREG(st.st_mode) || st.st_size < 1 || st.st_size > BYTES_MOST)
		err = EINVAL;
	*len = st.st_size;
	if (!err) {
		*bytes = sqlite3_malloc64((uint64_t)*len);
		err = *bytes ? whole_pread(fd, *bytes, (size_t)*len, 0) : ENOMEM;
	}
	if (err) {
		sqlite3_free(*bytes);
		*bytes = NULL;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* The limits bound the time and the memory that a hostile account can use. */
int account_new(sqlite3 **db)
{
	int err = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				  SQLITE_OPEN_NOMUTEX, NULL);

	if (err)
		return err;
	sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, VALUE_MOST);
	return account_run(*db, sqlite3_mprintf("PRAGMA max_page_count = %d", PAGES_MOST));
}

/*
 * SQLite uses the bytes in memory. If SQLite opened the file itself, it would also execute a
 * journal beside the file.
 */
static int attach_bytes(sqlite3 *db, void *bytes, int64_t len)
{
	int err = sqlite3_exec(db, "ATTACH ':memory:' AS account", NULL, NULL, NULL);

	if (!err)
		return sqlite3_deserialize(db, "account", bytes, len, len,
					   SQLITE_DESERIALIZE_FREEONCLOSE |
						   SQLITE_DESERIALIZE_READONLY);
	sqlite3_free(bytes);
	return err;
}

/*
 * An account may have only plain tables. A view, a trigger or an expression of a column would be
 * code from the file, and SQLite would run that code here. A plain table is recognized by its
 * CREATE TABLE, which has only one pair of parentheses. The logs of a merged account are numbered
 * from 1, without gaps.
 */
bool account_attach(sqlite3 *db, const char *account, size_t *parts, bool *is_merged)
{
	int64_t len, id, rows;
	void *bytes;
	int err = read_bytes(account, &bytes, &len);

	*parts = 0;
	if (err) {
		say("%s: %s", account, err == EINVAL ? NO_ACCOUNT : strerror(err));
		return false;
	}
	err = attach_bytes(db, bytes, len);
	if (err) {
		say("%s: %s", account, sqlite3_errmsg(db));
		return false;
	}
	id = account_number(db, "PRAGMA account.application_id");
	*is_merged = id == ACCOUNT_ID_MERGED;
	if ((*is_merged || id == ACCOUNT_ID) &&
	    !account_number(db, "SELECT count(*) FROM account.sqlite_master WHERE "
			    "type <> 'table' OR coalesce(sql, '') NOT LIKE 'CREATE TABLE %' "
			    "OR sql LIKE '%(%(%'")) {
		rows = account_number(db, "SELECT CASE WHEN min(rowid) = 1 AND max(rowid) = "
				      "count(*) THEN count(*) END FROM account.identity");
		if (rows > 0 && rows <= len / BYTES_LEAST && (*is_merged || rows == 1)) {
			*parts = (size_t)rows;
			return true;
		}
	}
	say("%s: " NO_ACCOUNT, account);
	return false;
}

bool account_read(const char *account, size_t part, size_t *parts, sqlite3 **db,
		  struct posix_trace_loginfo_np *info)
{
	bool is_merged;
	int err = account_new(db);

	if (err) {
		say("%s: %s", account, sqlite3_errstr(err));
		return false;
	}
	if (!account_attach(*db, account, parts, &is_merged))
		return false;
	if (!account_identity(*db, part, info)) {
		say("%s: log %zu of %zu: " NO_ACCOUNT, account, part, *parts);
		return false;
	}
	err = load_tables(*db, part, is_merged);
	if (!err)
		err = sqlite3_exec(*db, "DETACH account", NULL, NULL, NULL);
	if (err)
		say("%s: %s", account, sqlite3_errmsg(*db));
	return !err;
}

bool account_has_identity(const char *account, const struct posix_trace_loginfo_np *log)
{
	struct posix_trace_loginfo_np info;
	sqlite3 *db = NULL;
	bool is_same, is_merged;
	size_t parts;

	say_nothing(true);
	is_same = !account_new(&db) && account_attach(db, account, &parts, &is_merged) &&
		  !is_merged && account_identity(db, 1, &info) && info.log_id == log->log_id &&
		  !memcmp(info.uuid, log->uuid, ACCOUNT_UUID_BYTES);
	say_nothing(false);
	sqlite3_close(db);
	return is_same;
}

bool account_is_of(const char *account, const char *log)
{
	struct logfile file;
	struct stat st;
	bool is_same;
	int status;

	/* If the file is a pipe, open(2) would wait for a writer. */
	if (stat(log, &st) || !S_ISREG(st.st_mode))
		return false;
	say_nothing(true);
	status = logfile_open(&file, log, NULL);
	say_nothing(false);
	if (status)
		return false;
	is_same = account_has_identity(account, &file.info);
	logfile_close(&file);
	return is_same;
}
