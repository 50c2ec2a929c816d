/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/composer.h - composed logs of a process 77 that never existed.
 *
 * Every function here that can fail asserts that it does not.
 */
#ifndef PTX_TESTS_COMPOSER_H
#define PTX_TESTS_COMPOSER_H

#include "support/stream.h"

typedef struct posix_trace_composer_np composer_t;

composer_t *compose(int fd, const trace_attr_t *attr);
trace_event_id_t name_of(composer_t *composer, const char *name);

/* event_of() returns an event of thread 78. put() adds such an event to the log. */
struct posix_trace_event_np event_of(trace_event_id_t id, int64_t time_ns, const char *text);
void put(composer_t *composer, trace_event_id_t id, int64_t time_ns, const char *text);

/* Completes the log in fd. Fails unless the log is sound. */
void finish(composer_t *composer, int fd);

/* Returns the number of events in a log. */
size_t events_of(int fd);

#endif
