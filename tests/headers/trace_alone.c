/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* HDR-01, HDR-06: <trace.h> needs no other header; also as C++. */
#include <trace.h>

extern trace_attr_t *an_attr;
extern trace_id_t *a_trid;
extern trace_event_id_t *an_event_id;
extern trace_event_set_t *a_set;
extern size_t *a_size;
extern pid_t *a_pid;
extern pthread_t *a_thread;
extern struct timespec *a_time;
extern struct posix_trace_event_info *an_event_info;
extern struct posix_trace_status_info *a_status_info;
