/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowfs.c - a file system with one file, /slow, of which each read takes 20 ms, for make
 * check-why.
 *
 *	slowfs FOLDER	mounts it and serves it until it is unmounted
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES (16 * 4096)

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *info)
{
	(void)info;
	memset(st, 0, sizeof(*st));
	st->st_mode = strcmp(path, "/") ? S_IFREG | 0444 : S_IFDIR | 0555;
	st->st_nlink = 1;
	st->st_size = strcmp(path, "/") ? BYTES : 0;
	return strcmp(path, "/") && strcmp(path, "/slow") ? -ENOENT : 0;
}

/* The kernel must not read ahead or keep pages: each read of the program arrives here. */
static int open_file(const char *path, struct fuse_file_info *info)
{
	info->direct_io = 1;
	return strcmp(path, "/slow") ? -ENOENT : 0;
}

static int read_file(const char *path, char *data, size_t size, off_t at,
		     struct fuse_file_info *info)
{
	(void)path;
	(void)info;
	usleep(20000);
	if (at >= BYTES)
		return 0;
	size = size < (size_t)(BYTES - at) ? size : (size_t)(BYTES - at);
	memset(data, 'x', size);
	return (int)size;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = get_attributes, .open = open_file, .read = read_file,
	};

	return fuse_main(argc, argv, &operations, NULL);
}
