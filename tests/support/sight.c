/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/sight.h"

#include <stdbool.h>
#include <string.h>

static bool is_filtered(const struct posix_trace_stream_np *stream, unsigned type)
{
	int member;

	OK(posix_trace_eventset_ismember(type, &stream->filter, &member));
	return member != 0;
}

static void take(void *arg, const struct posix_trace_stream_np *stream)
{
	struct sights *into = arg;
	struct sight *sight = &into->sight[into->n];

	if (into->only && (stream->ended || stream->pid != into->only))
		return;
	ck_assert_uint_lt(into->n++, SIGHTS_MOST);
	memset(sight, 0, sizeof(*sight));
	sight->stream = *stream;
	for (size_t i = 0; i < stream->members && i < 16; i++)
		sight->member[i] = stream->member[i];
	for (unsigned type = 1; type < stream->event_names; type++) {
		const char *name = stream->event_name[type];

		if (!name)
			continue;
		if (is_filtered(stream, type))
			strcat(strcat(sight->filtered, name), " ");
		if (type > POSIX_TRACE_UNNAMED_USEREVENT)
			strcat(strcat(sight->names, name), " ");
	}
}

struct sights sights;

struct sights *look(pid_t pid)
{
	sights.only = 0;
	sights.n = 0;
	OK(posix_trace_observe_np(pid, take, &sights));
	return &sights;
}

struct sights *look_at_all_for(pid_t pid)
{
	sights.only = pid;
	sights.n = 0;
	OK(posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, take, &sights));
	return &sights;
}

const struct sight *look_at_one(pid_t pid)
{
	look(pid);
	ck_assert_uint_eq(sights.n, 1);
	return &sights.sight[0];
}

void count_sights(void *arg, const struct posix_trace_stream_np *stream)
{
	++*(int *)arg;
	ck_assert_ptr_nonnull(stream);
}
