/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite_worker.h - a thread that inserts rows while the thread of the conversion reads events and
 * prepares the next rows.
 *
 * SQLite runs without mutexes, so only one of the two threads may use the database at a time. After
 * worker_pass() it is the worker; after worker_wait() it is the caller.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_SQLITE_WORKER_H
#define POSIXTRACE_CONVERT_TEXT_SQLITE_WORKER_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "convert/text/sqlite_rows.h"

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* what is to be inserted; NULL: the worker has nothing to do */
	sqlite3_stmt *statement;
	struct rows *rows;
	unsigned passes;
	bool is_running, ends;
	int answer;            /* of the last statement: SQLITE_DONE, or an error */
};

/* Prepares a worker without a thread: worker_pass() starts one. */
void worker_init(struct worker *worker);

/*
 * Inserts the rows by the statement and removes them. The caller has called worker_wait() before,
 * and touches neither the rows nor the database until it has called it again. The first passes, and
 * all passes if no thread can be started, are done by the caller itself.
 */
void worker_pass(struct worker *worker, sqlite3_stmt *statement, struct rows *rows);

/*
 * Waits until all rows that were passed are inserted. Returns SQLITE_DONE or an error of SQLite.
 * After an error, the caller calls sqlite3_errmsg() before anything else.
 */
int worker_wait(struct worker *worker);

/* Ends the thread. Called before the statements are finalized. */
void worker_fini(struct worker *worker);

#endif
