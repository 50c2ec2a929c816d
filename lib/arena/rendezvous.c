/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/folder.h"
#include "base/io.h"

#define FOLDER         "traced" /* there as long as somebody is: starts look for it */
#define TRIES          4
#define NAME_MAX_BYTES 80

static void put(char *text, const char *more, uint64_t number)
{
	char digits[PTX_IO_DIGITS];

	strcat(strcat(text, more), ptx_io_digits(number, digits));
}

static void name_of(char name[NAME_MAX_BYTES], uint32_t pid, uint64_t start)
{
	name[0] = '\0';
	put(name, "", pid);
	put(name, ".", start);
}

int ptx_rendezvous_open(void)
{
	char name[NAME_MAX_BYTES];
	uint64_t start;
	int folder, fd = -1;

	if (getauxval(AT_SECURE))
		return -1; /* whoever asks has fewer rights than we (EXEC-08) */
	folder = ptx_folder_open_in(geteuid(), FOLDER, false);
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

/* Where descriptor fd of this process is; without fd, where all its descriptors are. */
static void own_path(char path[NAME_MAX_BYTES], int fd)
{
	path[0] = '\0';
	put(path, "/proc/", (uint64_t)getpid());
	if (fd < 0)
		strcat(path, "/fd/");
	else
		put(path, "/fd/", (uint64_t)fd);
}

void ptx_rendezvous_leave(uint32_t uid, uint32_t pid, uint64_t start, int fd)
{
	char name[NAME_MAX_BYTES], path[NAME_MAX_BYTES];
	bool is_gone = true;

	name_of(name, pid, start);
	own_path(path, fd);
	/* Somebody may remove the folder, which was empty. */
	for (int i = 0; is_gone && i < TRIES; i++) {
		int folder = ptx_folder_open_in(uid, FOLDER, true);

		if (folder < 0)
			continue;
		clean(folder);
		/* One that is there is of another who traces the process: it leads to the same arena. */
		is_gone = symlinkat(path, folder, name) != 0 && errno == ENOENT;
		close(folder);
	}
}

void ptx_rendezvous_remove(uint32_t uid, uint32_t pid, uint64_t start)
{
	char name[NAME_MAX_BYTES], text[NAME_MAX_BYTES], mine[NAME_MAX_BYTES];
	int folder = ptx_folder_open_in(uid, FOLDER, false);
	ssize_t n;

	if (folder < 0)
		return;
	name_of(name, pid, start);
	own_path(mine, -1);
	n = readlinkat(folder, name, text, sizeof text - 1);
	text[n < 0 ? 0 : n] = '\0';
	if (strncmp(text, mine, strlen(mine)) == 0)
		unlinkat(folder, name, 0);
	close(folder);
	ptx_folder_remove_from(uid, FOLDER);
}

/* "/proc/PID/fd/N" and nothing else: the folder may be another user's, and its links lead anywhere. */
static bool is_descriptor(const char *path)
{
	static const char digits[] = "0123456789";
	size_t n;

	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	path += 6;
	n = strspn(path, digits);
	if (n == 0 || strncmp(path + n, "/fd/", 4) != 0)
		return false;
	path += n + 4;
	n = strspn(path, digits);
	return n > 0 && path[n] == '\0';
}

bool ptx_rendezvous_path(uint32_t uid, uint32_t pid, uint64_t start, char path[100])
{
	char name[NAME_MAX_BYTES];
	int folder = ptx_folder_open_in(uid, FOLDER, false);
	ssize_t n;

	if (folder < 0)
		return false;
	name_of(name, pid, start);
	n = readlinkat(folder, name, path, 99);
	close(folder);
	path[n < 0 ? 0 : n] = '\0';
	return is_descriptor(path);
}
