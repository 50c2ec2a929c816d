/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More events than any test's stream has room for. If a stream is not full after this number, the
 * test fails and does not hang. */
#define FILL_BOUND 4000000

void wish_attr(trace_attr_t *attr, const struct wish *wish)
{
	OK(posix_trace_attr_init(attr));
	if (wish->policy)
		OK(posix_trace_attr_setstreamfullpolicy(attr, wish->policy));
	if (wish->size)
		OK(posix_trace_attr_setstreamsize(attr, wish->size));
	if (wish->max_data)
		OK(posix_trace_attr_setmaxdatasize(
			attr, wish->max_data == NO_DATA ? 0 : wish->max_data));
	if (wish->inheritance)
		OK(posix_trace_attr_setinherited(attr, wish->inheritance));
	if (wish->name)
		OK(posix_trace_attr_setname(attr, wish->name));
}

trace_id_t stream_attach(pid_t pid, const struct wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	wish_attr(&attr, wish);
	OK(posix_trace_create(pid, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	return trid;
}

trace_id_t stream_attach_started(pid_t pid, const struct wish *wish)
{
	trace_id_t trid = stream_attach(pid, wish);

	start(trid);
	return trid;
}

trace_id_t stream_create(const struct wish *wish)
{
	return stream_attach(0, wish);
}

trace_id_t stream_create_started(const struct wish *wish)
{
	return stream_attach_started(0, wish);
}

void start(trace_id_t trid)
{
	OK(posix_trace_start(trid));
}

void stop(trace_id_t trid)
{
	OK(posix_trace_stop(trid));
}

void shut(trace_id_t trid)
{
	OK(posix_trace_shutdown(trid));
}

trace_event_id_t type_of(const char *name)
{
	trace_event_id_t id;

	OK(posix_trace_eventid_open(name, &id));
	return id;
}

void trace_number(trace_event_id_t id, int number)
{
	posix_trace_event(id, &number, sizeof(number));
}

struct posix_trace_status_info status_of(trace_id_t trid)
{
	struct posix_trace_status_info status;

	memset(&status, 0xa5, sizeof(status));
	OK(posix_trace_get_status(trid, &status));
	return status;
}

static int is_full(const struct posix_trace_status_info *status)
{
	return status->posix_stream_full_status == POSIX_TRACE_FULL;
}

static int is_overrun(const struct posix_trace_status_info *status)
{
	return status->posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
}

static int trace_until(int (*reached)(const struct posix_trace_status_info *status),
		       trace_id_t trid, trace_event_id_t id, size_t len, int first)
{
	unsigned char *data = calloc(1, len);
	struct posix_trace_status_info status;
	int calls;

	ck_assert_ptr_nonnull(data);
	ck_assert_uint_ge(len, sizeof(int));
	for (calls = 0; calls < FILL_BOUND; calls++) {
		if (posix_trace_get_status(trid, &status))
			break;
		if (reached(&status)) {
			free(data);
			return calls;
		}
		memcpy(data, &(int){ first + calls }, sizeof(int));
		posix_trace_event(id, data, len);
	}
	ck_abort_msg("the stream did not run full by %d events", calls);
	return -1;
}

int fill(trace_id_t trid, trace_event_id_t id, size_t len, int first)
{
	return trace_until(is_full, trid, id, len, first);
}

int overrun(trace_id_t trid, trace_event_id_t id, size_t len, int first)
{
	return trace_until(is_overrun, trid, id, len, first);
}

size_t stream_size(trace_id_t trid)
{
	trace_attr_t attr;
	size_t size;

	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getstreamsize(&attr, &size));
	return size;
}

size_t user_event_size(const trace_attr_t *attr, size_t len)
{
	size_t size;

	OK(posix_trace_attr_getmaxusereventsize(attr, len, &size));
	return size;
}

size_t system_event_size(const trace_attr_t *attr)
{
	size_t size;

	OK(posix_trace_attr_getmaxsystemeventsize(attr, &size));
	return size;
}

int number_of(const struct seen *seen)
{
	int number;

	if (seen->len < sizeof(number))
		ck_abort_msg("event type %u has %zu bytes of data, no number",
			     seen->info.posix_event_id, seen->len);
	memcpy(&number, seen->data, sizeof(number));
	return number;
}

int int_of(const struct seen *seen)
{
	ck_assert_uint_eq(seen->len, sizeof(int));
	return number_of(seen);
}

int64_t nanoseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return nanoseconds(&now);
}

void assert_empty(trace_id_t trid)
{
	struct seen seen;

	if (read_one(trid, &seen)) {
		unsigned int id = seen.info.posix_event_id;

		free(seen.data);
		ck_abort_msg("the stream is not empty: event type %u", id);
	}
}
