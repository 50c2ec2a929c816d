/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that live/weave_events.c puts an event in the place of a switch that the kernel did not
 * record, for records of two threads that get a CPU and leave it.
 */
#include <errno.h>
#include <string.h>

#include "live/weave.h"
#include "support/support.h"

/* The events that the composer got, as letters: i sched.in, o sched.out, g and G sched.gap. */
static char events[64];
static size_t count;

/* This function replaces that of the tool. */
int weave_compose(struct weave *weave, const struct posix_trace_event_np *event)
{
	const char *const letters = "iox?";
	const unsigned char *data = event->data;

	(void)weave;
	if (event->tid != 11)
		return 0;
	ck_assert_int_eq(event->info.posix_pid, 10);
	ck_assert_uint_lt(count, sizeof(events) - 1);
	if (event->info.posix_event_id == WEAVE_GAP)
		events[count++] = data[sizeof(uint32_t)] ? 'G' : 'g';
	else if (event->info.posix_event_id <= WEAVE_EXIT)
		events[count++] = letters[event->info.posix_event_id];
	events[count] = '\0';
	return 0;
}

#include "live/kernel_states.c"
#include "live/weave_events.c"

/* These functions replace those of the tool that other records need. */
static struct kernel_task task[] = {
	{ .tid = 10, .pid = 10, .is_traced = true, .name = "program" },
	{ .tid = 11, .pid = 10, .is_traced = true, .name = "thread" },
	{ .tid = 99, .pid = 99, .name = "other" },
};

struct kernel_task *kernel_find_task(const struct kernel *kernel, pid_t tid)
{
	(void)kernel;
	for (size_t i = 0; i < sizeof(task) / sizeof(*task); i++)
		if (task[i].tid == tid)
			return &task[i];
	return NULL;
}

void kernel_inner_ids(const struct kernel *kernel, pid_t *pid, pid_t *tid)
{
	(void)kernel, (void)pid, (void)tid;
}

int weave_compose_type(struct weave *weave, const char *name, const char *schema,
		       trace_event_id_t *id)
{
	(void)weave, (void)name, (void)schema, (void)id;
	return 0;
}

int weave_maps_process(struct weave *weave, pid_t pid, int64_t time_ns)
{
	(void)weave, (void)pid, (void)time_ns;
	return 0;
}

int weave_jit_stack(struct weave *weave, uint32_t number, pid_t pid, int64_t time_ns)
{
	(void)weave, (void)number, (void)pid, (void)time_ns;
	return 0;
}

int weave_call(struct weave *weave, const struct kernel_item *item)
{
	(void)weave, (void)item;
	return 0;
}

void weave_calls_note(struct weave *weave, const struct kernel_item *item)
{
	(void)weave, (void)item;
}

int weave_calls_types(struct weave *weave)
{
	(void)weave;
	return 0;
}

int weave_traps_types(struct weave *weave)
{
	(void)weave;
	return 0;
}

int weave_traps_put(struct weave *weave, const struct kernel_item *item)
{
	(void)weave, (void)item;
	return 0;
}

bool kernel_copies_set_stack(struct kernel_copies *copies, uint32_t number,
			     const struct kernel_raw *raw)
{
	(void)copies, (void)number, (void)raw;
	return false;
}

uint32_t kernel_copies_number(const struct kernel_copies *copies, uint32_t number)
{
	(void)copies;
	return number;
}

uint32_t kernel_copies_unwind(struct kernel_copies *copies, uint32_t number,
			      struct stack_unwinder *unwinder, struct stack_store *store, pid_t pid,
			      pid_t tid, int64_t time_ns)
{
	(void)copies, (void)unwinder, (void)store, (void)pid, (void)tid, (void)time_ns;
	return number;
}

const struct kernel_item *kernel_reader_look(const struct kernel_reader *reader)
{
	(void)reader;
	return NULL;
}

uint32_t kernel_frames_number(const struct kernel_raw *raw, uint32_t number)
{
	(void)raw;
	return number;
}

int weave_by_thread(const void *a, const void *b)
{
	(void)a, (void)b;
	return 0;
}

/*
 * Weaves switches of thread 11: "i" it gets a CPU from another process, "o" it leaves the CPU,
 * blocked, "t" it gets it from a thread of its own process, "n" another thread with its number
 * begins. Compares the events.
 */
static void weaves(const char *records, const char *expected)
{
	struct kernel_trace *const trace = (struct kernel_trace *)&task; /* only a flag */
	struct kernel kernel = { .pid = 10, .trace = trace, .way = "tracefs" };
	struct kernel_period period = { .calls = 0 };
	struct weave weave = { .kernel = &kernel, .period = &period, .runs = true,
			       .has_clock = true };

	for (size_t i = 0; i < WEAVE_TYPES; i++)
		weave.id[i] = (trace_event_id_t)i;
	for (size_t i = 0; i < sizeof(task) / sizeof(*task); i++)
		task[i].last_switch = SWITCH_UNKNOWN;
	count = 0;
	*events = '\0';
	for (size_t i = 0; records[i]; i++) {
		struct kernel_item item = { .record = {
			.time_ns = (int64_t)i + 1, .cpu = 1, .kind = KERNEL_SWITCH,
			.tid = records[i] == 'o' ? 11 : records[i] == 't' ? 10 : 99,
			.other = records[i] == 'o' ? 99 : 11,
			.detail = records[i] == 'o' ? 1 : KERNEL_STATE_RUNS,
		} };

		if (records[i] == 'n') {
			item.record.kind = KERNEL_NEW;
			item.record.tid = 10;
		}
		ck_assert_int_eq(weave_record(&weave, &item), 0);
	}
	ck_assert_str_eq(events, expected);
	/* The next log begins with the state of the thread after the last record. */
	if (*records && strcmp(records + strlen(records) - 1, "n"))
		ck_assert_int_eq(kernel_states_get(&kernel.states, 11),
				 records[strlen(records) - 1] == 'o' ? KERNEL_CONDITION_BLOCKED :
				 KERNEL_CONDITION_RUNNING);
	kernel_states_fini(&kernel.states);
}

START_TEST(no_gap_is_reported_if_each_switch_was_recorded)
{
	weaves("", "");
	weaves("o", "o");
	weaves("ioioio", "ioioio");
	weaves("oioto", "oioio");
	weaves("ioto", "ioio");
}
END_TEST

START_TEST(a_missing_switch_has_its_place_and_its_direction)
{
	weaves("ii", "iGi");
	weaves("oo", "ogo");
	weaves("iooi", "iogoi");
	weaves("ioiiooio", "ioiGiogoio");
}
END_TEST

START_TEST(a_later_thread_with_the_number_of_an_ended_one_has_no_gap)
{
	weaves("inio", "iio");
	weaves("iniio", "iiGio");
}
END_TEST

SUITE_MAIN("weave_gaps", no_gap_is_reported_if_each_switch_was_recorded,
	   a_missing_switch_has_its_place_and_its_direction,
	   a_later_thread_with_the_number_of_an_ended_one_has_no_gap)
