/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * position.c - reads and writes the positions of logs, which say how much of a log a database has.
 * Each log and database has a file.
 */
#include "ship/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/table.h"
#include "base/whole.h"

#define POSITION_BYTES 1024

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

/*
 * Parses a position. If any number is missing, or the word "end", the text is no position. So a
 * file of which only a part was written is recognised.
 */
static bool parse_position(struct position *position, const char *text)
{
	unsigned ended;
	int len = 0;

	if (sscanf(text,
		   "posixtrace ship 1\nevents %" SCNu64 "\nattempt %" SCNu64 " %" SCNu64 " %" SCNu64
		   "\nsummary %" SCNu64 " %" SCNu64 " %u\nreplacing %" SCNu64 "\nend\n%n",
		   &position->events, &position->attempt, &position->first, &position->count,
		   &position->summary, &position->summary_events, &ended, &position->replacing,
		   &len) != 8 || !len || ended > 1)
		return false;
	position->summary_ended = ended;
	return !text[len] && (!position->attempt || position->first == position->events);
}

/* Reads the file of a position. If there is none, the log was never shipped, and is_new is set. */
static enum position_result read_position(struct position *position)
{
	char text[POSITION_BYTES] = "";
	ssize_t len;
	int fd = open(position->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	position->is_new = fd < 0 && errno == ENOENT;
	if (position->is_new)
		return POSITION_OK;
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		say("%s: %s", position->path, strerror(errno));
	else if (!parse_position(position, text))
		say("%s: this is not a position of posixtrace ship; it is left as it is",
		    position->path);
	else {
		close(fd);
		return POSITION_OK;
	}
	if (fd >= 0)
		close(fd);
	return POSITION_FAILED;
}

/*
 * Takes the lock of a log and database. It is on a separate file, because each write replaces the
 * file of the position. The name of this file does not depend on the hosts in the URL, because one
 * user may name all replicas of a database, and another only some of them, or other names of a
 * host.
 */
static enum position_result lock_position(struct position *position, const char *folder,
					  const char *database)
{
	uint64_t number = hash_bytes(HASH_BEGIN, database, strlen(database));
	enum position_result result = POSITION_OK;
	char *name = NULL;

	if (asprintf(&name, "%s/%016" PRIx64 "-%016" PRIx64 ".lock", folder, number,
		     position->source) < 0) {
		say("%s", strerror(ENOMEM));
		return POSITION_FAILED;
	}
	position->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (position->fd < 0 || flock(position->fd, LOCK_EX | LOCK_NB))
		result = position->fd >= 0 && errno == EWOULDBLOCK ? POSITION_BUSY
								   : POSITION_FAILED;
	if (result == POSITION_FAILED)
		say("%s: %s", name, strerror(errno));
	free(name);
	return result;
}

enum position_result position_open(struct position *position, const char *folder,
				   const struct address *address, uint64_t source)
{
	enum position_result result = POSITION_FAILED;

	memset(position, 0, sizeof(*position));
	position->fd = -1;
	position->source = source;
	if (!make_folder(folder))
		return POSITION_FAILED;
	if (asprintf(&position->path, "%s/%016" PRIx64 "-%016" PRIx64, folder,
		     address_number(address), source) < 0) {
		position->path = NULL;
		say("%s", strerror(ENOMEM));
		return POSITION_FAILED;
	}
	result = lock_position(position, folder, address->database);
	if (result == POSITION_OK)
		result = read_position(position);
	if (result != POSITION_OK)
		position_close(position);
	return result;
}

void position_close(struct position *position)
{
	if (position->fd >= 0)
		close(position->fd);
	free(position->path);
	position->path = NULL;
	position->fd = -1;
}

/*
 * Writes the folder of a file to the disk. Only then the new name of the file is on the disk, too.
 */
static int sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) : 0);
	int fd, err = 0;

	if (!folder)
		return ENOMEM;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd))
		err = errno;
	if (fd >= 0)
		close(fd);
	free(folder);
	return err;
}

static int write_position(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err = fd < 0 ? errno : whole_write(fd, text, strlen(text));

	if (!err && fsync(fd))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

bool position_save(struct position *position)
{
	char text[POSITION_BYTES], *name = NULL;
	int err = ENOMEM;

	snprintf(text, sizeof(text),
		 "posixtrace ship 1\nevents %" PRIu64 "\nattempt %" PRIu64 " %" PRIu64 " %" PRIu64
		 "\nsummary %" PRIu64 " %" PRIu64 " %u\nreplacing %" PRIu64 "\nend\n",
		 position->events, position->attempt, position->first, position->count,
		 position->summary, position->summary_events, position->summary_ended,
		 position->replacing);
	if (asprintf(&name, "%s.new", position->path) >= 0) {
		err = write_position(name, text);
		if (!err && rename(name, position->path))
			err = errno;
		if (!err)
			err = sync_folder(position->path);
		free(name);
	}
	if (err)
		say("%s: %s", position->path, strerror(err));
	return !err;
}
