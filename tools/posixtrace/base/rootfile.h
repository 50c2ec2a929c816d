/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rootfile.h - opens files as another process sees them. That process may have another root folder,
 * as in a container.
 *
 * The paths and the files can be hostile, because the other process may have made them. So the
 * functions follow symbolic links only within its root folder, and open only regular files and
 * folders. Any thread may call these functions.
 */
#ifndef POSIXTRACE_BASE_ROOTFILE_H
#define POSIXTRACE_BASE_ROOTFILE_H

#include <sys/types.h>

/*
 * Opens the root folder of a process. The folder can be used after the end of the process. On
 * failure, returns -1 and sets errno: ESRCH if the process has ended.
 */
int rootfile_root(pid_t pid);

/*
 * Opens the file that has this path below a root folder. "flags" are those of open(2), without the
 * ones that create or change a file. With O_NOFOLLOW, the last part of the path must not be a
 * symbolic link. On failure, returns -1 and sets errno: ENOENT also if the path names neither a
 * regular file nor a folder.
 */
int rootfile_open_at(int root, const char *path, int flags);

/* Does the same for the root folder of a process. */
int rootfile_open(pid_t pid, const char *path, int flags);

#endif
