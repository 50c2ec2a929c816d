/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * store.c - manages the folder of the agent: its lock, the names of its files, and the quota and
 * the expiry of its logs.
 */
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/config.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "base/when.h"
#include "query/account_name.h"
#ifdef HAVE_SQLITE_QUERY
#include "query/query_account.h"
#endif

#define SUFFIX	  ".ptl"
#define TIME_LEN  20   /* 20261126T082400.123Z */
/* greatest number of logs of one process and trigger in one millisecond */
#define SAME_TIME 1000

#define PID_BYTES     32       /* of the text in the file "lock" */
#define CHILD_TRIES   100      /* tries to lock, while a child of a killed agent has the lock */
#define CHILD_WAIT_NS 50000000 /* time between two tries */

int64_t store_now_ms(void)
{
	return when_now() / 1000000;
}

/* Prints the error of a system call with the path, and returns -1. */
static int store_say(const char *folder, const char *name)
{
	say("%s%s%s: %s", folder, *name ? "/" : "", name, say_strerror(errno));
	return -1;
}

/* Opens a folder below store->dir. If the folder is missing, makes it. */
static int open_folder(const struct store *store, const char *name)
{
	int fd;

	if (mkdirat(store->dir, name, 0700) && errno != EEXIST)
		return store_say(store->folder, name);
	fd = openat(store->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? store_say(store->folder, name) : fd;
}

/*
 * Opens the folder. Refuses a folder that another user owns or can write to, because that user
 * could replace the socket and the lock, for example by links. A client also accepts a folder of
 * root, and root as a client may use the folder of each user. Returns a descriptor, or -1 after it
 * printed an error.
 */
static int open_trusted(const char *folder, bool is_client)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && is_client && errno == ENOENT) {
		say("%s: no agent uses this folder: it does not exist", folder);
		return -1;
	}
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

/* A client does not make the folder, because no agent uses a folder that is missing. */
int store_open_client(const char *folder)
{
	return open_trusted(folder, true);
}

/*
 * Tries to lock the folder. Returns false after an error, which is in errno. EWOULDBLOCK: another
 * process has the lock; "text" then has the number of the agent that locked it, or is empty if the
 * number is unknown.
 */
static bool try_lock(int fd, char text[PID_BYTES])
{
	ssize_t n;

	*text = '\0';
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return true;
	if (errno == EWOULDBLOCK) {
		n = pread(fd, text, PID_BYTES - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		text[strspn(text, "0123456789")] = '\0';
		errno = EWOULDBLOCK;
	}
	return false;
}

/* Returns whether a process has ended. A zombie has ended, too. */
static bool is_dead(pid_t pid)
{
	struct procfile_stat stat;

	return procfile_has_ended(pid) || (procfile_stat(pid, &stat) && stat.state == 'Z');
}

/*
 * Locks the folder. The kernel releases the lock when the agent ends in any way. A child of the
 * agent keeps the lock for a moment, until it executes a program or ends. So if the agent was
 * killed, a new agent waits for the child of the killed agent, and does not refuse to start.
 */
static bool lock_store(struct store *store)
{
	char text[PID_BYTES];
	bool is_locked;
	int len, err;

	store->lock = openat(store->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (store->lock < 0) {
		store_say(store->folder, "lock");
		return false;
	}
	is_locked = try_lock(store->lock, text);
	err = errno;
	for (int i = 0; i < CHILD_TRIES && !is_locked && err == EWOULDBLOCK && *text &&
	     is_dead((pid_t)atoi(text)); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = CHILD_WAIT_NS }, NULL);
		is_locked = try_lock(store->lock, text);
		err = errno;
	}
	if (!is_locked && err != EWOULDBLOCK) {
		errno = err;
		store_say(store->folder, "lock");
		return false;
	}
	if (!is_locked) {
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

/*
 * If the folder is missing, the function makes it. The function does not make folders above it,
 * because the path is probably mistyped if one of them is missing.
 */
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

/* Closes the store and so releases its lock. Some descriptors of the store may not be open. */
void store_close(struct store *store)
{
	const int fds[] = { store->logs, store->flight, store->lock, store->dir };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(store->folder);
	*store = (struct store){ .dir = -1, .lock = -1, .flight = -1, .logs = -1 };
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns whether both descriptors have the same folder. */
static bool is_same_folder(int fd, int other)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstat(other, &b) && is_same_file(&a, &b);
}

/*
 * Returns whether the path, which is relative to "dir", leads to the file with the descriptor. If
 * this is unknown, for example because a permission is lacking, returns true.
 */
static bool leads_to(int dir, const char *path, int fd)
{
	struct stat st, opened;

	if (fstatat(dir, path, &st, 0))
		return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
	return fstat(fd, &opened) || is_same_file(&st, &opened);
}

/*
 * If the folder below store->dir was removed or replaced, makes and opens it again, and returns
 * true. If this fails, sets store->is_missing, so that the reason is printed once.
 */
static bool renew_folder(struct store *store, const char *name, int *fd, bool is_quiet)
{
	int made;

	if (leads_to(store->dir, name, *fd))
		return false;
	say_nothing(is_quiet);
	made = open_folder(store, name);
	say_nothing(false);
	if (made < 0) {
		store->is_missing = true;
		return false;
	}
	close(*fd);
	*fd = made;
	say("%s/%s was removed or replaced; it was made again", store->folder, name);
	return true;
}

/*
 * Opens the whole store again. The former store keeps its lock until the new one is locked, so that
 * no other agent can use either of them meanwhile. A failure is printed once. "name" is the part
 * that was removed. If only the lock was removed, flight/ is the same, and the recorders can
 * continue.
 */
static enum store_change renew_store(struct store *store, const char *name)
{
	struct store made;
	bool is_same;
	int status;

	if (!store->is_missing)
		say("%s%s was removed or replaced", store->folder, name);
	say_nothing(store->is_missing);
	status = store_open(&made, store->folder);
	say_nothing(false);
	store->is_missing = status != TOOL_OK;
	if (status)
		return STORE_MISSING;
	made.removed = store->removed;
	made.expired = store->expired;
	made.refused = store->refused;
	is_same = is_same_folder(store->dir, made.dir) &&
		  is_same_folder(store->flight, made.flight);
	store_close(store);
	*store = made;
	say("%s%s was made again", store->folder, name);
	return is_same ? STORE_SAME : STORE_NEW_FOLDER;
}

enum store_change store_check(struct store *store)
{
	bool was_missing;

	if (!leads_to(AT_FDCWD, store->folder, store->dir))
		return renew_store(store, "");
	if (!leads_to(store->dir, "lock", store->lock))
		return renew_store(store, "/lock");
	was_missing = store->is_missing;
	store->is_missing = false;
	renew_folder(store, "logs", &store->logs, was_missing);
	return renew_folder(store, "flight", &store->flight, was_missing) ? STORE_NEW_FLIGHT
									  : STORE_SAME;
}

/* The name of a section contains no dot, so store_flight_parse() can separate the parts. */
void store_flight_name(char name[STORE_NAME_BYTES], const struct store_flight *flight)
{
	snprintf(name, STORE_NAME_BYTES, "%s.%d.%lld" SUFFIX, flight->record, (int)flight->pid,
		 (long long)flight->ms);
}

/*
 * sscanf() also accepts leading zeros, signs and blanks. To refuse such names, the function makes
 * the name again from its parts and compares both names.
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
	store_flight_name(again, flight);
	return pid > 0 && ms > 0 && !strcmp(name, again);
}

/* O_EXCL and O_NOFOLLOW ensure that the file is new and in this folder. */
int store_create(const struct store *store, const char *name)
{
	int fd = openat(store->flight, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd < 0)
		say("%s/flight/%s: %s", store->folder, name, say_strerror(errno));
	return fd;
}

/* It is not an error if the file is missing, because a user may have removed it. */
void store_drop(const struct store *store, const char *name)
{
	if (unlinkat(store->flight, name, 0) && errno != ENOENT)
		say("%s/flight/%s: %s", store->folder, name, say_strerror(errno));
}

/* A log in logs/, or the account of a log that was removed. */
struct kept {
	char name[STORE_NAME_BYTES + ACCOUNT_HASH_LEN + sizeof(ACCOUNT_SUFFIX)];
	uint64_t bytes;
	int64_t ms; /* time of the file's last change */
	bool is_account;
};

/* Whether a log can be removed. */
enum removal {
	REMOVE_NOW,   /* its account is written, or it needs none */
	REMOVE_LATER, /* the log cannot be opened now, so it must remain */
	REMOVE_FAILED /* its account cannot be written, and the reason was printed */
};

/*
 * Writes the account of a log. "name" is the path of the account without its suffix; "log" and
 * "name" are relative to the folder. Stores the number of bytes by which the folder has grown in
 * *growth. Prints the reason why the log cannot be opened, except if was_printed is true.
 */
static enum removal write_account(const struct store *store, const char *log, const char *name,
				  bool was_printed, int64_t *growth)
{
	enum removal removal = REMOVE_FAILED;
#ifdef HAVE_SQLITE_QUERY
	struct account_written written = { .events = 0 };
	char *from = NULL, *to = NULL;

	if (asprintf(&from, "%s/%s", store->folder, log) < 0)
		from = NULL;
	if (asprintf(&to, "%s/%s", store->folder, name) < 0)
		to = NULL;
	if (!from || !to)
		say("%s", strerror(ENOMEM));
	else
		switch (account_write(from, to, &written)) {
		case ACCOUNT_NO_LOG:
			if (written.err != ENOENT)
				say("%s: removed without an account, because it is no log", from);
			__attribute__((fallthrough));
		case ACCOUNT_WRITTEN:
			removal = REMOVE_NOW;
			break;
		case ACCOUNT_UNKNOWN:
			removal = REMOVE_LATER;
			if (!was_printed)
				say("%s: %s; it remains until its account can be written", from,
				    say_strerror(written.err));
			break;
		case ACCOUNT_FAILED:
			break;
		}
	*growth = written.growth;
	free(from);
	free(to);
#else
	(void)store, (void)log, (void)name, (void)was_printed, (void)growth;
#endif
	return removal;
}

/* Returns whether the first len bytes end with the suffix of logs. */
static bool ends_as_log(const char *name, size_t len)
{
	return len > strlen(SUFFIX) && len < STORE_NAME_BYTES &&
	       !strncmp(name + len - strlen(SUFFIX), SUFFIX, strlen(SUFFIX));
}

/*
 * Returns whether the agent could have made this name, which consists of a time, further parts and
 * the suffix. query/account_name.h has the names of accounts.
 */
static bool is_kept_name(const char *name, bool *is_account)
{
	static const char form[] = "dddddddd.dddddd.ddd.";
	size_t len = strlen(name);

	*is_account = account_is_name(name);
	if (account_merged_number(name))
		return true;
	if (*is_account) {
		len = account_log_length(name, false);
		if (!ends_as_log(name, len))
			len = account_log_length(name, true);
	}
	if (len <= TIME_LEN + strlen(SUFFIX) || !ends_as_log(name, len))
		return false;
	for (size_t i = 0; i < TIME_LEN; i++)
		if (form[i] == 'd' && !isdigit((unsigned char)name[i]))
			return false;
	return name[8] == 'T' && name[15] == '.' && name[19] == 'Z' && name[TIME_LEN] == '-';
}

/*
 * Compares names for qsort(). Names begin with the time in UTC, so the order of the names is the
 * order of the times.
 */
static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->name, ((const struct kept *)b)->name);
}

/*
 * Lists the logs and accounts, the oldest first, and updates the counts of the store. Returns the
 * length of the list, which the caller frees.
 */
static size_t list_kept(struct store *store, struct kept **list)
{
	int fd = openat(store->logs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t count = 0;
	bool is_account;
	struct stat st;

	*list = NULL;
	if (!folder && fd >= 0)
		close(fd);
	store->bytes = store->count = 0;
	while (folder && (entry = readdir(folder))) {
		if (!is_kept_name(entry->d_name, &is_account) ||
		    fstatat(store->logs, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || !vec_grow(list, count, 1))
			continue;
		strcpy((*list)[count].name, entry->d_name);
		(*list)[count].bytes = (uint64_t)st.st_size;
		(*list)[count].ms = when_timespec(&st.st_mtim) / 1000000;
		(*list)[count].is_account = is_account;
		store->bytes += (uint64_t)st.st_size;
		store->count += !is_account;
		count++;
	}
	if (folder)
		closedir(folder);
	if (count)
		qsort(*list, count, sizeof(**list), by_name);
	return count;
}

/*
 * Removes a log and subtracts it from the counts. If the removal fails, or a needed account cannot
 * be written, the log remains, and the next call of make_room() tries again.
 */
static enum removal remove_kept(struct store *store, const struct config *config,
				const struct kept *kept)
{
	char path[sizeof(kept->name) + 8];
	enum removal removal = REMOVE_NOW;
	int64_t growth = 0;

	snprintf(path, sizeof(path), "logs/%s", kept->name);
	if (config->is_spool)
		removal = write_account(store, path, path, store->unreadable, &growth);
	store->bytes += (uint64_t)growth;
	if (removal != REMOVE_NOW)
		return removal;
	if (unlinkat(store->logs, kept->name, 0) && errno != ENOENT) {
		say("%s/logs/%s: %s", store->folder, kept->name, say_strerror(errno));
		return REMOVE_FAILED;
	}
	store->bytes -= kept->bytes;
	store->count--;
	return REMOVE_NOW;
}

/* If the folder has many accounts, merges them. */
static void merge_accounts(const struct store *store)
{
#ifdef HAVE_SQLITE_QUERY
	char *folder;

	if (asprintf(&folder, "%s/logs", store->folder) < 0)
		return;
	account_merge(folder);
	free(folder);
#else
	(void)store;
#endif
}

/*
 * Prints once the reason why the agent cannot bring the folder below the quota: logs that cannot be
 * opened now must remain, or the accounts alone exceed the quota.
 */
static void say_excess(struct store *store, const struct config *config, size_t unreadable,
		       uint64_t accounts)
{
	bool has_excess = config->is_spool && config->quota && store->bytes > config->quota &&
			  (unreadable || accounts > config->quota);

	if (has_excess && !store->has_excess)
		say("%s/logs has %llu bytes, more than the quota of %llu: %zu log%s cannot be "
		    "opened now, and accounts of removed logs, which posixtrace ship sends and "
		    "removes, have %llu bytes",
		    store->folder, (unsigned long long)store->bytes,
		    (unsigned long long)config->quota, unreadable, unreadable == 1 ? "" : "s",
		    (unsigned long long)accounts);
	store->has_excess = has_excess;
}

/*
 * Removes the logs that have expired. If the configuration permits it, also removes the oldest logs
 * until the quota has room for "more" bytes.
 */
static void make_room(struct store *store, const struct config *config, uint64_t more)
{
	struct kept *list;
	size_t count, unreadable = 0;
	int64_t now = store_now_ms();
	enum removal removal = REMOVE_NOW;
	uint64_t accounts = 0;

	/* A merge changes the number of bytes in the folder, so list_kept() follows it. */
	if (config->is_spool)
		merge_accounts(store);
	count = list_kept(store, &list);
	/*
	 * The loop ends at a failure, so that only one message is printed; the next call tries
	 * again. A log that cannot be opened remains, and younger logs are removed in its place.
	 */
	for (size_t i = 0; i < count && removal != REMOVE_FAILED; i++) {
		bool is_small = config->is_spool && list[i].bytes <= ACCOUNT_BYTES;
		uint64_t *counter = NULL;

		if (list[i].is_account)
			accounts += list[i].bytes;
		else if (config->expire_ns && now - list[i].ms > config->expire_ns / 1000000)
			counter = &store->expired;
		else if (config->quota && !config->refuses && !is_small &&
			 store->bytes + more > config->quota)
			counter = &store->removed;
		if (!counter)
			continue;
		removal = remove_kept(store, config, &list[i]);
		*counter += removal == REMOVE_NOW;
		unreadable += removal == REMOVE_LATER;
	}
	store->unreadable = unreadable;
	say_excess(store, config, unreadable, accounts);
	free(list);
}

/*
 * The agent calls this function even if there are no new logs, because logs expire, and a reload of
 * the configuration may reduce the quota.
 */
void store_tidy(struct store *store, const struct config *config)
{
	make_room(store, config, 0);
}

/*
 * Writes the name of a new log. The name contains the current time and the trigger. The number
 * "again" distinguishes names that would be equal.
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

#define NOREPLACE 1u /* RENAME_NOREPLACE of <linux/fs.h> */

/*
 * Moves a file of flight/ to logs/. If the new name exists, fails with EEXIST. Some file systems,
 * such as NFS, do not support RENAME_NOREPLACE. On such a file system, the function tests before
 * the move whether the name exists. The test is enough, because only this agent makes such names.
 */
static int move_log(const struct store *store, const char *name, const char *to)
{
	struct stat st;

	/* musl has no function for this call. */
	if (!syscall(SYS_renameat2, store->flight, name, store->logs, to, NOREPLACE))
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
 * Writes the account of a log in flight/ that the quota refuses. If an account with the log's new
 * name exists already, the function chooses another name. Returns false if the account cannot be
 * written, so that the log must remain. The reason is printed once, until an account can be written
 * again.
 */
static bool account_refused(struct store *store, const char *name,
			    const struct store_flight *flight, const char *trigger)
{
	char log[STORE_NAME_BYTES + 16], to[STORE_NAME_BYTES], account[STORE_NAME_BYTES + 16];
	enum removal removal;
	int64_t growth;
	int again = 0;
	struct stat st;

	do {
		kept_name(to, flight, trigger, again++);
		snprintf(account, sizeof(account), "%s" ACCOUNT_SUFFIX, to);
	} while (again < SAME_TIME && !fstatat(store->logs, account, &st, AT_SYMLINK_NOFOLLOW));
	snprintf(log, sizeof(log), "flight/%s", name);
	snprintf(account, sizeof(account), "logs/%s", to);
	removal = write_account(store, log, account, store->has_waiting, &growth);
	if (removal == REMOVE_FAILED && !store->has_waiting)
		say("%s/%s: it remains until its account can be written", store->folder, log);
	store->has_waiting = removal != REMOVE_NOW;
	return !store->has_waiting;
}

/*
 * The file is moved within one file system, so logs/ never has only a part of the file. The
 * function adds the log to the counts, so that the folder need not be read again.
 */
enum store_result store_keep(struct store *store, const struct config *config, const char *name,
			     const struct store_flight *flight, const char *trigger, char **path)
{
	char to[STORE_NAME_BYTES];
	struct stat st;
	int failed = -1;

	*path = NULL;
	if (fstatat(store->flight, name, &st, AT_SYMLINK_NOFOLLOW)) {
		say("%s/flight/%s: %s", store->folder, name, say_strerror(errno));
		return STORE_FAILED;
	}
	/* make_room() removes old logs before the move, so that logs/ does not exceed the quota. */
	make_room(store, config, (uint64_t)st.st_size);
	if (config->quota && store->bytes + (uint64_t)st.st_size > config->quota) {
		if (config->is_spool && !account_refused(store, name, flight, trigger))
			return STORE_LATER;
		say("%s/logs: the quota of %llu bytes has no room for a log of %llu bytes of "
		    "trigger %s",
		    store->folder, (unsigned long long)config->quota,
		    (unsigned long long)st.st_size, trigger);
		store->refused++;
		store_drop(store, name);
		return STORE_REFUSED;
	}
	/*
	 * If a log has the name already, the loop tries the next name, so that no log is replaced.
	 */
	for (int i = 0; failed && i < SAME_TIME; i++) {
		kept_name(to, flight, trigger, i);
		failed = move_log(store, name, to);
		if (failed && errno != EEXIST)
			break;
	}
	if (failed) {
		say("%s/logs/%s: %s", store->folder, to, say_strerror(errno));
		return STORE_FAILED;
	}
	store->bytes += (uint64_t)st.st_size;
	store->count++;
	if (asprintf(path, "%s/logs/%s", store->folder, to) < 0)
		*path = NULL;
	return STORE_KEPT;
}
