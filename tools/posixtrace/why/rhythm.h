/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rhythm.h - loops that sleep for the same time in each round, or poll with the same time limit,
 * and timers that expire regularly. If a loop sleeps after its work for the whole period, the work
 * and each late wake-up make the rounds longer than the program asked for: the loop drifts. A
 * timerfd does not drift, but a slow program misses some of its expirations.
 */
#ifndef POSIXTRACE_WHY_RHYTHM_H
#define POSIXTRACE_WHY_RHYTHM_H

#include "why/history.h"

#define RHYTHM_LEAST 10 /* the least number of rounds that are a rhythm */

struct rhythm {
	uint64_t rounds;
	double asked_ns;   /* the time that the program asked for in each round */
	double period_ns;  /* the mean time from one round to the next one */
	double sleep_ns;   /* the mean duration of a sleep or poll, or of a read of the timerfd */
	/*
	 * the time from the first to the last round: between begins of sleeps and polls, or ends of
	 * reads
	 */
	double all_ns;
	/* the log has only the moment of waking: asked_ns is the shortest sleep */
	bool is_estimate;
	bool is_timer;     /* the rounds are reads of a timerfd, and asked_ns is its interval */
};

/*
 * Finds the rhythm of those calls of a thread between two times that are like the call 'like':
 * sleeps or polls at one place, or reads of one timerfd. If a read ended the poll 'like', the read
 * is used. Returns false if the program asked for different times, or for moments at equal
 * distances, if one of the polls found input, or if there are fewer than RHYTHM_LEAST calls. *err
 * becomes ENOMEM if memory is lacking.
 */
bool rhythm_find(const struct history *history, uint32_t thread, int64_t from_ns, int64_t to_ns,
		 const struct call *like, struct rhythm *rhythm, int *err);

/* Returns the first read of a timerfd by a thread between two times, or NULL. */
const struct call *rhythm_read(const struct history *history, uint32_t thread, int64_t from_ns,
			       int64_t to_ns);

#endif
