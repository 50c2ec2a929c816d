/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/file.c - family file: files by name.
 *
 * Calls that the C library makes itself do not use the dynamic symbol table: fopen() opens its file
 * without an event of this family, and the folders that glob() and ftw() read have no events of
 * their own.
 *
 * A path is recorded as the program gave it. A relative path begins at the folder whose descriptor
 * the event has, or at the current folder, which file.chdir changes. Resolving the path would need
 * system calls.
 *
 * Functions that differ only in the form of their arguments have one event type, so that a reader
 * finds all uses of a file by one event type. The fields of the type are those of the most general
 * function, usually the function whose name ends in "at".
 *
 * Signals  the functions that POSIX calls async-signal-safe remain so: the wrappers neither lock
 *          nor allocate.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "preload/call.h"

/* ------------------------------------------------------------------ stat */

/*
 * The functions with 64 in their names have other structs on 32-bit systems, and programs may refer
 * to either. The result of stat(), which is in memory of the program, is not recorded.
 */
#define STAT(name, buffer, flags) \
	SHIM_INT(name, FILE_STAT, (const char *path, struct buffer *to), (path, to), \
		 (AT_FDCWD, flags), (), (SHIM_IN(path)))
STAT(stat, stat, 0)
STAT(stat64, stat64, 0)
STAT(lstat, stat, AT_SYMLINK_NOFOLLOW)
STAT(lstat64, stat64, AT_SYMLINK_NOFOLLOW)

/*
 * The field `flags` has the flags of the call, so that AT_SYMLINK_NOFOLLOW marks all forms of
 * lstat().
 */
#define FSTATAT(name, buffer) \
	SHIM_INT(name, FILE_STAT, \
		 (int folder, const char *path, struct buffer *to, int flags), \
		 (folder, path, to, flags), (folder, flags), (), (SHIM_IN(path)))
/*
 * In newer C libraries, all forms of stat() are calls of fstatat(). Some programs call fstatat()
 * directly.
 */
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)
/* The mask of statx() is not recorded. It names the members that the program needs. */
SHIM_INT(statx, FILE_STAT,
	 (int folder, const char *path, int flags, unsigned mask, struct statx *to),
	 (folder, path, flags, mask, to), (folder, flags), (), (SHIM_IN(path)))
/*
 * The next functions have an event type of their own, because they have a descriptor and no name.
 */
SHIM_INT(fstat, FILE_FSTAT, (int fd, struct stat *to), (fd, to), (fd), (), ())
SHIM_INT(fstat64, FILE_FSTAT, (int fd, struct stat64 *to), (fd, to), (fd), (), ())

/* Programs that were linked with glibc before 2.33 call these functions. */
int __xstat(int version, const char *path, struct stat *to);
int __xstat64(int version, const char *path, struct stat64 *to);
int __lxstat(int version, const char *path, struct stat *to);
int __lxstat64(int version, const char *path, struct stat64 *to);
int __fxstat(int version, int fd, struct stat *to);
int __fxstat64(int version, int fd, struct stat64 *to);
int __fxstatat(int version, int folder, const char *path, struct stat *to, int flags);
int __fxstatat64(int version, int folder, const char *path, struct stat64 *to, int flags);

/*
 * `version` is the version of struct stat. It is not recorded. __lxstat() differs from __xstat() as
 * lstat() differs from stat().
 */
#define XSTAT(name, buffer, flags) \
	SHIM_INT(name, FILE_STAT, (int version, const char *path, struct buffer *to), \
		 (version, path, to), (AT_FDCWD, flags), (), (SHIM_IN(path)))
XSTAT(__xstat, stat, 0)
XSTAT(__xstat64, stat64, 0)
XSTAT(__lxstat, stat, AT_SYMLINK_NOFOLLOW)
XSTAT(__lxstat64, stat64, AT_SYMLINK_NOFOLLOW)
SHIM_INT(__fxstat, FILE_FSTAT, (int version, int fd, struct stat *to), (version, fd, to), (fd),
	 (), ())
SHIM_INT(__fxstat64, FILE_FSTAT, (int version, int fd, struct stat64 *to), (version, fd, to),
	 (fd), (), ())
/* The arguments are the version and then those of fstatat(). */
#define FXSTATAT(name, buffer) \
	SHIM_INT(name, FILE_STAT, \
		 (int version, int folder, const char *path, struct buffer *to, int flags), \
		 (version, folder, path, to, flags), (folder, flags), (), (SHIM_IN(path)))
FXSTATAT(__fxstatat, stat)
FXSTATAT(__fxstatat64, stat64)

/* ------------------------------------------------------------------ access */

SHIM_INT(access, FILE_ACCESS, (const char *path, int mode), (path, mode), (AT_FDCWD, mode, 0), (),
	 (SHIM_IN(path)))
/*
 * Programs often search for a file by access(): the call fails with ENOENT until the file is found.
 */
SHIM_INT(faccessat, FILE_ACCESS, (int folder, const char *path, int mode, int flags),
	 (folder, path, mode, flags), (folder, mode, flags), (), (SHIM_IN(path)))
/* eaccess() is faccessat() with AT_EACCESS and has a second name, euidaccess(). */
SHIM_INT(eaccess, FILE_ACCESS, (const char *path, int mode), (path, mode),
	 (AT_FDCWD, mode, AT_EACCESS), (), (SHIM_IN(path)))
SHIM_INT(euidaccess, FILE_ACCESS, (const char *path, int mode), (path, mode),
	 (AT_FDCWD, mode, AT_EACCESS), (), (SHIM_IN(path)))

/* ------------------------------------------------------------------ names */

/*
 * rmdir() is unlinkat() with AT_REMOVEDIR. remove() tries unlink() and then rmdir() inside the C
 * library, so the event does not show which of the two removed the name.
 */
SHIM_INT(unlink, FILE_UNLINK, (const char *path), (path), (AT_FDCWD, 0), (), (SHIM_IN(path)))
SHIM_INT(unlinkat, FILE_UNLINK, (int folder, const char *path, int flags), (folder, path, flags),
	 (folder, flags), (), (SHIM_IN(path)))
SHIM_INT(rmdir, FILE_UNLINK, (const char *path), (path), (AT_FDCWD, AT_REMOVEDIR), (),
	 (SHIM_IN(path)))
SHIM_INT(remove, FILE_UNLINK, (const char *path), (path), (AT_FDCWD, 0), (), (SHIM_IN(path)))
/* `path` is the present name, and `to` is the new name. */
SHIM_INT(rename, FILE_RENAME, (const char *path, const char *to), (path, to),
	 (AT_FDCWD, AT_FDCWD, 0), (), (SHIM_IN(path), SHIM_IN(to)))
SHIM_INT(renameat, FILE_RENAME, (int folder, const char *path, int to_folder, const char *to),
	 (folder, path, to_folder, to), (folder, to_folder, 0), (), (SHIM_IN(path), SHIM_IN(to)))
SHIM_INT(renameat2, FILE_RENAME,
	 (int folder, const char *path, int to_folder, const char *to, unsigned flags),
	 (folder, path, to_folder, to, flags), (folder, to_folder, (int32_t)flags), (),
	 (SHIM_IN(path), SHIM_IN(to)))
/* `path` is the existing file, and `to` is its new name. */
SHIM_INT(link, FILE_LINK, (const char *path, const char *to), (path, to), (AT_FDCWD, AT_FDCWD, 0),
	 (), (SHIM_IN(path), SHIM_IN(to)))
SHIM_INT(linkat, FILE_LINK,
	 (int folder, const char *path, int to_folder, const char *to, int flags),
	 (folder, path, to_folder, to, flags), (folder, to_folder, flags), (),
	 (SHIM_IN(path), SHIM_IN(to)))
/* `path` is the link, as in the other events, and `to` is its text, which need not be a file. */
SHIM_INT(symlink, FILE_SYMLINK, (const char *to, const char *path), (to, path), (AT_FDCWD), (),
	 (SHIM_IN(path), SHIM_IN(to)))
/* The arguments of symlinkat() are in the order of symlink(). */
SHIM_INT(symlinkat, FILE_SYMLINK, (const char *to, int folder, const char *path),
	 (to, folder, path), (folder), (), (SHIM_IN(path), SHIM_IN(to)))

/*
 * With _FORTIFY_SOURCE, programs call the names with _chk if the compiler knows the size of the
 * memory.
 */
ssize_t __readlink_chk(const char *path, char *to, size_t bytes, size_t room);
ssize_t __readlinkat_chk(int folder, const char *path, char *to, size_t bytes, size_t room);
char *__getcwd_chk(char *to, size_t bytes, size_t room);
char *__realpath_chk(const char *path, char *to, size_t room);
char *__getwd_chk(char *to, size_t room);

/* The text of the link has no NUL; its length is the result of the call. */
#define READLINK(name, params, args, folder) \
	SHIM_TRACED(ssize_t, name, FILE_READLINK, shim_no_number, params, args, result < 0, \
		    (folder), (), (SHIM_IN(path), SHIM_OUT_N(to, result)))
READLINK(readlink, (const char *path, char *to, size_t bytes), (path, to, bytes), AT_FDCWD)
READLINK(__readlink_chk, (const char *path, char *to, size_t bytes, size_t room),
	 (path, to, bytes, room), AT_FDCWD)
READLINK(readlinkat, (int folder, const char *path, char *to, size_t bytes),
	 (folder, path, to, bytes), folder)
READLINK(__readlinkat_chk, (int folder, const char *path, char *to, size_t bytes, size_t room),
	 (folder, path, to, bytes, room), folder)

/*
 * The wrapper of a function that returns a string, or NULL after an error. The string is copied
 * only after success: after an error the memory of the program may have any contents.
 */
#define STRING(name, type, params, args, strings) \
	SHIM_TRACED(char *, name, type, shim_no_pointer, params, args, !result, (), (), strings)
/* The result of realpath() is in memory of the program, or in memory that the program frees. */
STRING(realpath, FILE_REALPATH, (const char *path, char *to), (path, to),
       (SHIM_IN(path), SHIM_OUT(result)))
STRING(__realpath_chk, FILE_REALPATH, (const char *path, char *to, size_t room), (path, to, room),
       (SHIM_IN(path), SHIM_OUT(result)))
STRING(canonicalize_file_name, FILE_REALPATH, (const char *path), (path),
       (SHIM_IN(path), SHIM_OUT(result)))
STRING(getcwd, FILE_GETCWD, (char *to, size_t bytes), (to, bytes), (SHIM_OUT(result)))
STRING(__getcwd_chk, FILE_GETCWD, (char *to, size_t bytes, size_t room), (to, bytes, room),
       (SHIM_OUT(result)))
/* The memory of getwd() has PATH_MAX bytes. Programs use getwd() although it is deprecated. */
_Pragma("GCC diagnostic push")
_Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
STRING(getwd, FILE_GETCWD, (char *to), (to), (SHIM_OUT(result)))
_Pragma("GCC diagnostic pop")
STRING(__getwd_chk, FILE_GETCWD, (char *to, size_t room), (to, room), (SHIM_OUT(result)))
STRING(get_current_dir_name, FILE_GETCWD, (void), (), (SHIM_OUT(result)))
/* After the call, `path` is the name of the new folder. */
STRING(mkdtemp, FILE_MKDTEMP, (char *path), (path), (SHIM_IN(path)))

/*
 * After the call, `path` is the name that was found. The flags are those with which the file is
 * opened.
 */
#define MKSTEMP(name, params, args, flags) \
	SHIM_INT(name, FILE_MKSTEMP, params, args, (result, (flags) | O_RDWR | O_CREAT | O_EXCL), \
		 (), (SHIM_IN(path)))
/* `suffix` is the number of bytes of the path behind the letters that the C library replaces. */
MKSTEMP(mkstemp, (char *path), (path), 0)
MKSTEMP(mkstemp64, (char *path), (path), 0)
MKSTEMP(mkostemp, (char *path, int flags), (path, flags), flags)
MKSTEMP(mkostemp64, (char *path, int flags), (path, flags), flags)
MKSTEMP(mkstemps, (char *path, int suffix), (path, suffix), 0)
MKSTEMP(mkstemps64, (char *path, int suffix), (path, suffix), 0)
MKSTEMP(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags), flags)
MKSTEMP(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags), flags)

/* ------------------------------------------------------------------ folders */

/* The mode is that of the call: the kernel removes the bits of umask(2) from it. */
SHIM_INT(mkdir, FILE_MKDIR, (const char *path, mode_t mode), (path, mode),
	 (AT_FDCWD, (int32_t)mode), (), (SHIM_IN(path)))
SHIM_INT(mkdirat, FILE_MKDIR, (int folder, const char *path, mode_t mode), (folder, path, mode),
	 (folder, (int32_t)mode), (), (SHIM_IN(path)))
/* mkfifo() is mknod() with the type S_IFIFO. The number of a device is not recorded. */
SHIM_INT(mknod, FILE_MKNOD, (const char *path, mode_t mode, dev_t device), (path, mode, device),
	 (AT_FDCWD, (int32_t)mode), (), (SHIM_IN(path)))
SHIM_INT(mknodat, FILE_MKNOD, (int folder, const char *path, mode_t mode, dev_t device),
	 (folder, path, mode, device), (folder, (int32_t)mode), (), (SHIM_IN(path)))
/*
 * The forms of glibc before 2.33. `version` is the version of the form in which a device number is
 * passed.
 */
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknodat(int version, int folder, const char *path, mode_t mode, dev_t *device);
/* In a program that was linked with such a glibc, mknod() and mkfifo() call these functions. */
SHIM_INT(__xmknod, FILE_MKNOD, (int version, const char *path, mode_t mode, dev_t *device),
	 (version, path, mode, device), (AT_FDCWD, (int32_t)mode), (), (SHIM_IN(path)))
SHIM_INT(__xmknodat, FILE_MKNOD,
	 (int version, int folder, const char *path, mode_t mode, dev_t *device),
	 (version, folder, path, mode, device), (folder, (int32_t)mode), (), (SHIM_IN(path)))
SHIM_INT(mkfifo, FILE_MKNOD, (const char *path, mode_t mode), (path, mode),
	 (AT_FDCWD, (int32_t)(mode | S_IFIFO)), (), (SHIM_IN(path)))
SHIM_INT(mkfifoat, FILE_MKNOD, (int folder, const char *path, mode_t mode), (folder, path, mode),
	 (folder, (int32_t)(mode | S_IFIFO)), (), (SHIM_IN(path)))
/* As for statfs(), the event of chdir() and fchdir() has either a path or a descriptor. */
SHIM_INT(chdir, FILE_CHDIR, (const char *path), (path), (-1), (), (SHIM_IN(path)))
SHIM_INT(fchdir, FILE_CHDIR, (int fd), (fd), (fd), (), (SHIM_IN(NULL)))

/*
 * The next two functions change the meaning of absolute paths: in later events of the process,
 * absolute paths begin at `path`.
 */
SHIM_INT(chroot, FILE_CHROOT, (const char *path), (path), (), (), (SHIM_IN(path)))
int pivot_root(const char *path, const char *to);
/* `to` is the folder below which the old root is found afterwards. */
SHIM_INT(pivot_root, FILE_PIVOT, (const char *path, const char *to), (path, to), (), (),
	 (SHIM_IN(path), SHIM_IN(to)))

/*
 * Returns the descriptor of a folder's stream, or -1 if there is no stream: before the call and
 * after an error.
 */
static int fd_of(DIR *stream)
{
	return stream && stream != (DIR *)-1 ? dirfd(stream) : -1;
}

/*
 * A folder's stream has a descriptor, by which the events of readdir() and closedir() can be
 * assigned to the path. fdopendir() uses the descriptor of the call, which belongs to the stream
 * from then on.
 */
SHIM_TRACED(DIR *, opendir, FILE_OPENDIR, shim_no_pointer, (const char *path), (path), !result,
	    (fd_of(result)), (), (SHIM_IN(path)))
SHIM_TRACED(DIR *, fdopendir, FILE_OPENDIR, shim_no_pointer, (int fd), (fd), !result, (fd), (),
	    (SHIM_IN(NULL)))

/*
 * readdir() returns NULL at the end and after an error, and sets errno only after an error. errno
 * is therefore 0 during the call, and gets its old value if the call does not set it.
 */
#define READDIR(name, entry) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPED(name, FILE_READDIR); \
	SHIM_WRAPPER struct entry *name(DIR *stream) \
	{ \
		if (!shim_on_alone(FILE_READDIR)) \
			return next(name)(stream); \
		SHIM_RECORD(sizeof(int32_t) + SHIM_TEXT) record; \
		const int32_t fd = dirfd(stream); \
		const int saved = errno; \
		SHIM_CALL(FILE_READDIR, record); \
		record.error = ECANCELED; \
		shim_record_fields(&call, record.rest, &fd, sizeof fd, NULL, 0); \
		/* If errno were not 0, the shim could not distinguish the end from an error. */ \
		errno = 0; \
		struct entry *result = next(name)(stream); \
		record.error = result ? 0 : errno; \
		if (!errno) \
			errno = saved; \
		const struct shim_string string = SHIM_OUT(result ? result->d_name : NULL); \
		shim_record_strings(&call, record.error, &string, 1); \
		return result; \
	}
/*
 * There is one event for each entry, although the C library reads many entries with one system
 * call.
 */
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)

/* readdir_r() returns an error number and stores the entry in memory of the program. */
#define READDIR_R(name, entry) \
	SHIM_ERROR(name, FILE_READDIR, (DIR *stream, struct entry *to, struct entry **found), \
		   (stream, to, found), (dirfd(stream)), (), \
		   (SHIM_OUT(!result && *found ? (*found)->d_name : NULL)))
/* In the headers of the C library, readdir_r() and readdir64_r() are deprecated, too. */
_Pragma("GCC diagnostic push")
_Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
READDIR_R(readdir_r, dirent)
READDIR_R(readdir64_r, dirent64)
_Pragma("GCC diagnostic pop")

/*
 * These functions read folders without a stream, as run-times of other languages do. `result` is a
 * number of bytes, and 0 at the end. The names are not recorded.
 */
#define GETDENTS(name, params, args) \
	SHIM_TRACED(ssize_t, name, FILE_GETDENTS, shim_no_number, params, args, result < 0, (fd), \
		    ((int64_t)size, result), ())
GETDENTS(getdents64, (int fd, void *to, size_t size), (fd, to, size))
GETDENTS(getdirentries, (int fd, char *to, size_t size, off_t *base), (fd, to, size, base))
GETDENTS(getdirentries64, (int fd, char *to, size_t size, off64_t *base), (fd, to, size, base))

SHIM_NEXT(closedir, shim_no_number);
SHIM_WRAPPED(closedir, FILE_CLOSEDIR);

/*
 * closedir(3). The descriptor is read before the call, which frees the stream. The header declares
 * that the stream is not NULL, but the function accepts NULL and fails.
 */
SHIM_WRAPPER int closedir(DIR *stream)
{
	SHIM_RECORD(sizeof(int32_t)) record;
	DIR *given = stream;
	int32_t fd;
	int result;

	__asm__("" : "+r"(given)); /* the compiler must not rely on the attributes in the header */

	if (!shim_on(FILE_CLOSEDIR))
		return next(closedir)(stream);
	fd = given ? dirfd(given) : -1;
	SHIM_CALL(FILE_CLOSEDIR, record);
	record.error = ECANCELED;
	shim_record_fields(&call, record.rest, &fd, sizeof fd, NULL, 0);
	result = next(closedir)(stream);
	record.error = result ? errno : 0;
	return result;
}

/*
 * glob(3) returns a code of its own, which the field `result` has; errno is not set. With invalid
 * flags it fails before it reads the pattern.
 */
#define GLOB(name, buffer) \
	SHIM_TRACED(int, name, FILE_GLOB, shim_no_number, \
		    (const char *path, int flags, int (*on_error)(const char *, int), \
		     buffer *to), \
		    (path, flags, on_error, to), false, (result, flags), (), \
		    (SHIM_IN_IF(path, !result)))
GLOB(glob, glob_t)
GLOB(glob64, glob64_t)

/* ------------------------------------------------------------------ properties */

/*
 * The event of a form with a descriptor has the flag AT_EMPTY_PATH, as if fchmodat() were called.
 */
SHIM_INT(chmod, FILE_CHMOD, (const char *path, mode_t mode), (path, mode),
	 (AT_FDCWD, (int32_t)mode, 0), (), (SHIM_IN(path)))
SHIM_INT(fchmod, FILE_CHMOD, (int fd, mode_t mode), (fd, mode),
	 (fd, (int32_t)mode, AT_EMPTY_PATH), (), (SHIM_IN(NULL)))
SHIM_INT(fchmodat, FILE_CHMOD, (int folder, const char *path, mode_t mode, int flags),
	 (folder, path, mode, flags), (folder, (int32_t)mode, flags), (), (SHIM_IN(path)))
SHIM_INT(lchmod, FILE_CHMOD, (const char *path, mode_t mode), (path, mode),
	 (AT_FDCWD, (int32_t)mode, AT_SYMLINK_NOFOLLOW), (), (SHIM_IN(path)))
/* With -1 as user or group, the file keeps its user or group. */
SHIM_INT(chown, FILE_CHOWN, (const char *path, uid_t user, gid_t group), (path, user, group),
	 (AT_FDCWD, (int32_t)user, (int32_t)group, 0), (), (SHIM_IN(path)))
/* lchown() changes the link itself instead of the file that the link refers to. */
SHIM_INT(lchown, FILE_CHOWN, (const char *path, uid_t user, gid_t group), (path, user, group),
	 (AT_FDCWD, (int32_t)user, (int32_t)group, AT_SYMLINK_NOFOLLOW), (), (SHIM_IN(path)))
SHIM_INT(fchown, FILE_CHOWN, (int fd, uid_t user, gid_t group), (fd, user, group),
	 (fd, (int32_t)user, (int32_t)group, AT_EMPTY_PATH), (), (SHIM_IN(NULL)))
SHIM_INT(fchownat, FILE_CHOWN,
	 (int folder, const char *path, uid_t user, gid_t group, int flags),
	 (folder, path, user, group, flags), (folder, (int32_t)user, (int32_t)group, flags), (),
	 (SHIM_IN(path)))

/* The event has either a path or a descriptor, and the new length. */
SHIM_INT(truncate, FILE_TRUNCATE, (const char *path, off_t length), (path, length), (-1),
	 (length), (SHIM_IN(path)))
/* The event has the length that the program asked for, also if the call fails. */
SHIM_INT(truncate64, FILE_TRUNCATE, (const char *path, off64_t length), (path, length), (-1),
	 (length), (SHIM_IN(path)))
SHIM_INT(ftruncate, FILE_TRUNCATE, (int fd, off_t length), (fd, length), (fd), (length),
	 (SHIM_IN(NULL)))
SHIM_INT(ftruncate64, FILE_TRUNCATE, (int fd, off64_t length), (fd, length), (fd), (length),
	 (SHIM_IN(NULL)))

/*
 * The times themselves are not recorded. These functions differ in the units of the times, and in
 * the way the file is named.
 */
SHIM_INT(utime, FILE_UTIMES, (const char *path, const struct utimbuf *times), (path, times),
	 (AT_FDCWD, 0), (), (SHIM_IN(path)))
SHIM_INT(utimes, FILE_UTIMES, (const char *path, const struct timeval times[2]), (path, times),
	 (AT_FDCWD, 0), (), (SHIM_IN(path)))
SHIM_INT(lutimes, FILE_UTIMES, (const char *path, const struct timeval times[2]), (path, times),
	 (AT_FDCWD, AT_SYMLINK_NOFOLLOW), (), (SHIM_IN(path)))
SHIM_INT(futimes, FILE_UTIMES, (int fd, const struct timeval times[2]), (fd, times),
	 (fd, AT_EMPTY_PATH), (), (SHIM_IN(NULL)))
SHIM_INT(futimesat, FILE_UTIMES, (int folder, const char *path, const struct timeval times[2]),
	 (folder, path, times), (folder, 0), (), (SHIM_IN(path)))
SHIM_INT(utimensat, FILE_UTIMES,
	 (int folder, const char *path, const struct timespec times[2], int flags),
	 (folder, path, times, flags), (folder, flags), (), (SHIM_IN(path)))
/* A null pointer as `times` means the present time. */
SHIM_INT(futimens, FILE_UTIMES, (int fd, const struct timespec times[2]), (fd, times),
	 (fd, AT_EMPTY_PATH), (), (SHIM_IN(NULL)))
