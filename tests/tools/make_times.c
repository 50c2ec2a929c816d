/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/make_times.c - writes a log of calls, locks and spans of known durations, for test_top.sh.
 *
 *	make_times PATH
 *
 * 100 events "call" of 1 to 100 microseconds; 3 waits of 2 ms for the lock "pool", 1 of 1 ms for
 * another; 10 holds of a lock, which are no waits; 4 spans "job" of 5 ms that overlap and have
 * different keys, a fifth one that does not end and an end without a beginning.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "make_times: %s: %s\n", what, strerror(err));
	exit(1);
}

static trace_event_id_t type_of(const char *name, const char *schema)
{
	trace_event_id_t id;

	must(posix_trace_eventid_open(name, &id), name);
	must(posix_trace_eventid_describe_np(id, schema), schema);
	return id;
}

static void jobs(void)
{
	trace_event_id_t begin = type_of("job.begin", "u32 job; @begin job; @key job");
	trace_event_id_t end = type_of("job.end", "u32 job; @end job; @key job");

	posix_trace_fields_np(end, POSIX_TRACE_U32_NP(99));
	for (unsigned job = 0; job < 5; job++)
		posix_trace_fields_np(begin, POSIX_TRACE_U32_NP(job));
	usleep(5000);
	for (unsigned job = 0; job < 4; job++)
		posix_trace_fields_np(end, POSIX_TRACE_U32_NP(job));
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	trace_event_id_t call, lock, held;
	static int pool, other;
	trace_id_t trid;

	must(fd < 0 ? errno : 0, "PATH");
	must(posix_trace_create_withlog(0, NULL, fd, &trid), "create_withlog");
	must(posix_trace_start(trid), "start");
	must(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &pool, "pool"), "object");
	call = type_of("call", "ns time; s32 result");
	lock = type_of("lock", "ns time; ptr lock");
	held = type_of("lock_held", "ns time; ptr lock");
	for (int i = 1; i <= 100; i++)
		posix_trace_fields_np(call, POSIX_TRACE_NS_NP(1000 * i), POSIX_TRACE_S32_NP(0));
	for (int i = 0; i < 3; i++)
		posix_trace_fields_np(lock, POSIX_TRACE_NS_NP(2000000), POSIX_TRACE_PTR_NP(&pool));
	posix_trace_fields_np(lock, POSIX_TRACE_NS_NP(1000000), POSIX_TRACE_PTR_NP(&other));
	for (int i = 0; i < 10; i++)
		posix_trace_fields_np(held, POSIX_TRACE_NS_NP(9000000), POSIX_TRACE_PTR_NP(&other));
	jobs();
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
