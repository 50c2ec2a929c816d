/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge_part.h - the order of several logs, for merge.c and for the conversion of merged logs. */
#ifndef POSIXTRACE_SHOW_MERGE_PART_H
#define POSIXTRACE_SHOW_MERGE_PART_H

#include "show/merge.h"

/* Computes where the source's next event is in the order of all events. */
void merge_place(struct merge_source *source);

/*
 * Returns the source whose next event comes first; for equal times, the first such source. NULL:
 * there are no more events.
 */
struct merge_source *merge_first(const struct merge *merge);

/*
 * Returns the bound of the error of the log's times against those of other hosts, in nanoseconds.
 */
int64_t merge_error_of(const struct merge *merge, const struct logfile *log);

/* Returns true if the source's event is too close to the last or next event of another log. */
bool merge_is_unordered(const struct merge *merge, const struct merge_source *source);

/* Prints the host and clock of each log and the bounds. */
void merge_say_bounds(const struct merge *merge);

#endif
