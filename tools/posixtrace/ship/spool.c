/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.c - limits the size of the folders whose logs are shipped.
 *
 * Each call lists the files of a folder again, because other processes write and remove logs there.
 */
#include "ship/ship.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/vec.h"
#include "base/when.h"
#include "query/query_account.h"

/*
 * The passes over the logs. Each pass may remove logs that the passes before it may not remove. A
 * position may count events that the database has lost, for example with its tables. So a log is
 * removed without an account only if this process has compared its position with the database, and
 * no event was missing.
 */
enum removal {
	REMOVAL_COMPARED,  /* removes logs that the database has as a whole */
	REMOVAL_DELIVERED, /* drops logs that, by their positions, the database has as a whole */
	REMOVAL_LACKING,   /* drops logs that the database lacks in whole or in part */
	REMOVAL_PASSES,    /* no pass may remove the log */
};

struct spooled {
	char *path;
	uint64_t bytes;
	int64_t changed_ns;
	dev_t device;
	ino_t inode;
	enum removal next;   /* the first pass that may remove the log */
};

struct spooled_list {
	struct spooled *file;
	size_t count;
	uint64_t bytes;      /* bytes of all files, including accounts */
	bool has_dropped;    /* an account was written */
};

static int by_age(const void *a, const void *b)
{
	const struct spooled *one = a, *other = b;

	if (one->changed_ns != other->changed_ns)
		return one->changed_ns < other->changed_ns ? -1 : 1;
	return strcmp(one->path, other->path);
}

bool spool_has_log(const char *path)
{
	char magic[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool good = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		    !memcmp(magic, "PXTRLOG1", sizeof(magic));

	if (fd >= 0)
		close(fd);
	return good;
}

/*
 * Adds a log or an account of a folder. Accounts are never dropped, so only their bytes are added.
 * Other files are ignored.
 */
static void add_file(struct spooled_list *list, const char *folder, const char *name)
{
	struct spooled file = { .path = NULL };
	struct stat st;

	if (*name == '.' || asprintf(&file.path, "%s/%s", folder, name) < 0)
		return;
	if (!lstat(file.path, &st) && S_ISREG(st.st_mode) &&
	    (account_is_name(name) || spool_has_log(file.path))) {
		file.bytes = (uint64_t)st.st_size;
		file.changed_ns = when_timespec(&st.st_mtim);
		file.device = st.st_dev;
		file.inode = st.st_ino;
		list->bytes += file.bytes;
		if (!account_is_name(name) && vec_grow(&list->file, list->count, 1)) {
			list->file[list->count++] = file;
			return;
		}
	}
	free(file.path);
}

static void list_folder(struct spooled_list *list, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		add_file(list, folder, entry->d_name);
	if (dir)
		closedir(dir);
}

/*
 * Returns whether the path still has the file that was listed. A program that starts again may
 * rename or replace its log, and write another log under this name.
 */
static bool is_as_listed(const struct spooled *file)
{
	struct stat st;

	return !lstat(file->path, &st) && st.st_dev == file->device && st.st_ino == file->inode &&
	       (uint64_t)st.st_size == file->bytes &&
	       when_timespec(&st.st_mtim) == file->changed_ns;
}

static void remove_file(struct spooled_list *list, struct spooled *file)
{
	if (!is_as_listed(file))
		return;
	if (unlink(file->path) && errno != ENOENT) {
		say("%s: %s", file->path, strerror(errno));
		return;
	}
	list->bytes -= file->bytes;
	free(file->path);
	file->path = NULL;
}

/*
 * Replaces the open log by its account. After a failure, for which a message was printed, the log
 * remains.
 */
static void drop_log(const struct spool *spool, struct spooled_list *list, struct spooled *file,
		     struct query_log *of)
{
	struct account_written written;

	if (!is_as_listed(file) ||
	    account_write_open(of, file->path, &written) != ACCOUNT_WRITTEN)
		return;
	list->has_dropped = true;
	list->bytes += (uint64_t)written.growth;
	say("%s: dropped, because the spool has more than %zu bytes; its %" PRIu64
	    " event%s lost unless the database has them", file->path, spool->bytes, written.events,
	    written.events == 1 ? " is" : "s are");
	remove_file(list, file);
}

/* Returns the first pass that may remove the complete log, whose position is open. */
static enum removal first_removal(const struct spool *spool, const struct position *position,
				  uint64_t bytes)
{
	const bool is_delivered = summary_is_sent(position, SUMMARY_WHOLE);

	if (is_delivered && link_is_whole(spool->link, position->source))
		return REMOVAL_COMPARED;
	if (bytes <= ACCOUNT_BYTES)
		return REMOVAL_PASSES;
	return is_delivered ? REMOVAL_DELIVERED : REMOVAL_LACKING;
}

/*
 * Removes or drops a log if this pass may do so. Meanwhile the function holds the lock of the
 * position, so that no process ships the log. A log that cannot be opened now remains.
 */
static void remove_log(const struct spool *spool, struct spooled_list *list,
		       struct spooled *file, enum removal pass)
{
	struct shipment shipment = { .options = spool->options };
	struct position *position = &shipment.position;
	struct query_log of = { .events = 0 };
	int status;

	say_nothing(true);
	file->next = REMOVAL_PASSES;
	status = logfile_open(&of.file, file->path, NULL);
	say_nothing(false);
	if (status)
		return;
	shipment_identify(&shipment, &of.file.info);
	if (of.file.info.complete &&
	    position_open(position, spool->options->folder, &spool->link->server.address,
			  shipment.source) == STATE_OK) {
		file->next = first_removal(spool, position, file->bytes);
		if (file->next == pass && pass == REMOVAL_COMPARED)
			remove_file(list, file);
		else if (file->next == pass)
			drop_log(spool, list, file, &of);
		position_close(position);
	}
	logfile_close(&of.file);
}

static void say_excess(struct spool *spool, const struct spooled_list *list)
{
	bool has_excess = list->bytes > spool->bytes;

	if (has_excess && !spool->has_excess)
		say("the spool has %" PRIu64 " bytes, more than %zu, but no log can be "
		    "dropped: each is incomplete, is being shipped, or is small",
		    list->bytes, spool->bytes);
	spool->has_excess = has_excess;
}

/*
 * Returns whether the tables were made again since the logs were shipped. Then no log is removed,
 * because the next round ships the logs again. While the server fails, this is not known, and
 * link_is_whole() returns false.
 */
static bool has_new_tables(struct link *link)
{
	const unsigned made = link->made;

	if (!link->retry.failing_ns)
		link_confirm_once(link, 0);
	return link->made != made;
}

void spool_limit(void *arg)
{
	struct spool *spool = arg;
	struct spooled_list list = { .count = 0 };
	enum removal last = REMOVAL_PASSES;

	if (!spool->bytes)
		return;
	for (int i = 0; i < spool->operands; i++)
		list_folder(&list, spool->operand[i]);
	if (list.count)
		qsort(list.file, list.count, sizeof(*list.file), by_age);
	if (list.bytes > spool->bytes && has_new_tables(spool->link))
		last = REMOVAL_COMPARED;
	for (enum removal pass = REMOVAL_COMPARED; pass < last; pass++)
		for (size_t i = 0; i < list.count && list.bytes > spool->bytes; i++)
			if (list.file[i].path && list.file[i].next <= pass)
				remove_log(spool, &list, &list.file[i], pass);
	for (int i = 0; list.has_dropped && i < spool->operands; i++)
		account_merge(spool->operand[i]);
	if (last == REMOVAL_PASSES)
		say_excess(spool, &list);
	for (size_t i = 0; i < list.count; i++)
		free(list.file[i].path);
	free(list.file);
}
