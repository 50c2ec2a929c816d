/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/mapped.h - the file that contains an event's address, and two loadable libraries that
 * record events. A program that uses these functions must run in the folder that has posix/, as in
 * make check.
 */
#ifndef PTX_TESTS_MAPPED_H
#define PTX_TESTS_MAPPED_H

#include <limits.h>
#include <stdbool.h>

#include "support/stream.h"

/* Returns the path of the file of this program. */
const char *program_path(void);

/* Finds the event with this number in the log, and the file that has its address. Returns false if
 * the file is not known. */
bool mapping_of(int fd, int number, struct posix_trace_mapping_np *mapping, char *path);

/* Fails unless the event's address is in the file `expected`. This path has no symbolic links. */
void assert_from(int fd, int number, const char *expected);

/* A loaded plugin. There are two plugins, with the names "first" and "second". */
struct plugin {
	void *handle;
	void (*trace)(trace_event_id_t id, int number);
	char path[PATH_MAX];
};

struct plugin plugin_load(const char *name);

/* Fails unless the event's address is in this plugin, loaded by any process. */
void assert_from_plugin(int fd, int number, const char *name);

#endif
