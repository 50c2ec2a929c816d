/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/first.h - the sizes of the first versions of public structures.
 *
 * A program that passes a smaller size is wrong, and gets EINVAL. These sizes never change;
 * trace_sized_np(3) lists the members.
 */
#ifndef PTX_POSIX_FIRST_H
#define PTX_POSIX_FIRST_H

#include <trace_np.h>

#include "base/sized.h"

#define PTX_FIRST_ARG     PTX_THROUGH(struct posix_trace_arg_np, data)
#define PTX_FIRST_CHECK   PTX_THROUGH(struct posix_trace_check_np, bytes)
#define PTX_FIRST_EVENT   PTX_THROUGH(struct posix_trace_event_np, time_ns)
#define PTX_FIRST_FAULT   PTX_THROUGH(struct posix_trace_fault_np, reason)
#define PTX_FIRST_LEDGER  PTX_THROUGH(struct posix_trace_ledger_np, lost[9])
#define PTX_FIRST_LOGINFO PTX_THROUGH(struct posix_trace_loginfo_np, last_ns)
#define PTX_FIRST_MAPPING PTX_THROUGH(struct posix_trace_mapping_np, parent)
#define PTX_FIRST_OBJECT  PTX_THROUGH(struct posix_trace_object_np, time_ns)
#define PTX_FIRST_ORIGIN  PTX_THROUGH(struct posix_trace_origin_np, clock_hz)
#define PTX_FIRST_SCHEMA  PTX_THROUGH(struct posix_trace_schema_np, text)
#define PTX_FIRST_STREAM  PTX_THROUGH(struct posix_trace_stream_np, recorded)
#define PTX_FIRST_THREAD  PTX_THROUGH(struct posix_trace_thread_np, tid)
#define PTX_FIRST_VALUE   PTX_THROUGH(struct posix_trace_value_np, u64)

#endif
