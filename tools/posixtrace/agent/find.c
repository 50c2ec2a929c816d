/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.c - searches /proc for the processes that a configuration names.
 *
 * The configuration names few of all processes, so the search tests the cheapest condition first.
 * The cheapest condition is the path of the program, which needs one system call and no file.
 */
#include "agent/find.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "inject/memory.h"

#define CGROUP_BYTES 16384

/* The facts about one process. Each fact is read when a condition first needs it. */
struct look {
	pid_t pid;
	char *executable; /* PATH_MAX bytes */
	bool has_user, has_cgroup;
	bool is_unknown; /* a fact could not be read */
	bool is_hidden;  /* the agent has no permission to read the facts */
	uid_t uid;
	char cgroup[CGROUP_BYTES];
};

/*
 * Reads the effective user from the file status. The owner of /proc/PID is not used, because it is
 * root if the process is not dumpable.
 */
static bool look_user(struct look *look)
{
	char path[40], text[PROCFILE_BYTES];
	const char *uid;
	unsigned effective;

	if (look->has_user)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)look->pid);
	if (!procfile_read(path, text, sizeof(text)))
		return false;
	uid = procfile_field(text, "Uid:");
	if (!uid || sscanf(uid, "%*u %u", &effective) != 1)
		return false;
	look->uid = (uid_t)effective;
	look->has_user = true;
	return true;
}

/*
 * Reads the path of the control group. It is in the line "0::/PATH" of version 2, or in the line
 * "N:name=systemd:/PATH" of version 1, which has precedence.
 */
static bool look_cgroup(struct look *look)
{
	static const char two[] = "0::", one[] = ":name=systemd:";
	char path[40], text[CGROUP_BYTES], *line, *rest = text, *at = NULL;

	if (look->has_cgroup)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)look->pid);
	if (!procfile_read(path, text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n"))) {
		char *named = strstr(line, one);

		if (named)
			at = named + strlen(one);
		else if (!at && !strncmp(line, two, strlen(two)))
			at = line + strlen(two);
	}
	if (!at)
		return false;
	strcpy(look->cgroup, at);
	look->has_cgroup = true;
	return true;
}

/*
 * Returns whether a component of the path matches a pattern. A component that is longer than
 * NAME_MAX is ignored.
 */
static bool has_component(const struct config_words *units, const char *cgroup)
{
	char component[NAME_MAX + 1];

	while (*cgroup) {
		size_t len;

		cgroup += strspn(cgroup, "/");
		len = strcspn(cgroup, "/");
		if (len && len < sizeof(component)) {
			memcpy(component, cgroup, len);
			component[len] = '\0';
			if (config_matches(units, component))
				return true;
		}
		cgroup += len;
	}
	return false;
}

/*
 * Returns whether the section has this user. The names were converted to numbers when the
 * configuration was read. If a user gets another number later, the agent uses the new number only
 * after the next reload.
 */
static bool has_user(const struct config_record *record, uid_t uid)
{
	for (size_t i = 0; i < record->user.count; i++)
		if (record->uid[i] == uid)
			return true;
	return false;
}

/* Returns whether the process satisfies each kind of condition that the section has. */
static bool is_named(const struct config_record *record, struct look *look)
{
	if (!config_matches(&record->executable, look->executable))
		return false;
	if ((record->user.count && !look_user(look)) ||
	    ((record->cgroup.count || record->unit.count) && !look_cgroup(look))) {
		look->is_unknown = true;
		return false;
	}
	if (record->user.count && !has_user(record, look->uid))
		return false;
	if (record->cgroup.count && !config_matches(&record->cgroup, look->cgroup))
		return false;
	return !record->unit.count || has_component(&record->unit, look->cgroup);
}

/* Returns true for the agent itself and for guardians. They are never recorded. */
static bool is_own(const struct look *look)
{
	const char *slash = strrchr(look->executable, '/');

	return look->pid == getpid() || (slash && !strcmp(slash + 1, "posixtrace-guardian"));
}

/*
 * Returns the section that names the process, or NULL. If several sections name it, the first one
 * in the configuration file is used. So a process has at most one recorder.
 */
static const struct config_record *record_of(const struct config *config, struct look *look)
{
	if (!procfile_program(look->pid, look->executable, PATH_MAX)) {
		look->is_hidden = errno == EACCES || errno == EPERM;
		look->is_unknown = true;
		return NULL;
	}
	if (is_own(look))
		return NULL;
	for (size_t i = 0; i < config->records; i++)
		if (is_named(config->record[i], look))
			return config->record[i];
	return NULL;
}

/*
 * All facts about the process are read again, because they change with execve(), with setuid(), and
 * when the process moves to another control group.
 */
bool find_record(const struct config *config, pid_t pid, const struct config_record **record)
{
	char executable[PATH_MAX];
	struct look look = { .pid = pid, .executable = executable };

	*record = record_of(config, &look);
	return !look.is_unknown;
}

/* A zombie counts as ended. It has no memory, so nothing can be recorded. */
uint64_t find_start(pid_t pid)
{
	struct procfile_stat stat;

	return procfile_stat(pid, &stat) && stat.state != 'Z' && stat.state != 'X' ? stat.start : 0;
}

/*
 * Returns whether the process has mapped the file of the library. The file is mapped if the program
 * is linked with the library, or if the process has the shim. If the mappings cannot be read,
 * *known becomes false. *known also becomes false if the process seems to have no mappings, for
 * example because its first thread has ended.
 */
static bool has_library(pid_t pid, bool *known)
{
	struct mappings mappings;
	int err = mappings_read(&mappings, pid);
	bool uses = !err && mappings_path_with(&mappings, "/libposixtrace.so");

	*known = !err && mappings.count;
	mappings_fini(&mappings);
	return uses;
}

bool find_uses_library(pid_t pid)
{
	bool known;

	return has_library(pid, &known);
}

/* If the mappings are unknown, the result is false, so that the recording does not end. */
bool find_lacks_library(pid_t pid)
{
	bool known;

	return !has_library(pid, &known) && known;
}

/* A process that ends during the search is skipped, because its files can no longer be read. */
bool find_processes(const struct config *config,
		    void (*visit)(void *arg, const struct found *found), void *arg, size_t *hidden)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	struct found found;
	static int said; /* the last printed error; it is not printed again while it remains */

	if (!folder) {
		int err = errno;

		if (err != said)
			say("/proc: %s: the agent cannot find processes", strerror(err));
		said = err;
		return false;
	}
	said = 0;
	*hidden = 0;
	/* For entries that are not numbers, such as "self", atoi() returns 0. */
	while ((entry = readdir(folder))) {
		struct look look = { .executable = found.executable };

		look.pid = (pid_t)atoi(entry->d_name);
		if (look.pid <= 0)
			continue;
		found.record = record_of(config, &look);
		*hidden += look.is_hidden;
		if (!found.record)
			continue;
		found.pid = look.pid;
		found.start = find_start(look.pid);
		if (found.start)
			visit(arg, &found);
	}
	closedir(folder);
	return true;
}
