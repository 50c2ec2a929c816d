/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * until.c - waits for the end of a trace. It uses poll() on a signalfd and a pidfd, so a signal or
 * an exit between two sleeps is not missed.
 */
#include "base/until.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 250 /* callers update their counts at least this often */

int64_t until_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int until_begin(struct until *until, pid_t pid)
{
	until->end_ns = INT64_MAX;
	/* The caller may reduce look_ms after this call. */
	until->look_ms = LOOK_MS;
	until->signals = -1;
	until->wake = -1;
	until->process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (until->process < 0)
		/*
		 * With these errors pidfd_open() refuses the id of a thread that is not the main
		 * thread of a process. No process has this id.
		 */
		return errno == EINVAL || errno == ENOENT ? ESRCH : errno;
	return 0;
}

void until_end(struct until *until)
{
	if (until->process >= 0)
		close(until->process);
	if (until->signals >= 0)
		close(until->signals);
}

/*
 * A shell starts background commands with SIGINT ignored. The kernel discards a signal that is
 * ignored, but a user who sends SIGINT to this process wants to end the trace. Therefore the
 * function restores the default actions. If nohup(1) has set SIGHUP to be ignored, SIGHUP remains
 * ignored.
 */
int until_signals(struct until *until, sigset_t *set)
{
	struct sigaction hangup;

	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler == SIG_IGN)
		sigdelset(set, SIGHUP);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(set, sig) == 1)
			signal(sig, SIG_DFL);
	/* signalfd() delivers blocked signals only. */
	sigprocmask(SIG_BLOCK, set, NULL);
	until->signals = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	return until->signals < 0 ? errno : 0;
}

int until_begin_with_signals(struct until *until, pid_t pid)
{
	sigset_t set;
	int err = until_begin(until, pid);

	if (err)
		return err;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	err = until_signals(until, &set);
	if (err)
		until_end(until);
	return err;
}

bool until_signal(struct until *until, int *sig, bool *sent)
{
	struct signalfd_siginfo info;

	if (read(until->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	*sig = (int)info.ssi_signo;
	/*
	 * A code that is not positive, such as SI_USER, SI_QUEUE or SI_TKILL, means that a process
	 * sent the signal.
	 */
	*sent = info.ssi_code <= 0;
	return true;
}

void until_without_process(struct until *until)
{
	close(until->process);
	until->process = -1; /* poll() ignores negative descriptors */
}

void until_limit(struct until *until, int64_t duration_ns)
{
	if (!duration_ns || __builtin_add_overflow(until_now_ns(), duration_ns, &until->end_ns))
		until->end_ns = INT64_MAX;
}

/*
 * Returns the length of the next sleep in milliseconds, rounded up. If it were rounded down, the
 * sleep would end before end_ns, and many short sleeps would follow.
 */
static int sleep_ms(const struct until *until)
{
	int64_t left_ns = until->end_ns - until_now_ns();

	if (left_ns <= 0)
		return 0;
	return left_ns > (int64_t)until->look_ms * 1000000 ? until->look_ms :
							     (int)((left_ns + 999999) / 1000000);
}

bool until_some(struct until *until, enum until_end *end)
{
	struct pollfd poller[3] = {
		{ .fd = until->signals, .events = POLLIN },
		{ .fd = until->process, .events = POLLIN },
		{ .fd = until->wake, .events = POLLIN },
	};

	/*
	 * If poll() fails, for example with EINTR, revents remains 0, and the call counts as a
	 * complete sleep.
	 */
	poll(poller, 3, sleep_ms(until));
	if (poller[0].revents)
		*end = UNTIL_SIGNAL;
	else if (poller[1].revents)
		*end = UNTIL_PROCESS_ENDED;
	else if (until_now_ns() >= until->end_ns)
		*end = UNTIL_TIME;
	else
		return false;
	return true;
}
