/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_part.h - the steps of tracex_open(). Each relies on the checks of those before. */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_PART_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_PART_H

#include "convert/tracex/tracex.h"

/*
 * Finds byte order, size of words, and the places of header, registry and entries. Returns 0, or
 * EINVAL after it reported the fault.
 */
int tracex_layout(struct tracex *dump, struct findings *findings);
/* Reports strange slots of the registry. Returns 0 or ENOMEM. */
int tracex_check_registry(const struct tracex *dump, struct findings *findings);
/* Counts the events and the unused and invalid entries, and reports the latter. */
void tracex_check_entries(struct tracex *dump, const struct tracex_options *options,
			  struct findings *findings);
/* Checks the timer mask and the options for the clock, and reports what makes times wrong. */
void tracex_check_time(struct tracex *dump, const struct tracex_options *options,
		       struct findings *findings);

#endif
