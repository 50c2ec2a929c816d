/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/file_xattr.c - family file: extended attributes.
 *
 * fd is -1 for a path, and the path is empty for a descriptor, as in file.statfs. The values of
 * attributes are not recorded. The flags show whether a link is followed: functions that begin with
 * l have AT_SYMLINK_NOFOLLOW, and functions for descriptors have AT_EMPTY_PATH.
 */
#include <fcntl.h>
#include <sys/xattr.h>

#include "preload/call.h"

/* The three forms of each function differ in the way the file is named. */
#define FORMS(FORM, base) \
	FORM(base, const char *path, path, -1, 0, SHIM_IN(path)) \
	FORM(l##base, const char *path, path, -1, AT_SYMLINK_NOFOLLOW, SHIM_IN(path)) \
	FORM(f##base, int fd, fd, fd, AT_EMPTY_PATH, SHIM_IN(NULL))

/* `result` is the length of the value, also if `size` is 0 and nothing is copied. */
#define GET(name_, param, arg, fd_, at, text) \
	SHIM_TRACED(ssize_t, name_, FILE_GETXATTR, shim_no_number, \
		    (param, const char *name, void *value, size_t size), \
		    (arg, name, value, size), result < 0, (fd_, at), ((int64_t)size, result), \
		    (text, SHIM_IN(name)))
/* ENODATA: the file has no such attribute. This is the usual error. */
FORMS(GET, getxattr)

/* The flags of the call are in the field `how`. */
#define SET(name_, param, arg, fd_, at, text) \
	SHIM_INT(name_, FILE_SETXATTR, \
		 (param, const char *name, const void *value, size_t size, int flags), \
		 (arg, name, value, size, flags), (fd_, at, flags), ((int64_t)size), \
		 (text, SHIM_IN(name)))
/* Access control lists and file capabilities are attributes, too. */
FORMS(SET, setxattr)

/* The names are a list of strings, which is not recorded. */
#define LIST(name_, param, arg, fd_, at, text) \
	SHIM_TRACED(ssize_t, name_, FILE_LISTXATTR, shim_no_number, \
		    (param, char *list, size_t size), (arg, list, size), result < 0, (fd_, at), \
		    ((int64_t)size, result), (text))
/* ls(1) calls listxattr() for each file, to mark the files that have attributes. */
FORMS(LIST, listxattr)

/* The error ENODATA has the same meaning as for getxattr(2). */
#define REMOVE(name_, param, arg, fd_, at, text) \
	SHIM_INT(name_, FILE_DELXATTR, (param, const char *name), (arg, name), (fd_, at), (), \
		 (text, SHIM_IN(name)))
FORMS(REMOVE, removexattr)

/*
 * name_to_handle_at() gives a handle, by which a file can be opened later without its name;
 * open_by_handle_at() is in io.c.
 */
SHIM_INT(name_to_handle_at, FILE_HANDLE,
	 (int folder, const char *path, struct file_handle *handle, int *mount, int flags),
	 (folder, path, handle, mount, flags), (folder, flags), (), (SHIM_IN(path)))
