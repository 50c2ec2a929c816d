/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_account.h - the accounts of logs that were dropped before they were shipped.
 *
 * A spool is a folder with logs of limited size. If it is full, the oldest log is dropped and its
 * account remains: a file with the suffix .account, a database of SQLite with the small tables of
 * the command query and the identity of the log. The command ship sends it instead of the log. So
 * the dropped events are lost events of a fleet's ledger.
 *
 * A log is removed only after its account is on the disk. If a crash leaves both files, the log is
 * valid, and the account has no meaning. A later log may have the name of a log that was dropped.
 * Therefore an account belongs to the log whose identity it has, not to the log whose name it has.
 */
#ifndef POSIXTRACE_QUERY_QUERY_ACCOUNT_H
#define POSIXTRACE_QUERY_QUERY_ACCOUNT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#define ACCOUNT_SUFFIX ".account"
/* A log that is not larger is not dropped, because its account could need as many bytes. */
#define ACCOUNT_BYTES  16384

/* Returns whether the name has the suffix, and the name of the log in front of it. */
bool account_is_name(const char *name);

/* After a result other than ACCOUNT_WRITTEN, the reason was printed. */
enum account_result {
	ACCOUNT_WRITTEN,
	ACCOUNT_NO_LOG, /* the log cannot be read at all, so it has no account */
	ACCOUNT_FAILED  /* the account cannot be written, for example because the disk is full */
};

struct account_written {
	uint64_t events; /* of the log */
	int64_t growth;  /* the bytes by which the folder has grown */
};

/*
 * Writes the account of the log to a file, which appears whole and on the disk: name with the
 * suffix. If this file is the account of another log, the identity is a part of the name.
 */
enum account_result account_write(const char *log, const char *name,
				  struct account_written *written);

/* Returns whether both can be read, and the account is that of the log. Prints nothing. */
bool account_is_of(const char *account, const char *log);

/*
 * Reads an account into a new database in memory, which has all small tables of the command query
 * and an empty table spans. Only the members uuid, log_id, host and begin_ns of *info are set. The
 * file may be hostile. Returns false after it printed an error.
 */
bool account_read(const char *account, sqlite3 **db, struct posix_trace_loginfo_np *info);

#endif
