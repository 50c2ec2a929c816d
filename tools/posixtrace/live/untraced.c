/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * untraced.c - prints which executed programs could not be traced, and how many children were not
 * traced.
 *
 * A program that cannot load the preload library records nothing. So before a traced process
 * executes such a program, the preload library records an event process.untraced. A user who misses
 * the calls of a child then finds the reason in the line that is printed here, without a search in
 * the log. A program of Go that uses the C library loads the preload library, but its runtime makes
 * most system calls itself, so the log lacks these calls. Another line names these programs.
 */
#include "live/untraced.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "functions/binary.h"
#include "live/rotation.h"
#include "log/field.h"

#define SHOWN 3 /* the most programs that are named; further programs are only counted */

/*
 * A program with the reason, and how often it was executed. The texts are cut so that the name of
 * the file, at the end of the path, remains.
 */
struct program {
	char path[512], why[128];
	unsigned times;
};

/* Finds an event type and its schema. Returns the number of its events in the log. */
static uint64_t find_type(trace_id_t trid, const char *wanted, trace_event_id_t *id,
		      struct posix_trace_schema_np *schema)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_ledger_np ledger;
	int unavailable;

	posix_trace_eventtypelist_rewind(trid);
	while (!posix_trace_eventtypelist_getnext_id(trid, id, &unavailable) && !unavailable) {
		if (posix_trace_eventid_get_name(trid, *id, name) || strcmp(name, wanted) != 0)
			continue;
		/*
		 * The ledger has the number of these events. In most logs it is 0, and then the
		 * events need not be read.
		 */
		return !posix_trace_get_ledger_type_np(trid, *id, &ledger) && ledger.reported &&
		       !posix_trace_eventid_get_schema_np(trid, *id, text, sizeof(text)) &&
		       !posix_trace_schema_parse_np(text, schema) ? ledger.reported : 0;
	}
	return 0;
}

/* Passes each event of one type to take(). The log is read up to the last of these events. */
static void each_event(int fd, const char *wanted, void *arg,
		       void (*take)(void *arg, const struct posix_trace_schema_np *schema,
				    const struct posix_trace_event_np *event))
{
	static struct posix_trace_schema_np schema;
	struct posix_trace_event_np event;
	trace_event_id_t id;
	trace_id_t trid;
	uint64_t left;
	int unavailable;

	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid))
		return;
	left = find_type(trid, wanted, &id, &schema);
	while (left && !posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
		if (event.info.posix_event_id != id)
			continue;
		left--;
		take(arg, &schema, &event);
	}
	posix_trace_close(trid);
}

/* Stores the end of a string of the event, or an empty text. */
static void get_field(char *to, size_t room, const struct posix_trace_schema_np *schema,
		      const struct posix_trace_event_np *event, const char *name)
{
	struct posix_trace_value_np value;
	size_t len, skipped;

	*to = '\0';
	if (!field_by_name(schema, name, event, &value) ||
	    value.field->form != POSIX_TRACE_FORM_BYTES_NP)
		return;
	len = strnlen(value.data, value.len);
	skipped = len < room ? 0 : len - (room - 1);
	memcpy(to, (const char *)value.data + skipped, len - skipped);
	to[len - skipped] = '\0';
}

/* Counts the program of an event. Returns false if the array is full of other programs. */
static bool count_program(struct program *program, const struct posix_trace_schema_np *schema,
			  const struct posix_trace_event_np *event)
{
	struct program one = { .times = 0 };

	get_field(one.path, sizeof(one.path), schema, event, "program");
	get_field(one.why, sizeof(one.why), schema, event, "why");
	for (unsigned i = 0; i < SHOWN; i++) {
		if (!program[i].times) {
			program[i] = one;
		} else if (strcmp(program[i].path, one.path) || strcmp(program[i].why, one.why)) {
			continue;
		}
		program[i].times++;
		return true;
	}
	return false;
}

/* The programs of all logs. */
struct programs {
	struct program first[SHOWN];
	unsigned others;     /* number of executions of other programs */
	bool is_first_known; /* the next execution was reported already */
};

/* Counts the program of an event process.untraced, unless it was reported already. */
static void take_program(void *arg, const struct posix_trace_schema_np *schema,
			 const struct posix_trace_event_np *event)
{
	struct programs *programs = arg;

	if (programs->is_first_known)
		programs->is_first_known = false;
	else
		programs->others += !count_program(programs->first, schema, event);
}

/* Reads the programs of one log. */
static void read_programs(void *arg, int fd)
{
	each_event(fd, UNTRACED_EVENT, arg, take_program);
}

/* Writes a program. Its bytes come from the traced process, so they may have any values. */
static void put_program(struct out *out, const struct program *program)
{
	text_safe(out, program->path, strlen(program->path));
	out_str(out, " (");
	text_safe(out, program->why, strlen(program->why));
	if (program->times > 1) {
		out_str(out, ", ");
		out_unsigned(out, program->times);
		out_str(out, " times");
	}
	out_str(out, ")");
}

void untraced_say(const struct rotation *logs, bool is_first_known, bool by_kernel)
{
	static struct out err = { .fd = STDERR_FILENO };
	static struct programs programs;
	const struct program *program = programs.first;

	memset(&programs, 0, sizeof(programs));
	programs.is_first_known = is_first_known;
	rotation_each(logs, read_programs, &programs);
	for (unsigned i = 0; i < SHOWN && program[i].times; i++) {
		out_str(&err, i ? ", " : by_kernel ?
			"posixtrace: programs traced by the kernel only: " :
			"posixtrace: programs that cannot be traced: ");
		put_program(&err, &program[i]);
	}
	if (programs.others) {
		out_str(&err, ", and ");
		out_unsigned(&err, programs.others);
		out_str(&err, " more");
	}
	if (program[0].times)
		out_str(&err, by_kernel ? "\n" :
			"; --syscalls=unseen records their system calls\n");
	out_flush(&err);
}

/*
 * Returns how many children the log has: the events without an error of each type that a process
 * records when it has made a child. The log is read once, and only if it has such events.
 */
static unsigned count_children(trace_id_t trid)
{
	static const char *const names[] = {
		"process.fork", "process.vfork", "process.spawn", "process.system", "process.popen"
	};
	enum { NAMES = sizeof(names) / sizeof(*names) };
	static struct posix_trace_schema_np schema[NAMES];
	struct posix_trace_event_np event;
	trace_event_id_t id[NAMES];
	unsigned types = 0, children = 0;
	int unavailable;

	for (unsigned i = 0; i < NAMES; i++)
		types += find_type(trid, names[i], &id[types], &schema[types]) > 0;
	if (types == 0 || posix_trace_rewind(trid))
		return 0;
	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable)
		for (unsigned i = 0; i < types; i++)
			if (event.info.posix_event_id == id[i])
				children += !field_integer(&schema[i], "error", &event, 0);
	return children;
}

/* Adds the children of one log. */
static void add_children(void *arg, int fd)
{
	unsigned *children = arg;
	trace_id_t trid;

	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid))
		return;
	*children += count_children(trid);
	posix_trace_close(trid);
}

void untraced_say_children(const struct rotation *logs)
{
	unsigned children = 0;

	rotation_each(logs, add_children, &children);
	if (children)
		say("the process has made %u %s, which %s not recorded: --inherit records children",
		    children, children == 1 ? "child" : "children", children == 1 ? "was" : "were");
}

/*
 * Returns whether the file is a program of Go. The path may come from a traced process, so it may
 * name anything. The file is opened by O_PATH first, because open(2) of a device may have effects:
 * a watchdog would begin to run.
 */
static bool is_go_file(const char *path)
{
	const int found = open(path, O_PATH | O_CLOEXEC);
	char name[40];
	struct stat st;
	bool is_go;
	int fd = -1;

	if (found >= 0 && !fstat(found, &st) && S_ISREG(st.st_mode)) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	is_go = fd >= 0 && binary_made_by_go(fd);
	if (fd >= 0)
		close(fd);
	if (found >= 0)
		close(found);
	return is_go;
}

bool untraced_is_go(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return is_go_file(path);
}

bool untraced_say_go(pid_t pid)
{
	if (!untraced_is_go(pid))
		return false;
	say("process %d executes a program of Go, which makes most system calls without "
	    "the C library: --syscalls records them", (int)pid);
	return true;
}

#define EXAMINED 64 /* the most paths that are examined; programs at further paths are omitted */

/* The programs that recorded their start in the logs. */
struct started {
	struct {
		char *path;
		bool is_go;
	} at[EXAMINED];
	size_t count;
	bool is_first_known; /* a line about the program of the next start was printed already */
};

/* Examines the program of an event process.start, unless its path was examined before. */
static void examine_program(void *arg, const struct posix_trace_schema_np *schema,
			    const struct posix_trace_event_np *event)
{
	struct started *started = arg;
	const bool is_known = started->is_first_known;
	char path[PATH_MAX];

	started->is_first_known = false;
	get_field(path, sizeof(path), schema, event, "program");
	for (size_t i = 0; i < started->count; i++)
		if (!strcmp(started->at[i].path, path))
			return;
	if (started->count == EXAMINED || !(started->at[started->count].path = strdup(path)))
		return;
	started->at[started->count].is_go = !is_known && is_go_file(path);
	started->count++;
}

/* Reads the programs that recorded their start in one log. */
static void read_started(void *arg, int fd)
{
	each_event(fd, "process.start", arg, examine_program);
}

void untraced_say_go_programs(const struct rotation *logs, bool is_first_known)
{
	static struct out err = { .fd = STDERR_FILENO };
	struct started started = { .is_first_known = is_first_known };
	size_t found = 0;

	rotation_each(logs, read_started, &started);
	for (size_t i = 0; i < started.count; i++) {
		const char *path = started.at[i].path;

		if (started.at[i].is_go && found++ < SHOWN) {
			out_str(&err, found > 1 ? ", " : "posixtrace: programs of Go, which make "
				"most system calls without the C library: ");
			text_safe(&err, path, strlen(path));
		}
		free(started.at[i].path);
	}
	if (found > SHOWN)
		out_printf(&err, ", and %zu more", found - SHOWN);
	if (found)
		out_str(&err, "; --syscalls records these calls\n");
	out_flush(&err);
}
