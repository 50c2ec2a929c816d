/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave.c - writes a log again with the kernel's events at their places.
 *
 * The stream's own events keep their order. This file puts a kernel event before the first event of
 * the stream that is not earlier. The new log has no kernel events of times in which the stream did
 * not run, because readers assume that a stopped stream records nothing. The ledger of the new log
 * has the counts of the old log. It also counts the kernel events: the written events as reported,
 * and the missing events as lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "base/outfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "base/vec.h"
#include "live/kernel_frames.h"
#include "live/stack_unwind.h"
#include "live/weave.h"
#include "log/lost_pairs.h"

/* ------------------------------------------------------------------ the new log */

int weave_compose(struct weave *weave, const struct posix_trace_event_np *event)
{
	if (!weave->err)
		weave->err = posix_trace_compose_event_np(weave->to, event);
	return 0;
}

/*
 * If the list of mappings is full, this is no error. The log then has the names of fewer functions.
 */
int weave_compose_mapping(struct weave *weave, const struct posix_trace_mapping_np *mapping)
{
	int err = weave->err ? 0 : posix_trace_compose_mapping_np(weave->to, mapping);

	if (err && err != ENOSPC)
		weave->err = err;
	return 0;
}

int weave_compose_type(struct weave *weave, const char *name, const char *schema,
		       trace_event_id_t *id)
{
	if (!weave->err)
		weave->err = posix_trace_compose_name_np(weave->to, name, id);
	if (!weave->err)
		posix_trace_compose_schema_np(weave->to, *id, schema);
	return 0;
}

/* ------------------------------------------------------------------ names, lists, threads */

/*
 * Copies the names and schemas of the old log, then adds the names and schemas of the kernel's
 * events. The types get new numbers in the order of their old numbers. Returns 0 or an error
 * number, as the other functions in this file do.
 */
static int copy_types(struct weave *weave)
{
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1], name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int end = 0;
	int err = posix_trace_eventtypelist_rewind(weave->from);

	while (!err) {
		err = posix_trace_eventtypelist_getnext_id(weave->from, &id, &end);
		if (err || end)
			break;
		if (posix_trace_eventid_get_name(weave->from, id, name))
			continue;
		*schema = '\0';
		if (!posix_trace_eventid_get_schema_np(weave->from, id, schema, sizeof(schema)))
			err = weave_stacked_type(weave, id, name, schema);
		if (!err)
			err = weave_compose_type(weave, name, schema, &id);
	}
	return err ? err : weave_types(weave);
}

/* Copies names of objects and mapped files. */
static int copy_lists(struct weave *weave)
{
	struct posix_trace_object_np object;
	int end = 0, err = posix_trace_object_rewind_np(weave->from);

	while (!err && !weave->err) {
		err = posix_trace_object_getnext_np(weave->from, &object, &end);
		if (err || end)
			break;
		weave->err = posix_trace_compose_object_np(weave->to, &object);
	}
	if (!weave->err)
		weave->err = kernel_frames_names(weave->kernel->frames, weave->to);
	for (size_t i = 0; !err && i < weave->mappings; i++) {
		struct posix_trace_mapping_np mapping = weave->mapping[i];

		weave_traps_identify(weave, &mapping);
		err = weave_compose_mapping(weave, &mapping);
	}
	return err ? err : weave_traps_mappings(weave);
}

int weave_by_thread(const void *a, const void *b)
{
	const struct posix_trace_thread_np *x = a, *y = b;

	return x->pid == y->pid ? (x->tid > y->tid) - (x->tid < y->tid) :
				  (x->pid > y->pid) - (x->pid < y->pid);
}

/* A thread of the old log, and the number of its events. */
struct counted {
	struct posix_trace_thread_np thread;
	uint64_t events;
};

/* Compares two entries. If both are of one thread, the entry with more events is the first. */
static int order_counted(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;
	const int order = weave_by_thread(&x->thread, &y->thread);

	return order ? order : (x->events < y->events) - (x->events > y->events);
}

/*
 * Reads the threads of the old log, because the kernel does not know their pthread_t. A thread that
 * executed another program has an entry for each pthread_t that it had. The entry with most events
 * is used: the child of the recorder, for example, records one event before it executes the
 * program.
 */
static int read_threads(struct weave *weave)
{
	struct counted *found = NULL;
	size_t count = 0;
	int err, end = 0;

	do {
		struct posix_trace_ledger_np ledger;

		if (!vec_grow(&found, count, 1)) {
			free(found);
			return ENOMEM;
		}
		err = posix_trace_get_ledger_thread_np(weave->from, count, &found[count].thread,
						       &ledger, &end);
		if (!err && !end)
			found[count++].events = ledger.called;
	} while (!err && !end);
	if (count)
		qsort(found, count, sizeof(*found), order_counted);
	for (size_t i = 0; !err && i < count; i++) {
		if (i && !weave_by_thread(&found[i].thread, &found[i - 1].thread))
			continue;
		if (!vec_grow(&weave->thread, weave->threads, 1))
			err = ENOMEM;
		else
			weave->thread[weave->threads++] = found[i].thread;
	}
	free(found);
	return err;
}

void weave_serve(struct weave *weave)
{
	const int64_t now_ns = weave->meanwhile.call ? until_now_ns() : 0;

	if (!weave->meanwhile.call ||
	    now_ns - weave->served_ns < KERNEL_LOOK_MS * INT64_C(1000000))
		return;
	weave->meanwhile.call(weave->meanwhile.arg);
	weave->served_ns = until_now_ns();
}

/*
 * Appends the kernel events up to a time, if the stream ran then. Drops kernel events of other
 * times.
 */
static int put_until(struct weave *weave, int64_t time_ns)
{
	const struct kernel_item *item;
	int err = 0;

	for (; !err && (item = kernel_reader_look(&weave->reader)) != NULL &&
	       item->record.time_ns <= time_ns; kernel_reader_skip(&weave->reader)) {
		err = weave_record(weave, item);
		weave_serve(weave);
	}
	return err ? err : weave->reader.err;
}

/*
 * Returns whether the recorder stopped the stream by this event for the last time. "stops" is the
 * number of STOP events that the log still has.
 */
static bool is_end(const struct posix_trace_event_np *event, uint64_t stops)
{
	int is_automatic = 1; /* the log was full */

	if (event->data_len >= sizeof(is_automatic))
		memcpy(&is_automatic, event->data, sizeof(is_automatic));
	return event->info.posix_event_id == POSIX_TRACE_STOP && stops == 1 && !is_automatic;
}

/*
 * Appends the rest of the kernel's records before the last STOP. The kernel had stopped recording
 * before the recorder stopped the stream. So a record with a later time is no event after the STOP:
 * CLOCK_REALTIME was set meanwhile. Its event gets the time of the STOP (put_as() in
 * weave_events.c).
 */
static int put_rest(struct weave *weave, const struct posix_trace_event_np *stop)
{
	weave->is_ending = true;
	weave->end_ns = stop->time_ns;
	return put_until(weave, INT64_MAX);
}

/* Appends the functions that had not returned, and that are not in the log yet. */
static int put_calls(struct weave *weave)
{
	const struct kernel_item *item;
	int err = 0;

	for (; !err && (item = kernel_reader_look(&weave->reader)) != NULL;
	     kernel_reader_skip(&weave->reader))
		if (item->record.kind == KERNEL_CALL)
			err = weave_record(weave, item);
	return err ? err : weave->reader.err;
}

/* Copies the events of the old log, with the kernel's events between them. */
static int copy_events(struct weave *weave)
{
	const bool goes_on = weave->meanwhile.call;
	struct posix_trace_ledger_np stops;
	struct posix_trace_event_np event;
	int end = 0, err = posix_trace_get_ledger_type_np(weave->from, POSIX_TRACE_STOP, &stops);

	if (!err)
		err = kernel_reader_begin(&weave->reader, &weave->period->store);
	if (!err && weave->runs)
		err = weave_states(weave);
	while (!err && !(err = posix_trace_getnext_np(weave->from, &event, &end)) && !end) {
		/*
		 * If the event is late, put_until() appends nothing, because the kernel's events up
		 * to its time have been appended.
		 */
		err = !goes_on && is_end(&event, stops.reported) ?
			      put_rest(weave, &event) : put_until(weave, event.time_ns);
		if (!err)
			err = weave_stacked(weave, &event);
		if (err)
			return err;
		weave_serve(weave);
		if (event.info.posix_event_id == POSIX_TRACE_START)
			weave->runs = true;
		else if (event.info.posix_event_id == POSIX_TRACE_STOP) {
			weave->runs = false;
			stops.reported--;
		}
	}
	/*
	 * The recorder ended the period after the last event of this log, so the remaining records
	 * belong to this log.
	 */
	if (!err && goes_on)
		err = put_until(weave, INT64_MAX);
	/*
	 * Some calls may end later than the last event, because the stream may have ended before
	 * the last process.
	 */
	return err ? err : put_calls(weave);
}

/*
 * Counts the kernel events that are missing, so that the ledger of the log has them. Neither their
 * threads nor the types of lost records are known. Lost system calls and functions count for types
 * of their own. Other lost records count for sched.out with --sched, and for cpu.sample without it.
 * A switch that the kernel did not record does not count as lost, because the log has an event
 * sched.gap for it. If earlier logs could not be written again, their kernel events count as lost,
 * too; the cause is an error of the flush.
 */
static int count_lost(struct weave *weave)
{
	const struct kernel *kernel = weave->kernel;
	const struct kernel_period *period = weave->period;
	const trace_event_id_t record = weave->id[kernel->plan.sched ? WEAVE_OUT : WEAVE_SAMPLE];
	const trace_event_id_t call = weave->id[WEAVE_CALL];
	const struct {
		uint64_t lost;
		int cause;
		trace_event_id_t type;
	} rows[] = {
		{ period->lost_full, POSIX_TRACE_LOST_STREAM_FULL_NP, record },
		{ period->lost_memory, POSIX_TRACE_LOST_NO_MEMORY_NP, record },
		{ period->lost_syscalls, POSIX_TRACE_LOST_STREAM_FULL_NP, weave->lost_call },
		{ period->lost_traps, POSIX_TRACE_LOST_STREAM_FULL_NP, call },
		{ period->lost_calls, POSIX_TRACE_LOST_NO_MEMORY_NP, call },
		{ period->unwritten[KERNEL_GROUP_RECORDS], POSIX_TRACE_LOST_FLUSH_ERROR_NP,
		  record },
		{ period->unwritten[KERNEL_GROUP_CALLS], POSIX_TRACE_LOST_FLUSH_ERROR_NP,
		  weave->lost_call },
		{ period->unwritten[KERNEL_GROUP_TRAPS], POSIX_TRACE_LOST_FLUSH_ERROR_NP, call },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(rows) / sizeof(*rows); i++) {
		if (!rows[i].lost)
			continue;
		weave->has_lost = true;
		err = posix_trace_compose_lost_np(weave->to, rows[i].cause, rows[i].lost,
						  rows[i].type, NULL);
	}
	return err;
}

/*
 * Adds the losses and the events of a period whose log could not be written again to the counts of
 * the present period. If the records could not be read to the end, each of the rest counts as an
 * event of the first group that is recorded. Returns the number of events.
 */
static uint64_t pass_unwritten(struct weave *weave)
{
	struct kernel *kernel = weave->kernel;
	const struct kernel_period *from = weave->period;
	struct kernel_period *to = &kernel->period;
	const enum kernel_group first =
		kernel_is_wanted(&kernel->plan) ? KERNEL_GROUP_RECORDS :
		kernel_has_calls(&kernel->plan) ? KERNEL_GROUP_CALLS : KERNEL_GROUP_TRAPS;
	const uint64_t rest = from->store.kept - weave->reader.taken;
	uint64_t events = rest;

	to->lost_full += from->lost_full;
	to->lost_memory += from->lost_memory;
	to->lost_syscalls += from->lost_syscalls;
	to->lost_traps += from->lost_traps;
	to->lost_calls += from->lost_calls;
	to->unwritten[first] += rest;
	for (size_t i = 0; i < KERNEL_GROUPS; i++) {
		to->unwritten[i] += from->unwritten[i] + weave->put[i];
		events += weave->put[i];
	}
	return events;
}

uint64_t kernel_uncounted(const struct kernel *kernel)
{
	const struct kernel_period *period = &kernel->period;
	uint64_t events = period->lost_full + period->lost_memory + period->lost_syscalls +
			  period->lost_traps + period->lost_calls;

	for (size_t i = 0; i < KERNEL_GROUPS; i++)
		events += period->unwritten[i];
	return events;
}

/* ------------------------------------------------------------------ the log */

/*
 * Begins the new log with the attributes and the origin of the old one, so that it describes the
 * stream and not this copy.
 */
static int weave_begin(struct weave *weave, int fd)
{
	struct posix_trace_loginfo_np info;
	struct posix_trace_origin_np origin = { .pid = 0 };
	trace_attr_t attr;
	int err = posix_trace_get_loginfo_np(weave->from, &info);

	if (!err)
		err = posix_trace_get_attr(weave->from, &attr);
	if (err)
		return err;
	origin.pid = info.pid;
	origin.begin_ns = weave->begin_ns = info.begin_ns;
	origin.clock_hz = info.clock_hz;
	memcpy(origin.host, info.host, sizeof(origin.host));
	memcpy(origin.clock, info.clock, sizeof(origin.clock));
	if (fd >= 0)
		weave->err = posix_trace_compose_np(fd, &attr, &origin, &weave->to);
	posix_trace_attr_destroy(&attr);
	return 0;
}

/*
 * Writes everything. Names and lists precede the events, since readers need them with the first
 * event. The ledger is last. Returns 0 or an error number. If fd is -1, the new log could not be
 * created, and weave->err is the reason.
 */
static int weave_all(struct weave *weave, int fd)
{
	struct posix_trace_status_info status;
	int err = weave_begin(weave, fd);

	if (!err)
		err = copy_types(weave);
	if (!err)
		err = copy_lists(weave);
	if (!err)
		err = read_threads(weave);
	if (!err)
		err = weave_jit_begin(weave);
	if (!err)
		err = copy_events(weave);
	if (!err)
		weave_calls_complete(weave);
	if (!err)
		err = weave->err;
	if (!err)
		err = lost_pairs(weave->to, weave->from);
	if (!err)
		err = count_lost(weave);
	if (!err)
		err = posix_trace_get_status(weave->from, &status);
	if (err) {
		if (weave->to)
			posix_trace_compose_abandon_np(weave->to);
		return err;
	}
	/*
	 * The status of a stream shows whether events were lost, so lost kernel events change it.
	 */
	if (weave->has_lost)
		status.posix_stream_overrun_status = POSIX_TRACE_OVERRUN;
	return posix_trace_compose_finish_np(weave->to, &status);
}

/* Writes the new log, and gives it the name of the old one. Returns a status of the tool. */
static int replace_log(struct weave *weave, struct outfile *file)
{
	const struct kernel *kernel = weave->kernel;
	struct outfile made = { .fd = -1 };
	/* There are copies of stacks only with --stack or --sample-stack. */
	const bool has_copies = kernel->plan.stack.globs || weave->period->copies;
	const int status = outfile_create(&made, file->path, OUTFILE_REPLACE);
	int err = weave_maps_begin(weave);

	if (status)
		weave->err = EIO;
	if (!err && has_copies)
		err = weave_maps_modules(weave);
	if (!err && has_copies &&
	    !(weave->unwinder = stack_unwinder_begin(weave->module, weave->modules)))
		err = ENOMEM;
	if (!err)
		err = weave_all(weave, status ? -1 : made.fd);
	stack_unwinder_end(weave->unwinder);
	kernel_reader_end(&weave->reader);
	weave_calls_end(weave);
	weave_jit_end(weave);
	weave_maps_end(weave);
	free(weave->stacked);
	free(weave->kernel_id);
	free(weave->probe_id);
	free(weave->thread);
	if (err && !status)
		say("%s: it has no events of the kernel and no stacks: %s", file->path,
		    say_strerror(err));
	if (status)
		return status;
	/* The old log exists until the new one has its name. */
	if (err || outfile_keep(&made)) {
		outfile_drop(&made);
		return TOOL_FAILURE;
	}
	outfile_close(file);
	*file = made;
	return TOOL_OK;
}

int kernel_weave(struct kernel *kernel, struct outfile *file, struct kernel_meanwhile meanwhile)
{
	const bool goes_on = meanwhile.call;
	struct kernel_period period;
	struct weave weave = { .kernel = kernel, .period = &period, .meanwhile = meanwhile,
			       .runs = kernel->runs };
	int status = TOOL_OK, err;
	uint64_t events;

	kernel_cut(kernel, goes_on, &period);
	kernel_states_clean(&kernel->states);
	/*
	 * If this log cannot be read, the recorder assumes that the stream runs at the beginning of
	 * the next log.
	 */
	kernel->runs = goes_on;
	/* A damaged log is not written again. capture_read_back() reports it. */
	if (kernel->is_active || period.calls || kernel->plan.stack.globs) {
		err = posix_trace_open(file->fd, &weave.from);
		if (!err) {
			status = replace_log(&weave, file);
			posix_trace_close(weave.from);
			kernel->runs = weave.runs;
		}
		events = err || status ? pass_unwritten(&weave) : 0;
		if (events)
			say("%s: %" PRIu64 " event%s of the kernel %s lost%s", file->path, events,
			    events == 1 ? "" : "s", events == 1 ? "is" : "are",
			    goes_on ? "; the ledger of the next log has them" : "");
	}
	kernel_period_fini(&period);
	if (goes_on)
		kernel_clean(kernel);
	return status;
}
