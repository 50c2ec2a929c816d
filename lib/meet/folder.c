/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/folder.c - finds, checks and makes the runtime folder.
 *
 * A folder is used only if it belongs to the user and no other user may enter it. So each file and
 * link in the folder was made by a process of this user or by root. The checks use an open
 * descriptor, because another user may replace a folder in /tmp at any time.
 *
 * The functions use no stdio and allocate no memory, because a child searches for links at its
 * first event, possibly in a signal handler.
 *
 * A place is one of the two paths where the runtime folder may be.
 */
#include "meet/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/io.h"

/*
 * PLACES: /run/user/UID/posixtrace, then /tmp/.posixtrace-UID. If the user has chosen a folder,
 * this folder is the only place.
 */
#define PLACES     2
#define PATH_BYTES 256 /* signal stacks are small */
#define NAME_BYTES 32  /* the name of a folder in the runtime folder */

/*
 * The value of the environment variable at the start. The program may change the environment at any
 * time, and getenv() is not safe against such changes. Only ptx_folder_init() changes is_chosen and
 * `chosen`.
 */
static ptx_start_data bool is_chosen;
static ptx_start_data char chosen[PATH_BYTES - NAME_BYTES];

void ptx_folder_init(void)
{
	/* A program with more rights than its caller ignores the variable. */
	const char *path = secure_getenv("POSIXTRACE_RUNTIME_DIR");

	is_chosen = path && *path;
	chosen[0] = '\0';
	/*
	 * The meaning of a relative path would change with the working directory. So a relative
	 * path, like a path that is too long, counts as a folder that does not exist. The other
	 * places are not tried, because the user has chosen not to use them.
	 */
	if (is_chosen && *path == '/' && strlen(path) < sizeof chosen)
		strcpy(chosen, path);
}

/*
 * Writes the path of the folder at place 0 or 1. PATH_BYTES is enough for the path with any uid,
 * and for "/" and a name of NAME_BYTES behind it.
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
 * Returns a descriptor of the folder, or -1 with errno. With O_NOFOLLOW the call fails if the last
 * part of the path is a symbolic link. With O_DIRECTORY it fails for all other kinds of files, so a
 * FIFO of another user cannot block it.
 */
static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Returns fd if the folder belongs to the user and its mode gives no rights to the group and to
 * others. Otherwise closes fd and returns -1 with EACCES.
 */
static int folder_checked(int fd, uint32_t uid)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == uid && (st.st_mode & 077) == 0))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/*
 * Makes the folder with the mode 0700. Root also makes folders for other users, and then makes the
 * user the owner of the folder. For this, root opens the new folder, checks that it belongs to
 * root, and changes the owner by the descriptor. A change by the name would not be safe, because
 * the user could replace the folder meanwhile. Returns 0 if the folder exists, or the error number
 * of mkdirat(2). Other errors are not reported, because the caller's open then fails.
 */
static int make_folder(int at, const char *path, uint32_t uid)
{
	uint32_t self = geteuid();
	int fd;

	if (mkdirat(at, path, 0700) != 0)
		return errno == EEXIST ? 0 : errno;
	fd = self == uid ? -1 : folder_checked(open_folder(at, path), self);
	if (fd < 0)
		return 0;
	/* If this fails, the folder belongs to root, and folder_checked() refuses it. */
	(void)!fchown(fd, uid, (gid_t)-1);
	close(fd);
	return 0;
}

/*
 * Returns a checked descriptor of the folder `path`, relative to the descriptor `at`, or -1. If
 * `make` is true, makes the folder first if it does not exist. After an error, errno is that of the
 * first call that failed.
 */
static int open_at(int at, const char *path, uint32_t uid, bool make)
{
	const int err = make ? make_folder(at, path, uid) : 0;
	const int fd = folder_checked(open_folder(at, path), uid);

	if (fd < 0 && err)
		errno = err;
	return fd;
}

/*
 * Tries the places in their order, and returns the first folder that passes the checks. The user
 * `uid` differs from the caller only if root traces a user's process.
 */
int ptx_folder_open(uint32_t uid, bool make)
{
	char path[PATH_BYTES];
	int fd = -1;

	for (int place = 0; fd < 0 && place < PLACES - is_chosen; place++) {
		path_of(path, uid, place);
		/*
		 * If root's environment names a folder, root does not make this folder for another
		 * user.
		 */
		fd = open_at(AT_FDCWD, path, uid, make && !(is_chosen && geteuid() != uid));
	}
	return fd;
}

/*
 * Returns a checked descriptor of the folder `name` in the folder `path`, or -1 with errno. If the
 * folder belongs to the caller's user, one call with the whole path is enough, and only the folder
 * `name` is checked. If root opens the folder of another user, that user could replace the last
 * part of `path` by a symbolic link, which the kernel would follow. So root opens the two folders
 * one after the other.
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
 * Each program calls this function at its start, with `make` false, and usually there is no folder.
 * So in this case the function makes only one system call for each place. `name` is a constant of
 * at most NAME_BYTES.
 */
int ptx_folder_open_in(uint32_t uid, const char *name, bool make)
{
	char path[PATH_BYTES];
	int folder, fd = -1;

	if (make) {
		folder = ptx_folder_open(uid, true);
		if (folder < 0) {
			/* No process removes the runtime folder, so the error lasts. */
			errno = errno == ENOENT ? ENOTDIR : errno;
			return -1;
		}
		fd = open_at(folder, name, uid, true);
		close(folder);
		return fd;
	}
	for (int place = 0; fd < 0 && place < PLACES - is_chosen; place++) {
		path_of(path, uid, place);
		fd = open_below(path, uid, name);
	}
	return fd;
}

/*
 * unlinkat() fails if the folder is not empty. Another process may make a link in the folder at the
 * same time. If its link exists already, the folder is kept. Otherwise that process finds that the
 * folder is gone, and makes it again (rendezvous_link() in rendezvous.c).
 */
void ptx_folder_remove_from(uint32_t uid, const char *name)
{
	int folder = ptx_folder_open(uid, false);

	if (folder < 0)
		return;
	unlinkat(folder, name, AT_REMOVEDIR);
	close(folder);
}
