/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.c - the state of each descriptor at each time. Every change is an entry with process,
 * descriptor and time; after the scan the entries are sorted, and a look-up is a binary search.
 */
#include "log/descriptors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "base/vec.h"

#define NAME_BYTES   1024   /* longer names are cut */
#define ANCESTORS    64     /* forks that a look-up follows */
#define BUCKETS      4096   /* of the newest entries, during the scan; a power of two */
#define TYPES        4096   /* greater ids are ignored; a log of the preload library has no such */
#define CHANGES_MAX  50000000

/* Numbers that no descriptor has: entries about the process itself. */
enum { FORKED = -2, EXECUTED = -3 };

struct change {
	int64_t time_ns;
	int32_t pid, fd;
	uint32_t order;   /* in the log */
	uint32_t name;    /* its place in text; 0: closed; FORKED has the parent here */
	uint32_t older;   /* during the scan: the next change of the bucket + 1 */
	bool closes_at_exec;
};

struct descriptors {
	int log_fd;
	bool is_read;
	struct change *change;
	size_t changes;
	char *text;
	size_t text_bytes;
	uint32_t bucket[BUCKETS]; /* the newest change + 1 */
};

struct descriptors *descriptors_new(int fd)
{
	struct descriptors *d = calloc(1, sizeof(*d));

	if (d)
		d->log_fd = fd;
	return d;
}

void descriptors_free(struct descriptors *d)
{
	if (!d)
		return;
	free(d->change);
	free(d->text);
	free(d);
}

/* ------------------------------------------------------------------ changes during the scan */

static uint32_t *bucket_of(struct descriptors *d, int64_t pid, int64_t fd)
{
	return &d->bucket[((uint64_t)pid * 31 + (uint64_t)fd) % BUCKETS];
}

/* Stores a name and returns its place; 0 without memory or for no name. */
static uint32_t add_name(struct descriptors *d, const char *name)
{
	size_t len = strlen(name) + 1, at = d->text_bytes ? d->text_bytes : 1;

	if (!*name || at + len > UINT32_MAX ||
	    !vec_grow(&d->text, d->text_bytes, at + len - d->text_bytes))
		return 0;
	memcpy(d->text + at, name, len);
	d->text_bytes = at + len;
	return (uint32_t)at;
}

static void add_change(struct descriptors *d, const struct posix_trace_event_np *event,
		       int64_t pid, int64_t fd, uint32_t name, bool closes_at_exec)
{
	uint32_t *bucket = bucket_of(d, pid, fd);

	if (d->changes == CHANGES_MAX || !vec_grow(&d->change, d->changes, 1))
		return;
	d->change[d->changes] = (struct change){
		.time_ns = event->time_ns, .pid = (int32_t)pid, .fd = (int32_t)fd,
		.order = (uint32_t)d->changes, .name = name, .older = *bucket,
		.closes_at_exec = closes_at_exec
	};
	*bucket = (uint32_t)++d->changes;
}

/* A log may have any numbers: those that are no descriptor are not of interest here. */
static void add(struct descriptors *d, const struct posix_trace_event_np *event, int64_t pid,
		int64_t fd, uint32_t name, bool closes_at_exec)
{
	if (fd >= 0 && fd <= INT32_MAX)
		add_change(d, event, pid, fd, name, closes_at_exec);
}

/* Returns the newest change of a descriptor, also one that a parent made; NULL if there is none. */
static const struct change *newest(struct descriptors *d, int64_t pid, int64_t fd)
{
	for (unsigned i = 0; i < ANCESTORS; i++) {
		int64_t parent = 0;

		for (uint32_t at = *bucket_of(d, pid, fd); at; at = d->change[at - 1].older)
			if (d->change[at - 1].pid == pid && d->change[at - 1].fd == fd)
				return &d->change[at - 1];
		for (uint32_t at = *bucket_of(d, pid, FORKED); at && !parent;
		     at = d->change[at - 1].older)
			if (d->change[at - 1].pid == pid && d->change[at - 1].fd == FORKED)
				parent = d->change[at - 1].name;
		if (!parent)
			return NULL;
		pid = parent;
	}
	return NULL;
}

/* Copies the present name of a descriptor, or an empty text. */
static void present_name(struct descriptors *d, int64_t pid, int64_t fd, char *name)
{
	const struct change *change = fd >= 0 ? newest(d, pid, fd) : NULL;

	snprintf(name, NAME_BYTES, "%s", change && change->name ? d->text + change->name : "");
}

/* ------------------------------------------------------------------ fields of events */

/* An event with the schema of its type. */
struct seen {
	const struct posix_trace_event_np *event;
	const struct posix_trace_schema_np *schema;
	const char *type;
};

/* Finds a field by its name; false if the event does not have it. */
static bool get(const struct seen *seen, const char *name, struct posix_trace_value_np *value)
{
	for (unsigned i = 0; i < seen->schema->fields; i++)
		if (!strcmp(seen->schema->field[i].name, name))
			return posix_trace_field_get_np(seen->schema, i, 0, seen->event->data,
							seen->event->data_len, 0, value);
	return false;
}

static int64_t number(const struct seen *seen, const char *name, int64_t otherwise)
{
	struct posix_trace_value_np value;

	return get(seen, name, &value) && value.field->form != POSIX_TRACE_FORM_BYTES_NP
		       ? value.s64 : otherwise;
}

static void text(const struct seen *seen, const char *name, char *to)
{
	struct posix_trace_value_np value;
	size_t len = 0;

	if (get(seen, name, &value) && value.field->form == POSIX_TRACE_FORM_BYTES_NP) {
		len = value.len < NAME_BYTES - 1 ? value.len : NAME_BYTES - 1;
		memcpy(to, value.data, len);
	}
	to[len] = '\0';
}

/* ------------------------------------------------------------------ what events change */

#define CLOEXEC 0x80000 /* the same in all flags of descriptors */

static bool is_type(const struct seen *seen, const char *type)
{
	return !strcmp(seen->type, type);
}

static bool closes_at_exec(const struct seen *seen)
{
	return number(seen, "flags", 0) & CLOEXEC;
}

/* A path is shown behind that of its folder, if it is relative to one with a name. */
static void note_path(struct descriptors *d, const struct seen *seen)
{
	int64_t pid = seen->event->info.posix_pid, folder = number(seen, "folder", -1);
	char path[NAME_BYTES], of[NAME_BYTES] = "", name[2 * NAME_BYTES];
	bool is_cloexec = closes_at_exec(seen) || is_type(seen, "file.opendir");

	text(seen, "path", path);
	if (*path && *path != '/' && folder >= 0)
		present_name(d, pid, folder, of);
	snprintf(name, sizeof(name), "%s%s%s", of, *of ? "/" : "", path);
	name[NAME_BYTES - 1] = '\0';
	/* fdopendir() has no path: the descriptor keeps its name. */
	if (*path)
		add(d, seen->event, pid, number(seen, "fd", -1), add_name(d, name), is_cloexec);
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

/* socket(), socketpair(), bind(), connect() and accept(). */
static void note_socket(struct descriptors *d, const struct seen *seen)
{
	int64_t pid = seen->event->info.posix_pid, fd = number(seen, "fd", -1);
	char name[NAME_BYTES], address[NAME_BYTES], all[2 * NAME_BYTES + 8];
	const struct change *change = fd >= 0 ? newest(d, pid, fd) : NULL;
	bool is_cloexec = change && change->closes_at_exec;

	if (is_type(seen, "net.socket")) {
		uint32_t place = add_name(d, protocol_of(number(seen, "domain", 0),
							 number(seen, "type", 0)));

		is_cloexec = number(seen, "type", 0) & CLOEXEC;
		add(d, seen->event, pid, fd, place, is_cloexec);
		if (number(seen, "other", -1) >= 0)
			add(d, seen->event, pid, number(seen, "other", -1), place, is_cloexec);
		return;
	}
	present_name(d, pid, fd, name);
	text(seen, "address", address);
	snprintf(all, sizeof(all), "%s%s%s%s", *name ? name : "socket",
		 !*address ? "" : is_type(seen, "net.connect") ? " -> " :
		 is_type(seen, "net.accept") ? " <- " : " ", address, "");
	all[NAME_BYTES - 1] = '\0';
	/* The flags of accept4() are not in its event. */
	if (is_type(seen, "net.accept"))
		add(d, seen->event, pid, number(seen, "accepted", -1), add_name(d, all), false);
	else
		add(d, seen->event, pid, fd, add_name(d, all), is_cloexec);
}

static void note_copy(struct descriptors *d, const struct seen *seen, int64_t copy,
		      bool is_cloexec)
{
	int64_t pid = seen->event->info.posix_pid;
	int64_t fd = number(seen, "fd", -1);
	const struct change *change = fd >= 0 ? newest(d, pid, fd) : NULL;

	if (copy != fd)
		add(d, seen->event, pid, copy, change ? change->name : 0, is_cloexec);
}

/* fcntl(): copies, and the flag that closes a descriptor at exec. */
static void note_fcntl(struct descriptors *d, const struct seen *seen)
{
	int64_t command = number(seen, "command", -1), pid = seen->event->info.posix_pid;
	const struct change *change;

	if (command == 0 || command == 1030) {
		note_copy(d, seen, number(seen, "result", -1), command == 1030);
	} else if (command == 2) {
		change = number(seen, "fd", -1) < 0 ? NULL : newest(d, pid, number(seen, "fd", 0));
		if (change)
			add(d, seen->event, pid, change->fd, change->name,
			    number(seen, "value", 0) & 1);
	}
}

/* fork() and exec, from the child's own events. */
static void note_process(struct descriptors *d, const struct seen *seen)
{
	int64_t pid = number(seen, "pid", 0), parent = number(seen, "parent", 0);
	const struct change *known = newest(d, pid, FORKED);

	if (parent > 0 && parent != pid && (!known || known->pid != pid))
		add_change(d, seen->event, pid, FORKED, (uint32_t)parent, false);
	if (is_type(seen, "process.start"))
		add_change(d, seen->event, pid, EXECUTED, 0, false);
}

/* Descriptors without a file have the name of the function that made them. */
static void note_other(struct descriptors *d, const struct seen *seen)
{
	int64_t pid = seen->event->info.posix_pid;
	char name[NAME_BYTES], what[NAME_BYTES + 16];
	uint32_t place;

	text(seen, "name", name);
	snprintf(what, sizeof(what), "%.*s%s%s", (int)strcspn(strchr(seen->type, '.') + 1, "_"),
		 strchr(seen->type, '.') + 1, *name ? ":" : "", name);
	what[NAME_BYTES - 1] = '\0';
	place = add_name(d, what);
	add(d, seen->event, pid, number(seen, "fd", -1), place, closes_at_exec(seen));
	if (is_type(seen, "io.pipe"))
		add(d, seen->event, pid, number(seen, "write", -1), place, closes_at_exec(seen));
}

/* The types that make or change descriptors, if the call succeeded. */
static const struct {
	const char *type;
	void (*note)(struct descriptors *d, const struct seen *seen);
} notes[] = {
	{ "io.open", note_path }, { "io.fopen", note_path }, { "file.mkstemp", note_path },
	{ "file.opendir", note_path }, { "net.socket", note_socket }, { "net.bind", note_socket },
	{ "net.connect", note_socket }, { "net.accept", note_socket },
	{ "io.fcntl", note_fcntl }, { "process.start", note_process },
	{ "process.child", note_process }, { "process.vchild", note_process },
	{ "io.pipe", note_other }, { "io.memfd_create", note_other },
	{ "io.eventfd", note_other }, { "io.timerfd_create", note_other },
	{ "io.signalfd", note_other }, { "net.epoll_create", note_other },
	{ "file.inotify_init", note_other },
};

#define EINPROGRESS_OF_LINUX 115

static void note(struct descriptors *d, const struct seen *seen)
{
	int64_t error = number(seen, "error", 0);

	if (error && !(error == EINPROGRESS_OF_LINUX && is_type(seen, "net.connect")))
		return;
	if (is_type(seen, "io.close") || is_type(seen, "io.fclose") ||
	    is_type(seen, "file.closedir"))
		add(d, seen->event, seen->event->info.posix_pid, number(seen, "fd", -1), 0, false);
	else if (is_type(seen, "io.dup"))
		note_copy(d, seen, number(seen, "copy", -1), closes_at_exec(seen));
	else
		for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
			if (is_type(seen, notes[i].type))
				notes[i].note(d, seen);
}

/* Returns whether events of a type with this name may change descriptors. */
static bool is_of_interest(const char *name)
{
	static const char *const others[] = { "io.close", "io.fclose", "file.closedir", "io.dup" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i], name))
			return true;
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (!strcmp(notes[i].type, name))
			return true;
	return false;
}

/* ------------------------------------------------------------------ the scan */

struct known_type {
	enum { UNSEEN, IGNORED, USED } state;
	struct posix_trace_schema_np *schema;
	char name[TRACE_EVENT_NAME_MAX + 1];
};

/* Returns the type of an event, or NULL if it does not matter. */
static const struct known_type *learn(trace_id_t trid, struct known_type *known,
				      trace_event_id_t id)
{
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	if (id >= TYPES)
		return NULL;
	known += id;
	if (known->state == UNSEEN) {
		known->state = IGNORED;
		if (!posix_trace_eventid_get_name(trid, id, known->name) &&
		    is_of_interest(known->name) &&
		    !posix_trace_eventid_get_schema_np(trid, id, schema, sizeof(schema)))
			known->schema = malloc(sizeof(*known->schema));
		if (known->schema && !posix_trace_schema_parse_np(schema, known->schema))
			known->state = USED;
	}
	return known->state == USED ? known : NULL;
}

static int compare(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->fd != b->fd)
		return a->fd < b->fd ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* A part that cannot be read has no names. */
static void read_all(struct descriptors *d)
{
	struct known_type *known = calloc(TYPES, sizeof(*known));
	struct posix_trace_event_np event;
	int unavailable;
	trace_id_t trid;

	d->is_read = true;
	if (known && !posix_trace_open_np(d->log_fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid)) {
		while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
			const struct known_type *type =
				learn(trid, known, event.info.posix_event_id);

			if (type)
				note(d, &(struct seen){ &event, type->schema, type->name });
		}
		posix_trace_close(trid);
	}
	for (size_t i = 0; known && i < TYPES; i++)
		free(known[i].schema);
	free(known);
	if (d->changes)
		qsort(d->change, d->changes, sizeof(*d->change), compare);
}

/* ------------------------------------------------------------------ look-ups */

/* Returns the last change of the descriptor before the time; NULL if there is none. */
static const struct change *last_before(const struct descriptors *d, int64_t pid, int64_t fd,
					int64_t time_ns)
{
	size_t low = 0, high = d->changes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct change *at = &d->change[middle];

		if (at->pid < pid || (at->pid == pid && (at->fd < fd ||
		    (at->fd == fd && at->time_ns < time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || d->change[low - 1].pid != pid || d->change[low - 1].fd != fd)
		return NULL;
	return &d->change[low - 1];
}

const char *descriptors_find(struct descriptors *d, int64_t pid, int64_t fd, int64_t time_ns)
{
	int64_t executed_ns = INT64_MIN;

	if (!d || fd < 0)
		return NULL;
	if (!d->is_read)
		read_all(d);
	for (unsigned i = 0; i < ANCESTORS; i++) {
		const struct change *change = last_before(d, pid, fd, time_ns);
		const struct change *executed = last_before(d, pid, EXECUTED, time_ns);
		const struct change *forked;

		if (executed && executed->time_ns > executed_ns)
			executed_ns = executed->time_ns;
		if (change)
			return change->name &&
			       !(change->closes_at_exec && executed_ns > change->time_ns)
				       ? d->text + change->name : NULL;
		forked = last_before(d, pid, FORKED, time_ns);
		if (!forked)
			return NULL;
		pid = forked->name;
		time_ns = forked->time_ns;
	}
	return NULL;
}
