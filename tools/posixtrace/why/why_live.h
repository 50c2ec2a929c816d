/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* why_live.h - records a process or a program for the command why, which then needs no log. */
#ifndef POSIXTRACE_WHY_WHY_LIVE_H
#define POSIXTRACE_WHY_WHY_LIVE_H

#include <stdbool.h>

struct why_live {
	const char *pid;      /* the process to attach to; NULL: none */
	bool runs_program;    /* the operands are a program and its arguments */
	const char *duration; /* for a process; NULL: DURATION */
	const char *output;   /* the log to keep; NULL: it is removed at the end */
	char *folder;         /* the temporary folder of the log, or NULL */
	char *path;           /* the log */
	bool has_tried;       /* the recorder was started, or should have been */
};

/*
 * Records the process, or the program in the array of words that ends with NULL, and stores the
 * path of the log in live->path. Returns a status of the tool; if it is not TOOL_OK, an error was
 * printed. why_live_end() removes the log if it is temporary, also after an error.
 */
int why_live_record(struct why_live *live, char *const *program);
void why_live_end(struct why_live *live);

/*
 * Removes the log if it is temporary. It must be open. A signal that ends this process then leaves
 * no file.
 */
void why_live_opened(struct why_live *live);

/*
 * Says where each thread of the process is blocked now. For a process that made no call and had no
 * CPU while it was recorded, the log has no answer, because its calls began before.
 */
void why_live_threads(const struct why_live *live);

#endif
