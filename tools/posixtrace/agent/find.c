/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.c - searches /proc for the processes that a configuration names.
 *
 * Most processes are none of them, so the cheapest conditions are tested first: the path of the
 * program is one system call, and needs no file to be read.
 */
#include "agent/find.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "inject/memory.h"

#define CGROUP_BYTES 16384

/* The facts of one process, each read when a condition first needs it. */
struct look {
	pid_t pid;
	char *executable; /* PATH_MAX bytes */
	bool has_user, has_cgroup;
	bool is_unknown; /* a fact could not be read */
	uid_t uid;
	char cgroup[CGROUP_BYTES];
};

/*
 * Reads the path of the program. A kernel thread has none. The kernel adds a word if the file was
 * removed, as at an upgrade; the process is still one of that program.
 */
static bool look_executable(struct look *look)
{
	static const char deleted[] = " (deleted)";
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)look->pid);
	n = readlink(path, look->executable, PATH_MAX - 1);
	if (n <= 0)
		return false;
	look->executable[n] = '\0';
	if ((size_t)n > strlen(deleted) && !strcmp(look->executable + n - strlen(deleted), deleted))
		look->executable[(size_t)n - strlen(deleted)] = '\0';
	return true;
}

/* The effective user. /proc/PID itself belongs to root for processes that are not dumpable. */
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
 * The control group: the line of version 2, "0::/PATH", or that of systemd in version 1,
 * "N:name=systemd:/PATH".
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

/* Whether a component of the path matches. Components can be long only in a hostile name space. */
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
 * The words were converted to numbers when the file was read, so a user that gets another number
 * later is found at the next reload.
 */
static bool has_user(const struct config_record *record, uid_t uid)
{
	for (size_t i = 0; i < record->user.count; i++)
		if (record->uid[i] == uid)
			return true;
	return false;
}

/* Whether each kind of condition that the section has is met. */
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

/* The agent and the guardians of its logs are no programs that a rule means. */
static bool is_own(const struct look *look)
{
	const char *slash = strrchr(look->executable, '/');

	return look->pid == getpid() || (slash && !strcmp(slash + 1, "posixtrace-guardian"));
}

/* The first section in the order of the file has precedence, so that a process has one recorder. */
static const struct config_record *record_of(const struct config *config, struct look *look)
{
	if (!look_executable(look)) {
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
 * Reads the facts of the process anew. They change with execve(), setuid(), and when a process
 * moves to another control group.
 */
bool find_record(const struct config *config, pid_t pid, const struct config_record **record)
{
	char executable[PATH_MAX];
	struct look look = { .pid = pid, .executable = executable };

	*record = record_of(config, &look);
	return !look.is_unknown;
}

/* A zombie counts as ended: its memory is gone, and nothing can be recorded any more. */
uint64_t find_start(pid_t pid)
{
	struct procfile_stat stat;

	return procfile_stat(pid, &stat) && stat.state != 'Z' && stat.state != 'X' ? stat.start : 0;
}

/*
 * A program that is linked with the library, and the shim, both map the library's file. Sets *known
 * to false if the mappings cannot be read. A process whose first thread has ended has none.
 */
static bool has_library(pid_t pid, bool *known)
{
	struct mappings mappings;
	bool uses = false;
	int err = mappings_read(&mappings, pid);

	*known = !err && mappings.count;
	for (size_t i = 0; !err && !uses && i < mappings.count; i++)
		uses = strstr(mappings.mapping[i].path, "/libposixtrace.so") != NULL;
	mappings_fini(&mappings);
	return uses;
}

bool find_uses_library(pid_t pid)
{
	bool known;

	return has_library(pid, &known);
}

/* "Cannot tell" ends no recording. */
bool find_lacks_library(pid_t pid)
{
	bool known;

	return !has_library(pid, &known) && known;
}

/* Processes that end during the search are skipped, because their files cannot be read then. */
bool find_processes(const struct config *config,
		    void (*visit)(void *arg, const struct found *found), void *arg)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	struct found found;

	if (!folder) {
		say("/proc: %s", strerror(errno));
		return false;
	}
	/* Entries that are not numbers, such as "self", give 0. */
	while ((entry = readdir(folder))) {
		struct look look = { .executable = found.executable };

		look.pid = (pid_t)atoi(entry->d_name);
		if (look.pid <= 0)
			continue;
		found.record = record_of(config, &look);
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
