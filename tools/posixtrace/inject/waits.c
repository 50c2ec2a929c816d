/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits.c - reads states and system calls of threads from /proc. */
#include "inject/waits.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/procfile.h"
#include "base/say.h"
#include "syscalls/syscalls.h"

#define REASON_BYTES 300

/* Returns whether a thread is in state D, in which no signal and no tracer interrupts it. */
static bool is_uninterruptible(pid_t pid, pid_t tid)
{
	char path[64], text[PROCFILE_BYTES];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	state = procfile_read(path, text, sizeof(text)) ? procfile_field(text, "State:") : NULL;
	return state && *state == 'D';
}

/*
 * Returns whether a call may be vfork(). The flags of clone3() are in the memory of the process.
 * The function does not read them: with other flags, clone3() needs only microseconds.
 */
static bool is_vfork(const struct procfile_call *call)
{
	switch (call->number) {
#ifdef SYS_vfork
	case SYS_vfork:
		return true;
#endif
#ifdef SYS_clone3
	case SYS_clone3:
		return true;
#endif
	case SYS_clone:
		return call->argument[0] & CLONE_VFORK;
	}
	return false;
}

/* The first thread in state D, and its system call. */
struct waits {
	pid_t tid;
	enum procfile_place place;
	struct procfile_call call;
};

/*
 * Finds a thread in state D. Prefers a thread that may be in vfork(). Returns false if there is no
 * such thread.
 */
static bool find_uninterruptible(pid_t pid, struct waits *waits)
{
	bool is_found = false, is_final = false;
	DIR *threads = procfile_threads(pid);
	pid_t tid;

	while (!is_final && (tid = procfile_next_thread(threads))) {
		struct waits one = { .tid = tid };

		if (!is_uninterruptible(pid, tid))
			continue;
		one.place = procfile_call(pid, one.tid, &one.call);
		is_final = one.place == PROCFILE_IN_CALL && is_vfork(&one.call);
		if (is_final || !is_found)
			*waits = one;
		is_found = true;
	}
	procfile_end_threads(threads);
	return is_found;
}

bool waits_in_vfork(pid_t pid)
{
	struct waits waits;

	return find_uninterruptible(pid, &waits) &&
	       (waits.place == PROCFILE_NO_CALL ||
		(waits.place == PROCFILE_IN_CALL && is_vfork(&waits.call)));
}

/* Returns the newest child of a thread, or 0 if the kernel does not show it. */
static pid_t find_child(pid_t pid, pid_t tid)
{
	char path[64], text[PROCFILE_BYTES], *at = text, *end;
	pid_t child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	if (!procfile_read(path, text, sizeof(text)))
		return 0;
	for (long next; (next = strtol(at, &end, 10)) > 0 && end != at; at = end)
		child = (pid_t)next;
	return child;
}

const char *waits_reason(pid_t pid)
{
	static char why[REASON_BYTES];
	struct waits waits;
	const char *name;
	char number[32], path[64], text[256];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)pid);
	if (!procfile_read(path, text, sizeof(text)) && errno != ENOENT && errno != ESRCH) {
		snprintf(why, sizeof(why),
			 "the kernel does not show in which system calls its threads are: %s: %s",
			 path, say_strerror(errno));
		return why;
	}
	if (!find_uninterruptible(pid, &waits))
		return NULL;
	if (waits.place == PROCFILE_IN_CALL && is_vfork(&waits.call)) {
		child = find_child(pid, waits.tid);
		number[0] = '\0';
		if (child)
			snprintf(number, sizeof(number), " %d", (int)child);
		snprintf(why, sizeof(why),
			 "it waits in vfork() until its child%s executes a program or ends; try it "
			 "again after that", number);
		return why;
	}
	name = waits.place == PROCFILE_IN_CALL ?
	       syscalls_name((uint32_t)waits.call.number, false) : NULL;
	snprintf(why, sizeof(why),
		 "it waits%s%s for a device or a file system, and nothing interrupts this (state "
		 "D); try it again later", name ? " in the system call " : "", name ? name : "");
	return why;
}
