/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/file_mount.c - family file: file systems are mounted and described, and files watched.
 *
 * The functions of glibc 2.36 that mount in several steps use descriptors. The functions that make
 * a descriptor have the event type file.fsopen, whose field `by` has the name of the function.
 * fsconfig() and mount_setattr() are not traced: their options may be binary data.
 */
#include <fcntl.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "preload/call.h"

/* fd is -1 for a path, and the path is empty for a descriptor. */
#define STATFS(name, buffer) \
	SHIM_INT(name, FILE_STATFS, (const char *path, struct buffer *to), (path, to), (-1), (), \
		 (SHIM_IN(path)))
STATFS(statfs, statfs)
STATFS(statfs64, statfs64)
SHIM_ALIAS(__statfs, statfs);
STATFS(statvfs, statvfs)
STATFS(statvfs64, statvfs64)
/*
 * The path of a descriptor is not known here. A reader of the log finds the path in the event of
 * the call that made the descriptor.
 */
#define FSTATFS(name, buffer) \
	SHIM_INT(name, FILE_STATFS, (int fd, struct buffer *to), (fd, to), (fd), (), \
		 (SHIM_IN(NULL)))
/* fstatvfs() has its own struct, which the C library fills from the result of fstatfs(). */
FSTATFS(fstatfs, statfs)
FSTATFS(fstatfs64, statfs64)
FSTATFS(fstatvfs, statvfs)
FSTATFS(fstatvfs64, statvfs64)

/* The type of the file system and its options are not recorded: options may be binary data. */
SHIM_INT(mount, FILE_MOUNT,
	 (const char *source, const char *path, const char *kind, unsigned long flags,
	  const void *options),
	 (source, path, kind, flags, options), (), ((int64_t)flags),
	 (SHIM_IN(path), SHIM_IN(source)))
/* umount() is umount2() without flags. */
SHIM_INT(umount, FILE_UMOUNT, (const char *path), (path), (0), (), (SHIM_IN(path)))
SHIM_INT(umount2, FILE_UMOUNT, (const char *path, int flags), (path, flags), (flags), (),
	 (SHIM_IN(path)))
/*
 * A watch is a number that is valid for one descriptor of inotify. The program reads the changes
 * from this descriptor by read(2).
 */
SHIM_INT(inotify_init, FILE_INOTIFY, (void), (), (result, 0), (), ())
SHIM_INT(inotify_init1, FILE_INOTIFY, (int flags), (flags), (result, flags), (), ())
SHIM_INT(inotify_add_watch, FILE_WATCH, (int fd, const char *path, uint32_t mask),
	 (fd, path, mask), (fd, result, (int32_t)mask), (), (SHIM_IN(path)))
SHIM_INT(inotify_rm_watch, FILE_UNWATCH, (int fd, int watch), (fd, watch), (fd, watch), (), ())

/* `name` is the type of the file system. */
SHIM_INT(fsopen, FILE_FSOPEN, (const char *name, unsigned flags), (name, flags),
	 (result, -1, (int32_t)flags), (), (SHIM_IN(name), SHIM_IN("fsopen")))
/* fspick() opens a mounted file system so that the program can configure it again. */
SHIM_INT(fspick, FILE_FSOPEN, (int folder, const char *path, unsigned flags),
	 (folder, path, flags), (result, folder, (int32_t)flags), (),
	 (SHIM_IN(path), SHIM_IN("fspick")))
/* open_tree() opens a mount, or with OPEN_TREE_CLONE a copy of a mount. */
SHIM_INT(open_tree, FILE_FSOPEN, (int folder, const char *path, unsigned flags),
	 (folder, path, flags), (result, folder, (int32_t)flags), (),
	 (SHIM_IN(path), SHIM_IN("open_tree")))
/* The field `folder` has the descriptor of fsopen() from which the mount is made. */
SHIM_INT(fsmount, FILE_FSOPEN, (int fd, unsigned flags, unsigned attributes),
	 (fd, flags, attributes), (result, fd, (int32_t)flags), (),
	 (SHIM_IN(""), SHIM_IN("fsmount")))
/*
 * `path` is usually empty, and `folder` is the descriptor of fsmount() or open_tree(). After the
 * call, the files are below the folder `to`.
 */
SHIM_INT(move_mount, FILE_MOVE_MOUNT,
	 (int folder, const char *path, int to_folder, const char *to, unsigned flags),
	 (folder, path, to_folder, to, flags), (folder, to_folder, (int32_t)flags), (),
	 (SHIM_IN(path), SHIM_IN(to)))

/*
 * The program reads the events of fanotify from the descriptor. They contain descriptors of the
 * files, and no event of the shim records that these descriptors exist. event_flags are the flags
 * of these descriptors.
 */
SHIM_INT(fanotify_init, FILE_FANOTIFY, (unsigned flags, unsigned event_flags),
	 (flags, event_flags), (result, (int32_t)flags, (int32_t)event_flags), (), ())
/*
 * If the path is NULL, the folder itself is watched. The mask has the wanted events. The flags
 * determine whether the mask is added or removed.
 */
SHIM_INT(fanotify_mark, FILE_FANMARK,
	 (int fd, unsigned flags, uint64_t mask, int folder, const char *path),
	 (fd, flags, mask, folder, path), (fd, (int32_t)flags, folder), ((int64_t)mask),
	 (SHIM_IN(path)))
