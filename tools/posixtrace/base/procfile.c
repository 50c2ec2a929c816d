/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* procfile.c - reads small text files of /proc. */
#include "base/procfile.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/when.h"

#define PF_KTHREAD 0x00200000u /* a flag in /proc/PID/stat, which no header of the system has */

/*
 * Removes the line Groups of a status file from "text", whose buffer is full, and reads more of the
 * file into the room. That line may have hundreds of kilobytes, and the callers need lines that
 * follow it. Returns the length of the text.
 */
static size_t omit_groups(char *text, size_t bytes, FILE *file)
{
	char *groups = strstr(text, "\nGroups:"), *end = groups ? strchr(groups + 1, '\n') : NULL;
	size_t n = bytes - 1;
	int c = 0;

	if (!groups)
		return n;
	if (end) {
		memmove(groups, end, n - (size_t)(end - text));
		n -= (size_t)(end - groups);
	} else {
		while (c != '\n' && c != EOF)
			c = getc(file);
		n = (size_t)(groups + 1 - text);
	}
	return n + fread(text + n, 1, bytes - 1 - n, file);
}

bool procfile_read(const char *path, char *text, size_t bytes)
{
	FILE *file = fopen(path, "re");
	size_t n;

	if (!file)
		return false;
	n = fread(text, 1, bytes - 1, file);
	text[n] = '\0';
	if (n == bytes - 1)
		n = omit_groups(text, bytes, file);
	fclose(file);
	text[n] = '\0';
	return true;
}

const char *procfile_field(const char *text, const char *name)
{
	const char *at = text;

	/*
	 * A field is found only at the beginning of a line. The kernel escapes line ends in the
	 * name of a program, so that name cannot contain a forged field.
	 */
	while ((at = strstr(at, name)) && at != text && at[-1] != '\n')
		at++;
	return at ? at + strlen(name) + strspn(at + strlen(name), " \t") : NULL;
}

unsigned long long procfile_number(const char *text, const char *name, int base,
				   unsigned long long otherwise)
{
	const char *value = procfile_field(text, name);

	return value ? strtoull(value, NULL, base) : otherwise;
}

/*
 * The line NSpid has one number for each namespace, from the namespace of /proc to the thread's own
 * namespace.
 */
pid_t procfile_last_number(const char *text, const char *name)
{
	const char *line = procfile_field(text, name);
	pid_t id = 0;
	char *end;

	for (; line; line = end) {
		long number;

		while (*line == '\t' || *line == ' ')
			line++;
		number = strtol(line, &end, 10);
		if (end == line)
			break;
		id = (pid_t)number;
		if (*end == '\n')
			break;
	}
	return id;
}

pid_t procfile_inner_id(pid_t pid, pid_t tid)
{
	char path[64], text[PROCFILE_BYTES];
	pid_t id;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (!procfile_read(path, text, sizeof(text)))
		return tid;
	id = procfile_last_number(text, "NSpid:");
	return id ? id : tid;
}

uint64_t procfile_space(const char *process)
{
	char path[32];
	struct stat space;

	/* A longer text is neither a number of a process nor "self". */
	if (snprintf(path, sizeof(path), "/proc/%s/ns/pid", process) >= (int)sizeof(path))
		return 0;
	return stat(path, &space) ? 0 : (uint64_t)space.st_ino;
}

bool procfile_same_ids(pid_t pid, pid_t other)
{
	char number[2][12];
	uint64_t space;

	snprintf(number[0], sizeof(number[0]), "%d", (int)pid);
	snprintf(number[1], sizeof(number[1]), "%d", (int)other);
	space = procfile_space(number[0]);
	return space && space == procfile_space(number[1]);
}

/* /proc adds one line end. */
bool procfile_name(pid_t pid, pid_t tid, char *name, size_t bytes)
{
	char path[64];
	size_t len;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	if (!procfile_read(path, name, bytes)) {
		*name = '\0';
		return false;
	}
	len = strlen(name);
	if (len && name[len - 1] == '\n')
		name[len - 1] = '\0';
	return len != 0;
}

bool procfile_is_foreign(void)
{
	char number[24];
	const ssize_t len = readlink("/proc/self", number, sizeof(number) - 1);
	struct stat link;

	/* The link exists in each procfs. It has no target if this process has no number there. */
	if (len < 0)
		return lstat("/proc/self", &link) == 0;
	number[len] = '\0';
	return strtoll(number, NULL, 10) != getpid();
}

bool procfile_program(pid_t pid, char *path, size_t bytes)
{
	static const char deleted[] = " (deleted)";
	char link[40];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	len = readlink(link, path, bytes - 1);
	if (len <= 0)
		return false;
	path[len] = '\0';
	if ((size_t)len > strlen(deleted) && !strcmp(path + len - strlen(deleted), deleted))
		path[(size_t)len - strlen(deleted)] = '\0';
	return true;
}

DIR *procfile_threads(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

pid_t procfile_next_thread(DIR *threads)
{
	const struct dirent *entry;
	pid_t tid = 0;

	/* The names . and .. are no numbers. */
	while (threads && tid <= 0 && (entry = readdir(threads)))
		tid = (pid_t)atoi(entry->d_name);
	return tid > 0 ? tid : 0;
}

void procfile_end_threads(DIR *threads)
{
	if (threads)
		closedir(threads);
}

bool procfile_has_ended(pid_t pid)
{
	const int saved = errno;
	const bool has_ended = kill(pid, 0) && errno == ESRCH;

	errno = saved;
	return has_ended;
}

bool procfile_stat(pid_t pid, struct procfile_stat *stat)
{
	char path[40], text[1024];
	const char *at, *last;
	unsigned long long part[4];
	unsigned flags;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!procfile_read(path, text, sizeof(text))) {
		if (errno == ENOENT && !procfile_has_ended(pid))
			errno = EACCES;
		return false;
	}
	if (procfile_is_foreign()) {
		errno = ENOTSUP;
		return false;
	}
	/* The process ended after the file was opened. */
	if (!*text) {
		errno = ESRCH;
		return false;
	}
	/*
	 * The name of the process is in parentheses and may contain any characters, also
	 * parentheses. So the last closing parenthesis of the line ends the name. The status is the
	 * last field.
	 */
	at = strrchr(text, ')');
	last = strrchr(text, ' ');
	if (at && last && sscanf(last, "%d", &stat->status) == 1 &&
	    sscanf(at + 1,
		   " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d "
		   "%*d %llu",
		   &stat->state, &flags, &part[0], &part[1], &part[2], &part[3],
		   &stat->start) == 7) {
		stat->is_kernel = flags & PF_KTHREAD;
		stat->ticks = part[0] + part[1] + part[2] + part[3];
		return true;
	}
	errno = EIO;
	return false;
}

int64_t procfile_began_ns(unsigned long long start)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return when_now() - when_timespec(&boot) +
	       (int64_t)(start * (1000000000 / (unsigned long long)sysconf(_SC_CLK_TCK)));
}

enum procfile_place procfile_call(pid_t pid, pid_t tid, struct procfile_call *call)
{
	char path[64], text[256];
	struct procfile_call found;
	unsigned long stack;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	if (!procfile_read(path, text, sizeof(text)))
		return PROCFILE_NO_CALL;
	if (!strncmp(text, "running", strlen("running")))
		return PROCFILE_RUNNING;
	if (sscanf(text, "%ld %lx %lx %lx %lx %lx %lx %lx %lx", &found.number, &found.argument[0],
		   &found.argument[1], &found.argument[2], &found.argument[3],
		   &found.argument[4], &found.argument[5], &stack, &found.place) != 9)
		return PROCFILE_NO_CALL;
	*call = found;
	return PROCFILE_IN_CALL;
}
