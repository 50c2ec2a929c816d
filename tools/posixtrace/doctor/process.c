/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process.c - the requirements of tracing that concern a running process. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "doctor/doctor.h"
#include "inject/target.h"
#include "live/process.h"
#include "live/streams.h"
#include "live/untraced.h"

/*
 * Reports the name and the owner of the process. Returns false if there is nothing more to
 * examine.
 */
static bool examine_existence(pid_t pid, doctor_report *report)
{
	char name[PROCESS_NAME_BYTES], path[40];
	struct stat st;

	/* /proc would show another process with this number. */
	if (procfile_is_foreign()) {
		doctor_say(report, "process", DOCTOR_UNKNOWN,
			   "mount it in this namespace: unshare --mount-proc",
			   "%d: /proc belongs to another PID namespace", (int)pid);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) != 0) {
		if (kill(pid, 0) != 0 && errno == ESRCH)
			doctor_say(report, "process", DOCTOR_FAILS, "ps -e lists the processes",
				   "%d: no such process", (int)pid);
		else if (access("/proc/self", F_OK) != 0)
			doctor_say(report, "process", DOCTOR_UNKNOWN, DOCTOR_MOUNT_PROC,
				   "%d exists, but /proc is not mounted", (int)pid);
		else
			doctor_say(report, "process", DOCTOR_UNKNOWN,
				   "mount /proc without hidepid, or try as root",
				   "%d exists, but /proc does not show it: %s", (int)pid,
				   strerror(errno));
		return false;
	}
	process_name(name, pid);
	if (st.st_uid == geteuid() || geteuid() == 0)
		doctor_say(report, "process", DOCTOR_WORKS, NULL, "%d (%s)", (int)pid, name);
	else
		doctor_say(report, "process", DOCTOR_FAILS, "try as root, or as that user",
			   "%d (%s) belongs to user %u", (int)pid, name, (unsigned)st.st_uid);
	return st.st_uid == geteuid() || geteuid() == 0;
}

/*
 * Reports whether the library can be loaded into the process. If not, reports the reason that the
 * command attach would print.
 */
static void examine_calls(pid_t pid, doctor_report *report)
{
	char text[DOCTOR_TEXT_BYTES] = "";
	struct target target;
	const char *why;
	enum target_verdict verdict;

	say_keep(text, sizeof(text));
	verdict = target_examine(&target, pid, false);
	say_keep(NULL, 0);
	why = target_reason(text);
	switch (verdict) {
	case TARGET_OK:
		if (untraced_is_go(pid))
			doctor_say(report, "calls", DOCTOR_LIMITED,
				   "attach --syscalls records its system calls, as root",
				   "it is a program of Go, which makes most system calls without "
				   "the C library");
		else if (target.shim == SHIM_ATTACHED)
			doctor_say(report, "calls", DOCTOR_WORKS, NULL, "are being traced now");
		else
			doctor_say(report, "calls", DOCTOR_WORKS, NULL,
				   "attach can load the library into the process");
		break;
	case TARGET_REFUSED:
		doctor_say(report, "calls", DOCTOR_LIMITED,
			   "attach --syscalls records its system calls, as root",
			   "attach refuses: %s", why);
		break;
	case TARGET_LEAVE:
		/* If the process's memory cannot be read, nothing is known about the process. */
		if (target.memory >= 0)
			doctor_say(report, "calls", DOCTOR_WORKS, NULL,
				   target.shim == SHIM_ABSENT ?
				   "the program uses libposixtrace: attach records its events" :
				   "the library was loaded when the program started");
		else
			doctor_say(report, "calls", DOCTOR_UNKNOWN, "try as root",
				   "the process cannot be examined from here");
		break;
	}
	target_fini(&target);
}

/* Reports the streams that trace the process now. */
static void examine_streams(pid_t pid, doctor_report *report)
{
	struct streams streams;
	int err = streams_look(&streams, pid);

	if (err) {
		doctor_say(report, "streams", DOCTOR_UNKNOWN,
			   err == EPROTONOSUPPORT ? "use the posixtrace of that version" :
			   "try as root", "%s", err == EPROTONOSUPPORT ?
			   "the process uses another version of libposixtrace" : strerror(err));
		return;
	}
	doctor_say(report, "streams", DOCTOR_WORKS, NULL,
		   streams.count == 1 ? "%zu traces the process now" :
		   "%zu trace the process now", streams.count);
	streams_fini(&streams);
}

/*
 * Returns 1 if the process and this process are in the same namespace of this kind, 0 if they are
 * not, or -1 if this is not known.
 */
static int shares_space(pid_t pid, const char *kind)
{
	char path[64];
	struct stat ours, its;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &ours) != 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	if (stat(path, &its) != 0)
		return -1;
	return ours.st_ino == its.st_ino && ours.st_dev == its.st_dev;
}

/*
 * Reports whether the process is in other namespaces than this process, for example because the
 * process is in a container. Some features do not work across namespaces.
 */
static void examine_spaces(pid_t pid, doctor_report *report)
{
	static const char *const kinds[] = { "mnt", "pid", "user", "time" };
	char list[64] = "";
	int unknown = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		int shares = shares_space(pid, kinds[i]);

		unknown += shares < 0;
		if (shares == 0)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", kinds[i]);
	}
	if (*list)
		doctor_say(report, "namespaces", DOCTOR_LIMITED,
			   "see posixtrace-containers(7)",
			   "the process has others of its own: %s", list);
	else
		doctor_say(report, "namespaces", unknown ? DOCTOR_UNKNOWN : DOCTOR_WORKS,
			   unknown ? "try as root" : NULL,
			   unknown ? "not all can be compared" : "the same as here");
}

/*
 * Examines perf_event_open(2) for this process. The kernel may permit the call for this user's
 * processes and refuse it for processes of another user.
 */
static void examine_sched(pid_t pid, doctor_report *report)
{
	int err = doctor_try_perf(pid);

	doctor_say(report, "kernel events", err ? DOCTOR_LIMITED : DOCTOR_WORKS,
		   err ? "try as root; the line above about kernel events has the reason" : NULL,
		   err ? "%s: no --sched and --sample" : "--sched and --sample%s",
		   err ? strerror(err) : "");
}

void doctor_process(pid_t pid, doctor_report *report)
{
	if (!examine_existence(pid, report))
		return;
	examine_calls(pid, report);
	examine_streams(pid, report);
	examine_spaces(pid, report);
	examine_sched(pid, report);
}
