/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/life.h"
#include "base/proc.h"
#include "meet/folder.h"

#define TRACED    "traced" /* each is there as long as there is a link: starts look for the first */
#define INHERITED "inherited"
#define FIRST     "first"
#define TRIES     4
#define ANCESTORS 32

/* As getdents64(2) has it. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static void put(char *text, const char *more, uint64_t number)
{
	char digits[PTX_IO_DIGITS];

	strcat(strcat(text, more), ptx_io_digits(number, digits));
}

static void prefix_of(char prefix[PTX_RENDEZVOUS_NAME], uint32_t pid, uint64_t start)
{
	prefix[0] = '\0';
	put(prefix, "", pid);
	put(prefix, ".", start);
	strcat(prefix, ".");
}

/* From the beginning of the folder; number is that of the process in /proc. */
static bool look_for(struct ptx_rendezvous *walk, uint32_t number)
{
	struct ptx_proc_ids ids;
	struct ptx_proc process;
	uint64_t start;

	walk->at = walk->end = 0;
	start = ptx_identity_start(number);
	if (start == 0 || ptx_proc_read(number, &process) != 0)
		return false;
	ids.inner = (uint32_t)getpid();
	if (number != PTX_PROC_SELF && ptx_proc_ids(number, &ids) != 0)
		return false;
	walk->parent = process.parent;
	prefix_of(walk->prefix, ids.inner, start);
	return true;
}

void ptx_rendezvous_begin(struct ptx_rendezvous *walk, bool ancestors)
{
	walk->folder = -1;
	if (getauxval(AT_SECURE))
		return; /* whoever asks has fewer rights than we (EXEC-08) */
	walk->folder = ptx_folder_open_in(geteuid(), TRACED, false);
	walk->ancestors = ancestors ? ANCESTORS : 0;
	if (walk->folder >= 0 && !look_for(walk, PTX_PROC_SELF))
		ptx_rendezvous_end(walk);
}

void ptx_rendezvous_end(struct ptx_rendezvous *walk)
{
	if (walk->folder >= 0)
		close(walk->folder);
	walk->folder = -1;
}

/* The name of the next link in the folder that has the prefix, or NULL. */
static const char *next_name(struct ptx_rendezvous *walk)
{
	for (;;) {
		const struct entry *entry = (const void *)(walk->entries + walk->at);

		if (walk->at >= walk->end) {
			long n = syscall(SYS_getdents64, walk->folder, walk->entries,
					 sizeof walk->entries);

			if (n <= 0)
				return NULL;
			walk->at = 0;
			walk->end = (uint32_t)n;
			continue;
		}
		walk->at += entry->bytes;
		if (strncmp(entry->name, walk->prefix, strlen(walk->prefix)) == 0)
			return entry->name;
	}
}

/* To the parent; ancestors are looked for in the other folder. */
static bool step_up(struct ptx_rendezvous *walk)
{
	if (walk->ancestors == 0 || walk->parent == 0)
		return false;
	if (walk->ancestors-- == ANCESTORS) {
		ptx_rendezvous_end(walk);
		walk->folder = ptx_folder_open_in(geteuid(), INHERITED, false);
	}
	return walk->folder >= 0 && look_for(walk, walk->parent) &&
	       lseek(walk->folder, 0, SEEK_SET) == 0;
}

static bool read_link(int folder, const char *name, char path[PTX_RENDEZVOUS_PATH])
{
	ssize_t n = readlinkat(folder, name, path, PTX_RENDEZVOUS_PATH - 1);

	path[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/*
 * "/proc/PID/fd/N" and nothing else. Every link is read and looked at before it is followed: a user
 * may make any, and opening or only looking at what it leads to can wait for ever or change it.
 */
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

/* The path that a link has, if it is one of a descriptor. */
static bool read_descriptor(int folder, const char *name, char path[PTX_RENDEZVOUS_PATH])
{
	return read_link(folder, name, path) && is_descriptor(path);
}

int ptx_rendezvous_next(struct ptx_rendezvous *walk)
{
	if (walk->folder < 0)
		return -1;
	do {
		char path[PTX_RENDEZVOUS_PATH];
		const char *name;
		int fd;

		while ((name = next_name(walk))) {
			if (!read_descriptor(walk->folder, name, path))
				continue;
			fd = openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
			if (fd >= 0)
				return fd;
		}
	} while (step_up(walk));
	return -1;
}

void ptx_rendezvous_begin_for(struct ptx_rendezvous *walk,
			      const struct ptx_rendezvous_target *target)
{
	walk->folder = ptx_folder_open_in(target->uid, TRACED, false);
	walk->at = walk->end = 0;
	prefix_of(walk->prefix, target->pid, target->start);
}

bool ptx_rendezvous_next_path(struct ptx_rendezvous *walk, char path[PTX_RENDEZVOUS_PATH])
{
	const char *name;

	while (walk->folder >= 0 && (name = next_name(walk)))
		if (read_descriptor(walk->folder, name, path))
			return true;
	return false;
}

/* Where descriptor fd of this process is; without fd, where all its descriptors are. */
static void own_path(char path[PTX_RENDEZVOUS_PATH], int fd)
{
	path[0] = '\0';
	put(path, "/proc/", (uint64_t)getpid());
	if (fd < 0)
		strcat(path, "/fd/");
	else
		put(path, "/fd/", (uint64_t)fd);
}

/*
 * Whether the descriptor that the path names is certainly closed; what it is open for is not looked
 * at.
 */
static bool is_closed(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 && errno == ENOENT;
}

/* Removes links of processes that have died. Without /proc all would look dead. */
static void clean(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	char path[PTX_RENDEZVOUS_PATH];
	struct dirent *entry;

	if (!list) {
		if (copy >= 0)
			close(copy);
		return;
	}
	own_path(path, copy);
	while (!is_closed(path) && (entry = readdir(list))) {
		char text[PTX_RENDEZVOUS_PATH];

		if (read_descriptor(folder, entry->d_name, text) && is_closed(text))
			unlinkat(folder, entry->d_name, 0);
	}
	closedir(list);
}

enum left { LEFT, OTHERS, NO_FOLDER };

static enum left leave_in(int folder, const char *name, int fd)
{
	char path[PTX_RENDEZVOUS_PATH], text[PTX_RENDEZVOUS_PATH];

	clean(folder);
	own_path(path, fd);
	if (symlinkat(path, folder, name) == 0)
		return LEFT;
	if (errno == ENOENT)
		return NO_FOLDER;
	return read_link(folder, name, text) && strcmp(text, path) == 0 ? LEFT : OTHERS;
}

static enum left leave(const char *which, uint32_t uid, const char *name, int fd)
{
	enum left left = NO_FOLDER;

	/* Somebody may remove the folder, which was empty. */
	for (int i = 0; left == NO_FOLDER && i < TRIES; i++) {
		int folder = ptx_folder_open_in(uid, which, true);

		if (folder < 0)
			continue;
		left = leave_in(folder, name, fd);
		close(folder);
	}
	return left;
}

static void own_name(char name[PTX_RENDEZVOUS_NAME], const struct ptx_rendezvous_target *target)
{
	prefix_of(name, target->pid, target->start);
	put(name, "", (uint64_t)getpid());
}

static void first_name(char name[PTX_RENDEZVOUS_NAME], const struct ptx_rendezvous_target *target)
{
	prefix_of(name, target->pid, target->start);
	strcat(name, FIRST);
}

void ptx_rendezvous_leave(const struct ptx_rendezvous_target *target, int fd, bool inherited)
{
	char name[PTX_RENDEZVOUS_NAME];

	own_name(name, target);
	leave(inherited ? INHERITED : TRACED, target->uid, name, fd);
}

bool ptx_rendezvous_leave_first(const struct ptx_rendezvous_target *target, int fd)
{
	char name[PTX_RENDEZVOUS_NAME];

	first_name(name, target);
	return leave(TRACED, target->uid, name, fd) != OTHERS;
}

static void remove_own(int folder, const char *name)
{
	char text[PTX_RENDEZVOUS_PATH], mine[PTX_RENDEZVOUS_PATH];

	own_path(mine, -1);
	if (read_link(folder, name, text) && strncmp(text, mine, strlen(mine)) == 0)
		unlinkat(folder, name, 0);
}

void ptx_rendezvous_remove(const struct ptx_rendezvous_target *target, bool inherited)
{
	const char *which = inherited ? INHERITED : TRACED;
	int folder = ptx_folder_open_in(target->uid, which, false);
	char name[PTX_RENDEZVOUS_NAME];

	if (folder < 0)
		return;
	own_name(name, target);
	remove_own(folder, name);
	first_name(name, target);
	remove_own(folder, name);
	close(folder);
	ptx_folder_remove_from(target->uid, which);
}
