/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/calls.h"

#define FLOOD_MAX (MODEL_ITEMS - 2 * EVENTS_MAX)

void make_event(unsigned which, unsigned len)
{
	unsigned char data[2 * MODEL_DATA];
	unsigned type = which % (NAMES + 2) < NAMES ? type_of[which % (NAMES + 2)] :
			which % (NAMES + 2) == NAMES ? POSIX_TRACE_UNNAMED_USEREVENT :
						       POSIX_TRACE_START; /* EVENT-12: ignored */

	if (!type || ++events > EVENTS_MAX)
		return;
	number++;
	memset(data, (int)(len & 0xff), sizeof(data));
	memcpy(data, &number, sizeof(number));
	errno = 4711;
	posix_trace_event(type, data, len % MODEL_DATA);
	FUZZ_MUST(errno == 4711, "an event changed errno");
	if (type == POSIX_TRACE_START)
		return;
	for (unsigned s = 0; s < STREAMS; s++)
		if (active(s))
			model_event(&model[s], type, data, len % MODEL_DATA, getpid());
}

/* What survives must be known by its data: its number. */
static bool can_be_told(const struct model_stream *stream)
{
	for (size_t i = stream->next; i < stream->items; i++)
		if (stream->item[i].type >= POSIX_TRACE_UNNAMED_USEREVENT &&
		    stream->item[i].len < sizeof(number))
			return false;
	return stream->max_data >= sizeof(number);
}

/* Only a stream that alone records: how much others take is theirs. */
void flood(unsigned s)
{
	struct posix_trace_status_info status;
	struct model_stream *m = &model[s];
	unsigned char data[MODEL_DATA] = { 0 };

	for (unsigned other = 0; other < STREAMS; other++)
		if (other != s && active(other) && model[other].running)
			return;
	if (m->kind != MODEL_LIVE || !m->running || !type_of[0] || m->filter.member[type_of[0]] ||
	    m->full || !can_be_told(m) || floods++)
		return;
	for (unsigned n = 0; n < FLOOD_MAX; n++) {
		number++;
		memcpy(data, &number, sizeof(number));
		posix_trace_event(type_of[0], data, sizeof(data));
		model_event(m, type_of[0], data, sizeof(data), getpid());
		SAYS(0, posix_trace_get_status(trid[s], &status));
		if (m->policy == POSIX_TRACE_LOOP ? status.posix_stream_overrun_status :
						    status.posix_stream_full_status) {
			FUZZ_MUST(status.posix_stream_full_status == POSIX_TRACE_FULL &&
					  (status.posix_stream_status == POSIX_TRACE_RUNNING) ==
						  (m->policy == POSIX_TRACE_LOOP),
				  "full, and its status is %d", status.posix_stream_status);
			model_filled(m);
			return;
		}
	}
	fuzz_found("a stream of %u bytes is not full", STREAM_BYTES);
}

/* CREATE-21, and events of a child where the stream is inherited. */
void have_child(unsigned which)
{
	unsigned type = type_of[which % NAMES], data = ++number;
	pid_t child;
	int status = -1;

	for (unsigned s = 0; s < STREAMS; s++)
		if (model[s].auto_stopped || model[s].overwritten)
			return; /* its events may have another place among those */
	if (++events > EVENTS_MAX)
		return;
	child = fork();
	if (child == 0) {
		struct posix_trace_status_info info;
		bool bad = false;

		for (unsigned s = 0; s < STREAMS; s++)
			bad |= trid[s] && posix_trace_get_status(trid[s], &info) != EINVAL;
		if (type)
			posix_trace_event(type, &data, sizeof(data));
		_exit(bad);
	}
	FUZZ_MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0,
		  "the child ended with %#x", status);
	for (unsigned s = 0; s < STREAMS; s++)
		if (active(s) && model[s].inherited && type)
			model_event(&model[s], type, &data, sizeof(data), child);
}
