/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device is a tmpfs. It is mounted in a mount namespace that only the test uses. */
#include "support/small_device.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "support/log.h"

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Gives this process a mount namespace of its own. A process without privileges can get one only
 * together with a new user namespace, if the system lets every user create that. */
static bool own_mounts(void)
{
	char map[64];
	unsigned int uid = getuid(), gid = getgid();

	if (!unshare(CLONE_NEWNS))
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!put("/proc/self/uid_map", map))
		return false;
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return put("/proc/self/gid_map", map);
}

const char *small_device(size_t bytes)
{
	static const char folder[] = "/mnt";
	char options[64];

	snprintf(options, sizeof(options), "size=%zu,mode=0777", bytes);
	if (own_mounts() && !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) &&
	    !mount("none", folder, "tmpfs", 0, options))
		return folder;
	fprintf(stderr, "left out: a full device, for want of a mount namespace: %s\n",
		strerror(errno));
	return NULL;
}

void small_device_grow(const char *folder, size_t bytes)
{
	char options[64];

	snprintf(options, sizeof(options), "size=%zu,mode=0777", bytes);
	ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, options), 0);
}

int small_device_log(const char *folder)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/log", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	return fd;
}

trace_id_t stream_of_many(int fd, trace_event_id_t id, int n)
{
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .size = (size_t)n * 64);

	for (int i = 0; i < n; i++)
		trace_number(id, i);
	return trid;
}

trace_id_t small_device_fill(int fd, trace_event_id_t id)
{
	trace_id_t trid = stream_of_many(fd, id, DEVICE_TOO_MANY);

	FAILS(ENOSPC, posix_trace_flush(trid));
	ck_assert_int_eq(status_of(trid).posix_stream_flush_error, ENOSPC);
	return trid;
}

void assert_log_cut(int fd, trace_event_id_t id)
{
	struct history *history = log_history(fd);
	size_t kept = history_count(history, id);

	ck_assert_uint_ge(kept, DEVICE_TOO_MANY / 4);
	ck_assert_uint_lt(kept, DEVICE_TOO_MANY);
	assert_numbers_from(history, id, 0, kept);
	history_free(history);
}
