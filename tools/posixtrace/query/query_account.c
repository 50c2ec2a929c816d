/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_account.c - writes and reads the accounts of dropped logs. */
#include "query/query_account.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/put.h"
#include "base/say.h"
#include "base/table.h"
#include "base/whole.h"
#include "query/query.h"
#include "query/query_schema.h"

#define APPLICATION_ID 0x50545841 /* PTXA */
#define BYTES_MOST     (64 << 20) /* of an account */
#define VALUE_MOST     (1 << 20)  /* bytes of a value or row in it */
#define PAGES_MOST     65536      /* of its tables in memory, 256 MiB */
#define UUID_BYTES     16
#define NO_ACCOUNT     "this is not an account of posixtrace"

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

/*
 * Reads the file into memory of SQLite. Returns 0 or an error number: EINVAL if it cannot be an
 * account, as a device, a pipe, or a large file.
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

/*
 * Makes a database in memory, with the bytes as its database account. The file itself is not opened
 * by SQLite, which would execute a journal beside it. The limits bound the time and the memory that
 * a hostile account can use.
 */
static int attach_bytes(sqlite3 **db, void *bytes, int64_t len)
{
	int err = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				  SQLITE_OPEN_NOMUTEX, NULL);

	if (!err) {
		sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, VALUE_MOST);
		err = run_made(*db, sqlite3_mprintf("PRAGMA max_page_count = %d; "
						    "ATTACH ':memory:' AS account", PAGES_MOST));
	}
	if (!err)
		return sqlite3_deserialize(*db, "account", bytes, len, len,
					   SQLITE_DESERIALIZE_FREEONCLOSE |
						   SQLITE_DESERIALIZE_READONLY);
	sqlite3_free(bytes);
	return err;
}

/*
 * Opens an account, whose tables are then in the database account. It may have only plain tables: a
 * view, a trigger or an expression of a column would be a program of the file that runs here. The
 * statements of plain tables have one pair of parentheses.
 */
static bool open_account(const char *account, sqlite3 **db, struct posix_trace_loginfo_np *info)
{
	int64_t len;
	void *bytes;
	int err = read_bytes(account, &bytes, &len);

	*db = NULL;
	if (err) {
		say("%s: %s", account, err == EINVAL ? NO_ACCOUNT : strerror(err));
		return false;
	}
	err = attach_bytes(db, bytes, len);
	if (err) {
		say("%s: %s", account, *db ? sqlite3_errmsg(*db) : sqlite3_errstr(err));
		return false;
	}
	if (number_of(*db, "PRAGMA account.application_id") == APPLICATION_ID &&
	    number_of(*db, "SELECT count(*) FROM account.sqlite_master WHERE type <> 'table' OR "
		      "coalesce(sql, '') NOT LIKE 'CREATE TABLE %' OR sql LIKE '%(%(%'") == 0 &&
	    read_identity(*db, info))
		return true;
	say("%s: " NO_ACCOUNT, account);
	return false;
}

bool account_read(const char *account, sqlite3 **db, struct posix_trace_loginfo_np *info)
{
	int err;

	if (!open_account(account, db, info))
		return false;
	err = load_tables(*db);
	if (!err)
		err = sqlite3_exec(*db, "DETACH account", NULL, NULL, NULL);
	if (err)
		say("%s: %s", account, sqlite3_errmsg(*db));
	return !err;
}

/* Returns whether the account can be read and has the identity of this log. Prints nothing. */
static bool has_identity(const char *account, const struct posix_trace_loginfo_np *log)
{
	struct posix_trace_loginfo_np info;
	sqlite3 *db;
	bool is_same;

	say_nothing(true);
	is_same = open_account(account, &db, &info) && info.log_id == log->log_id &&
		  !memcmp(info.uuid, log->uuid, UUID_BYTES);
	say_nothing(false);
	sqlite3_close(db);
	return is_same;
}

bool account_is_of(const char *account, const char *log)
{
	struct logfile file;
	bool is_same;
	int status;

	say_nothing(true);
	status = logfile_open(&file, log, NULL);
	say_nothing(false);
	if (status)
		return false;
	is_same = has_identity(account, &file.info);
	logfile_close(&file);
	return is_same;
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

/*
 * Returns the name of the account, or NULL if memory is lacking. The account of another log, which
 * had the same name and was not shipped yet, is not replaced.
 */
static char *account_name(const char *name, const struct posix_trace_loginfo_np *info)
{
	uint64_t hash = hash_number(hash_bytes(HASH_BEGIN, info->uuid, UUID_BYTES), info->log_id);
	char *account = NULL;
	struct stat st;

	if (asprintf(&account, "%s" ACCOUNT_SUFFIX, name) < 0)
		return NULL;
	if (lstat(account, &st) || has_identity(account, info))
		return account;
	free(account);
	return asprintf(&account, "%s.%016" PRIx64 ACCOUNT_SUFFIX, name, hash) < 0 ? NULL : account;
}

/* Gives the file its name, such that a crash of the machine leaves either all of it or none. */
static int keep_file(const char *made, const char *account, int64_t *growth)
{
	char *folder = strdup(account), *slash = folder ? strrchr(folder, '/') : NULL;
	int err = folder ? sync_path(made, O_NOFOLLOW) : ENOMEM;
	struct stat st;

	if (slash)
		slash[slash == folder] = '\0';
	*growth = lstat(account, &st) ? 0 : -(int64_t)st.st_size;
	*growth += lstat(made, &st) ? 0 : (int64_t)st.st_size;
	if (!err && rename(made, account))
		err = errno;
	if (!err)
		err = sync_path(slash ? folder : ".", O_DIRECTORY);
	free(folder);
	return err;
}

/* Writes the account of the open log. Returns false after it printed an error. */
static bool write_account(struct query_log *of, const char *made, const char *name,
			  struct account_written *written)
{
	char *account = account_name(name, &of->file.info);
	int err = account ? 0 : ENOMEM;
	bool good = account && write_tables(of, made);

	written->events = of->events;
	if (good)
		err = keep_file(made, account, &written->growth);
	if (err)
		say("%s: %s", account ? account : name, strerror(err));
	free(account);
	return good && !err;
}

/*
 * The file begins with a dot until it is whole, so that ship ignores it. A file of this name that a
 * killed process has left is removed.
 */
enum account_result account_write(const char *log, const char *name,
				  struct account_written *written)
{
	enum account_result result = ACCOUNT_NO_LOG;
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	struct query_log of = { .events = 0 };
	char *made = NULL;

	*written = (struct account_written){ .events = 0 };
	if (asprintf(&made, "%.*s.%s" ACCOUNT_SUFFIX ".new", (int)(last - name), name, last) < 0) {
		say("%s", strerror(ENOMEM));
		return ACCOUNT_FAILED;
	}
	unlink(made);
	if (!logfile_open(&of.file, log, NULL)) {
		result = write_account(&of, made, name, written) ? ACCOUNT_WRITTEN : ACCOUNT_FAILED;
		logfile_close(&of.file);
	}
	if (result == ACCOUNT_FAILED)
		unlink(made);
	free(made);
	return result;
}
