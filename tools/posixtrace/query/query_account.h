/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_account.h - the accounts of logs that were dropped before they were shipped.
 *
 * A spool is a folder with logs of limited size. If the spool is full, its oldest log is dropped,
 * and the account of this log remains. An account is a file with the suffix .account: a database of
 * SQLite with the small tables of the command query and the identity of the log. The command ship
 * sends the account instead of the log. So the dropped events are lost events of a fleet's ledger.
 *
 * A log is removed only after its account is on the disk. If a crash leaves both files, the log is
 * valid, and the account has no meaning. A later log may have the name of a log that was dropped.
 * Therefore an account belongs to the log whose identity it has, not to the log whose name it has.
 */
#ifndef POSIXTRACE_QUERY_QUERY_ACCOUNT_H
#define POSIXTRACE_QUERY_QUERY_ACCOUNT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#include "query/account_name.h"
#include "query/query.h"

enum account_result {
	ACCOUNT_WRITTEN,
	ACCOUNT_NO_LOG, /* the file is missing or is no log, so no account is written */
	/*
	 * The log cannot be opened now, for the reason "err", and nothing was printed. The log may
	 * be readable later, so it must remain.
	 */
	ACCOUNT_UNKNOWN,
	/*
	 * The account cannot be written, for example because the disk is full. The function has
	 * printed the reason.
	 */
	ACCOUNT_FAILED
};

struct account_written {
	uint64_t events; /* number of the log's events */
	int64_t growth;  /* the bytes by which the folder has grown */
	int err;         /* why the log could not be opened */
};

/*
 * Writes the account of the log to a file whose name is "name" with the suffix of accounts. The
 * file appears only when it is whole and on the disk. If the account of another log already has
 * this name, the name of the new file also has a hash of the log's identity. account_write_open()
 * does the same for a log that is open, and returns ACCOUNT_WRITTEN or ACCOUNT_FAILED.
 */
enum account_result account_write(const char *log, const char *name,
				  struct account_written *written);
enum account_result account_write_open(struct query_log *of, const char *name,
				       struct account_written *written);

/*
 * Merges the accounts of the folder if more than ACCOUNT_APART of them have only one log. A merged
 * account has the same tables, with the rows of all its logs. It has each text only once. Types
 * without events and losses have no rows. So a log in it needs less than a tenth of the bytes. Two
 * processes do not merge at the same time. An account whose log exists remains. After an error,
 * which the function prints, the accounts remain.
 */
void account_merge(const char *folder);

struct stat;
/*
 * Returns whether the file at the path is still the file that was read, and not another file with
 * the same name.
 */
bool account_is_unchanged(const char *account, const struct stat *was);

/*
 * Removes the merged account if it is still the file that was read. Returns false if another
 * process is merging or has added an account, or after an error; the caller must then read the file
 * again.
 */
bool account_remove_merged(const char *account, const struct stat *was);

/*
 * Returns whether the account and the log can be read, and the account belongs to the log. Prints
 * nothing.
 */
bool account_is_of(const char *account, const char *log);

/*
 * Reads the account of one log into a new database in memory, which has all small tables of the
 * command query and an empty table spans. The function sets only the members uuid, log_id, host and
 * begin_ns of *info. "part" is the number of the log in a merged account, otherwise 1. *parts
 * becomes the number of logs, or 0 if the file is not an account. The file may be hostile. Returns
 * false after it printed an error.
 */
bool account_read(const char *account, size_t part, size_t *parts, sqlite3 **db,
		  struct posix_trace_loginfo_np *info);

#endif
