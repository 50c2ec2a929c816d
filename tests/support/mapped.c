/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/mapped.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/log.h"

const char *program_path(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	return path;
}

bool mapping_of(int fd, int number, struct posix_trace_mapping_np *mapping, char *path)
{
	struct posix_trace_event_np event;
	trace_id_t trid = log_open(fd);
	int unavailable, value, err;
	bool found = false;

	for (;;) {
		OK(posix_trace_getnext_np(trid, &event, &unavailable));
		ck_assert_msg(!unavailable, "there is no event %d", number);
		if (event.data_len != sizeof(value) ||
		    event.info.posix_event_id <= POSIX_TRACE_FLUSH_STOP)
			continue;
		memcpy(&value, event.data, sizeof(value));
		if (value == number)
			break;
	}
	err = posix_trace_mapping_find_np(trid, event.info.posix_pid,
					  (uintptr_t)event.info.posix_prog_address, event.time_ns,
					  mapping);
	if (err != ENOENT) {
		ck_assert_int_eq(err, 0);
		found = true;
		ck_assert_uint_le(mapping->start, (uintptr_t)event.info.posix_prog_address);
		ck_assert_uint_gt(mapping->end, (uintptr_t)event.info.posix_prog_address);
		snprintf(path, PATH_MAX, "%s", mapping->path);
	}
	log_close(trid);
	return found;
}

void assert_from(int fd, int number, const char *expected)
{
	struct posix_trace_mapping_np mapping;
	char path[PATH_MAX], real[PATH_MAX];

	ck_assert_msg(mapping_of(fd, number, &mapping, path), "nothing is known of event %d",
		      number);
	ck_assert_ptr_nonnull(realpath(path, real));
	ck_assert_str_eq(real, expected);
}

/* Writes a plugin's path relative to the working folder into `path`, and its absolute path into
 * `real`. */
static void plugin_paths(const char *name, char *path, char *real)
{
	snprintf(path, PATH_MAX, "posix/.libs/%s.so", name);
	ck_assert_ptr_nonnull(realpath(path, real));
}

void assert_from_plugin(int fd, int number, const char *name)
{
	char path[PATH_MAX], real[PATH_MAX];

	plugin_paths(name, path, real);
	assert_from(fd, number, real);
}

struct plugin plugin_load(const char *name)
{
	struct plugin plugin;
	char path[PATH_MAX];

	plugin_paths(name, path, plugin.path);
	plugin.handle = dlopen(path, RTLD_NOW); /* a relative path, although the log must have the
						 * complete path */
	ck_assert_msg(plugin.handle, "%s", dlerror());
	*(void **)&plugin.trace = dlsym(plugin.handle, "plugin_trace");
	ck_assert_ptr_nonnull(plugin.trace);
	return plugin;
}
