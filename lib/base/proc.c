/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/proc.c - parses /proc/PID/stat, status and fdinfo, without stdio and without allocation.
 *
 * The callers may be signal handlers and children of fork(). The functions trust the content of the
 * kernel's texts, but a text may be missing: /proc may not be mounted, may belong to another
 * namespace, or may hide processes (hidepid).
 */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/io.h"

#define STATUS_BYTES 4096

const char *ptx_proc_path(char path[PTX_PROC_PATH], uint32_t number, const char *file)
{
	char digits[PTX_IO_DIGITS];

	strcpy(path, "/proc/");
	strcat(path, number == PTX_PROC_SELF ? "self" : ptx_io_digits(number, digits));
	strcat(path, "/");
	/*
	 * `file` is a short constant, so nothing is truncated in practice. The limit only protects
	 * the buffer.
	 */
	return strncat(path, file, PTX_PROC_PATH - 1 - strlen(path));
}

/*
 * Returns the number that the decimal digits at `text` have, up to the first other character. The
 * kernel's numbers fit.
 */
static uint64_t number_at(const char *text)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

/*
 * Reads a file of a process. If the process ends between open and read, the read returns ESRCH.
 * The callers get ENOENT, as for a process that ended before the open.
 */
static int read_file(uint32_t number, const char *file, char *text, size_t room)
{
	char path[PTX_PROC_PATH];
	int err = ptx_io_read_file(ptx_proc_path(path, number, file), text, room);

	return err == ESRCH ? ENOENT : err;
}

int ptx_proc_read_file(uint32_t number, const char *file, struct ptx_proc *proc)
{
	const char *field[23], *at;
	char text[1024];
	int err = read_file(number, file, text, sizeof text);

	if (err)
		return err;
	/* The program's name may contain any characters, also ")" and blanks. */
	at = strrchr(text, ')');
	/* Fields are numbered as in proc_pid_stat(5). The name is field 2. */
	for (int n = 3; n <= 22; n++) {
		at = at ? strchr(at, ' ') : NULL;
		if (!at)
			return EIO;
		field[n] = ++at;
	}
	proc->start = number_at(field[22]);
	proc->parent = (uint32_t)number_at(field[4]);
	/*
	 * If only the first thread has ended, its state is "Z" while the other threads continue;
	 * field 20 is the number of threads.
	 */
	proc->headless = *field[3] == 'Z' && number_at(field[20]) > 1;
	proc->runs = *field[3] != 'X' && (*field[3] != 'Z' || proc->headless);
	return 0;
}

int ptx_proc_read(uint32_t number, struct ptx_proc *proc)
{
	return ptx_proc_read_file(number, "stat", proc);
}

int64_t ptx_proc_tick_ns(void)
{
	return PTX_NS_PER_S / (int64_t)getauxval(AT_CLKTCK);
}

/*
 * Parses a line "NSpid:\t17\t1": the ids of the process in its namespaces, from the namespace of
 * /proc to the innermost namespace. Returns 0 or EIO.
 */
static int parse_ids(const char *text, struct ptx_proc_ids *ids)
{
	const char *at = strstr(text, "\nNSpid:\t");

	if (!at)
		return EIO; /* the kernel is older than 4.1, or the text is not complete */
	at += strlen("\nNSpid:");
	ids->spaces = 0;
	ids->number = (uint32_t)number_at(at + 1);
	for (; *at == '\t'; at += 1 + strspn(at + 1, "0123456789")) {
		ids->inner = (uint32_t)number_at(at + 1);
		ids->spaces++;
	}
	/*
	 * An id of 0 means that the process is not visible in that namespace. This is an error,
	 * because the caller needs both ids.
	 */
	return ids->number && ids->inner ? 0 : EIO;
}

/*
 * Reads the status file of a process up to the line NSpid. The line Groups precedes it and may have
 * hundreds of kilobytes, so the function reads the file in pieces. Afterwards `text` has the last
 * piece, with the whole line NSpid if the file has one. Returns 0, or the error of opening or
 * reading the file.
 */
static int read_status(uint32_t number, char text[STATUS_BYTES])
{
	const size_t room = STATUS_BYTES - 1, most = sizeof("\nNSpid:\t") - 2;
	char path[PTX_PROC_PATH];
	size_t kept = 0, got = 0;
	uint64_t offset = 0;
	int fd, err = ptx_io_open(ptx_proc_path(path, number, "status"), O_RDONLY, &fd);

	if (err)
		return err == ESRCH ? ENOENT : err;
	while (!(err = ptx_io_read_at(fd, text + kept, room - kept, offset, &got))) {
		const char *line;

		text[kept + got] = '\0';
		line = strstr(text, "\nNSpid:\t");
		/*
		 * The loop ends at the line end of NSpid, or at the end of the file. A line that
		 * fills the whole text also ends it, because nothing more could be read.
		 */
		if ((line && (line == text || strchr(line + 1, '\n'))) || got < room - kept)
			break;
		offset += got;
		/* The beginning of the line may be at the end of this piece. */
		line = line ? line : text + room - most;
		kept = (size_t)(text + room - line);
		memmove(text, line, kept);
	}
	ptx_io_close(fd);
	return err == ESRCH ? ENOENT : err;
}

int ptx_proc_ids(uint32_t number, struct ptx_proc_ids *ids)
{
	char text[STATUS_BYTES];
	int err = read_status(number, text);

	return err ? err : parse_ids(text, ids);
}

/*
 * The fdinfo file of a pidfd has the lines Pid and NSpid of the status file. Another process may
 * have reused the id since, but a pidfd always belongs to the same process.
 */
int ptx_proc_ids_of(int pidfd, struct ptx_proc_ids *ids)
{
	char file[16 + PTX_IO_DIGITS] = "fdinfo/", digits[PTX_IO_DIGITS], text[STATUS_BYTES];
	const char *pid;
	int err;

	strcat(file, ptx_io_digits((uint64_t)pidfd, digits));
	err = read_file(PTX_PROC_SELF, file, text, sizeof text);
	if (err)
		return err == ENOENT ? ENXIO : err;
	pid = strstr(text, "\nPid:\t");
	if (!pid)
		return EIO; /* the kernel is older than 5.3 */
	pid += strlen("\nPid:\t");
	if (*pid == '-')
		return ESRCH; /* -1: the process has ended and its parent has waited for it */
	if (*pid == '0')
		return ENXIO; /* it is not visible in this /proc */
	return parse_ids(text, ids);
}

/*
 * The status file of the caller has one id for each namespace, from the namespace of /proc to the
 * caller's namespace. So if there is only one id, /proc belongs to the caller's own namespace.
 */
int ptx_proc_is_ours(void)
{
	struct ptx_proc_ids ids;
	int err = ptx_proc_ids(PTX_PROC_SELF, &ids);

	if (err)
		return err == ENOENT ? ENXIO : err;
	return ids.spaces == 1 ? 0 : ENXIO;
}

/* The kernel's inodes of namespaces have 32 bits. stat() follows the link to the namespace. */
uint32_t ptx_proc_space(uint32_t number)
{
	const int saved = errno;
	char path[PTX_PROC_PATH];
	struct stat space;
	uint32_t inode = 0;

	if (stat(ptx_proc_path(path, number, "ns/pid"), &space) == 0)
		inode = (uint32_t)space.st_ino;
	errno = saved;
	return inode;
}

uint32_t ptx_proc_own(void)
{
	const int saved = errno;
	const pid_t pid = getpid();
	struct ptx_proc_ids ids;
	uint32_t own = (uint32_t)pid;

	if (pid <= 0) /* refused */
		own = ptx_proc_ids(PTX_PROC_SELF, &ids) == 0 ? ids.inner : ptx_ids_thread();
	errno = saved;
	return own;
}
