/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.c - the component class source.posixtrace.log of Babeltrace 2. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

/* ------------------------------------------------------------------ the component */

unsigned lane_of(struct lanes *lanes, int64_t *time_ns)
{
	unsigned i;

	for (i = 0; i < lanes->lanes; i++)
		if (*time_ns >= lanes->last_ns[i])
			break;
	if (i == LANES_MAX)
		*time_ns = lanes->last_ns[--i];
	if (i == lanes->lanes)
		lanes->lanes++;
	lanes->last_ns[i] = *time_ns;
	return i;
}

int source_open_log(const char *path, trace_id_t *trid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return errno;
	err = posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, trid);
	close(fd);
	return err;
}

/* Events lost, but for those that posix_trace_clear() was told to lose. */
static uint64_t lost_of(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;
	uint64_t lost = 0;

	if (posix_trace_get_ledger_np(trid, &ledger))
		return 0;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (i != POSIX_TRACE_LOST_CLEARED_NP)
			lost += ledger.lost[i];
	return lost;
}

static void scan(struct source *source, trace_id_t trid)
{
	struct lanes lanes = { .lanes = 0 };
	struct posix_trace_event_np event;
	int64_t least_ns = 0;
	int unavailable;

	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
		if (event.time_ns < least_ns)
			least_ns = event.time_ns;
		source->gaps += event.info.posix_event_id == POSIX_TRACE_RESUME;
		lane_of(&lanes, &event.time_ns);
	}
	source->lanes = lanes.lanes ? lanes.lanes : 1;
	source->lost = lost_of(trid);
	source->offset_s = least_ns / SECOND_NS;
	if (least_ns % SECOND_NS && source->offset_s > INT64_MIN / SECOND_NS)
		source->offset_s--;
}

static void destroy(struct source *source)
{
	for (unsigned i = 0; i < IDS; i++) {
		bt_event_class_put_ref(source->kind[i].bytes);
		bt_event_class_put_ref(source->kind[i].fields);
		free(source->kind[i].schema);
	}
	for (unsigned i = 0; i < source->lanes; i++)
		bt_stream_put_ref(source->stream[i]);
	bt_trace_put_ref(source->trace);
	bt_stream_class_put_ref(source->stream_class);
	bt_trace_class_put_ref(source->trace_class);
	free(source->path);
	free(source);
}

static int create_streams(struct source *source, bt_self_component_source *self, trace_id_t trid)
{
	struct posix_trace_loginfo_np info;
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1] = "";

	source->trace = bt_trace_create(source->trace_class);
	if (!source->trace)
		return -1;
	if (!posix_trace_get_attr(trid, &attr) && !posix_trace_attr_getname(&attr, name) && *name)
		bt_trace_set_name(source->trace, name);
	if (!posix_trace_get_loginfo_np(trid, &info)) {
		bt_trace_set_environment_entry_string(source->trace, "hostname", info.host);
		bt_trace_set_environment_entry_integer(source->trace, "pid", info.pid);
	}
	for (unsigned i = 0; i < source->lanes; i++) {
		source->stream[i] = bt_stream_create(source->stream_class, source->trace);
		snprintf(name, sizeof(name), "lane %u", i);
		if (!source->stream[i] ||
		    bt_self_component_source_add_output_port(self, name, (void *)(uintptr_t)i, NULL))
			return -1;
	}
	return 0;
}

static const char *path_of(const bt_value *params)
{
	const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");

	if (!inputs || !bt_value_is_array(inputs) || bt_value_array_get_length(inputs) != 1)
		return NULL;
	inputs = bt_value_array_borrow_element_by_index_const(inputs, 0);
	return bt_value_is_string(inputs) ? bt_value_string_get(inputs) : NULL;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_source *self, bt_self_component_source_configuration *config,
	   const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	const char *path = path_of(params);
	struct source *source;
	trace_id_t trid;
	int err;

	(void)config;
	(void)data;
	err = path ? source_open_log(path, &trid) : EINVAL;
	if (err) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			component, "%s: %s", path ? path : "inputs",
			err == EINVAL && path ? "no log of libposixtrace" : strerror(err));
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	source = calloc(1, sizeof(*source));
	err = source ? 0 : -1;
	if (!err) {
		source->path = strdup(path);
		scan(source, trid);
		err = source->path ? classes_create(source, component, trid) : -1;
	}
	if (!err)
		err = create_streams(source, self, trid);
	posix_trace_close(trid);
	if (err) {
		if (source)
			destroy(source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(component, source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_source *self)
{
	destroy(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

/* babeltrace.support-info: is the file a log? */
static bt_component_class_query_method_status
query(bt_self_component_class_source *self, bt_private_query_executor *executor, const char *object,
      const bt_value *params, void *data, const bt_value **result)
{
	const bt_value *type, *input;
	char magic[8] = "";
	int fd;

	(void)self;
	(void)executor;
	(void)data;
	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	type = bt_value_map_borrow_entry_value_const(params, "type");
	input = bt_value_map_borrow_entry_value_const(params, "input");
	if (type && input && bt_value_is_string(type) && bt_value_is_string(input) &&
	    !strcmp(bt_value_string_get(type), "file")) {
		fd = open(bt_value_string_get(input), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd >= 0) {
			if (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic))
				memset(magic, 0, sizeof(magic));
			close(fd);
		}
	}
	*result = bt_value_real_create_init(memcmp(magic, "PXTRLOG1", 8) ? 0 : 0.75);
	return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
		       : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

/* ------------------------------------------------------------------ an iterator: one lane */

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
	bool any;
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
	it->waits = it->any = false;
	it->last = it->gaps = it->discarded = it->discard = 0;
}

static bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		    bt_self_component_port_output *port)
{
	struct iterator *it = calloc(1, sizeof(*it));

	(void)config;
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

static void iterator_finalize(bt_self_message_iterator *self)
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
	it->stage = EVENTS;
	return bt_message_packet_beginning_create_with_default_clock_snapshot(it->self, it->packet,
									      it->last);
}

/* How many of the lost events this gap stands for: of each one at least, of the last one the rest. */
static uint64_t gap_of(struct iterator *it)
{
	uint64_t left = it->source->lost - it->discarded;

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
	if (message && classes_fill(it->source, &it->event, bt_message_event_borrow_event(message))) {
		bt_message_put_ref(message);
		return NULL;
	}
	it->waits = false;
	it->any = true;
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

/* A gap ends the packet: the events before a RESUME of the first lane, then what was lost. */
static bt_message *next_event(struct iterator *it)
{
	bool there = read_event(it);

	if (there && !(it->lane == 0 && it->event.info.posix_event_id == POSIX_TRACE_RESUME &&
		       !it->discard))
		goto event;
	it->gap_begin = it->last;
	if (there) {
		it->discard = gap_of(it);
		if (!it->discard)
			goto event;
		it->after = LOSSES;
	} else {
		it->discard = it->lane ? 0 : it->source->lost - it->discarded;
		it->after = it->discard ? LOSSES : STREAM_ENDS;
	}
	return end_packet(it);
event:
	it->discard = 0;
	return make_event(it);
}

static bt_message *tell_losses(struct iterator *it)
{
	uint64_t end = it->waits ? clock_of(it, it->event.time_ns) : it->last;
	bt_message *message = bt_message_discarded_events_create_with_default_clock_snapshots(
		it->self, stream_of(it), it->gap_begin, end);

	if (!message)
		return NULL;
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

static bt_message_iterator_class_next_method_status
next(bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity,
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

/* Babeltrace seeks a time by this, and passes over what is before it. */
static bt_message_iterator_class_seek_beginning_method_status seek_beginning(bt_self_message_iterator *self)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);

	posix_trace_rewind(it->trid);
	rewind_iterator(it);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

static bt_message_iterator_class_can_seek_beginning_method_status
can_seek_beginning(bt_self_message_iterator *self, bt_bool *can)
{
	(void)self;
	*can = BT_TRUE;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

BT_PLUGIN_MODULE();
BT_PLUGIN(posixtrace);
BT_PLUGIN_DESCRIPTION("Logs of libposixtrace");
BT_PLUGIN_LICENSE("LGPL-2.1-or-later");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(log, next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(log, "Reads a log of libposixtrace.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(log, initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(log, finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(log, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(log, iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(log, iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(log, seek_beginning,
									       can_seek_beginning);
