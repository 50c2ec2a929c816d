/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge_part.h - what merge_clock.c knows and merge.c asks. */
#ifndef POSIXTRACE_MERGE_PART_H
#define POSIXTRACE_MERGE_PART_H

#include "merge.h"

/* How wrong the log's times can be against those of other hosts. */
int64_t merge_error_of(const struct merge *merge, const struct logfile *log);

/* Whether the source's event is too close to the last or the next one of another log. */
bool merge_is_unordered(const struct merge *merge, const struct merge_source *source);

/* Which hosts there are, and how far their times are trusted. */
void merge_say_bounds(const struct merge *merge);

#endif
