/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* retry.c - the messages and pauses between repetitions of a request. */
#include "ship/retry.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/say.h"
#include "base/until.h"

#define PAUSE_FIRST_MS 100
#define PAUSE_MOST_MS  10000
#define SAY_AGAIN_NS   INT64_C(60000000000)

volatile sig_atomic_t ship_stopped;

/*
 * The signals are blocked from the test of ship_stopped until ppoll() unblocks them. So a signal
 * that arrives between the test and ppoll() is not missed.
 */
void ship_pause(int64_t ns)
{
	const struct timespec pause = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	sigset_t both, before;

	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, &before);
	if (!ship_stopped)
		ppoll(NULL, 0, &pause, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/*
 * Returns whether two reasons differ at most in numbers behind the address of the server. If a disk
 * is full, for example, each answer of the server has another number of a temporary file.
 */
static bool is_same_reason(const char *a, const char *b)
{
	static const char digits[] = "0123456789";
	const char *address = strstr(a, ": ");
	const size_t len = address ? (size_t)(address - a) : 0;

	if (strncmp(a, b, len) != 0)
		return false;
	a += len;
	b += len;
	for (;;) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (!*a || *a != *b)
			return *a == *b;
		a++;
		b++;
	}
}

static void say_reason(struct retry *retry, const char *reason, int64_t now_ns)
{
	struct retry_reason *printed = NULL;

	for (size_t i = 0; i < RETRY_REASONS && !printed; i++)
		if (*retry->reason[i].text && is_same_reason(retry->reason[i].text, reason))
			printed = &retry->reason[i];
	if (printed && now_ns - printed->printed_ns < SAY_AGAIN_NS)
		return;
	if (!printed) {
		printed = &retry->reason[retry->oldest];
		retry->oldest = (retry->oldest + 1) % RETRY_REASONS;
	}
	say("%s", reason);
	snprintf(printed->text, sizeof(printed->text), "%s", reason);
	printed->printed_ns = now_ns;
}

void retry_succeeded(struct retry *retry)
{
	if (retry->failing_ns)
		say("%s", retry->recovered ? retry->recovered : "the server answers again");
	retry->failing_ns = 0;
	retry->pause_ms = 0;
	for (size_t i = 0; i < RETRY_REASONS; i++)
		*retry->reason[i].text = '\0';
}

void retry_failed(struct retry *retry, const char *reason)
{
	const int64_t now_ns = until_now_ns();

	say_reason(retry, reason, now_ns);
	if (!retry->failing_ns)
		retry->failing_ns = now_ns;
}

int64_t retry_left_ns(const struct retry *retry, int64_t failing_ns)
{
	if (!retry->give_up_ns)
		return INT64_MAX;
	return retry->give_up_ns - (failing_ns ? until_now_ns() - failing_ns : 0);
}

bool retry_again(struct retry *retry, const char *reason, bool is_refused, int64_t least_ns)
{
	int64_t now_ns = until_now_ns(), pause_ns, left_ns;

	if (ship_stopped)
		return false;
	say_reason(retry, reason, now_ns);
	if (is_refused)
		return false;
	if (!retry->failing_ns)
		retry->failing_ns = now_ns;
	left_ns = retry_left_ns(retry, retry->failing_ns);
	/* A receiver may request a pause that is longer than the remaining time. */
	if (left_ns <= 0 || least_ns > left_ns) {
		say("ship gives up; the next run continues from here");
		retry->has_given_up = true;
		return false;
	}
	if (retry->work)
		retry->work(retry->arg);
	retry->pause_ms = retry->pause_ms ? 2 * retry->pause_ms : PAUSE_FIRST_MS;
	if (retry->pause_ms > PAUSE_MOST_MS)
		retry->pause_ms = PAUSE_MOST_MS;
	pause_ns = INT64_C(1000000) * retry->pause_ms;
	if (pause_ns < least_ns)
		pause_ns = least_ns;
	ship_pause(pause_ns);
	return !ship_stopped;
}
