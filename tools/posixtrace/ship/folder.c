/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * folder.c - ships a log into a folder of Apache Parquet files, which object stores, DuckDB, Spark
 * and Trino read: FOLDER/TABLE/day=YYYY-MM-DD/host=NAME/LOG.parquet for each table of query.
 *
 * LOG is the identity of the log, so a second shipment of the log makes the same names. The files
 * are made in a temporary folder, written to the disk, and then renamed. The file of the ledger is
 * renamed last: when this file exists, the log is shipped. After a kill, the next shipment begins
 * again from the start, and replaces the files that the killed shipment has renamed.
 */
#include "ship/ship.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "convert/through.h"
#include "query/query_schema.h"

/* bytes of the log's identity, and of the name of a table's file */
#define NAME_BYTES  64
#define PLACE_BYTES (64 + 3 * 64)      /* bytes of day=... and host=... */

struct folder {
	const char *root, *path;
	int fd;                        /* descriptor of "root" */
	char name[NAME_BYTES];         /* LOG */
	char place[PLACE_BYTES];       /* day=YYYY-MM-DD/host=NAME */
	char made[NAME_BYTES];         /* the temporary folder */
};

/* ------------------------------------------------------------------ names */

/*
 * Writes a part of a folder's name. Letters, digits, - and _ remain. A dot remains unless it is the
 * last character. All other characters become %XX, as in Hive. So a host whose name is hostile,
 * such as "..", cannot name another folder. Returns the end of the written text.
 */
static char *put_escaped(char *to, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (isalnum(c) || c == '-' || c == '_' || (c == '.' && name[1]))
			*to++ = (char)c;
		else
			to += sprintf(to, "%%%02X", c);
	}
	return to;
}

static void name_place(struct folder *folder, const struct posix_trace_loginfo_np *info,
		       const char *host)
{
	char uuid[2 * sizeof(info->uuid) + 1], known[sizeof(info->host) + 1] = "";
	time_t seconds = (time_t)(info->begin_ns / 1000000000);
	struct tm day;
	char *p = folder->place;

	*put_hex_bytes(uuid, info->uuid, sizeof(info->uuid)) = '\0';
	snprintf(folder->name, sizeof(folder->name), "%s-%" PRIx64, uuid, info->log_id);
	snprintf(folder->made, sizeof(folder->made), ".%.60s", folder->name);
	memcpy(known, info->host, sizeof(info->host));
	if (!host)
		host = *known ? known : "unknown";
	if (seconds < 0 || !gmtime_r(&seconds, &day))
		memset(&day, 0, sizeof(day));
	p += strftime(p, 32, "day=%Y-%m-%d/host=", &day);
	*put_escaped(p, host) = '\0';
}

static bool say_failure(const struct folder *folder, const char *what)
{
	say("%s/%s: %s", folder->root, what, strerror(errno));
	return false;
}

/* ------------------------------------------------------------------ files */

/* Writes a file or folder to the disk. */
static bool sync_at(const struct folder *folder, const char *path, int flags)
{
	errno = disk_sync(folder->fd, path, flags);
	return !errno || say_failure(folder, path);
}

/* Makes the folders of a path whose last part is a file. Each new name is written to the disk. */
static bool make_folders(const struct folder *folder, const char *path)
{
	char part[512];

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (!mkdirat(folder->fd, part, 0755)) {
			char *before = strrchr(part, '/');

			if (before)
				*before = '\0';
			if (!sync_at(folder, before ? part : ".", O_DIRECTORY))
				return false;
		} else if (errno != EEXIST) {
			return say_failure(folder, part);
		}
	}
	return true;
}

static void table_path(const struct folder *folder, const char *table, char path[512])
{
	snprintf(path, 512, "%s/%s/%s.parquet", table, folder->place, folder->name);
}

/* Gives the file of a table its final name, after all of its bytes are on the disk. */
static bool keep_table(const struct folder *folder, const char *table)
{
	char from[2 * NAME_BYTES], to[512], *slash;

	snprintf(from, sizeof(from), "%s/%s.parquet", folder->made, table);
	table_path(folder, table, to);
	if (!make_folders(folder, to) || !sync_at(folder, from, 0))
		return false;
	if (renameat(folder->fd, from, folder->fd, to))
		return say_failure(folder, to);
	slash = strrchr(to, '/');
	*slash = '\0';
	return sync_at(folder, to, O_DIRECTORY);
}

/* The ledger is last, because its file is the mark of a shipped log. */
static bool keep_tables(const struct folder *folder)
{
	bool good = true;

	for (int i = QUERY_EVENTS; good && i < QUERY_TABLES; i++)
		if (i != QUERY_LEDGER)
			good = keep_table(folder, query_table_name(i));
	return good && keep_table(folder, query_table_name(QUERY_LEDGER));
}

/* Removes the temporary folder of this shipment or of an earlier one of the same log. */
static void remove_made(const struct folder *folder)
{
	char path[2 * NAME_BYTES];

	for (int i = QUERY_EVENTS; i < QUERY_TABLES; i++) {
		snprintf(path, sizeof(path), "%s/%s.parquet", folder->made, query_table_name(i));
		unlinkat(folder->fd, path, 0);
	}
	unlinkat(folder->fd, folder->made, AT_REMOVEDIR);
}

/* ------------------------------------------------------------------ a log */

/* Converts the log into the temporary folder. Returns an exit status. */
static int make_tables(const struct folder *folder)
{
	struct through plan = { .from = fmt_by_name("log"), .to = fmt_by_name("parquet") };
	struct fmt_input *input = calloc(1, sizeof(*input));
	char *output = NULL;
	int status = TOOL_FAILURE;

	if (!input || asprintf(&output, "%s/%s", folder->root, folder->made) < 0)
		say("%s", strerror(ENOMEM));
	else
		status = input_open(input, folder->path);
	if (!status) {
		plan.output = output;
		status = through(&plan, input);
		input_close(input);
	}
	free(output);
	free(input);
	return status;
}

static bool is_shipped(const struct folder *folder)
{
	char path[512];

	table_path(folder, query_table_name(QUERY_LEDGER), path);
	return !faccessat(folder->fd, path, F_OK, 0);
}

/*
 * Ships the log. The caller has locked the identity of the log, so no other process ships the log
 * now.
 */
static int ship_tables(const struct folder *folder, uint64_t events)
{
	bool was = is_shipped(folder);
	int status = TOOL_OK;

	remove_made(folder);
	if (!was) {
		status = make_tables(folder);
		if ((status == TOOL_OK || status == TOOL_DAMAGED) && !keep_tables(folder))
			status = TOOL_FAILURE;
		remove_made(folder);
	}
	if (status == TOOL_OK || status == TOOL_DAMAGED)
		out_printf(&out_stdout, "%s: %" PRIu64 " event%s shipped, %" PRIu64 " in all\n",
			   shipment_name(folder->path), was ? 0 : events,
			   text_plural(was ? 0 : events), events);
	return status;
}

/*
 * Locks the file with this name, and makes it if it is missing. The process that had the lock may
 * have removed the file meanwhile, so that a third process could make and lock another one. So this
 * function does not use a file whose name was removed. Returns -1 and errno after an error,
 * EWOULDBLOCK if another process has the lock.
 */
static int acquire_lock(const struct folder *folder, const char *lock)
{
	struct stat held;

	for (;;) {
		int fd = openat(folder->fd, lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		int err;

		if (fd < 0)
			return -1;
		if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &held)) {
			if (held.st_nlink)
				return fd;
			close(fd);
			continue;
		}
		err = errno;
		close(fd);
		errno = err;
		return -1;
	}
}

/*
 * Ships the log while it locks the log's identity, so that only one process ships the log. The file
 * with the lock is removed in any case. Only a killed process leaves it, and the next shipment of
 * the log removes it.
 */
static int ship_locked(const struct folder *folder, uint64_t events, bool is_last,
		       enum shipment_state *state)
{
	char lock[NAME_BYTES + 8];
	int fd, status;

	snprintf(lock, sizeof(lock), "%s.lock", folder->made);
	fd = acquire_lock(folder, lock);
	if (fd < 0 && errno == EWOULDBLOCK)
		return shipment_busy(folder->path, is_last, state);
	if (fd < 0) {
		say_failure(folder, lock);
		*state = SHIPMENT_STUCK;
		return TOOL_FAILURE;
	}
	status = ship_tables(folder, events);
	*state = status == TOOL_FAILURE ? SHIPMENT_STUCK : SHIPMENT_ENDED;
	unlinkat(folder->fd, lock, 0);
	close(fd);
	return status;
}

/* Makes the folder if it is missing. Returns its descriptor, or -1 after it printed an error. */
static int open_root(const char *root)
{
	int fd = mkdir(root, 0755) && errno != EEXIST
			 ? -1
			 : open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		say("%s: %s", root, strerror(errno));
	return fd;
}

int folder_begin(const char *root)
{
	int fd = open_root(root);

	if (fd < 0)
		return TOOL_FAILURE;
	close(fd);
	if (fmt_by_name("parquet"))
		return TOOL_OK;
	say("parquet: this posixtrace was built without this format");
	return TOOL_FAILURE;
}

int folder_run(const struct ship_options *options, const char *root, const char *path, bool is_last,
	       enum shipment_state *state)
{
	struct folder folder = { .root = root, .path = path };
	struct logfile log;
	uint64_t events;
	int status;

	*state = SHIPMENT_FAULTY;
	say_nothing(!is_last);
	status = logfile_open(&log, path, NULL);
	say_nothing(false);
	if (status)
		return status;
	name_place(&folder, &log.info, options->host);
	events = logfile_events(&log);
	if (!log.info.complete) {
		*state = SHIPMENT_MORE;
		logfile_close(&log);
		if (is_last)
			say("%s: a folder gets a log when it is complete; posixtrace recover "
			    "completes one whose writer was killed", shipment_name(path));
		return is_last ? TOOL_DAMAGED : TOOL_OK;
	}
	logfile_close(&log);
	folder.fd = open_root(root);
	if (folder.fd < 0) {
		*state = SHIPMENT_STUCK;
		return TOOL_FAILURE;
	}
	status = ship_locked(&folder, events, is_last, state);
	close(folder.fd);
	return status;
}
