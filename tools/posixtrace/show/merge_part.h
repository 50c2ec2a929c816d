/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge_part.h - finds the order of the events of several logs, for merge.c and for the conversion
 * of merged logs.
 */
#ifndef POSIXTRACE_SHOW_MERGE_PART_H
#define POSIXTRACE_SHOW_MERGE_PART_H

#include "show/merge.h"

/*
 * Computes the time by which the source's next event is ordered, and marks that the source has an
 * event.
 */
void merge_place(struct merge_source *source);

/*
 * Returns the source whose next event is the first in the order. If the next events of several
 * sources have the same time, returns the first of these sources. Returns NULL if no source has a
 * further event.
 */
struct merge_source *merge_first(const struct merge *merge);

/*
 * Returns the bound for the error of the log's clock relative to the clocks of other hosts, in
 * nanoseconds.
 */
int64_t merge_error_of(const struct merge *merge, const struct logfile *log);

/*
 * Returns the sum of the bounds of two logs. The order of two events of these logs is known only if
 * their times differ by more than this sum.
 */
int64_t merge_bound(const struct merge *merge, const struct merge_source *a,
		    const struct merge_source *b);

/*
 * Returns true if the source's event is so close to the last or next event of another log that
 * their order is unknown.
 */
bool merge_is_unordered(const struct merge *merge, const struct merge_source *source);

/* Prints the host and clock of each log and the bounds. */
void merge_say_bounds(const struct merge *merge);

#endif
