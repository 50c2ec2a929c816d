/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge_part.h - the order of several logs, for merge.c and for conversions. */
#ifndef POSIXTRACE_SHOW_MERGE_PART_H
#define POSIXTRACE_SHOW_MERGE_PART_H

#include "show/merge.h"

/* Where its next event stands in the order. */
void merge_place(struct merge_source *source);

/* The first in order; of equal times that of the log that was given first. NULL: no more. */
struct merge_source *merge_first(const struct merge *merge);

/* How wrong the log's times can be against those of other hosts. */
int64_t merge_error_of(const struct merge *merge, const struct logfile *log);

/* Whether the source's event is too close to the last or the next one of another log. */
bool merge_is_unordered(const struct merge *merge, const struct merge_source *source);

/* Which hosts there are, and how far their times are trusted. */
void merge_say_bounds(const struct merge *merge);

#endif
