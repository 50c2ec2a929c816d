/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * disk.h - files that are whole on the disk, or missing, after a crash of the machine.
 *
 * Any thread may call these functions. They print no messages.
 */
#ifndef POSIXTRACE_BASE_DISK_H
#define POSIXTRACE_BASE_DISK_H

/*
 * Waits until a file or a folder is on the disk (fsync(2)). A relative path begins at the folder
 * whose descriptor is "folder", which may be AT_FDCWD. "flags" are further flags for open(2).
 * Returns 0 or an error number.
 */
int disk_sync(int folder, const char *path, int flags);

/*
 * Gives a new file its name after all of its bytes are on the disk, and writes the name to the
 * disk. Returns 0 or an error number. After an error, the file may have either name.
 */
int disk_rename(const char *from, const char *to);

/* Returns the folder of a path, which the caller frees, or NULL if memory is lacking. */
char *disk_folder(const char *path);

#endif
