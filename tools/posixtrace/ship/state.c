/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.c - locks, reads and writes the files with the positions of logs. */
#include "ship/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/say.h"
#include "base/whole.h"

/* Makes the folder and the folders above it. Only the user can read them. */
static bool make_folder(const char *folder)
{
	char *path = strdup(folder);
	bool good = path;

	for (char *p = path; good && *p; p++) {
		if (*p != '/' || p == path)
			continue;
		*p = '\0';
		good = !mkdir(path, 0700) || errno == EEXIST || errno == EROFS;
		*p = '/';
	}
	good = good && (!mkdir(path, 0700) || errno == EEXIST);
	if (!good)
		say("%s: %s", folder, strerror(errno));
	free(path);
	return good;
}

/* The lock is on a separate file, because each save replaces the file of the position. */
static enum state_result lock_state(struct state *state, const char *folder, uint64_t lock,
				    uint64_t source)
{
	enum state_result result = STATE_OK;
	char *name = NULL;

	if (asprintf(&name, "%s/%016" PRIx64 "-%016" PRIx64 ".lock", folder, lock, source) < 0) {
		say("%s", strerror(ENOMEM));
		return STATE_FAILED;
	}
	state->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (state->fd < 0 || flock(state->fd, LOCK_EX | LOCK_NB))
		result = state->fd >= 0 && errno == EWOULDBLOCK ? STATE_BUSY : STATE_FAILED;
	if (result == STATE_FAILED)
		say("%s: %s", name, strerror(errno));
	free(name);
	return result;
}

enum state_result state_open(struct state *state, const char *folder, uint64_t receiver,
			     uint64_t lock, uint64_t source)
{
	enum state_result result;

	*state = (struct state){ .path = NULL, .fd = -1 };
	if (!make_folder(folder))
		return STATE_FAILED;
	if (asprintf(&state->path, "%s/%016" PRIx64 "-%016" PRIx64, folder, receiver, source) < 0) {
		state->path = NULL;
		say("%s", strerror(ENOMEM));
		return STATE_FAILED;
	}
	result = lock_state(state, folder, lock, source);
	if (result != STATE_OK)
		state_close(state);
	return result;
}

void state_close(struct state *state)
{
	if (state->fd >= 0)
		close(state->fd);
	free(state->path);
	state->path = NULL;
	state->fd = -1;
}

bool state_read(const struct state *state, char text[STATE_BYTES], bool *is_new)
{
	int fd = open(state->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t len;

	memset(text, 0, STATE_BYTES);
	*is_new = fd < 0 && errno == ENOENT;
	if (*is_new)
		return true;
	len = fd < 0 ? -1 : read(fd, text, STATE_BYTES - 1);
	if (len < 0)
		say("%s: %s", state->path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return len >= 0;
}

void state_say_invalid(const struct state *state)
{
	say("%s: this is not a position of posixtrace ship; it is left as it is", state->path);
}

static int write_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err = fd < 0 ? errno : whole_write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return err;
}

bool state_save(const struct state *state, const char *text)
{
	char *name = NULL;
	int err = ENOMEM;

	if (asprintf(&name, "%s.new", state->path) >= 0) {
		err = write_text(name, text);
		if (!err)
			err = disk_rename(name, state->path);
		free(name);
	}
	if (err)
		say("%s: %s", state->path, strerror(err));
	return !err;
}
