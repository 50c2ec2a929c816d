/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* why_live.h - records a process or a program for the command why, which then needs no log. */
#ifndef POSIXTRACE_WHY_WHY_LIVE_H
#define POSIXTRACE_WHY_WHY_LIVE_H

#include <stdbool.h>

struct why_live {
	const char *pid;      /* the process to attach to; NULL: none */
	bool runs_program;    /* the operands are a program and its arguments */
	const char *duration; /* how long a process is recorded; NULL: DURATION */
	const char *output;   /* the log to keep; NULL: it is removed at the end */
	char *folder;         /* the temporary folder of the log, or NULL */
	char *path;           /* the log */
	bool has_tried;       /* why has tried to start the recorder */
};

/*
 * Records the process, or the program in the array of words that ends with NULL, and stores the
 * path of the log in live->path. Returns a status of the tool; if it is not TOOL_OK, an error was
 * printed. why_live_end() removes the log if it is temporary, also after an error.
 */
int why_live_record(struct why_live *live, char *const *program);
void why_live_end(struct why_live *live);

/*
 * Removes the file of the log if it is temporary. The log must be open, and remains readable. A
 * signal that ends this process later then leaves no file.
 */
void why_live_opened(struct why_live *live);

/*
 * Prints where each thread of the process is blocked now. If the process completed no call and had
 * no CPU during the recording, the log has no answer, because the calls of the process began
 * before.
 */
void why_live_threads(const struct why_live *live);

#endif
