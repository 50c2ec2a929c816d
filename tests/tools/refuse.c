/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/refuse.c - executes a command some of whose system calls fail.
 *
 *	refuse RULE... -- COMMAND [ARGUMENT]...
 *
 * A rule is one argument: 'CALL ERROR [path=GLOB] [N=VALUE] [from=K] [times=K]'. The calls of the
 * command and its descendants whose path matches and whose argument N, from 0, is VALUE fail with
 * ERROR: all of them, or only those from the K-th on, and only so many of them. For example
 *
 *	refuse 'openat EMFILE path=/proc/PID/maps' -- posixtrace status 1
 *
 * The command is executed in this process. The filter of seccomp(2) asks another process, which is
 * no child of the command, about each call with a rule. Without the right to make such a filter,
 * refuse exits with 77.
 */
#include <errno.h>
#include <fnmatch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define RULES_MOST 8

#define CALL(name, path) { #name, SYS_##name, path }
/* The number of the argument that is a path; -1: none. */
static const struct call {
	const char *name;
	int number, path;
} calls[] = {
	CALL(openat, 1), CALL(openat2, 1), CALL(newfstatat, 1), CALL(readlinkat, 1),
	CALL(faccessat, 1), CALL(mkdirat, 1), CALL(memfd_create, 0), CALL(ptrace, -1),
	CALL(pidfd_open, -1), CALL(pread64, -1), CALL(pwrite64, -1), CALL(perf_event_open, -1),
	CALL(clone, -1), CALL(mmap, -1), CALL(bpf, -1), CALL(kcmp, -1), CALL(signalfd4, -1),
	CALL(pipe2, -1), CALL(ftruncate, -1), CALL(process_vm_readv, -1),
	CALL(fallocate, -1), CALL(madvise, -1), CALL(membarrier, -1),
#ifdef SYS_mkdir
	CALL(mkdir, 0), CALL(access, 0), CALL(readlink, 0), CALL(open, 0),
#endif
};

#define ERROR(name) { #name, name }
static const struct {
	const char *name;
	int number;
} errors[] = {
	ERROR(EACCES), ERROR(EAGAIN), ERROR(EBUSY), ERROR(EINVAL), ERROR(EIO), ERROR(EMFILE),
	ERROR(ENFILE), ERROR(ENODEV), ERROR(ENOENT), ERROR(ENOMEM), ERROR(ENOSPC), ERROR(ENOSYS),
	ERROR(EPERM), ERROR(EROFS), ERROR(ESRCH), ERROR(EOPNOTSUPP),
};

static struct rule {
	const struct call *call;
	int error;
	const char *path;            /* NULL: any */
	int argument;                /* -1: none */
	unsigned long long value;
	unsigned long from, times, seen;
} rule[RULES_MOST];
static unsigned rules;

static _Noreturn void give_up(const char *text)
{
	fprintf(stderr, "refuse: %s: %s\n", text, strerror(errno));
	exit(errno == EPERM || errno == EINVAL || errno == ENOSYS || errno == EBUSY ? 77 : 99);
}

static _Noreturn void wrong_rule(const char *word)
{
	fprintf(stderr, "refuse: %s: no such call, error or key\n", word);
	exit(99);
}

/* Parses a condition of a rule. */
static void take_key(struct rule *to, char *key)
{
	char *value = strchr(key, '=');

	if (!value)
		wrong_rule(key);
	*value++ = '\0';
	if (!strcmp(key, "path"))
		to->path = value;
	else if (!strcmp(key, "from"))
		to->from = strtoul(value, NULL, 10);
	else if (!strcmp(key, "times"))
		to->times = strtoul(value, NULL, 10);
	else if (*key >= '0' && *key <= '5') {
		to->argument = *key - '0';
		to->value = strtoull(value, NULL, 0);
	} else {
		wrong_rule(key);
	}
}

static void take_rule(char *text)
{
	struct rule *to = &rule[rules++];
	char *word = strtok(text, " ");

	*to = (struct rule){ .argument = -1, .from = 1, .times = -1UL };
	for (size_t i = 0; word && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, word))
			to->call = &calls[i];
	if (!to->call)
		wrong_rule(word ? word : "");
	word = strtok(NULL, " ");
	for (size_t i = 0; word && i < sizeof(errors) / sizeof(*errors); i++)
		if (!strcmp(errors[i].name, word))
			to->error = errors[i].number;
	if (!to->error)
		wrong_rule(word ? word : "");
	while ((word = strtok(NULL, " ")))
		take_key(to, word);
}

/* Returns whether the path of the call matches. A path that cannot be read does not match. */
static bool matches_path(const struct rule *of, const struct seccomp_notif *notice)
{
	char path[4096] = "";
	struct iovec to = { path, sizeof(path) - 1 };
	struct iovec from = { (void *)notice->data.args[of->call->path], sizeof(path) - 1 };

	/* The text may end at the end of mapped memory, so less is read then. */
	while (process_vm_readv((pid_t)notice->pid, &to, 1, &from, 1, 0) < 0 && from.iov_len > 16)
		from.iov_len /= 2;
	return !fnmatch(of->path, path, 0);
}

/* Returns the error of the call, or 0. */
static int error_of(const struct seccomp_notif *notice)
{
	for (unsigned i = 0; i < rules; i++) {
		struct rule *of = &rule[i];

		if (notice->data.nr != of->call->number ||
		    (of->argument >= 0 && notice->data.args[of->argument] != of->value) ||
		    (of->path && !matches_path(of, notice)))
			continue;
		of->seen++;
		if (of->seen >= of->from && of->seen - of->from < of->times)
			return of->error;
	}
	return 0;
}

/* Answers until no process has the filter any more. */
static _Noreturn void answer_calls(int listener)
{
	struct pollfd poller = { .fd = listener, .events = POLLIN };

	while (poll(&poller, 1, -1) > 0 && !(poller.revents & POLLHUP)) {
		struct seccomp_notif notice;
		struct seccomp_notif_resp response;

		memset(&notice, 0, sizeof(notice));
		/* The caller may have been killed meanwhile. */
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notice))
			continue;
		memset(&response, 0, sizeof(response));
		response.id = notice.id;
		response.error = -error_of(&notice);
		response.flags = response.error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
	_exit(0);
}

/* The descriptor goes from the process with the filter to the one that answers. */
union passing {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void pass_listener(int to, int listener)
{
	union passing passing;
	char byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1,
				  .msg_control = &passing, .msg_controllen = sizeof(passing) };

	passing.header = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&passing.header), &listener, sizeof(listener));
	if (sendmsg(to, &message, 0) != 1)
		give_up("sendmsg");
}

static int receive_listener(int from)
{
	union passing passing;
	int listener = -1;
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1,
				  .msg_control = &passing, .msg_controllen = sizeof(passing) };

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1)
		_exit(0);
	memcpy(&listener, CMSG_DATA(&passing.header), sizeof(listener));
	return listener;
}

static int install_filter(void)
{
	struct sock_filter filter[2 * RULES_MOST + 2];
	struct sock_fprog program = { .filter = filter };
	int listener;

	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							     offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < rules; i++) {
		filter[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)rule[i].call->number, 0, 1);
		filter[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0)
		give_up("seccomp");
	return listener;
}

int main(int argc, char **argv)
{
	int pair[2], at = 1, listener;
	pid_t child;

	for (; at < argc && strcmp(argv[at], "--") && rules < RULES_MOST; at++)
		take_rule(argv[at]);
	if (at + 1 >= argc || !rules)
		wrong_rule("--");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		give_up("socketpair");
	child = fork();
	if (child == 0) {
		/* The second child becomes no child of the command, which may wait for any. */
		if (fork())
			_exit(0);
		close(pair[1]);
		/* The pipes of a test end with the command. */
		for (int fd = 0; fd <= 9; fd++)
			if (fd != pair[0])
				close(fd);
		answer_calls(receive_listener(pair[0]));
	}
	waitpid(child, NULL, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	listener = install_filter();
	pass_listener(pair[1], listener);
	close(listener);
	close(pair[0]);
	close(pair[1]);
	execvp(argv[at + 1], argv + at + 1);
	give_up(argv[at + 1]);
}
