/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ended.c - the end of processes: status, text and event. The shim's own code makes the texts and
 * the data, because the shim's events of this type must be equal to these.
 */
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

#include "base/procfile.h"
#include "../../../lib/preload/status.c"
#include "../../../lib/preload/types.h"

#define LOOKS   20   /* the most searches for the status */
#define LOOK_US 5000 /* microseconds between two looks */

/* The beginning of struct pidfd_info of <linux/pidfd.h>, which older headers lack. */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define INFO_EXIT 8u
#define GET_INFO  _IOWR(0xff, 11, struct info)

void ended_signal(char text[ENDED_TEXT], int signal)
{
	shim_signal_text(text, signal);
}

void ended_text(char text[ENDED_TEXT], const struct ended *ended)
{
	shim_status_text(text, ended->is_known, ended->status);
}

void ended_record(trace_id_t trid, pid_t pid, const struct ended *ended)
{
	unsigned char data[SHIM_STATUS_DATA];
	const size_t len = shim_status_data(data, pid, ended->is_known, ended->status);
	trace_event_id_t id;

	if (posix_trace_trid_eventid_open(trid, ENDED_EVENT, &id))
		return;
	posix_trace_trid_describe_np(trid, id, SHIM_ENDED_SCHEMA);
	posix_trace_trid_event_np(trid, id, data, len);
}

/*
 * Returns whether this process may read the facts of the process. The kernel requires the same
 * permission to read the link of the user namespace, which a zombie still has.
 */
static bool may_read(pid_t pid)
{
	char path[40], space[40];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return readlink(path, space, sizeof(space)) > 0;
}

/*
 * Reads the status of a zombie, the last number of /proc/PID/stat. The kernel shows 0 to callers
 * that may not read the facts of the process. So if the number is 0, the permission decides whether
 * the status is known. The facts are read again after that, because the process may be gone, and
 * another process may have its number.
 */
bool ended_zombie(pid_t pid, int *status)
{
	struct procfile_stat stat, again;

	if (!procfile_stat(pid, &stat) || (stat.state != 'Z' && stat.state != 'X'))
		return false;
	*status = stat.status;
	return stat.status != 0 ||
	       (may_read(pid) && procfile_stat(pid, &again) && again.start == stat.start);
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

	/*
	 * The status of a zombie may be secret. But most parents wait for a process as soon as it
	 * ends, and the kernel then reports the status by pidfd. So several attempts are made.
	 */
	for (int i = 0; !ended.is_known && i < LOOKS; i++) {
		if (i)
			usleep(LOOK_US);
		ended.is_known = status_of_reaped(pidfd, &ended.status) ||
				 ended_zombie(pid, &ended.status);
	}
	return ended;
}
