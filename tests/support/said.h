/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/said.h - what a stream or an opened log knows that programs said: what types mean, and
 * what things are called.
 */
#ifndef PTX_TESTS_SAID_H
#define PTX_TESTS_SAID_H

#include "support/stream.h"

void assert_schema(trace_id_t trid, trace_event_id_t id, const char *expected);

/* What the pointer was called then, "-" if nothing; until the next call. */
const char *called(trace_id_t trid, pid_t pid, const void *pointer, int64_t time_ns);

unsigned count_objects(trace_id_t trid);

#endif
