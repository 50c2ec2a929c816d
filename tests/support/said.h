/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/said.h - the schemas of types and the names of objects that a stream or an opened log
 * has.
 */
#ifndef PTX_TESTS_SAID_H
#define PTX_TESTS_SAID_H

#include "support/stream.h"

void assert_schema(trace_id_t trid, trace_event_id_t id, const char *expected);

/* Returns the name that the object at pointer had at this time, or "-" if it had none. The text is
 * valid until the next call. */
const char *called(trace_id_t trid, pid_t pid, const void *pointer, int64_t time_ns);

unsigned count_objects(trace_id_t trid);

#endif
