/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launch.c - starts a program in two steps. First it creates a child, which waits at a pipe until
 * it may execute the program. If the execution fails, the child writes the error to a second pipe.
 * If it succeeds, execve() closes this pipe.
 */
#include "live/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

#include "../../../lib/preload/patch_plan.h"

#define SERVE_MS      10   /* between two calls of serve() */
#define COMMAND_BYTES 1024 /* streams keep this much data of an event by default */

/*
 * The signal settings that this process had before it changed them. The program gets these
 * settings.
 */
struct inherited {
	sigset_t mask;
	struct sigaction action[NSIG];
};

/*
 * Stores the settings and blocks the signals of "set". This process later reads these signals from
 * a descriptor, for which they must be blocked. The program must not inherit the blocking, so it
 * gets the stored settings.
 */
static void save_signals(struct inherited *inherited, const sigset_t *set)
{
	sigset_t all = *set;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &inherited->action[sig]);
	sigprocmask(SIG_BLOCK, &all, &inherited->mask);
	signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, the child's status would be lost */
}

/* Restores the settings. It runs in the child only. */
static void restore_signals(const struct inherited *inherited)
{
	for (int sig = 1; sig < NSIG; sig++)
		/*
		 * The result is ignored, because the action of some signals, such as SIGKILL,
		 * cannot be set.
		 */
		sigaction(sig, &inherited->action[sig], NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/*
 * Records the log's first event, the command line. The event also makes the child a member of the
 * stream. So even if there is no folder with links, the program finds the stream by the descriptor
 * of the arena, which it inherits.
 */
static void record_command_line(char **argv)
{
	char command[COMMAND_BYTES];
	trace_event_id_t id;
	size_t used = 0;

	/* A longer command line is truncated. */
	for (; *argv && used < sizeof(command) - 1; argv++) {
		size_t len = strnlen(*argv, sizeof(command) - 1 - used);

		memcpy(command + used, *argv, len);
		used += len;
		command[used++] = ' ';
	}
	if (!posix_trace_eventid_open(LAUNCH_COMMAND_EVENT, &id))
		posix_trace_event(id, command, used - 1);
}

/*
 * Sets the environment of the program, in the child. The preload library precedes the libraries
 * that the user preloads, so that its wrappers are the first. Returns 0 or an error number.
 */
static int set_environment(const struct launch_plan *plan)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload;
	int err = 0;

	if (plan->families && setenv("POSIXTRACE_TRACE", plan->families, 1))
		return errno;
	if (plan->patch ? setenv(SHIM_PLAN_VARIABLE, plan->patch, 1) :
			  unsetenv(SHIM_PLAN_VARIABLE))
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

/*
 * The function of the child. It waits for one byte. If the pipe ends instead, the parent has ended
 * or has cancelled the start. If execvp() fails, the child sends the error number to the parent.
 */
static _Noreturn void be_child(const struct launch_plan *plan, const struct inherited *inherited,
			       int go, int failed)
{
	ssize_t n;
	char byte;
	int err;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* the parent cannot trace, so the program is not executed */
		_exit(1);
	restore_signals(inherited);
	err = set_environment(plan);
	if (!err) {
		record_command_line(plan->argv);
		execvp(plan->argv[0], plan->argv);
		err = errno;
	}
	/* the parent prints err, so the status does not matter */
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
	/*
	 * The signals are blocked before fork(), so that none is lost between fork() and
	 * signalfd().
	 */
	save_signals(&inherited, set);
	launch->pid = fork();
	if (launch->pid == 0) {
		/* if this end remained open, the child would not notice the end of its parent */
		close(go[1]);
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

/*
 * Reaps the child. The child ends soon, because its pipe is closed, or because its execvp() has
 * failed.
 */
static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * If the caller has given a function serve(), calls it again and again until the pipe has an error
 * number, or ends.
 */
static void wait_for_exec(const struct launch *launch)
{
	struct pollfd pipe = { .fd = launch->failed, .events = POLLIN };

	while (launch->serve && poll(&pipe, 1, SERVE_MS) <= 0)
		launch->serve(launch->arg);
}

int launch_execute(struct launch *launch)
{
	/*
	 * If the child was killed, its end of the pipe is closed. In this case, SIGPIPE must not
	 * end this process at the write below.
	 */
	void (*pipe_action)(int) = signal(SIGPIPE, SIG_IGN);
	ssize_t n = write(launch->go, "", 1);
	int err = 0;

	signal(SIGPIPE, pipe_action);
	close(launch->go);
	if (n == 1 && launch->begun)
		launch->begun(launch->arg);
	if (n == 1)
		wait_for_exec(launch);
	if (n == 1)
		do /* if the result is 0 bytes, execve() has closed the child's end of the pipe */
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
