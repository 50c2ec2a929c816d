/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.h - the names of file descriptors: paths, sockets with their addresses, pipes.
 *
 * The events of a log have the numbers of descriptors. The names follow from events of the preload
 * library: those of calls that make, duplicate and close descriptors, and those of fork and exec.
 * The first look-up reads the whole log once with a reader of its own. So a name does not depend on
 * the events that a command selects.
 *
 * A descriptor that a program had before it was recorded, or that the C library opened itself, has
 * no name. The log must show the end of each name: without events of close() there are no names,
 * and a gap of lost events ends all of them. One thread uses a log's descriptors.
 */
#ifndef POSIXTRACE_LOG_DESCRIPTORS_H
#define POSIXTRACE_LOG_DESCRIPTORS_H

#include <stdint.h>
#include <trace_np.h>

struct descriptors;

/* Returns NULL without memory. fd is the log's file, which must remain open. */
struct descriptors *descriptors_new(int fd);
void descriptors_free(struct descriptors *descriptors);

/*
 * Returns the name that the descriptor in a field of the event had before the event, or NULL if it
 * is unknown or closed, or if the event itself made the descriptor. Bytes are as the program gave
 * them. descriptors may be NULL.
 */
const char *descriptors_find(struct descriptors *descriptors,
			     const struct posix_trace_event_np *event, const char *field,
			     int64_t fd);

#endif
