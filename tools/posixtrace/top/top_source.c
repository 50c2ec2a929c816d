/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top_source.c - reads a process or a log for top.
 *
 * For a process, the counts come from the stream's ledger, which also counts events that were
 * overwritten before this command read them. Durations and locks come from the events that the
 * command reads. For a log, the numbers of events come from its events, as durations and locks do,
 * and the losses from its ledger.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "base/vec.h"
#include "base/when.h"
#include "live/capture.h"
#include "live/preload.h"
#include "live/process.h"
#include "log/equation.h"
#include "log/tally.h"
#include "top/top.h"

/* the most events that one call of top_read() reads */
#define EVENTS_AT_ONCE 2000000

/*
 * Creates and starts a stream of policy LOOP. With this policy a slow reader loses events but never
 * delays the process. Children inherit the stream. Returns 0 or an error number; after an error
 * there is no stream.
 */
static int begin_stream(pid_t pid, size_t stream_size, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return err;
	posix_trace_attr_setname(&attr, "posixtrace top");
	err = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!err)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, stream_size);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	/* The stream has its own copy of the attributes. */
	posix_trace_attr_destroy(&attr);
	if (!err) {
		err = posix_trace_start(*trid);
		if (err)
			posix_trace_shutdown(*trid);
	}
	return err;
}

int top_open_process(struct top_source *source, struct top *top, pid_t pid, const char *families,
		     size_t stream_size)
{
	int err;

	memset(source, 0, sizeof(*source));
	/*
	 * The library is loaded into the process before the stream exists, so that each event has a
	 * name. preload_inject() prints its own errors.
	 */
	if (preload_inject(&source->inject, pid, families, false))
		return TOOL_FAILURE;
	err = begin_stream(pid, stream_size, &source->trid);
	/* The message names the option that changes the size. */
	if (err == ENOMEM)
		capture_say_no_memory(pid, stream_size, "--size");
	else if (err)
		process_say_why(pid, err);
	if (err) {
		inject_end(&source->inject);
		return TOOL_FAILURE;
	}
	source->pid = pid;
	source->log.trid = source->trid;
	process_name(source->program, pid);
	source->begin_ns = source->last_ns = until_now_ns();
	top_states_look(&source->states, pid, top);
	return TOOL_OK;
}

/*
 * Copies the counts of a log. Returns 0 or ENOMEM; top_fini() frees the copies. Rates are means
 * over the whole log.
 */
static int copy_tally(struct top *top, const struct tally *tally)
{
	/* A damaged log may have any two times; a double holds their difference. */
	double seconds = ((double)tally->total.last_ns - (double)tally->total.first_ns) / 1e9;

	top->thread = calloc(tally->threads + 1, sizeof(*top->thread));
	if (!top->thread)
		return ENOMEM;
	for (size_t i = 0; i < tally->types; i++) {
		struct top_type *type = top_type(top, tally->type[i].type->id);

		if (!type)
			return ENOMEM;
		memcpy(type->name, tally->type[i].type->name, sizeof(type->name));
		type->events = tally->type[i].count.events;
		type->rate = seconds > 0 ? (double)type->events / seconds : 0;
		type->lost += equation_lost(&tally->type[i].ledger);
	}
	for (size_t i = 0; i < tally->threads; i++) {
		struct top_thread *thread = &top->thread[top->threads++];

		thread->pid = tally->thread[i].id.pid;
		thread->tid = tally->thread[i].id.tid;
		thread->handle = (uint64_t)tally->thread[i].id.thread;
		thread->events = tally->thread[i].count.events;
		thread->rate = seconds > 0 ? (double)thread->events / seconds : 0;
	}
	top->ledger = tally->ledger;
	top->seconds = seconds;
	top->rate = seconds > 0 ? (double)tally->total.events / seconds : 0;
	return 0;
}

/* Reads the log twice: for the counts, and for latencies and locks. */
static int read_log(struct top_source *source, struct top *top)
{
	struct posix_trace_event_np event;
	struct tally tally;
	/* One thread is enough for the count, since the second reading needs most of the time. */
	int unavailable, err = tally_count(&tally, &source->log, 1);

	if (err)
		return err;
	err = copy_tally(top, &tally);
	tally_fini(&tally);
	if (!err)
		err = posix_trace_rewind(source->log.trid);
	while (!err) {
		err = posix_trace_getnext_np(source->log.trid, &event, &unavailable);
		if (err || unavailable)
			break;
		top_event(top, &source->log, &event);
	}
	return err;
}

int top_open_log(struct top_source *source, const char *path, struct top *top)
{
	int err, status;

	memset(source, 0, sizeof(*source));
	status = logfile_open(&source->log, path, NULL);
	if (status)
		return status;
	source->trid = source->log.trid;
	err = read_log(source, top);
	if (!err)
		return TOOL_OK;
	say("%s: %s", source->log.path, say_strerror(err));
	top_close(source);
	return TOOL_FAILURE;
}

/* logfile_close() also frees the types of the log. */
void top_close(struct top_source *source)
{
	streams_fini(&source->streams);
	top_states_fini(&source->states);
	if (source->pid) {
		posix_trace_shutdown(source->trid);
		logfile_free_types(&source->log);
		inject_end(&source->inject);
	} else {
		logfile_close(&source->log);
	}
}

/*
 * Returns the rate per second. If a new thread has got the number of a thread that has ended, its
 * count may be lower than the count before. The rate is then 0.
 */
static double rate_of(uint64_t now, uint64_t before, double seconds)
{
	return now > before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

/*
 * Updates the types by the ledger. 'seconds' is the time since the last update. If a type has no
 * schema yet, the function searches for its schema again. Returns 0 or an error number.
 */
static int update_types(struct top_source *source, struct top *top, double seconds)
{
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id;
	int unavailable, err = posix_trace_eventtypelist_rewind(source->trid);

	while (!err) {
		struct top_type *type;

		err = posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable);
		if (err || unavailable)
			break;
		type = top_type(top, id);
		if (!type)
			return ENOMEM;
		type->was_looked_up = type->described != NULL;
		if (posix_trace_get_ledger_type_np(source->trid, id, &ledger))
			continue;
		posix_trace_eventid_get_name(source->trid, id, type->name);
		type->events = ledger.called;
		type->rate = rate_of(type->events, type->before, seconds);
		type->before = type->events;
		type->lost = equation_lost(&ledger);
	}
	return err;
}

/*
 * Returns the number of events that a thread had at the last update, or 0 for a new thread. Threads
 * start and end, so the array is made anew each time.
 */
static uint64_t events_before(const struct top *top, pid_t pid, pid_t tid)
{
	for (size_t i = 0; i < top->threads; i++)
		if (top->thread[i].pid == pid && top->thread[i].tid == tid)
			return top->thread[i].events;
	return 0;
}

/*
 * Updates the threads by the ledger. Returns 0 or an error number. The search for the former counts
 * takes quadratic time. That is fast enough, because a stream has at most some thousand threads.
 */
static int update_threads(struct top_source *source, struct top *top, double seconds)
{
	struct posix_trace_ledger_np ledger;
	struct posix_trace_thread_np id;
	struct top_thread *threads = NULL, *thread;
	size_t count = 0;
	int unavailable, err = 0;

	for (size_t i = 0; !err; i++) {
		err = posix_trace_get_ledger_thread_np(source->trid, i, &id, &ledger, &unavailable);
		if (err || unavailable)
			break;
		if (!vec_grow(&threads, count, 1)) {
			err = ENOMEM;
			break;
		}
		thread = &threads[count++];
		thread->pid = id.pid;
		thread->tid = id.tid;
		thread->handle = (uint64_t)id.thread;
		thread->events = ledger.called;
		thread->rate = rate_of(thread->events, events_before(top, id.pid, id.tid), seconds);
	}
	/* After an error the array is incomplete, but consistent. */
	free(top->thread);
	top->thread = threads;
	top->threads = count;
	return err;
}

/*
 * Reads the events that are there and never waits. Stops after EVENTS_AT_ONCE, so that keys still
 * work if the process records faster than this command reads. All events of a log were read when it
 * was opened.
 */
int top_read(struct top_source *source, struct top *top)
{
	struct posix_trace_event_np event = { .flags = 0 };
	unsigned char data[1024]; /* usually has the fields that spans and locks need */
	int unavailable, err = 0;

	if (!source->pid)
		return 0;
	event.data = data;
	for (long n = 0; n < EVENTS_AT_ONCE && !err; n++) {
		err = posix_trace_trygetnext_event(source->trid, &event.info, data, sizeof(data),
						   &event.data_len, &unavailable);
		if (err || unavailable)
			break;
		event.time_ns = when_timespec(&event.info.posix_timestamp);
		top_event(top, &source->log, &event);
	}
	return err;
}

/* An error ends the command; the counts may then be incomplete. */
int top_update(struct top_source *source, struct top *top)
{
	int64_t now_ns = until_now_ns();
	double seconds = (double)(now_ns - source->last_ns) / 1e9;
	int err;

	if (!source->pid)
		return 0;
	err = update_types(source, top, seconds);
	if (!err)
		err = update_threads(source, top, seconds);
	if (!err)
		err = posix_trace_get_ledger_np(source->trid, &top->ledger);
	top->rate = rate_of(top->ledger.called, top->events_before, seconds);
	top->events_before = top->ledger.called;
	top->seconds = (double)(now_ns - source->begin_ns) / 1e9;
	source->last_ns = now_ns;
	top_states_look(&source->states, source->pid, top);
	/*
	 * The streams are examined before top_read() empties the stream of this command, which
	 * otherwise would always look empty.
	 */
	streams_fini(&source->streams);
	streams_look(&source->streams, source->pid);
	if (!err)
		err = top_read(source, top);
	return err;
}
