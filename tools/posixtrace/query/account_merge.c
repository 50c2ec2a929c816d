/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * account_merge.c - merges the accounts of dropped logs of a folder into one file.
 *
 * Each log keeps its identity and its rows. One sum for all logs would need fewer bytes. But it
 * could be too large: the fleet's database may already have some of the events of a log, and only
 * the command ship knows how many.
 *
 * The new file is whole and on the disk before the accounts are removed. If a crash leaves both,
 * ship sends each account at most once, because it finds that the database has the account already.
 *
 * ship reads the whole file for each log in the file. So a file that has MERGED_BYTES gets no
 * further account, and the next call begins another file. A single account that is larger than
 * MERGED_BYTES is not merged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/say.h"
#include "base/vec.h"
#include "query/account_load.h"
#include "query/query_account.h"
#include "query/query_schema.h"

#define MERGED_BYTES (1 << 20)
#define MERGED_PAGE  512

struct merge {
	const char *folder;
	char **path;        /* paths of the accounts that have one log each */
	size_t count;
	size_t merged;      /* the accounts of the first "merged" paths are in the new file */
	unsigned last;      /* the greatest number of a merged account; 0: no account is merged */
	sqlite3 *db;
	size_t parts;       /* logs in the new file */
};

/*
 * Returns whether the log of the account exists. The account has no meaning as long as its log
 * exists.
 */
static bool has_log(const char *account)
{
	bool found = false;

	for (int has_hash = 0; has_hash <= 1 && !found; has_hash++) {
		char *log = strndup(account, account_log_length(account, has_hash));

		found = log && *log && !access(log, F_OK) && account_is_of(account, log);
		free(log);
	}
	return found;
}

static bool is_small(const char *account)
{
	struct stat st;

	return !lstat(account, &st) && S_ISREG(st.st_mode) && st.st_size <= MERGED_BYTES;
}

/* Lists the accounts. Returns false if they need not, or cannot, be merged. */
static bool list_accounts(struct merge *merge)
{
	DIR *dir = opendir(merge->folder);
	struct dirent *entry;
	bool good = dir;

	while (good && (entry = readdir(dir))) {
		unsigned number = account_merged_number(entry->d_name);
		char *path;

		if (number > merge->last)
			merge->last = number;
		if (number || *entry->d_name == '.' || !account_is_name(entry->d_name))
			continue;
		good = asprintf(&path, "%s/%s", merge->folder, entry->d_name) >= 0;
		if (!good)
			break;
		good = vec_grow(&merge->path, merge->count, 1);
		if (good && is_small(path))
			merge->path[merge->count++] = path;
		else
			free(path);
	}
	if (dir)
		closedir(dir);
	return good && merge->count > ACCOUNT_APART;
}

static void forget_accounts(struct merge *merge)
{
	for (size_t i = 0; i < merge->count; i++)
		free(merge->path[i]);
	free(merge->path);
	sqlite3_close(merge->db);
}

/*
 * Appends the expression of a column's value in the new file. A text becomes its number in the
 * table words.
 */
static void put_value(sqlite3_str *sql, const struct query_schema_column *column)
{
	if (column->is_text)
		sqlite3_str_appendf(sql, "(SELECT id FROM temp.words WHERE value = t.\"%w\")",
				    column->name);
	else
		sqlite3_str_appendf(sql, "t.\"%w\"", column->name);
}

/* Makes the tables of the new file. Their statements are plain, as account_attach() demands. */
static int make_tables(struct merge *merge, const char *made)
{
	int err = account_run(merge->db, sqlite3_mprintf(
			"ATTACH %Q AS made; PRAGMA made.page_size = %d; "
			"PRAGMA made.journal_mode = OFF; PRAGMA made.synchronous = OFF; "
			"PRAGMA made.application_id = %d; PRAGMA temp_store = MEMORY; "
			"CREATE TABLE made.identity(uuid, log_id, host, begun); "
			"CREATE TABLE made.texts(value); "
			"CREATE TEMP TABLE words(id INTEGER PRIMARY KEY, value TEXT UNIQUE)",
			made, MERGED_PAGE, ACCOUNT_ID_MERGED));

	for (int i = 0; !err && i < QUERY_TABLES; i++) {
		const struct query_schema *schema = &query_schema[i];
		sqlite3_str *sql;

		if (!account_has_table(i))
			continue;
		sql = sqlite3_str_new(merge->db);
		sqlite3_str_appendf(sql, "CREATE TABLE made.%s(part", schema->name);
		for (size_t at = 0; at < query_schema_columns(schema); at++)
			sqlite3_str_appendf(sql, ", \"%w\"", schema->column[at].name);
		sqlite3_str_appendchar(sql, 1, ')');
		err = account_run(merge->db, sqlite3_str_finish(sql));
	}
	return err;
}

/*
 * Copies the rows of a table, and adds its texts to the words. A type without an event or a loss is
 * omitted, because no sum needs it. Most types of a log that the command record makes are such
 * types.
 */
static int add_table(struct merge *merge, int table)
{
	const struct query_schema *schema = &query_schema[table];
	sqlite3_str *sql = sqlite3_str_new(merge->db);

	for (size_t at = 0; at < query_schema_columns(schema); at++)
		if (schema->column[at].is_text)
			sqlite3_str_appendf(sql, "INSERT OR IGNORE INTO temp.words(value) "
					    "SELECT \"%w\" FROM account.%s "
					    "WHERE typeof(\"%w\") = 'text'; ",
					    schema->column[at].name, schema->name,
					    schema->column[at].name);
	sqlite3_str_appendf(sql, "INSERT INTO made.%s SELECT %llu", schema->name,
			    (unsigned long long)merge->parts);
	for (size_t at = 0; at < query_schema_columns(schema); at++) {
		sqlite3_str_appendall(sql, ", ");
		put_value(sql, &schema->column[at]);
	}
	sqlite3_str_appendf(sql, " FROM account.%s AS t%s", schema->name,
			    table == QUERY_TYPES ? " WHERE t.events <> 0 OR t.called <> 0 OR "
						   "t.lost <> 0" : "");
	return account_run(merge->db, sqlite3_str_finish(sql));
}

/* Copies the rows of the merged account that the new file replaces. */
static int copy_merged(struct merge *merge)
{
	int err = sqlite3_exec(merge->db, "INSERT INTO made.identity "
			       "SELECT * FROM account.identity; "
			       "INSERT INTO temp.words SELECT rowid, value FROM account.texts",
			       NULL, NULL, NULL);

	for (int i = 0; !err && i < QUERY_TABLES; i++)
		if (account_has_table(i))
			err = account_run(merge->db, sqlite3_mprintf(
					"INSERT INTO made.%s SELECT * FROM account.%s",
					query_schema[i].name, query_schema[i].name));
	return err;
}

/* Adds the account of one log. */
static int add_account(struct merge *merge)
{
	int err = sqlite3_exec(merge->db, "INSERT INTO made.identity "
			       "SELECT * FROM account.identity", NULL, NULL, NULL);

	merge->parts++;
	for (int i = 0; !err && i < QUERY_TABLES; i++)
		if (account_has_table(i))
			err = add_table(merge, i);
	return err;
}

/*
 * Adds the account at "path" to the new file. If the account cannot be read, it remains as it is,
 * and ship prints the reason later. Returns 0, or an error of SQLite about the new file.
 */
static int add_file(struct merge *merge, const char *path, bool wants_merged, bool *is_added)
{
	size_t parts;
	bool is_merged;
	int err = SQLITE_OK;

	say_nothing(true);
	*is_added = account_attach(merge->db, path, &parts, &is_merged) &&
		    is_merged == wants_merged;
	say_nothing(false);
	if (*is_added && is_merged) {
		err = copy_merged(merge);
		merge->parts = parts;
	} else if (*is_added) {
		err = add_account(merge);
	}
	sqlite3_exec(merge->db, "DETACH account", NULL, NULL, NULL);
	return err;
}

/*
 * Returns whether the new file has MERGED_BYTES. The texts are written to the file last. Until then
 * the table words has each text twice: in a row and in the index of the rows.
 */
static bool is_full(struct merge *merge)
{
	return account_number(merge->db, "PRAGMA made.page_count") * MERGED_PAGE +
		       account_number(merge->db, "PRAGMA temp.page_count") *
			       account_number(merge->db, "PRAGMA temp.page_size") / 2 >=
	       MERGED_BYTES;
}

/*
 * Writes the new file. The paths of the accounts in the new file are moved to the beginning of the
 * list.
 */
static int write_merged(struct merge *merge, const char *made, const char *old)
{
	bool is_added;
	int err;

	sqlite3_close(merge->db);
	merge->merged = merge->parts = 0;
	unlink(made);
	err = account_new(&merge->db);
	if (!err)
		err = make_tables(merge, made);
	if (!err && old) {
		err = add_file(merge, old, true, &is_added);
		if (!err && !is_added)
			err = SQLITE_CORRUPT;
	}
	for (size_t i = 0; !err && i < merge->count && !(merge->merged && is_full(merge)); i++) {
		char *path = merge->path[i];

		if (has_log(path))
			continue;
		err = add_file(merge, path, false, &is_added);
		if (!is_added)
			continue;
		merge->path[i] = merge->path[merge->merged];
		merge->path[merge->merged++] = path;
	}
	if (!err)
		err = sqlite3_exec(merge->db, "INSERT INTO made.texts(rowid, value) "
				   "SELECT id, value FROM temp.words ORDER BY id; DETACH made",
				   NULL, NULL, NULL);
	if (err)
		say("%s: %s", old ? old : made, sqlite3_errstr(err));
	return err;
}

/*
 * Merges the accounts into the merged account of this number, which may exist. Returns false if an
 * existing merged account is full or cannot be copied. The caller then needs another number.
 */
static bool merge_into(struct merge *merge, unsigned number)
{
	char *made = NULL, *merged = NULL;
	bool has_old, is_possible = true;
	struct stat st;
	int64_t growth;
	int err = ENOMEM;

	if (asprintf(&merged, "%s/" ACCOUNT_MERGED, merge->folder, number) < 0)
		return true;
	if (asprintf(&made, "%s/.merged.new", merge->folder) < 0) {
		free(merged);
		return true;
	}
	has_old = !lstat(merged, &st);
	if (has_old && st.st_size >= MERGED_BYTES) {
		is_possible = false;
	} else if (write_merged(merge, made, has_old ? merged : NULL)) {
		is_possible = !has_old;
	} else if (merge->merged) {
		err = account_keep_file(made, merged, &growth);
		if (err)
			say("%s: %s", merged, strerror(err));
	}
	for (size_t i = 0; !err && i < merge->merged; i++)
		unlink(merge->path[i]);
	if (err)
		unlink(made);
	free(made);
	free(merged);
	return is_possible;
}

/* Merges while the lock of the folder is held. */
static void merge_locked(struct merge *merge)
{
	if ((!merge->last || !merge_into(merge, merge->last)) && merge->last < ACCOUNT_MERGED_MOST)
		merge_into(merge, merge->last + 1);
}

/* Locks the folder against other processes that merge. Returns a descriptor, or -1. */
static int lock_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * If the folder is locked, another process is merging. The function then does nothing, and the next
 * call merges.
 */
void account_merge(const char *folder)
{
	struct merge merge = { .folder = folder };
	int fd = lock_folder(folder);

	if (fd < 0)
		return;
	if (list_accounts(&merge))
		merge_locked(&merge);
	forget_accounts(&merge);
	close(fd);
}

bool account_is_unchanged(const char *account, const struct stat *was)
{
	struct stat st;

	return !lstat(account, &st) && st.st_dev == was->st_dev && st.st_ino == was->st_ino &&
	       st.st_size == was->st_size && st.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

bool account_remove_merged(const char *account, const struct stat *was)
{
	char *folder = disk_folder(account);
	int fd = folder ? lock_folder(folder) : -1;
	bool good = false;

	if (fd >= 0 && account_is_unchanged(account, was)) {
		good = !unlink(account);
		if (!good)
			say("%s: %s", account, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	free(folder);
	return good;
}
