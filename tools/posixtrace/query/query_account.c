/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_account.c - writes and reads the accounts of dropped logs. */
#include "query/query_account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/put.h"
#include "base/say.h"
#include "query/query.h"
#include "query/query_schema.h"

#define APPLICATION_ID 0x50545841 /* PTXA */
#define BYTES_MOST     (64 << 20) /* of an account */
#define UUID_BYTES     16

/* The tables that need the events, or names that no ledger needs, are not in an account. */
static bool is_kept_table(int table)
{
	return table != QUERY_SPANS && table != QUERY_OBJECTS && table != QUERY_STACKS;
}

bool account_is_name(const char *name)
{
	const size_t len = strlen(name), suffix = strlen(ACCOUNT_SUFFIX);

	return len > suffix && !strcmp(name + len - suffix, ACCOUNT_SUFFIX);
}

/* Executes a statement from sqlite3_mprintf(), and frees it. Returns an error of SQLite or 0. */
static int run_made(sqlite3 *db, char *sql)
{
	int err = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return err;
}

/* ------------------------------------------------------------------ writing */

static int write_identity(sqlite3 *db, const struct posix_trace_loginfo_np *info)
{
	char uuid[2 * UUID_BYTES + 1];

	*put_hex_bytes(uuid, info->uuid, UUID_BYTES) = '\0';
	return run_made(db, sqlite3_mprintf("CREATE TABLE account.identity(uuid, log_id, host, "
					    "begun); INSERT INTO account.identity VALUES(x'%s', "
					    "%lld, %Q, %lld)", uuid, (long long)info->log_id,
					    info->host, (long long)info->begin_ns));
}

/*
 * Copies the small tables to the new file. The pages are small, since each table has few rows and
 * needs at least one page. No journal is needed, because a file that is not whole is not used.
 */
static int copy_tables(sqlite3 *db, const struct posix_trace_loginfo_np *info, const char *made)
{
	int err = run_made(db, sqlite3_mprintf("ATTACH %Q AS account; "
					       "PRAGMA account.page_size = 512; "
					       "PRAGMA account.journal_mode = OFF; "
					       "PRAGMA account.synchronous = OFF; "
					       "PRAGMA account.application_id = %d; BEGIN", made,
					       APPLICATION_ID));

	if (!err)
		err = write_identity(db, info);
	for (int i = 0; !err && i < QUERY_TABLES; i++)
		if (is_kept_table(i))
			err = run_made(db, sqlite3_mprintf("CREATE TABLE account.%s AS "
							   "SELECT * FROM main.%s",
							   query_schema[i].name,
							   query_schema[i].name));
	return err ? err : sqlite3_exec(db, "COMMIT; DETACH account", NULL, NULL, NULL);
}

/* Makes the tables of the log in memory and copies them to the file. */
static bool write_tables(struct query_log *log, const char *made)
{
	struct query query = { .log = log, .logs = 1, .meter = { .next = UINT64_MAX } };
	sqlite3 *db = NULL;
	int err = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				  SQLITE_OPEN_NOMUTEX, NULL);

	log->events_of = calloc(log->file.types + 1, sizeof(*log->events_of));
	if (!err)
		err = log->events_of ? query_tables(db, &query) : SQLITE_NOMEM;
	if (!err)
		err = copy_tables(db, &log->file.info, made);
	if (err)
		say("%s: %s", made, db ? sqlite3_errmsg(db) : sqlite3_errstr(err));
	sqlite3_close(db);
	free(log->events_of);
	return !err;
}

/* Writes a file or folder to the disk. Returns 0 or an error number. */
static int sync_path(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), err = 0;

	if (fd < 0 || fsync(fd))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Gives the file its name, such that a crash of the machine leaves either all of it or none. */
static int keep_file(const char *made, const char *account)
{
	char *folder = strdup(account), *slash = folder ? strrchr(folder, '/') : NULL;
	int err = folder ? sync_path(made, O_NOFOLLOW) : ENOMEM;

	if (slash)
		slash[slash == folder] = '\0';
	if (!err && rename(made, account))
		err = errno;
	if (!err)
		err = sync_path(slash ? folder : ".", O_DIRECTORY);
	free(folder);
	return err;
}

/*
 * The file begins with a dot until it is whole, so that ship ignores it. A file of this name that a
 * killed process has left is removed.
 */
enum account_result account_write(const char *log, const char *account, uint64_t *events)
{
	enum account_result result = ACCOUNT_FAILED;
	const char *slash = strrchr(account, '/'), *name = slash ? slash + 1 : account;
	struct query_log of = { .events = 0 };
	char *made = NULL;
	int err;

	if (asprintf(&made, "%.*s.%s.new", (int)(name - account), account, name) < 0) {
		say("%s", strerror(ENOMEM));
		return ACCOUNT_FAILED;
	}
	unlink(made);
	if (logfile_open(&of.file, log, NULL)) {
		free(made);
		return ACCOUNT_NO_LOG;
	}
	if (write_tables(&of, made)) {
		err = keep_file(made, account);
		if (err)
			say("%s: %s", account, strerror(err));
		else
			result = ACCOUNT_WRITTEN;
	}
	*events = of.events;
	logfile_close(&of.file);
	if (result != ACCOUNT_WRITTEN)
		unlink(made);
	free(made);
	return result;
}

/* ------------------------------------------------------------------ reading */

/* Returns the integer that a statement has as its only value, or -1. */
static int64_t number_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *row = NULL;
	int64_t number = -1;

	if (!sqlite3_prepare_v2(db, sql, -1, &row, NULL) && sqlite3_step(row) == SQLITE_ROW)
		number = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return number;
}

static bool read_identity(sqlite3 *db, struct posix_trace_loginfo_np *info)
{
	sqlite3_stmt *row = NULL;
	bool good = false;

	memset(info, 0, sizeof(*info));
	if (!sqlite3_prepare_v2(db, "SELECT uuid, log_id, host, begun FROM account.identity", -1,
				&row, NULL) &&
	    sqlite3_step(row) == SQLITE_ROW && sqlite3_column_bytes(row, 0) == UUID_BYTES) {
		const char *host = (const char *)sqlite3_column_text(row, 2);

		memcpy(info->uuid, sqlite3_column_blob(row, 0), UUID_BYTES);
		info->log_id = (uint64_t)sqlite3_column_int64(row, 1);
		snprintf(info->host, sizeof(info->host), "%s", host ? host : "");
		info->begin_ns = sqlite3_column_int64(row, 3);
		good = true;
	}
	sqlite3_finalize(row);
	return good;
}

/*
 * Makes the tables in memory and fills them. The columns are named, since a file may have others.
 */
static int load_tables(sqlite3 *db)
{
	int err = SQLITE_OK;

	for (int i = 0; !err && i < QUERY_TABLES; i++) {
		const struct query_schema *schema = &query_schema[i];
		sqlite3_str *columns = sqlite3_str_new(db);
		char *sql = query_schema_sql(schema, ""), *list;

		err = run_made(db, sql);
		for (size_t at = 0; at < query_schema_columns(schema); at++)
			sqlite3_str_appendf(columns, "%s\"%w\"", at ? "," : "",
					    schema->column[at].name);
		list = sqlite3_str_finish(columns);
		if (!err && is_kept_table(i))
			err = list ? run_made(db, sqlite3_mprintf("INSERT INTO main.%s "
								  "SELECT %s FROM account.%s",
								  schema->name, list,
								  schema->name))
				   : SQLITE_NOMEM;
		sqlite3_free(list);
	}
	return err;
}

/* Returns whether the file can be an account by its size. A device or pipe cannot. */
static bool is_possible(const char *account)
{
	struct stat st;

	return !stat(account, &st) && S_ISREG(st.st_mode) && st.st_size <= BYTES_MOST;
}

/*
 * The file may have only plain tables: a view or trigger would be a program of the file that runs
 * here.
 */
bool account_read(const char *account, sqlite3 **db, struct posix_trace_loginfo_np *info)
{
	int err = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				  SQLITE_OPEN_NOMUTEX, NULL);

	if (!is_possible(account)) {
		say("%s: this is not an account of posixtrace", account);
		return false;
	}
	if (!err) {
		sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		err = run_made(*db, sqlite3_mprintf("ATTACH %Q AS account", account));
	}
	if (!err && (number_of(*db, "PRAGMA account.application_id") != APPLICATION_ID ||
		     number_of(*db, "SELECT count(*) FROM account.sqlite_master WHERE "
				    "type <> 'table' OR sql LIKE 'CREATE VIRTUAL%'") != 0 ||
		     !read_identity(*db, info))) {
		say("%s: this is not an account of posixtrace", account);
		return false;
	}
	if (!err)
		err = load_tables(*db);
	if (!err)
		err = sqlite3_exec(*db, "DETACH account", NULL, NULL, NULL);
	if (err)
		say("%s: %s", account, *db ? sqlite3_errmsg(*db) : sqlite3_errstr(err));
	return !err;
}
