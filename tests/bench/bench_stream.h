/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_stream.h - streams for the benchmarks, and the conservation law that every figure proves:
 * called = reported + unread + lost, and called is what the loop counted.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define BENCH_BUFFER_BYTES (4u << 20) /* as much as the LTTng sessions of ./run have */

trace_event_id_t bench_type(const char *name);

/* A stream of this process; log_fd -1: without log. Not started. */
trace_id_t bench_stream(int policy, size_t size_bytes, int log_fd);

/* The type's line closes and says called; so does the total's line, whatever it says. */
bool bench_law(trace_id_t trid, trace_event_id_t type, uint64_t called);

uint64_t bench_lost(const struct posix_trace_ledger_np *ledger);

#endif
