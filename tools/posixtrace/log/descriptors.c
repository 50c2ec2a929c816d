/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.c - reads logs and notes the changes that their events make to descriptors.
 *
 * A stream may have written several logs, one directly after the other. The logs of such a chain
 * that are open at the first look-up are read one after the other, and share the names. A chain
 * ends at a log that lacks events or the type io.close, and at a log that is not open.
 */
#include "log/descriptors.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <trace_np.h>

#include "log/changes.h"
#include "log/field.h"
#include "log/logfile.h"
#include "log/opened.h"
#include "log/origin.h"
#include "log/program.h"
#include "log/vforks.h"

#define RANGE_FDS 65536 /* note_close_range() considers only descriptors with lesser numbers */
#define TYPES 4096 /* greater ids of types are ignored; the preload library has fewer types */

/* The names of the descriptors of one log, or of all logs of a chain. */
struct names {
	unsigned users; /* number of logs */
	/* used during the scan: the stream's filter now removes events of closes or copies */
	bool is_filtered;
	struct changes changes;
	struct vforks vforks;
	pid_t older_pid;       /* the last process of note_older() */
	uint8_t is_used[RANGE_FDS / 8]; /* one bit for each number that got a name in any process */
};

struct descriptors {
	struct descriptors *next;  /* in the list of all */
	struct descriptors *later; /* the next log of the chain, while the chain is read */
	int log_fd;
	struct names *names;   /* NULL: not read yet */
	bool is_examined;      /* the members below are set */
	bool is_usable;        /* the events of the log show each close */
	struct origin origin;
	/* by id of a type: its index in notes + 1; 0: events of the type change nothing */
	uint8_t type[TYPES];
	/* by id of a type: the schema, if the type is in notes */
	struct posix_trace_schema_np *schema[TYPES];
};

/* The descriptors of all logs that are open. */
static struct descriptors *all;

struct descriptors *descriptors_new(int fd)
{
	struct descriptors *d = calloc(1, sizeof(*d));

	if (d) {
		d->log_fd = fd;
		d->next = all;
		all = d;
	}
	return d;
}

void descriptors_free(struct descriptors *d)
{
	struct descriptors **link = &all;

	if (!d)
		return;
	while (*link != d)
		link = &(*link)->next;
	*link = d->next;
	for (size_t i = 0; i < TYPES; i++)
		free(d->schema[i]);
	if (d->names && --d->names->users == 0) {
		changes_fini(&d->names->changes);
		vforks_fini(&d->names->vforks);
		free(d->names);
	}
	free(d);
}

/*
 * Adds a change, unless the stream's filter removes events of closes or copies. If such events are
 * missing, no name is certain.
 */
static void add_any(struct descriptors *d, struct change change)
{
	if (!d->names->is_filtered)
		changes_add(&d->names->changes, change);
}

/*
 * Adds a change of a descriptor. A log may contain any number as fd. The function ignores a number
 * that cannot be a descriptor.
 */
static void descriptors_add(struct descriptors *d, const struct posix_trace_event_np *event,
			    int64_t fd, enum effect effect, int64_t from, uint32_t name,
			    bool closes_at_exec)
{
	if (fd < 0 || fd > INT32_MAX)
		return;
	if (fd < RANGE_FDS)
		d->names->is_used[fd / 8] |= (uint8_t)(1 << fd % 8);
	add_any(d, (struct change){
		.time_ns = event->time_ns, .pid = (int32_t)event->info.posix_pid,
		.fd = (int32_t)fd, .from = from < 0 || from > INT32_MAX ? -1 : (int32_t)from,
		.name = name, .effect = (uint8_t)effect,
		.creates = effect == CREATES || effect == ACCEPTS,
		.closes_at_exec = closes_at_exec
	});
}

/* ------------------------------------------------------------------ fields of events */

/* An event with the schema of its type. */
struct seen {
	const struct posix_trace_event_np *event;
	const struct posix_trace_schema_np *schema;
	const char *type;
};

static int64_t descriptors_number(const struct seen *seen, const char *name, int64_t otherwise)
{
	return field_integer(seen->schema, name, seen->event, otherwise);
}

static void descriptors_text(const struct seen *seen, const char *name, char *to)
{
	struct posix_trace_value_np value;
	size_t len = 0;

	if (field_by_name(seen->schema, name, seen->event, &value) &&
	    value.field->form == POSIX_TRACE_FORM_BYTES_NP) {
		len = value.len < NAME_BYTES - 1 ? value.len : NAME_BYTES - 1;
		memcpy(to, value.data, len);
	}
	to[len] = '\0';
}

/* ------------------------------------------------------------------ changes by events */

#define CLOSE_RANGE_CLOEXEC_OF_LINUX 4
/* the value of O_CLOEXEC, and also of SOCK_CLOEXEC, EFD_CLOEXEC and similar flags */
#define CLOEXEC 0x80000

static bool is_type(const struct seen *seen, const char *type)
{
	return !strcmp(seen->type, type);
}

/* mq_open() and shm_open() set O_CLOEXEC without a request, so their flags do not show it. */
static bool closes_at_exec(const struct seen *seen)
{
	char mode[NAME_BYTES];

	if (is_type(seen, "io.mq_open") || is_type(seen, "io.shm_open"))
		return true;
	descriptors_text(seen, "mode", mode);
	return descriptors_number(seen, "flags", 0) & CLOEXEC || strchr(mode, 'e');
}

static void note_path(struct descriptors *d, const struct seen *seen)
{
	char path[NAME_BYTES];
	bool is_cloexec = closes_at_exec(seen) || is_type(seen, "file.opendir");

	descriptors_text(seen, "path", path);
	/*
	 * The events of fdopen() and fdopendir() have no path, and the descriptor keeps its name.
	 */
	if (*path)
		descriptors_add(d, seen->event, descriptors_number(seen, "fd", -1), CREATES,
				*path == '/' ? -1 : descriptors_number(seen, "folder", -1),
				changes_name(&d->names->changes, path, seen->event->time_ns),
				is_cloexec);
}

static const char *protocol_of(int64_t domain, int64_t type)
{
	bool is_internet = domain == 2 || domain == 10;

	if (is_internet && (type & 15) == 1)
		return "tcp";
	if (is_internet && (type & 15) == 2)
		return "udp";
	return domain == 1 ? "unix" : domain == 16 ? "netlink" : "socket";
}

/*
 * Notes the sockets that a call makes. Only socketpair() makes a second socket, whose descriptor is
 * in the field 'other'. For all other calls this number is -1.
 */
static void note_socket(struct descriptors *d, const struct seen *seen)
{
	const char *protocol = protocol_of(descriptors_number(seen, "domain", 0),
					   descriptors_number(seen, "type", 0));
	uint32_t name = changes_name(&d->names->changes, protocol, seen->event->time_ns);
	bool is_cloexec = descriptors_number(seen, "type", 0) & CLOEXEC;

	descriptors_add(d, seen->event, descriptors_number(seen, "fd", -1), CREATES, -1, name,
			is_cloexec);
	descriptors_add(d, seen->event, descriptors_number(seen, "other", -1), CREATES, -1, name,
			is_cloexec);
}

/* Notes the address in an event of bind(), connect() or accept(). */
static void note_address(struct descriptors *d, const struct seen *seen)
{
	bool is_accept = is_type(seen, "net.accept");
	char address[NAME_BYTES], added[NAME_BYTES + 8];
	uint32_t name;

	descriptors_text(seen, "address", address);
	snprintf(added, sizeof(added), "%s%s", !*address ? "" : is_accept ? " <- " :
		 is_type(seen, "net.connect") ? " -> " : " ", address);
	name = changes_name(&d->names->changes, added, seen->event->time_ns);
	/*
	 * An event of accept4() does not have the flags of the call, so closes_at_exec is assumed
	 * to be false.
	 */
	if (is_accept)
		descriptors_add(d, seen->event, descriptors_number(seen, "accepted", -1), ACCEPTS,
				descriptors_number(seen, "fd", -1), name, false);
	else
		descriptors_add(d, seen->event, descriptors_number(seen, "fd", -1), EXTENDS,
				descriptors_number(seen, "fd", -1), name, false);
}

static void note_copy(struct descriptors *d, const struct seen *seen, int64_t copy,
		      bool is_cloexec)
{
	int64_t fd = descriptors_number(seen, "fd", -1);

	if (copy != fd)
		descriptors_add(d, seen->event, copy, COPIES, fd, 0, is_cloexec);
}

static void note_dup(struct descriptors *d, const struct seen *seen)
{
	note_copy(d, seen, descriptors_number(seen, "copy", -1), closes_at_exec(seen));
}

/* Notes fcntl(), which may copy a descriptor or change the flag that closes it at exec. */
static void note_fcntl(struct descriptors *d, const struct seen *seen)
{
	int64_t command = descriptors_number(seen, "command", -1),
		fd = descriptors_number(seen, "fd", -1);

	if (command == 0 || command == 1030)
		note_copy(d, seen, descriptors_number(seen, "result", -1), command == 1030);
	else if (command == 2)
		descriptors_add(d, seen->event, fd, KEEPS, fd, 0,
				descriptors_number(seen, "value", 0) & 1);
}

/*
 * Returns the time when a call began. The event has the time when the call ended. The begin is
 * needed for close(): before close() returns, another thread may already get the same number for a
 * new descriptor.
 */
static int64_t begin_of(const struct posix_trace_event_np *event, int64_t duration_ns)
{
	return duration_ns > 0 && duration_ns <= event->time_ns ? event->time_ns - duration_ns
							       : event->time_ns;
}

static void add_process(struct descriptors *d, int64_t time_ns, int64_t pid, int64_t parent,
			int32_t fd, enum effect effect)
{
	if (pid > 0 && pid <= INT32_MAX && parent > 0 && parent <= INT32_MAX && pid != parent)
		add_any(d, (struct change){
			.time_ns = time_ns, .pid = (int32_t)pid, .fd = fd,
			.from = (int32_t)parent, .effect = (uint8_t)effect
		});
}

/*
 * The function notes the change at the begin of the call of fork(), because the parent may close
 * descriptors before the child runs.
 */
static void note_fork(struct descriptors *d, const struct seen *seen)
{
	/* A thread that the program made by clone(2) has the descriptors of its process. */
	if (descriptors_number(seen, "flags", 0) & CLONE_THREAD)
		return;
	add_process(d, begin_of(seen->event, descriptors_number(seen, "time", 0)),
		    descriptors_number(seen, "child", 0), seen->event->info.posix_pid, FORKED,
		    FORKS);
}

/* Notes fork() and exec from the child's own events. */
static void note_process(struct descriptors *d, const struct seen *seen)
{
	int64_t pid = descriptors_number(seen, "pid", 0),
		parent = descriptors_number(seen, "parent", 0);
	bool is_start = is_type(seen, "process.start");

	add_process(d, seen->event->time_ns, pid, parent, FORKED, is_start ? STARTS : BEGINS);
	if (is_start)
		add_process(d, seen->event->time_ns, pid, parent, EXECUTED, STARTS);
}

/* Notes the begin of a child of vfork(), which has a copy of the descriptors. */
static void note_vchild(struct descriptors *d, const struct seen *seen)
{
	const int64_t pid = descriptors_number(seen, "pid", 0);

	note_process(d, seen);
	if (pid > 0 && pid <= INT32_MAX)
		vforks_begin(&d->names->vforks, seen->event, (pid_t)pid);
}

/* Notes the return of vfork(). */
static void note_vfork(struct descriptors *d, const struct seen *seen)
{
	note_fork(d, seen);
	vforks_end(&d->names->vforks, seen->event);
}

/*
 * Notes the end of a process, by its own last event or by an event of its parent or the recorder.
 * After a call of exit(), handlers run, so of these calls only _exit() and _Exit() are an end.
 */
static void note_death(struct descriptors *d, const struct seen *seen)
{
	char by[NAME_BYTES];
	int64_t pid = descriptors_number(seen, "pid", 0);

	descriptors_text(seen, "by", by);
	if (pid <= 0 || pid > INT32_MAX || (*by && strcasecmp(by, "_exit")))
		return;
	add_any(d, (struct change){
		.time_ns = seen->event->time_ns, .pid = (int32_t)pid, .fd = FORKED,
		.effect = ENDS
	});
}

/*
 * Notes a call such as eventfd(). A descriptor without a file gets the name of the function that
 * made it.
 */
static void note_other(struct descriptors *d, const struct seen *seen)
{
	char name[NAME_BYTES], what[NAME_BYTES + 16];
	uint32_t place;

	descriptors_text(seen, "name", name);
	snprintf(what, sizeof(what), "%.*s%s%s", (int)strcspn(strchr(seen->type, '.') + 1, "_"),
		 strchr(seen->type, '.') + 1, *name ? ":" : "", name);
	what[NAME_BYTES - 1] = '\0';
	place = changes_name(&d->names->changes, what, seen->event->time_ns);
	/* If signalfd() changes an existing descriptor, the descriptor keeps its name. */
	if (descriptors_number(seen, "old", -1) < 0)
		descriptors_add(d, seen->event, descriptors_number(seen, "fd", -1), CREATES, -1,
				place, closes_at_exec(seen));
	/*
	 * This adds the second descriptor of a call that makes two. For any other call the number
	 * is -1, which descriptors_add() ignores.
	 */
	descriptors_add(d, seen->event,
			descriptors_number(seen, "write", descriptors_number(seen, "slave", -1)),
			CREATES, -1, place, closes_at_exec(seen));
}

/*
 * Notes that a process is older than the log. So a later start of a program does not count as the
 * birth of the process, and descriptors stay open in the new program.
 */
static void note_older(struct descriptors *d, const struct seen *seen)
{
	const int64_t pid = descriptors_number(seen, "pid", 0);

	if (pid <= 0 || pid > INT32_MAX || pid == d->names->older_pid)
		return;
	d->names->older_pid = (pid_t)pid;
	add_any(d, (struct change){ .pid = (pid_t)pid, .fd = FORKED, .effect = BEGINS,
				    .time_ns = INT64_MIN });
}

/*
 * Notes a descriptor that the recorder found open when the trace began, or before the program
 * started.
 */
static void note_opened(struct descriptors *d, const struct seen *seen)
{
	const int64_t pid = descriptors_number(seen, "pid", 0),
		      looked_ns = descriptors_number(seen, "looked_ns", 0);
	int64_t looked_us = looked_ns / 1000 + 1;
	struct posix_trace_event_np event = *seen->event;
	char name[NAME_BYTES];

	descriptors_text(seen, "name", name);
	if (pid <= 0 || pid > INT32_MAX || !*name)
		return;
	note_older(d, seen);
	event.info.posix_pid = (pid_t)pid;
	/*
	 * The descriptor had this name when the program started. The program may have changed the
	 * descriptor since then.
	 */
	if (descriptors_number(seen, "inherited", 0)) {
		event.time_ns = begin_of(&event, looked_ns);
		looked_us = 0;
	}
	descriptors_add(d, &event, descriptors_number(seen, "fd", -1), FOUND,
			looked_us < 0 || looked_us > INT32_MAX ? INT32_MAX : looked_us,
			changes_name(&d->names->changes, name, event.time_ns),
			descriptors_number(seen, "closes_at_exec", 0) != 0);
}

static void note_end(struct descriptors *d, const struct seen *seen, const char *field)
{
	struct posix_trace_event_np event = *seen->event;

	event.time_ns = begin_of(&event, descriptors_number(seen, "time", 0));
	descriptors_add(d, &event, descriptors_number(seen, field, -1), CLOSES, -1, 0, false);
}

static void note_close(struct descriptors *d, const struct seen *seen)
{
	note_end(d, seen, "fd");
}

/*
 * Notes freopen(). The FILE keeps its descriptor or gets another one. In both cases the
 * descriptor's old name is no longer right.
 */
static void note_freopen(struct descriptors *d, const struct seen *seen)
{
	char path[NAME_BYTES];

	descriptors_text(seen, "path", path);
	/* A null pointer as the path changes only the mode of the stream. */
	if (*path || descriptors_number(seen, "error", 0))
		note_end(d, seen, "old");
	note_path(d, seen);
}

/*
 * Notes close_range(), which closes several descriptors in one call, or marks them to be closed at
 * exec. The function adds a change only for a number that an earlier event has used. The other
 * numbers have no name that could become wrong.
 */
static void note_close_range(struct descriptors *d, const struct seen *seen)
{
	bool is_later = descriptors_number(seen, "flags", 0) & CLOSE_RANGE_CLOEXEC_OF_LINUX;
	int64_t first = descriptors_number(seen, "first", 0),
		last = descriptors_number(seen, "last", -1);
	struct posix_trace_event_np event = *seen->event;

	if (!is_later)
		event.time_ns = begin_of(&event, descriptors_number(seen, "time", 0));
	for (int64_t fd = first; fd < RANGE_FDS && fd <= last; fd++)
		if (d->names->is_used[fd / 8] & 1 << fd % 8)
			descriptors_add(d, &event, fd, is_later ? KEEPS : CLOSES,
					is_later ? fd : -1, 0, is_later);
}

/* The types of events that may change descriptors, each with the function that notes the change. */
static const struct {
	const char *type;
	void (*note)(struct descriptors *d, const struct seen *seen);
	const char *made[2]; /* the fields with descriptors that the call makes */
} notes[] = {
	{ "io.close", note_close, { NULL } }, { "io.fclose", note_close, { NULL } },
	{ "io.dup", note_dup, { "copy" } }, { "file.closedir", note_close, { NULL } },
	{ "io.open", note_path, { "fd" } }, { "io.fopen", note_path, { "fd" } },
	{ "file.mkstemp", note_path, { "fd" } }, { "file.opendir", note_path, { "fd" } },
	{ "net.socket", note_socket, { "fd", "other" } }, { "net.bind", note_address, { NULL } },
	{ "net.connect", note_address, { NULL } }, { "net.accept", note_address, { "accepted" } },
	{ "io.fcntl", note_fcntl, { NULL } }, { "process.start", note_process, { NULL } },
	{ "process.child", note_process, { NULL } }, { "process.vchild", note_vchild, { NULL } },
	{ "process.end", note_death, { NULL } }, { "process.exit", note_death, { NULL } },
	{ "posixtrace_ended", note_death, { NULL } },
	{ "process.fork", note_fork, { NULL } }, { "process.vfork", note_vfork, { NULL } },
	{ "io.pipe", note_other, { "fd", "write" } }, { "io.memfd_create", note_other, { "fd" } },
	{ "io.eventfd", note_other, { "fd" } }, { "io.timerfd_create", note_other, { "fd" } },
	{ "io.signalfd", note_other, { "fd" } }, { "net.epoll_create", note_other, { "fd" } },
	{ "file.inotify_init", note_other, { "fd" } }, { "io.freopen", note_freopen, { "fd" } },
	{ "io.close_range", note_close_range, { NULL } }, { "io.shm_open", note_other, { "fd" } },
	{ "io.uring_init", note_other, { "fd" } }, { "io.uring_exit", note_close, { NULL } },
	{ "io.openpty", note_other, { "fd", "slave" } },
	{ "io.mq_open", note_other, { "fd" } }, { "io.mq_close", note_close, { NULL } },
	{ "file.fanotify_init", note_other, { "fd" } }, { "file.fsopen", note_other, { "fd" } },
	{ "process.pidfd_open", note_other, { "fd" } },
	{ "process.pidfd_getfd", note_other, { "fd" } },
	{ OPENED_EVENT, note_opened, { "fd" } }, { PROGRAM_ATTACHED, note_older, { NULL } },
};

#define NOTES    (sizeof(notes) / sizeof(notes[0]))
#define REQUIRED 3 /* the number of first rows whose types the stream must not filter out: without
		    * their events names would be wrong */

#define EINPROGRESS_OF_LINUX 115

bool descriptors_use(const char *type)
{
	for (size_t i = 0; i < NOTES; i++)
		if (!strcmp(notes[i].type, type))
			return true;
	return false;
}

static void descriptors_note(struct descriptors *d, unsigned index, const struct seen *seen)
{
	int64_t error = descriptors_number(seen, "error", 0);

	/* freopen() is noted also if it fails, because it closes the FILE in this case, too. */
	if (!error || notes[index].note == note_freopen ||
	    (error == EINPROGRESS_OF_LINUX && is_type(seen, "net.connect")))
		notes[index].note(d, seen);
}

/* ------------------------------------------------------------------ the scan */

/*
 * Finds the types of the log that are in notes. Returns false if memory is lacking, or if the log
 * lacks the type io.close.
 */
static bool descriptors_read_types(struct descriptors *d, trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	trace_event_id_t id;
	bool has_close = false;
	int unavailable;

	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable) {
		unsigned i = 0;

		if (id >= TYPES || d->type[id] || posix_trace_eventid_get_name(trid, id, name))
			continue;
		while (i < NOTES && strcmp(notes[i].type, name))
			i++;
		if (i == NOTES ||
		    posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text)))
			continue;
		d->schema[id] = malloc(sizeof(*d->schema[id]));
		if (!d->schema[id])
			return false;
		if (!posix_trace_schema_parse_np(text, d->schema[id])) {
			d->type[id] = (uint8_t)(i + 1);
			has_close |= i == 0;
		}
	}
	return has_close;
}

/*
 * Notes whether the filter removes events of closes or copies. If these events are missing, closed
 * descriptors would keep their names.
 */
static void note_filter(struct descriptors *d, const struct posix_trace_event_np *event)
{
	bool is_start = event->info.posix_event_id == POSIX_TRACE_START;
	trace_event_set_t set[2];
	size_t need = is_start ? sizeof(set[0]) : sizeof(set);
	int is_member;

	if (event->data_len != need)
		return;
	memcpy(set, event->data, need);
	d->names->is_filtered = false;
	for (trace_event_id_t id = 0; id < TYPES; id++)
		if (d->type[id] && d->type[id] <= REQUIRED &&
		    !posix_trace_eventset_ismember(id, &set[!is_start], &is_member) && is_member)
			d->names->is_filtered = true;
}

/*
 * Notes the times at which events may be missing. A call whose event was lost or not recorded may
 * have closed any descriptor.
 */
static void note_stream(struct descriptors *d, const struct posix_trace_event_np *event)
{
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_START:
	case POSIX_TRACE_FILTER:
		note_filter(d, event);
		break;
	case POSIX_TRACE_STOP:
	case POSIX_TRACE_OVERFLOW:
	case POSIX_TRACE_RESUME:
		break;
	default:
		if (!(event->flags & POSIX_TRACE_EVENT_GAP_NP))
			return;
	}
	changes_gap(&d->names->changes, event->time_ns);
}

/* Returns whether events were lost at times that the log does not show. */
static bool has_lost_anywhere(trace_id_t trid)
{
	static const int causes[] = {
		POSIX_TRACE_LOST_OVERWRITTEN_NP, POSIX_TRACE_LOST_FLUSH_ERROR_NP,
		POSIX_TRACE_LOST_NO_MEMORY_NP, POSIX_TRACE_LOST_NO_SLOT_NP,
		POSIX_TRACE_LOST_NESTING_NP, POSIX_TRACE_LOST_BUDGET_NP,
	};
	struct posix_trace_ledger_np ledger;
	bool has = false;

	if (posix_trace_get_ledger_np(trid, &ledger))
		return false;
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		has |= ledger.lost[causes[i]] != 0;
	return has;
}

/*
 * Reads all events, also those that the options of the command exclude. If a part of the log cannot
 * be read, its events give no names.
 */
static void descriptors_scan(struct descriptors *d)
{
	struct posix_trace_event_np event;
	trace_id_t trid;
	int unavailable;

	if (posix_trace_open_np(d->log_fd, LOGFILE_REOPEN, &trid))
		return;
	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
		trace_event_id_t id = event.info.posix_event_id;
		unsigned index = id < TYPES ? d->type[id] : 0;

		note_stream(d, &event);
		/* The events of vfork() belong to the thread itself. */
		if (index && notes[index - 1].note != note_vfork &&
		    notes[index - 1].note != note_vchild)
			event.info.posix_pid = vforks_present(&d->names->vforks, &event);
		if (index)
			descriptors_note(
				d, index - 1,
				&(struct seen){ &event, d->schema[id], notes[index - 1].type });
	}
	posix_trace_close(trid);
}

/* ------------------------------------------------------------------ chains of logs */

/* Determines the types and the origin of the log. */
static void examine_log(struct descriptors *d)
{
	trace_id_t trid;

	if (d->is_examined)
		return;
	d->is_examined = true;
	if (posix_trace_open_np(d->log_fd, LOGFILE_REOPEN, &trid))
		return;
	d->is_usable = descriptors_read_types(d, trid) && !has_lost_anywhere(trid);
	origin_read(&d->origin, trid);
	posix_trace_close(trid);
}

/*
 * Returns whether the stream wrote the log 'next' directly after the log 'd'. A stream begins a new
 * log before its last flush of the old log. The end of this flush is the last event of the old log.
 * So the new log begins before that event. If a log between the two is missing, the second log
 * begins later.
 */
static bool is_next(const struct descriptors *d, const struct descriptors *next)
{
	const struct origin *a = &d->origin, *b = &next->origin;

	return d->is_usable && next->is_usable && origin_is_same(a, b) &&
	       a->begin_ns < b->begin_ns && b->begin_ns <= a->last_ns;
}

/* Returns the log before or behind a log in its chain, or NULL. */
static struct descriptors *find_neighbor(const struct descriptors *d, bool before)
{
	for (struct descriptors *other = all; other; other = other->next)
		if (!other->names && (before ? is_next(other, d) : is_next(d, other)))
			return other;
	return NULL;
}

/* Reads the log, and all logs of its chain. */
static void read_all(struct descriptors *d)
{
	struct names *names = calloc(1, sizeof(*names));
	struct descriptors *first = d, *other;

	if (!names)
		return;
	names->changes.incomplete_ns = INT64_MAX;
	for (other = all; other; other = other->next)
		examine_log(other);
	d->later = NULL;
	for (struct descriptors *last = d; (other = find_neighbor(last, false)); last = other) {
		last->later = other;
		other->later = NULL;
	}
	while ((other = find_neighbor(first, true))) {
		other->later = first;
		first = other;
	}
	for (other = first; other; other = other->later) {
		other->names = names;
		names->users++;
		if (other->is_usable)
			descriptors_scan(other);
	}
	changes_sort(&names->changes);
	vforks_sort(&names->vforks);
}

/*
 * Returns whether the field has a descriptor that the call made. "index" is the place of the
 * event's type in notes.
 */
static bool is_made(unsigned index, const char *field)
{
	for (size_t i = 0; i < sizeof(notes[0].made) / sizeof(notes[0].made[0]); i++)
		if (notes[index].made[i] && !strcmp(notes[index].made[i], field))
			return true;
	return false;
}

const char *descriptors_find(struct descriptors *d, const struct posix_trace_event_np *event,
			     const char *field, int64_t fd)
{
	trace_event_id_t id = event->info.posix_event_id;
	struct change key = { .time_ns = event->time_ns };
	const struct change *change;
	struct seen seen = { .event = event };
	unsigned index;

	if (!d || fd < 0 || fd > INT32_MAX)
		return NULL;
	if (!d->names)
		read_all(d);
	if (!d->names)
		return NULL;
	key.pid = (int32_t)vforks_process(&d->names->vforks, event);
	key.fd = (int32_t)fd;
	index = id < TYPES ? d->type[id] : 0;
	if (index && is_made(index - 1, field))
		return NULL;
	if (index && (notes[index - 1].note == note_close ||
		      notes[index - 1].note == note_freopen)) {
		seen.schema = d->schema[id];
		key.time_ns = begin_of(event, descriptors_number(&seen, "time", 0));
	}
	/*
	 * The name before the event is certain only if no other event changed the descriptor at the
	 * same time.
	 */
	if (changes_at(&d->names->changes, key) > (index ? 1 : 0))
		return NULL;
	change = changes_state(&d->names->changes, key);
	return change && change->name ? d->names->changes.text + change->name : NULL;
}
