/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lttng_provider.h - tracepoints with the payloads of the other benchmarks. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER posixtrace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"

#if !defined(LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PROVIDER_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(posixtrace_bench, eight,
	LTTNG_UST_TP_ARGS(uint64_t, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(posixtrace_bench, thirty_two,
	LTTNG_UST_TP_ARGS(const unsigned char *, data),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(unsigned char, data, data, 32)))

LTTNG_UST_TRACEPOINT_EVENT(posixtrace_bench, bytes,
	LTTNG_UST_TP_ARGS(const unsigned char *, data, size_t, len),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_sequence(unsigned char, data, data, size_t, len)))

#endif

#include <lttng/tracepoint-event.h>
