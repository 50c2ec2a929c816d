/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/composer.h"

#include <string.h>

#include "support/log.h"

composer_t *compose(int fd, const trace_attr_t *attr)
{
	static const struct posix_trace_origin_np origin = {
		.pid = 77, .host = "elsewhere", .clock = "sundial", .clock_hz = 24,
		.creation_ns = -5000000001, .resolution_ns = 3600, .generation = "gnomon 1",
		.begin_ns = 41,
	};
	composer_t *composer;

	OK(posix_trace_compose_np(fd, attr, &origin, &composer));
	return composer;
}

trace_event_id_t name_of(composer_t *composer, const char *name)
{
	trace_event_id_t id = 0;

	OK(posix_trace_compose_name_np(composer, name, &id));
	return id;
}

struct posix_trace_event_np event_of(trace_event_id_t id, int64_t time_ns, const char *text)
{
	struct posix_trace_event_np event = {
		.info = { .posix_event_id = id, .posix_pid = 77, .posix_thread_id = 0x7000,
			  .posix_prog_address = (void *)0x4711,
			  .posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED },
		.tid = 78, .time_ns = time_ns, .data = text, .data_len = strlen(text),
	};

	return event;
}

void put(composer_t *composer, trace_event_id_t id, int64_t time_ns, const char *text)
{
	struct posix_trace_event_np event = event_of(id, time_ns, text);

	OK(posix_trace_compose_event_np(composer, &event));
}

void finish(composer_t *composer, int fd)
{
	OK(posix_trace_compose_finish_np(composer, NULL));
	assert_log_whole(fd);
}

size_t events_of(int fd)
{
	struct history *history = log_history(fd);
	size_t events = history->n;

	history_free(history);
	return events;
}
