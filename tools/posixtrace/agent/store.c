/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* store.c - the folder of the agent: its lock, the names of its files, the quota and the age of
 * logs. */
#include "agent/store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/config.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "base/when.h"

#define SUFFIX	  ".ptl"
#define TIME_LEN  20   /* 20261126T082400.123Z */
#define SAME_TIME 1000 /* logs of one process and trigger in one millisecond */

int64_t store_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return when_timespec(&now) / 1000000;
}

/* Prints the error of a system call with the path, and returns -1. */
static int store_say(const char *folder, const char *name)
{
	say("%s%s%s: %s", folder, *name ? "/" : "", name, strerror(errno));
	return -1;
}

/* Opens a folder below dir, which it makes if it is missing. */
static int open_folder(const struct store *store, const char *name)
{
	int fd;

	if (mkdirat(store->dir, name, 0700) && errno != EEXIST)
		return store_say(store->folder, name);
	fd = openat(store->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? store_say(store->folder, name) : fd;
}

/*
 * Opens the folder. Another user who can write there could replace the socket and the lock, or put
 * links in their place. Root is trusted, and may use the folder of each user as a client.
 */
static int open_trusted(const char *folder, bool is_client)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return store_say(folder, "");
	if (fstat(fd, &st)) {
		store_say(folder, "");
	} else if (st.st_uid != geteuid() && !(is_client && (!st.st_uid || !geteuid()))) {
		say("%s: this folder belongs to another user, with the number %u", folder,
		    (unsigned)st.st_uid);
	} else if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		say("%s: other users can write to this folder (mode %04o)", folder,
		    (unsigned)(st.st_mode & 07777));
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

/* A client does not make the folder: if it is missing, no agent uses it. */
int store_open_client(const char *folder)
{
	return open_trusted(folder, true);
}

/*
 * Locks the folder. The kernel releases the lock when the agent ends in any way. Children do not
 * keep it, because they execute programs, or end before their parent does anything else.
 */
static bool lock_store(struct store *store)
{
	char text[32] = "";
	ssize_t n;
	int len;

	store->lock = openat(store->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (store->lock < 0) {
		store_say(store->folder, "lock");
		return false;
	}
	if (flock(store->lock, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK) {
			store_say(store->folder, "lock");
			return false;
		}
		n = read(store->lock, text, sizeof(text) - 1);
		text[n > 0 ? strspn(text, "0123456789") : 0] = '\0';
		say("%s: another agent uses this folder%s%s", store->folder,
		    *text ? ": process " : "", text);
		return false;
	}
	len = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(store->lock, 0) || pwrite(store->lock, text, (size_t)len, 0) != len) {
		store_say(store->folder, "lock");
		return false;
	}
	return true;
}

/* Only the last part of the path is made; a missing parent is probably a mistyped name. */
int store_open(struct store *store, const char *folder)
{
	*store = (struct store){ .dir = -1, .lock = -1, .flight = -1, .logs = -1 };
	store->folder = strdup(folder);
	if (!store->folder) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	if (mkdir(folder, 0700) && errno != EEXIST) {
		store_say(folder, "");
		store_close(store);
		return TOOL_FAILURE;
	}
	store->dir = open_trusted(folder, false);
	if (store->dir < 0 || !lock_store(store)) {
		store_close(store);
		return TOOL_FAILURE;
	}
	store->flight = open_folder(store, "flight");
	store->logs = store->flight < 0 ? -1 : open_folder(store, "logs");
	if (store->logs < 0) {
		store_close(store);
		return TOOL_FAILURE;
	}
	return TOOL_OK;
}

/* Releases the lock of the folder. Also called for a store that was opened in part. */
void store_close(struct store *store)
{
	const int fds[] = { store->logs, store->flight, store->lock, store->dir };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(store->folder);
	*store = (struct store){ .dir = -1, .lock = -1, .flight = -1, .logs = -1 };
}

/* The name of a section has no dot, so the parts can be found again. */
void store_flight_name(char name[STORE_NAME_BYTES], const struct store_flight *flight)
{
	snprintf(name, STORE_NAME_BYTES, "%s.%d.%lld" SUFFIX, flight->record, (int)flight->pid,
		 (long long)flight->ms);
}

/*
 * The name is made anew from its parts and compared, so that leading zeros, signs and blanks, which
 * sscanf() accepts, are refused.
 */
bool store_flight_parse(const char *name, struct store_flight *flight)
{
	char again[STORE_NAME_BYTES];
	long long ms;
	int pid;

	if (sscanf(name, "%39[^.].%d.%lld", flight->record, &pid, &ms) != 3)
		return false;
	flight->pid = pid;
	flight->ms = ms;
	/* The name must be exactly the one that the parts make. */
	store_flight_name(again, flight);
	return pid > 0 && ms > 0 && !strcmp(name, again);
}

/* O_EXCL and O_NOFOLLOW: the file is new, and is in this folder. */
int store_create(const struct store *store, const char *name)
{
	int fd = openat(store->flight, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd < 0)
		say("%s/flight/%s: %s", store->folder, name, strerror(errno));
	return fd;
}

/* A file that is missing is no error: a user may have removed it. */
void store_drop(const struct store *store, const char *name)
{
	if (unlinkat(store->flight, name, 0) && errno != ENOENT)
		say("%s/flight/%s: %s", store->folder, name, strerror(errno));
}

/* A log in logs/. */
struct kept {
	char name[STORE_NAME_BYTES];
	uint64_t bytes;
	int64_t ms; /* of the last change */
};

/* Whether the agent could have made this name: a time, parts, and the suffix. */
static bool is_kept_name(const char *name)
{
	static const char form[] = "dddddddd.dddddd.ddd.";
	size_t len = strlen(name);

	if (len <= TIME_LEN + strlen(SUFFIX) || len >= STORE_NAME_BYTES ||
	    strcmp(name + len - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	for (size_t i = 0; i < TIME_LEN; i++)
		if (form[i] == 'd' && !isdigit((unsigned char)name[i]))
			return false;
	return name[8] == 'T' && name[15] == '.' && name[19] == 'Z' && name[TIME_LEN] == '-';
}

/* Names begin with the time in UTC, so their order is that of the times. */
static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->name, ((const struct kept *)b)->name);
}

/* Lists the logs, the oldest first. Returns their number; the caller frees the list. */
static size_t list_kept(struct store *store, struct kept **list)
{
	int fd = openat(store->logs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t count = 0;
	struct stat st;

	*list = NULL;
	if (!folder && fd >= 0)
		close(fd);
	store->bytes = 0;
	while (folder && (entry = readdir(folder))) {
		if (!is_kept_name(entry->d_name) ||
		    fstatat(store->logs, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || !vec_grow(list, count, 1))
			continue;
		strcpy((*list)[count].name, entry->d_name);
		(*list)[count].bytes = (uint64_t)st.st_size;
		(*list)[count].ms = when_timespec(&st.st_mtim) / 1000000;
		store->bytes += (uint64_t)st.st_size;
		count++;
	}
	if (folder)
		closedir(folder);
	if (count)
		qsort(*list, count, sizeof(**list), by_name);
	store->count = count;
	return count;
}

/* Removes a log and subtracts it. An error leaves it, and the next look tries again. */
static bool remove_kept(struct store *store, const struct kept *kept)
{
	if (unlinkat(store->logs, kept->name, 0) && errno != ENOENT) {
		say("%s/logs/%s: %s", store->folder, kept->name, strerror(errno));
		return false;
	}
	store->bytes -= kept->bytes;
	store->count--;
	return true;
}

/* Removes old logs, and then the oldest ones until the quota has room for more bytes. */
static void make_room(struct store *store, const struct config *config, uint64_t more)
{
	struct kept *list;
	size_t count = list_kept(store, &list);
	int64_t now = store_now_ms();

	for (size_t i = 0; i < count; i++) {
		if (config->expire_ns && now - list[i].ms > config->expire_ns / 1000000)
			store->expired += remove_kept(store, &list[i]);
		else if (config->quota && !config->refuses && store->bytes + more > config->quota)
			store->removed += remove_kept(store, &list[i]);
	}
	free(list);
}

/* Also needed without new logs, because logs grow old, and a reload may lower the quota. */
void store_tidy(struct store *store, const struct config *config)
{
	make_room(store, config, 0);
}

/* Writes the name of a new log, which has the time of its trigger. again distinguishes equal names.
 */
static void kept_name(char name[STORE_NAME_BYTES], const struct store_flight *flight,
		      const char *trigger, int again)
{
	int64_t ms = store_now_ms();
	time_t seconds = (time_t)(ms / 1000);
	char when[32], number[16] = "";
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &tm);
	if (again)
		snprintf(number, sizeof(number), ".%d", again + 1);
	snprintf(name, STORE_NAME_BYTES, "%s.%03dZ-%s-%d-%s%s" SUFFIX, when, (int)(ms % 1000),
		 flight->record, (int)flight->pid, trigger, number);
}

/*
 * Moves a file of flight/ to logs/ unless the new name exists; errno is EEXIST then. Some file
 * systems, such as NFS, have no RENAME_NOREPLACE. Nothing but this agent makes such names there, so
 * a look before the move is enough.
 */
static int move_log(const struct store *store, const char *name, const char *to)
{
	struct stat st;

	if (!renameat2(store->flight, name, store->logs, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!fstatat(store->logs, to, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return errno == ENOENT ? renameat(store->flight, name, store->logs, to) : -1;
}

/*
 * The file is moved within one file system, so a reader sees the whole log or none. It is counted
 * here and not by another look at the folder.
 */
bool store_keep(struct store *store, const struct config *config, const char *name,
		const struct store_flight *flight, const char *trigger, char **path)
{
	char to[STORE_NAME_BYTES];
	struct stat st;
	int failed = -1;

	*path = NULL;
	if (fstatat(store->flight, name, &st, AT_SYMLINK_NOFOLLOW)) {
		say("%s/flight/%s: %s", store->folder, name, strerror(errno));
		return false;
	}
	/* Room is made before the move, so that the folder never exceeds the quota. */
	make_room(store, config, (uint64_t)st.st_size);
	if (config->quota && store->bytes + (uint64_t)st.st_size > config->quota) {
		say("%s/logs: the quota of %llu bytes has no room for a log of %llu bytes of "
		    "trigger %s",
		    store->folder, (unsigned long long)config->quota,
		    (unsigned long long)st.st_size, trigger);
		store->refused++;
		store_drop(store, name);
		return false;
	}
	/* No log replaces another one. */
	for (int i = 0; failed && i < SAME_TIME; i++) {
		kept_name(to, flight, trigger, i);
		failed = move_log(store, name, to);
		if (failed && errno != EEXIST)
			break;
	}
	if (failed) {
		say("%s/logs/%s: %s", store->folder, to, strerror(errno));
		return false;
	}
	store->bytes += (uint64_t)st.st_size;
	store->count++;
	if (asprintf(path, "%s/logs/%s", store->folder, to) < 0)
		*path = NULL;
	return true;
}
