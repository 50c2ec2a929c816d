/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that can be full: a tmpfs in a mount name space of the test's own. */
#include "support/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Without privileges a user name space gives them, where the system lets everybody make one. */
static bool own_mounts(void)
{
	char map[64];
	unsigned int uid = getuid(), gid = getgid();

	if (!unshare(CLONE_NEWNS))
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!put("/proc/self/uid_map", map))
		return false;
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return put("/proc/self/gid_map", map);
}

const char *small_device(size_t bytes)
{
	static const char folder[] = "/mnt";
	char options[64];

	snprintf(options, sizeof(options), "size=%zu,mode=0777", bytes);
	if (own_mounts() && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount("none", folder, "tmpfs", 0, options))
		return folder;
	fprintf(stderr, "left out: a full device, for want of a mount name space: %s\n", strerror(errno));
	return NULL;
}

void small_device_grow(const char *folder, size_t bytes)
{
	char options[64];

	snprintf(options, sizeof(options), "size=%zu,mode=0777", bytes);
	ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, options), 0);
}
