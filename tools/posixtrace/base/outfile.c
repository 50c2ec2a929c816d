/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/tool.h"

static int fail(struct outfile *file, int err)
{
	say("%s: %s", file->path, strerror(err));
	outfile_close(file);
	return TOOL_FAILURE;
}

static int create_new(struct outfile *file)
{
	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	if (file->fd < 0 && errno == EEXIST) {
		say("%s: the file exists; --force replaces it", file->path);
		return TOOL_FAILURE;
	}
	if (file->fd < 0)
		return fail(file, errno);
	file->place = strdup(file->path);
	file->made = file->place;
	if (file->place)
		return TOOL_OK;
	unlink(file->path);
	return fail(file, ENOMEM);
}

/* Beside the old one: so one rename puts it in place. */
static int create_beside(struct outfile *file)
{
	file->place = strdup(file->path);
	if (!file->place || asprintf(&file->made, "%s.XXXXXX", file->place) < 0) {
		file->made = NULL;
		return fail(file, ENOMEM);
	}
	file->fd = mkostemp(file->made, O_CLOEXEC);
	return file->fd < 0 ? fail(file, errno) : TOOL_OK;
}

bool outfile_is_descriptor(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash > path ? strndup(path, (size_t)(slash - path)) : strdup(slash ? "/" : ".");
	char *real = folder ? realpath(folder, NULL) : NULL;
	struct stat st;
	bool is = real && !lstat(path, &st) && S_ISLNK(st.st_mode) &&
		  (!strcmp(real, "/dev") || !strncmp(real, "/dev/", 5) ||
		   !strncmp(real, "/proc/", 6));

	free(folder);
	free(real);
	return is;
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
	/* A link is a name, and is replaced like one; the file that it leads to stays. */
	if ((S_ISLNK(st.st_mode) && !stat(path, &st) && !S_ISREG(st.st_mode)) ||
	    !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) || outfile_is_descriptor(path)) {
		say("%s: is no regular file", path);
		return TOOL_FAILURE;
	}
	return mode == OUTFILE_REFUSE ? create_new(file) : create_beside(file);
}

/* 0, or errno says why not. */
static int age(const struct outfile *file)
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
	if (file->made == file->place)
		return TOOL_OK;
	if ((file->mode == OUTFILE_AGE && age(file)) || rename(file->made, file->place)) {
		say("%s: %s", file->path, strerror(errno));
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
