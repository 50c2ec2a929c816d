/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace.h - the Tracing option group of POSIX.1-2017 (Trace, Trace Event Filter, Trace Log,
 * Trace Inherit) for Linux, by libposixtrace.
 *
 * Every function that returns int returns 0 or an error number, and does not change errno. The only
 * exception is posix_trace_eventid_equal(), which returns a truth value. All functions are
 * thread-safe; posix_trace_event() is also async-signal-safe. Each function has a page in section 3
 * of the manual. posixtrace(7) lists the choices of this implementation where the standard allows
 * several. Extensions are in <trace_np.h>.
 */
#ifndef _POSIX_TRACE_H
#define _POSIX_TRACE_H

/*
 * A program of C++ may request warnings about casts in the style of C, and the macros have such
 * casts. The pragma makes the compiler treat the header as one of the system, whatever folder it is
 * in. All public headers have this pragma.
 */
#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <sys/types.h>
#include <pthread.h>
#include <time.h>

/*
 * <unistd.h> of glibc includes <bits/posix_opt.h>, which defines these options as -1 (not
 * supported). <trace.h> includes <bits/posix_opt.h> first and then replaces its values. A later
 * include of <unistd.h> does not change them again.
 */
#if defined __has_include
# if __has_include(<bits/posix_opt.h>)
#  include <bits/posix_opt.h>
# endif
#endif
#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE              200809L
#define _POSIX_TRACE_EVENT_FILTER 200809L
#define _POSIX_TRACE_INHERIT      200809L
#define _POSIX_TRACE_LOG          200809L

/* Limits, without the terminating NUL. The standard keeps them in <limits.h>. */
#ifndef _POSIX_TRACE_EVENT_NAME_MAX
# define _POSIX_TRACE_EVENT_NAME_MAX 30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
# define _POSIX_TRACE_NAME_MAX 8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
# define _POSIX_TRACE_SYS_MAX 8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
# define _POSIX_TRACE_USER_EVENT_MAX 32
#endif
#ifndef TRACE_EVENT_NAME_MAX
# define TRACE_EVENT_NAME_MAX 63
#endif
#ifndef TRACE_NAME_MAX
# define TRACE_NAME_MAX 63
#endif
#ifndef TRACE_SYS_MAX
# define TRACE_SYS_MAX 256
#endif
#ifndef TRACE_USER_EVENT_MAX
# define TRACE_USER_EVENT_MAX 512
#endif

/* System event types. */
#define POSIX_TRACE_ERROR       1 /* data: int, the error number */
#define POSIX_TRACE_START       2 /* data: trace_event_set_t, the filter in force */
#define POSIX_TRACE_STOP        3 /* data: int, 0: a call stopped the stream, else: it was full */
#define POSIX_TRACE_FILTER      4 /* data: two trace_event_set_t, old and new filter */
#define POSIX_TRACE_OVERFLOW    5
#define POSIX_TRACE_RESUME      6
#define POSIX_TRACE_FLUSH_START 7
#define POSIX_TRACE_FLUSH_STOP  8

/* The user event type that needs no name; the standard spells it in two ways. */
#define POSIX_TRACE_UNNAMED_USEREVENT  63
#define POSIX_TRACE_UNNAMED_USER_EVENT 63

/* Values of the members of struct posix_trace_status_info. */
#define POSIX_TRACE_SUSPENDED    0
#define POSIX_TRACE_RUNNING      1
#define POSIX_TRACE_NOT_FULL     0
#define POSIX_TRACE_FULL         1
#define POSIX_TRACE_NO_OVERRUN   0
#define POSIX_TRACE_OVERRUN      1
#define POSIX_TRACE_NOT_FLUSHING 0
#define POSIX_TRACE_FLUSHING     1

/* Values of posix_truncation_status. */
#define POSIX_TRACE_NOT_TRUNCATED    0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ   2

/* Full policies: of a stream LOOP, UNTIL_FULL, FLUSH; of a log LOOP, UNTIL_FULL, APPEND. */
#define POSIX_TRACE_LOOP       0x11
#define POSIX_TRACE_UNTIL_FULL 0x12
#define POSIX_TRACE_FLUSH      0x13
#define POSIX_TRACE_APPEND     0x14

/* Values of the attribute inheritance. */
#define POSIX_TRACE_CLOSE_FOR_CHILD 0x21
#define POSIX_TRACE_INHERITED       0x22

/* Arguments of posix_trace_eventset_fill(). */
#define POSIX_TRACE_WOPID_EVENTS  0x31
#define POSIX_TRACE_SYSTEM_EVENTS 0x32
#define POSIX_TRACE_ALL_EVENTS    0x33

/* Arguments of posix_trace_set_filter(). */
#define POSIX_TRACE_SET_EVENTSET 0x41
#define POSIX_TRACE_ADD_EVENTSET 0x42
#define POSIX_TRACE_SUB_EVENTSET 0x43

/* All four types are plain data: a program may assign them and pass them by value. */
typedef unsigned long trace_id_t;      /* 0 never names a stream */
typedef unsigned int trace_event_id_t; /* 0 never names an event type */

typedef struct {
	unsigned long __magic;
	unsigned long __bits[16];
} trace_event_set_t;

typedef struct {
	unsigned long __word[48];
} trace_attr_t;

struct posix_trace_event_info {
	trace_event_id_t posix_event_id;
	pid_t posix_pid;               /* generating process, 0 = none */
	void *posix_prog_address;      /* where the trace point was called */
	pthread_t posix_thread_id;     /* generating thread, 0 = none */
	struct timespec posix_timestamp;
	int posix_truncation_status;
};

struct posix_trace_status_info {
	int posix_stream_status;
	int posix_stream_full_status;
	int posix_stream_overrun_status;
	int posix_stream_flush_status;
	int posix_stream_flush_error;
	int posix_log_overrun_status;
	int posix_log_full_status;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Attributes object: posix_trace_attr_init(3), posix_trace_attr_getclockres(3),
 * posix_trace_attr_getinherited(3), posix_trace_attr_getlogsize(3). */
int posix_trace_attr_destroy(trace_attr_t *);
int posix_trace_attr_init(trace_attr_t *);
int posix_trace_attr_getclockres(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getcreatetime(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getgenversion(const trace_attr_t *, char *);
int posix_trace_attr_getname(const trace_attr_t *, char *);
int posix_trace_attr_setname(trace_attr_t *, const char *);
int posix_trace_attr_getinherited(const trace_attr_t *__restrict, int *__restrict);
int posix_trace_attr_setinherited(trace_attr_t *, int);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *__restrict, int *__restrict);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *, int);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *__restrict, int *__restrict);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *, int);
int posix_trace_attr_getlogsize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_setlogsize(trace_attr_t *, size_t);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_setmaxdatasize(trace_attr_t *, size_t);
int posix_trace_attr_getstreamsize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_setstreamsize(trace_attr_t *, size_t);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *__restrict, size_t *__restrict);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *__restrict, size_t,
					 size_t *__restrict);

/* Streams: posix_trace_create(3). */
int posix_trace_create(pid_t, const trace_attr_t *__restrict, trace_id_t *__restrict);
int posix_trace_create_withlog(pid_t, const trace_attr_t *__restrict, int,
			       trace_id_t *__restrict);
int posix_trace_flush(trace_id_t);
int posix_trace_shutdown(trace_id_t);

/* Control: posix_trace_clear(3), posix_trace_start(3), posix_trace_get_attr(3),
 * posix_trace_get_filter(3). */
int posix_trace_clear(trace_id_t);
int posix_trace_start(trace_id_t);
int posix_trace_stop(trace_id_t);
int posix_trace_get_attr(trace_id_t, trace_attr_t *);
int posix_trace_get_status(trace_id_t, struct posix_trace_status_info *);
int posix_trace_get_filter(trace_id_t, trace_event_set_t *);
int posix_trace_set_filter(trace_id_t, const trace_event_set_t *, int);

/* Trace points: posix_trace_event(3). */
void posix_trace_event(trace_event_id_t, const void *__restrict, size_t);
#ifdef __GNUC__
/* The compiler may replace a call by a jump if the call is the last statement of a function. The
 * event's address would then be in the caller of that function. The empty statement behind the call
 * prevents this. */
# define posix_trace_event(event_id, data, len) \
	__extension__({ \
		(posix_trace_event)((event_id), (data), (len)); \
		__asm__ __volatile__(""); \
	})
#endif

/* Event types: posix_trace_eventid_open(3), posix_trace_eventid_equal(3),
 * posix_trace_eventtypelist_getnext_id(3). */
int posix_trace_eventid_open(const char *__restrict, trace_event_id_t *__restrict);
int posix_trace_trid_eventid_open(trace_id_t, const char *__restrict,
				  trace_event_id_t *__restrict);
int posix_trace_eventid_equal(trace_id_t, trace_event_id_t, trace_event_id_t);
int posix_trace_eventid_get_name(trace_id_t, trace_event_id_t, char *);
int posix_trace_eventtypelist_getnext_id(trace_id_t, trace_event_id_t *__restrict,
					 int *__restrict);
int posix_trace_eventtypelist_rewind(trace_id_t);

/* Event sets: posix_trace_eventset_add(3). */
int posix_trace_eventset_add(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_del(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_empty(trace_event_set_t *);
int posix_trace_eventset_fill(trace_event_set_t *, int);
int posix_trace_eventset_ismember(trace_event_id_t, const trace_event_set_t *__restrict,
				  int *__restrict);

/* Reading: posix_trace_getnext_event(3). */
int posix_trace_getnext_event(trace_id_t, struct posix_trace_event_info *__restrict,
			      void *__restrict, size_t, size_t *__restrict, int *__restrict);
int posix_trace_timedgetnext_event(trace_id_t, struct posix_trace_event_info *__restrict,
				   void *__restrict, size_t, size_t *__restrict,
				   int *__restrict, const struct timespec *__restrict);
int posix_trace_trygetnext_event(trace_id_t, struct posix_trace_event_info *__restrict,
				 void *__restrict, size_t, size_t *__restrict,
				 int *__restrict);

/* Logs: posix_trace_close(3). */
int posix_trace_open(int, trace_id_t *);
int posix_trace_rewind(trace_id_t);
int posix_trace_close(trace_id_t);

#ifdef __cplusplus
}
#endif

#endif
