/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/mapped.h - which file an event of a log came from, and two libraries that can be loaded
 * and have events come from them. It runs in the folder that holds posix/, as make check does it.
 */
#ifndef PTX_TESTS_MAPPED_H
#define PTX_TESTS_MAPPED_H

#include <limits.h>
#include <stdbool.h>

#include "support/stream.h"

/* The file of this program. */
const char *program_path(void);

/* The event with that number in the log, and what is known of its address; false: nothing. */
bool mapping_of(int fd, int number, struct posix_trace_mapping_np *mapping, char *path);

/* Fails unless that event came from this file, which has no link in its path. */
void assert_from(int fd, int number, const char *expected);

/* Two of them: the "first" and the "second". */
struct plugin {
	void *handle;
	void (*trace)(trace_event_id_t id, int number);
	char path[PATH_MAX];
};

struct plugin plugin_load(const char *name);

/* Fails unless that event came from this plugin, whoever loaded it. */
void assert_from_plugin(int fd, int number, const char *name);

#endif
