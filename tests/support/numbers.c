/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/numbers.h"

#include <string.h>

void numbers_write(trace_event_id_t id, uint64_t thread, uint64_t first, uint64_t last)
{
	struct number data = { .thread = thread };

	for (data.number = first; data.number <= last; data.number++)
		posix_trace_event(id, &data, sizeof(data));
}

static void take(struct numbered *numbered, const struct posix_trace_event_np *event)
{
	struct number data;

	if (event->data_len != sizeof(data))
		return;
	memcpy(&data, event->data, sizeof(data));
	ck_assert_uint_lt(data.thread, NUMBERS_THREADS);
	if (numbered->last[data.thread] >= 0)
		ck_assert_int_eq((int64_t)data.number, numbered->last[data.thread] + 1);
	numbered->last[data.thread] = (int64_t)data.number;
	numbered->events++;
}

struct numbered numbers_read(int fd)
{
	struct numbered numbered = { .events = 0 };
	struct posix_trace_event_np event;
	trace_id_t trid;
	int unavailable;

	memset(numbered.last, -1, sizeof(numbered.last));
	assert_log_whole(fd);
	trid = log_open(fd);
	for (;;) {
		OK(posix_trace_getnext_np(trid, &event, &unavailable));
		if (unavailable)
			break;
		if (event.info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT)
			take(&numbered, &event);
	}
	OK(posix_trace_get_ledger_np(trid, &numbered.ledger));
	log_close(trid);
	return numbered;
}

/* Returns the last number of the thread tid. The thread is found by one of its events. */
static int64_t last_of(trace_id_t trid, const struct numbered *numbered, pid_t tid)
{
	struct posix_trace_event_np event;
	int unavailable;

	OK(posix_trace_rewind(trid));
	for (;;) {
		struct number data;

		OK(posix_trace_getnext_np(trid, &event, &unavailable));
		if (unavailable)
			return -1;
		if (event.tid != tid || event.data_len != sizeof(data))
			continue;
		memcpy(&data, event.data, sizeof(data));
		return numbered->last[data.thread];
	}
}

void numbers_account(int fd, const struct numbered *numbered)
{
	trace_id_t trid = log_open(fd);
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np ledger;
	int unavailable;

	for (size_t i = 0;; i++) {
		int64_t last;

		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &ledger, &unavailable));
		if (unavailable)
			break;
		last = thread.tid ? last_of(trid, numbered, thread.tid) : -1;
		if (last >= 0)
			ck_assert_uint_eq(ledger.called, (uint64_t)last + 1);
	}
	log_close(trid);
}

static void snapshot(void *arg, const struct posix_trace_stream_np *stream)
{
	int *fd = arg;

	ck_assert_int_lt(*fd, 0);
	*fd = log_file();
	OK(posix_trace_snapshot_np(stream, *fd));
}

int snapshot_of(pid_t pid)
{
	int fd = -1;

	OK(posix_trace_observe_np(pid, snapshot, &fd));
	ck_assert_int_ge(fd, 0);
	return fd;
}
