/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * retry.h - repeats requests that fail: messages, pauses, and the end of the attempts. One thread
 * uses a struct retry; all requests to one receiver share it.
 */
#ifndef POSIXTRACE_SHIP_RETRY_H
#define POSIXTRACE_SHIP_RETRY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define RETRY_REASON_BYTES 1024
#define RETRY_REASONS	   16 /* at least ADDRESS_HOSTS */

/* SIGINT and SIGTERM set ship_stopped to 1. The command then ends after the current request. */
extern volatile sig_atomic_t ship_stopped;
/* Waits for this time, or until SIGINT or SIGTERM arrives. */
void ship_pause(int64_t ns);

struct retry {
	/* a request is repeated at most for this time without success; 0: forever */
	int64_t give_up_ns;
	/* the time of the first of the failures; 0: the last request succeeded */
	int64_t failing_ns;
	/*
	 * the last reasons and when each was printed; several, because each host has a reason of
	 * its own
	 */
	struct retry_reason {
		int64_t printed_ns;
		char text[RETRY_REASON_BYTES];
	} reason[RETRY_REASONS];
	size_t oldest; /* index of the reason that a new one replaces */
	bool has_given_up;             /* give_up_ns are over, so no further request is sent */
	unsigned pause_ms;             /* length of the last pause before a repetition */
	/* work to do before each pause, even while the receiver is absent; NULL: none */
	void (*work)(void *arg);
	void *arg;
	const char *recovered; /* the message after failures; NULL: that the server answers again */
};

/* Must be called after a success. After failures, prints that the receiver answers again. */
void retry_succeeded(struct retry *retry);
/*
 * Notes a failure after which the caller itself waits and tries again. Prints a new reason
 * immediately, and the same reason once a minute.
 */
void retry_failed(struct retry *retry, const char *reason);
/*
 * Must be called after a failure. Prints a new reason immediately, and the same reason once a
 * minute. Reasons that differ only in numbers behind the address are the same. Waits for at least
 * least_ns. Returns false if the request must not be repeated, because it was refused, because of a
 * signal, or because give_up_ns are over.
 */
bool retry_again(struct retry *retry, const char *reason, bool is_refused, int64_t least_ns);
/*
 * Returns the time until retry_again() gives up if requests have failed since failing_ns. With
 * failing_ns 0, no request has failed, and the result is the whole time. A result of 0 or less
 * means that the time is over, INT64_MAX that there is no limit.
 */
int64_t retry_left_ns(const struct retry *retry, int64_t failing_ns);

#endif
