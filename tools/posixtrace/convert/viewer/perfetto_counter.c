/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_counter.c - counter tracks (counter_descriptor.proto). Each counter of each process has
 * a separate track, a child of the process's track.
 */
#include <errno.h>
#include <math.h>

#include "convert/plain.h"
#include "convert/viewer/perfetto.h"

enum { /* TrackDescriptor, CounterDescriptor */
	TRACK_COUNTER = 8,
	COUNTER_UNIT = 3,
	UNIT_TIME_NS = 1,
};

/*
 * Returns the name of the track of a counter: the name of the event type and the name of the field.
 * The caller frees the name. Returns NULL if memory is lacking.
 */
static char *track_name(const struct perfetto_kind *kind, const struct posix_trace_field_np *field)
{
	size_t len = strlen(kind->name);
	char *name = malloc(len + POSIX_TRACE_FIELD_NAME_MAX_NP + 2);

	if (!name)
		return NULL;
	memcpy(name, kind->name, len);
	name[len] = ' ';
	strcpy(name + len + 1, field->name);
	return name;
}

/*
 * Describes the track of a counter once for each process. If perfetto->lanes is full, the track is
 * described again for each value.
 */
static int counter_track(struct perfetto *perfetto, const struct perfetto_kind *kind, uint32_t pid,
			 uint64_t uuid, const struct posix_trace_field_np *field)
{
	struct thread *known = threads_of(&perfetto->lanes, 0, 0, uuid);
	size_t packet, track, counter;
	char *name;

	if (known && known->mark)
		return 0;
	name = track_name(kind, field);
	if (!name)
		return ENOMEM;
	if (known)
		known->mark = 1;
	track = perfetto_begin_track(perfetto, uuid, pid, &packet);
	proto_text(&perfetto->packet, PERFETTO_TRACK_NAME, name);
	counter = proto_begin(&perfetto->packet, TRACK_COUNTER);
	if (field->type == POSIX_TRACE_TYPE_NS_NP)
		proto_number(&perfetto->packet, COUNTER_UNIT, UNIT_TIME_NS);
	proto_end(&perfetto->packet, counter);
	free(name);
	return perfetto_end_track(perfetto, track, packet);
}

/*
 * Writes a value. The protobuf field for integers is signed, so integers above INT64_MAX are
 * written as doubles.
 */
static int put_value(struct perfetto *perfetto, const struct posix_trace_value_np *value,
		     int64_t time_ns, uint64_t uuid)
{
	const enum posix_trace_form_np form = value->field->form;
	struct proto *p = &perfetto->packet;
	size_t packet = perfetto_begin(perfetto, time_ns);
	size_t event = perfetto_begin_event(perfetto, TYPE_COUNTER, uuid);

	if (form == POSIX_TRACE_FORM_FLOAT_NP)
		proto_double(p, EVENT_DOUBLE_COUNTER, value->f64);
	else if (form == POSIX_TRACE_FORM_UNSIGNED_NP && value->u64 > INT64_MAX)
		proto_double(p, EVENT_DOUBLE_COUNTER, (double)value->u64);
	else
		proto_number(p, EVENT_COUNTER, value->u64);
	proto_end(p, event);
	return perfetto_end(perfetto, packet);
}

int perfetto_counters(struct perfetto *perfetto, const struct fmt_event *event)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	const struct perfetto_kind *kind = &perfetto->kind[event->type->index];

	for (unsigned i = 0; i < schema->fields; i++) {
		struct posix_trace_value_np value;
		uint64_t uuid;
		int err;

		/*
		 * An infinite value, or a value that is not a number, is omitted, because a reader
		 * cannot draw it.
		 */
		if (!schema->field[i].is_counter ||
		    !posix_trace_field_get_np(schema, i, 0, event->data, event->data_len, 0,
					      &value) ||
		    (value.field->form == POSIX_TRACE_FORM_FLOAT_NP && !isfinite(value.f64)))
			continue;
		uuid = perfetto_counter_uuid(event->pid, event->type->index, i);
		err = counter_track(perfetto, kind, event->pid, uuid, &schema->field[i]);
		if (!err)
			err = put_value(perfetto, &value, event->time_ns, uuid);
		if (err)
			return err;
	}
	return 0;
}
