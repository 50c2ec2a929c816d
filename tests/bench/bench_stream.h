/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_stream.h - streams for the benchmarks, and the conservation law that every figure proves:
 * called = reported + unread + lost, and called equals the count of the loop.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define BENCH_BUFFER_BYTES (4u << 20) /* as much as the LTTng sessions of ./run have */

trace_event_id_t bench_type(const char *name);

/* A stream of this process, not started. log_fd -1 means a stream without log. */
trace_id_t bench_stream(int policy, size_t size_bytes, int log_fd);

/* The same with this max-data-size; 0 means the default. */
trace_id_t bench_stream_of(int policy, size_t size_bytes, size_t data_bytes, int log_fd);

/* The same as bench_stream(), with a log that is compressed at this level; 0: not compressed. */
trace_id_t bench_stream_compressed(int policy, size_t size_bytes, int level, int log_fd);

/*
 * Returns whether the equation holds for the type's line with this number as called, and for the
 * total.
 */
bool bench_law(trace_id_t trid, trace_event_id_t type, uint64_t called);

uint64_t bench_lost(const struct posix_trace_ledger_np *ledger);

#endif
