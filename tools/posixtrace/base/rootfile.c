/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rootfile.c - opens files below the root folder of another process. */
#include "base/rootfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 64 /* the greatest depth of a path, for a kernel without openat2(2) */
#define LINKS 40 /* the most symbolic links that a walk follows, as in the kernel */

/*
 * A walk along a path, one part after the other. "folder" has the folders from the root to the
 * present one. Its first descriptor belongs to the caller.
 */
struct walk {
	int folder[DEPTH];
	unsigned depth, links;
	char rest[PATH_MAX]; /* the part of the path that is not walked yet */
};

/* ------------------------------------------------------------------ without openat2(2) */

/* Closes the folders below the one at this depth, which becomes the present folder. */
static void leave_to(struct walk *walk, unsigned depth)
{
	while (walk->depth > depth)
		close(walk->folder[walk->depth--]);
}

/* Moves the next part of the path from "rest" to "part". Returns false if there is none. */
static bool take_part(struct walk *walk, char part[PATH_MAX])
{
	const char *at = walk->rest + strspn(walk->rest, "/");
	const size_t len = strcspn(at, "/");

	memcpy(part, at, len);
	part[len] = '\0';
	memmove(walk->rest, at + len, strlen(at + len) + 1);
	return len;
}

/* Puts the target of a symbolic link before the rest of the path. Returns 0 or an error number. */
static int follow_link(struct walk *walk, int link)
{
	char text[PATH_MAX];
	const ssize_t len = readlinkat(link, "", text, sizeof(text));
	const size_t rest = strlen(walk->rest);

	if (len < 0)
		return errno;
	if (++walk->links > LINKS)
		return ELOOP;
	if ((size_t)len + rest >= sizeof(walk->rest))
		return ENAMETOOLONG;
	if (len && *text == '/')
		leave_to(walk, 0);
	memmove(walk->rest + len, walk->rest, rest + 1);
	memcpy(walk->rest, text, (size_t)len);
	return 0;
}

/* Goes to the next part of the path. Returns 0 or an error number. */
static int walk_part(struct walk *walk, const char *part, bool follows)
{
	struct stat status;
	int fd, err;

	if (strcmp(part, ".") == 0)
		return 0;
	if (strcmp(part, "..") == 0) {
		/* The parent of the root is the root. */
		if (walk->depth)
			leave_to(walk, walk->depth - 1);
		return 0;
	}
	fd = openat(walk->folder[walk->depth], part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno;
	err = fstat(fd, &status) ? errno : 0;
	if (!err && S_ISLNK(status.st_mode)) {
		const bool is_last = !walk->rest[strspn(walk->rest, "/")];

		err = is_last && !follows ? ELOOP : follow_link(walk, fd);
	} else if (!err && walk->depth < DEPTH - 1) {
		walk->folder[++walk->depth] = fd;
		return 0;
	} else if (!err) {
		err = ENAMETOOLONG;
	}
	close(fd);
	return err;
}

/*
 * Does the work of openat2(2), which kernels before 5.6 do not have, and which old seccomp filters
 * refuse. Returns a descriptor, or -1 and errno. No system call of the walk follows a link.
 */
static int walk_path(int root, const char *path, bool follows)
{
	struct walk walk = { .folder = { root } };
	char part[PATH_MAX];
	int err = 0, found = -1;

	if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= (int)sizeof(walk.rest))
		err = ENAMETOOLONG;
	while (!err && take_part(&walk, part))
		err = walk_part(&walk, part, follows);
	if (!err) {
		found = fcntl(walk.folder[walk.depth], F_DUPFD_CLOEXEC, 0);
		err = errno;
	}
	leave_to(&walk, 0);
	errno = err;
	return found;
}

/* ------------------------------------------------------------------ the interface */

int rootfile_root(pid_t pid)
{
	char name[40];
	int root;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 && errno == ENOENT)
		errno = ESRCH;
	return root;
}

/* The file is opened by O_PATH first, because open(2) of a device may have effects. */
int rootfile_open_at(int root, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned)(O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int found, file = -1, err = ENOENT;
	struct stat status;
	char name[40];

	found = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (found < 0 && (errno == ENOSYS || errno == EPERM))
		found = walk_path(root, path, !(flags & O_NOFOLLOW));
	if (found < 0)
		return -1;
	if (!fstat(found, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
		file = open(name, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		err = errno;
	}
	close(found);
	errno = err;
	return file;
}

int rootfile_open(pid_t pid, const char *path, int flags)
{
	const int root = rootfile_root(pid);
	int file, err;

	if (root < 0)
		return -1;
	file = rootfile_open_at(root, path, flags);
	err = errno;
	close(root);
	errno = err;
	return file;
}
