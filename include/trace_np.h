/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_np.h - the interface of libposixtrace beyond POSIX. Every name ends in _np or _NP (not
 * portable).
 *
 * The headers below have one subject each, and each compiles alone. The conventions are those of
 * <trace.h>: a function returns 0 or an error number, leaves errno as it was, and may be called
 * from any thread. Sizes are bytes, counts are events, and times are CLOCK_REALTIME in nanoseconds,
 * unless a comment says otherwise.
 *
 * A structure that a program and the library exchange may grow at its end in a later version. The
 * program passes the size that it was compiled with: posix_trace_get_ledger_np(), for example, is
 * an inline function that calls posix_trace_get_ledger_sized_np() with sizeof(*ledger). Programs in
 * other languages call the _sized_np functions. trace_sized_np(3) has the rules.
 *
 * Manual page: trace_np(3).
 */
#ifndef _TRACE_NP_H
#define _TRACE_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include "trace.h"

#include "trace_check_np.h"   /* verify a log */
#include "trace_compose_np.h" /* write a log of events from elsewhere */
#include "trace_fields_np.h"  /* record events with typed fields */
#include "trace_ledger_np.h"  /* the loss ledger */
#include "trace_mapping_np.h" /* files behind program addresses */
#include "trace_object_np.h"  /* names of objects in memory */
#include "trace_observe_np.h" /* look at active streams, recover streams */
#include "trace_point_np.h"   /* trace points; limits on system calls */
#include "trace_read_np.h"    /* read logs */
#include "trace_schema_np.h"  /* schemas and values of events */
#include "trace_sdt_np.h"     /* USDT probes of trace points, if POSIX_TRACE_SDT_NP is defined */
#include "trace_stream_np.h"  /* attributes, limits and filters of streams */
#include "trace_user_np.h"    /* events of typed items */
#include "trace_weak_np.h"    /* no link with the library, if POSIX_TRACE_WEAK_NP is defined */
#include "trace_words_np.h"   /* words of trace points in one line */

#endif
