/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classify.c - recognizes calls that wait, by the names of their event types.
 * libposixtrace-preload.so records types with these names. A call whose type has a duration and any
 * other name takes time, but is not known to wait.
 *
 * A log of another program may use the same names with other fields. So each field is looked up by
 * name in the log's own schema. A missing field has the index -1, for which classify_number()
 * returns 0.
 */
#include "why/classify.h"

#include <errno.h>
#include <string.h>

#include "live/launch.h"
#include "live/throttled.h"
#include "log/field.h"
#include "log/opened.h"
#include "spans/pairing.h"

/*
 * A row applies to a type whose name begins with the prefix. If several rows apply, the first one
 * is used, so a longer prefix precedes a shorter one. 'key' and 'other' are names of fields, or
 * NULL if there is no such field.
 */
static const struct {
	const char *prefix;
	enum cause cause;
	const char *key, *other;
} rows[] = {
	{ "lock.mutex_held", CAUSE_HELD, "lock", NULL },
	{ "lock.rwlock_held", CAUSE_HELD, "lock", NULL },
	{ "lock.cond_signal", CAUSE_POST, "lock", NULL },
	{ "lock.cond", CAUSE_COND, "lock", "mutex" },
	{ "lock.sem_post", CAUSE_POST, "lock", NULL },
	{ "lock.sem_open", CAUSE_CALL, "lock", NULL },
	{ "lock.sem", CAUSE_SEM, "lock", NULL },
	{ "lock.futex_wake", CAUSE_POST, "lock", NULL },
	{ "lock.futex", CAUSE_SEM, "lock", NULL },
	{ "lock.barrier", CAUSE_BARRIER, "lock", NULL },
	{ "lock.", CAUSE_LOCK, "lock", NULL },
	{ "io.read", CAUSE_READ, "fd", NULL },
	{ "io.fill", CAUSE_READ, "fd", NULL },
	{ "io.pread", CAUSE_READ, "fd", NULL },
	{ "io.write", CAUSE_WRITE, "fd", NULL },
	{ "io.pwrite", CAUSE_WRITE, "fd", NULL },
	{ "io.sendfile", CAUSE_WRITE, "fd", NULL },
	{ "io.mq_send", CAUSE_WRITE, "fd", NULL },
	{ "io.mq_receive", CAUSE_READ, "fd", NULL },
	{ "io.flock", CAUSE_FILE_LOCK, "fd", NULL },
	{ "io.lockf", CAUSE_FILE_LOCK, "fd", NULL },
	{ "io.", CAUSE_FILE, "fd", NULL },
	{ "net.recv", CAUSE_READ, "fd", NULL },
	{ "net.send", CAUSE_WRITE, "fd", NULL },
	{ "net.poll", CAUSE_POLL, NULL, "timeout" },
	{ "net.select", CAUSE_POLL, NULL, "timeout" },
	{ "net.epoll_", CAUSE_PEER, "fd", NULL }, /* no waits: epoll_create, epoll_ctl */
	{ "net.epoll", CAUSE_POLL, NULL, "timeout" },
	{ "net.", CAUSE_PEER, "fd", NULL },
	{ "ipc.semop", CAUSE_SEM, "id", "change" },
	{ "ipc.semctl", CAUSE_CALL, "id", NULL },
	{ "ipc.msgsnd", CAUSE_WRITE, "id", NULL },
	{ "ipc.msgrcv", CAUSE_READ, "id", NULL },
	{ "time.sleep", CAUSE_SLEEP, NULL, "asked" },
	{ "time.timer", CAUSE_TIMER, NULL, "asked" },
	{ "thread.join", CAUSE_JOIN, "thread", NULL },
	{ "process.wait", CAUSE_CHILD, "child", NULL },
	{ "process.sigwait", CAUSE_SIGNAL, "signal", NULL },
	{ "process.kill", CAUSE_KILL, "signal", "pid" },
	{ "process.system", CAUSE_CHILD, NULL, NULL },
	{ "process.pclose", CAUSE_CHILD, NULL, NULL },
};

/*
 * Event types that are not calls. They are facts about a thread, from the scheduler, the shim or
 * the sampler. Their names are compared as a whole. The member 'kind' has the same values as in
 * struct plan.
 */
static const struct {
	const char *name;
	int kind;
	const char *key;
} facts[] = {
	{ "sched.in", PLAN_IN, "cpu" }, { "sched.out", PLAN_OUT, "reason" },
	{ "sched.wake", PLAN_WAKE, "context" }, { "sched.exit", PLAN_EXIT, NULL },
	{ "sched.gap", PLAN_GAP, NULL }, { "sched.state", PLAN_STATE, "state" },
	{ "sched.clock", PLAN_CLOCK, "error_ns" }, { "cpu.sample", PLAN_SAMPLE, NULL },
	{ "cpu.fault", PLAN_FAULT, "faults" }, { "exceptions:page_fault_user", PLAN_FAULT, NULL },
	{ "process.child", PLAN_PARENT, "parent" }, { "process.vchild", PLAN_PARENT, "parent" },
	{ "thread.name", PLAN_NAME, "thread" }, { "process.start", PLAN_PROGRAM, "parent" },
	{ "net.connecting", PLAN_CONNECTING, "fd" }, { "posixtrace_ended", PLAN_ENDED, "pid" },
	{ "process.end", PLAN_OVER, "pid" }, { "process.exit", PLAN_OVER, "pid" },
	{ "posixtrace_blocked", PLAN_BLOCKED, NULL }, { "lock.waiting", PLAN_WAITING, NULL },
	{ PROGRAM_ATTACHED, PLAN_ATTACHED, "pid" }, { OPENED_EVENT, PLAN_OPENED, "fd" },
	{ THROTTLED_EVENT, PLAN_THROTTLED, "throttled_ns" },
	{ "posixtrace_taken", PLAN_TAKEN, NULL },
};

/*
 * Returns the index of the field with a name. Returns -1 if 'name' is NULL, if the type has no
 * schema or no such field, or if the field is an array, because an array has no single value.
 */
static int field_of(const struct log_type *type, const char *name)
{
	int index = name ? field_index(type->schema, name) : -1;

	return index >= 0 && !type->schema->field[index].is_array ? index : -1;
}

/* the value of O_CLOEXEC */
#define CLOSES_AT_EXEC 0x80000

/*
 * Calls that make, copy or close descriptors, and the names of the fields with the numbers of the
 * descriptors. A new descriptor without a path hides the path of an earlier descriptor with the
 * same number.
 */
static const struct {
	const char *name, *made[2], *source, *closed;
	bool has_path;
	enum fd_kind kind;
	const char *flags;   /* NULL: the field "flags" */
	uint32_t close_flag; /* 0: O_CLOEXEC; SOCK_CLOEXEC and others have the same value */
	bool closes_at_exec; /* exec closes it also without a flag */
} descriptors[] = {
	{ "io.open", { "fd" }, .has_path = true },
	{ "io.fopen", { "fd" }, .has_path = true, .flags = "mode" },
	{ "file.mkstemp", { "fd" }, .has_path = true },
	{ "file.opendir", { "fd" }, .has_path = true, .closes_at_exec = true },
	{ "io.close", .closed = "fd" }, { "io.fclose", .closed = "fd" },
	{ "file.closedir", .closed = "fd" }, { "io.dup", { "copy" }, .source = "fd" },
	{ "net.socket", { "fd", "other" }, .kind = FD_PAIR, .flags = "type" },
	{ "net.accept", { "accepted" }, .kind = FD_CLIENT },
	{ "io.pipe", { "fd", "write" }, .kind = FD_PIPE },
	{ "io.memfd_create", { "fd" }, .close_flag = 1 },
	{ "io.eventfd", { "fd" }, .kind = FD_EVENT },
	{ "io.timerfd_create", { "fd" }, .kind = FD_TIMER },
	{ "io.signalfd", { "fd" }, .kind = FD_SIGNAL },
	{ "io.mq_open", { "fd" }, .has_path = true, .kind = FD_QUEUE, .closes_at_exec = true },
	{ "io.mq_close", .closed = "fd" },
	{ "net.epoll_create", { "fd" } },
	{ "file.inotify_init", { "fd" }, .kind = FD_WATCH },
	{ "file.fanotify_init", { "fd" }, .kind = FD_WATCH, .close_flag = 1 },
	{ "process.popen", { "fd" }, .has_path = true, .kind = FD_COMMAND, .flags = "mode" },
	{ "process.pclose", .closed = "fd" },
};

/*
 * Finds the fields with descriptors. The history also uses events of these types that have no
 * duration.
 */
static void classify_descriptors(const struct log_type *type, struct plan *plan)
{
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++) {
		if (strcmp(type->name, descriptors[i].name))
			continue;
		plan->made[0] = field_of(type, descriptors[i].made[0]);
		plan->made[1] = field_of(type, descriptors[i].made[1]);
		plan->source = field_of(type, descriptors[i].source);
		plan->closed = field_of(type, descriptors[i].closed);
		plan->has_path = descriptors[i].has_path;
		plan->fd_kind = descriptors[i].kind;
		plan->flags = field_of(type, descriptors[i].flags ? descriptors[i].flags :
				       "flags");
		plan->close_flag = descriptors[i].closes_at_exec ? 0 :
				   descriptors[i].close_flag ? descriptors[i].close_flag :
				   CLOSES_AT_EXEC;
	}
}

static bool classify_begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/*
 * Sets plan->name. If is_prefix is true, a row applies to each type whose name begins with the name
 * in the row.
 */
static void classify_name(const char *name, struct plan *plan)
{
	static const struct {
		const char *name;
		int value;
		bool is_prefix;
	} names[] = {
		{ LAUNCH_COMMAND_EVENT, NAME_LAUNCH, false },
		{ "posixtrace_", NAME_RECORDER, true }, { "net.connect", NAME_CONNECT, false },
		{ "net.listen", NAME_LISTEN, false }, { "net.getsockopt", NAME_GETSOCKOPT, false },
		{ "process.exec", NAME_EXEC, true }, { "crash.signal", NAME_CRASH, false },
		{ "crash.frame", NAME_FRAME, false },
		{ "io.timerfd_settime", NAME_TIMERFD, false },
	};

	plan->name = NAME_OTHER;
	for (size_t i = sizeof(names) / sizeof(*names); i-- > 0;)
		if (names[i].is_prefix ? classify_begins(name, names[i].name)
				       : !strcmp(name, names[i].name))
			plan->name = names[i].value;
}

void classify_type(const struct log_type *type, struct plan *plan)
{
	/* The first of these fields that a type has gives the text in the label of its part. */
	static const char *const texts[] = { "path", "by", "program", "command", "address",
					     "name", "node", "next", "prev", "cgroup" };

	*plan = (struct plan){ .time = pairing_time_field(type->schema), .key = -1, .other = -1,
			       .text = -1, .made = { -1, -1 }, .source = -1, .closed = -1,
			       .flags = -1, .child = -1, .polled = -1, .servers = -1,
			       .by = { -1, -1 }, .more = -1, .part = -1, .command = -1,
			       .sender = -1, .target = { -1, -1 } };
	classify_name(type->name, plan);
	/*
	 * The event of a function explains nothing, so its duration is ignored. The calls inside
	 * the function may explain the time.
	 */
	if (type->schema && type->schema->span && type->schema->role == POSIX_TRACE_POINT_NP)
		plan->time = -1;
	plan->result = field_of(type, "result");
	plan->error = field_of(type, "error");
	for (size_t i = 0; plan->text < 0 && i < sizeof(texts) / sizeof(*texts); i++)
		plan->text = field_of(type, texts[i]);
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (!strcmp(type->name, facts[i].name)) {
			plan->kind = facts[i].kind;
			plan->key = field_of(type, facts[i].key);
			plan->other = field_of(type, "cpu");
			plan->by[0] = field_of(type, plan->kind == PLAN_OUT ? "next_pid" :
					       plan->kind == PLAN_IN ? "prev_pid" : "by_pid");
			plan->by[1] = field_of(type, plan->kind == PLAN_OUT ? "next_tid" :
					       plan->kind == PLAN_IN ? "prev_tid" : "by_tid");
			plan->more = field_of(type, plan->kind == PLAN_OUT ? "state" :
					      plan->kind == PLAN_ENDED ? "signal" : "hz");
			return;
		}
	classify_descriptors(type, plan);
	/* A call without a duration cannot be divided; it keeps CAUSE_NONE. */
	if (plan->time >= 0)
		plan->cause = CAUSE_CALL;
	for (size_t i = 0; plan->time >= 0 && i < sizeof(rows) / sizeof(*rows); i++)
		if (classify_begins(type->name, rows[i].prefix)) {
			plan->cause = rows[i].cause;
			plan->key = field_of(type, rows[i].key);
			plan->other = field_of(type, rows[i].other);
			break;
		}
	if (plan->cause == CAUSE_POLL)
		plan->polled = field_of(type, "fds");
	plan->has_id = classify_begins(type->name, "ipc.") && plan->key >= 0;
	if (plan->has_id) {
		plan->command = field_of(type, "command");
		plan->part = field_of(type, plan->cause == CAUSE_READ ||
				      plan->cause == CAUSE_WRITE ? "type" : "semaphore");
		plan->more = field_of(type, "operations");
		plan->flags = field_of(type, "flags");
	} else if (plan->cause == CAUSE_SIGNAL) {
		plan->command = field_of(type, "code");
		plan->sender = field_of(type, "sender");
	} else if (plan->cause == CAUSE_LOCK) {
		plan->sender = field_of(type, "owner");
	} else if (plan->cause == CAUSE_KILL) {
		plan->target[0] = field_of(type, "tid");
		plan->target[1] = field_of(type, "thread");
	} else if (plan->cause == CAUSE_FILE_LOCK || !strcmp(type->name, "io.fcntl")) {
		plan->command = field_of(type, plan->cause == CAUSE_FILE_LOCK ? "operation" :
					 "command");
		plan->target[0] = field_of(type, "lock");
	}
	if (!strcmp(type->name, "io.fcntl"))
		plan->flags = field_of(type, "value");
	if (!strcmp(type->name, "process.fork") || !strcmp(type->name, "process.vfork"))
		plan->child = field_of(type, "child");
	if (!strcmp(type->name, "net.accept"))
		plan->other = field_of(type, "accepted");
	/* A look-up may fail without an error number. */
	if (!strcmp(type->name, "net.getaddrinfo")) {
		plan->error = field_of(type, "result");
		plan->servers = field_of(type, "servers");
	}
	if (!strcmp(type->name, "net.connect"))
		plan->result = field_of(type, "error");
	/* Its text is the name of a function, and not the path of the file. */
	if (!strcmp(type->name, "io.fill"))
		plan->text = -1;
}

/* The commands of fcntl() that wait for the lock of a file, on all processors of Linux. */
enum { FCNTL_WAITS = 7, FCNTL_WAITS_OFD = 38 };

enum cause classify_cause(const struct plan *plan, const struct log_type *type,
			  const struct posix_trace_event_np *event)
{
	uint64_t command;

	/*
	 * Programs use select() and poll() without a descriptor as a sleep. An event that was
	 * truncated before the number of descriptors does not show it.
	 */
	if (classify_has(type, event, plan->polled) && !classify_number(type, event, plan->polled))
		return CAUSE_SLEEP;
	if (plan->cause != CAUSE_FILE || plan->command < 0)
		return plan->cause;
	command = classify_number(type, event, plan->command);
	return command == FCNTL_WAITS || command == FCNTL_WAITS_OFD ? CAUSE_FILE_LOCK : plan->cause;
}

bool classify_needs_file(const struct log_type *type)
{
	static const char *const names[] = { "io.fsync", "io.fdatasync", "io.fallocate",
					     "io.fadvise", "io.sync" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(type->name, names[i]))
			return true;
	return false;
}

enum why_kind classify_kind(enum cause cause, bool uses_file, bool is_vain)
{
	if (is_vain)
		return WHY_SLEEP;
	switch (cause) {
	case CAUSE_LOCK:
	case CAUSE_FILE_LOCK:
		return WHY_LOCK;
	case CAUSE_READ:
	case CAUSE_WRITE:
	case CAUSE_FILE:
		return uses_file ? WHY_FILE : WHY_PEER;
	case CAUSE_SLEEP:
		return WHY_SLEEP;
	default:
		return WHY_PEER;
	}
}

bool classify_timed_out(enum cause cause, bool has_id, int32_t error)
{
	/* Some calls have another error number than ETIMEDOUT: semtimedop() and sigtimedwait(). */
	if (cause == CAUSE_SIGNAL)
		return error == EAGAIN;
	return (cause == CAUSE_COND || cause == CAUSE_SEM) &&
	       error == (has_id ? EAGAIN : ETIMEDOUT);
}

uint64_t classify_number(const struct log_type *type, const struct posix_trace_event_np *event,
			 int field)
{
	struct posix_trace_value_np value;

	if (field < 0 ||
	    !posix_trace_field_get_np(type->schema, (unsigned)field, 0, event->data,
				      event->data_len, 0, &value) ||
	    value.field->form == POSIX_TRACE_FORM_BYTES_NP ||
	    value.field->form == POSIX_TRACE_FORM_FLOAT_NP)
		return 0;
	return value.u64;
}

bool classify_has(const struct log_type *type, const struct posix_trace_event_np *event, int field)
{
	struct posix_trace_value_np value;

	return field >= 0 && posix_trace_field_get_np(type->schema, (unsigned)field, 0, event->data,
						      event->data_len, 0, &value);
}

bool classify_closes_at_exec(const struct plan *plan, const struct log_type *type,
			     const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;

	if (!plan->close_flag)
		return true;
	if (plan->flags < 0 ||
	    !posix_trace_field_get_np(type->schema, (unsigned)plan->flags, 0, event->data,
				      event->data_len, 0, &value) ||
	    value.field->form == POSIX_TRACE_FORM_FLOAT_NP)
		return false;
	if (value.field->form == POSIX_TRACE_FORM_BYTES_NP)
		return memchr(value.data, 'e', value.len) != NULL;
	return value.u64 & plan->close_flag;
}
