/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_np.h - what libposixtrace offers beyond POSIX. Every name ends in _np or _NP.
 *
 * Conventions are those of <trace.h>: 0 or an error number, errno untouched, thread-safe.
 * Sizes are bytes, counts are events, times are CLOCK_REALTIME in nanoseconds unless a
 * comment says otherwise. The manual page is trace_np(3).
 */
#ifndef _TRACE_NP_H
#define _TRACE_NP_H

#include <stdint.h>
#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As sysconf(), but with our answers for _SC_TRACE, _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT,
 * _SC_TRACE_LOG, _SC_TRACE_EVENT_NAME_MAX, _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX and
 * _SC_TRACE_USER_EVENT_MAX, for which a C library can only say "no". For any other name it is
 * sysconf(), errno included.
 */
long posix_trace_sysconf_np(int name);

/*
 * A trace point for code that runs billions of times and is seldom traced: posix_trace_event(),
 * reached only while this process is traced. Otherwise it costs a load and a branch, no call, and
 * the arguments are not evaluated. Async-signal-safe as posix_trace_event() is.
 */
#define posix_trace_point_np(event_id, data, len) \
	((void)(*posix_trace_active_np ? (posix_trace_event((event_id), (data), (len)), 0) : 0))

/*
 * posix_trace_event() on behalf of other code: address becomes the event's posix_prog_address. For
 * wrappers, which trace their callers, and for interpreters. Async-signal-safe as that is.
 */
void posix_trace_event_at_np(trace_event_id_t event_id, const void *data, size_t len,
			     const void *address);

/* Not 0 while some stream is attached to this process, or to one from which it inherits streams. The
 * pointer never changes. */
extern const volatile unsigned char *const posix_trace_active_np;

/*
 * The loss ledger. Events are counted exactly and every one is in exactly one column:
 *
 *	called = reported + unread + lost[0] + ... + lost[POSIX_TRACE_LOST_CAUSES_NP - 1]
 *
 * called    events generated while the stream was running, or suspended because it was full,
 *           and not filtered out; system events of the stream included
 * reported  handed to a reader, or, for a stream with log, written to the log
 * unread    still in the stream
 */
#define POSIX_TRACE_LOST_OVERWRITTEN_NP     0 /* LOOP stream: overwritten before being read */
#define POSIX_TRACE_LOST_STREAM_FULL_NP     1 /* UNTIL_FULL, FLUSH: generated while full */
#define POSIX_TRACE_LOST_LOG_FULL_NP        2 /* UNTIL_FULL log: discarded at flush */
#define POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP 3 /* LOOP log: overwritten in the log */
#define POSIX_TRACE_LOST_FLUSH_ERROR_NP     4 /* could not be written to the log */
#define POSIX_TRACE_LOST_NO_MEMORY_NP       5 /* no memory for a thread's first event */
#define POSIX_TRACE_LOST_NO_SLOT_NP         6 /* more threads than the stream can tell apart */
#define POSIX_TRACE_LOST_NESTING_NP         7 /* signal handlers nested too deep in trace points */
#define POSIX_TRACE_LOST_CLEARED_NP         8 /* removed by posix_trace_clear() */
#define POSIX_TRACE_LOST_DAMAGED_NP         9 /* unreadable in memory or in a damaged log */
#define POSIX_TRACE_LOST_CAUSES_NP          10

struct posix_trace_ledger_np {
	uint64_t called;
	uint64_t reported;
	uint64_t unread;
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];
};

struct posix_trace_thread_np {
	pid_t pid;            /* 0: events of no thread, or of threads no longer told apart */
	pid_t tid;            /* Linux thread id */
	pthread_t thread;
};

/*
 * The ledger of an active stream or of an opened log: its total, one event type's line, one
 * thread's line. For a log, "reported" are the events that the log holds; the account is the one
 * its writer closed. Threads are numbered from 0; past the last one *unavailable is set to
 * non-zero and 0 is returned, as posix_trace_eventtypelist_getnext_id() does.
 * EINVAL: no such stream, a null pointer, an event type without a name.
 */
int posix_trace_get_ledger_np(trace_id_t trid, struct posix_trace_ledger_np *ledger);
int posix_trace_get_ledger_type_np(trace_id_t trid, trace_event_id_t event_id,
				   struct posix_trace_ledger_np *ledger);
int posix_trace_get_ledger_thread_np(trace_id_t trid, size_t index,
				     struct posix_trace_thread_np *thread,
				     struct posix_trace_ledger_np *ledger, int *unavailable);

/* The English name of a loss cause, such as "stream full"; NULL past the last one. */
const char *posix_trace_lost_name_np(int cause);

/*
 * One event of an opened log, with what struct posix_trace_event_info has no room for.
 * data points into the library's buffer and is valid until the next call on that identifier.
 */
#define POSIX_TRACE_EVENT_LATE_NP 1u /* its writer was held up; it stands after younger events */
#define POSIX_TRACE_EVENT_GAP_NP  2u /* a damaged part of the log was skipped before it */

struct posix_trace_event_np {
	struct posix_trace_event_info info;
	pid_t tid;            /* Linux thread id, 0 = none */
	unsigned flags;       /* POSIX_TRACE_EVENT_*_NP */
	int64_t time_ns;      /* info.posix_timestamp as one number */
	const void *data;
	size_t data_len;
};

/*
 * The next event of an opened log, without copying its data; the same position as
 * posix_trace_getnext_event(). At the end: 0 and *unavailable non-zero.
 * EINVAL: not an opened log, or a null pointer.
 */
int posix_trace_getnext_np(trace_id_t trid, struct posix_trace_event_np *event,
			   int *unavailable);

/*
 * Moves the position of an opened log to its first event not older than *when, by the log's
 * index. A time past the last event moves to the end. EINVAL: not an opened log, bad time.
 */
int posix_trace_seek_np(trace_id_t trid, const struct timespec *when);

/*
 * Opens a log as posix_trace_open() does, but reads on after damaged parts and accepts a log
 * that its writer never completed, or is still writing, or whose header is damaged: every whole
 * block is delivered. Of a damaged header, attributes are told as far as they can be true.
 * flags: POSIX_TRACE_OPEN_SALVAGE_NP, or 0 for posix_trace_open().
 */
#define POSIX_TRACE_OPEN_SALVAGE_NP 1u
int posix_trace_open_np(int file_desc, unsigned flags, trace_id_t *trid);

/* What an opened log says of itself. */
struct posix_trace_loginfo_np {
	int complete;           /* its writer closed it */
	int log_full_policy;
	unsigned format_major;
	unsigned format_minor;
	pid_t pid;              /* the traced process */
	char host[64];
	char clock[32];         /* what stamped the events: "tsc" or "monotonic" */
	uint64_t file_bytes;
	uint64_t event_bytes;   /* what log-max-size counts */
	uint64_t blocks;
	int64_t first_ns;       /* time of the oldest block's first event, 0 = no events */
	int64_t last_ns;
	uint64_t clock_hz;      /* nominal frequency of the clock, 0 = not known */
};
int posix_trace_get_loginfo_np(trace_id_t trid, struct posix_trace_loginfo_np *info);

/*
 * Proves a log: every checksum, every length, the counts of every block against its events, and
 * the ledger's equation in total, by type and by thread. Each fault is handed to report (may be
 * NULL) as it is found, with the file offset where it stands and a sentence that says what is
 * wrong. Returns 0 when the whole file was read, whatever was found; EINVAL when it is no log.
 */
struct posix_trace_fault_np {
	uint64_t offset;        /* in the file */
	uint64_t bytes;         /* how many are affected, 0 = not known */
	const char *reason;     /* English; valid during the call */
};
struct posix_trace_check_np {
	int complete;
	uint64_t faults;
	uint64_t blocks;
	uint64_t events;        /* found in whole blocks */
	uint64_t bytes;         /* of the file */
	struct posix_trace_ledger_np ledger;
};
int posix_trace_check_np(int file_desc,
			 void (*report)(void *arg, const struct posix_trace_fault_np *fault),
			 void *arg, struct posix_trace_check_np *result);

/*
 * Active streams, seen without taking part in them: nobody is stopped, and nothing is read away.
 * Counts grow while one looks: taken together they are exact only while nobody traces.
 */
#define POSIX_TRACE_EVERY_PROCESS_NP ((pid_t)-1)
#define POSIX_TRACE_CREATOR_GONE_NP  ((pid_t)-1)

struct posix_trace_stream_np {
	pid_t pid;              /* the process that is traced */
	int ended;              /* it has ended, or cannot be seen; who inherited the stream goes on */
	int waiting;            /* it does not use this library yet */
	pid_t creator;          /* 0: not in this name space; POSIX_TRACE_CREATOR_GONE_NP */
	const pid_t *member;    /* who inherited the stream, as far as the caller may see them */
	size_t members;

	char name[TRACE_NAME_MAX + 1];
	int64_t creation_ns;
	int inheritance;
	int stream_full_policy;
	int log_full_policy;    /* 0: it has no log */
	size_t stream_size;
	size_t max_data_size;

	int stream_status;      /* as in struct posix_trace_status_info */
	int stream_full_status;
	int stream_overrun_status;
	unsigned chunks;        /* equal parts of its memory; it is full when all are taken */
	unsigned chunks_taken;
	uint64_t recorded;      /* events that were written into it, read or not */
	/* What could not be, or was overwritten there; what befell later is known to the creator alone. */
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];

	trace_event_set_t filter;
	const char *const *event_name; /* by event type, null without one */
	unsigned event_names;   /* entries of it */
};

/*
 * Hands each stream of process pid to visit, those that it inherited too; 0 is the calling process,
 * POSIX_TRACE_EVERY_PROCESS_NP all that the caller may look at. *stream and what it points to are
 * valid during the call. ESRCH: no such process. EPERM: its files may not be looked at.
 * EINVAL: visit is a null pointer. ENOMEM, EMFILE, ENFILE.
 */
int posix_trace_look_np(pid_t pid,
			void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
			void *arg);

/*
 * Composing a log: of events that this library did not trace, those of another tracer or of another
 * log. What is written is a log like any other, complete and with its ledger.
 *
 * A composer belongs to one thread at a time. Events stand in the log in the order in which they are
 * handed over; their times may fall, and may be any. Calls write to the file: they are not
 * async-signal-safe, and take as long as the file does.
 */
struct posix_trace_composer_np;

struct posix_trace_origin_np {
	pid_t pid;              /* the traced process, 0 = none */
	char host[64];          /* its machine; empty: this one */
	char clock[32];         /* what stamped the events, any word; empty: "unknown" */
	uint64_t clock_hz;      /* its nominal frequency, 0 = not known */
	int64_t creation_ns;    /* of the stream, unless the attributes were got from a stream or log */
	int64_t resolution_ns;  /* of the clock; 0: that of the attributes */
	char generation[TRACE_NAME_MAX + 1]; /* what made the trace; empty: that of the attributes */
};

/*
 * Begins a log in file_desc, as posix_trace_create_withlog() would; the descriptor stays the caller's.
 * attr has name, sizes and policies; NULL: the defaults, and a log that grows as it must (APPEND).
 * Of an APPEND log the maximum data size bounds an event's data; of the other two, the maximum log
 * size bounds the file.
 * EBADF: not writable. EINVAL: a null pointer, bad attributes, or a file that the log's full policy
 * cannot work with. ENOMEM, and what writing to the file says.
 */
int posix_trace_compose_np(int file_desc, const trace_attr_t *attr,
			   const struct posix_trace_origin_np *origin,
			   struct posix_trace_composer_np **composer);

/*
 * Names an event type. With *id 0 the type of that name is found, or made with the next number from
 * 64 on, and *id set; else the name is for that number, 1 to 1023. The nine names that the standard
 * has are there from the beginning, and bound to their numbers.
 * ENAMETOOLONG: more than TRACE_EVENT_NAME_MAX bytes. ENOSPC: *id is 0, and a process can have
 * TRACE_USER_EVENT_MAX names, but has these. EEXIST: the number has another name. EINVAL.
 */
int posix_trace_compose_name_np(struct posix_trace_composer_np *composer, const char *name,
				trace_event_id_t *id);

/*
 * Appends an event: of info, all but posix_timestamp, for which there is time_ns; of flags
 * POSIX_TRACE_EVENT_LATE_NP.
 * EINVAL: an event type without a name, a null pointer, no truncation status. EMSGSIZE: more data than
 * the maximum data size. ENOSPC: an UNTIL_FULL log is full. Or what writing says; the event is then
 * not in the log, and may be handed over again.
 */
int posix_trace_compose_event_np(struct posix_trace_composer_np *composer,
				 const struct posix_trace_event_np *event);

/*
 * Counts events that are not there, in the ledger: why, how many, and of what. An event type of 0 is
 * counted as POSIX_TRACE_UNNAMED_USER_EVENT, a thread of NULL as no thread. EINVAL.
 */
int posix_trace_compose_lost_np(struct posix_trace_composer_np *composer, int cause, uint64_t count,
				trace_event_id_t event_id,
				const struct posix_trace_thread_np *thread);

/*
 * Completes the log and frees the composer, whatever it returns. The log tells status as its stream's
 * last; NULL: suspended, and with an overrun if any event was lost.
 */
int posix_trace_compose_finish_np(struct posix_trace_composer_np *composer,
				  const struct posix_trace_status_info *status);

/* Frees the composer; the log is left as if its writer had been killed. */
void posix_trace_compose_drop_np(struct posix_trace_composer_np *composer);

#ifdef __cplusplus
}
#endif

#endif
