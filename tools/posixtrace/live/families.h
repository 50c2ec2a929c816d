/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * families.h - the families of calls that the patterns of --event need, and patterns that match
 * nothing.
 */
#ifndef POSIXTRACE_LIVE_FAMILIES_H
#define POSIXTRACE_LIVE_FAMILIES_H

#include <stdbool.h>

#include "choose/choose.h"
#include "log/logfile.h"

/*
 * Adds the families that the patterns of --event need to *families, the list of
 * preload_take_families(). A pattern such as alloc.* or lock.mutex_held matches only types of
 * families that are not traced by default. The function changes nothing if the user chose families:
 * then *families is not NULL. Returns false after it printed an error.
 */
bool families_add_needed(const char **families, const struct choose *choose);

/*
 * Returns a bit for each default family of which the log lists no type. Returns 0 if the log lists
 * no type of the preload library: perhaps the program did not load the library.
 */
unsigned families_left_out(const struct logfile *log);

/*
 * Returns the word of --trace for a family: the first word of the library's table that chooses the
 * family. The argument is the number of the bit. It must not be the family of the library's reports
 * about itself, which is always traced.
 */
const char *families_word(unsigned family);

/*
 * Prints each pattern of --event and --exclude that matches no type of events which the recording
 * could have. "families" is the list that was traced, or NULL for the default. The log must be
 * complete.
 */
void families_say_unmatched(const char *families, const struct choose *choose,
			    const struct logfile *log);

#endif
