/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* account_load.h - opens the files of accounts, for the files that read, write and merge them. */
#ifndef POSIXTRACE_QUERY_ACCOUNT_LOAD_H
#define POSIXTRACE_QUERY_ACCOUNT_LOAD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

#define ACCOUNT_ID	   0x50545841 /* application_id of an account: "PTXA" */
#define ACCOUNT_ID_MERGED  0x5054584d /* of a merged account: "PTXM" */
#define ACCOUNT_UUID_BYTES 16

/*
 * Returns whether an account has the table. An account lacks the tables that need the events, and
 * the table of objects, which no ledger needs.
 */
bool account_has_table(int table);

/*
 * Executes an SQL text that sqlite3_mprintf() or sqlite3_str_finish() has made, and frees the text.
 * Returns an error of SQLite or 0.
 */
int account_run(sqlite3 *db, char *sql);
/* Executes a statement that returns one integer. Returns this integer, or -1 after an error. */
int64_t account_number(sqlite3 *db, const char *sql);

/* Makes an empty database in memory, with limits for hostile files. */
int account_new(sqlite3 **db);
/*
 * Attaches the bytes of an account as the database account. Stores the number of the account's logs
 * in *parts. Stores in *is_merged whether the account is a merged account. Returns false after it
 * printed an error.
 */
bool account_attach(sqlite3 *db, const char *account, size_t *parts, bool *is_merged);

/* Reads the identity of a log. Returns false if it is not valid. */
bool account_identity(sqlite3 *db, size_t part, struct posix_trace_loginfo_np *info);

/*
 * Returns whether the account can be read, is not merged, and has the identity of this log. Prints
 * nothing.
 */
bool account_has_identity(const char *account, const struct posix_trace_loginfo_np *log);

/*
 * Gives the file "made" its final name, "account". A crash of the machine leaves either the whole
 * file under the final name or no file of this name. Stores the bytes by which the folder has grown
 * in *growth. Returns 0 or an error number.
 */
int account_keep_file(const char *made, const char *account, int64_t *growth);

#endif
