/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * throttled.c - reads the counts of cgroups. Version 2 has the file cpu.stat in each cgroup, with
 * throttled_usec. Version 1 has the file in the hierarchy of the controller cpu, with
 * throttled_time in nanoseconds.
 */
#include "live/throttled.h"

#include <stdio.h>
#include <string.h>

#include "base/procfile.h"
#include "base/until.h"
#include "live/capture.h"

#define ROOT   "/sys/fs/cgroup"
#define LEVELS 32 /* the most ancestors of a cgroup that are examined */

/*
 * Returns the path in a line of /proc/PID/cgroup, "NUMBER:CONTROLLERS:PATH", if the hierarchy may
 * limit CPUs: version 2, which has no list of controllers, or the controller cpu. Otherwise returns
 * NULL.
 */
static const char *path_of_line(const char *line, bool *is_unified)
{
	const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

	if (!path || path[1] != '/' || strstr(path, "/.."))
		return NULL;
	*is_unified = path == list + 1;
	for (const char *at = list + 1; at < path && !*is_unified; at += strcspn(at, ",:") + 1)
		if (!strncmp(at, "cpu", 3) && (at[3] == ',' || at[3] == ':'))
			return path + 1;
	return *is_unified ? path + 1 : NULL;
}

/* Adds the counts of one cgroup. Returns false if it has none. */
static bool add_counts(const char *folder, const char *path, size_t len, uint64_t *ns,
		       uint64_t *periods)
{
	char name[PATH_MAX], text[PROCFILE_BYTES];

	snprintf(name, sizeof(name), ROOT "%s%.*s/cpu.stat", folder, (int)len, path);
	if (!procfile_read(name, text, sizeof(text)) || !procfile_field(text, "nr_throttled "))
		return false;
	*periods += procfile_number(text, "nr_throttled ", 10, 0);
	*ns += procfile_number(text, "throttled_usec ", 10, 0) * 1000 +
	       procfile_number(text, "throttled_time ", 10, 0);
	return true;
}

/*
 * Adds the counts of a cgroup and of its ancestors, whose limits apply to it, too. Returns whether
 * one of them has counts. A container may see its own cgroup as the root "/", so the root is
 * examined, too. The root of the whole system has no limit, so its counts never grow.
 */
static bool read_counts(const char *path, bool is_unified, uint64_t *ns, uint64_t *periods)
{
	static const char *const folders[] = { "", "/cpu", "/cpu,cpuacct", "/unified" };
	bool has_counts = false;

	for (size_t i = is_unified ? 0 : 1; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t len = strlen(path);

		for (unsigned n = 0; n < LEVELS; n++) {
			has_counts |= add_counts(folders[i], path, len, ns, periods);
			if (len <= 1)
				break;
			while (len && path[--len] != '/')
				continue;
		}
		if (has_counts)
			break;
	}
	return has_counts;
}

/* Records by how much the counts have grown since the previous look. */
static void note_growth(const struct throttled *now, const struct throttled *before,
			struct capture *capture)
{
	struct __attribute__((packed)) {
		int32_t pid;
		uint64_t ns, periods;
		int64_t since;
		char path[sizeof(now->path)];
	} data = { .pid = (int32_t)capture->inner_pid, .ns = now->ns - before->ns,
		   .periods = now->periods - before->periods,
		   .since = now->at_ns - before->at_ns };

	memcpy(data.path, now->path, sizeof(data.path));
	capture_note(capture, THROTTLED_EVENT, THROTTLED_SCHEMA, &data,
		     sizeof(data) - sizeof(data.path) + strlen(data.path) + 1);
}

/*
 * Finds the first cgroup of a process that has counts, and reads them. Returns false if no cgroup
 * of the process has counts.
 */
static bool find_cgroup(pid_t pid, struct throttled *now)
{
	char name[40], text[PROCFILE_BYTES], *rest = NULL;
	bool has_counts = false;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	if (!procfile_read(name, text, sizeof(text)))
		return false;
	for (char *line = strtok_r(text, "\n", &rest); line && !has_counts;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *path = path_of_line(line, &now->is_unified);

		if (!path || strlen(path) >= sizeof(now->path))
			continue;
		has_counts = read_counts(path, now->is_unified, &now->ns, &now->periods);
		strcpy(now->path, path);
	}
	return has_counts;
}

void throttled_look(struct throttled *throttled, pid_t pid, struct capture *capture)
{
	struct throttled now = { .ns = 0 };
	const int64_t now_ns = until_now_ns();
	const bool is_found = find_cgroup(pid, &now);

	/*
	 * A process that has ended was in the cgroup of the previous look. In version 1, the kernel
	 * shows the root for it.
	 */
	if (!is_found || (*throttled->path && !now.is_unified && !strcmp(now.path, "/"))) {
		now = (struct throttled){ .is_unified = throttled->is_unified };
		strcpy(now.path, throttled->path);
		if (!*now.path || !read_counts(now.path, now.is_unified, &now.ns, &now.periods))
			return;
	}
	now.at_ns = now_ns;
	if (!strcmp(now.path, throttled->path) && now.periods > throttled->periods &&
	    now.ns >= throttled->ns)
		note_growth(&now, throttled, capture);
	*throttled = now;
}
