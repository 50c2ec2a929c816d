/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/calls.h"

#define FLOOD_MAX (MODEL_ITEMS - 2 * EVENTS_MAX)
#define FLUSHED_FLOOD (LOG_BYTES / MODEL_DATA) /* more than a log of this size can hold */

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

/*
 * The marks that show where a FLUSH stream was full are filtered out; or an UNTIL_FULL log may end
 * at an unknown moment.
 */
static bool marks_are_filtered(const struct model_stream *stream)
{
	return stream->log_policy == POSIX_TRACE_UNTIL_FULL ||
	       stream->filter.member[POSIX_TRACE_START] ||
	       stream->filter.member[POSIX_TRACE_STOP] ||
	       stream->filter.member[POSIX_TRACE_OVERFLOW] ||
	       stream->filter.member[POSIX_TRACE_RESUME];
}

/* Events that survive are recognized by their data, the number. */
static bool can_be_told(const struct model_stream *stream)
{
	for (size_t i = stream->policy == POSIX_TRACE_FLUSH ? 0 : stream->next; i < stream->items;
	     i++)
		if (stream->item[i].type >= POSIX_TRACE_UNNAMED_USEREVENT &&
		    stream->item[i].len < sizeof(number))
			return false;
	return stream->max_data >= sizeof(number);
}

static void fill_event(unsigned s)
{
	unsigned char data[MODEL_DATA] = { 0 };

	number++;
	memcpy(data, &number, sizeof(number));
	posix_trace_event(type_of[0], data, sizeof(data));
	model_event(&model[s], type_of[0], data, sizeof(data), getpid());
}

/*
 * SFLUSH-01 to SFLUSH-05: the specification does not say whether the flusher flushes in time; the
 * log reports the losses.
 */
static void flood_flushed(unsigned s)
{
	struct posix_trace_status_info status;
	struct model_stream *m = &model[s];

	m->flooded = true;
	for (unsigned n = 0; n < FLUSHED_FLOOD; n++)
		fill_event(s);
	SAYS(0, posix_trace_get_status(trid[s], &status));
	FUZZ_MUST((status.posix_stream_status == POSIX_TRACE_RUNNING) ==
			  (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL),
		  "running %d, full %d", status.posix_stream_status,
		  status.posix_stream_full_status);
	flush(s);
	SAYS(0, posix_trace_get_status(trid[s], &status)); /* now the stream has room and runs */
	FUZZ_MUST((status.posix_log_overrun_status == POSIX_TRACE_OVERRUN) <= (lost_by_log(s) > 0),
		  "the status of the log has a loss that its ledger lacks");
	m->log_lost = lost_by_log(s);
}

/* Only a stream that records alone, because the space that the others use is not known. */
void flood(unsigned s)
{
	struct posix_trace_status_info status;
	struct model_stream *m = &model[s];

	for (unsigned other = 0; other < STREAMS; other++)
		if (other != s && active(other) && model[other].running)
			return;
	if (!active(s) || !m->running || !type_of[0] || m->filter.member[type_of[0]] || m->full ||
	    !can_be_told(m) || (m->log_fills && m->policy == POSIX_TRACE_LOOP) ||
	    (m->policy == POSIX_TRACE_FLUSH && marks_are_filtered(m)) || floods++)
		return;
	if (m->policy == POSIX_TRACE_FLUSH) {
		flood_flushed(s);
		return;
	}
	for (unsigned n = 0; n < FLOOD_MAX; n++) {
		fill_event(s);
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
			return; /* its events may be at other positions among the others */
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
