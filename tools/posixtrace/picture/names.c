/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.c - the names of the threads of a picture. */
#include <stdio.h>
#include <string.h>

#include "picture/picture.h"

/* greatest number of ancestors whose program is searched; bounds the recursion */
#define GENERATIONS 8

/*
 * Stores the name of the program if the event has one. A preloaded program records the name by
 * which it was called. This name may differ from the name of its file. The event of the command
 * attach has the name of another process, whose row may not exist yet.
 */
void rows_program(struct picture_log *log, struct picture_row *row, const struct log_type *type,
		  const struct posix_trace_event_np *event)
{
	const pid_t own = event->info.posix_pid;
	char name[PROGRAM_NAME_BYTES];
	const pid_t pid = program_from_event(type->name, type->schema, event->data, event->data_len,
					     own, name);

	if (pid == own && pid) {
		memcpy(row->name, name, sizeof(row->name));
	} else if (pid > 0) {
		log->attached = pid;
		memcpy(log->attached_name, name, sizeof(log->attached_name));
	}
}

/*
 * Stores the name that the program has set for the thread. Returns false if the log has no such
 * name. The function searches the name that was valid at the thread's end or last event, because
 * the pthread_t may later belong to another thread.
 */
static bool thread_name(const struct picture *picture, struct picture_row *row)
{
	struct posix_trace_object_np object;

	if (!thread_name_find(picture->log[row->log].log.trid, row->pid, row->thread,
			      thread_life_name_ns(&row->life, row->last_ns), &object))
		return false;
	memcpy(row->name, object.name, sizeof(row->name));
	return true;
}

/*
 * Returns the row of the first thread of a process: the thread whose number is the number of the
 * process. Returns NULL if this thread has no row.
 */
static const struct picture_row *first_thread(const struct picture *picture, uint16_t log,
					      pid_t pid)
{
	for (size_t i = 0; i <= PICTURE_ROWS; i++)
		if (picture->row[i].pid == pid && picture->row[i].tid == pid &&
		    picture->row[i].log == log)
			return &picture->row[i];
	return NULL;
}

/*
 * Names a row by the program of the process "pid". If this program is not known, the row gets the
 * program of the parent, because a child runs the program of its parent until it calls execve(). In
 * a damaged log, two processes may be the parents of each other. So the recursion ends after
 * GENERATIONS steps; "deep" is the number of steps so far.
 */
static void program_name(const struct picture *picture, pid_t pid, struct picture_row *row,
			 int deep)
{
	const struct picture_row *first = first_thread(picture, row->log, pid);
	pid_t parent;

	if (first && *first->name)
		memcpy(row->name, first->name, sizeof(row->name));
	else if (picture->log[row->log].attached == pid)
		memcpy(row->name, picture->log[row->log].attached_name, sizeof(row->name));
	else if (!program_mapped(picture->log[row->log].log.trid, pid, row->last_ns, row->name,
				 &parent) && parent && deep < GENERATIONS)
		program_name(picture, parent, row, deep + 1);
}

/*
 * The name that the program has set for a thread has priority. Without such a name, a row keeps the
 * program's name from an event. If the row of a first thread has no such name, either,
 * program_name() finds the program's name.
 */
void rows_name(struct picture *picture)
{
	for (size_t i = 0; i <= PICTURE_ROWS; i++) {
		struct picture_row *row = &picture->row[i];

		if (row->pid > 0 && !thread_name(picture, row) && row->pid == row->tid &&
		    !*row->name)
			program_name(picture, row->pid, row, 0);
	}
}

/*
 * In the row of the other threads, process and thread are negative numbers. The row of process 0
 * has the events of the stream itself, which no thread recorded.
 */
void rows_label(const struct picture_row *row, char *text, size_t size)
{
	if (row->pid < 0)
		snprintf(text, size, "other threads");
	else if (!row->pid)
		snprintf(text, size, "the stream");
	else
		snprintf(text, size, "%s%s%d / %d", row->name, *row->name ? "  " : "",
			 (int)row->pid, (int)row->tid);
}
