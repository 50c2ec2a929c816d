/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * life.h - distinguishes the successive processes that have the same number. The kernel uses the
 * number of an ended process again. A span that was open when a process ended must not end in a
 * later process with the same number.
 */
#ifndef POSIXTRACE_SPANS_LIFE_H
#define POSIXTRACE_SPANS_LIFE_H

#include "spans/pairing.h"

/* Notes the end of a process, or the begin of a later process, if the event records one. */
void life_note(struct pairing *pairing, const struct log_type *type,
	       const struct posix_trace_event_np *event);

/* Returns how many earlier processes are known to have had this number. */
uint32_t life_of(const struct pairing *pairing, pid_t pid);

/* Frees the memory. */
void life_fini(struct pairing *pairing);

#endif
