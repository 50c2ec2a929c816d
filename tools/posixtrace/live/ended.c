/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ended.c - the end of processes: status, text and event. */
#include "live/ended.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOKS   20   /* how often the status is looked for while the parent waits for the process */
#define LOOK_US 5000 /* microseconds between two looks */

/* The beginning of struct pidfd_info of <linux/pidfd.h>, which older headers lack. */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define INFO_EXIT 8u
#define GET_INFO  _IOWR(0xff, 11, struct info)

/* The fields of the event. The text comes second, where a reader of lines looks for it. */
static const char schema[] =
	"s32 pid; str status; s32 code; s32 signal; bool core";

void ended_signal(char text[ENDED_TEXT], int signal)
{
#ifdef __GLIBC__
	const char *name = sigabbrev_np(signal);
#else
	const char *name = NULL;
#endif

	if (name)
		snprintf(text, ENDED_TEXT, "SIG%.16s", name);
	else if (signal >= SIGRTMIN && signal <= SIGRTMAX)
		snprintf(text, ENDED_TEXT, "SIGRTMIN+%d", signal - SIGRTMIN);
	else
		snprintf(text, ENDED_TEXT, "signal %d", signal);
}

void ended_text(char text[ENDED_TEXT], const struct ended *ended)
{
	char name[ENDED_TEXT];

	if (!ended->is_known) {
		snprintf(text, ENDED_TEXT, "ended with unknown status");
	} else if (WIFSIGNALED(ended->status)) {
		ended_signal(name, WTERMSIG(ended->status));
		snprintf(text, ENDED_TEXT, "killed by %.32s%s", name,
			 WCOREDUMP(ended->status) ? " (core dumped)" : "");
	} else {
		snprintf(text, ENDED_TEXT, "exited with %d", WEXITSTATUS(ended->status));
	}
}

/* Appends a value to the packed data of an event. */
static size_t pack(unsigned char *data, size_t at, const void *value, size_t bytes)
{
	memcpy(data + at, value, bytes);
	return at + bytes;
}

/* code is -1 for a process that a signal ended, and for one of unknown status. */
void ended_record(trace_id_t trid, pid_t pid, const struct ended *ended)
{
	bool is_killed = ended->is_known && WIFSIGNALED(ended->status);
	int32_t number = pid, code = -1, signal = is_killed ? WTERMSIG(ended->status) : 0;
	uint8_t core = is_killed && WCOREDUMP(ended->status);
	unsigned char data[ENDED_TEXT + 16];
	char text[ENDED_TEXT];
	trace_event_id_t id;
	size_t len;

	if (ended->is_known && WIFEXITED(ended->status))
		code = WEXITSTATUS(ended->status);
	ended_text(text, ended);
	len = pack(data, 0, &number, sizeof(number));
	len = pack(data, len, text, strlen(text) + 1);
	len = pack(data, len, &code, sizeof(code));
	len = pack(data, len, &signal, sizeof(signal));
	len = pack(data, len, &core, sizeof(core));
	if (posix_trace_trid_eventid_open(trid, ENDED_EVENT, &id))
		return;
	posix_trace_trid_describe_np(trid, id, schema);
	posix_trace_trid_event_np(trid, id, data, len);
}

/*
 * Reads the status of a zombie, the last number of /proc/PID/stat. The kernel shows 0 to callers
 * that may not trace the process, so 0 says nothing here.
 */
static bool status_of_zombie(pid_t pid, int *status)
{
	char path[40], line[1024], *at;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	/* The name of the process may contain anything, also parentheses. */
	at = strrchr(line, ')');
	if (!at || (at[2] != 'Z' && at[2] != 'X'))
		return false;
	at = strrchr(line, ' ');
	return at && sscanf(at, "%d", status) == 1 && *status != 0;
}

/* Asks the kernel for the status of a process that its parent has waited for. */
static bool status_of_reaped(int pidfd, int *status)
{
	struct info info = { .mask = INFO_EXIT };

	if (ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}

struct ended ended_of(int pidfd, pid_t pid)
{
	struct ended ended = { .is_known = false };

	/* A parent that waits does so at once, so that the kernel soon answers. */
	for (int i = 0; !ended.is_known && i < LOOKS; i++) {
		if (i)
			usleep(LOOK_US);
		ended.is_known = status_of_reaped(pidfd, &ended.status) ||
				 status_of_zombie(pid, &ended.status);
	}
	return ended;
}
