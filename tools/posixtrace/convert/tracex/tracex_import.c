/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_import.c - a trace buffer of ThreadX becomes a flow of events.
 *
 * The data of an event is the whole entry, in little endian, so that no part of the entry is lost.
 * The header and the registry become events, too, so that the sink "tracex" can make the file
 * again. Functions that return bool return false if the sink has stopped, except read_options().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/say.h"
#include "base/vec.h"
#include "convert/octets.h"
#include "convert/tracex/tracex_schema.h"
#include "convert/tracex/tracex_sink.h"
#include "convert/tracex/tracex_source.h"

#define HOLE_BYTES_MAX (UINT64_C(1) << 28) /* fmt_read() skips longer holes */
/* greatest number of bytes of a file; enough for the text of the largest 32-bit buffer */
#define FILE_BYTES_MAX (UINT64_C(1) << 33)

/*
 * Reads the whole input, since the parts of a dump refer to each other by offsets in both
 * directions. The memory grows with the arriving bytes. Before each growth the function checks the
 * limit. Returns TOOL_OK, or TOOL_FAILURE after a message.
 */
static int read_input(struct fmt_flow *flow, struct fmt_input *input, unsigned char **bytes,
		      size_t *size)
{
	size_t room = 0;

	*bytes = NULL;
	*size = 0;
	fmt_hole(input, HOLE_BYTES_MAX);
	for (;;) {
		ssize_t n;

		if (*size == room && (room >= FILE_BYTES_MAX ||
				      !vec_reserve(bytes, &room, room, room ? room : 65536)))
			return fmt_fault(flow, FMT_REFUSE, *size, NULL, "%s", strerror(ENOMEM));
		n = fmt_read_all(flow, input, *bytes + *size, room - *size);
		if (n < 0)
			return TOOL_FAILURE;
		*size += (size_t)n;
		if (*size < room)
			return TOOL_OK;
	}
}

/*
 * If the input is a text that tracex_text() reads, replaces the text by the bytes that it
 * describes. Returns 0 or an error number. After an error, too, *bytes is NULL or valid, so the
 * caller can always free it.
 */
static int tracex_import_unpack(unsigned char **bytes, size_t *size, struct findings *findings)
{
	unsigned char *text = *bytes;
	int err;

	if (!tracex_is_text(text, *size))
		return 0;
	err = tracex_text(text, *size, bytes, size, findings);
	free(text);
	return err;
}

/* Reads the options. Returns false after it printed an error. */
static bool read_options(struct tracex_source *im, struct tracex_options *options)
{
	struct fmt_flow *flow = im->flow;
	uint64_t user = 4096, part = 1;

	if (!fmt_option_number(flow, "tick-modulus", 1, UINT64_MAX, &options->tick_modulus) ||
	    !fmt_option_number(flow, "part", 1, 1u << 27, &part) ||
	    !fmt_option_number(flow, "tracex-user-ids", 1025, 4096, &user))
		return false;
	options->part = (unsigned)part;
	options->user_ids_1025 = user == 1025;
	if (user != 1025 && user != 4096) {
		say("--tracex-user-ids: must be 1025 or 4096");
		return false;
	}
	return true;
}

/*
 * The facts come from a complete pass over the dump, so that a sink can write a header with correct
 * facts before the first event. data_max is the size of the largest of header, slot and entry.
 */
static bool tracex_import_begin(struct tracex_source *im, const char *path, uint64_t last_ticks)
{
	struct fmt_facts facts = {
		.generation = "tracex",
		.relative = im->relative,
		.has_span = im->dump.events > 0,
		.first_ns = im->start_ns,
		.has_events = true,
		.events = im->dump.events,
	};

	snprintf(facts.name, sizeof(facts.name), "%s", path_last(path));
	facts.resolution_ns = im->tick_hz ? NANOSECONDS / (int64_t)im->tick_hz :
					    (int64_t)im->tick_ns;
	if (facts.resolution_ns < 1)
		facts.resolution_ns = 1;
	if (im->tick_hz)
		facts.clock_hz = im->tick_hz;
	facts.last_ns = tracex_source_time(im, last_ticks);
	facts.data_max = im->dump.entry_bytes;
	if (!fmt_flag(im->flow, "no-meta") && im->dump.slots)
		facts.data_max = 2 + im->dump.slot_bytes;
	if (facts.data_max < im->dump.header_bytes)
		facts.data_max = im->dump.header_bytes;
	return fmt_begin(im->flow, &facts);
}

/*
 * Passes an event of the conversion itself. Such an event has the time of the first event, and no
 * process or thread.
 */
static bool put_meta(struct tracex_source *im, const struct fmt_type *type, const void *data,
		     size_t len)
{
	struct fmt_event event = {
		.type = type, .time_ns = im->start_ns, .cpu = -1, .data = data, .data_len = len,
	};

	return fmt_event(im->flow, &event);
}

static const struct fmt_type *meta_type(struct tracex_source *im, const char *name,
					const char *schema)
{
	struct fmt_type type = { .name = name, .schema = schema, .level = -1 };

	return fmt_type(im->flow, &type);
}

/*
 * Passes the header and the slots as events. The sink can make the same file from them. Slots that
 * were never used are omitted. The number of a slot has 16 bits.
 */
static bool put_header_and_slots(struct tracex_source *im)
{
	unsigned char data[2 + TRACEX_SLOT_BYTES_MAX];
	char schema[TRACEX_SCHEMA_BYTES];
	const struct fmt_type *type;
	struct tracex_slot slot;

	tracex_schema_header(&im->dump, schema);
	type = meta_type(im, TRACEX_HEADER_EVENT, schema);
	if (!put_meta(im, type, data, tracex_put_header(&im->dump, data)))
		return false;
	tracex_schema_slot(&im->dump, schema);
	type = meta_type(im, TRACEX_OBJECT_EVENT, schema);
	for (size_t i = 0; i < im->dump.slots; i++) {
		tracex_slot(&im->dump, i, &slot);
		if (!slot.type)
			continue;
		octets_put(data, i, 2);
		if (!put_meta(im, type, data, 2 + tracex_put_slot(&im->dump, i, data + 2)))
			return false;
	}
	return true;
}

/*
 * Passes the names of pointers to the sink. If several slots have the same pointer, the function
 * passes only the first of them in im->refs, which is the most credible.
 */
static bool put_objects(struct tracex_source *im)
{
	for (size_t i = 0; i < im->refs_count; i++) {
		struct tracex_slot slot;
		struct fmt_object object = { 0 };

		if (i && im->refs[i].pointer == im->refs[i - 1].pointer)
			continue;
		tracex_slot(&im->dump, im->refs[i].slot, &slot);
		if (!slot.name_len || (im->ours && slot.pointer == TRACEX_CLOCK_POINTER))
			continue;
		if (slot.type == TRACEX_THREAD) {
			struct fmt_thread thread = {
				.thread = slot.pointer,
				.name = (const char *)slot.name, .name_len = slot.name_len,
			};

			if (im->ours && tracex_source_thread(&slot, &thread.pid, &thread.thread))
				/*
				 * the name of the slot consists only of the ids of process and
				 * thread
				 */
				continue;
			if (!fmt_thread(im->flow, &thread))
				return false;
		}
		object.kind = slot.type < TRACEX_TYPES ? tracex_type_name(slot.type) : "object";
		object.pointer = slot.pointer;
		object.name = (const char *)slot.name;
		object.name_len = slot.name_len;
		object.parameter[0] = slot.parameter[0];
		object.parameter[1] = slot.parameter[1];
		if (!fmt_object(im->flow, &object))
			return false;
	}
	return true;
}

/*
 * The context of an entry is the pointer of the thread. In entries of interrupts and of the
 * initialization, it has special values. In an export by posixtrace, the pointer is a token, and
 * the name of its slot has the true process and thread.
 */
static bool put_events(struct tracex_source *im)
{
	unsigned char data[TRACEX_ENTRY_BYTES_MAX];
	struct tracex_walk walk;
	struct tracex_entry entry;

	tracex_walk(&im->dump, &walk);
	while (tracex_next(&walk, &entry)) {
		struct fmt_event event = {
			.type = tracex_source_type(im, entry.raw_id),
			.time_ns = tracex_source_time(im, entry.ticks),
			.cpu = (int32_t)tracex_cpu(entry.raw_id),
			.data = data,
			.data_len = tracex_put_entry(&im->dump, entry.index, data),
		};

		if (entry.context != TRACEX_CONTEXT_ISR &&
		    entry.context != TRACEX_CONTEXT_INITIALIZE) {
			const struct tracex_ref *ref =
				tracex_find(im->refs, im->refs_count, entry.context);
			struct tracex_slot slot;

			event.thread = entry.context;
			im->strangers += !ref;
			if (ref && im->ours) {
				tracex_slot(&im->dump, ref->slot, &slot);
				tracex_source_thread(&slot, &event.pid, &event.thread);
			}
		}
		if (im->spans && !tracex_source_spans(im, &entry))
			return false;
		if (!fmt_event(im->flow, &event))
			return false;
	}
	return true;
}

/*
 * A buffer without unused entries is full and has probably overwritten events. The number of
 * overwritten events is unknown.
 */
static bool tracex_import_finish(struct tracex_source *im)
{
	bool wrapped = !im->dump.unused;
	struct fmt_end end = {
		.complete = !fmt_is_damaged(im->flow),
		.has_status = true,
		.status = {
			.posix_stream_status = POSIX_TRACE_SUSPENDED,
			.posix_stream_full_status =
				wrapped ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL,
			.posix_stream_overrun_status =
				wrapped ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN,
		},
	};

	if (im->strangers && !fmt_note(im->flow, "%llu event%s of threads without a name",
				       (unsigned long long)im->strangers,
				       im->strangers == 1 ? " is" : "s are"))
		return false;
	return fmt_finish(im->flow, &end);
}

/*
 * Returns the time of the last event, in ticks since the first event. The sink needs this time
 * before it gets the first event.
 */
static uint64_t last_ticks(const struct tracex *d)
{
	struct tracex_walk walk;
	struct tracex_entry entry;
	uint64_t ticks = 0;

	tracex_walk(d, &walk);
	while (tracex_next(&walk, &entry))
		ticks = entry.ticks;
	return ticks;
}

/*
 * The steps are in the order in which a sink needs the parts of a trace: facts, types, objects,
 * events, end. Returns a status of the tool.
 */
static int tracex_import_convert(struct tracex_source *im, struct fmt_input *input)
{
	if (!tracex_source_clock(im))
		return TOOL_USAGE;
	if (tracex_refs(&im->dump, &im->refs, &im->refs_count))
		return fmt_fault(im->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	im->spans = fmt_flag(im->flow, "spans") ? tracex_spans_new() : NULL;
	if (fmt_flag(im->flow, "spans") && !im->spans)
		return fmt_fault(im->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	if (im->relative)
		fmt_fault(im->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "the file has no creation time%s: times count from the first "
			  "event (--start, --tick-hz)",
			  im->tick_hz || fmt_option(im->flow, "tick-ns") ? "" :
			  ", nor the length of a tick: 1 ns is assumed");
	if (!tracex_import_begin(im, fmt_input_name(input), last_ticks(&im->dump)))
		return TOOL_FAILURE;
	if (!fmt_flag(im->flow, "no-meta") && !put_header_and_slots(im))
		return TOOL_FAILURE;
	if (!put_objects(im) || !put_events(im) || !tracex_import_finish(im))
		return TOOL_FAILURE;
	return TOOL_OK;
}

/*
 * Frees all memory, also after an error. "im" is allocated, since it is large: it has a pointer for
 * each of 65536 ids.
 */
int tracex_import(struct fmt_flow *flow, struct fmt_input *input)
{
	struct tracex_source *im = calloc(1, sizeof(*im));
	const char *names = fmt_option(flow, "tracex-names");
	struct tracex_options options = { 0 };
	struct findings findings;
	unsigned char *bytes = NULL;
	size_t size;
	int status;

	if (!im)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	im->flow = flow;
	findings_of_flow(&findings, flow);
	status = read_options(im, &options) ? TOOL_OK : TOOL_USAGE;
	if (!status && names)
		status = tracex_names_read(&im->names, names);
	if (!status)
		status = read_input(flow, input, &bytes, &size);
	if (!status) {
		int err = tracex_import_unpack(&bytes, &size, &findings);

		if (!err)
			err = tracex_open(&im->dump, bytes, size, &options, &findings);
		if (err == ENOMEM)
			fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(err));
		status = err ? TOOL_FAILURE : tracex_import_convert(im, input);
	}
	tracex_names_free(&im->names);
	tracex_spans_free(im->spans);
	free(im->refs);
	free(bytes);
	free(im);
	return status;
}
