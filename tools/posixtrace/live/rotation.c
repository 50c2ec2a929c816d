/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rotation.c - begins the next log of a recording, and removes old logs. */
#include "live/rotation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "base/vec.h"

#define SUFFIX ".ptl"

/*
 * A block of events has 64 KiB, and each log also has the types, schemas and mappings, so a smaller
 * log would have hardly any events. A block of large events may have 256 KiB, so the shortest log
 * may have only one of them.
 */
#define SIZE_MIN ((size_t)256 << 10)
#define TIME_MIN_NS INT64_C(100000000)

/* The pauses between two tries, if no log can be begun. */
#define PAUSE_NS     INT64_C(1000000000)
#define PAUSE_MAX_NS (60 * PAUSE_NS)

enum { ROTATE_SIZE = 1330, ROTATE_TIME, KEEP_AGE, KEEP_SIZE };

const struct option_row rotation_rows[] = {
	{ "rotate-size", ROTATE_SIZE, "BYTES",
		"begin a new log when the log has this size; the logs are LOG with a number, such "
		"as posixtrace.0001.ptl" },
	{ "rotate-time", ROTATE_TIME, "TIME", "begin a new log after this time" },
	{ "keep-age", KEEP_AGE, "TIME",
		"with --rotate-size or --rotate-time, remove logs that were completed this time "
		"ago" },
	{ "keep-size", KEEP_SIZE, "BYTES",
		"with --rotate-size or --rotate-time, remove the oldest logs if all logs of this "
		"recording together are larger" },
	OPTION_END
};

int rotation_take_option(struct rotation_plan *plan, int option, const char *arg)
{
	switch (option) {
	case ROTATE_SIZE:
		return quantity_bytes("--rotate-size", arg, &plan->size) ? 1 : -1;
	case ROTATE_TIME:
		return quantity_span("--rotate-time", arg, &plan->span_ns) ? 1 : -1;
	case KEEP_AGE:
		return quantity_span("--keep-age", arg, &plan->keep_ns) ? 1 : -1;
	case KEEP_SIZE:
		return quantity_bytes("--keep-size", arg, &plan->keep_bytes) ? 1 : -1;
	}
	return 0;
}

bool rotation_is_possible(const struct rotation_plan *plan, const char *command)
{
	const char *wrong = NULL;

	if (plan->size && plan->size < SIZE_MIN)
		wrong = "--rotate-size: at least 256K, because each log has all types and mappings";
	else if (plan->span_ns && plan->span_ns < TIME_MIN_NS)
		wrong = "--rotate-time: at least 100ms";
	else if ((plan->keep_ns || plan->keep_bytes) && !rotation_is_wanted(plan))
		wrong = "--keep-age and --keep-size have no meaning without --rotate-size or "
			"--rotate-time";
	else if (plan->keep_bytes && plan->keep_bytes < plan->size)
		wrong = "--keep-size is less than --rotate-size, so no log would be kept";
	if (wrong)
		say("%s: %s", command, wrong);
	return !wrong;
}

/* Returns the length of a path without the suffix of logs. */
static size_t stem_length(const char *path)
{
	const size_t len = strlen(path), suffix = strlen(SUFFIX);

	return len > suffix && !strcmp(path + len - suffix, SUFFIX) && path[len - suffix - 1] != '/'
		       ? len - suffix : len;
}

/* Returns the name of the log with this number, which the caller frees, or NULL. */
static char *numbered_path(const char *path, unsigned number)
{
	const size_t stem = stem_length(path);
	char *numbered;

	return asprintf(&numbered, "%.*s.%04u%s", (int)stem, path, number, path + stem) < 0 ?
		       NULL : numbered;
}

/* Returns the number in the name of a file, or 0 if the name is not the path with a number. */
static unsigned number_in(const char *name, const char *path)
{
	const char *last = path_last(path);
	const size_t stem = stem_length(last);
	char *end;
	unsigned long number;

	if (strncmp(name, last, stem) || name[stem] != '.' || name[stem + 1] < '0' ||
	    name[stem + 1] > '9')
		return 0;
	number = strtoul(name + stem + 1, &end, 10);
	return strcmp(end, last + stem) || number >= UINT32_MAX ? 0 : (unsigned)number;
}

/*
 * Returns the greatest number of a log with this name that exists. A new recording continues behind
 * this number, so that the names of all logs are in the order of time. Returns 0 if there is none,
 * or if the folder cannot be read.
 */
static unsigned greatest_number(const char *path)
{
	char *folder = disk_folder(path);
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	unsigned greatest = 0;

	free(folder);
	while (dir && (entry = readdir(dir)) != NULL) {
		const unsigned number = number_in(entry->d_name, path);

		greatest = number > greatest ? number : greatest;
	}
	if (dir)
		closedir(dir);
	return greatest;
}

/*
 * Creates the file of the next log. Another recording with this name may have made a file with the
 * next number. Without --force, the log then gets a number behind all numbers that exist. Prints
 * errors. Returns a status of the tool.
 */
static int create_next(struct rotation *rotation, struct outfile *file, char **path)
{
	const bool replaces = rotation->mode == OUTFILE_REPLACE;
	unsigned number = rotation->number + 1;
	struct stat st;
	int status;

	*path = numbered_path(rotation->plan->path, number);
	if (*path && !replaces && !lstat(*path, &st)) {
		free(*path);
		number = greatest_number(rotation->plan->path) + 1;
		*path = numbered_path(rotation->plan->path, number);
	}
	if (!*path) {
		say("%s: %s", rotation->plan->path, say_strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	status = outfile_create(file, *path, replaces ? OUTFILE_REPLACE : OUTFILE_REFUSE);
	if (status)
		free(*path);
	else
		rotation->number = number;
	return status;
}

/*
 * Returns false after it printed that the name cannot be the name of a log. All logs have this name
 * with a number, so the creation of their files does not examine the name itself.
 */
static bool is_file_name(const char *path)
{
	const size_t len = strlen(path);
	struct stat st;

	if (len && path[len - 1] != '/' && !outfile_is_descriptor(path) &&
	    (stat(path, &st) || S_ISREG(st.st_mode)))
		return true;
	say("%s: not a regular file; give another name", path);
	return false;
}

int rotation_create(struct rotation *rotation, struct outfile *file,
		    const struct capture_plan *plan, enum outfile_mode mode)
{
	*rotation = (struct rotation){ .plan = plan, .mode = mode, .file = file, .written = 1,
				       .begun_ns = until_now_ns(), .pause_ns = PAUSE_NS,
				       .sum.has_counts = true };
	if (!rotation_is_wanted(&plan->rotate))
		return outfile_create(file, plan->path, mode);
	if (!is_file_name(plan->path))
		return TOOL_FAILURE;
	if (mode != OUTFILE_REPLACE)
		rotation->number = greatest_number(plan->path);
	return create_next(rotation, file, &rotation->path);
}

static bool is_due(const struct rotation *rotation, int64_t now_ns)
{
	const struct rotation_plan *plan = &rotation->plan->rotate;
	struct stat st;

	if (now_ns < rotation->retry_ns || now_ns - rotation->begun_ns < TIME_MIN_NS)
		return false;
	return (plan->span_ns && now_ns - rotation->begun_ns >= plan->span_ns) ||
	       (plan->size && !fstat(rotation->file->fd, &st) &&
		(uint64_t)st.st_size >= plan->size);
}

/*
 * Notes a log that is complete, adds its counts to the sum, and closes its file. If memory is
 * lacking, the log is not noted, and so is never removed.
 */
static void note_closed(struct rotation *rotation, struct outfile *file, char *path, int64_t now_ns)
{
	struct capture_result result = { .bytes = 0 };
	struct rotation_log *log;

	capture_read_log(path, file->fd, &result);
	capture_add(&rotation->sum, &result);
	if (vec_reserve(&rotation->log, &rotation->log_room, rotation->logs, 1)) {
		log = &rotation->log[rotation->logs++];
		*log = (struct rotation_log){ .path = path, .closed_ns = now_ns,
					      .events = result.ledger.reported };
		if (fstat(file->fd, &log->st))
			memset(&log->st, 0, sizeof(log->st));
		path = NULL;
	}
	outfile_close(file);
	free(path);
}

/* After a failure the pauses become longer, so that a full disk causes only few messages. */
static void pause_rotation(struct rotation *rotation, int64_t now_ns)
{
	rotation->retry_ns = now_ns + rotation->pause_ns;
	rotation->pause_ns *= 2;
	if (rotation->pause_ns > PAUSE_MAX_NS)
		rotation->pause_ns = PAUSE_MAX_NS;
	say("%s: the recording continues in this log", rotation->path);
}

/* The new file has its name before the stream uses it, so a log never lacks its name. */
static void begin_next(struct rotation *rotation, trace_id_t trid, struct kernel *kernel,
		       int64_t now_ns)
{
	struct outfile next, last = *rotation->file;
	char *path;
	int err;

	if (create_next(rotation, &next, &path)) {
		pause_rotation(rotation, now_ns);
		return;
	}
	err = outfile_keep(&next) ? -1 : posix_trace_rotate_log_np(trid, next.fd);
	if (err) {
		if (err > 0)
			say("%s: no new log: %s", path, say_strerror(err));
		outfile_drop(&next);
		free(path);
		rotation->number--;
		pause_rotation(rotation, now_ns);
		return;
	}
	*rotation->file = next;
	rotation->begun_ns = now_ns;
	rotation->retry_ns = 0;
	rotation->pause_ns = PAUSE_NS;
	rotation->written++;
	rotation->status = tool_worse(rotation->status,
				      kernel_weave(kernel, &last, rotation->meanwhile));
	note_closed(rotation, &last, rotation->path, now_ns);
	rotation->path = path;
}

/*
 * Returns whether the file with the name of the log is this log. Another file can have the inode of
 * a log that the user has removed, so size and time are compared, too.
 */
static bool is_unchanged(const struct rotation_log *log)
{
	struct stat st;

	return !lstat(log->path, &st) && S_ISREG(st.st_mode) && st.st_dev == log->st.st_dev &&
	       st.st_ino == log->st.st_ino && st.st_size == log->st.st_size &&
	       st.st_mtim.tv_sec == log->st.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == log->st.st_mtim.tv_nsec;
}

/* Removes the oldest log. A log that was moved or changed by others stays, and is forgotten. */
static void remove_oldest(struct rotation *rotation)
{
	struct rotation_log *log = rotation->log;

	if (is_unchanged(log)) {
		if (unlink(log->path)) {
			say("%s: the old log cannot be removed: %s", log->path,
			    say_strerror(errno));
		} else {
			rotation->removed++;
			rotation->removed_events += log->events;
		}
	}
	free(log->path);
	rotation->logs--;
	memmove(log, log + 1, rotation->logs * sizeof(*log));
}

/*
 * Returns the bytes of all noted logs, with the present log. A log that others have removed or
 * changed counts with its former size, until forget_changed() forgets it.
 */
static uint64_t noted_bytes(const struct rotation *rotation)
{
	struct stat st;
	uint64_t bytes = fstat(rotation->file->fd, &st) ? 0 : (uint64_t)st.st_size;

	for (size_t i = 0; i < rotation->logs; i++)
		bytes += (uint64_t)rotation->log[i].st.st_size;
	return bytes;
}

/* Forgets the logs that others have removed, moved or changed. The noted bytes are exact then. */
static void forget_changed(struct rotation *rotation)
{
	size_t kept = 0;

	for (size_t i = 0; i < rotation->logs; i++) {
		if (is_unchanged(&rotation->log[i]))
			rotation->log[kept++] = rotation->log[i];
		else
			free(rotation->log[i].path);
	}
	rotation->logs = kept;
}

/* The files of the logs are examined only if their noted sizes exceed the limit. */
static void remove_old(struct rotation *rotation, int64_t now_ns)
{
	const struct rotation_plan *plan = &rotation->plan->rotate;

	while (rotation->logs && plan->keep_ns &&
	       now_ns - rotation->log[0].closed_ns >= plan->keep_ns)
		remove_oldest(rotation);
	if (!plan->keep_bytes || noted_bytes(rotation) <= plan->keep_bytes)
		return;
	forget_changed(rotation);
	while (rotation->logs && noted_bytes(rotation) > plan->keep_bytes)
		remove_oldest(rotation);
}

void rotation_look(struct rotation *rotation, trace_id_t trid, struct kernel *kernel)
{
	const int64_t now_ns = until_now_ns();

	if (!rotation->path)
		return;
	if (is_due(rotation, now_ns))
		begin_next(rotation, trid, kernel, now_ns);
	remove_old(rotation, now_ns);
}

void rotation_each(const struct rotation *rotation, void (*visit)(void *arg, int fd), void *arg)
{
	for (size_t i = 0; i < rotation->logs; i++) {
		const int fd = is_unchanged(&rotation->log[i]) ?
				       open(rotation->log[i].path, O_RDONLY | O_CLOEXEC) : -1;

		if (fd < 0)
			continue;
		visit(arg, fd);
		close(fd);
	}
	visit(arg, rotation->file->fd);
}

int rotation_add(struct rotation *rotation, struct capture_result *result)
{
	if (!rotation->path)
		return TOOL_OK;
	remove_old(rotation, until_now_ns());
	capture_add(result, &rotation->sum);
	forget_changed(rotation);
	result->bytes = noted_bytes(rotation);
	result->logs = rotation->written;
	result->removed = rotation->removed;
	result->removed_events = rotation->removed_events;
	return rotation->status;
}

void rotation_fini(struct rotation *rotation)
{
	for (size_t i = 0; i < rotation->logs; i++)
		free(rotation->log[i].path);
	free(rotation->log);
	free(rotation->path);
	*rotation = (struct rotation){ .path = NULL };
}
