/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * iterator.c - what a port delivers: the events of one lane, in packets, and what was lost between
 * them.
 *
 * A packet is the lane's events of one block of the log; where events were lost a packet ends, too.
 */
#include "source.h"

#include <stdlib.h>

enum stage { STREAM_BEGINS, PACKET_BEGINS, EVENTS, LOSSES, PACKET_ENDS, STREAM_ENDS, ENDED };

struct iterator {
	struct source *source;
	bt_self_message_iterator *self;
	trace_id_t trid;
	unsigned lane;
	enum stage stage, after;       /* after: what follows the end of a packet */
	struct lanes lanes;
	struct posix_trace_event_np event; /* that was read and waits */
	bool waits;
	bt_packet *packet;
	bool is_looked_at;             /* whether events are missing before it */
	/* begins with that event, or one of another lane before it */
	bool new_block;
	bool sought;                   /* what was before is not known */
	uint64_t last;                 /* time of this lane in the clock */
	uint64_t gap_begin;
	uint64_t gaps, discarded, discard;
};

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

	/* Every message has a time. Babeltrace seeks by reading on where a filter cannot seek. */
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

static uint64_t clock_of(const struct iterator *it, int64_t time_ns)
{
	return (uint64_t)time_ns - (uint64_t)it->source->offset_s * (uint64_t)SECOND_NS;
}

/* The next event of this lane into it->event. False: there is none. */
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
 * How many of the lost events this gap stands for: of each one at least, of the last one the rest.
 */
static uint64_t gap_of(struct iterator *it)
{
	uint64_t left = it->source->lost - it->discarded;

	if (it->sought)
		return 1;
	it->gaps++;
	return it->gaps == it->source->gaps ? left : left > 0;
}

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

static bt_message *end_packet(struct iterator *it)
{
	bt_message *message = bt_message_packet_end_create_with_default_clock_snapshot(
		it->self, it->packet, it->last);

	bt_packet_put_ref(it->packet);
	it->packet = NULL;
	it->stage = it->after;
	return message;
}

/* Whether events were lost before the one that waits: looked at once. */
static bool is_behind_gap(struct iterator *it)
{
	if (it->lane || it->is_looked_at || it->event.info.posix_event_id != POSIX_TRACE_RESUME)
		return false;
	it->is_looked_at = true;
	it->discard = gap_of(it);
	return it->discard;
}

/*
 * A gap ends the packet: the events before a RESUME of the first lane, then what was lost. So does
 * the end of the log's block.
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

/* By the log's index. How many of the lost events were before is not known there. */
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

/* Which lane an event is of is only known who has seen all before. */
bt_message_iterator_class_can_seek_ns_from_origin_method_status
iterator_can_seek_time(bt_self_message_iterator *self, int64_t time_ns, bt_bool *can)
{
	const struct iterator *it = bt_self_message_iterator_get_data(self);

	(void)time_ns;
	*can = it->source->lanes == 1;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_NS_FROM_ORIGIN_METHOD_STATUS_OK;
}
