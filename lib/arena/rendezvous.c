/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define NAME_MAX_BYTES 80

/* Appends to text at *at; everything here is far below the room. */
static void put(char *text, size_t *at, const char *more)
{
	size_t n = strlen(more);

	memcpy(text + *at, more, n + 1);
	*at += n;
}

static void put_number(char *text, size_t *at, uint64_t number)
{
	char digits[24];
	size_t i = sizeof digits;

	digits[--i] = '\0';
	do {
		digits[--i] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	put(text, at, digits + i);
}

/*
 * The folder, which must be the user's alone. The first of two places that is there; with create,
 * the first where it can be made.
 */
static int open_folder(uint32_t uid, bool create)
{
	static const char *const before[] = { "/run/user/", "/tmp/.posixtrace-" };
	static const char *const after[] = { "/posixtrace", "" };

	for (int i = 0; i < 2; i++) {
		char path[NAME_MAX_BYTES];
		struct stat st;
		size_t at = 0;
		int fd;

		put(path, &at, before[i]);
		put_number(path, &at, uid);
		put(path, &at, after[i]);
		if (create && mkdir(path, 0700) == 0 && geteuid() != uid && chown(path, uid, (gid_t)-1) != 0)
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && st.st_uid == uid && (st.st_mode & 077) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

static void name_of(char *name, uint32_t pid, uint64_t start)
{
	size_t at = 0;

	put_number(name, &at, pid);
	put(name, &at, ".");
	put_number(name, &at, start);
}

int ptx_rendezvous_open(void)
{
	char name[NAME_MAX_BYTES];
	uint64_t start;
	int folder, fd = -1;

	if (getauxval(AT_SECURE))
		return -1; /* whoever asks has fewer rights than we (EXEC-08) */
	folder = open_folder(geteuid(), false);
	if (folder < 0)
		return -1;
	if (ptx_io_process_start((uint32_t)getpid(), &start)) {
		name_of(name, (uint32_t)getpid(), start);
		fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(folder);
	return fd;
}

/* Links whose process has died lead nowhere. */
static void clean(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	struct stat st;

	if (!list) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && fstatat(folder, entry->d_name, &st, 0) != 0 &&
		    errno == ENOENT)
			unlinkat(folder, entry->d_name, 0);
	closedir(list);
}

void ptx_rendezvous_leave(uint32_t uid, uint32_t pid, uint64_t start, int fd)
{
	char name[NAME_MAX_BYTES], text[NAME_MAX_BYTES];
	int folder = open_folder(uid, true);
	size_t at = 0;

	if (folder < 0)
		return;
	clean(folder);
	name_of(name, pid, start);
	put(text, &at, "/proc/");
	put_number(text, &at, (uint64_t)getpid());
	put(text, &at, "/fd/");
	put_number(text, &at, (uint64_t)fd);
	/* One that is there is of another who traces the process: it leads to the same arena. */
	(void)!symlinkat(text, folder, name);
	close(folder);
}

void ptx_rendezvous_remove(uint32_t uid, uint32_t pid, uint64_t start)
{
	char name[NAME_MAX_BYTES], text[NAME_MAX_BYTES], mine[NAME_MAX_BYTES];
	int folder = open_folder(uid, false);
	size_t at = 0;
	ssize_t n;

	if (folder < 0)
		return;
	name_of(name, pid, start);
	put(mine, &at, "/proc/");
	put_number(mine, &at, (uint64_t)getpid());
	put(mine, &at, "/fd/");
	n = readlinkat(folder, name, text, sizeof text);
	if (n > (ssize_t)at && memcmp(text, mine, at) == 0)
		unlinkat(folder, name, 0);
	close(folder);
}

bool ptx_rendezvous_path(uint32_t uid, uint32_t pid, uint64_t start, char path[100])
{
	char name[NAME_MAX_BYTES];
	int folder = open_folder(uid, false);
	ssize_t n;

	if (folder < 0)
		return false;
	name_of(name, pid, start);
	n = readlinkat(folder, name, path, 99);
	close(folder);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return strncmp(path, "/proc/", 6) == 0;
}
