/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* disk.c - writes files and their names to the disk. */
#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int disk_sync(int folder, const char *path, int flags)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | flags), err = 0;

	if (fd < 0 || fsync(fd))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* After a crash, the file has its new name only if the folder is on the disk, too. */
int disk_rename(const char *from, const char *to)
{
	char *folder = disk_folder(to);
	int err = folder ? disk_sync(AT_FDCWD, from, O_NOFOLLOW) : ENOMEM;

	if (!err && rename(from, to))
		err = errno;
	if (!err)
		err = disk_sync(AT_FDCWD, folder, O_DIRECTORY);
	free(folder);
	return err;
}

char *disk_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash > path ? strndup(path, (size_t)(slash - path)) : strdup(slash ? "/" : ".");
}
