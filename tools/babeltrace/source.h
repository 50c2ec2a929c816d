/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * source.h - a source of Babeltrace 2 that reads logs of libposixtrace.
 *
 * Babeltrace requires that the times of a port's messages never fall, but a log may have late
 * events. So the source divides the events into lanes. Each event goes to the first lane whose last
 * event is not younger. The source first reads the log once to count the lanes. Each lane becomes a
 * port and a stream. The iterator of a lane reads the whole log and skips the events of other
 * lanes. Nearly every log has one lane.
 *
 * The log is hostile, and libposixtrace checks it. All functions run in the one thread of
 * Babeltrace's graph. If a comment says nothing else, a function that returns an int returns 0, or
 * -1 if memory is lacking.
 */
#ifndef POSIXTRACE_BABELTRACE_SOURCE_H
#define POSIXTRACE_BABELTRACE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>
#include <trace_np.h>

#define SECOND_NS INT64_C(1000000000)

#define LANES_MAX 32   /* the most lanes; see lane_of() */
#define IDS       1024

struct kind {                  /* an event type of the log */
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
	int64_t offset_s;      /* of the clock: the time at which its value is 0 */
	uint64_t lost, gaps;
	struct kind kind[IDS];
};

/* The time of the last event in each lane. Each iterator has a copy and computes the same lanes. */
struct lanes {
	unsigned lanes;
	int64_t last_ns[LANES_MAX];
};

/*
 * Returns the lane of the next event of the log. If LANES_MAX lanes have younger events, the result
 * is the last lane, and *time_ns becomes the time of the last event in this lane.
 */
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
