/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.h - finds the names of file descriptors, such as paths, or the addresses of sockets.
 *
 * The events of a log have the numbers of descriptors. The names are derived from events of the
 * preload library. These are the events of calls that make, copy and close descriptors, and of fork
 * and exec. The first look-up reads the whole log once with a separate reader, so a name does not
 * depend on the events that a command selects.
 *
 * A descriptor that the C library opened itself has no name. A descriptor that a program had before
 * it was recorded has a name only if the recorder found it (log/opened.h). A name is right only
 * until the descriptor is closed. So no descriptor has a name if the log has no events of close().
 * A gap of lost events ends all names.
 *
 * A stream may have written several logs, one directly after the other. The look-up then also reads
 * the others of these logs that the command has open. So a descriptor that was opened in one log
 * has its name in the next logs, too. Only one thread may use the functions.
 */
#ifndef POSIXTRACE_LOG_DESCRIPTORS_H
#define POSIXTRACE_LOG_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

struct descriptors;

/*
 * Makes the descriptors of a log. Returns NULL if memory is lacking. fd is the log's file, which
 * must remain open.
 */
struct descriptors *descriptors_new(int fd);
void descriptors_free(struct descriptors *descriptors);

/* Returns whether events of this type may change the names of descriptors. */
bool descriptors_use(const char *type);

/*
 * fd is the value of this field of the event. Returns the name that this descriptor had just before
 * the event. Returns NULL if the name is unknown, if the descriptor was closed, or if the event
 * itself made the descriptor. The name may have any bytes, as the program gave them. descriptors
 * may be NULL.
 */
const char *descriptors_find(struct descriptors *descriptors,
			     const struct posix_trace_event_np *event, const char *field,
			     int64_t fd);

#endif
