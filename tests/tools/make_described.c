/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/make_described.c - writes logs of events with schemas, for test_fields.sh.
 *
 *	make_described append|loop PATH
 *	make_described minute PATH	one event with a field of this name
 *	make_described late|noted PATH COMMAND
 *		three events of a type, which gets a schema with a duration (noted: with another
 *		field) after two of them; runs the command before, when the log has these two
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "make_described: %s: %s\n", what, strerror(err));
	exit(1);
}

static trace_event_id_t type_of(const char *name, const char *schema)
{
	trace_event_id_t id;

	must(posix_trace_eventid_open(name, &id), name);
	if (schema)
		must(posix_trace_eventid_describe_np(id, schema), schema);
	return id;
}

static trace_id_t create(const char *path, int log_policy)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	trace_attr_t attr;
	trace_id_t trid;

	must(fd < 0 ? errno : 0, path);
	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setlogfullpolicy(&attr, log_policy), "setlogfullpolicy");
	must(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), "setinherited");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	posix_trace_attr_destroy(&attr);
	return trid;
}

static void trace_every(void)
{
	trace_event_id_t every =
		type_of("every", "u8 u8; s16 s16; u64 u64; x32 x32; f32 f32; f64 f64;"
				 "bool flag; char c; ns took; time at; errno e");

	posix_trace_fields_np(every, POSIX_TRACE_U8_NP(1), POSIX_TRACE_S16_NP(-2),
			      POSIX_TRACE_U64_NP(-1), POSIX_TRACE_X32_NP(0xbeef),
			      POSIX_TRACE_F32_NP(0.1), POSIX_TRACE_F64_NP(-2.5),
			      POSIX_TRACE_BOOL_NP(7), POSIX_TRACE_CHAR_NP('A'),
			      POSIX_TRACE_NS_NP(1500000),
			      POSIX_TRACE_TIME_NP(INT64_C(1700000000000000001)),
			      POSIX_TRACE_ERRNO_NP(-ENOENT));
}

static void trace_text(void)
{
	trace_event_id_t text =
		type_of("text", "str path; bytes raw; str[8] fixed; u16[2] pair; str tail");
	static const uint16_t pair[2] = { 7, 8 };

	posix_trace_fields_np(text, POSIX_TRACE_STR_NP("/etc/passwd"),
			      POSIX_TRACE_BYTES_NP("\0\xff", 2), POSIX_TRACE_STR_N_NP("four", 8),
			      POSIX_TRACE_BYTES_N_NP(pair, sizeof(pair)),
			      POSIX_TRACE_STR_NP("end"));
	posix_trace_fields_np(text, POSIX_TRACE_STR_NP("\033[31m\""), POSIX_TRACE_BYTES_NP("", 0),
			      POSIX_TRACE_STR_N_NP("four", 8), POSIX_TRACE_BYTES_N_NP(pair, 2));
	posix_trace_event(text, "short\0\7\0\0\0\1\2", 12);
}

static void trace_named(trace_event_id_t named)
{
	posix_trace_fields_np(named, POSIX_TRACE_U32_NP(1), POSIX_TRACE_X32_NP(7),
			      POSIX_TRACE_PTR_NP(&pool));
}

static void trace_in_child(trace_event_id_t named)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		trace_named(named);
		_exit(0);
	}
	must(child < 0 ? errno : 0, "fork");
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
}

static int write_minute(const char *path)
{
	trace_event_id_t tick = type_of("tick", "u32 minute");
	trace_id_t trid = create(path, POSIX_TRACE_APPEND);

	must(posix_trace_start(trid), "start");
	posix_trace_fields_np(tick, POSIX_TRACE_U32_NP(5));
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}

static int write_late(const char *path, const char *command, const char *schema)
{
	const trace_event_id_t call = type_of("call", NULL);
	const trace_id_t trid = create(path, POSIX_TRACE_APPEND);
	const uint64_t took_ns = 500;
	struct posix_trace_status_info status;

	must(posix_trace_start(trid), "start");
	posix_trace_event(call, &took_ns, sizeof(took_ns));
	posix_trace_event(call, &took_ns, sizeof(took_ns));
	must(posix_trace_flush(trid), "flush");
	do {
		usleep(1000);
		must(posix_trace_get_status(trid, &status), "status");
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	if (system(command))
		return 1;
	must(posix_trace_eventid_describe_np(call, schema), "describe");
	posix_trace_event(call, &took_ns, sizeof(took_ns));
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}

int main(int argc, char **argv)
{
	const uint64_t number = 9;
	trace_event_id_t named, late, opaque;
	trace_id_t trid;

	if (argc == 4 && !strcmp(argv[1], "late"))
		return write_late(argv[2], argv[3], "ns time");
	if (argc == 4 && !strcmp(argv[1], "noted"))
		return write_late(argv[2], argv[3], "u64 n");
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "minute"))
		return write_minute(argv[2]);
	named = type_of("named", "u32 op{0=read,1=write}; x32 fl{|1=A,2=B}; ptr lock;"
				 "@level 2; @begin op; @key lock");
	late = type_of("late", NULL);
	opaque = type_of("opaque", NULL);
	must(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &pool, "pool lock"), "object");
	trid = create(argv[2], strcmp(argv[1], "loop") ? POSIX_TRACE_APPEND : POSIX_TRACE_LOOP);
	must(posix_trace_start(trid), "start");
	trace_every();
	trace_text();
	trace_named(named);
	trace_in_child(named);
	posix_trace_event(named, "\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2", 18);
	posix_trace_event(late, &number, sizeof(number));
	must(posix_trace_eventid_describe_np(late, "u64 n"), "describe late");
	usleep(5000); /* longer than the tolerance for the times of names */
	must(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &pool, NULL), "object");
	posix_trace_fields_np(named, POSIX_TRACE_U32_NP(0), POSIX_TRACE_X32_NP(1),
			      POSIX_TRACE_PTR_NP(&pool));
	posix_trace_event(opaque, &number, sizeof(number));
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
