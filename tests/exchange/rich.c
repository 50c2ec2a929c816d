/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exchange/rich.c - writes a log with everything that a log can contain, for check_exchange.py.
 *
 *	rich LOG [EVENTS]
 *
 * Many threads of several processes, schemas, binary payloads, truncation, losses, objects, spans
 * that nest and spans that cross, numbers of 64 bits, names that are UTF-8 and names that are not,
 * times before 1970 and after 2038, and times that decrease. The log is the same in every run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#define SECOND INT64_C(1000000000)

static struct posix_trace_composer_np *composer;
static uint64_t seed = 42;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "rich: %s: %s\n", what, strerror(err));
	exit(1);
}

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static trace_event_id_t type(const char *name, const char *schema)
{
	trace_event_id_t id = 0;

	must(posix_trace_compose_name_np(composer, name, &id), name);
	if (schema)
		must(posix_trace_compose_schema_np(composer, id, schema), schema);
	return id;
}

static struct posix_trace_event_np next; /* time, thread and flags of the next events */

static void put(trace_event_id_t id, const void *data, size_t len)
{
	next.info.posix_event_id = id;
	next.data = data;
	next.data_len = len;
	must(posix_trace_compose_event_np(composer, &next), "event");
	next.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	next.flags = 0;
	next.time_ns += 1 + draw(2000);
}

/* Thread n of process 100 + n % 5. Some threads have no Linux number, and one has no process. */
static void be_thread(uint32_t n)
{
	next.info.posix_pid = (pid_t)(100 + n % 5);
	next.tid = n % 13 == 7 ? 0 : (pid_t)(1000 + n);
	next.info.posix_thread_id = 0x7f0000000000 + 0x1000 * (pthread_t)n;
	next.info.posix_prog_address = (void *)(uintptr_t)(0x400000 + 16 * n);
	if (n == 40) {
		next.info.posix_pid = 0;
		next.tid = 0;
		next.info.posix_thread_id = 0;
	}
}

static size_t pack(unsigned char *to, const struct posix_trace_arg_np *args, size_t count)
{
	return posix_trace_fields_pack_np(to, POSIX_TRACE_FIELDS_BYTES_NP, args, count);
}

static void put_typed(trace_event_id_t id, uint32_t i)
{
	static const char *const paths[] = { "/etc/passwd", "", "d\303\251j\303\240 vu",
					     "broken\377" };
	static const uint16_t triple[] = { 1, 2, 65535 };
	const struct posix_trace_arg_np args[] = {
		POSIX_TRACE_U8_NP(i), POSIX_TRACE_S16_NP(-(int)i), POSIX_TRACE_U32_NP(i % 4),
		POSIX_TRACE_X64_NP(UINT64_MAX - i), POSIX_TRACE_U64_NP(UINT64_MAX - i),
		POSIX_TRACE_S64_NP(INT64_MIN + (int)i), POSIX_TRACE_F64_NP(i / 3.0),
		POSIX_TRACE_F32_NP(0.5 * i), POSIX_TRACE_STR_NP(paths[i % 4]),
		POSIX_TRACE_BYTES_NP("\0\1\2\377", i % 5), POSIX_TRACE_PTR_NP(0x5000 + 8 * (i % 3)),
		POSIX_TRACE_TIME_NP(next.time_ns), POSIX_TRACE_ERRNO_NP(ENOENT),
		POSIX_TRACE_BOOL_NP(i % 2), POSIX_TRACE_BYTES_N_NP(triple, sizeof(triple)),
		POSIX_TRACE_STR_N_NP("fixed", 8), POSIX_TRACE_NS_NP(17 * (uint64_t)i),
		POSIX_TRACE_CHAR_NP('a' + i % 26), POSIX_TRACE_STR_NP("end"),
	};
	unsigned char data[POSIX_TRACE_FIELDS_BYTES_NP + 3];
	size_t len = pack(data, args, sizeof(args) / sizeof(args[0]));

	if (i % 10 == 3) { /* the stream truncates it */
		len = draw((uint32_t)len);
		next.info.posix_truncation_status = POSIX_TRACE_TRUNCATED_RECORD;
	} else if (i % 10 == 6) { /* recorded by a newer program: more data than the schema
				   * describes */
		memcpy(data + len, "\1\2\3", 3);
		len += 3;
	}
	put(id, data, len);
}

static const char typed_schema[] =
	"@level 4; u8 small; s16 minus; u32 op{0=read,1=write,2=seek}; x64 mask; u64 large; "
	"s64 least;f64 third; f32 half; str path; bytes blob; ptr lock; time when; errno err; "
	"bool odd;u16[3] triple; str[8] fixed; ns took; char letter; str last";

static void name_objects(void)
{
	static const char *const names[] = { "queue lock", "d\303\251j\303\240", "third" };

	for (uint32_t i = 0; i < 3; i++) {
		struct posix_trace_object_np object = {
			.kind = POSIX_TRACE_OBJECT_MUTEX_NP, .pid = (pid_t)(100 + i),
			.pointer = 0x5000 + 8 * i, .time_ns = INT64_MIN,
		};

		strcpy(object.name, names[i]);
		must(posix_trace_compose_object_np(composer, &object), "object");
	}
}

static void spans(trace_event_id_t outer[2], trace_event_id_t inner[2], uint32_t thread)
{
	be_thread(thread);
	put(outer[0], "request", 7);
	put(inner[0], "read", 4);
	put(inner[1], NULL, 0);
	put(inner[0], "write", 5);
	put(inner[1], NULL, 0);
	put(outer[1], "done", 4);
}

static void lose(trace_event_id_t kind, uint32_t thread)
{
	const struct posix_trace_thread_np who = {
		(pid_t)(100 + thread % 5), (pid_t)(1000 + thread),
		0x7f0000000000 + 0x1000 * (pthread_t)thread,
	};

	be_thread(40);
	put(POSIX_TRACE_OVERFLOW, NULL, 0);
	next.time_ns += SECOND;
	put(POSIX_TRACE_RESUME, NULL, 0);
	must(posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_STREAM_FULL_NP, 500, kind,
					 &who),
	     "lost");
}

static void compose(const char *path)
{
	static const struct posix_trace_origin_np origin = {
		.pid = 100, .host = "b\303\251rlin", .clock = "sundial", .clock_hz = 1000000,
		.creation_ns = -4 * SECOND, .resolution_ns = 1000, .generation = "rich 1",
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	trace_attr_t attr;

	must(fd < 0 ? errno : 0, path);
	must(posix_trace_attr_init(&attr), "attr");
	must(posix_trace_attr_setname(&attr, "rich"), "name");
	must(posix_trace_attr_setmaxdatasize(&attr, 4096), "max data");
	must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "policy");
	must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL), "policy");
	must(posix_trace_compose_np(fd, &attr, &origin, &composer), "compose");
}

int main(int argc, char **argv)
{
	static const int64_t eras[] = {
		/* 1960, the last of 1969, 2023 */
		-3 * SECOND * 100000000, -SECOND, 1700000000 * SECOND,
		(INT64_C(1) << 31) * SECOND, INT64_C(7258118400) * SECOND, /* 2038, 2200 */
	};
	static const char *const odd[] = {
		"d\303\251j\303\240 vu \351\233\252", "broken\377utf8\302", "clear\033[2J", "",
		"quote\"back\\slash", "two\nlines",
		"as long as a name can be: 63 bytes, all of which must come thru",
	};
	trace_event_id_t outer[2], inner[2], cross[2], plain, typed, names[7];
	uint32_t events = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 4000;
	static unsigned char binary[4096];

	if (argc < 2)
		return 2;
	compose(argv[1]);
	plain = type("plain", NULL);
	typed = type("typed", typed_schema);
	outer[0] = type("request_begin", NULL);
	outer[1] = type("request_end", NULL);
	inner[0] = type("disk", "@begin io; @level 3; str what");
	inner[1] = type("disk done", "@end io");
	cross[0] = type("cross_enter", NULL);
	cross[1] = type("cross_exit", NULL);
	for (size_t i = 0; i < 7; i++)
		names[i] = type(odd[i], NULL);
	name_objects();
	for (size_t i = 0; i < sizeof(binary); i++)
		binary[i] = (unsigned char)draw(256);

	for (size_t era = 0; era < sizeof(eras) / sizeof(eras[0]); era++) {
		next.time_ns = eras[era];
		for (uint32_t i = 0; i < events / 5; i++) {
			be_thread(draw(41));
			put(plain, binary, i % 97);
			put_typed(typed, i);
			put(names[i % 7], "text with \"quotes\"\n", 18);
			if (i % 10 == 0)
				spans(outer, inner, draw(40));
			if (i % 25 == 0) { /* two spans that cross */
				be_thread(draw(40));
				put(cross[0], NULL, 0);
				put(outer[0], NULL, 0);
				put(cross[1], NULL, 0);
				put(outer[1], NULL, 0);
			}
		}
		put(plain, binary, sizeof(binary));
		if (era == 2)
			lose(typed, 3);
		if (era == 3)
			lose(plain, 5);
	}
	for (int i = 0; i < 5; i++) { /* late events: their writers were suspended */
		next.time_ns -= SECOND;
		next.flags = POSIX_TRACE_EVENT_LATE_NP;
		be_thread((uint32_t)i);
		put(plain, "late", 4);
	}
	must(posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_NESTING_NP, 3, 0, NULL),
	     "lost");
	must(posix_trace_compose_finish_np(composer, NULL), "finish");
	return 0;
}
