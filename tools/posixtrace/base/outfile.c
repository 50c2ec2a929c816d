/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outfile.c - creates an output file, under its final name or under a temporary name beside the old
 * file.
 */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"

/* Prints the error, closes the file and returns TOOL_FAILURE. */
static int outfile_fail(struct outfile *file, int err)
{
	say("%s: %s", text_given(file->path), say_strerror(err));
	outfile_close(file);
	return TOOL_FAILURE;
}

/*
 * Creates the file under its final name. Because of O_EXCL, open() also fails if another process
 * has created a file or a symbolic link with this name after the caller's check. The mode is 0600,
 * because other users may have access to the folder.
 */
static int create_new(struct outfile *file)
{
	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	if (file->fd < 0 && errno == EEXIST) {
		say("%s: the file exists; --force replaces it", file->path);
		return TOOL_FAILURE;
	}
	if (file->fd < 0)
		return outfile_fail(file, errno);
	file->place = strdup(file->path);
	file->made = file->place;
	if (file->place)
		return TOOL_OK;
	unlink(file->path);
	return outfile_fail(file, ENOMEM);
}

/*
 * Creates a file in the folder of the old file, with a random suffix behind the old file's name.
 * Later outfile_keep() replaces the old file by one rename().
 */
static int create_beside(struct outfile *file)
{
	file->place = strdup(file->path);
	if (!file->place || asprintf(&file->made, "%s.XXXXXX", file->place) < 0) {
		file->made = NULL;
		return outfile_fail(file, ENOMEM);
	}
	file->fd = mkostemp(file->made, O_CLOEXEC); /* mode 0600, O_EXCL */
	return file->fd < 0 ? outfile_fail(file, errno) : TOOL_OK;
}

bool outfile_is_descriptor(const char *path)
{
	/*
	 * A symbolic link below /dev or /proc leads to an open file or to a device. For example,
	 * /dev/stdout leads to /proc/self/fd/1. So the function examines only in which folder the
	 * link is.
	 */
	char *folder = disk_folder(path);
	char *real = folder ? realpath(folder, NULL) : NULL;
	struct stat st;
	bool is = real && !lstat(path, &st) && S_ISLNK(st.st_mode) &&
		  (!strcmp(real, "/dev") || !strncmp(real, "/dev/", 5) ||
		   !strncmp(real, "/proc/", 6));

	free(folder);
	free(real);
	return is;
}

/* A file with the name "-" can be made as "./-". */
bool outfile_take_log(const char **path, const char *value)
{
	if (!strcmp(value, "-")) {
		say("-o -: a log cannot be written to standard output, because it is written at "
		    "many places of a file; for a file of this name, give ./-");
		return false;
	}
	*path = value;
	return true;
}

int outfile_create(struct outfile *file, const char *path, enum outfile_mode mode)
{
	struct stat st;

	memset(file, 0, sizeof(*file));
	file->path = path;
	file->fd = -1;
	file->mode = mode;
	if (lstat(path, &st))
		return create_new(file);
	/*
	 * If the name is a link to a regular file, the link itself is replaced, and the target
	 * remains. A link to a device or a pipe, or a name such as /dev/stdout, must not be
	 * replaced by a file.
	 */
	if ((S_ISLNK(st.st_mode) && !stat(path, &st) && !S_ISREG(st.st_mode)) ||
	    !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) || outfile_is_descriptor(path)) {
		say("%s: not a regular file; give another name", path);
		return TOOL_FAILURE;
	}
	/* With OUTFILE_REFUSE, create_new() fails and prints that the file exists. */
	return mode == OUTFILE_REFUSE ? create_new(file) : create_beside(file);
}

/*
 * Renames the old file to PATH.old. Returns 0, or -1 and errno. If the old file has vanished since
 * outfile_create(), the function returns 0, too.
 */
static int rename_old(const struct outfile *file)
{
	char *old;
	int result;

	if (asprintf(&old, "%s.old", file->place) < 0) {
		errno = ENOMEM;
		return -1;
	}
	result = rename(file->place, old);
	free(old);
	return result && errno != ENOENT ? -1 : 0;
}

int outfile_keep(struct outfile *file)
{
	const bool ages = file->mode == OUTFILE_AGE;

	if (file->made == file->place)
		return TOOL_OK;
	if (ages && file->may_age && !file->may_age(file->place))
		return TOOL_FAILURE;
	if ((ages && rename_old(file)) || rename(file->made, file->place)) {
		say("%s: %s", text_given(file->path), say_strerror(errno));
		return TOOL_FAILURE;
	}
	free(file->made);
	file->made = file->place;
	return TOOL_OK;
}

void outfile_drop(struct outfile *file)
{
	unlink(file->made);
	outfile_close(file);
}

void outfile_close(struct outfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->made != file->place)
		free(file->made);
	free(file->place);
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}
