/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out.h"
#include "say.h"
#include "tool.h"

static bool is_the_same(const struct stat *file, const char *path)
{
	struct stat input;

	return (strcmp(path, "-") ? stat(path, &input) : fstat(STDIN_FILENO, &input)) == 0 &&
	       input.st_dev == file->st_dev && input.st_ino == file->st_ino;
}

int out_open(struct out *out, const char *path, char *const *inputs, size_t count)
{
	struct stat file;
	int err = 0;

	out->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (out->fd < 0) {
		say("%s: %s", path, strerror(errno));
		return TOOL_FAILURE;
	}
	if (fstat(out->fd, &file) != 0)
		err = errno;
	for (size_t i = 0; !err && S_ISREG(file.st_mode) && i < count; i++)
		if (is_the_same(&file, inputs[i])) {
			say("%s: that is what is read", path);
			close(out->fd);
			return TOOL_FAILURE;
		}
	if (!err && S_ISREG(file.st_mode) && ftruncate(out->fd, 0) != 0)
		err = errno;
	if (!err)
		return TOOL_OK;
	say("%s: %s", path, strerror(err));
	close(out->fd);
	return TOOL_FAILURE;
}

int out_close(struct out *out, const char *path)
{
	int err = out_flush(out);

	if (close(out->fd) && !err)
		err = errno;
	if (err)
		say("%s: %s", path, strerror(err));
	return err ? TOOL_FAILURE : TOOL_OK;
}
