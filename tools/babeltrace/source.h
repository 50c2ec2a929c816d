/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * source.h - a source of Babeltrace 2 that reads logs of libposixtrace.
 *
 * Babeltrace requires that the times of a port's messages never fall, but a log may have late
 * events. So the log is read once to count its lanes: an event that is older than the one before
 * goes to the next lane whose last event is not younger. Each lane is a port and a stream. Its
 * iterator reads the log by itself and skips the events of other lanes. Nearly every log has one
 * lane.
 *
 * The log is hostile, and libposixtrace checks it. All functions run in the one thread of
 * Babeltrace's graph. They return 0, or -1 if memory is lacking, if nothing else is said.
 */
#ifndef POSIXTRACE_BABELTRACE_SOURCE_H
#define POSIXTRACE_BABELTRACE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>
#include <trace_np.h>

#define SECOND_NS INT64_C(1000000000)

#define LANES_MAX 32   /* an event older than those in all of them gets the time of the last */
#define IDS       1024

struct kind {                  /* of an event type */
	bool known;
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_schema_np *schema; /* NULL: none */
	bt_event_class *bytes, *fields;
};

struct source {
	char *path;
	bt_trace_class *trace_class;
	bt_stream_class *stream_class;
	bt_trace *trace;
	bt_stream *stream[LANES_MAX];
	unsigned lanes;
	int64_t offset_s;      /* of the clock */
	uint64_t lost, gaps;
	struct kind kind[IDS];
};

/*
 * The time of the last event in each lane, by which all iterators find the same lane of an event.
 */
struct lanes {
	unsigned lanes;
	int64_t last_ns[LANES_MAX];
};

/* Returns the lane of the next event of the log. May change the time, see LANES_MAX. */
unsigned lane_of(struct lanes *lanes, int64_t *time_ns);

/* Opens the log at path, as far as it can be read. Returns 0 or an error number. */
int source_open_log(const char *path, trace_id_t *trid);

/* In classes.c. Makes the classes that all events share, and reads the event types. */
int classes_create(struct source *source, bt_self_component *self, trace_id_t trid);

/*
 * Returns the class for the event, or NULL if memory is lacking; classes_fill() stores the values
 * of its fields.
 */
bt_event_class *classes_choose(struct source *source, const struct posix_trace_event_np *event);
int classes_fill(struct source *source, const struct posix_trace_event_np *event, bt_event *to);

/* In iterator.c: the methods of the iterators. */
bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		    bt_self_component_port_output *port);
void iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity,
	      uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
iterator_seek_beginning(bt_self_message_iterator *self);
bt_message_iterator_class_can_seek_beginning_method_status
iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can);
bt_message_iterator_class_seek_ns_from_origin_method_status
iterator_seek_time(bt_self_message_iterator *self, int64_t time_ns);
bt_message_iterator_class_can_seek_ns_from_origin_method_status
iterator_can_seek_time(bt_self_message_iterator *self, int64_t time_ns, bt_bool *can);

#endif
