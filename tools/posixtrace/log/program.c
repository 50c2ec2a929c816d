/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.c - finds the name of a traced program in events and mappings. */
#include "log/program.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "log/field.h"
#include "log/jit.h"

void program_base(char name[PROGRAM_NAME_BYTES], const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	size_t skipped = slash ? (size_t)(slash + 1 - path) : 0;

	snprintf(name, PROGRAM_NAME_BYTES, "%.*s", (int)(len - skipped), path + skipped);
}

pid_t program_from_event(const char *type, const struct posix_trace_schema_np *schema,
			 const void *data, size_t len, pid_t pid, char name[PROGRAM_NAME_BYTES])
{
	const bool is_of_recorder = !strcmp(type, PROGRAM_ATTACHED);
	struct posix_trace_value_np value;
	int field = program_is_in_event(type) ? field_index(schema, "program") : -1;

	if (field < 0 ||
	    !posix_trace_field_get_np(schema, (unsigned)field, 0, data, len, 0, &value) ||
	    value.field->form != POSIX_TRACE_FORM_BYTES_NP)
		return 0;
	program_base(name, value.data, value.len);
	field = is_of_recorder ? field_index(schema, "pid") : -1;
	if (is_of_recorder && (field < 0 ||
	    !posix_trace_field_get_np(schema, (unsigned)field, 0, data, len, 0, &value) ||
	    value.field->form != POSIX_TRACE_FORM_SIGNED_NP))
		return 0;
	return is_of_recorder ? (pid_t)value.s64 : pid;
}

bool program_mapped(trace_id_t log, pid_t pid, int64_t time_ns, char name[PROGRAM_NAME_BYTES],
		    pid_t *parent)
{
	struct posix_trace_mapping_np mapping;
	uint64_t lowest = UINT64_MAX;
	const char *path = NULL;
	int unavailable;

	*parent = 0;
	if (posix_trace_mapping_rewind_np(log))
		return false;
	while (!posix_trace_mapping_getnext_np(log, &mapping, &unavailable) && !unavailable) {
		/*
		 * A process may replace its program by execve(), so only the mappings at the given
		 * time are used.
		 */
		if (mapping.pid != pid || mapping.from_ns > time_ns || mapping.until_ns < time_ns)
			continue;
		/*
		 * An entry with a parent is not a mapping: it means that this parent forked the
		 * process.
		 */
		if (mapping.parent)
			*parent = mapping.parent;
		else if (mapping.start < lowest && !jit_is_path(mapping.path))
			lowest = mapping.start, path = mapping.path;
	}
	/*
	 * The mapping with the lowest address is the program, because the kernel maps it below its
	 * shared libraries.
	 */
	if (path)
		program_base(name, path, strlen(path));
	return path != NULL;
}
