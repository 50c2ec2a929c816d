/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program.h - the program that a process of a trace executes, by its file's name without folders:
 * what an event process.start of libposixtrace-preload.so says, or else the lowest file that was
 * mapped.
 */
#ifndef POSIXTRACE_LOG_PROGRAM_H
#define POSIXTRACE_LOG_PROGRAM_H

#include <stdbool.h>
#include <trace_np.h>

#define PROGRAM_NAME_BYTES (POSIX_TRACE_OBJECT_NAME_MAX_NP + 1)

/* False: the event does not say it. */
bool program_told(const char *type, const struct posix_trace_schema_np *schema, const void *data,
		  size_t len, char name[PROGRAM_NAME_BYTES]);

/*
 * What a log knows by the mappings of that process at that time. False: nothing; if *parent is not
 * 0, the process then executed what that one did.
 */
bool program_mapped(trace_id_t log, pid_t pid, int64_t time_ns, char name[PROGRAM_NAME_BYTES],
		    pid_t *parent);

#endif
