/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program.h - finds the program that a process of a trace executes. The name of the program is the
 * path by which the program was executed, without folders. It comes from an event process.start of
 * libposixtrace-preload.so, or from the event posixtrace_attached of the command attach. If the log
 * has no such event, it is the name of the mapped file with the lowest address.
 */
#ifndef POSIXTRACE_LOG_PROGRAM_H
#define POSIXTRACE_LOG_PROGRAM_H

#include <stdbool.h>
#include <string.h>
#include <trace_np.h>

#define PROGRAM_NAME_BYTES (POSIX_TRACE_OBJECT_NAME_MAX_NP + 1)

/*
 * The event that the command attach records for the process to which it attached. The field
 * "program" has the path that was the argument of execve(2).
 */
#define PROGRAM_ATTACHED        "posixtrace_attached"
#define PROGRAM_ATTACHED_SCHEMA "s32 pid; str program"

/* Returns whether events of the type with this name may have the name of a program. */
static inline bool program_is_in_event(const char *type)
{
	return type[0] == 'p' && (!strcmp(type, "process.start") ||
				  !strcmp(type, PROGRAM_ATTACHED));
}

/* Stores the part of a path behind the last slash. The path of an event has no terminating NUL. */
void program_base(char name[PROGRAM_NAME_BYTES], const char *path, size_t len);

/*
 * Gets the name from the data of an event of this type. pid is the process of the event. Returns
 * the process that executes the program, or 0 if the event has no name.
 */
pid_t program_from_event(const char *type, const struct posix_trace_schema_np *schema,
			 const void *data, size_t len, pid_t pid, char name[PROGRAM_NAME_BYTES]);

/*
 * Gets the name from the log's mappings of the process at that time. If the log has none, returns
 * false and sets *parent. If *parent is not 0, the process executes the same program as its parent,
 * the process *parent.
 */
bool program_mapped(trace_id_t log, pid_t pid, int64_t time_ns, char name[PROGRAM_NAME_BYTES],
		    pid_t *parent);

#endif
