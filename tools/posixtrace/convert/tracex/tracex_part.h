/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_part.h - the steps of tracex_open(). Each step relies on the checks of the steps before
 * it.
 */
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
/*
 * Counts the events, the unused entries and the invalid entries. Reports invalid entries, unused
 * entries between used entries, and unknown ids of events.
 */
void tracex_check_entries(struct tracex *dump, const struct tracex_options *options,
			  struct findings *findings);
/*
 * Checks the timer mask and finds the period and direction of the timer. Reports values of the dump
 * that make times wrong.
 */
void tracex_check_time(struct tracex *dump, const struct tracex_options *options,
		       struct findings *findings);

#endif
