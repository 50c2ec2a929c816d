/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/image.h - what the dynamic linker of a program that is about to be executed will make of
 * LD_PRELOAD.
 *
 * Used by the shim before execve(), and by posixtrace record. Nothing here allocates memory, is a
 * cancellation point or calls a function that a sanitizer defines: it is called in children of
 * vfork(), too. errno is left as it was. Files are read with openat(2), pread(2) and close(2),
 * which every dynamic linker calls as well.
 */
#ifndef PTX_PRELOAD_IMAGE_H
#define PTX_PRELOAD_IMAGE_H

enum shim_image {
	SHIM_IMAGE_UNKNOWN, /* it cannot be read, or is of no known format: LD_PRELOAD stays */
	SHIM_IMAGE_GLIBC,   /* for the dynamic linker of this library's C library and processor */
	/* without a dynamic linker; it hands LD_PRELOAD on to what it executes */
	SHIM_IMAGE_STATIC,
	SHIM_IMAGE_FOREIGN, /* for the dynamic linker of another C library */
	SHIM_IMAGE_MACHINE, /* for another processor, or of 32 bits */
};

#define SHIM_LOADER_BYTES 128

/*
 * The program of that path below folder (AT_FDCWD, or a descriptor as for execveat(2); path may be
 * empty), or, where that is a script, its interpreter. loader becomes the dynamic linker's path,
 * cut to its size; empty if there is none.
 */
enum shim_image shim_image_of(int folder, const char *path, char loader[SHIM_LOADER_BYTES]);

/*
 * The same of a name without a slash, looked up as execvp(3) does in this list of folders, which
 * may be null. A name with a slash is a path.
 */
enum shim_image shim_image_find(const char *name, const char *folders,
				char loader[SHIM_LOADER_BYTES]);

/* Whether no such file can be opened here. False also where that cannot be known. */
int shim_image_is_missing(const char *path);

#endif
