/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * iterator.c - the messages of a port: the events of one lane, in packets, and the losses between
 * them.
 *
 * A packet has the lane's events of one block of the log; it also ends where events were lost.
 * Babeltrace requires this order: stream beginning, packets with events, stream end, and times that
 * never fall. make_message() makes one message, which depends on the member `stage`, and sets the
 * next stage.
 */
#include "source.h"

#include <stdlib.h>

/* The next message of the iterator. */
enum stage { STREAM_BEGINS, PACKET_BEGINS, EVENTS, LOSSES, STREAM_ENDS, ENDED };

/* One iterator. It has its own reading position in the log, and a reference to the open packet. */
struct iterator {
	struct source *source;
	bt_self_message_iterator *self;
	trace_id_t trid;
	unsigned lane;
	enum stage stage, after;       /* `after` is the stage after the end of the packet */
	struct lanes lanes;
	struct posix_trace_event_np event; /* if `waits` is true: the next event of this lane */
	bool waits;
	bt_packet *packet;
	bool is_looked_at;             /* is_behind_gap() has examined the event */
	/* a block of the log has begun since the first event of the packet was read */
	bool new_block;
	bool sought;                   /* the log was not read from its beginning */
	uint64_t last;                 /* the time of the last message, as a value of the clock */
	uint64_t gap_begin;
	uint64_t gaps, discarded, discard;
};

/* The state before the first event. The caller sets the reading position of the log. */
static void rewind_iterator(struct iterator *it)
{
	bt_packet_put_ref(it->packet);
	it->packet = NULL;
	it->stage = STREAM_BEGINS;
	it->lanes.lanes = 0;
	it->waits = it->is_looked_at = it->new_block = it->sought = false;
	it->last = it->gaps = it->discarded = it->discard = 0;
}

bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		    bt_self_component_port_output *port)
{
	struct iterator *it = calloc(1, sizeof(*it));

	/* Every message has a time, so Babeltrace may seek forward by reading messages. */
	bt_self_message_iterator_configuration_set_can_seek_forward(config, BT_TRUE);
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->self = self;
	it->source = bt_self_component_get_data(bt_self_message_iterator_borrow_component(self));
	it->lane = (unsigned)(uintptr_t)bt_self_component_port_get_data(
		bt_self_component_port_output_as_self_component_port(port));
	if (source_open_log(it->source->path, &it->trid)) {
		free(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	rewind_iterator(it);
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	bt_packet_put_ref(it->packet);
	posix_trace_close(it->trid);
	free(it);
}

/*
 * Converts a time to a value of the clock. The value is not negative, because source_scan() has
 * computed the clock's offset from the earliest event.
 */
static uint64_t clock_of(const struct iterator *it, int64_t time_ns)
{
	return (uint64_t)time_ns - (uint64_t)it->source->offset_s * (uint64_t)SECOND_NS;
}

/*
 * Reads the next event of this lane into it->event. Keeps an event that still waits in it->event.
 * Returns false if the log has no further event. Events of other lanes are assigned too: all
 * iterators compute the same lanes.
 */
static bool read_event(struct iterator *it)
{
	int unavailable;

	while (!it->waits) {
		if (posix_trace_getnext_np(it->trid, &it->event, &unavailable) || unavailable)
			return false;
		it->new_block |= (it->event.flags & POSIX_TRACE_EVENT_BLOCK_NP) != 0;
		it->waits = lane_of(&it->lanes, &it->event.time_ns) == it->lane;
	}
	return true;
}

static bt_stream *stream_of(const struct iterator *it)
{
	return it->source->stream[it->lane];
}

/* The packet begins at the time of its first event, or at the last time if there is none. */
static bt_message *begin_packet(struct iterator *it)
{
	it->packet = bt_packet_create(stream_of(it));
	if (!it->packet)
		return NULL;
	if (read_event(it) && clock_of(it, it->event.time_ns) > it->last)
		it->last = clock_of(it, it->event.time_ns);
	it->new_block = false;
	it->stage = EVENTS;
	return bt_message_packet_beginning_create_with_default_clock_snapshot(it->self, it->packet,
									      it->last);
}

/*
 * Returns the number of lost events for the message of this gap. The log has the total number of
 * lost events, but not the number in each gap. So each gap except the last counts one event, and
 * the last gap counts all others.
 */
static uint64_t gap_of(struct iterator *it)
{
	uint64_t left = it->source->lost - it->discarded;

	if (it->sought)
		return 1;
	it->gaps++;
	return it->gaps == it->source->gaps ? left : left > 0;
}

/*
 * Makes the message of the event that waits. If memory is lacking, it returns NULL, and the event
 * still waits.
 */
static bt_message *make_event(struct iterator *it)
{
	bt_event_class *class = classes_choose(it->source, &it->event);
	bt_message *message;

	if (!class)
		return NULL;
	it->last = clock_of(it, it->event.time_ns);
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		it->self, class, it->packet, it->last);
	if (message &&
	    classes_fill(it->source, &it->event, bt_message_event_borrow_event(message))) {
		bt_message_put_ref(message);
		return NULL;
	}
	it->waits = false;
	return message;
}

/* The message has its own reference to the packet. */
static bt_message *end_packet(struct iterator *it)
{
	bt_message *message = bt_message_packet_end_create_with_default_clock_snapshot(
		it->self, it->packet, it->last);

	bt_packet_put_ref(it->packet);
	it->packet = NULL;
	it->stage = it->after;
	return message;
}

/*
 * Returns whether events were lost before the event that waits. The first lane reports all gaps. It
 * reports each gap once, because is_looked_at remains true until the event is delivered.
 */
static bool is_behind_gap(struct iterator *it)
{
	if (it->lane || it->is_looked_at || it->event.info.posix_event_id != POSIX_TRACE_RESUME)
		return false;
	it->is_looked_at = true;
	it->discard = gap_of(it);
	return it->discard;
}

/*
 * Makes the message of the next event. Ends the packet instead if events were lost before the
 * event, if a block of the log has begun, or if the lane has no further event.
 */
static bt_message *next_event(struct iterator *it)
{
	bool there = read_event(it);

	it->gap_begin = it->last;
	if (!there) {
		it->discard = it->lane || it->sought ? 0 : it->source->lost - it->discarded;
		it->after = it->discard ? LOSSES : STREAM_ENDS;
	} else if (is_behind_gap(it)) {
		it->after = LOSSES;
	} else if (it->new_block) {
		it->after = PACKET_BEGINS;
	} else {
		it->is_looked_at = false;
		return make_event(it);
	}
	return end_packet(it);
}

/* After a seek the number of lost events is not known, so the message has no number. */
static bt_message *tell_losses(struct iterator *it)
{
	uint64_t end = it->waits ? clock_of(it, it->event.time_ns) : it->last;
	bt_message *message = bt_message_discarded_events_create_with_default_clock_snapshots(
		it->self, stream_of(it), it->gap_begin, end);

	if (!message)
		return NULL;
	if (!it->sought)
		bt_message_discarded_events_set_count(message, it->discard);
	it->discarded += it->discard;
	it->last = end;
	it->stage = it->waits ? PACKET_BEGINS : STREAM_ENDS;
	return message;
}

/* Returns the next message, or NULL if memory is lacking. Not called in the stage ENDED. */
static bt_message *make_message(struct iterator *it)
{
	switch (it->stage) {
	case STREAM_BEGINS:
		it->stage = PACKET_BEGINS;
		return bt_message_stream_beginning_create(it->self, stream_of(it));
	case PACKET_BEGINS:
		return begin_packet(it);
	case EVENTS:
		return next_event(it);
	case LOSSES:
		return tell_losses(it);
	case STREAM_ENDS:
		it->stage = ENDED;
		return bt_message_stream_end_create(it->self, stream_of(it));
	default:
		return NULL;
	}
}

bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity,
     uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	*count = 0;
	if (it->stage == ENDED)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	while (*count < capacity && it->stage != ENDED) {
		const bt_message *message = make_message(it);

		if (!message) {
			while (*count)
				bt_message_put_ref(messages[--*count]);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
		}
		messages[(*count)++] = message;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

bt_message_iterator_class_seek_beginning_method_status
iterator_seek_beginning(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	posix_trace_rewind(it->trid);
	rewind_iterator(it);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_can_seek_beginning_method_status
iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can)
{
	(void)self;
	*can = BT_TRUE;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

/*
 * Seeks by the log's index. The index does not have the number of events that were lost before the
 * place.
 */
bt_message_iterator_class_seek_ns_from_origin_method_status
iterator_seek_time(bt_self_message_iterator *self, int64_t time_ns)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	struct timespec when = { .tv_sec = time_ns / SECOND_NS, .tv_nsec = time_ns % SECOND_NS };

	if (when.tv_nsec < 0) {
		when.tv_sec--;
		when.tv_nsec += SECOND_NS;
	}
	rewind_iterator(it);
	if (posix_trace_seek_np(it->trid, &when))
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_NS_FROM_ORIGIN_METHOD_STATUS_ERROR;
	it->sought = true;
	if (time_ns > it->source->offset_s * SECOND_NS)
		it->last = clock_of(it, time_ns);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_NS_FROM_ORIGIN_METHOD_STATUS_OK;
}

/*
 * The lane of an event depends on all events before it, so a seek is possible only in a log with
 * one lane.
 */
bt_message_iterator_class_can_seek_ns_from_origin_method_status
iterator_can_seek_time(bt_self_message_iterator *self, int64_t time_ns, bt_bool *can)
{
	const struct iterator *it = bt_self_message_iterator_get_data(self);

	(void)time_ns;
	*can = it->source->lanes == 1;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_NS_FROM_ORIGIN_METHOD_STATUS_OK;
}
