/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_names.h - the side file with the names of user events, for TraceX's CustomEvents folder.
 *
 * The file has a line "Start", a line for each event, and a line "End". The line of an event has
 * its number, its name, an abbreviation, two colours (r,g,b) and a label for each of four fields.
 * Commas separate these parts.
 */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_NAMES_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <trace.h>

struct out;

struct tracex_name {
	uint32_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	char info[4][32];
};

struct tracex_names {
	struct tracex_name *name;
	size_t count;
};

/* Reads a side file. Returns TOOL_OK, or another status after a message about the file. */
int tracex_names_read(struct tracex_names *names, const char *path);
void tracex_names_free(struct tracex_names *names);
/* Returns the line of the event with this id, or NULL if the file has none. */
const struct tracex_name *tracex_names_find(const struct tracex_names *names, uint32_t id);

/* Writes the line of an event; the name may have any bytes. */
void tracex_names_put(struct out *out, uint32_t id, const char *name, size_t name_len);

#endif
