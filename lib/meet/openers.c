/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/openers.c - lists the processes that have files open that may be arenas, from /proc.
 *
 * An opener is such a process. The functions skip a process that ends meanwhile, and a folder
 * /proc/PID/fd that this process may not read. So the list may be incomplete. The functions fail
 * only if /proc cannot be opened, or if this process itself lacks descriptors or memory.
 *
 * Called by tools and controllers, never in a trace point: it allocates and uses stdio. All
 * functions may run concurrently with different arguments.
 */
#include "meet/openers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/proc.h"

/*
 * Compares the name of the file, which is the text of the link. Any program can give the name of an
 * arena to its own file, so the caller also checks the seals and the control page. The name is
 * compared before the file is opened, because to open an arbitrary file could block or affect a
 * device.
 */
bool ptx_openers_is_candidate(int folder, const char *name)
{
	static const char wanted[] = "/memfd:posix-trace";
	/* Only the beginning is compared, so a text that readlinkat() truncates is enough. */
	char link[sizeof wanted + 16];
	ssize_t n = readlinkat(folder, name, link, sizeof link);

	return n >= (ssize_t)sizeof wanted - 1 && memcmp(link, wanted, sizeof wanted - 1) == 0;
}

/* Returns true for the name of a process or thread in /proc: a number without a leading zero. */
static bool is_number(const char *name)
{
	return name[0] >= '1' && name[0] <= '9' && !name[strspn(name, "0123456789")];
}

/* Adds an entry. Returns 0 or ENOMEM. After ENOMEM the list is unchanged. */
static int openers_add(struct ptx_openers *openers, const struct stat *file, uint32_t pid,
		       uint32_t fd)
{
	if (openers->count == openers->room) {
		size_t room = openers->room ? 2 * openers->room : 64;
		struct ptx_opener *more = realloc(openers->opener, room * sizeof *more);

		if (!more)
			return ENOMEM;
		openers->opener = more;
		openers->room = room;
	}
	openers->opener[openers->count++] = (struct ptx_opener){
		.device = file->st_dev,
		.inode = file->st_ino,
		.pid = pid,
		.fd = fd,
	};
	return 0;
}

/* The argument of look_at_file(): the list, and the process whose descriptors are listed. */
struct one {
	struct ptx_openers *openers;
	uint32_t pid;
};

/*
 * Adds a descriptor if it may belong to an arena. The link is read before fstatat() follows it,
 * because to follow a link to another kind of file could block. A descriptor that was closed
 * meanwhile is omitted. Returns 0 or ENOMEM.
 */
static int look_at_file(void *arg, int folder, const char *name)
{
	struct one *one = arg;
	struct stat file;

	if (!ptx_openers_is_candidate(folder, name) || fstatat(folder, name, &file, 0) != 0)
		return 0;
	return openers_add(one->openers, &file, one->pid, (uint32_t)strtoul(name, NULL, 10));
}

/*
 * The argument of look_at_thread(), which stores the path of a thread's folder of descriptors in
 * `path`.
 */
struct living {
	uint32_t pid;
	char *path;
	size_t room;
};

/*
 * A callback of ptx_io_list(): ends the listing at the first name, because the folder is not empty.
 */
static int is_any(void *arg, int folder, const char *name)
{
	(void)arg;
	(void)folder;
	(void)name;
	return 1;
}

/*
 * A callback of ptx_io_list() for the threads of a process. Returns 1, which ends the listing, if
 * the thread's folder of descriptors can be listed and is not empty. The first thread is skipped:
 * it has ended, so its folder is empty.
 */
static int look_at_thread(void *arg, int tasks, const char *name)
{
	struct living *living = arg;

	(void)tasks;
	if (!is_number(name) || strtoul(name, NULL, 10) == living->pid)
		return 0;
	snprintf(living->path, living->room, "/proc/%u/task/%lu/fd", living->pid,
		 strtoul(name, NULL, 10));
	return ptx_io_list(living->path, is_any, NULL) == 1;
}

/*
 * The threads of a process share its descriptors, but /proc shows no descriptors for a thread that
 * has ended. If no other thread has a folder with descriptors, `path` is the folder of the process,
 * which is empty.
 */
void ptx_openers_files(uint32_t pid, char *path, size_t room)
{
	struct living living = { pid, path, room };
	struct ptx_proc process;
	char tasks[40];

	snprintf(path, room, "/proc/%u/fd", pid);
	if (ptx_proc_read(pid, &process) != 0 || !process.headless)
		return;
	snprintf(tasks, sizeof tasks, "/proc/%u/task", pid);
	if (ptx_io_list(tasks, look_at_thread, &living) != 1)
		snprintf(path, room, "/proc/%u/fd", pid);
}

/*
 * The process may have closed the descriptor since the list was made. So the caller must compare
 * device and inode of the file that it opens.
 */
void ptx_openers_path(const struct ptx_opener *opener, char *path, size_t room)
{
	size_t length;

	ptx_openers_files(opener->pid, path, room);
	length = strlen(path);
	snprintf(path + length, room - length, "/%u", opener->fd);
}

/*
 * Lists the descriptors of one process. If an error concerns the limits of the calling process, the
 * function returns it, because the same error would occur for each other process. After any other
 * error the process is skipped.
 */
static int look_at_process(void *arg, int proc, const char *name)
{
	struct one one = { .openers = arg, .pid = (uint32_t)strtoul(name, NULL, 10) };
	char path[PTX_OPENER_PATH];
	int err;

	(void)proc;
	if (!is_number(name))
		return 0;
	ptx_openers_files(one.pid, path, sizeof path);
	err = ptx_io_list(path, look_at_file, &one);
	return ptx_io_is_own(err) ? err : 0;
}

/*
 * Orders by file, then by process. Equal entries are descriptors of the same file in the same
 * process.
 */
static int openers_order(const void *a, const void *b)
{
	const struct ptx_opener *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Sorts the list, and keeps one descriptor for each pair of file and process. */
static void openers_sort(struct ptx_openers *openers)
{
	size_t kept = 0;

	if (!openers->count)
		return;
	qsort(openers->opener, openers->count, sizeof *openers->opener, openers_order);
	for (size_t i = 1; i < openers->count; i++)
		if (openers_order(&openers->opener[kept], &openers->opener[i]) != 0)
			openers->opener[++kept] = openers->opener[i];
	openers->count = kept + 1;
}

/*
 * Sorts the list, or empties it after the error `err`. Returns `err`. After an error the list is
 * empty and owns no memory.
 */
static int openers_finish(struct ptx_openers *openers, int err)
{
	if (err)
		ptx_openers_free(openers);
	else
		openers_sort(openers);
	return err;
}

/* The argument of look_at_space(): inodes of pid namespaces, and whether a process is in them. */
struct spaces {
	const uint32_t *inode;
	bool *lives;
	size_t count;
};

/*
 * A callback of ptx_io_list(): notes the pid namespace of a process. Ends the listing with a value
 * other than 0 if the process cannot be examined.
 */
static int look_at_space(void *arg, int proc, const char *name)
{
	struct spaces *spaces = arg;
	char path[PTX_OPENER_PATH];
	struct stat file;

	if (!is_number(name))
		return 0;
	snprintf(path, sizeof path, "%lu/ns/pid", strtoul(name, NULL, 10));
	if (fstatat(proc, path, &file, 0) != 0)
		/* After these errors the process has ended. */
		return errno != ENOENT && errno != ESRCH;
	for (size_t i = 0; i < spaces->count; i++)
		spaces->lives[i] |= spaces->inode[i] == file.st_ino;
	return 0;
}

/* A caller that may examine process 1 sees all processes, also if /proc hides some from others. */
bool ptx_openers_find_spaces(const uint32_t *inode, bool *lives, size_t count)
{
	struct spaces spaces = { inode, lives, count };

	memset(lives, 0, count * sizeof *lives);
	return ptx_proc_space(1) != 0 && ptx_io_list("/proc", look_at_space, &spaces) == 0;
}

/* The caller frees the list by ptx_openers_free(), even if the list is empty. */
int ptx_openers_find(struct ptx_openers *openers)
{
	*openers = (struct ptx_openers){ 0 };
	return openers_finish(openers, ptx_io_list("/proc", look_at_process, openers));
}

/* Only one process is examined, so the cost does not depend on the number of processes. */
int ptx_openers_find_of(uint32_t pid, struct ptx_openers *openers)
{
	char name[16];

	*openers = (struct ptx_openers){ 0 };
	snprintf(name, sizeof name, "%u", pid);
	return openers_finish(openers, look_at_process(openers, -1, name));
}

void ptx_openers_free(struct ptx_openers *openers)
{
	free(openers->opener);
	*openers = (struct ptx_openers){ 0 };
}

/* `index` is below `count`. The entries of one file are neighbours. */
size_t ptx_openers_same(const struct ptx_openers *openers, size_t index)
{
	const struct ptx_opener *first = &openers->opener[index];
	size_t end = index;

	while (end < openers->count && openers->opener[end].device == first->device &&
	       openers->opener[end].inode == first->inode)
		end++;
	return end - index;
}
