/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process.c - numbers, names and error messages of processes. */
#include "live/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/vec.h"
#include "inject/memory.h"

bool process_number(const char *option, const char *text, pid_t *pid)
{
	char *end;
	long value;

	/* strtol() itself accepts blanks and signs, so the first character is checked, too. */
	errno = 0;
	value = strtol(text, &end, 10);
	if (!errno && *text >= '0' && *text <= '9' && !*end && value > 0 && value <= INT_MAX) {
		*pid = (pid_t)value;
		return true;
	}
	say("%s %s: not a process ID", option, text_given(text));
	return false;
}

bool process_once(const char *option, const char *text, pid_t *pid)
{
	pid_t given = *pid;

	if (given)
		say("%s %s: give one value only; %d was given before", option, text, (int)given);
	return !given && process_number(option, text, pid);
}

const struct option_row process_rows[] = {
	{ "pid", 'p', "PID", "the same as the argument PID; may be repeated", OPTION_PID },
	OPTION_END
};

bool process_add(struct process_list *list, const char *option, const char *text)
{
	pid_t pid;

	if (!process_number(option, text, &pid))
		return false;
	if (!vec_grow(&list->pid, list->count, 1)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	list->pid[list->count++] = pid;
	return true;
}

bool process_add_operands(struct process_list *list, const char *command, int argc, char **argv)
{
	for (int i = optind; i < argc; i++)
		if (!process_add(list, command, argv[i]))
			return false;
	return true;
}

/* If the process has ended or is hidden, the name is "?". */
void process_name(char name[PROCESS_NAME_BYTES], pid_t pid)
{
	if (!procfile_name(pid, pid, name, PROCESS_NAME_BYTES))
		strcpy(name, "?");
}

/*
 * Returns the address of the path that the process passed to execve(2), or 0. The kernel stores
 * pairs of numbers at the start of the program: the kind of a value, and the value.
 */
static uint64_t executed_address(pid_t pid)
{
	unsigned long pair[2];
	uint64_t address = 0;
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (!address && read(fd, pair, sizeof(pair)) == (ssize_t)sizeof(pair) &&
	       pair[0] != AT_NULL)
		if (pair[0] == AT_EXECFN)
			address = pair[1];
	close(fd);
	return address;
}

bool process_executed(pid_t pid, char *path, size_t bytes)
{
	const uint64_t address = executed_address(pid);
	const int memory = address ? memory_open(pid, pid) : -1;

	*path = '\0';
	if (memory >= 0) {
		memory_string(memory, address, path, bytes);
		close(memory);
	}
	return *path || procfile_program(pid, path, bytes);
}

/* The number of the first user namespace, a constant of Linux. */
#define FIRST_USER_SPACE 0xeffffffdULL

bool process_in_user_space(void)
{
	struct stat space;

	return !stat("/proc/self/ns/user", &space) && space.st_ino != FIRST_USER_SPACE;
}

/* Returns whether this process may trace all processes of its user namespace. */
static bool has_trace_capability(void)
{
	char status[PROCFILE_BYTES];

	return procfile_read("/proc/self/status", status, sizeof(status)) &&
	       (procfile_number(status, "CapEff:", 16, 0) >> CAP_SYS_PTRACE & 1);
}

/*
 * Explains a refusal that no user, group or capability causes. The reason may be a security module,
 * or a filter of system calls that applies to this process.
 */
static void say_refused_by_system(pid_t pid)
{
	say("process %d: not permitted: the system refuses access to its memory, although this "
	    "command has the capability CAP_SYS_PTRACE",
	    (int)pid);
	say("a security module such as SELinux or AppArmor can be the reason: "
	    "/sys/kernel/security/lsm lists the modules; --trace=none records the program's own "
	    "trace points alone");
}

/* Explains EPERM by the owner of the process, with the next step. */
static void say_refused(pid_t pid)
{
	char path[40];
	struct stat st;
	struct passwd *owner;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st)) {
		say("process %d: %s", (int)pid, strerror(EPERM));
		return;
	}
	if (has_trace_capability() && !process_in_user_space()) {
		say_refused_by_system(pid);
		return;
	}
	/* The kernel does not only compare the user, but also capabilities and groups. */
	if (st.st_uid == geteuid()) {
		say("process %d: not permitted: it has another group, or capabilities that you do "
		    "not have",
		    (int)pid);
		say(process_in_user_space() ?
			    "this is a user namespace, as in a container: a process outside of "
			    "it is traced from outside; one inside needs the capability "
			    "CAP_SYS_PTRACE" :
			    "the capability CAP_SYS_PTRACE is needed: try as root");
		return;
	}
	/*
	 * If a process is not dumpable, the kernel makes root the owner of its folder in /proc,
	 * whatever user the process has. The message then names root.
	 */
	owner = getpwuid(st.st_uid);
	if (owner)
		say("process %d: not permitted: it belongs to user %s", (int)pid, owner->pw_name);
	else
		say("process %d: not permitted: it belongs to user %u", (int)pid,
		    (unsigned)st.st_uid);
	say("be that user, or have the capability CAP_SYS_PTRACE: try as root");
}

/*
 * Explains ENOTSUP for a process that exists: /proc is missing or belongs to another PID namespace,
 * or the process's clock cannot be read.
 */
static void say_unsupported(pid_t pid)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) || procfile_is_foreign()) {
		say("process %d: /proc does not show it", (int)pid);
		say("/proc is not mounted, or belongs to another namespace of process IDs");
		return;
	}
	say("process %d: its trace clock cannot be read here, or the system refuses a call that "
	    "is needed to examine it; 'posixtrace doctor' examines both", (int)pid);
}

/*
 * The message has the path of the library's file, because this path shows which posixtrace fits.
 * The message has no path if the library is a part of the program and has no file of its own, or if
 * /proc does not show the file.
 */
void process_say_other_version(pid_t pid, const char *effect)
{
	struct mappings mappings;
	const char *path;

	mappings_read(&mappings, pid);
	path = mappings_path_with(&mappings, "/libposixtrace.so");
	say("process %d: %sit uses another version of libposixtrace%s%s", (int)pid, effect,
	    path ? ": " : "", path ? path : "");
	mappings_fini(&mappings);
}

/* If the number belongs to a thread, explains ESRCH. Otherwise returns false. */
static bool say_thread(pid_t pid)
{
	char path[40], status[PROCFILE_BYTES];
	unsigned long long process;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (procfile_is_foreign() || !procfile_read(path, status, sizeof(status)))
		return false;
	process = procfile_number(status, "Tgid:", 10, (unsigned long long)pid);
	if (process == (unsigned long long)pid)
		return false;
	say("process %d: this is the number of a thread of process %llu; give that number",
	    (int)pid, process);
	return true;
}

/* ENOTSUP and EPERM have several causes; the messages name the reason that applies here. */
int process_say_why(pid_t pid, int err)
{
	switch (err) {
	case ESRCH:
		if (say_thread(pid))
			break;
		say("process %d: no such process", (int)pid);
		if (procfile_is_foreign())
			say("/proc shows the numbers of another namespace of process IDs: run "
			    "posixtrace there");
		break;
	case EACCES:
	case EPERM:
		say_refused(pid);
		break;
	case ENOTSUP:
		say_unsupported(pid);
		break;
	case ENOSYS:
		say("process %d: the system lacks a call that is needed to watch it, such as "
		    "pidfd_open(2)", (int)pid);
		say("Linux 5.3 or later is required; a filter of a container can refuse the call, "
		    "too");
		break;
	case EPROTONOSUPPORT:
		process_say_other_version(pid, "");
		say("use the posixtrace of that version, or start the process again with this one");
		break;
	default:
		say("process %d: %s", (int)pid, say_strerror(err));
	}
	return TOOL_FAILURE;
}
