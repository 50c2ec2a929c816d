/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/image.h - how the dynamic linker of a program that is about to be executed will treat
 * LD_PRELOAD.
 *
 * The shim calls these functions before execve(), and posixtrace record calls them before it starts
 * a program. Children of vfork() call them, too. The functions therefore allocate no memory, are no
 * cancellation points and call no function that a sanitizer replaces. Files are examined by
 * openat(2), fstat(2), pread(2), close(2), and access(2) or faccessat(2). Further system calls are
 * made only for programs that are set-user-ID or set-group-ID.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe.
 * Errors    errno is preserved.
 */
#ifndef PTX_PRELOAD_IMAGE_H
#define PTX_PRELOAD_IMAGE_H

enum shim_image {
	/* the file cannot be read, or has an unknown format: LD_PRELOAD is not changed */
	SHIM_IMAGE_UNKNOWN,
	SHIM_IMAGE_UNOPENED, /* unknown, because this process has no free descriptor */
	/* for the dynamic linker of this C library and processor, or this linker itself */
	SHIM_IMAGE_GLIBC,
	/* without a dynamic linker; the program passes LD_PRELOAD to programs that it executes */
	SHIM_IMAGE_STATIC,
	SHIM_IMAGE_FOREIGN, /* for the dynamic linker of another C library */
	SHIM_IMAGE_MACHINE, /* for another processor, or of 32 bits */
	/*
	 * set-user-ID or set-group-ID: the program ignores LD_PRELOAD, but programs that it
	 * executes may use LD_PRELOAD
	 */
	SHIM_IMAGE_RIGHTS,
};

#define SHIM_LOADER_BYTES 128

/*
 * Examines the program at `path` below `folder` (AT_FDCWD, or a descriptor as for execveat(2);
 * `path` may be empty). For a script, examines its interpreter. `loader` receives the dynamic
 * linker's path, shortened if it does not fit, or an empty text if there is no dynamic linker.
 */
enum shim_image shim_image_of(int folder, const char *path, char loader[SHIM_LOADER_BYTES]);

/*
 * Like shim_image_of(), for a name without a slash, which the function searches in a list of
 * folders as execvp(3) does. `folders` may be NULL. A name with a slash is a path.
 */
enum shim_image shim_image_find(const char *name, const char *folders,
				char loader[SHIM_LOADER_BYTES]);

/*
 * Returns whether a program that this process executes cannot open the file, because the file does
 * not exist or is not reachable for its user. Returns 0 also if that is unknown.
 */
int shim_image_is_missing(const char *path);

#endif
