/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sqlite_worker.c - one job at a time is passed to the thread, under a lock. */
#include "convert/text/sqlite_worker.h"

#define PASSES_ALONE 2 /* a short conversion does not start a thread */

void worker_init(struct worker *worker)
{
	*worker = (struct worker){ .answer = SQLITE_DONE };
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
}

/*
 * Executes the statement. After an error it is not reset, since that would remove the message of
 * the error.
 */
static int insert_passed(sqlite3_stmt *statement, struct rows *rows)
{
	int answer = sqlite3_step(statement);

	if (answer == SQLITE_DONE)
		sqlite3_reset(statement);
	rows_clear(rows);
	return answer;
}

static void *worker_thread(void *arg)
{
	struct worker *worker = arg;
	int answer;

	pthread_mutex_lock(&worker->lock);
	while (!worker->ends) {
		if (!worker->statement) {
			pthread_cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		answer = insert_passed(worker->statement, worker->rows);
		pthread_mutex_lock(&worker->lock);
		worker->answer = answer;
		worker->statement = NULL;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

void worker_pass(struct worker *worker, sqlite3_stmt *statement, struct rows *rows)
{
	if (!worker->is_running && ++worker->passes > PASSES_ALONE)
		worker->is_running = !pthread_create(&worker->thread, NULL, worker_thread, worker);
	if (!worker->is_running) {
		worker->answer = insert_passed(statement, rows);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	worker->rows = rows;
	worker->statement = statement;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

int worker_wait(struct worker *worker)
{
	if (!worker->is_running)
		return worker->answer;
	pthread_mutex_lock(&worker->lock);
	while (worker->statement)
		pthread_cond_wait(&worker->changed, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
	return worker->answer;
}

void worker_fini(struct worker *worker)
{
	if (worker->is_running) {
		worker_wait(worker);
		pthread_mutex_lock(&worker->lock);
		worker->ends = true;
		pthread_cond_signal(&worker->changed);
		pthread_mutex_unlock(&worker->lock);
		pthread_join(worker->thread, NULL);
	}
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
}
