/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HDR-02 to HDR-05, HDR-08, HDR-10 to HDR-12, checked by the compiler in every standard of C and
 * C++; ORDER selects the position of <unistd.h>, HDR-09.
 */
#if ORDER == 1
# include <unistd.h>
#endif
#include <trace.h>
#if ORDER == 2
# include <unistd.h>
#endif

/* HDR-09 */
#if _POSIX_TRACE != 200809L || _POSIX_TRACE_EVENT_FILTER != 200809L || \
	_POSIX_TRACE_LOG != 200809L || _POSIX_TRACE_INHERIT != 200809L
# error "an option is not 200809L"
#endif

/* HDR-10, HDR-11 */
#if _POSIX_TRACE_EVENT_NAME_MAX != 30 || _POSIX_TRACE_NAME_MAX != 8 || \
	_POSIX_TRACE_SYS_MAX != 8 || _POSIX_TRACE_USER_EVENT_MAX != 32
# error "a floor has another value"
#endif
extern char event_name[TRACE_EVENT_NAME_MAX >= 30 ? TRACE_EVENT_NAME_MAX : -1];
extern char name[TRACE_NAME_MAX >= 8 ? TRACE_NAME_MAX : -1];
extern char streams[TRACE_SYS_MAX >= 8 ? TRACE_SYS_MAX : -1];
extern char types[TRACE_USER_EVENT_MAX >= 32 ? TRACE_USER_EVENT_MAX : -1];

/* HDR-03: a macro of every constant. */
#if !defined POSIX_TRACE_ERROR || !defined POSIX_TRACE_START || !defined POSIX_TRACE_STOP || \
	!defined POSIX_TRACE_FILTER || !defined POSIX_TRACE_OVERFLOW || \
	!defined POSIX_TRACE_RESUME || !defined POSIX_TRACE_FLUSH_START || \
	!defined POSIX_TRACE_FLUSH_STOP || !defined POSIX_TRACE_UNNAMED_USEREVENT || \
	!defined POSIX_TRACE_UNNAMED_USER_EVENT
# error "an event type is missing"
#endif
#if !defined POSIX_TRACE_SUSPENDED || !defined POSIX_TRACE_RUNNING || \
	!defined POSIX_TRACE_NOT_FULL || !defined POSIX_TRACE_FULL || \
	!defined POSIX_TRACE_NO_OVERRUN || !defined POSIX_TRACE_OVERRUN || \
	!defined POSIX_TRACE_NOT_FLUSHING || !defined POSIX_TRACE_FLUSHING || \
	!defined POSIX_TRACE_NOT_TRUNCATED || !defined POSIX_TRACE_TRUNCATED_RECORD || \
	!defined POSIX_TRACE_TRUNCATED_READ
# error "a status is missing"
#endif
#if !defined POSIX_TRACE_LOOP || !defined POSIX_TRACE_UNTIL_FULL || \
	!defined POSIX_TRACE_FLUSH || !defined POSIX_TRACE_APPEND || \
	!defined POSIX_TRACE_CLOSE_FOR_CHILD || !defined POSIX_TRACE_INHERITED
# error "a policy is missing"
#endif
#if !defined POSIX_TRACE_WOPID_EVENTS || !defined POSIX_TRACE_SYSTEM_EVENTS || \
	!defined POSIX_TRACE_ALL_EVENTS || !defined POSIX_TRACE_SET_EVENTSET || \
	!defined POSIX_TRACE_ADD_EVENTSET || !defined POSIX_TRACE_SUB_EVENTSET
# error "an operand of the event sets is missing"
#endif

/* HDR-05, HDR-12 */
#if POSIX_TRACE_NO_OVERRUN != 0
# error "POSIX_TRACE_NO_OVERRUN is not 0"
#endif
#if POSIX_TRACE_UNNAMED_USEREVENT != POSIX_TRACE_UNNAMED_USER_EVENT
# error "two unnamed user events"
#endif

/*
 * HDR-03, HDR-04: a case label must be an integer constant expression, and no two of one switch
 * may be equal.
 */
int distinct(int value);
int distinct(int value)
{
	switch (value) {
	case POSIX_TRACE_ERROR:
	case POSIX_TRACE_START:
	case POSIX_TRACE_STOP:
	case POSIX_TRACE_FILTER:
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_RESUME:
	case POSIX_TRACE_FLUSH_START:
	case POSIX_TRACE_FLUSH_STOP:
	case POSIX_TRACE_UNNAMED_USEREVENT:
		return 1;
	}
	switch (value) {
	case POSIX_TRACE_SUSPENDED:
	case POSIX_TRACE_RUNNING:
		return 2;
	}
	switch (value) {
	case POSIX_TRACE_NOT_FULL:
	case POSIX_TRACE_FULL:
		return 3;
	}
	switch (value) {
	case POSIX_TRACE_NO_OVERRUN:
	case POSIX_TRACE_OVERRUN:
		return 4;
	}
	switch (value) {
	case POSIX_TRACE_NOT_FLUSHING:
	case POSIX_TRACE_FLUSHING:
		return 5;
	}
	switch (value) {
	case POSIX_TRACE_NOT_TRUNCATED:
	case POSIX_TRACE_TRUNCATED_RECORD:
	case POSIX_TRACE_TRUNCATED_READ:
		return 6;
	}
	switch (value) {
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
	case POSIX_TRACE_FLUSH:
	case POSIX_TRACE_APPEND:
		return 7;
	}
	switch (value) {
	case POSIX_TRACE_CLOSE_FOR_CHILD:
	case POSIX_TRACE_INHERITED:
		return 8;
	}
	switch (value) {
	case POSIX_TRACE_WOPID_EVENTS:
	case POSIX_TRACE_SYSTEM_EVENTS:
	case POSIX_TRACE_ALL_EVENTS:
		return 9;
	}
	switch (value) {
	case POSIX_TRACE_SET_EVENTSET:
	case POSIX_TRACE_ADD_EVENTSET:
	case POSIX_TRACE_SUB_EVENTSET:
		return 10;
	}
	return 0;
}

/* HDR-02: a pointer to each member, of exactly its type. */
void members(struct posix_trace_event_info *event, struct posix_trace_status_info *status);
void members(struct posix_trace_event_info *event, struct posix_trace_status_info *status)
{
	trace_event_id_t *event_id = &event->posix_event_id;
	pid_t *pid = &event->posix_pid;
	void **address = &event->posix_prog_address;
	pthread_t *thread = &event->posix_thread_id;
	struct timespec *timestamp = &event->posix_timestamp;
	int *truncation = &event->posix_truncation_status;
	int *stream_status = &status->posix_stream_status;
	int *full = &status->posix_stream_full_status;
	int *overrun = &status->posix_stream_overrun_status;
	int *flush = &status->posix_stream_flush_status;
	int *error = &status->posix_stream_flush_error;
	int *log_overrun = &status->posix_log_overrun_status;
	int *log_full = &status->posix_log_full_status;

	(void)event_id;
	(void)pid;
	(void)address;
	(void)thread;
	(void)timestamp;
	(void)truncation;
	(void)stream_status;
	(void)full;
	(void)overrun;
	(void)flush;
	(void)error;
	(void)log_overrun;
	(void)log_full;
}

/* HDR-08 */
trace_id_t same_stream(trace_id_t trid);
trace_id_t same_stream(trace_id_t trid)
{
	trace_id_t copy;

	copy = trid;
	return copy;
}

trace_event_id_t same_event(trace_event_id_t event_id);
trace_event_id_t same_event(trace_event_id_t event_id)
{
	trace_event_id_t copy;

	copy = event_id;
	return copy;
}

trace_event_set_t same_set(trace_event_set_t set);
trace_event_set_t same_set(trace_event_set_t set)
{
	trace_event_set_t copy;

	copy = set;
	return copy;
}
