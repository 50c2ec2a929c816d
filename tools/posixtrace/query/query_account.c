/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_account.c - writes the accounts of dropped logs. */
#include "query/query_account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/path.h"
#include "base/put.h"
#include "base/say.h"
#include "base/table.h"
#include "query/account_load.h"
#include "query/query.h"
#include "query/query_schema.h"

static int write_identity(sqlite3 *db, const struct posix_trace_loginfo_np *info)
{
	char uuid[2 * ACCOUNT_UUID_BYTES + 1];

	*put_hex_bytes(uuid, info->uuid, ACCOUNT_UUID_BYTES) = '\0';
	return account_run(db, sqlite3_mprintf("CREATE TABLE account.identity(uuid, log_id, host, "
					       "begun); INSERT INTO account.identity VALUES(x'%s', "
					       "%lld, %Q, %lld)", uuid, (long long)info->log_id,
					       info->host, (long long)info->begin_ns));
}

/*
 * Copies the small tables to the new file. The pages are small, since each table has few rows and
 * needs at least one page. No journal is needed, because no program uses an incomplete file.
 */
static int copy_tables(sqlite3 *db, const struct posix_trace_loginfo_np *info, const char *made)
{
	int err = account_run(db, sqlite3_mprintf("ATTACH %Q AS account; "
						  "PRAGMA account.page_size = 512; "
						  "PRAGMA account.journal_mode = OFF; "
						  "PRAGMA account.synchronous = OFF; "
						  "PRAGMA account.application_id = %d; BEGIN", made,
						  ACCOUNT_ID));

	if (!err)
		err = write_identity(db, info);
	for (int i = 0; !err && i < QUERY_TABLES; i++)
		if (account_has_table(i))
			err = account_run(db, sqlite3_mprintf("CREATE TABLE account.%s AS "
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

/*
 * Returns the name of the account, or NULL if memory is lacking. If an account of another log has
 * the usual name, that account was not shipped yet and must remain. So the name gets a hash.
 */
static char *account_name(const char *name, const struct posix_trace_loginfo_np *info)
{
	uint64_t hash = hash_number(hash_bytes(HASH_BEGIN, info->uuid, ACCOUNT_UUID_BYTES),
				    info->log_id);
	char *account = NULL;
	struct stat st;

	if (asprintf(&account, "%s" ACCOUNT_SUFFIX, name) < 0)
		return NULL;
	if (lstat(account, &st) || account_has_identity(account, info))
		return account;
	free(account);
	return asprintf(&account, "%s.%016" PRIx64 ACCOUNT_SUFFIX, name, hash) < 0 ? NULL : account;
}

int account_keep_file(const char *made, const char *account, int64_t *growth)
{
	struct stat st;

	*growth = lstat(account, &st) ? 0 : -(int64_t)st.st_size;
	*growth += lstat(made, &st) ? 0 : (int64_t)st.st_size;
	return disk_rename(made, account);
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
		err = account_keep_file(made, account, &written->growth);
	if (err)
		say("%s: %s", account ? account : name, strerror(err));
	free(account);
	return good && !err;
}

/*
 * The name of the file begins with a dot until the file is whole, so that ship ignores the file. If
 * a killed process has left a file of this name, the function removes that file first.
 */
enum account_result account_write_open(struct query_log *of, const char *name,
				       struct account_written *written)
{
	const char *last = path_last(name);
	char *made = NULL;
	bool good;

	*written = (struct account_written){ .events = 0 };
	if (asprintf(&made, "%.*s.%s" ACCOUNT_SUFFIX ".new", (int)(last - name), name, last) < 0) {
		say("%s", strerror(ENOMEM));
		return ACCOUNT_FAILED;
	}
	unlink(made);
	good = write_account(of, made, name, written);
	if (!good)
		unlink(made);
	free(made);
	return good ? ACCOUNT_WRITTEN : ACCOUNT_FAILED;
}

/*
 * The log needs no account only if the file is missing, or if the library has read the file and
 * found no log. Any other reason, such as too many open files or a permission, may be gone later,
 * so the log must remain.
 */
enum account_result account_write(const char *log, const char *name,
				  struct account_written *written)
{
	struct query_log of = { .events = 0 };
	enum account_result result;
	int status;

	*written = (struct account_written){ .events = 0 };
	say_nothing(true);
	status = logfile_open(&of.file, log, NULL);
	say_nothing(false);
	if (status) {
		written->err = of.file.err;
		return of.file.err == EINVAL || of.file.err == ENOENT ? ACCOUNT_NO_LOG
								      : ACCOUNT_UNKNOWN;
	}
	result = account_write_open(&of, name, written);
	logfile_close(&of.file);
	return result;
}
