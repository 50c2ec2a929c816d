/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * open_calls.c - finds the functions that had not returned when their process or the trace ended.
 */
#include "live/open_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#include "../../../lib/preload/patch_plan.h"
#include "../../../lib/preload/types.h"
#include "base/memory_file.h"
#include "base/vec.h"
#include "base/when.h"
#include "base/whole.h"
#include "live/ended.h"
#include "log/field.h"

#define CALLS 1000000 /* the most calls that are kept; further calls are ignored */
#define SECOND_NS INT64_C(1000000000)

struct open_call {
	uint64_t function;
	int64_t begin_ns;
	int64_t end_ns;    /* 0: not known yet */
	pid_t pid, tid;
	uint32_t depth;
	bool has_returned; /* the log has its event */
};

/* The last moment at which a process is known to have existed. */
struct last {
	pid_t pid;
	bool has_ended;
	int64_t ns;
};

/* Returns the present stamp of the clock that the traced processes use. */
static uint64_t clock_now(bool is_counter)
{
	struct timespec now;

#if defined __x86_64__
	if (is_counter)
		return __builtin_ia32_rdtsc();
#endif
	(void)is_counter;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* If this process has a limit for the size of files, it may be unable to make the file. */
int open_calls_make(void)
{
	const uint64_t magic = SHIM_OPEN_MAGIC;
	struct rlimit limit;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < SHIM_OPEN_BYTES)
		return -1;
	fd = memory_file("posixtrace-calls");
	if (fd >= 0 && (ftruncate(fd, (off_t)SHIM_OPEN_BYTES) ||
			whole_pwrite(fd, &magic, sizeof(magic), 0) ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Converts the stamps of a process to times by a straight line through two moments. */
struct scale {
	uint64_t from, now;
	int64_t from_ns, now_ns;
};

/* Returns the time of a stamp, or INT64_MAX if the stamp cannot be right. */
static int64_t time_of(const struct scale *scale, uint64_t stamp)
{
	const uint64_t ticks = scale->now - scale->from;

	if (!ticks || (int64_t)ticks < 0 || stamp - scale->from > ticks)
		return INT64_MAX;
	return scale->from_ns + (int64_t)((__int128)(stamp - scale->from) *
					  (scale->now_ns - scale->from_ns) / (__int128)ticks);
}

/*
 * Adds the active calls of a block. Returns the latest begin of a call, or latest_ns if that is
 * later.
 */
static int64_t add_calls(struct open_calls *calls, const struct scale *scale, pid_t pid,
			 const struct shim_open *open, size_t count, int64_t latest_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct open_call call = {
			.function = open[i].function,
			.begin_ns = time_of(scale, open[i].begin), .pid = pid,
			.tid = (pid_t)open[i].tid, .depth = open[i].depth,
		};

		if (!call.function || call.begin_ns == INT64_MAX || call.tid <= 0 ||
		    calls->calls == CALLS || !vec_grow(&calls->call, calls->calls, 1))
			continue;
		calls->call[calls->calls++] = call;
		if (call.begin_ns > latest_ns)
			latest_ns = call.begin_ns;
	}
	return latest_ns;
}

/*
 * Adds the active calls of one part of the file. Reads only the blocks that have data. If the
 * process has executed another program (head[3]), this ended the calls, but the time of the
 * execution is not known. So the calls end when the youngest of them began.
 */
static void read_part(struct open_calls *calls, int fd, off_t at, pid_t pid)
{
	struct shim_open open[1024];
	const off_t first = at + (off_t)offsetof(struct shim_open_process, open);
	const off_t end = at + (off_t)sizeof(struct shim_open_process);
	const size_t before = calls->calls;
	struct scale scale;
	int64_t latest_ns = 0;
	uint64_t head[4];

	if (whole_pread(fd, head, sizeof(head), (uint64_t)at))
		return;
	scale.now = clock_now(head[2]);
	scale.now_ns = when_now();
	scale.from = head[0];
	scale.from_ns = (int64_t)head[1];
	for (off_t block = first; block < end; block += (off_t)sizeof(open)) {
		off_t data = lseek(fd, block, SEEK_DATA);

		if (data < 0 || data >= end)
			break;
		if (data > block)
			block += (data - block) / (off_t)sizeof(open) * (off_t)sizeof(open);
		if (whole_pread(fd, open, sizeof(open), (uint64_t)block))
			break;
		latest_ns = add_calls(calls, &scale, pid, open, sizeof(open) / sizeof(open[0]),
				      latest_ns);
	}
	for (size_t i = before; head[3] && i < calls->calls; i++)
		calls->call[i].end_ns = latest_ns;
}

void open_calls_read(struct open_calls *calls, int fd)
{
	struct shim_open_head head;

	*calls = (struct open_calls){ .read_ns = when_now() };
	if (fd < 0 || whole_pread(fd, &head, sizeof(head), 0))
		return;
	for (size_t i = 0; i < SHIM_OPEN_PROCESSES; i++)
		if ((pid_t)head.pid[i] > 0)
			read_part(calls, fd,
				  (off_t)(sizeof(head) + i * sizeof(struct shim_open_process)),
				  (pid_t)head.pid[i]);
}

/* Sorts calls by process, and for each process by depth, the deepest call first. */
static int by_depth(const void *a, const void *b)
{
	const struct open_call *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->depth < y->depth) - (x->depth > y->depth);
}

/* ------------------------------------------------------------------ the log */

struct scan {
	struct open_calls *calls;
	struct last *last;
	size_t lasts;
	int64_t end_ns;       /* time of the last event that is not the end of the stream */
	trace_event_id_t ended;
	/* the types of calls: func.call, and the types of functions with arguments */
	trace_event_id_t *call;
	size_t call_types;
	struct posix_trace_schema_np call_schema, ended_schema;
};

static struct last *last_of(struct scan *scan, pid_t pid)
{
	for (size_t i = 0; i < scan->lasts; i++)
		if (scan->last[i].pid == pid)
			return &scan->last[i];
	return NULL;
}

/* Lists the processes that have calls. There are only few, because each has a part of the file. */
static bool list_processes(struct scan *scan)
{
	for (size_t i = 0; i < scan->calls->calls; i++) {
		if (last_of(scan, scan->calls->call[i].pid))
			continue;
		if (!vec_grow(&scan->last, scan->lasts, 1))
			return false;
		scan->last[scan->lasts++] = (struct last){ .pid = scan->calls->call[i].pid };
	}
	return true;
}

/*
 * Finds the types of calls. The data of all calls begins with the same fields, so one schema is
 * enough for all.
 */
static void read_types(struct scan *scan, trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	trace_event_id_t id;
	int end;

	scan->call_types = 0;
	scan->ended = 0;
	if (posix_trace_schema_parse_np(SHIM_CALL_FIELDS, &scan->call_schema))
		return;
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &end) && !end) {
		if (posix_trace_eventid_get_name(trid, id, name) ||
		    posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text)))
			continue;
		if ((!strcmp(name, "func.call") ||
		     !strncmp(name, SHIM_CALL_PREFIX, strlen(SHIM_CALL_PREFIX))) &&
		    !strncmp(text, SHIM_CALL_FIELDS ";", strlen(SHIM_CALL_FIELDS ";")) &&
		    vec_grow(&scan->call, scan->call_types, 1))
			scan->call[scan->call_types++] = id;
		if (!strcmp(name, ENDED_EVENT) &&
		    !posix_trace_schema_parse_np(text, &scan->ended_schema))
			scan->ended = id;
	}
}

/* Marks a call that returned after the active calls were read, because the log has its event. */
static void mark_returned(struct scan *scan, const struct posix_trace_event_np *event)
{
	const int64_t depth = field_integer(&scan->call_schema, "depth", event, -1);
	struct posix_trace_value_np function;

	if (!field_by_name(&scan->call_schema, "function", event, &function) ||
	    function.field->form != POSIX_TRACE_FORM_UNSIGNED_NP)
		return;

	for (size_t i = 0; i < scan->calls->calls; i++) {
		struct open_call *call = &scan->calls->call[i];

		if (call->pid == event->info.posix_pid && call->tid == event->tid &&
		    call->depth == depth && call->function == function.u64)
			call->has_returned = true;
	}
}

static bool is_call(const struct scan *scan, trace_event_id_t id)
{
	for (size_t i = 0; i < scan->call_types; i++)
		if (scan->call[i] == id)
			return true;
	return false;
}

static void scan_log(struct scan *scan, trace_id_t trid)
{
	struct posix_trace_event_np event;
	struct last *last = NULL;
	int end;

	while (!posix_trace_getnext_np(trid, &event, &end) && !end) {
		const trace_event_id_t id = event.info.posix_event_id;

		if (id != POSIX_TRACE_STOP && event.time_ns > scan->end_ns)
			scan->end_ns = event.time_ns;
		if (!last || last->pid != event.info.posix_pid)
			last = last_of(scan, event.info.posix_pid);
		if (last && !last->has_ended && event.time_ns > last->ns)
			last->ns = event.time_ns;
		if (scan->ended && id == scan->ended) {
			struct last *of = last_of(scan, (pid_t)field_integer(&scan->ended_schema,
									     "pid", &event, 0));

			if (of) {
				of->has_ended = true;
				of->ns = event.time_ns;
			}
		}
		/*
		 * The search for the type is linear, so it is done only for the few events that are
		 * late enough.
		 */
		if (last && event.time_ns >= scan->calls->read_ns - SECOND_NS / 1000 &&
		    is_call(scan, id))
			mark_returned(scan, &event);
	}
}

/*
 * Returns false only if there is no such process. If the process belongs to another user, kill()
 * fails with another error.
 */
static bool is_alive(pid_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

/*
 * Sets the ends of the calls. A process that still runs was in its functions until the end of the
 * trace.
 */
static void set_ends(struct scan *scan)
{
	for (size_t i = 0; i < scan->lasts; i++) {
		struct last *last = &scan->last[i];

		if (!last->has_ended && is_alive(last->pid) && last->ns < scan->end_ns)
			last->ns = scan->end_ns;
	}
}

static void pass_call(struct kernel *kernel, const struct open_call *call, int64_t end_ns)
{
	struct kernel_record record = {
		.time_ns = (end_ns > call->begin_ns ? end_ns : call->begin_ns) + 1,
		.pid = call->pid, .tid = call->tid, .kind = KERNEL_CALL,
		.other = (uint32_t)kernel->period.calls,
	};

	if (!vec_grow(&kernel->period.call, kernel->period.calls, 1) ||
	    !kernel_store_keep(&kernel->period.store, &record, NULL, NULL))
		return;
	kernel->period.call[kernel->period.calls++] = (struct kernel_call){
		.function = call->function, .depth = call->depth,
		.span_ns = (uint64_t)(record.time_ns - call->begin_ns)
	};
}

/* All calls of a process have the same end, so that they nest. The deepest call is passed first. */
static void pass_all(struct open_calls *calls, struct scan *scan, struct kernel *kernel)
{
	for (size_t i = 0; i < calls->calls; i++) {
		struct last *last = last_of(scan, calls->call[i].pid);

		if (last && !calls->call[i].end_ns && calls->call[i].begin_ns > last->ns)
			last->ns = calls->call[i].begin_ns;
	}
	for (size_t i = 0; i < calls->calls; i++) {
		const struct last *last = last_of(scan, calls->call[i].pid);

		if (last && !calls->call[i].has_returned)
			pass_call(kernel, &calls->call[i],
				  calls->call[i].end_ns ? calls->call[i].end_ns : last->ns);
	}
}

/* The callback of rotation_each(): examines one log. */
static void read_log(void *arg, int fd)
{
	struct scan *scan = arg;
	trace_id_t trid;

	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid))
		return;
	read_types(scan, trid);
	scan_log(scan, trid);
	posix_trace_close(trid);
}

/* A process may have ended in an earlier log, so all logs are read. */
void open_calls_pass(struct open_calls *calls, struct kernel *kernel, const struct rotation *logs)
{
	struct scan *scan;

	if (!calls->calls)
		return;
	qsort(calls->call, calls->calls, sizeof(*calls->call), by_depth);
	scan = calloc(1, sizeof(*scan));
	if (scan) {
		scan->calls = calls;
		if (list_processes(scan)) {
			rotation_each(logs, read_log, scan);
			set_ends(scan);
			pass_all(calls, scan, kernel);
		}
		free(scan->last);
		free(scan->call);
	}
	free(scan);
}

void open_calls_fini(struct open_calls *calls)
{
	free(calls->call);
	*calls = (struct open_calls){ .calls = 0 };
}
