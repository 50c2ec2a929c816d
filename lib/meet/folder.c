/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define PLACES     2
#define PATH_BYTES 256 /* signal stacks are small */
#define NAME_BYTES 32  /* of a folder in it */

/* As the environment was at the start: it is the program's to change. */
static bool is_chosen;
static char chosen[PATH_BYTES - NAME_BYTES];

void ptx_folder_init(void)
{
	const char *path = secure_getenv("POSIXTRACE_RUNTIME_DIR");

	is_chosen = path && *path;
	chosen[0] = '\0';
	/* An impossible name counts as a folder that does not exist. */
	if (is_chosen && *path == '/' && strlen(path) < sizeof chosen)
		strcpy(chosen, path);
}

/* The path of the folder in the first or second place, as room for a name allows. */
static void path_of(char path[PATH_BYTES], uint32_t uid, int place)
{
	static const char *const before[PLACES] = { "/run/user/", "/tmp/.posixtrace-" };
	static const char *const after[PLACES] = { "/posixtrace", "" };
	char digits[PTX_IO_DIGITS];

	if (is_chosen) {
		strcpy(path, chosen);
		return;
	}
	strcpy(path, before[place]);
	strcat(path, ptx_io_digits(uid, digits));
	strcat(path, after[place]);
}

static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* fd if it is the user's alone, or -1. */
static int checked(int fd, uint32_t uid)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == uid && (st.st_mode & 077) == 0))
		return fd;
	close(fd);
	return -1;
}

/*
 * Root makes the folders of others too. It gives away what it has opened and seen to be its own:
 * under a name in a folder of the user's something else may stand by then.
 */
static void make_folder(int at, const char *path, uint32_t uid)
{
	uint32_t self = geteuid();
	int fd;

	if (mkdirat(at, path, 0700) != 0 || self == uid)
		return;
	fd = checked(open_folder(at, path), self);
	if (fd < 0)
		return;
	(void)!fchown(fd, uid, (gid_t)-1);
	close(fd);
}

static int open_at(int at, const char *path, uint32_t uid, bool make)
{
	if (make)
		make_folder(at, path, uid);
	return checked(open_folder(at, path), uid);
}

int ptx_folder_open(uint32_t uid, bool make)
{
	char path[PATH_BYTES];
	int fd = -1;

	for (int place = 0; fd < 0 && place < PLACES - is_chosen; place++) {
		path_of(path, uid, place);
		/* A folder that was chosen is this user's, not one that root makes for another. */
		fd = open_at(AT_FDCWD, path, uid, make && !(is_chosen && geteuid() != uid));
	}
	return fd;
}

/*
 * The user's own is the user's alone, and what stands around it need not be looked at. Another user
 * can make path itself a link, which the kernel would follow on its way to name.
 */
static int open_below(char path[PATH_BYTES], uint32_t uid, const char *name)
{
	int folder, fd;

	if (uid == geteuid())
		return open_at(AT_FDCWD, strcat(strcat(path, "/"), name), uid, false);
	folder = open_at(AT_FDCWD, path, uid, false);
	if (folder < 0)
		return -1;
	fd = open_at(folder, name, uid, false);
	close(folder);
	return fd;
}

int ptx_folder_open_in(uint32_t uid, const char *name, bool make)
{
	char path[PATH_BYTES];
	int folder, fd = -1;

	if (make) {
		folder = ptx_folder_open(uid, true);
		if (folder >= 0) {
			fd = open_at(folder, name, uid, true);
			close(folder);
		}
		return fd;
	}
	for (int place = 0; fd < 0 && place < PLACES - is_chosen; place++) {
		path_of(path, uid, place);
		fd = open_below(path, uid, name);
	}
	return fd;
}

void ptx_folder_remove_from(uint32_t uid, const char *name)
{
	int folder = ptx_folder_open(uid, false);

	if (folder < 0)
		return;
	unlinkat(folder, name, AT_REMOVEDIR);
	close(folder);
}
