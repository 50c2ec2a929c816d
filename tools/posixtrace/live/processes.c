/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * processes.c - reads the begin and the end of each process from a log, and finds the ends that the
 * log lacks.
 */
#include "live/processes.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/json.h"
#include "base/out.h"
#include "base/procfile.h"
#include "base/text.h"
#include "base/vec.h"
#include "live/rotation.h"
#include "log/field.h"
#include "log/losses.h"
#include "log/program.h"

#define TYPES      4096 /* greater ids are ignored; the preload library has fewer types */
#define SHOWN      3    /* the most processes that are named for each kind of end */
#define KINDS      64   /* kinds of ends that processes_text() counts; it omits further ones */
#define STEPS      (UINT64_C(1) << 26) /* the most rows that all calls of end_hidden() examine */
#define SECOND_NS  INT64_C(1000000000)

enum end {
	RUNS,    /* no sign of an end so far */
	/*
	 * the process has called exit(), or its program has ended; "code" is the status if has_code
	 */
	EXITED,
	ENDED    /* the process has ended, and the member "ended" is final */
};

struct process_row {
	pid_t pid, parent;
	int64_t first_ns, last_ns; /* the first and the last event that mentions it */
	enum end end;
	bool has_event;            /* the log has the end */
	bool is_forked;            /* the parent has recorded the call that made the process */
	bool is_vforked;           /* it executed a program while it used the parent's memory */
	/*
	 * its number belongs to an inner pid namespace, so /proc has another process with this
	 * number, or none
	 */
	bool is_inner;
	bool is_unseen;            /* it is not known whether it runs */
	bool has_code;
	int code;                  /* the status that the process passed to exit() */
	struct ended ended;
	char program[PROGRAM_NAME_BYTES]; /* the name of its file; empty: unknown */
	/* the program before the last call of exec; restored if the call fails */
	char before[PROGRAM_NAME_BYTES];
	/*
	 * The path of the program that the process executed last, and the earliest time of this
	 * execution. executed_ns is 0 if the process has executed no program since its last event
	 * process.exec_failed.
	 */
	char *executed;
	int64_t executed_ns, started_ns; /* started_ns: the last event process.start */
	bool is_spawned;                 /* the parent executed the program, by posix_spawn() */
	/* events process.untraced of this process, except for programs that failed */
	unsigned untraced;
};

struct process_known {
	pid_t pid;
	int status;
};

/* ------------------------------------------------------------------ rows */

/* Returns the last row with this process ID, or NULL. The pointer is valid until a row is added. */
static struct process_row *processes_find(const struct processes *p, pid_t pid)
{
	const uint32_t index = pidset_find(&p->pids, pid);

	return index < p->lasts ? &p->row[p->last[index]] : NULL;
}

/*
 * Adds a row, which is the last one with its process ID from now on. Returns NULL if memory is
 * lacking.
 */
static struct process_row *processes_add(struct processes *p, pid_t pid, int64_t time_ns)
{
	uint32_t index;

	if (!vec_grow(&p->row, p->rows, 1))
		return NULL;
	index = pidset_index(&p->pids, pid);
	if (index == TABLE_NONE || !vec_reach(&p->last, &p->lasts, index))
		return NULL;
	p->last[index] = p->rows;
	p->row[p->rows] = (struct process_row){
		.pid = pid, .first_ns = time_ns, .last_ns = time_ns
	};
	return &p->row[p->rows++];
}

/*
 * Returns the row of a process that an event mentions. If no event has mentioned it before, adds a
 * row. The process was created at since_ns or later. A row with this number that began before
 * since_ns and has an end belongs to an earlier process. In this case a new row is added. Returns
 * NULL if memory is lacking, and for a number that no process can have, because a log may contain
 * any numbers.
 */
static struct process_row *processes_mention(struct processes *p, int64_t pid, int64_t since_ns,
					     int64_t time_ns)
{
	struct process_row *row;

	if (pid <= 0 || pid > INT32_MAX)
		return NULL;
	row = processes_find(p, (pid_t)pid);
	if (!row || (row->end != RUNS && row->first_ns < since_ns))
		row = processes_add(p, (pid_t)pid, time_ns);
	if (row && row->last_ns < time_ns)
		row->last_ns = time_ns;
	return row;
}

static void processes_end(struct process_row *row, bool is_known, int status)
{
	row->end = ENDED;
	row->ended = (struct ended){ .is_known = is_known, .status = status };
}

/* ------------------------------------------------------------------ events */

struct seen {
	const struct posix_trace_event_np *event;
	const struct posix_trace_schema_np *schema;
};

static int64_t processes_number(const struct seen *seen, const char *name, int64_t otherwise)
{
	return field_integer(seen->schema, name, seen->event, otherwise);
}

/* Stores the last part of a path. The name remains as it was if the event has no path. */
static void set_program(struct process_row *row, const struct seen *seen, const char *name)
{
	struct posix_trace_value_np value;

	if (field_by_name(seen->schema, name, seen->event, &value) &&
	    value.field->form == POSIX_TRACE_FORM_BYTES_NP && value.len)
		program_base(row->program, value.data, value.len);
}

/*
 * Returns whether a process that begins has the numbers of an inner namespace of process IDs.
 * There the first process has the number 1 and no visible parent. The descendants of this process
 * are in the same namespace, or in a namespace inside of it.
 */
static bool begins_inner(int64_t pid, int64_t parent, const struct process_row *from)
{
	return (pid == 1 && getpid() != 1) || (from && from->is_inner && parent > 0);
}

/* Notes that a process executes a program, whose first event is process.start. */
static void note_execution(struct process_row *row, const struct seen *seen, bool is_spawned)
{
	struct posix_trace_value_np value;

	if (!field_by_name(seen->schema, "path", seen->event, &value) ||
	    value.field->form != POSIX_TRACE_FORM_BYTES_NP)
		return;
	free(row->executed);
	row->executed = strndup(value.data, value.len);
	row->executed_ns = seen->event->time_ns - processes_number(seen, "time", 0);
	row->is_spawned = is_spawned;
}

/* An event process.untraced has the reason why the next program has no process.start. */
static void on_untraced(struct processes *p, const struct seen *seen)
{
	struct process_row *row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
						    seen->event->time_ns);

	if (row)
		row->untraced++;
}

/* Handles the first event of a child, or of a program that a process executes. */
static void on_begin(struct processes *p, const struct seen *seen)
{
	const int64_t time_ns = seen->event->time_ns, parent = processes_number(seen, "parent", 0);
	struct process_row *row =
		processes_mention(p, processes_number(seen, "pid", 0), time_ns, time_ns);
	const struct process_row *from;

	if (!row)
		return;
	row->parent = parent > 0 && parent <= INT32_MAX ? (pid_t)parent : 0;
	from = processes_find(p, row->parent);
	/*
	 * Only the first event of a row decides. At a later exec(), the first parent may have
	 * ended. The event then has the number of another parent.
	 */
	if (row->first_ns == time_ns)
		row->is_inner = begins_inner(row->pid, parent, from);
	if (!*row->program && from)
		memcpy(row->program, from->program, sizeof(row->program));
	set_program(row, seen, "program");
}

static void on_start(struct processes *p, const struct seen *seen)
{
	struct process_row *row;

	on_begin(p, seen);
	row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
				seen->event->time_ns);
	if (!row)
		return;
	row->started_ns = seen->event->time_ns;
	row->untraced = 0;
}

/*
 * Returns whether a child with these flags of clone(2) is a guest: it uses the thread-local memory
 * of the thread that made it, while that thread runs. The preload library records no calls of a
 * guest.
 */
static bool is_guest(int64_t flags)
{
	return (flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM;
}

/*
 * Handles the event that a parent records when its call of fork() or the like returns. The child
 * may have ended before that. A child of which no program is known gets the name of the parent's
 * program.
 */
static void on_child(struct processes *p, const struct seen *seen)
{
	const int64_t time_ns = seen->event->time_ns;
	const int64_t flags = processes_number(seen, "flags", 0);
	const struct process_row *from;
	struct process_row *row;

	p->guests += is_guest(flags) && !processes_number(seen, "error", 0);
	/* A thread that the program made by clone(2) is no process. */
	if (flags & CLONE_THREAD)
		return;
	row = processes_mention(p, processes_number(seen, "child", 0),
				time_ns - processes_number(seen, "time", 0), time_ns);
	from = processes_find(p, seen->event->info.posix_pid);
	if (!row)
		return;
	row->parent = seen->event->info.posix_pid;
	row->is_forked = true;
	row->is_inner |= from && from->is_inner;
	if (!*row->program && from)
		memcpy(row->program, from->program, sizeof(row->program));
	/* Only the event of posix_spawn() has a path. */
	if (row->end == RUNS)
		set_program(row, seen, "path");
	note_execution(row, seen, true);
}

static void on_exec(struct processes *p, const struct seen *seen)
{
	struct process_row *row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
						    seen->event->time_ns);

	if (!row)
		return;
	memcpy(row->before, row->program, sizeof(row->program));
	set_program(row, seen, "path");
	note_execution(row, seen, false);
	row->is_vforked |= seen->event->info.posix_pid != row->pid;
}

static void on_exec_failed(struct processes *p, const struct seen *seen)
{
	struct process_row *row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
						    seen->event->time_ns);

	if (!row)
		return;
	memcpy(row->program, row->before, sizeof(row->program));
	row->executed_ns = 0;
	row->untraced -= row->untraced > 0;
}

/*
 * Handles exit(), _exit() and abort(); for abort() the event has the status 134, as in a shell. The
 * end is not final, because a signal may still kill the process.
 */
static void on_exit_call(struct processes *p, const struct seen *seen)
{
	struct process_row *row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
						    seen->event->time_ns);

	if (!row || row->end == ENDED)
		return;
	row->end = EXITED;
	row->has_code = true;
	row->code = (int)(processes_number(seen, "status", 0) & 255);
}

/*
 * Handles the last event of a program. The status is unknown if the program returned from main().
 */
static void on_last(struct processes *p, const struct seen *seen)
{
	struct process_row *row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
						    seen->event->time_ns);

	if (row && row->end == RUNS)
		row->end = EXITED;
}

/* Handles the event of the end of a process, which its parent or the recorder has recorded. */
static void on_ended(struct processes *p, const struct seen *seen)
{
	struct process_row *row = processes_mention(p, processes_number(seen, "pid", 0), INT64_MIN,
						    seen->event->time_ns);
	const int64_t code = processes_number(seen, "code", -1),
		      signal = processes_number(seen, "signal", 0);

	/*
	 * With --crash both the recorder and the parent may record the same end. The first event
	 * with a known status counts.
	 */
	if (!row || (row->end == ENDED && row->ended.is_known))
		return;
	if (signal > 0 && signal < 127)
		processes_end(row, true,
			      (int)signal | (processes_number(seen, "core", 0) ? 0x80 : 0));
	else
		processes_end(row, code >= 0, (int)(code & 255) << 8);
	row->has_event = true;
}

/*
 * Handles a call that has made a child inside the C library and has waited for it. No event of the
 * caller shows the number of this child. If exactly one such child of this process began at
 * begin_ns or later and has no end yet, it is the child of the call. If there are several, because
 * other threads or calls made children, the child of the call is unknown. In a hostile log, many
 * calls may seem to begin before all processes, so that each call must examine all rows. Therefore
 * the function examines at most STEPS rows in total. The children of further calls remain unknown.
 */
static void end_hidden(struct processes *p, const struct seen *seen, int64_t begin_ns)
{
	struct process_row *found = NULL;
	unsigned children = 0;

	for (size_t i = p->rows; i-- && p->row[i].first_ns >= begin_ns;) {
		const struct process_row *row = &p->row[i];

		if (p->steps++ >= STEPS)
			return;
		if (row->parent == seen->event->info.posix_pid && !row->is_forked &&
		    row->end != ENDED) {
			found = &p->row[i];
			children++;
		}
	}
	if (children == 1)
		processes_end(found, true, (int)processes_number(seen, "status", 0));
}

static void on_system(struct processes *p, const struct seen *seen)
{
	end_hidden(p, seen, seen->event->time_ns - processes_number(seen, "time", 0));
}

/* pclose() waits for the child of an earlier call of popen(), which may have begun at any time. */
static void on_pclose(struct processes *p, const struct seen *seen)
{
	if (!processes_number(seen, "error", 0))
		end_hidden(p, seen, INT64_MIN);
}

static const struct {
	const char *type;
	void (*on)(struct processes *p, const struct seen *seen);
} kinds[] = {
	{ "process.start", on_start }, { "process.child", on_begin },
	{ "process.vchild", on_begin }, { "process.fork", on_child },
	{ "process.vfork", on_child }, { "process.spawn", on_child },
	{ "process.exec", on_exec }, { "process.exec_failed", on_exec_failed },
	{ "process.exit", on_exit_call }, { "process.end", on_last },
	{ "process.system", on_system }, { "process.pclose", on_pclose },
	{ "process.untraced", on_untraced },
	{ ENDED_EVENT, on_ended },
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* The types of the log that this file needs, by their ids. */
struct types {
	uint8_t kind[TYPES]; /* the index in kinds + 1; 0: none */
	struct posix_trace_schema_np schema[KIND_COUNT];
};

/* Notes a type if this file needs it. A type without a valid schema is not noted. */
static void read_type(struct types *types, trace_id_t trid, trace_event_id_t id)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	if (id >= TYPES || posix_trace_eventid_get_name(trid, id, name))
		return;
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (!strcmp(kinds[i].type, name) &&
		    !posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text)) &&
		    !posix_trace_schema_parse_np(text, &types->schema[i]))
			types->kind[id] = (uint8_t)(i + 1);
}

static void processes_read_types(struct types *types, trace_id_t trid)
{
	trace_event_id_t id;
	int unavailable;

	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable)
		read_type(types, trid, id);
}

static void processes_scan(struct processes *p, trace_id_t trid, const struct types *types)
{
	struct posix_trace_event_np event;
	int unavailable;

	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
		const trace_event_id_t id = event.info.posix_event_id;
		const unsigned kind = id < TYPES ? types->kind[id] : 0;

		if (kind)
			kinds[kind - 1].on(p, &(struct seen){ &event, &types->schema[kind - 1] });
	}
}

/* ------------------------------------------------------------------ ends that the log lacks */

enum state { GONE, RUNNING, ZOMBIE, UNSEEN };

/*
 * Returns the state of the process now. The kernel may have given the number to a later process,
 * which began after the last event of this process. In this case the process of the row is gone.
 */
static enum state state_of(const struct process_row *row)
{
	struct procfile_stat stat;

	if (row->is_inner)
		return UNSEEN;
	if (!procfile_stat(row->pid, &stat))
		return errno == ENOENT || errno == ESRCH ? GONE : UNSEEN;
	if (procfile_began_ns(stat.start) > row->last_ns + SECOND_NS)
		return GONE;
	return stat.state == 'Z' || stat.state == 'X' ? ZOMBIE : RUNNING;
}

/* Finds out the end of a process, if the log does not have this end. */
static void find_end(struct process_row *row)
{
	enum state state;
	int status;

	if (row->end == ENDED)
		return;
	state = state_of(row);
	row->is_unseen = state == UNSEEN && row->end == RUNS;
	if (state == ZOMBIE && ended_zombie(row->pid, &status))
		processes_end(row, true, status);
	else if ((state != RUNNING && !row->is_unseen) || row->has_code)
		processes_end(row, row->has_code, row->code << 8);
	else
		row->end = RUNS;
}

void processes_set_end(struct processes *processes, pid_t pid, int status)
{
	if (vec_grow(&processes->known, processes->knowns, 1))
		processes->known[processes->knowns++] = (struct process_known){ pid, status };
}

/* Reads one log, after all logs before it. */
static void read_log(void *arg, int fd)
{
	struct types *types = calloc(1, sizeof(*types));
	struct processes *p = arg;
	trace_id_t trid;

	if (types && !posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid)) {
		processes_read_types(types, trid);
		processes_scan(p, trid, types);
		posix_trace_close(trid);
	}
	free(types);
}

void processes_read(struct processes *p, const struct rotation *logs)
{
	rotation_each(logs, read_log, p);
	for (size_t i = 0; i < p->knowns; i++) {
		struct process_row *row = processes_mention(p, p->known[i].pid, INT64_MIN, 0);

		if (row && (row->end != ENDED || !row->ended.is_known))
			processes_end(row, true, p->known[i].status);
	}
	for (size_t i = 0; i < p->rows; i++)
		find_end(&p->row[i]);
}

/* Returns how many events of a type the stream has. */
static uint64_t count_of(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_ledger_np ledger;

	return posix_trace_get_ledger_type_np(trid, id, &ledger) ? 0 : ledger.called;
}

/*
 * Returns whether a call of this type always has a child process. system() and popen() make their
 * child inside the C library, so the child has no event process.child.
 */
static bool makes_child(const char *type)
{
	static const char *const others[] = { "process.child", "process.system", "process.popen" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i], type))
			return true;
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (kinds[i].on == on_child && !strcmp(kinds[i].type, type))
			return true;
	return false;
}

/*
 * Returns whether the stream shows that there were several processes, or that an executed program
 * has recorded no begin. Functions without an event, such as wordexp(), make children, too. If such
 * a child executes a program, the log has more begins of programs than executions.
 */
static bool are_several(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	uint64_t executed = 0, failed = 0, started = 0;
	trace_event_id_t id;
	int unavailable;

	posix_trace_eventtypelist_rewind(trid);
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable) {
		if (posix_trace_eventid_get_name(trid, id, name))
			continue;
		if (makes_child(name) && count_of(trid, id))
			return true;
		executed += strcmp(name, "process.exec") ? 0 : count_of(trid, id);
		failed += strcmp(name, "process.exec_failed") ? 0 : count_of(trid, id);
		started += strcmp(name, "process.start") ? 0 : count_of(trid, id);
	}
	/* In a log of record, the first program has process.start, too, but no process.exec. */
	executed -= failed < executed ? failed : executed;
	return (executed && executed >= started) || started > executed + 1;
}

/*
 * Returns whether a process executed a program that has recorded nothing, not even its beginning,
 * and the log does not show why. A running process has at least a second for this event.
 */
static bool is_missing(struct processes *p, const struct process_row *row)
{
	struct process_row *by = row->is_spawned ? processes_find(p, row->parent) : NULL;
	struct timespec now;

	if (!row->executed || !row->executed_ns || row->started_ns >= row->executed_ns ||
	    row->untraced)
		return false;
	if (by && by->untraced) {
		by->untraced--;
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	return row->end == ENDED || row->executed_ns / SECOND_NS + 1 < now.tv_sec;
}

/*
 * Records process.untraced for programs that were executed and have recorded nothing, so that no
 * program is missing from the log without a reason. The usual reason is that the process had
 * changed its user and closed its descriptors: the next program then has neither a descriptor nor
 * the right to find the trace. The function records nothing if events were lost or filtered,
 * because process.start may then be missing for this reason.
 */
static void note_missing(struct processes *p, struct capture *capture)
{
	static const char *const types[] = { "process.start", "process.exec",
					     "process.exec_failed", "process.untraced" };
	static const char why[] = "no event after its execution";
	struct posix_trace_ledger_np ledger;
	char data[1024];
	int32_t pid;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!choose_type(&capture->plan->choose, types[i]))
			return;
	if (posix_trace_get_ledger_np(capture->trid, &ledger) || losses_count(&ledger))
		return;
	for (size_t i = 0; i < p->rows; i++) {
		int len;

		/* Without --inherit, nothing is missing if the program of a child has no events. */
		if (!capture->plan->inherit && (p->row[i].is_forked || p->row[i].is_vforked))
			continue;
		if (!is_missing(p, &p->row[i]))
			continue;
		pid = p->row[i].pid;
		memcpy(data, &pid, sizeof(pid));
		len = snprintf(data + 4, sizeof(data) - 4, "%s%c%.900s", why, '\0',
			       p->row[i].executed);
		capture_note(capture, "process.untraced", "s32 pid; str why; str program", data,
			     (size_t)len + 5);
	}
}

void processes_complete(struct processes *p, struct capture *capture, const struct rotation *logs)
{
	if (capture->plan->stream_policy == POSIX_TRACE_LOOP ||
	    (!p->knowns && !are_several(capture->trid)) || posix_trace_flush(capture->trid))
		return;
	processes_read(p, logs);
	note_missing(p, capture);
	for (size_t i = 0; i < p->rows; i++) {
		const struct process_row *row = &p->row[i];

		if (row->end == ENDED && !row->has_event)
			capture_note_end(capture, row->pid, &row->ended);
	}
}

void processes_fini(struct processes *processes)
{
	for (size_t i = 0; i < processes->rows; i++)
		free(processes->row[i].executed);
	free(processes->row);
	free(processes->last);
	free(processes->known);
	pidset_fini(&processes->pids);
	*processes = (struct processes){ .rows = 0 };
}

/* ------------------------------------------------------------------ the line */

struct kind {
	char text[ENDED_TEXT];
	size_t first; /* index of the first row with this end */
	size_t count;
};

static void text_of(const struct process_row *row, char text[ENDED_TEXT])
{
	if (row->end == ENDED)
		ended_text(text, &row->ended);
	else
		snprintf(text, ENDED_TEXT, row->is_unseen ? "not visible here" : "still running");
}

/* Finds or adds the kind of a row. Returns NULL if there are too many kinds. */
static struct kind *kind_of(struct kind *list, size_t *count, const char *text, size_t row)
{
	for (size_t i = 0; i < *count; i++)
		if (!strcmp(list[i].text, text))
			return &list[i];
	if (*count == KINDS)
		return NULL;
	snprintf(list[*count].text, sizeof(list[*count].text), "%s", text);
	list[*count].first = row;
	list[*count].count = 0;
	return &list[(*count)++];
}

/* Writes the names and numbers of the first processes that ended in this way. */
static void put_names(struct out *out, const struct processes *p, const struct kind *kind)
{
	char text[ENDED_TEXT];
	size_t shown = 0;

	out_str(out, " (");
	for (size_t i = kind->first; i < p->rows && shown < SHOWN; i++) {
		text_of(&p->row[i], text);
		if (strcmp(text, kind->text) != 0)
			continue;
		out_str(out, shown++ ? ", " : "");
		text_safe(out, p->row[i].program, strlen(p->row[i].program));
		out_str(out, *p->row[i].program ? " " : "");
		out_unsigned(out, (unsigned)p->row[i].pid);
	}
	out_str(out, kind->count > shown ? ", ...)" : ")");
}

void processes_text(struct out *out, const struct processes *p)
{
	static struct kind list[KINDS];
	char text[ENDED_TEXT];
	const char *comma = "";
	size_t count = 0;

	if (p->guests)
		out_printf(out, "posixtrace: %zu %s thread-local memory of %s parent, so %s calls "
			   "are not recorded\n", p->guests,
			   p->guests == 1 ? "child uses the" : "children use the",
			   p->guests == 1 ? "its" : "their", p->guests == 1 ? "its" : "their");
	if (p->rows < 2)
		return;
	/* The most usual end is the first in the line. */
	kind_of(list, &count, "exited with 0", 0);
	for (size_t i = 0; i < p->rows; i++) {
		struct kind *kind;

		text_of(&p->row[i], text);
		kind = kind_of(list, &count, text, i);
		if (kind)
			kind->count++;
	}
	out_printf(out, "posixtrace: %zu process%s: ", p->rows, p->rows == 1 ? "" : "es");
	for (size_t i = 0; i < count; i++) {
		if (!list[i].count)
			continue;
		out_str(out, comma);
		out_unsigned(out, list[i].count);
		out_char(out, ' ');
		out_str(out, list[i].text);
		if (i)
			put_names(out, p, &list[i]);
		comma = ", ";
	}
	out_char(out, '\n');
}

void processes_json(struct json *json, const char *name, const struct processes *p)
{
	char text[ENDED_TEXT];

	json_array(json, name);
	for (size_t i = 0; i < p->rows; i++) {
		const struct process_row *row = &p->row[i];

		text_of(row, text);
		json_object(json, NULL);
		json_signed(json, "pid", row->pid);
		json_signed(json, "parent", row->parent);
		json_text(json, "program", row->program, strlen(row->program));
		json_string_member(json, "status", text);
		json_end_object(json);
	}
	json_end_array(json);
}
