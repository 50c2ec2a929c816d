/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* progress.c - the progress line of a recording. */
#include "live/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/until.h"
#include "log/equation.h"

#define EVERY_NS INT64_C(1000000000) /* between two updates */

void progress_begin(struct progress *progress, bool wanted)
{
	memset(progress, 0, sizeof(*progress));
	progress->wanted = wanted && isatty(STDERR_FILENO);
	progress->begin_ns = progress->last_ns = until_now_ns();
}

/*
 * Returns true if this job may write to the terminal and no program has switched it to raw mode, as
 * full-screen programs do.
 */
static bool is_ours(void)
{
	struct termios terminal;

	return tcgetpgrp(STDERR_FILENO) == getpgrp() && !tcgetattr(STDERR_FILENO, &terminal) &&
	       (terminal.c_lflag & ICANON);
}

/* Writes a number of bytes in a decimal unit, such as 12.3 MB, for a line of bounded width. */
static void put_bytes(char *text, size_t size, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	for (; bytes >= 1000 && unit < 4; unit++)
		bytes /= 1000;
	snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

void progress_show(struct progress *progress, trace_id_t trid, int log_fd)
{
	struct posix_trace_ledger_np ledger;
	int64_t now_ns = until_now_ns(), passed_ns = now_ns - progress->last_ns;
	char line[160], bytes[24];
	struct stat st;
	uint64_t events;
	int len;

	if (!progress->wanted || passed_ns < EVERY_NS || !is_ours() || fstat(log_fd, &st) ||
	    posix_trace_get_ledger_np(trid, &ledger))
		return;
	events = ledger.reported + ledger.unread; /* all events that were not lost */
	put_bytes(bytes, sizeof(bytes), (double)st.st_size);
	len = snprintf(line, sizeof(line), "\r[%llds: %llu events, %.0f/s, %s, %llu lost]\033[K",
		       (long long)((now_ns - progress->begin_ns) / EVERY_NS),
		       (unsigned long long)events,
		       /* If unread events are lost, the sum of events may become less. */
		       events < progress->last_events ? 0 :
			       (double)(events - progress->last_events) * 1e9 / (double)passed_ns,
		       bytes, (unsigned long long)equation_lost(&ledger));
	/*
	 * The line is written to the descriptor directly, since say() would print it as a message.
	 */
	progress->shown = write(STDERR_FILENO, line, (size_t)len) > 0;
	progress->last_events = events;
	progress->last_ns = now_ns;
}

void progress_clear(struct progress *progress)
{
	if (progress->shown && write(STDERR_FILENO, "\r\033[K", 4) > 0)
		progress->shown = false;
}
