/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "attach_wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 250

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * A shell lets its background commands ignore SIGINT; who sends it to this one means it. But
 * nohup(1) also means it.
 */
static int take_signals(void)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int attach_wait_begin(struct attach_wait *wait, pid_t pid)
{
	int err;

	wait->end_ns = INT64_MAX;
	wait->signals = -1;
	wait->process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (wait->process < 0)
		return errno == EINVAL ? ESRCH : errno; /* a thread is no process */
	wait->signals = take_signals();
	if (wait->signals < 0) {
		err = errno;
		close(wait->process);
		return err;
	}
	return 0;
}

void attach_wait_end(struct attach_wait *wait)
{
	if (wait->process >= 0)
		close(wait->process);
	close(wait->signals);
}

void attach_wait_without_process(struct attach_wait *wait)
{
	close(wait->process);
	wait->process = -1; /* poll() passes over it */
}

void attach_wait_limit(struct attach_wait *wait, int64_t duration_ns)
{
	if (!duration_ns || __builtin_add_overflow(now_ns(), duration_ns, &wait->end_ns))
		wait->end_ns = INT64_MAX;
}

/* Not less than what is left: a sleep that ends too early would be followed by many short ones. */
static int sleep_ms(const struct attach_wait *wait)
{
	int64_t left_ns = wait->end_ns - now_ns();

	if (left_ns <= 0)
		return 0;
	return left_ns > (int64_t)LOOK_MS * 1000000 ? LOOK_MS : (int)((left_ns + 999999) / 1000000);
}

bool attach_wait_some(struct attach_wait *wait, enum attach_end *end)
{
	struct pollfd poller[2] = {
		{ .fd = wait->signals, .events = POLLIN },
		{ .fd = wait->process, .events = POLLIN },
	};

	poll(poller, 2, sleep_ms(wait));
	if (poller[0].revents)
		*end = ATTACH_SIGNAL;
	else if (poller[1].revents)
		*end = ATTACH_TARGET_ENDED;
	else if (now_ns() >= wait->end_ns)
		*end = ATTACH_DURATION;
	else
		return false;
	return true;
}
