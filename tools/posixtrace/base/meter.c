/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meter.c - draws the progress line and removes it. Only two threads call these functions: the
 * thread that reads a log, and the follower's thread while it holds the follower's lock.
 */
#include "base/meter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/meter_follow.h"
#include "base/say.h"
#include "base/until.h"

#define PATIENCE_NS INT64_C(2000000000) /* shorter runs show no line */
#define EVERY_NS    INT64_C(200000000)  /* between two updates */
#define BAR         40

static struct meter *current; /* the meter whose line say() must remove; NULL: none */

/*
 * Removes the line from the terminal. say() calls this function before each message. While this
 * function holds the follower's lock, the follower's thread cannot draw the line.
 */
static void pause_current(void)
{
	if (!current)
		return;
	if (current->follower)
		meter_lock(current);
	if (current->shown && write(STDERR_FILENO, "\r\033[K", 4) > 0)
		current->shown = false;
	if (current->follower)
		meter_unlock(current);
}

void meter_begin(struct meter *meter, uint64_t total, bool quiet)
{
	memset(meter, 0, sizeof(*meter));
	/*
	 * The line is shown only if this process belongs to the terminal's foreground process
	 * group. A background job that writes to the terminal would be stopped (SIGTTOU under "stty
	 * tostop") or would disturb the shell.
	 */
	meter->wanted = isatty(STDERR_FILENO) && (quiet || !isatty(STDOUT_FILENO)) &&
			tcgetpgrp(STDERR_FILENO) == getpgrp();
	if (meter->wanted) {
		current = meter;
		say_after(pause_current);
	}
	meter->total = total;
	meter->next = meter->wanted ? METER_EVERY : UINT64_MAX;
	meter->begin_ns = until_now_ns();
	/* The first update is due when PATIENCE_NS have passed. */
	meter->last_ns = meter->begin_ns + PATIENCE_NS - EVERY_NS;
}

/*
 * Draws the bar and the time left. If the total is unknown, it draws the number of events and the
 * time passed. It writes to the descriptor directly, because say() would remove the line.
 */
static void draw_meter(struct meter *meter, int64_t passed_ns)
{
	/*
	 * A log may have more events than its index shows. The number is limited, so that the bar
	 * then remains at 100 %.
	 */
	uint64_t done = meter->total && meter->done > meter->total ? meter->total : meter->done;
	char bar[BAR + 1], line[200];
	size_t filled;
	int len;

	if (meter->total) {
		filled = (size_t)(done * BAR / meter->total);
		memset(bar, '#', filled);
		memset(bar + filled, '.', BAR - filled);
		bar[BAR] = '\0';
		len = snprintf(line, sizeof(line), "\r[%s] %3u%%  %.1f s left\033[K", bar,
			       (unsigned)(done * 100 / meter->total),
			       done ? (double)passed_ns / 1e9 * (double)(meter->total - done) /
						(double)done
				    : 0.0);
	} else {
		len = snprintf(line, sizeof(line), "\r[%llu events, %.1f s]\033[K",
			       (unsigned long long)done, (double)passed_ns / 1e9);
	}
	meter->shown |= write(STDERR_FILENO, line, (size_t)len) > 0;
}

void meter_look(struct meter *meter)
{
	meter->next = meter->wanted ? meter->done + METER_EVERY : UINT64_MAX;
	if (meter->wanted)
		meter_show(meter);
}

void meter_show(struct meter *meter)
{
	int64_t now_ns = until_now_ns();

	if (now_ns - meter->last_ns < EVERY_NS)
		return;
	meter->last_ns = now_ns;
	draw_meter(meter, now_ns - meter->begin_ns);
}

void meter_end(struct meter *meter)
{
	if (meter->follower)
		meter_unfollow(meter);
	if (current == meter) {
		pause_current();
		current = NULL;
	}
	meter->wanted = false;
	meter->next = UINT64_MAX;
}
