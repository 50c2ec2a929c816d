/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/openers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/proc.h"

bool ptx_openers_is_candidate(int folder, const char *name)
{
	static const char wanted[] = "/memfd:posix-trace";
	char link[sizeof wanted + 16];
	ssize_t n = readlinkat(folder, name, link, sizeof link);

	return n >= (ssize_t)sizeof wanted - 1 && memcmp(link, wanted, sizeof wanted - 1) == 0;
}

static bool is_number(const char *name)
{
	return name[0] >= '1' && name[0] <= '9' && !name[strspn(name, "0123456789")];
}

static int add(struct ptx_openers *openers, const struct stat *file, uint32_t pid, uint32_t fd)
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

struct one {
	struct ptx_openers *openers;
	uint32_t pid;
};

static int look_at_file(void *arg, int folder, const char *name)
{
	struct one *one = arg;
	struct stat file;

	if (!ptx_openers_is_candidate(folder, name) || fstatat(folder, name, &file, 0) != 0)
		return 0;
	return add(one->openers, &file, one->pid, (uint32_t)strtoul(name, NULL, 10));
}

struct living {
	uint32_t pid;
	char *path;
	size_t room;
};

static int is_any(void *arg, int folder, const char *name)
{
	(void)arg;
	(void)folder;
	(void)name;
	return 1;
}

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

void ptx_openers_path(const struct ptx_opener *opener, char *path, size_t room)
{
	size_t length;

	ptx_openers_files(opener->pid, path, room);
	length = strlen(path);
	snprintf(path + length, room - length, "/%u", opener->fd);
}

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
	return err == EMFILE || err == ENFILE || err == ENOMEM ? err : 0;
}

static int order(const void *a, const void *b)
{
	const struct ptx_opener *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void sort(struct ptx_openers *openers)
{
	size_t kept = 0;

	if (!openers->count)
		return;
	qsort(openers->opener, openers->count, sizeof *openers->opener, order);
	for (size_t i = 1; i < openers->count; i++)
		if (order(&openers->opener[kept], &openers->opener[i]) != 0)
			openers->opener[++kept] = openers->opener[i];
	openers->count = kept + 1;
}

static int finish(struct ptx_openers *openers, int err)
{
	if (err)
		ptx_openers_free(openers);
	else
		sort(openers);
	return err;
}

int ptx_openers_find(struct ptx_openers *openers)
{
	*openers = (struct ptx_openers){ 0 };
	return finish(openers, ptx_io_list("/proc", look_at_process, openers));
}

int ptx_openers_find_of(uint32_t pid, struct ptx_openers *openers)
{
	char name[16];

	*openers = (struct ptx_openers){ 0 };
	snprintf(name, sizeof name, "%u", pid);
	return finish(openers, look_at_process(openers, -1, name));
}

void ptx_openers_free(struct ptx_openers *openers)
{
	free(openers->opener);
	*openers = (struct ptx_openers){ 0 };
}

size_t ptx_openers_same(const struct ptx_openers *openers, size_t index)
{
	const struct ptx_opener *first = &openers->opener[index];
	size_t end = index;

	while (end < openers->count && openers->opener[end].device == first->device &&
	       openers->opener[end].inode == first->inode)
		end++;
	return end - index;
}
