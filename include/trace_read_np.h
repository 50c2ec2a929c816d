/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_read_np.h - reads opened logs: without a copy, by time, and after damage. Included by
 * <trace_np.h>.
 *
 * An opened log has one position, which posix_trace_getnext_event(), posix_trace_rewind() and the
 * functions below share. Times are CLOCK_REALTIME.
 *
 * Threads  every function may be called from any thread at the same time. Two threads that read one
 *          log receive different events. A thread must not use the data of its event after another
 *          thread has made the next call.
 * Signals  no function is async-signal-safe.
 * Errors   a function returns 0 or the error number, and leaves errno as it was. Every function
 *          returns EINVAL also if a pointer is null, unless its comment permits null. Every
 *          function but posix_trace_open_np() returns EINVAL also if trid is not an opened log of
 *          this process.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: trace_np(3).
 */
#ifndef _TRACE_READ_NP_H
#define _TRACE_READ_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of an event. LATE: it follows younger events, because its writer was suspended. */
#define POSIX_TRACE_EVENT_LATE_NP  1u
/* The reader skipped a damaged part of the log before this event. */
#define POSIX_TRACE_EVENT_GAP_NP   2u
/* The event is the first event of a block. This flag is not set after a seek. */
#define POSIX_TRACE_EVENT_BLOCK_NP 4u

/* An event of a log, with facts for which struct posix_trace_event_info has no member. */
struct posix_trace_event_np {
	struct posix_trace_event_info info;
	pid_t tid;        /* Linux thread id, 0 = none */
	unsigned flags;   /* POSIX_TRACE_EVENT_*_NP */
	int64_t time_ns;  /* info.posix_timestamp in nanoseconds */
	const void *data; /* in the library's buffer; valid until the next call with this trid */
	size_t data_len;  /* bytes */
};

/*
 * Delivers the next event of an opened log without copying its data. At the end of the log, stores
 * a non-zero value in *unavailable and returns 0. EINVAL.
 */
int posix_trace_getnext_sized_np(trace_id_t trid, struct posix_trace_event_np *event, size_t size,
				 int *unavailable);
static __inline int posix_trace_getnext_np(trace_id_t trid, struct posix_trace_event_np *event,
					   int *unavailable)
{
	return posix_trace_getnext_sized_np(trid, event, sizeof(*event), unavailable);
}

/*
 * Stores the number of damaged parts that the reader found since the position was last moved to a
 * time or to the beginning. If a damaged part has events, these events are missing. If the part has
 * names, lists or an index, the reader makes them again from other parts. A read from the beginning
 * to the end verifies every checksum. Without POSIX_TRACE_OPEN_SALVAGE_NP the reader stops at the
 * first missing event. EINVAL.
 */
int posix_trace_get_damage_np(trace_id_t trid, uint64_t *parts);

/*
 * Moves the position, by the log's index, to the first event that is not older than *when, or to
 * the end if all events are older. EINVAL: *when is not a valid time, or `when` is null.
 */
int posix_trace_seek_np(trace_id_t trid, const struct timespec *when);

/*
 * Sets the end of the wanted time: the caller does not need events that are younger than *when. The
 * reader may skip parts of the log that hold younger events only, and it stops where no wanted
 * events follow. If a part has both wanted and younger events, the reader delivers all events of
 * the part. The position does not change. If `when` is null, the caller needs all events again.
 * EINVAL: *when is not a valid time.
 */
int posix_trace_until_np(trace_id_t trid, const struct timespec *when);

/*
 * Opens a log as posix_trace_open() does. With POSIX_TRACE_OPEN_SALVAGE_NP the function also opens
 * a log that is incomplete, is still being written, or has a damaged header. Reading then continues
 * after damaged parts: the reader delivers the events of every whole block. If the header is
 * damaged, the function reports only the attributes of the header whose values are possible.
 *
 * If the writer of a log was killed, its guardian completes the log, and posix_trace_open() waits
 * for this guardian, but at most 10 s. With POSIX_TRACE_OPEN_NOWAIT_NP the function does not wait.
 * While the guardian runs, the function treats the log as one that is still being written. Without
 * POSIX_TRACE_OPEN_SALVAGE_NP the result is then EBUSY.
 *
 * flags  0 for posix_trace_open(), or the sum of flags
 *
 * EINVAL: `flags` has another value. Other errors: those of posix_trace_open().
 */
#define POSIX_TRACE_OPEN_SALVAGE_NP 1u
#define POSIX_TRACE_OPEN_NOWAIT_NP 2u
int posix_trace_open_np(int file_desc, unsigned flags, trace_id_t *trid);

/* Facts of an opened log. */
struct posix_trace_loginfo_np {
	int complete;         /* not 0: the writer completed the log */
	int log_full_policy;  /* POSIX_TRACE_LOOP and so on */
	unsigned format_major;
	unsigned format_minor;
	pid_t pid;            /* the traced process */
	char host[64];        /* the machine of the traced process */
	char clock[32];       /* "tsc", "cntvct", "monotonic"; in a composed log any name */
	uint64_t file_bytes;  /* size of the file */
	uint64_t event_bytes; /* size of the events before packing; log-max-size limits this size */
	uint64_t blocks;      /* number of blocks of events */
	int64_t first_ns;     /* time of the oldest block's first event, 0 = no events */
	int64_t last_ns;      /* time of the last event */
	uint64_t clock_hz;    /* nominal frequency of the clock, 0 = not known */
	/* Two random numbers identify the log. posix_trace_clear() changes log_id. */
	unsigned char uuid[16];
	uint64_t log_id;
	unsigned char boot_id[16]; /* identifies the start of the machine; zeros = not known */
	int64_t begin_ns;     /* when the log was begun */
	int64_t resolution_ns; /* of the clock */
};

/* Stores the facts of an opened log. EINVAL. */
int posix_trace_get_loginfo_sized_np(trace_id_t trid, struct posix_trace_loginfo_np *info,
				     size_t size);
static __inline int posix_trace_get_loginfo_np(trace_id_t trid,
					       struct posix_trace_loginfo_np *info)
{
	return posix_trace_get_loginfo_sized_np(trid, info, sizeof(*info));
}

#ifdef __cplusplus
}
#endif

#endif
