/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meter.h - a progress line on the terminal while the tool reads a log, if the reading takes more
 * than two seconds.
 *
 * The line appears only if standard error is a terminal and the tool is in the terminal's
 * foreground job. The line does not appear if the command prints events on a terminal while it
 * reads, because the line would be mixed with the events. One meter is shown at a time, and say()
 * removes its line before a message.
 */
#ifndef POSIXTRACE_BASE_METER_H
#define POSIXTRACE_BASE_METER_H

#include <stdbool.h>
#include <stdint.h>

#define METER_EVERY 65536 /* events between two readings of the clock */

struct meter {
	bool wanted, shown;
	uint64_t total;        /* 0: unknown */
	/* "done": events so far; "next": the value of "done" at which the clock is read again */
	uint64_t done, next;
	int64_t begin_ns, last_ns;
	struct meter_follower *follower;
};

/*
 * Starts a meter. "total" is the expected number of events, 0 if unknown. "quiet" means that the
 * command prints nothing on standard output before the end.
 */
void meter_begin(struct meter *meter, uint64_t total, bool quiet);

/*
 * Shows the progress of a long call that does not count its events. A thread shows, until
 * meter_end(), how many of the given bytes this process has read. If /proc or memory is lacking, no
 * line is shown.
 */
void meter_follow(struct meter *meter, uint64_t bytes);

/*
 * Removes the line and ends the thread of meter_follow(). A command calls meter_end() before its
 * own output and at its end.
 */
void meter_end(struct meter *meter);

/*
 * Reads the clock and updates the line if the next update is due. meter_step() calls this function.
 */
void meter_look(struct meter *meter);

/* Updates the line if the last update was at least 200 ms ago. */
void meter_show(struct meter *meter);

/* Counts one event. The function runs for every event, so it reads the clock only seldom. */
static inline void meter_step(struct meter *meter)
{
	if (__builtin_expect(++meter->done >= meter->next, 0))
		meter_look(meter);
}

#endif
