/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * processes.h - all processes of a recording, and how each of them ended.
 *
 * The log shows the processes, because the preload library records their begins, and the ends of
 * those for which a traced process waits. The recorder adds the ends that it finds elsewhere, so
 * that the log has an event posixtrace_ended for each process that has ended:
 *
 * 	the recorder's own children               waitpid(2)
 * 	children of system()                      the status that system() returned
 * 	zombies                                   /proc
 * 	processes that called exit() or _exit()   the status that they passed
 * 	others                                    unknown
 *
 * One thread uses these functions.
 */
#ifndef POSIXTRACE_LIVE_PROCESSES_H
#define POSIXTRACE_LIVE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/pidset.h"
#include "live/capture.h"

struct json;
struct out;
struct process_row;

struct processes {
	struct process_row *row; /* in the order in which the log first mentions them */
	size_t rows;
	struct pidset pids;
	size_t *last;            /* for each of the pids, the index of its last row */
	size_t lasts;
	/* ends that the caller knows, and for which the log may have no event */
	struct process_known *known;
	size_t knowns;
	uint64_t steps;          /* see STEPS in processes.c */
	size_t guests;           /* children that use the thread-local memory of their parent */
};

/*
 * Keeps an end that the caller knows, until processes_read(). If memory is lacking, the end is not
 * kept.
 */
void processes_set_end(struct processes *processes, pid_t pid, int status);

/*
 * Reads the processes from the logs of a recording, which may still be written, and finds out the
 * ends that the logs do not have. Parts of the logs that cannot be read are omitted.
 */
struct rotation;
void processes_read(struct processes *processes, const struct rotation *logs);

/*
 * Reads the processes, and records the ends that the log does not have. The function must be called
 * before the end of a recording. It does nothing if the stream has only one process, and each
 * program that this process executed has recorded its begin. In this case the log need not be read.
 * It also does nothing for a stream in loop mode, because the log of such a stream is written only
 * at the end.
 */
void processes_complete(struct processes *processes, struct capture *capture,
			const struct rotation *logs);

/*
 * Writes a line with the number of processes for each kind of end. The line names the first
 * processes that did not exit with 0. If there was only one process, there is no such line. If the
 * calls of some children are not recorded, because these children use the thread-local memory of
 * their parent, a line before this line has the number of these children.
 */
void processes_text(struct out *out, const struct processes *processes);

/* Writes an array with pid, parent, program and status of each process. */
void processes_json(struct json *json, const char *name, const struct processes *processes);

/* Frees the memory. There are no processes afterwards. */
void processes_fini(struct processes *processes);

#endif
