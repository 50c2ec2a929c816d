/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/folder.c - finds, checks and makes the runtime folder.
 *
 * A folder is used only if it belongs to the user and no other user may enter it: each file and
 * link in it was then made by a process of that user, or by root. Each check is made on an open
 * descriptor, because another user may replace a folder in /tmp at any time.
 *
 * No stdio and no allocation: a child looks for links in its first event, possibly in a handler.
 */
#include "meet/folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

/*
 * /run/user/UID/posixtrace, then /tmp/.posixtrace-UID; if the user has chosen a folder, there is
 * only this one place.
 */
#define PLACES     2
#define PATH_BYTES 256 /* signal stacks are small */
#define NAME_BYTES 32  /* the name of a folder in the runtime folder */

/*
 * The environment as it was at the start: the program may change it at any time, and getenv() is
 * not safe against such changes. Only ptx_folder_init() writes is_chosen and `chosen`.
 */
static bool is_chosen;
static char chosen[PATH_BYTES - NAME_BYTES];

void ptx_folder_init(void)
{
	/* A program with more rights than its caller ignores the variable. */
	const char *path = secure_getenv("POSIXTRACE_RUNTIME_DIR");

	is_chosen = path && *path;
	chosen[0] = '\0';
	/*
	 * A relative path would change with the working folder. A relative path, or one that is too
	 * long, counts as a folder that does not exist. The other places are not tried then,
	 * because the user has chosen not to use them.
	 */
	if (is_chosen && *path == '/' && strlen(path) < sizeof chosen)
		strcpy(chosen, path);
}

/*
 * Writes the path of the folder in the first or second place. PATH_BYTES leaves room for "/" and a
 * name of NAME_BYTES behind it, and for the digits of any uid.
 */
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

/*
 * With O_NOFOLLOW the call fails if the last part of the path is a symbolic link. With O_DIRECTORY
 * it fails for all other kinds of files, so a FIFO of another user cannot block it.
 */
static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Returns fd if the folder is the user's alone. Otherwise closes fd and returns -1. So a refused
 * folder leaves no descriptor behind. Mode bits for the group and others must all be 0.
 */
static int folder_checked(int fd, uint32_t uid)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == uid && (st.st_mode & 077) == 0))
		return fd;
	close(fd);
	return -1;
}

/*
 * Makes the folder with the mode 0700. Root also makes folders for other users and then makes the
 * user their owner. Root first opens the folder and checks that it is root's own, and then changes
 * the owner by the descriptor. In a folder of the user, the name could lead to another file by
 * then. Errors are not reported; the caller's open fails instead.
 */
static void make_folder(int at, const char *path, uint32_t uid)
{
	uint32_t self = geteuid();
	int fd;

	if (mkdirat(at, path, 0700) != 0 || self == uid)
		return;
	fd = folder_checked(open_folder(at, path), self);
	if (fd < 0)
		return;
	/* If this fails, the folder stays root's, and folder_checked() refuses it for the user. */
	(void)!fchown(fd, uid, (gid_t)-1);
	close(fd);
}

/*
 * Returns a checked descriptor of path below `at`, or -1. If `make` is true, a folder that exists
 * is used as it is.
 */
static int open_at(int at, const char *path, uint32_t uid, bool make)
{
	if (make)
		make_folder(at, path, uid);
	return folder_checked(open_folder(at, path), uid);
}

/*
 * Tries the places in their order and returns the first that passes the checks. uid is the user
 * whose processes meet there; it differs from the caller only if root traces a user's process.
 */
int ptx_folder_open(uint32_t uid, bool make)
{
	char path[PATH_BYTES];
	int fd = -1;

	for (int place = 0; fd < 0 && place < PLACES - is_chosen; place++) {
		path_of(path, uid, place);
		/*
		 * A folder that the environment names is this user's: root does not make it for
		 * another user.
		 */
		fd = open_at(AT_FDCWD, path, uid, make && !(is_chosen && geteuid() != uid));
	}
	return fd;
}

/*
 * The caller's own folder can be entered by this user alone, so one call with the whole path is
 * enough, and the runtime folder itself is not checked. Another user can replace the last part of
 * `path` by a symbolic link, and the kernel would follow it on its way to `name`. So root opens the
 * folder of another user step by step.
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

/*
 * Each program that starts calls this function with `make` false. So the usual case, in which there
 * is no folder, must cost only one call for each place. `name` is one of a few constants, which fit
 * into the path.
 */
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

/*
 * unlinkat() fails if the folder is not empty. Another process may leave a link at this moment.
 * Then either the link exists and the folder is kept, or that process finds that the folder is gone
 * and makes it again (rendezvous_link() in rendezvous.c).
 */
void ptx_folder_remove_from(uint32_t uid, const char *name)
{
	int folder = ptx_folder_open(uid, false);

	if (folder < 0)
		return;
	unlinkat(folder, name, AT_REMOVEDIR);
	close(folder);
}
