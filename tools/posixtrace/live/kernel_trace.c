/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_trace.c - reads switches and wake-ups of threads from the kernel's tracing. The tool makes
 * its own instance of the kernel's tracing for this.
 *
 * The instance has a list of threads. The kernel records an event if its thread is in the list, or
 * if the event switches to a thread in the list or wakes one. So a switch or a wake-up by another
 * thread is recorded, too, if it concerns a thread in the list. When a thread in the list starts a
 * thread, the kernel adds the new thread to the list (the option event-fork of the instance).
 *
 * With such a list, the kernel compares each switch and wake-up of the machine with it. This costs
 * every program 0.5 us and more at each of them. With --sample alone, only the starts of threads
 * are needed. So there is no list then, the kernel records all starts of threads, and this file
 * keeps those whose parent is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fnmatch.h>
#include <tracefs.h>
#include <kbuffer.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/vec.h"
#include "live/kernel_instance.h"
#include "live/kernel_part.h"
#include "live/kernel_types.h"
#include "log/integer.h"

/*
 * The size of the kernel's memory for each CPU, and for all CPUs together. On a busy machine, the
 * tracer reads a megabyte every 50 ms. The rest of the memory is needed if the tracer
 * gets no CPU for a second.
 */
#define CPU_KB   8192
#define ALL_KB   262144
#define LEAST_KB 256
/* With --sample alone, the memory has room for the starts of 6000 threads. */
#define STARTS_KB 512
/* A memory of this size is large: it is not full after the longest time between two looks. */
#define LARGE_KB 2048

/* The flags of a record: the code ran in an interrupt, or in a softirq. */
#define IN_INTERRUPT 0x08
#define IN_SOFTIRQ   0x10

struct field {
	int offset, size;
};

/* One kernel event with the fields that its records need. id -1: the event is not needed. */
struct source {
	const char *system, *name;
	const char *names[4];
	int id;
	struct field field[4];
};

/* Without --sched only NEWTASK is needed, which shows the process of a new thread. */
enum { SWITCH, WAKING, WAKEUP_NEW, NEWTASK, SOURCES };

struct kernel_trace {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	struct kbuffer *buffer;
	unsigned char *page;
	size_t page_bytes;
	struct memory {
		int cpu, fd;
	} *memory;
	size_t memories;
	long cpu_kb; /* the size of the memory of each CPU */
	struct field type, flags, pid;
	struct source source[SOURCES];
	/* without a list of threads: starts whose parents were not recorded so far */
	struct start {
		struct kernel_record record;
		uint64_t ticks;
		char name[KERNEL_NAME];
		unsigned looks; /* the number of looks since this record was read */
	} *start;
	size_t starts;
};

static const struct source sources[SOURCES] = {
	[SWITCH] = { "sched", "sched_switch",
		     { "prev_pid", "prev_state", "next_pid", "next_comm" } },
	[WAKING] = { "sched", "sched_waking", { "pid", "comm" } },
	[WAKEUP_NEW] = { "sched", "sched_wakeup_new", { "pid", "comm" } },
	[NEWTASK] = { "task", "task_newtask", { "pid", "clone_flags", "comm" } },
};

/* ------------------------------------------------------------------ formats */

/*
 * Reads the format of an event, which the kernel describes in a file. Returns false if the file
 * cannot be read.
 */
static bool load_format(struct kernel_trace *trace, const char *system, const char *name)
{
	char file[160], *text;
	int bytes;
	bool loaded;

	snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
	text = tracefs_instance_file_read(trace->instance, file, &bytes);
	loaded = text && tep_parse_event(trace->tep, text, (unsigned long)bytes, system) == 0;
	free(text);
	return loaded;
}

static struct field field_of(struct tep_event *event, const char *name)
{
	struct tep_format_field *field = tep_find_any_field(event, name);

	return field ? (struct field){ field->offset, field->size } : (struct field){ -1, 0 };
}

static bool is_needed(const struct kernel *kernel, size_t source)
{
	return kernel->plan.sched || source == NEWTASK;
}

/* Returns whether the kernel compares the thread of an event with a list. */
static bool has_list(const struct kernel *kernel)
{
	return kernel->plan.sched || kernel->plan.globs;
}

/* Finds the fields of the needed sources. Returns false if the kernel lacks one. */
static bool load_sources(const struct kernel *kernel)
{
	struct kernel_trace *trace = kernel->trace;
	struct tep_event *event;

	for (size_t i = 0; i < SOURCES; i++) {
		struct source *source = &trace->source[i];

		*source = sources[i];
		source->id = -1;
		if (!is_needed(kernel, i))
			continue;
		if (!load_format(trace, source->system, source->name))
			return false;
		event = tep_find_event_by_name(trace->tep, source->system, source->name);
		if (!event)
			return false;
		source->id = event->id;
		for (size_t n = 0; n < 4 && source->names[n]; n++) {
			source->field[n] = field_of(event, source->names[n]);
			if (source->field[n].offset < 0)
				return false;
		}
		trace->type = field_of(event, "common_type");
		trace->flags = field_of(event, "common_flags");
		trace->pid = field_of(event, "common_pid");
	}
	return trace->type.offset >= 0 && trace->flags.offset >= 0 && trace->pid.offset >= 0;
}

/* Returns a number of a record, or 0 if the record is too short for it. */
static uint64_t kernel_trace_number(const unsigned char *data, size_t bytes, struct field field)
{
	if (field.offset < 0 || field.size <= 0 ||
	    (size_t)field.offset + (size_t)field.size > bytes)
		return 0;
	switch (field.size) {
	case 1:
	case 2:
	case 4:
	case 8:
		return integer_load(data + field.offset, (unsigned)field.size, false);
	}
	return 0;
}

/*
 * Copies a name of a record, which the kernel pads with NULs. Returns NULL if the record lacks it.
 */
static const char *name_of(const unsigned char *data, size_t bytes, struct field field,
			   char name[KERNEL_NAME])
{
	if (field.offset < 0 || field.size < KERNEL_NAME ||
	    (size_t)field.offset + KERNEL_NAME > bytes)
		return NULL;
	memcpy(name, data + field.offset, KERNEL_NAME);
	name[KERNEL_NAME - 1] = '\0';
	return name;
}

/* ------------------------------------------------------------------ beginning */

/*
 * Chooses the clock of the instance. This is the processor's counter if the kernel itself uses it
 * as its clock, and otherwise CLOCK_MONOTONIC. The library has the same rule for its events.
 * Returns false if the kernel does not accept CLOCK_MONOTONIC either.
 */
static bool choose_clock(struct kernel *kernel)
{
	struct tracefs_instance *instance = kernel->trace->instance;
	const char *clock = "mono";

#if defined __x86_64__
	char source[32] = "";

	kernel->is_counter =
		procfile_read("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			      source, sizeof(source)) &&
		!strncmp(source, "tsc", 3) &&
		tracefs_instance_file_write(instance, "trace_clock", "x86-tsc") > 0;
	if (kernel->is_counter)
		clock = "x86-tsc";
#endif
	snprintf(kernel->way, sizeof(kernel->way), "tracefs, clock %s", clock);
	return kernel->is_counter ||
	       tracefs_instance_file_write(instance, "trace_clock", clock) > 0;
}

/* Makes the memory of a CPU as large as the number of CPUs permits. */
static bool set_memory(const struct kernel *kernel)
{
	struct kernel_trace *trace = kernel->trace;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	long kb = ALL_KB / (cpus > 0 ? cpus : 1);
	char text[32];

	kb = !has_list(kernel) ? STARTS_KB : kb > CPU_KB ? CPU_KB : kb < LEAST_KB ? LEAST_KB : kb;
	trace->cpu_kb = kb;
	snprintf(text, sizeof(text), "%ld", kb);
	/*
	 * With this setting, the kernel discards new records when the memory is full. So the
	 * earlier records remain without a gap.
	 */
	return tracefs_instance_file_write(trace->instance, "buffer_size_kb", text) > 0 &&
	       tracefs_instance_file_write(trace->instance, "options/overwrite", "0") > 0;
}

/*
 * Notes a thread as traced, and adds it to the list. It is no error if the thread has ended
 * meanwhile, since the kernel accepts numbers of threads that do not exist.
 */
static bool add_thread(struct kernel *kernel, pid_t tid)
{
	struct kernel_task *task;
	char text[16];

	snprintf(text, sizeof(text), "%d ", (int)tid);
	if (has_list(kernel) &&
	    tracefs_instance_file_append(kernel->trace->instance, "set_event_pid", text) <= 0)
		return false;
	kernel_note_task(kernel, tid, NULL);
	task = kernel_find_task(kernel, tid);
	if (task) {
		task->is_traced = task->is_begun = true;
		task->pid = kernel->pid;
	}
	return true;
}

/*
 * Adds all threads of the process. The kernel adds the threads that these threads start from then
 * on. During the walk, a thread that is not in the list yet may start another thread. The walk may
 * miss this new thread. So the walk is repeated until it finds no new thread.
 */
static bool add_threads(struct kernel *kernel)
{
	bool is_new = true;

	while (is_new) {
		DIR *threads = procfile_threads(kernel->pid);
		pid_t tid;

		is_new = false;
		if (!threads)
			return false;
		while ((tid = procfile_next_thread(threads))) {
			const struct kernel_task *task = kernel_find_task(kernel, tid);

			if (task && task->is_traced)
				continue;
			is_new = true;
			if (!add_thread(kernel, tid)) {
				procfile_end_threads(threads);
				return false;
			}
		}
		procfile_end_threads(threads);
	}
	return true;
}

/* Opens the memory of all CPUs. A CPU that never ran has no memory. */
static int open_cpus(struct kernel_trace *trace)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char file[64];

	for (long cpu = 0; cpu < cpus; cpu++) {
		int fd;

		snprintf(file, sizeof(file), "per_cpu/cpu%ld/trace_pipe_raw", cpu);
		fd = tracefs_instance_file_open(trace->instance, file,
						O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return errno;
		if (!vec_grow(&trace->memory, trace->memories, 1)) {
			close(fd);
			return ENOMEM;
		}
		trace->memory[trace->memories++] = (struct memory){ (int)cpu, fd };
	}
	return trace->memories ? 0 : ENOENT;
}

/* Makes the reader of the kernel's pages. */
static int make_reader(struct kernel_trace *trace)
{
	char *text;
	int bytes, kb;

	trace->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	/* Newer kernels can have larger pages of records. */
	text = tracefs_instance_file_read(trace->instance, "buffer_subbuf_size_kb", &bytes);
	kb = text ? atoi(text) : 0;
	free(text);
	if (kb > 0 && (size_t)kb * 1024 > trace->page_bytes)
		trace->page_bytes = (size_t)kb * 1024;
	trace->page = malloc(trace->page_bytes);
	trace->buffer = kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
				      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
				      KBUFFER_ENDIAN_LITTLE : KBUFFER_ENDIAN_BIG);
	trace->tep = tep_alloc();
	if (!trace->page || !trace->buffer || !trace->tep)
		return ENOMEM;
	/*
	 * This prevents libtraceevent from printing messages on the standard error of the command.
	 */
	tep_set_loglevel(TEP_LOG_NONE);
	return 0;
}

/*
 * Switches the events on. This is the last step, so that the list of threads applies from the first
 * record.
 */
static bool kernel_trace_enable(const struct kernel *kernel)
{
	const struct kernel_trace *trace = kernel->trace;

	for (size_t i = 0; i < SOURCES; i++)
		if (is_needed(kernel, i) &&
		    tracefs_event_enable(trace->instance, trace->source[i].system,
					 trace->source[i].name))
			return false;
	for (size_t i = 0; i < kernel->types; i++)
		if (tracefs_event_enable(trace->instance, kernel->type[i].system,
					 kernel->type[i].event))
			return false;
	return true;
}

/* ------------------------------------------------------------------ --kernel */

/*
 * Returns whether a pattern selects an event. A pattern without a colon is compared only with the
 * name of the event.
 */
static bool kernel_trace_matches(const char *glob, const char *system, const char *event)
{
	char name[160];

	snprintf(name, sizeof(name), "%s:%s", system, event);
	return fnmatch(glob, strchr(glob, ':') ? name : event, 0) == 0;
}

/* Adds the type of an event. Returns 0, ENOMEM, or EINVAL after it printed the error. */
static int add_type(struct kernel *kernel, const char *system, const char *name)
{
	struct tep_event *event = NULL;

	for (size_t i = 0; i < kernel->types; i++)
		if (!strcmp(kernel->type[i].system, system) &&
		    !strcmp(kernel->type[i].event, name))
			return 0;
	if (kernel->types == KERNEL_TYPES_MAX) {
		say("--kernel: the patterns select more than %d event types; select fewer, such "
		    "as 'sched:*'", KERNEL_TYPES_MAX);
		return EINVAL;
	}
	if (load_format(kernel->trace, system, name))
		event = tep_find_event_by_name(kernel->trace->tep, system, name);
	/*
	 * A kind of record without a format, such as some of the system ftrace, is not an event and
	 * cannot be switched on.
	 */
	if (!event)
		return 0;
	if (!vec_grow(&kernel->type, kernel->types, 1))
		return ENOMEM;
	kernel_type_make(&kernel->type[kernel->types++], event);
	return 0;
}

/* The names that the message about an unknown pattern may suggest. */
struct suggestions {
	struct nearest nearest; /* refers to the names */
	char **name;
	size_t count;
};

/* Adds "system:event", or only the event if 'system' is NULL. Without memory, adds nothing. */
static void suggest_name(struct suggestions *suggestions, const char *system, const char *event)
{
	if (!vec_grow(&suggestions->name, suggestions->count, 1) ||
	    asprintf(&suggestions->name[suggestions->count], "%s%s%s", system ? system : "",
		     system ? ":" : "", event) < 0)
		return;
	nearest_offer(&suggestions->nearest, suggestions->name[suggestions->count++]);
}

/*
 * Adds the events of a system, in the form that the pattern has: with or without a colon. A pattern
 * without a colon may also be a mistyped name of a system. If the part behind the colon matches an
 * event of this system, perhaps only the system of the pattern is wrong, so this system is added
 * with the same part.
 */
static void suggest_system(struct suggestions *suggestions, const char *system, const char *colon)
{
	char **events = tracefs_system_events(NULL, system);
	bool fits = false;

	for (size_t i = 0; events && events[i]; i++) {
		suggest_name(suggestions, colon ? system : NULL, events[i]);
		fits |= colon && !fnmatch(colon + 1, events[i], 0);
	}
	if (events && !colon)
		suggest_name(suggestions, NULL, system);
	if (fits)
		suggest_name(suggestions, system, colon + 1);
	tracefs_list_free(events);
}

/* Prints that the kernel has no event that a pattern selects, with the nearest name. */
static void say_unknown(const char *glob, char **systems)
{
	struct suggestions suggestions = { .count = 0 };

	nearest_begin(&suggestions.nearest, glob);
	for (char **system = systems; *system; system++)
		suggest_system(&suggestions, *system, strchr(glob, ':'));
	say("--kernel %s: the kernel has no such event, or does not show it%s", glob,
	    nearest_hint(&suggestions.nearest));
	for (size_t i = 0; i < suggestions.count; i++)
		free(suggestions.name[i]);
	free(suggestions.name);
}

/*
 * Adds the types that a pattern selects. If a pattern selects no type, this is an error, and the
 * message has the most similar name.
 */
static int add_glob(struct kernel *kernel, const char *glob, char **systems)
{
	int err = 0, found = 0;

	for (char **system = systems; !err && *system; system++) {
		char **events = tracefs_system_events(NULL, *system);

		for (char **event = events; !err && event && *event; event++)
			if (strcmp(*system, "ftrace") &&
			    kernel_trace_matches(glob, *system, *event)) {
				err = add_type(kernel, *system, *event);
				found++;
			}
		tracefs_list_free(events);
	}
	if (err || found)
		return err;
	say_unknown(glob, systems);
	return EINVAL;
}

/* Adds the types that all patterns select. */
static int add_globs(struct kernel *kernel)
{
	char **systems;
	int err = 0;

	if (!kernel->plan.globs)
		return 0;
	systems = tracefs_event_systems(NULL);
	if (!systems)
		return EPERM;
	for (size_t i = 0; !err && i < kernel->plan.globs; i++)
		err = add_glob(kernel, kernel->plan.glob[i], systems);
	tracefs_list_free(systems);
	return err;
}

/* ------------------------------------------------------------------ the beginning as a whole */

int kernel_trace_begin(struct kernel *kernel, const char **why)
{
	struct kernel_trace *trace;
	int err = 0;

	*why = kernel_refusal_text(kernel_instance_refusal());
	if (*why)
		return EPERM;
	trace = kernel->trace = calloc(1, sizeof(*trace));
	if (!trace) {
		*why = "out of memory";
		return ENOMEM;
	}
	trace->instance = kernel_instance_make();
	if (!trace->instance)
		*why = "the kernel creates no instance for this trace";
	else if (make_reader(trace))
		*why = "out of memory";
	else if (!load_sources(kernel))
		*why = "the kernel lacks an event of the scheduler, or its format cannot be read";
	else if ((err = add_globs(kernel)))
		*why = err == ENOMEM ? "out of memory" : "its events cannot be listed";
	else if (!choose_clock(kernel))
		*why = "the clock cannot be set to x86-tsc or mono";
	else if (!set_memory(kernel))
		*why = "the kernel has no memory for its records, or refuses to set its size";
	/* Without this option, the list would lack threads that begin later. */
	else if ((has_list(kernel) &&
		  tracefs_instance_file_write(trace->instance, "options/event-fork", "1") <= 0) ||
		 !add_threads(kernel))
		*why = "its list of traced threads cannot be set";
	else if ((err = open_cpus(trace)))
		*why = err == EMFILE ? "too few descriptors; see ulimit -n" :
				       "its records cannot be opened";
	else if (!kernel_trace_enable(kernel))
		*why = "its events cannot be switched on";
	/* Threads that began since the first walk have no record of their start. */
	else if (!has_list(kernel) && !add_threads(kernel))
		*why = "the threads of the process cannot be listed";
	if (!*why)
		return 0;
	kernel_trace_fini(kernel);
	kernel->is_counter = false;
	return err ? err : EPERM;
}

/* ------------------------------------------------------------------ records */

/* Returns the thread with the number that a record has in a field. */
static pid_t thread_of(const unsigned char *data, size_t bytes, struct field field)
{
	return (pid_t)(uint32_t)kernel_trace_number(data, bytes, field);
}

/* Keeps the record as an event, if --kernel selects its type. */
static void take_event(struct kernel *kernel, int id, struct kernel_record record,
		       const unsigned char *from, size_t bytes, uint64_t ticks)
{
	unsigned char data[KERNEL_DATA_BYTES];

	for (size_t i = 0; i < kernel->types; i++) {
		const struct kernel_type *type = &kernel->type[i];
		struct kernel_event event = { .type = (uint32_t)i };

		if (type->id != id)
			continue;
		event.address = kernel_type_address(type, from, bytes);
		event.bytes = (uint32_t)kernel_type_data(type, from, bytes, record.cpu, data);
		kernel_note_task(kernel, record.tid, NULL);
		kernel_add_event(kernel, record, ticks, event, data);
		return;
	}
}

/*
 * Notes that a traced thread started the thread tid, so that samples of tid are kept. The function
 * does not set is_traced, because an earlier thread may have had the same number tid.
 * kernel_weave() sets it, in the order of time.
 */
static void note_begun(struct kernel *kernel, pid_t tid)
{
	struct kernel_task *task = kernel_find_task(kernel, tid);

	if (task)
		task->is_begun = true;
}

/* Keeps the start of a thread, whose parent is recorded. name may be NULL. */
static void keep_start(struct kernel *kernel, struct kernel_record record, const char *name,
		       uint64_t ticks)
{
	kernel_note_task(kernel, (pid_t)record.other, name);
	note_begun(kernel, (pid_t)record.other);
	kernel_note_task(kernel, record.tid, NULL);
	kernel_add(kernel, record, ticks);
}

/*
 * Handles the record of a start. Without a list of threads, the record may be of any program. If
 * the parent is not recorded, the start of the parent may still be unread: it may be in the memory
 * of another CPU. So the record is put aside. It also shows that an earlier thread with the same
 * number has ended. kernel_weave() needs the member is_traced for the records of that thread.
 */
static void take_start(struct kernel *kernel, struct kernel_record record, const char *name,
		       uint64_t ticks)
{
	struct kernel_trace *trace = kernel->trace;
	struct kernel_task *earlier;
	struct start *start;

	if (has_list(kernel) || kernel_is_recorded(kernel, record.tid)) {
		keep_start(kernel, record, name, ticks);
		return;
	}
	earlier = kernel_find_task(kernel, (pid_t)record.other);
	if (earlier)
		earlier->is_begun = false;
	if (!vec_grow(&trace->start, trace->starts, 1)) {
		kernel->period.lost_memory++;
		return;
	}
	start = &trace->start[trace->starts++];
	*start = (struct start){ .record = record, .ticks = ticks };
	if (name)
		memcpy(start->name, name, KERNEL_NAME);
}

/*
 * Keeps the starts that were put aside and whose parents are recorded now. After the next look,
 * every start that precedes them has been read, so the others are of other programs.
 */
static void keep_starts(struct kernel *kernel)
{
	struct kernel_trace *trace = kernel->trace;
	size_t left, before;

	do {
		before = trace->starts;
		left = 0;
		for (size_t i = 0; i < before; i++) {
			const struct start *start = &trace->start[i];

			if (kernel_is_recorded(kernel, start->record.tid))
				keep_start(kernel, start->record, start->name, start->ticks);
			else
				trace->start[left++] = *start;
		}
		trace->starts = left;
	} while (left < before);
	left = 0;
	for (size_t i = 0; i < trace->starts; i++)
		if (!trace->start[i].looks++)
			trace->start[left++] = trace->start[i];
	trace->starts = left;
}

/*
 * Keeps one record of the kernel. The function looks up the names and processes of the record's
 * threads immediately, because the threads may end soon.
 */
static void take_record(struct kernel *kernel, unsigned cpu, const unsigned char *data,
			size_t bytes, uint64_t ticks)
{
	const struct kernel_trace *trace = kernel->trace;
	const int id = (int)kernel_trace_number(data, bytes, trace->type);
	const unsigned flags = (unsigned)kernel_trace_number(data, bytes, trace->flags);
	struct kernel_record record = {
		.tid = thread_of(data, bytes, trace->pid), .cpu = (uint16_t)cpu,
	};
	const struct source *source = trace->source;
	char name[KERNEL_NAME];
	size_t which = 0;

	take_event(kernel, id, record, data, bytes, ticks);
	while (which < SOURCES && source[which].id != id)
		which++;
	if (which == SOURCES)
		return;
	source += which;
	switch (which) {
	case SWITCH:
		record.kind = KERNEL_SWITCH;
		record.tid = thread_of(data, bytes, source->field[0]);
		record.detail = (uint8_t)(kernel_trace_number(data, bytes, source->field[1]) &
					  KERNEL_STATE_MASK);
		record.other = (uint32_t)thread_of(data, bytes, source->field[2]);
		kernel_note_task(kernel, (pid_t)record.other,
				 name_of(data, bytes, source->field[3], name));
		break;
	case NEWTASK:
		record.kind = KERNEL_NEW;
		record.other = (uint32_t)thread_of(data, bytes, source->field[0]);
		/* 0x10000 is CLONE_THREAD, by which the new thread belongs to the same process. */
		record.detail =
			kernel_trace_number(data, bytes, source->field[1]) & 0x10000 ? 0 : 1;
		take_start(kernel, record, name_of(data, bytes, source->field[2], name), ticks);
		return;
	default:
		record.kind = KERNEL_WAKE;
		record.other = (uint32_t)thread_of(data, bytes, source->field[0]);
		record.detail = flags & IN_INTERRUPT ? KERNEL_INTERRUPT :
				flags & IN_SOFTIRQ ? KERNEL_SOFTIRQ : KERNEL_THREAD;
		kernel_note_task(kernel, (pid_t)record.other,
				 name_of(data, bytes, source->field[1], name));
		break;
	}
	kernel_note_task(kernel, record.tid, NULL);
	kernel_add(kernel, record, ticks);
}

/*
 * Reads all pages of a CPU, also a page that is only partly filled. The number of pages is limited,
 * because the kernel may write faster than this thread reads.
 */
static void look_at(struct kernel *kernel, const struct memory *memory)
{
	struct kernel_trace *trace = kernel->trace;
	size_t pages = CPU_KB * 1024 / trace->page_bytes + 1;
	unsigned long long ticks;
	unsigned char *data;

	while (pages--) {
		ssize_t bytes = read(memory->fd, trace->page, trace->page_bytes);

		if (bytes < (ssize_t)(2 * sizeof(long)) ||
		    kbuffer_load_subbuffer(trace->buffer, trace->page))
			return;
		for (data = kbuffer_read_event(trace->buffer, &ticks); data;
		     data = kbuffer_next_event(trace->buffer, &ticks)) {
			int size = kbuffer_event_size(trace->buffer);

			/*
			 * libtraceevent trusts the contents of the page, so the loop checks that
			 * each record is within the page.
			 */
			if (data < trace->page || size < 0 ||
			    (size_t)size > (size_t)(trace->page + trace->page_bytes - data))
				break;
			take_record(kernel, (unsigned)memory->cpu, data, (size_t)size, ticks);
		}
	}
}

void kernel_trace_look(struct kernel *kernel)
{
	const struct kernel_trace *trace = kernel->trace;

	for (size_t i = 0; i < trace->memories; i++)
		look_at(kernel, &trace->memory[i]);
	keep_starts(kernel);
}

uint64_t kernel_trace_lost(const struct kernel *kernel)
{
	static const char *const names[] = { "overrun:", "commit overrun:", "dropped events:" };
	const struct kernel_trace *trace = kernel->trace;
	uint64_t lost = 0;
	char file[64], *text;
	int bytes;

	for (size_t cpu = 0; cpu < trace->memories; cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", trace->memory[cpu].cpu);
		text = tracefs_instance_file_read(trace->instance, file, &bytes);
		for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++)
			lost += procfile_number(text, names[i], 10, 0);
		free(text);
	}
	return lost;
}

bool kernel_trace_is_large(const struct kernel *kernel)
{
	return !has_list(kernel) || kernel->trace->cpu_kb >= LARGE_KB;
}

void kernel_trace_stop(struct kernel *kernel)
{
	tracefs_trace_off(kernel->trace->instance);
}

void kernel_trace_fini(struct kernel *kernel)
{
	struct kernel_trace *trace = kernel->trace;

	for (size_t i = 0; i < trace->memories; i++)
		close(trace->memory[i].fd);
	free(trace->memory);
	free(trace->start);
	free(trace->page);
	if (trace->buffer)
		kbuffer_free(trace->buffer);
	tep_free(trace->tep);
	/* An instance in use cannot be removed, so its files are closed first. */
	if (trace->instance) {
		tracefs_instance_destroy(trace->instance);
		tracefs_instance_free(trace->instance);
	}
	free(trace);
	kernel->trace = NULL;
}
