/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * source.c - the component class source.posixtrace.log of Babeltrace 2.
 *
 * The component reads the log once when it is created, for the number of lanes and gaps, and makes
 * a port for each lane. Each iterator then opens and reads the log, too. Babeltrace uses one
 * thread.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the component */

/*
 * All readers of the log must find the same lanes. So each reader must call this function for each
 * event, in the order of the log.
 */
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

/* The descriptor is closed, because posix_trace_open_np() has made a duplicate. */
int source_open_log(const char *path, trace_id_t *trid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return errno;
	err = posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, trid);
	close(fd);
	return err;
}

/* Returns the number of lost events, without those that posix_trace_clear() removed on request. */
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

/*
 * Counts the lanes and gaps, and computes offset_s. If all events are later than 1970, offset_s is
 * 0. Otherwise it is a number of seconds that is not greater than the earliest time.
 */
static void source_scan(struct source *source, trace_id_t trid)
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

/*
 * Frees a source. If the source was created only in part, some pointers are NULL. The functions
 * bt_..._put_ref() accept NULL.
 */
static void source_destroy(struct source *source)
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

/*
 * Makes the trace, and a stream and a port for each lane. Returns 0, or -1 if memory is lacking.
 * The number of the lane is the data of its port. A trace without a name or description is usable.
 */
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
		    bt_self_component_source_add_output_port(self, name, (void *)(uintptr_t)i,
							     NULL))
			return -1;
	}
	return 0;
}

/*
 * Returns the path in the parameter "inputs", which must be an array of one string. Returns NULL if
 * the parameter has another form.
 */
static const char *path_of(const bt_value *params)
{
	const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");

	if (!inputs || !bt_value_is_array(inputs) || bt_value_array_get_length(inputs) != 1)
		return NULL;
	inputs = bt_value_array_borrow_element_by_index_const(inputs, 0);
	return bt_value_is_string(inputs) ? bt_value_string_get(inputs) : NULL;
}

/*
 * The method of Babeltrace that creates a component. After an error no component exists, and
 * source_finalize() is not called.
 */
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
		source_scan(source, trid);
		err = source->path ? classes_create(source, component, trid) : -1;
	}
	if (!err)
		err = create_streams(source, self, trid);
	posix_trace_close(trid);
	if (err) {
		if (source)
			source_destroy(source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(component, source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void source_finalize(bt_self_component_source *self)
{
	source_destroy(
		bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

/*
 * Answers the query babeltrace.support-info, by which babeltrace2 finds the source for a path. The
 * answer is a weight: 0 if the file is no log. The weight for a log is less than 1, so that
 * babeltrace2 can prefer another source with a greater weight. O_NONBLOCK is needed because the
 * path may lead to a FIFO.
 */
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

BT_PLUGIN_MODULE();
BT_PLUGIN(posixtrace);
BT_PLUGIN_DESCRIPTION("Logs of libposixtrace");
BT_PLUGIN_LICENSE("LGPL-2.1-or-later");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(log, iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(log, "Reads a log of libposixtrace.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(log, initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(log, source_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(log, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(log, iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(log, iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
	log, iterator_seek_beginning, iterator_can_seek_beginning);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_NS_FROM_ORIGIN_METHODS(
	log, iterator_seek_time, iterator_can_seek_time);
