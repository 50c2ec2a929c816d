/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compose.c - a log of the events that lines of text name. Not a test itself.
 *
 *	compose PATH [HOST] <LINES
 *
 *	type NAME [SCHEMA]
 *	object PID POINTER NAME              a mutex of that name
 *	thread-name PID TID NAME             a thread of that name
 *	NAME PID TID TIME_NS [VALUE]...      an event; values are of the fields of the schema
 *	late NAME PID TID TIME_NS ...        an event whose writer was held up
 *	start TIME_NS [NAME]...              a start, with these types in the filter
 *	filter TIME_NS [NAME]...             a change from the filter before to these types
 *	lost NAME COUNT [CAUSE]              events that are not there; the stream was full, or a
 *	                                     number
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#define TYPES 1024

static struct type {
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	struct posix_trace_schema_np *schema;
} type[TYPES];
static size_t types;
static struct posix_trace_composer_np *composer;
static unsigned long line;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "compose: line %lu: %s: %s\n", line, what, strerror(err));
	exit(1);
}

static struct type *type_of(const char *name)
{
	for (size_t i = 0; i < types; i++)
		if (!strcmp(type[i].name, name))
			return &type[i];
	must(types == TYPES || strlen(name) > TRACE_EVENT_NAME_MAX ? ENOSPC : 0, name);
	strcpy(type[types].name, name);
	must(posix_trace_compose_name_np(composer, name, &type[types].id), name);
	return &type[types++];
}

static void describe(struct type *to, const char *schema)
{
	to->schema = malloc(sizeof(*to->schema));
	must(to->schema ? posix_trace_schema_parse_np(schema, to->schema) : ENOMEM, schema);
	must(posix_trace_compose_schema_np(composer, to->id, schema), schema);
}

static size_t pack(const struct posix_trace_schema_np *schema, unsigned char *payload, size_t room)
{
	struct posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned args = 0;
	char *value;

	for (; schema && args < schema->fields && (value = strtok(NULL, " ")); args++) {
		const struct posix_trace_field_np *field = &schema->field[args];

		arg[args] = (struct posix_trace_arg_np){ .type = field->type, .room = field->room };
		if (field->form == POSIX_TRACE_FORM_BYTES_NP) {
			arg[args].data = value;
			arg[args].len = strlen(value);
		} else if (field->form == POSIX_TRACE_FORM_FLOAT_NP) {
			arg[args].f64 = strtod(value, NULL);
		} else {
			arg[args].u64 = *value == '-' ? (uint64_t)strtoll(value, NULL, 0) :
				       strtoull(value, NULL, 0);
		}
	}
	return posix_trace_fields_pack_np(payload, room, arg, args);
}

static long long number(void)
{
	const char *text = strtok(NULL, " ");

	must(text ? 0 : EINVAL, "a number is missing");
	return strtoll(text, NULL, 0);
}

static void event(const char *name, unsigned flags)
{
	struct type *of = type_of(name);
	struct posix_trace_event_np event = { .info = { .posix_event_id = of->id } };
	unsigned char payload[1024];

	event.info.posix_pid = (pid_t)number();
	event.tid = (pid_t)number();
	event.info.posix_thread_id = (pthread_t)event.tid;
	event.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	event.time_ns = number();
	event.data = payload;
	event.data_len = pack(of->schema, payload, sizeof(payload));
	event.flags = flags;
	must(posix_trace_compose_event_np(composer, &event), name);
}

static void filter(const char *name)
{
	static trace_event_set_t set[2];
	struct posix_trace_event_np event = { .info = { .posix_event_id = type_of(name)->id } };
	bool is_start = event.info.posix_event_id == POSIX_TRACE_START;

	event.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	event.time_ns = number();
	set[0] = set[1];
	posix_trace_eventset_empty(&set[1]);
	for (const char *word; (word = strtok(NULL, " "));)
		must(posix_trace_eventset_add(type_of(word)->id, &set[1]), word);
	event.data = is_start ? &set[1] : &set[0];
	event.data_len = is_start ? sizeof(set[0]) : sizeof(set);
	must(posix_trace_compose_event_np(composer, &event), name);
}

static void lost(const char *name)
{
	uint64_t count = (uint64_t)number();
	const char *cause = strtok(NULL, " ");

	must(posix_trace_compose_lost_np(composer,
					 cause ? atoi(cause) : POSIX_TRACE_LOST_STREAM_FULL_NP,
					 count, type_of(name)->id, NULL),
	     name);
}

static void object(int kind)
{
	struct posix_trace_object_np object = { .kind = kind };
	const char *name;

	object.pid = (pid_t)number();
	object.pointer = (uint64_t)number();
	name = strtok(NULL, " ");
	must(name ? 0 : EINVAL, "a name is missing");
	snprintf(object.name, sizeof(object.name), "%s", name);
	must(posix_trace_compose_object_np(composer, &object), name);
}

static void take(char *text)
{
	char *word = strtok(text, " ");

	if (!word || *word == '#')
		return;
	if (!strcmp(word, "type")) {
		const char *name = strtok(NULL, " ");
		const char *schema = strtok(NULL, "");

		must(name ? 0 : EINVAL, "a name is missing");
		if (schema)
			describe(type_of(name), schema);
	} else if (!strcmp(word, "object")) {
		object(POSIX_TRACE_OBJECT_MUTEX_NP);
	} else if (!strcmp(word, "thread-name")) {
		object(POSIX_TRACE_OBJECT_THREAD_NP);
	} else if (!strcmp(word, "lost")) {
		const char *name = strtok(NULL, " ");

		must(name ? 0 : EINVAL, "a name is missing");
		lost(name);
	} else if (!strcmp(word, "late")) {
		const char *name = strtok(NULL, " ");

		must(name ? 0 : EINVAL, "a name is missing");
		event(name, POSIX_TRACE_EVENT_LATE_NP);
	} else if (!strcmp(word, "start")) {
		filter("posix_trace_start");
	} else if (!strcmp(word, "filter")) {
		filter("posix_trace_filter");
	} else {
		event(word, 0);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 2 || argc == 3
			 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
			 : -1;
	struct posix_trace_origin_np origin = { .pid = 1, .host = "host", .clock = "none",
						.resolution_ns = 1, .generation = "compose" };
	static char text[4096];

	must(fd < 0 ? EINVAL : 0, "PATH");
	if (argc == 3)
		snprintf(origin.host, sizeof(origin.host), "%s", argv[2]);
	must(posix_trace_compose_np(fd, NULL, &origin, &composer), "compose");
	while (fgets(text, sizeof(text), stdin)) {
		line++;
		text[strcspn(text, "\n")] = '\0';
		take(text);
	}
	must(posix_trace_compose_finish_np(composer, NULL), "finish");
	return close(fd) ? 1 : 0;
}
