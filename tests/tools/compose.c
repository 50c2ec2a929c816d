/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compose.c - makes a log of the events that lines of text describe. It is no test itself.
 *
 *	compose PATH [HOST] <LINES
 *
 *	trace KEY=VALUE...                   facts of the log, before all other lines: pid, host,
 *	                                     clock, hz, created, resolution, tracer, name, data
 *	                                     (maximum bytes), log (append, until_full, loop), size
 *	                                     (of the log), stream (loop, until_full, flush), buffer
 *	                                     (size of the stream), inherited
 *	type NAME [SCHEMA]
 *	id NUMBER NAME                       the number of a type
 *	object PID POINTER NAME              a mutex of that name
 *	thread-name PID TID NAME             a thread of that name
 *	named KIND PID POINTER TIME NAME     any object, from that time on; "" removes the name
 *	mapping PID START END OFFSET BASE FROM UNTIL BUILD-ID PATH    UNTIL: "end"; BUILD-ID: "-"
 *	child PID PARENT FROM                a process that has the mappings of its parent
 *	NAME PID TID TIME [@MARK]... [VALUE]...     an event; values are of the fields of the
 *	                                     schema. Marks: @late, its writer was held up; @cut, it
 *	                                     was truncated; @0x4005d0, its address; @thread=0x7f00,
 *	                                     its pthread_t, otherwise TID; @hex, the values are all
 *	                                     its data, in hexadecimal digits
 *	late NAME PID TID TIME ...           as @late
 *	start TIME [NAME]...                 a start, with these types in the filter
 *	filter TIME [NAME]...                a change from the filter before to these types
 *	lost NAME COUNT [CAUSE [PID TID]]    events that are not there; CAUSE: a number, without it
 *	                                     the stream was full; NAME -: of unknown type
 *	status WORD...                       the last status of the stream: running, full, overrun,
 *	                                     flushing, error=ERRNO, log-full, log-overrun
 *	repeat COUNT LINE                    the line, so many times; its times should begin with +
 *	abandon                              the log has no end, as if its writer had been killed
 *
 * TIME is in nanoseconds, or has a unit: 5ns, 5us, 5ms, 5s. A TIME with a + counts from the last
 * time before it: +5ms, +-5ms.
 * Words with blanks are in quotes, with \" \\ \n \t \e and \xHH. A value of bytes is text, or
 * hex:00ff; each element of an array is a value.
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
static struct posix_trace_origin_np origin = { .pid = 1, .host = "host", .clock = "none",
					       .resolution_ns = 1, .generation = "compose" };
static trace_attr_t attr;
static bool has_attr;
static int log_fd = -1;
static struct posix_trace_composer_np *composer; /* NULL while only lines "trace" were read */
static struct posix_trace_status_info status;
static bool has_status, is_abandoned;
static unsigned long line;
static char *rest; /* the rest of the line, behind the last word */
static long long now;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "compose: line %lu: %s: %s\n", line, what, strerror(err));
	exit(1);
}

static char unescape(char **from)
{
	char digits[3] = "";
	char c = *(*from)++;

	if (c == 'n')
		return '\n';
	if (c == 't')
		return '\t';
	if (c == 'e')
		return '\033';
	if (c != 'x')
		return c;
	memcpy(digits, *from, 2);
	*from += strlen(digits);
	return (char)strtoul(digits, NULL, 16);
}

/* Returns the next word of the line, with a NUL at its end, or NULL. *len gets its length. */
static char *word_of(size_t *len)
{
	char *begin, *end;

	rest += strspn(rest, " ");
	if (!*rest)
		return NULL;
	begin = end = rest;
	if (*rest == '"') {
		for (rest++; *rest && *rest != '"';) {
			char c = *rest++;

			*end++ = c == '\\' && *rest ? unescape(&rest) : c;
		}
		must(*rest ? 0 : EINVAL, "a quote is missing");
		rest++;
	} else {
		rest += strcspn(rest, " ");
		end = rest;
	}
	if (*rest)
		rest++;
	*end = '\0';
	*len = (size_t)(end - begin);
	return begin;
}

static char *word(void)
{
	size_t len;

	return word_of(&len);
}

static char *needed(const char *what)
{
	char *found = word();

	must(found ? 0 : EINVAL, what);
	return found;
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

/* Turns hexadecimal digits into bytes, at the same place. */
static size_t bytes_of(char *digits)
{
	size_t len = 0;

	for (char *from = digits; from[0] && from[1]; from += 2) {
		char pair[3] = { from[0], from[1], '\0' };

		digits[len++] = (char)strtoul(pair, NULL, 16);
	}
	return len;
}

static uint64_t integer(const char *text)
{
	char *end;
	uint64_t value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);

	must(end == text || *end ? EINVAL : 0, text);
	return value;
}

/* Appends one value of a field, or one element of its array. */
static size_t put_value(const struct posix_trace_field_np *field, char *value, size_t len,
			unsigned char *payload, size_t room)
{
	struct posix_trace_arg_np arg = { .type = field->type, .room = field->room };

	if (field->form == POSIX_TRACE_FORM_BYTES_NP) {
		if (!strncmp(value, "hex:", 4)) {
			value += 4;
			len = bytes_of(value);
		}
		arg.data = value;
		arg.len = len;
	} else if (field->form == POSIX_TRACE_FORM_FLOAT_NP) {
		arg.f64 = strtod(value, NULL);
	} else if (field->type == POSIX_TRACE_TYPE_CHAR_NP && (*value < '0' || *value > '9')) {
		arg.u64 = (unsigned char)*value;
	} else {
		arg.u64 = integer(value);
	}
	return posix_trace_fields_pack_np(payload, room, &arg, 1);
}

static size_t pack(const struct posix_trace_schema_np *schema, unsigned char *payload, size_t room)
{
	size_t at = 0, len;
	char *value;

	for (unsigned i = 0; schema && i < schema->fields; i++)
		for (unsigned n = 0; n < schema->field[i].count && (value = word_of(&len)); n++)
			at += put_value(&schema->field[i], value, len, payload + at, room - at);
	return at;
}

static long long number(void)
{
	return (long long)integer(needed("a number is missing"));
}

static long long time_of(char *text)
{
	char *unit;
	long long value = strtoll(*text == '+' ? text + 1 : text, &unit, 0);

	must(*unit && strcmp(unit, "ns") && strcmp(unit, "us") && strcmp(unit, "ms") &&
	     strcmp(unit, "s") ? EINVAL : 0, text);
	value *= !strcmp(unit, "us") ? 1000 : !strcmp(unit, "ms") ? 1000000 :
		 !strcmp(unit, "s") ? 1000000000 : 1;
	now = *text == '+' ? now + value : value;
	return now;
}

static long long time_word(void)
{
	return time_of(needed("a time is missing"));
}

static void mark(const char *text, struct posix_trace_event_np *event, bool *is_hex)
{
	if (!strcmp(text, "@late"))
		event->flags |= POSIX_TRACE_EVENT_LATE_NP;
	else if (!strcmp(text, "@cut"))
		event->info.posix_truncation_status = POSIX_TRACE_TRUNCATED_RECORD;
	else if (!strcmp(text, "@hex"))
		*is_hex = true;
	else if (!strncmp(text, "@thread=", 8))
		event->info.posix_thread_id = (pthread_t)strtoull(text + 8, NULL, 0);
	else
		event->info.posix_prog_address = (void *)(uintptr_t)strtoull(text + 1, NULL, 0);
}

static void event(const char *name, unsigned flags)
{
	struct type *of = type_of(name);
	struct posix_trace_event_np event = { .info = { .posix_event_id = of->id } };
	static unsigned char payload[65536];
	bool is_hex = false;
	char *data = NULL;

	event.info.posix_pid = (pid_t)number();
	event.tid = (pid_t)number();
	event.info.posix_thread_id = (pthread_t)event.tid;
	event.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	event.time_ns = time_word();
	event.flags = flags;
	while (rest += strspn(rest, " "), *rest == '@')
		mark(word(), &event, &is_hex);
	event.data = payload;
	if (is_hex) {
		data = word();
		event.data = data ? data : (char *)payload;
		event.data_len = data ? bytes_of(data) : 0;
	} else {
		event.data_len = pack(of->schema, payload, sizeof(payload));
	}
	must(posix_trace_compose_event_np(composer, &event), name);
}

static void filter(const char *name)
{
	static trace_event_set_t set[2];
	struct posix_trace_event_np event = { .info = { .posix_event_id = type_of(name)->id } };
	bool is_start = event.info.posix_event_id == POSIX_TRACE_START;

	event.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	event.time_ns = time_word();
	set[0] = set[1];
	posix_trace_eventset_empty(&set[1]);
	for (const char *member; (member = word());)
		must(posix_trace_eventset_add(type_of(member)->id, &set[1]), member);
	event.data = is_start ? &set[1] : &set[0];
	event.data_len = is_start ? sizeof(set[0]) : sizeof(set);
	must(posix_trace_compose_event_np(composer, &event), name);
}

static void lost(void)
{
	const char *name = needed("a name is missing");
	uint64_t count = (uint64_t)number();
	const char *cause = word(), *pid = word(), *tid = word();
	struct posix_trace_thread_np thread = { 0 };

	if (pid && tid) {
		thread.pid = atoi(pid);
		thread.tid = atoi(tid);
		thread.thread = (pthread_t)thread.tid;
	}
	must(posix_trace_compose_lost_np(composer,
					 cause ? atoi(cause) : POSIX_TRACE_LOST_STREAM_FULL_NP,
					 count, strcmp(name, "-") ? type_of(name)->id : 0,
					 pid && tid ? &thread : NULL),
	     name);
}

static void object(int kind, bool has_time)
{
	struct posix_trace_object_np object = { .kind = kind };

	object.pid = (pid_t)number();
	object.pointer = (uint64_t)number();
	object.time_ns = has_time ? time_word() : 0;
	snprintf(object.name, sizeof(object.name), "%s", needed("a name is missing"));
	must(posix_trace_compose_object_np(composer, &object), "object");
}

static void named(void)
{
	const char *name = needed("a kind is missing");
	int kind = POSIX_TRACE_OBJECT_THREAD_NP;

	while (kind <= POSIX_TRACE_OBJECT_OTHER_NP &&
	       strcmp(posix_trace_object_kind_name_np(kind), name) != 0)
		kind++;
	must(kind > POSIX_TRACE_OBJECT_OTHER_NP ? EINVAL : 0, name);
	object(kind, true);
}

static void mapping(bool is_child)
{
	struct posix_trace_mapping_np mapping = { .until_ns = INT64_MAX, .path = "" };
	char *text;

	mapping.pid = (pid_t)number();
	if (is_child) {
		mapping.parent = (pid_t)number();
		mapping.from_ns = time_word();
		must(posix_trace_compose_mapping_np(composer, &mapping), "child");
		return;
	}
	mapping.start = integer(needed("a start is missing"));
	mapping.end = integer(needed("an end is missing"));
	mapping.offset = integer(needed("an offset is missing"));
	mapping.base = integer(needed("a base is missing"));
	mapping.from_ns = time_word();
	text = needed("an end of the time is missing");
	if (strcmp(text, "end") != 0)
		mapping.until_ns = time_of(text);
	text = needed("a build-id is missing");
	if (strcmp(text, "-") != 0) {
		mapping.build_id_len = (uint32_t)bytes_of(text);
		must(mapping.build_id_len > sizeof(mapping.build_id) ? ENOSPC : 0, "build-id");
		memcpy(mapping.build_id, text, mapping.build_id_len);
	}
	mapping.path = needed("a path is missing");
	must(posix_trace_compose_mapping_np(composer, &mapping), mapping.path);
}

static void set_status(void)
{
	const char *text;

	for (has_status = true; (text = word());) {
		if (!strcmp(text, "running"))
			status.posix_stream_status = POSIX_TRACE_RUNNING;
		else if (!strcmp(text, "full"))
			status.posix_stream_full_status = POSIX_TRACE_FULL;
		else if (!strcmp(text, "overrun"))
			status.posix_stream_overrun_status = POSIX_TRACE_OVERRUN;
		else if (!strcmp(text, "flushing"))
			status.posix_stream_flush_status = POSIX_TRACE_FLUSHING;
		else if (!strncmp(text, "error=", 6))
			status.posix_stream_flush_error = atoi(text + 6);
		else if (!strcmp(text, "log-full"))
			status.posix_log_full_status = POSIX_TRACE_FULL;
		else if (!strcmp(text, "log-overrun"))
			status.posix_log_overrun_status = POSIX_TRACE_OVERRUN;
		else
			must(EINVAL, text);
	}
}

static int policy(const char *name)
{
	static const char *const names[] = { "loop", "until_full", "flush", "append" };

	for (int i = 0; i < 4; i++)
		if (!strcmp(names[i], name))
			return POSIX_TRACE_LOOP + i;
	must(EINVAL, name);
	return 0;
}

#define COPY(member, text) snprintf(origin.member, sizeof(origin.member), "%s", text)

static void set_fact(const char *key, char *value)
{
	if (!strcmp(key, "pid"))
		origin.pid = atoi(value);
	else if (!strcmp(key, "host"))
		COPY(host, value);
	else if (!strcmp(key, "clock"))
		COPY(clock, value);
	else if (!strcmp(key, "hz"))
		origin.clock_hz = integer(value);
	else if (!strcmp(key, "created"))
		origin.creation_ns = time_of(value);
	else if (!strcmp(key, "resolution"))
		origin.resolution_ns = atoi(value);
	else if (!strcmp(key, "tracer"))
		COPY(generation, value);
	else if (!strcmp(key, "name"))
		must(posix_trace_attr_setname(&attr, value), key);
	else if (!strcmp(key, "data"))
		must(posix_trace_attr_setmaxdatasize(&attr, integer(value)), key);
	else if (!strcmp(key, "log"))
		must(posix_trace_attr_setlogfullpolicy(&attr, policy(value)), key);
	else if (!strcmp(key, "size"))
		must(posix_trace_attr_setlogsize(&attr, integer(value)), key);
	else if (!strcmp(key, "stream"))
		must(posix_trace_attr_setstreamfullpolicy(&attr, policy(value)), key);
	else if (!strcmp(key, "buffer"))
		must(posix_trace_attr_setstreamsize(&attr, integer(value)), key);
	else if (!strcmp(key, "inherited"))
		must(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), key);
	else
		must(EINVAL, key);
}

static void set_facts(void)
{
	char *key;

	must(composer ? EINVAL : 0, "trace is not the first line");
	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "append");
	has_attr = true;
	while ((key = word())) {
		char *value = strchr(key, '=');

		must(value ? 0 : EINVAL, key);
		*value = '\0';
		set_fact(key, value + 1);
	}
}

static void begin(void)
{
	if (!composer)
		must(posix_trace_compose_np(log_fd, has_attr ? &attr : NULL, &origin, &composer),
		     "compose");
}

static void take_type(void)
{
	const char *name = needed("a name is missing");

	rest += strspn(rest, " ");
	if (*rest)
		describe(type_of(name), rest);
	else
		type_of(name);
}

static void take_id(void)
{
	trace_event_id_t id = (trace_event_id_t)number();
	const char *name = needed("a name is missing");

	must(posix_trace_compose_name_np(composer, name, &id), name);
}

static void take(char *text);

static void repeat(void)
{
	static char template[65536], copy[65536];
	long long count = number();

	snprintf(template, sizeof(template), "%s", rest);
	while (count-- > 0) {
		strcpy(copy, template);
		take(copy);
	}
}

static void take(char *text)
{
	char *command;

	rest = text;
	rest += strspn(rest, " ");
	if (*rest == '#' || !(command = word()))
		return;
	if (!strcmp(command, "trace")) {
		set_facts();
		return;
	}
	begin();
	if (!strcmp(command, "type"))
		take_type();
	else if (!strcmp(command, "id"))
		take_id();
	else if (!strcmp(command, "object"))
		object(POSIX_TRACE_OBJECT_MUTEX_NP, false);
	else if (!strcmp(command, "thread-name"))
		object(POSIX_TRACE_OBJECT_THREAD_NP, false);
	else if (!strcmp(command, "named"))
		named();
	else if (!strcmp(command, "mapping") || !strcmp(command, "child"))
		mapping(*command == 'c');
	else if (!strcmp(command, "lost"))
		lost();
	else if (!strcmp(command, "late"))
		event(needed("a name is missing"), POSIX_TRACE_EVENT_LATE_NP);
	else if (!strcmp(command, "start"))
		filter("posix_trace_start");
	else if (!strcmp(command, "filter"))
		filter("posix_trace_filter");
	else if (!strcmp(command, "status"))
		set_status();
	else if (!strcmp(command, "repeat"))
		repeat();
	else if (!strcmp(command, "abandon"))
		is_abandoned = true;
	else
		event(command, 0);
}

int main(int argc, char **argv)
{
	static char text[65536];

	log_fd = argc == 2 || argc == 3
			 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
			 : -1;
	must(log_fd < 0 ? EINVAL : 0, "PATH");
	if (argc == 3)
		COPY(host, argv[2]);
	while (fgets(text, sizeof(text), stdin)) {
		line++;
		text[strcspn(text, "\n")] = '\0';
		take(text);
	}
	begin();
	if (is_abandoned)
		posix_trace_compose_abandon_np(composer);
	else
		must(posix_trace_compose_finish_np(composer, has_status ? &status : NULL),
		     "finish");
	return close(log_fd) ? 1 : 0;
}
