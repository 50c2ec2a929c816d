/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.c - what the threads of a picture are called. */
#include <stdio.h>
#include <string.h>

#include "picture/picture.h"

#define GENERATIONS 8 /* of children that execute nothing */

static void set_base(struct picture_row *row, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	size_t skipped = slash ? (size_t)(slash + 1 - path) : 0;

	snprintf(row->name, sizeof(row->name), "%.*s", (int)(len - skipped), path + skipped);
}

/* Preloaded programs tell how they were called, which need not be what their file is called. */
void rows_program(struct picture_row *row, const struct log_type *type,
		  const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;

	if (!type->schema || strcmp(type->name, "process.start"))
		return;
	for (unsigned i = 0; i < type->schema->fields; i++)
		if (!strcmp(type->schema->field[i].name, "program") &&
		    posix_trace_field_get_np(type->schema, i, 0, event->data, event->data_len, 0, &value) &&
		    value.field->form == POSIX_TRACE_FORM_BYTES_NP)
			set_base(row, value.data, value.len);
}

static bool thread_name(const struct picture *picture, struct picture_row *row)
{
	struct posix_trace_object_np object;

	if (!row->thread || posix_trace_object_find_np(picture->log.trid, row->pid, row->thread,
						       row->last_ns, &object) ||
	    object.kind != POSIX_TRACE_OBJECT_THREAD_NP)
		return false;
	memcpy(row->name, object.name, sizeof(row->name));
	return true;
}

static const struct picture_row *first_thread(const struct picture *picture, pid_t pid)
{
	for (size_t i = 0; i <= PICTURE_ROWS; i++)
		if (picture->row[i].pid == pid && picture->row[i].tid == pid)
			return &picture->row[i];
	return NULL;
}

/* The program is mapped below its libraries. */
static void program_name(const struct picture *picture, pid_t pid, struct picture_row *row, int deep)
{
	trace_id_t log = picture->log.trid;
	struct posix_trace_mapping_np mapping;
	const struct picture_row *first = first_thread(picture, pid);
	const char *path = NULL;
	uint64_t lowest = UINT64_MAX;
	pid_t parent = 0;
	int unavailable;

	if (first && *first->name) {
		memcpy(row->name, first->name, sizeof(row->name));
		return;
	}
	if (posix_trace_mapping_rewind_np(log))
		return;
	while (!posix_trace_mapping_getnext_np(log, &mapping, &unavailable) && !unavailable) {
		if (mapping.pid != pid || mapping.from_ns > row->last_ns || mapping.until_ns < row->last_ns)
			continue;
		if (mapping.parent)
			parent = mapping.parent;
		else if (mapping.start < lowest)
			lowest = mapping.start, path = mapping.path;
	}
	if (path)
		set_base(row, path, strlen(path));
	else if (parent && deep < GENERATIONS)
		program_name(picture, parent, row, deep + 1);
}

void rows_name(struct picture *picture)
{
	for (size_t i = 0; i <= PICTURE_ROWS; i++) {
		struct picture_row *row = &picture->row[i];

		if (row->pid > 0 && !thread_name(picture, row) && row->pid == row->tid && !*row->name)
			program_name(picture, row->pid, row, 0);
	}
}

void rows_label(const struct picture_row *row, char *text, size_t size)
{
	if (row->pid < 0)
		snprintf(text, size, "other threads");
	else if (!row->pid)
		snprintf(text, size, "the stream");
	else
		snprintf(text, size, "%s%s%d / %d", row->name, *row->name ? "  " : "", (int)row->pid,
			 (int)row->tid);
}
