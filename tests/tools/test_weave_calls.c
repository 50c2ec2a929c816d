/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests how live/weave_calls.c finds the programs in which the preload library was, from the
 * kernel's records of executions and the events process.start of the library. Processes execute
 * many programs, the events are not in order of time, and the memory does not grow with them.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "live/weave.h"
#include "support/memory_file.h"
#include "support/random.h"
#include "support/support.h"

#define EXECUTIONS 600000
#define FEW        50000 /* more than a chunk of each store has */
#define PROCESSES  300
#define START      7     /* the id of process.start */

static struct execution {
	pid_t pid;
	int64_t time_ns, start_ns; /* start_ns 0: the library was not in the program */
} execution[EXECUTIONS];
static size_t executions, next_event, listed;

/* These functions replace those of the library: the log has the events process.start only. */
static int fake_list_rewind(trace_id_t from)
{
	(void)from;
	listed = 0;
	return 0;
}

static int fake_list_next(trace_id_t from, trace_event_id_t *id, int *end)
{
	(void)from;
	*id = START;
	*end = listed++ > 0;
	return 0;
}

static int fake_name(trace_id_t from, trace_event_id_t id, char *name)
{
	(void)from;
	strcpy(name, id == START ? "process.start" : "process.end");
	return 0;
}

static int fake_next(trace_id_t from, struct posix_trace_event_np *event, int *end)
{
	(void)from;
	while (next_event < executions && !execution[next_event].start_ns)
		next_event++;
	*end = next_event == executions;
	if (!*end) {
		*event = (struct posix_trace_event_np){
			.time_ns = execution[next_event].start_ns,
		};
		event->info.posix_event_id = START;
		event->info.posix_pid = execution[next_event++].pid;
	}
	return 0;
}

static int fake_rewind(trace_id_t from)
{
	(void)from;
	next_event = 0;
	return 0;
}

#define posix_trace_eventtypelist_rewind     fake_list_rewind
#define posix_trace_eventtypelist_getnext_id fake_list_next
#define posix_trace_eventid_get_name         fake_name
#define posix_trace_getnext_np               fake_next
#define posix_trace_rewind                   fake_rewind

#include "base/pidset.c"
#include "base/whole.c"
#include "live/kernel_store.c"
#include "live/weave_calls.c"

/* These functions replace those of the tool. */
int spool_create(int *fd)
{
	*fd = memory_file("store", MFD_CLOEXEC);
	return *fd < 0 ? errno : 0;
}

void say(const char *format, ...)
{
	(void)format;
}

const char *say_strerror(int err)
{
	return strerror(err);
}

static struct form_type type = { .row = NULL };

struct form_type *forms_named(struct forms *forms, const char *name)
{
	(void)forms;
	ck_assert_str_eq(name, "process.start");
	return &type;
}

struct form_type *forms_type(struct forms *forms, const struct syscalls_record *record,
			     const unsigned char *piece, size_t bytes, bool as_sys)
{
	(void)forms, (void)record, (void)piece, (void)bytes, (void)as_sys;
	return NULL;
}

size_t forms_data(const struct form_type *form, const struct syscalls_record *record,
		  const unsigned char *piece, size_t bytes, unsigned char data[FORM_DATA_BYTES])
{
	(void)form, (void)record, (void)piece, (void)bytes, (void)data;
	return 0;
}

const char *syscalls_name(uint32_t number, bool is_32bit)
{
	(void)number, (void)is_32bit;
	return "execve";
}

pid_t kernel_inner_process(const struct kernel *kernel, pid_t pid)
{
	(void)kernel;
	return pid;
}

void weave_serve(struct weave *weave)
{
	(void)weave;
}

int weave_put(struct weave *weave, trace_event_id_t id, const struct kernel_record *record,
	      uint64_t address, const void *data, size_t len)
{
	(void)weave, (void)id, (void)record, (void)address, (void)data, (void)len;
	return 0;
}

int weave_compose_type(struct weave *weave, const char *name, const char *schema,
		       trace_event_id_t *id)
{
	(void)weave, (void)name, (void)schema, (void)id;
	return 0;
}

static bool wants_type(void *arg, const char *name)
{
	(void)arg, (void)name;
	return true;
}

/*
 * Makes executions of random processes. The library starts at a random time before the process
 * executes another program, and events of other processes may precede it in the log.
 */
static void make_executions(size_t count)
{
	static int64_t next_ns[PROCESSES];
	uint64_t random = 5;

	executions = count;
	next_event = 0;
	for (size_t i = 0; i < PROCESSES; i++)
		next_ns[i] = (int64_t)(count + 100) * 1000;
	for (size_t i = count; i-- > 0;) {
		const size_t process = random_between(&random, 0, PROCESSES - 1);
		const int64_t now = (int64_t)(i + 1) * 1000, until = next_ns[process] - 1;

		execution[i] = (struct execution){
			.pid = (pid_t)(1000 + process), .time_ns = now,
			.start_ns = random_between(&random, 0, 2) ?
				    (int64_t)random_between(&random, (size_t)now + 1,
							    (size_t)until) : 0,
		};
		next_ns[process] = now;
	}
}

/* Keeps the kernel's record of each execution. */
static void keep_executions(struct kernel_store *store)
{
	for (size_t i = 0; i < executions; i++) {
		const struct syscalls_record data = {
			.pid = (uint32_t)execution[i].pid, .tid = (uint32_t)execution[i].pid,
			.kind = SYSCALLS_EXEC, .result = SHIM_IMAGE_GLIBC,
		};
		const struct kernel_record record = {
			.time_ns = execution[i].time_ns, .pid = execution[i].pid,
			.tid = execution[i].pid, .kind = KERNEL_EVENT,
		};
		const struct kernel_event event = {
			.type = KERNEL_TYPE_CALL, .bytes = sizeof(data),
		};

		ck_assert(kernel_store_keep(store, &record, &event, &data));
	}
}

/* Weaves the executions. Those without the library get the event process.start, and no others. */
static void weave_executions(size_t count)
{
	struct forms forms = { .wants = wants_type };
	struct syscalls *const syscalls = (struct syscalls *)&forms; /* only a flag */
	struct kernel kernel = {
		.pid = 1, .syscalls = syscalls, .forms = &forms,
		.plan = { .calls = KERNEL_CALLS_ALL, .has_library = true },
	};
	struct kernel_period period = { .calls = 0 };
	struct weave weave = { .kernel = &kernel, .period = &period };
	const struct kernel_item *item;
	size_t i = 0;

	make_executions(count);
	keep_executions(&period.store);
	ck_assert_int_eq(weave_calls_types(&weave), 0);
	ck_assert_int_eq(kernel_reader_begin(&weave.reader, &period.store), 0);
	for (; (item = kernel_reader_look(&weave.reader)) != NULL; i++) {
		weave_calls_note(&weave, item);
		ck_assert_int_eq(weave_call(&weave, item), 0);
		if ((weave.examination->type != NULL) != !execution[i].start_ns)
			ck_abort_msg("execution %zu of process %d", i, (int)execution[i].pid);
		kernel_reader_skip(&weave.reader);
	}
	ck_assert_uint_eq(i, count);
	ck_assert_int_eq(weave.reader.err, 0);
	kernel_reader_end(&weave.reader);
	weave_calls_end(&weave);
	kernel_store_fini(&period.store);
}

START_TEST(the_library_is_found_in_the_programs_that_it_reported)
{
	for (size_t count = 0; count < 20; count++)
		weave_executions(count);
	weave_executions(10000);
}
END_TEST

static long peak_bytes(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss * 1024;
}

START_TEST(the_memory_does_not_grow_with_the_executed_programs)
{
	long few;

	/* The array of the test itself is in memory before the first measurement. */
	make_executions(EXECUTIONS);
	weave_executions(FEW);
	few = peak_bytes();
	weave_executions(EXECUTIONS);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
	/* A sanitizer keeps freed memory, or has memory of its own for each access. */
	ck_assert_int_lt(peak_bytes() - few, (EXECUTIONS - FEW) * 8);
#else
	(void)few;
#endif
}
END_TEST

SUITE_MAIN("weave_calls", the_library_is_found_in_the_programs_that_it_reported,
	   the_memory_does_not_grow_with_the_executed_programs)
