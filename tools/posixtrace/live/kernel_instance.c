/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_instance.c - makes instances of tracefs and removes the instances of killed processes. */
#include "live/kernel_instance.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <tracefs.h>
#include <unistd.h>

#include "base/procfile.h"

#define NAME_FORMAT "posixtrace-%d-%llu-%llu"

enum owner { OWNER_ALIVE, OWNER_DEAD, OWNER_UNKNOWN };

/*
 * Returns the start time of a process in clock ticks after boot. Returns 0 with errno ENOENT or
 * ESRCH if the process has ended, and 0 with another errno if the time cannot be read.
 */
static unsigned long long start_of(pid_t pid)
{
	struct procfile_stat stat;

	return procfile_stat(pid, &stat) ? stat.start : 0;
}

/*
 * Finds out whether the owner of an instance is alive. An owner in another PID namespace is
 * unknown, since its number names another process here. A process that has the owner's number, but
 * another start time, is a later process, so the owner has ended.
 */
static enum owner owner_of(const char *name)
{
	unsigned long long start, space, found;
	char again[64];
	int pid;

	if (sscanf(name, NAME_FORMAT, &pid, &start, &space) != 3 || pid <= 0)
		return OWNER_UNKNOWN;
	/*
	 * If the name has further characters behind the numbers, this tool has not made the
	 * instance.
	 */
	snprintf(again, sizeof(again), NAME_FORMAT, pid, start, space);
	if (strcmp(name, again) || !space || space != procfile_space("self") || !start_of(getpid()))
		return OWNER_UNKNOWN;
	found = start_of(pid);
	if (found)
		return found == start ? OWNER_ALIVE : OWNER_DEAD;
	return errno == ENOENT || errno == ESRCH ? OWNER_DEAD : OWNER_UNKNOWN;
}

/*
 * The visitor of tracefs_instances_walk(): counts one instance, and removes it if its owner has
 * ended. The kernel refuses to remove an instance that is in use.
 */
static int sweep_one(const char *name, void *arg)
{
	struct kernel_swept *swept = arg;
	struct tracefs_instance *instance;

	if (strncmp(name, "posixtrace-", strlen("posixtrace-")))
		return 0;
	switch (owner_of(name)) {
	case OWNER_ALIVE:
		swept->alive++;
		break;
	case OWNER_UNKNOWN:
		swept->unknown++;
		break;
	case OWNER_DEAD:
		instance = tracefs_instance_alloc(NULL, name);
		if (instance && tracefs_instance_destroy(instance) == 0)
			swept->removed++;
		else
			swept->unknown++;
		tracefs_instance_free(instance);
		break;
	}
	return 0;
}

struct kernel_swept kernel_instance_sweep(void)
{
	struct kernel_swept swept = { 0 };

	if (!kernel_instance_refusal())
		tracefs_instances_walk(sweep_one, &swept);
	return swept;
}

/*
 * Returns whether another mount hides the tracefs at `path`. The kernel's list of mounts has a
 * hidden one, too. If the path cannot be examined, the result is false. Old kernels have the
 * folder in debugfs.
 */
static bool is_hidden(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs))
		return errno == ENOENT;
	return fs.f_type != TRACEFS_MAGIC && fs.f_type != DEBUGFS_MAGIC;
}

/*
 * libtracefs would mount tracefs if it is not mounted. This tool must not change the system, so it
 * first asks whether tracefs is mounted. The kernel's list of threads has numbers of the first PID
 * namespace, so this process must be in that namespace.
 */
enum kernel_refusal kernel_instance_refusal(void)
{
	const char *path = NULL;
	char folder[256];

	if (tracefs_tracing_dir_is_mounted(false, &path) <= 0 || !path || is_hidden(path))
		return KERNEL_REFUSAL_MOUNT;
	snprintf(folder, sizeof(folder), "%s/instances", path);
	if (access(folder, R_OK | W_OK | X_OK) != 0)
		return errno == EACCES || errno == EPERM ? KERNEL_REFUSAL_PERMISSION :
		       errno == EROFS ? KERNEL_REFUSAL_READ_ONLY : KERNEL_REFUSAL_INSTANCES;
	if (procfile_space("self") != PROCFILE_FIRST_SPACE)
		return KERNEL_REFUSAL_NAMESPACE;
	return KERNEL_REFUSAL_NONE;
}

struct tracefs_instance *kernel_instance_make(void)
{
	char name[64];

	kernel_instance_sweep();
	snprintf(name, sizeof(name), NAME_FORMAT, (int)getpid(), start_of(getpid()),
		 (unsigned long long)procfile_space("self"));
	return tracefs_instance_create(name);
}
