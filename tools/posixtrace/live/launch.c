/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#define COMMAND_BYTES 1024 /* more of an event a stream does not keep unasked */

/* What the program is to find as the caller of record left it. */
struct inherited {
	sigset_t mask;
	struct sigaction action[NSIG];
};

static void save(struct inherited *inherited, const sigset_t *set)
{
	sigset_t all = *set;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &inherited->action[sig]);
	sigprocmask(SIG_BLOCK, &all, &inherited->mask);
	signal(SIGCHLD, SIG_DFL); /* ignored, the child's status would be lost */
}

static void restore(const struct inherited *inherited)
{
	for (int sig = 1; sig < NSIG; sig++)
		/* refused for some: they have not changed */
		sigaction(sig, &inherited->action[sig], NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/*
 * The log's first event: what was recorded. It also makes the child take part in the stream, so
 * that the program finds it by its descriptor where there is no folder to find it by.
 */
static void tell_command(char **argv)
{
	char command[COMMAND_BYTES];
	trace_event_id_t id;
	size_t used = 0;

	for (; *argv && used < sizeof(command) - 1; argv++) {
		size_t len = strnlen(*argv, sizeof(command) - 1 - used);

		memcpy(command + used, *argv, len);
		used += len;
		command[used++] = ' ';
	}
	if (!posix_trace_eventid_open(LAUNCH_COMMAND_EVENT, &id))
		posix_trace_event(id, command, used - 1);
}

static int set_environment(const struct launch_plan *plan)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload;
	int err = 0;

	if (plan->families && setenv("POSIXTRACE_TRACE", plan->families, 1))
		return errno;
	if (!plan->preload)
		return 0;
	if (asprintf(&preload, "%s%s%s", plan->preload, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return ENOMEM;
	if (setenv("LD_PRELOAD", preload, 1))
		err = errno;
	free(preload);
	return err;
}

static _Noreturn void be_child(const struct launch_plan *plan, const struct inherited *inherited,
			       int go, int failed)
{
	ssize_t n;
	char byte;
	int err;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
	restore(inherited);
	err = set_environment(plan);
	if (!err) {
		tell_command(plan->argv);
		execvp(plan->argv[0], plan->argv);
		err = errno;
	}
	_exit(write(failed, &err, sizeof(err)) == sizeof(err));
}

int launch_begin(struct launch *launch, const struct launch_plan *plan, const sigset_t *set)
{
	struct inherited inherited = { .mask = { { 0 } } };
	int go[2], failed[2], err;

	if (pipe2(go, O_CLOEXEC))
		return errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = errno;
		close(go[0]);
		close(go[1]);
		return err;
	}
	save(&inherited, set);
	launch->pid = fork();
	if (launch->pid == 0) {
		close(go[1]); /* if this process ends, so does the child */
		be_child(plan, &inherited, go[0], failed[1]);
	}
	err = launch->pid < 0 ? errno : 0;
	close(go[0]);
	close(failed[1]);
	launch->go = go[1];
	launch->failed = failed[0];
	if (err) {
		close(launch->go);
		close(launch->failed);
	}
	return err;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int launch_go(struct launch *launch)
{
	/* somebody may have killed the child */
	void (*pipe_action)(int) = signal(SIGPIPE, SIG_IGN);
	ssize_t n = write(launch->go, "", 1);
	int err = 0;

	signal(SIGPIPE, pipe_action);
	close(launch->go);
	if (n == 1)
		do /* nothing comes of a descriptor that execve() closed */
			n = read(launch->failed, &err, sizeof(err));
		while (n < 0 && errno == EINTR);
	close(launch->failed);
	if (n == sizeof(err))
		wait_for(launch->pid);
	return n == sizeof(err) ? err : 0;
}

void launch_cancel(struct launch *launch)
{
	close(launch->go);
	close(launch->failed);
	wait_for(launch->pid);
}
