/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* objects.c - follows descriptors, locks of files and names of semaphores through a log. */
#include "why/objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"
#include "why/connections.h"
#include "why/lives.h"

/* The commands of fcntl() that concern descriptors, on all processors of Linux. */
enum { FCNTL_COPIES = 0, FCNTL_SETS_FLAGS = 2, FCNTL_COPIES_CLOSED = 1030 };
/*
 * This bit marks the identity of an object that has a name. The other bits are the number of the
 * name.
 */
#define OBJECTS_BY_NAME (UINT32_C(1) << 31)
/* A limit, so that a hostile log cannot make the searches slow. */
#define FILE_LOCKS_MOST 1024
#define COMMANDS_MOST 1024 /* the same for commands of popen() */
/* The most processes that are searched: a log may name a process as its own ancestor. */
#define ANCESTORS 8

/* ------------------------------------------------------------------ descriptors */

/* Compares a descriptor with the wanted one. A descriptor belongs to a process, not to a thread. */
static bool is_fd(const void *array, uint32_t index, const void *key)
{
	const struct history_fds *fd = (const struct history_fds *)array + index, *wanted = key;

	return fd->pid == wanted->pid && fd->fd == wanted->fd;
}

static uint64_t fd_hash(const struct history_fds *fd)
{
	return hash_number((uint64_t)(unsigned)fd->pid, (uint64_t)(unsigned)fd->fd);
}

/* Returns the entry of a descriptor, or NULL. */
static struct history_fds *fd_entry(const struct history *history, pid_t pid, int32_t number)
{
	const struct history_fds wanted = { .pid = pid, .fd = number };
	const uint32_t index = table_find(&history->of_fd, fd_hash(&wanted), is_fd, history->fd,
					  &wanted);

	return index == TABLE_NONE ? NULL : &history->fd[index];
}

/*
 * Returns the entry of a descriptor, and adds one if there is none. The limit keeps a hostile log,
 * in which each event has another descriptor, from using all memory. Past the limit the result is
 * NULL, and the paths of new descriptors are unknown. The pointer is valid until the next new
 * entry.
 */
static struct history_fds *fd_of(struct history *history, pid_t pid, int32_t number)
{
	const struct history_fds wanted = { .pid = pid, .fd = number };
	struct history_fds *found = fd_entry(history, pid, number);

	if (found || history->fds >= HISTORY_CALLS)
		return found;
	if (!vec_grow(&history->fd, history->fds, 1) ||
	    !table_add(&history->of_fd, fd_hash(&wanted), (uint32_t)history->fds)) {
		history->err = ENOMEM;
		return NULL;
	}
	history->fd[history->fds] = wanted;
	return &history->fd[history->fds++];
}

/*
 * Returns the parent of a process; 0: unknown. *born_ns becomes the time of the first event of the
 * process, or of the begin of its fork(), if that is earlier. The process has not inherited
 * anything that an ancestor made after this time. A child of vfork() has no event of its own before
 * it executes a program.
 */
static pid_t parent_of(const struct history *history, pid_t pid, int64_t *born_ns)
{
	const uint32_t index = history_find(history, pid, pid);

	if (history->vchild == pid)
		return history->vparent;
	if (index == HISTORY_NONE)
		return 0;
	if (history->thread[index].first_ns < *born_ns)
		*born_ns = history->thread[index].first_ns;
	if (lives_forked(history, pid) < *born_ns)
		*born_ns = lives_forked(history, pid);
	return history->thread[index].parent;
}

/* Returns the state that a descriptor had at a time, or NULL. */
static const struct history_fd *state_at(const struct history_fds *fd, int64_t time_ns)
{
	for (int i = 0; i < HISTORY_FD_STATES && fd->state[i].since_ns; i++)
		if (fd->state[i].since_ns <= time_ns)
			return &fd->state[i];
	return NULL;
}

/*
 * Returns what is known of a descriptor at a time. An ancestor of the process may have opened the
 * descriptor, so the entries of the ancestors are searched, too. The search ends at the first
 * process that has an entry of that time, even a closed one. An ancestor may have used the number
 * again since the fork, for example for the pipe of its next child, so the last states of the
 * descriptor are kept. If all of them are later than the time, the state of that time was dropped,
 * and the search ends, too. If exec has closed the descriptor at the start of a program, the result
 * is empty. is_past is true if the time is not that of the event that is being read.
 */
static struct history_fd find_fd(const struct history *history, pid_t pid, int32_t number,
				 int64_t time_ns, bool is_past)
{
	int64_t born_ns = time_ns;
	bool has_executed = false;

	for (unsigned level = 0; pid > 0 && level < ANCESTORS; level++) {
		const struct history_fds *of = fd_entry(history, pid, number);
		const struct history_fd *fd = of ? state_at(of, level || is_past ? born_ns :
								     INT64_MAX) : NULL;

		/* A state of an earlier process with the same pid does not count. */
		if (fd && !lives_has(history, pid, fd->since_ns, born_ns))
			fd = NULL;
		has_executed |= lives_executed(history, pid, fd ? fd->since_ns : INT64_MIN,
					       born_ns);
		if (fd && !(has_executed && fd->closes_at_exec))
			return *fd;
		if (of && (fd || of->state[HISTORY_FD_STATES - 1].since_ns))
			break;
		pid = parent_of(history, pid, &born_ns);
	}
	return (struct history_fd){ .text = 0 };
}

/* Returns what is known of a descriptor at the time of the event that is being read. */
static struct history_fd known_fd(const struct history *history, pid_t pid, int32_t number,
				  int64_t time_ns)
{
	return find_fd(history, pid, number, time_ns, false);
}

/*
 * Sets what is known of a descriptor since a time. A negative number is the result of a call that
 * failed. what->since_ns is ignored.
 */
static void set_fd(struct history *history, pid_t pid, int32_t number,
		   const struct history_fd *what, int64_t since_ns)
{
	struct history_fds *fd = number < 0 ? NULL : fd_of(history, pid, number);

	if (!fd)
		return;
	memmove(&fd->state[1], &fd->state[0], sizeof(fd->state) - sizeof(fd->state[0]));
	fd->state[0] = *what;
	fd->state[0].since_ns = since_ns;
}

/*
 * Describes the new descriptors of a call. A queue is the same object for all processes that open
 * it by its name; the number of the name is its identity. Any other object is new.
 */
static struct history_fd new_fd(struct history *history, const struct plan *plan,
				const struct log_type *type,
				const struct posix_trace_event_np *event, uint32_t path)
{
	struct history_fd fd = {
		.text = plan->has_path ? path : 0, .kind = (uint8_t)plan->fd_kind,
		/* The event of accept() has the address of the client instead of a path. */
		.client = plan->fd_kind == FD_CLIENT ? path : 0,
	};

	/* socket() makes one descriptor, and no pair. */
	if (fd.kind == FD_PAIR && (int32_t)classify_number(type, event, plan->made[1]) < 0)
		fd.kind = FD_OTHER;
	if (fd.kind == FD_QUEUE)
		fd.object = path ? OBJECTS_BY_NAME | path : 0;
	else if (fd.kind != FD_OTHER && fd.kind != FD_CLIENT)
		fd.object = ++history->objects & ~(OBJECTS_BY_NAME | CONNECTIONS_BIT);
	return fd;
}

/*
 * Returns the text that identifies a client, as an index + 1, or 0 if nothing identifies it. A
 * client that has not bound its UNIX socket has no address, so the path of the server's socket,
 * 'own', is used.
 */
static uint32_t client_text(struct history *history, uint32_t client, uint32_t own)
{
	static const char family[] = "unix:";
	const char *path = history_text_at(history, own);
	char text[512];
	int len;

	if (strcmp(history_text_at(history, client), family) != 0)
		return client;
	if (strncmp(path, family, strlen(family)) != 0)
		return 0;
	len = snprintf(text, sizeof(text), "of the socket %s", path + strlen(family));
	return len > 0 && (size_t)len < sizeof(text) ?
	       history_keep(history, text, (size_t)len) : 0;
}

/*
 * Returns the index of the text of a field, plus 1; 0: the type has no such field, or it is empty.
 */
static uint32_t text_of(struct history *history, const struct log_type *type,
			const struct posix_trace_event_np *event, const char *field)
{
	const int index = field_index(type->schema, field);

	return index < 0 ? 0 : history_text(history, type, event, index);
}

/* Keeps a command of popen() until its shell starts. */
static void keep_command(struct history *history, const struct log_type *type,
			 const struct posix_trace_event_np *event, pid_t pid, int32_t number,
			 uint32_t object)
{
	const char *mode = history_text_at(history, text_of(history, type, event, "mode"));

	if (number < 0 || history->popeneds == COMMANDS_MOST)
		return;
	if (vec_grow(&history->popened, history->popeneds, 1))
		history->popened[history->popeneds++] = (struct popened){
			pid, number, object, *mode == 'w' };
	else
		history->err = ENOMEM;
}

/*
 * popen() makes the child inside the C library, so no event has the number of the child. The child
 * is taken to be the next child of the process whose first event is the start of a program. A
 * command whose stream was closed before is forgotten.
 */
void objects_start(struct history *history, pid_t pid, pid_t parent, int64_t time_ns)
{
	for (size_t i = 0; i < history->popeneds; i++) {
		const struct popened of = history->popened[i];

		if (of.pid != parent)
			continue;
		history->popeneds--;
		memmove(&history->popened[i], &history->popened[i + 1],
			(history->popeneds - i) * sizeof(of));
		if (known_fd(history, parent, of.fd, time_ns).object == of.object) {
			set_fd(history, pid, !of.is_input, &(const struct history_fd){
				.object = of.object, .kind = FD_PIPE }, time_ns);
			return;
		}
		i--;
	}
}

/* Describes the descriptor that a call of accept() has made: one end of a connection. */
static void accept_fd(struct history *history, const struct plan *plan,
		      const struct log_type *type, const struct posix_trace_event_np *event,
		      pid_t pid, struct history_fd *fd)
{
	const struct history_fd listens = known_fd(history, pid,
						   (int32_t)classify_number(type, event, plan->key),
						   event->time_ns);
	const uint32_t client = fd->client;

	fd->is_second = true;
	fd->own = listens.own;
	fd->client = client_text(history, fd->client, fd->own);
	/* A call that failed has made no connection. */
	if ((int32_t)classify_number(type, event, plan->made[0]) >= 0)
		fd->object = connections_add(history, &(const struct connection_end){
			.from_ns = event->time_ns, .to_ns = event->time_ns, .server = fd->own,
			.client = client, .is_accepted = true });
}

/* Returns the kind of a descriptor by its word in log/opened.h. */
static enum fd_kind kind_of(const char *word)
{
	static const struct {
		const char *word;
		enum fd_kind kind;
	} kinds[] = {
		{ "pipe", FD_PIPE }, { "accepted", FD_CLIENT }, { "eventfd", FD_EVENT },
		{ "timerfd", FD_TIMER }, { "signalfd", FD_SIGNAL },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(word, kinds[i].word))
			return kinds[i].kind;
	return FD_OTHER;
}

/*
 * Finds the addresses of a socket that was open before the trace. The name in the event consists of
 * the protocol and the socket's own address. If the socket has a peer, an arrow and the address of
 * the peer follow. The two addresses are the identity of the connection in all processes.
 */
static void opened_socket(struct history *history, const char *name, struct history_fd *fd)
{
	const char *own = strchr(name, ' '), *arrow = strstr(name, fd->peer ? " -> " : " <- ");
	char both[512];
	int len;

	if (!own++)
		return;
	fd->is_second = fd->kind == FD_CLIENT;
	if (!fd->peer && !fd->client) {
		fd->own = strchr(own, ' ') ? 0 : history_keep(history, own, strlen(own));
		return;
	}
	if (!arrow || arrow < own)
		return;
	fd->own = history_keep(history, own, (size_t)(arrow - own));
	if (!fd->own)
		return;
	len = snprintf(both, sizeof(both), "%s -> %s",
		       history->text[(fd->peer ? fd->own : fd->client) - 1],
		       history->text[(fd->peer ? fd->peer : fd->own) - 1]);
	if (len > 0 && (size_t)len < sizeof(both))
		fd->object = OBJECTS_BY_NAME | history_keep(history, both, (size_t)len);
}

/*
 * The inode of a pipe is its identity in all processes. The log does not show whether two
 * descriptors refer to the same eventfd, so an eventfd gets no identity.
 */
void objects_opened(struct history *history, const struct log_type *type,
		    const struct posix_trace_event_np *event)
{
	const pid_t pid = (pid_t)field_integer(type->schema, "pid", event, 0);
	const int32_t number = (int32_t)field_integer(type->schema, "fd", event, -1);
	const int64_t looked_ns = field_integer(type->schema, "looked_ns", event, 0);
	const uint32_t kind = text_of(history, type, event, "kind"),
		       name = text_of(history, type, event, "name");
	const char *word = kind ? history->text[kind - 1] : "";
	const struct history_fds *known = fd_entry(history, pid, number);
	struct history_fd fd = {
		.kind = (uint8_t)kind_of(word),
		.closes_at_exec = field_integer(type->schema, "closes_at_exec", event, 0),
		.peer = text_of(history, type, event, "peer"),
	};
	int64_t since_ns;

	if (looked_ns < 0 || __builtin_sub_overflow(event->time_ns, looked_ns, &since_ns) ||
	    (known && known->state[0].since_ns >= since_ns))
		return;
	if (!strcmp(word, "file"))
		fd.text = name;
	if (fd.kind == FD_PIPE)
		fd.object = OBJECTS_BY_NAME | name;
	if (fd.kind == FD_CLIENT)
		fd.client = text_of(history, type, event, "client");
	if (fd.kind == FD_CLIENT || fd.peer || !strcmp(word, "listener"))
		opened_socket(history, name ? history->text[name - 1] : "", &fd);
	set_fd(history, pid, number, &fd, since_ns);
}

/* ------------------------------------------------------------------ locks of files */

/* Ends a lock that a thread has set, at a time. */
static void end_lock(struct history *history, size_t index, int64_t time_ns)
{
	const struct file_lock lock = history->file_lock[index];

	history->file_lock[index] = history->file_lock[--history->file_locks];
	if (time_ns > lock.from_ns &&
	    !holds_add(&history->file_holds, &(const struct hold){
		.thread = lock.thread, .lock = history_file_lock(lock.text, lock.is_flock),
		.begin_ns = lock.from_ns, .end_ns = time_ns }))
		history->err = ENOMEM;
}

/*
 * Ends the locks that the close of a descriptor removes. A lock of flock() belongs to the
 * descriptor. The other locks belong to the process, and end if the process closes any descriptor
 * of the file.
 */
static void close_locks(struct history *history, pid_t pid, int32_t fd, uint32_t text,
			int64_t time_ns)
{
	for (size_t i = history->file_locks; i-- > 0;) {
		const struct file_lock *lock = &history->file_lock[i];

		if (lock->pid == pid && (lock->is_flock ? lock->fd == fd : text == lock->text))
			end_lock(history, i, time_ns);
	}
}

void objects_execute(struct history *history, pid_t pid, int64_t time_ns)
{
	for (size_t i = history->file_locks; i-- > 0;) {
		const struct file_lock *lock = &history->file_lock[i];
		const struct history_fds *fd = lock->pid == pid ?
					       fd_entry(history, pid, lock->fd) : NULL;

		if (fd && fd->state[0].closes_at_exec && fd->state[0].since_ns < time_ns)
			end_lock(history, i, time_ns);
	}
}

void objects_end_process(struct history *history, pid_t pid, int64_t time_ns)
{
	lives_end(history, pid, time_ns);
	for (size_t i = history->file_locks; i-- > 0;)
		if (history->file_lock[i].pid == pid)
			end_lock(history, i, time_ns);
}

void objects_lock_file(struct history *history, const struct call *call, bool is_unlock)
{
	const struct file_lock lock = {
		.pid = history->thread[call->thread].pid, .thread = call->thread,
		.text = call->text, .fd = (int32_t)call->key, .from_ns = call->end_ns,
		.is_flock = !strcmp(call->type->name, "io.flock"),
	};

	/* A file without a path has no identity. */
	if (!lock.text)
		return;
	for (size_t i = history->file_locks; i-- > 0;) {
		const struct file_lock *old = &history->file_lock[i];

		if (old->pid != lock.pid || old->is_flock != lock.is_flock ||
		    (lock.is_flock ? old->fd != lock.fd : old->text != lock.text))
			continue;
		/* If a process sets a lock that it already has, the lock continues. */
		if (!is_unlock)
			return;
		end_lock(history, i, call->end_ns);
	}
	if (is_unlock || history->file_locks == FILE_LOCKS_MOST)
		return;
	if (vec_grow(&history->file_lock, history->file_locks, 1))
		history->file_lock[history->file_locks++] = lock;
	else
		history->err = ENOMEM;
}

void objects_end(struct history *history)
{
	while (history->file_locks && !history->err) {
		const struct file_lock *lock = &history->file_lock[history->file_locks - 1];
		int64_t last_ns = INT64_MIN;

		for (size_t i = 0; i < history->threads; i++)
			if (history->thread[i].pid == lock->pid &&
			    history->thread[i].last_ns > last_ns)
				last_ns = history->thread[i].last_ns;
		end_lock(history, history->file_locks - 1, last_ns);
	}
	holds_sort(&history->file_holds);
}

/* ------------------------------------------------------------------ calls */

/*
 * Follows a call of fcntl() that copies a descriptor, or that sets whether exec closes it. A call
 * that failed is ignored.
 */
static void follow_fcntl(struct history *history, const struct plan *plan,
			 const struct log_type *type, const struct posix_trace_event_np *event,
			 pid_t pid)
{
	const uint64_t command = classify_number(type, event, plan->command);
	const int32_t number = (int32_t)classify_number(type, event, plan->key);
	struct history_fd fd;

	if ((int32_t)classify_number(type, event, plan->error) ||
	    (command != FCNTL_COPIES && command != FCNTL_SETS_FLAGS &&
	     command != FCNTL_COPIES_CLOSED))
		return;
	fd = known_fd(history, pid, number, event->time_ns);
	fd.closes_at_exec = command == FCNTL_SETS_FLAGS ?
			    classify_number(type, event, plan->flags) & 1 :
			    command == FCNTL_COPIES_CLOSED;
	set_fd(history, pid, command == FCNTL_SETS_FLAGS ? number :
	       (int32_t)classify_number(type, event, plan->result), &fd, event->time_ns);
}

/*
 * A new descriptor without a file also gets an entry, which hides an earlier descriptor with the
 * same number. The event of fdopen() has no path, and so changes no entry.
 */
void objects_follow(struct history *history, const struct plan *plan, const struct log_type *type,
		    const struct posix_trace_event_np *event, pid_t pid, uint32_t path)
{
	struct history_fd fd;

	if (!strcmp(type->name, "io.fcntl"))
		follow_fcntl(history, plan, type, event, pid);
	if (plan->closed >= 0) {
		int32_t number = (int32_t)classify_number(type, event, plan->closed);

		fd = known_fd(history, pid, number, event->time_ns);
		close_locks(history, pid, number, fd.text, event->time_ns);
		connections_close(history, fd.object, event->time_ns);
		set_fd(history, pid, number, &(const struct history_fd){ .text = 0 },
		       event->time_ns);
	}
	if (plan->made[0] < 0)
		return;
	if (plan->source >= 0)
		fd = known_fd(history, pid,
			      (int32_t)classify_number(type, event, plan->source),
			      event->time_ns);
	else if (plan->has_path && !path)
		return;
	else
		fd = new_fd(history, plan, type, event, path);
	if (fd.kind == FD_CLIENT && plan->source < 0)
		accept_fd(history, plan, type, event, pid, &fd);
	fd.closes_at_exec = classify_closes_at_exec(plan, type, event);
	fd.address = (uintptr_t)event->info.posix_prog_address;
	for (int i = 0; i < 2; i++) {
		if (plan->made[i] < 0)
			continue;
		fd.is_second |= i && fd.kind == FD_PAIR;
		set_fd(history, pid, (int32_t)classify_number(type, event, plan->made[i]), &fd,
		       event->time_ns);
	}
	if (fd.kind == FD_COMMAND)
		keep_command(history, type, event, pid,
			     (int32_t)classify_number(type, event, plan->made[0]), fd.object);
}

bool objects_is_other_end(const struct history *history, pid_t pid, int32_t number,
			  const struct call *read, int64_t time_ns)
{
	const struct history_fd fd = find_fd(history, pid, number, time_ns, true);

	/* All descriptors of a pipe are one object. A socket of a pair reads from the other one. */
	return read->object && fd.object == read->object &&
	       (fd.kind == FD_PIPE || fd.kind == FD_COMMAND ||
		(fd.kind == FD_PAIR && fd.is_second != read->is_second));
}

int64_t objects_closed_ns(const struct history *history, pid_t pid, int32_t number,
			  int64_t time_ns)
{
	const struct history_fds *of = fd_entry(history, pid, number);
	const struct history_fd *fd = of ? state_at(of, time_ns) : NULL;

	return fd && !fd->object && lives_has(history, pid, fd->since_ns, time_ns) ? fd->since_ns :
	       INT64_MIN;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct objects_most objects_most_open(const struct history *history, pid_t pid, int64_t time_ns)
{
	struct objects_most most = { .address = 0 };
	uint64_t *address = calloc(OBJECTS_OPEN, sizeof(*address));

	for (size_t i = 0; address && i < history->fds && most.all < OBJECTS_OPEN; i++) {
		const struct history_fd *fd = &history->fd[i].state[0];

		if (history->fd[i].pid == pid && fd->address && fd->since_ns <= time_ns &&
		    lives_has(history, pid, fd->since_ns, time_ns))
			address[most.all++] = fd->address;
	}
	if (most.all)
		qsort(address, most.all, sizeof(*address), by_address);
	for (size_t i = 0, next; i < most.all; i = next) {
		for (next = i + 1; next < most.all && address[next] == address[i];)
			next++;
		if (next - i > most.count) {
			most.count = next - i;
			most.address = address[i];
		}
	}
	free(address);
	return most;
}

/*
 * Notes the connection that a call of connect() has made or begun: the address of the call is the
 * peer of the descriptor. The mark closes_at_exec and the own address of the descriptor remain.
 */
static void note_connect(struct history *history, pid_t pid, struct call *call)
{
	const struct history_fd fd = known_fd(history, pid, (int32_t)call->key, call->end_ns);

	if (connections_continue(history, fd.object, call)) {
		call->object = fd.object;
		return;
	}
	if (call->error && !call->is_begun)
		return;
	call->object = connections_add(history, &(const struct connection_end){
		.from_ns = call->begin_ns, .to_ns = call->end_ns, .server = call->text,
		.client = fd.own, .is_begun = call->is_begun });
	set_fd(history, pid, (int32_t)call->key,
	       &(const struct history_fd){
		       .address = fd.address, .peer = call->text, .own = fd.own,
		       .object = call->object, .closes_at_exec = fd.closes_at_exec },
	       call->end_ns);
}

/*
 * Returns the present state of a descriptor, which the caller may change. 'fd' is a copy of it. A
 * descriptor that the process has inherited gets a state of its own. Returns NULL past the limit.
 */
static struct history_fd *present_fd(struct history *history, pid_t pid, int32_t number,
				     const struct history_fd *fd, int64_t time_ns)
{
	struct history_fds *of = fd_entry(history, pid, number);

	if (!of || !of->state[0].since_ns) {
		set_fd(history, pid, number, fd, time_ns);
		of = fd_entry(history, pid, number);
	}
	return of ? &of->state[0] : NULL;
}

/* Notes the own address of a socket. If it has no port yet, the kernel chooses one later. */
static void note_own(struct history *history, pid_t pid, const struct call *call)
{
	const char *text = history_text_at(history, call->text);
	struct history_fd fd, *present;

	if (call->error || !*text || connections_is_any_port(text))
		return;
	fd = known_fd(history, pid, (int32_t)call->key, call->end_ns);
	fd.own = call->text;
	present = present_fd(history, pid, (int32_t)call->key, &fd, call->end_ns);
	if (present)
		present->own = fd.own;
	if (fd.kind != FD_CLIENT)
		connections_name(history, fd.object, fd.own);
}

/* Notes the address of a client, for which the program asks by getpeername(). */
static void note_client(struct history *history, pid_t pid, const struct call *call)
{
	struct history_fd fd = known_fd(history, pid, (int32_t)call->key, call->end_ns), *present;

	if (call->error || !call->text || fd.kind != FD_CLIENT || fd.client)
		return;
	connections_name(history, fd.object, call->text);
	fd.client = client_text(history, call->text, fd.own);
	present = present_fd(history, pid, (int32_t)call->key, &fd, call->end_ns);
	if (present)
		present->client = fd.client;
}

/*
 * Notes a message of a socket without a connection. The first message shows which side asks. If the
 * program asks, a read without an address waits for the answer of the peer that was asked last.
 */
static void note_message(struct history *history, pid_t pid, const struct call *call,
			 const struct history_fd *fd)
{
	struct history_fd *present;

	if (call->error || fd->peer || fd->is_asked || (call->cause == CAUSE_READ && fd->asked))
		return;
	present = present_fd(history, pid, (int32_t)call->key, fd, call->end_ns);
	if (!present)
		return;
	if (call->cause == CAUSE_READ)
		present->is_asked = true;
	else
		present->asked = call->peer;
}

/*
 * Returns the text of an address without its port. Each client has a port of its own, but all waits
 * for the clients of a host are one part.
 */
static uint32_t host_text(struct history *history, uint32_t address)
{
	const char *text = history_text_at(history, address);
	const size_t len = connections_host_len(text);

	return len ? history_keep(history, text, len) : address;
}

/*
 * Finds the file, the connection or the pipe of a call on a descriptor. A connect that did not fail
 * makes the address of the call the peer of the descriptor.
 */
static void find_descriptor(struct history *history, pid_t pid, struct call *call, bool is_past)
{
	const bool transfers = call->cause == CAUSE_READ || call->cause == CAUSE_WRITE;
	struct history_fd fd;

	if (!strcmp(call->type->name, "net.connect")) {
		note_connect(history, pid, call);
		return;
	}
	if (!strcmp(call->type->name, "net.bind") || !strcmp(call->type->name, "net.getsockname"))
		note_own(history, pid, call);
	if (!strcmp(call->type->name, "net.getpeername"))
		note_client(history, pid, call);
	/* If the call has an address, it is the address of the peer. */
	if (transfers && !strncmp(call->type->name, "net.", 4)) {
		call->peer = call->text;
		call->text = 0;
	}
	fd = find_fd(history, pid, (int32_t)call->key, call->end_ns, is_past);
	/*
	 * A call uses the file that the descriptor referred to at the begin of the call. Another
	 * thread may have closed the descriptor before the event of the call: for example, the
	 * thread that received the bytes of a write.
	 */
	if (transfers && fd.since_ns > call->begin_ns) {
		const struct history_fd before = find_fd(history, pid, (int32_t)call->key,
							 call->begin_ns, true);

		if (before.since_ns)
			fd = before;
	}
	/*
	 * The process gets a state of its own for a descriptor that it has inherited. Otherwise
	 * the state could be lost: if an ancestor uses the number again and again, its oldest
	 * states are dropped.
	 */
	if (!is_past && fd.since_ns)
		present_fd(history, pid, (int32_t)call->key, &fd, call->begin_ns);
	if (transfers && !call->error)
		connections_use(history, fd.object);
	/* A socket without a connection has a peer in each call, and no object. */
	if (call->peer) {
		call->object = fd.peer == call->peer ? fd.object : 0;
		call->own = fd.kind == FD_OTHER ? fd.own : 0;
		if (!is_past)
			note_message(history, pid, call, &fd);
		return;
	}
	if (call->cause != CAUSE_PEER && !call->text)
		call->text = fd.text;
	if (!strcmp(call->type->name, "net.accept"))
		call->text = host_text(history, client_text(history, call->text, fd.own));
	/* A call with a path uses a file, which has no peer. */
	call->peer = call->text && call->cause != CAUSE_PEER ? 0 :
		     fd.peer ? fd.peer : call->cause == CAUSE_READ ? fd.asked : 0;
	/* The object of accept() is the new connection, and not the socket that listens. */
	call->object = !history_has_accepted(call) ? fd.object :
		       known_fd(history, pid, (int32_t)call->accepted, call->end_ns).object;
	if (fd.kind == FD_OTHER)
		call->own = fd.own;
	else
		call->client = fd.client;
	call->fd_kind = fd.kind;
	call->is_second = fd.is_second;
}

/* ------------------------------------------------------------------ semaphores */

/* Compares a semaphore with the wanted one, for table_find(). */
static bool is_semaphore(const void *array, uint32_t index, const void *key)
{
	const struct semaphore_name *name = (const struct semaphore_name *)array + index;
	const struct semaphore_name *wanted = key;

	return name->pid == wanted->pid && name->lock == wanted->lock;
}

static uint64_t hash_semaphore(pid_t pid, uint64_t lock)
{
	return hash_number(hash_number(HASH_BEGIN, (uint64_t)(unsigned)pid), lock);
}

/* Returns the name of the semaphore that a process has opened at an address, or NULL. */
static struct semaphore_name *semaphore_of(const struct history *history, pid_t pid, uint64_t lock)
{
	const struct semaphore_name wanted = { .pid = pid, .lock = lock };
	const uint32_t index = table_find(&history->of_semaphore, hash_semaphore(pid, lock),
					  is_semaphore, history->semaphore, &wanted);

	return index == TABLE_NONE ? NULL : &history->semaphore[index];
}

/*
 * Finds the name of a semaphore, because processes may have one semaphore at different addresses.
 * An ancestor of the process may have opened it. A program that was started since then has not
 * inherited it.
 */
static void find_semaphore(struct history *history, pid_t pid, struct call *call)
{
	int64_t born_ns = call->end_ns;

	for (unsigned level = 0; pid > 0 && level < ANCESTORS; level++) {
		const struct semaphore_name *name = semaphore_of(history, pid, call->key);

		if (name && !lives_has(history, pid, name->since_ns, born_ns))
			name = NULL;
		if (lives_executed(history, pid, name ? name->since_ns : INT64_MIN, born_ns))
			return;
		if (name && (level == 0 || name->since_ns <= born_ns)) {
			call->text = name->text;
			call->object = OBJECTS_BY_NAME | call->text;
		}
		if (name)
			return;
		pid = parent_of(history, pid, &born_ns);
	}
}

/*
 * Notes the name of a semaphore that a process has opened. A later sem_open() may return the same
 * address for another name, which then replaces the first one.
 */
static void name_semaphore(struct history *history, pid_t pid, const struct call *call)
{
	struct semaphore_name *name;

	if (call->error || !call->text)
		return;
	name = semaphore_of(history, pid, call->key);
	if (!name) {
		if (history->semaphores >= HISTORY_CALLS)
			return;
		if (!vec_grow(&history->semaphore, history->semaphores, 1) ||
		    !table_add(&history->of_semaphore, hash_semaphore(pid, call->key),
			       (uint32_t)history->semaphores)) {
			history->err = ENOMEM;
			return;
		}
		name = &history->semaphore[history->semaphores++];
	}
	*name = (struct semaphore_name){
		.pid = pid, .text = call->text, .lock = call->key, .since_ns = call->end_ns,
	};
}

void objects_find(struct history *history, pid_t pid, struct call *call)
{
	switch ((enum cause)call->cause) {
	case CAUSE_READ:
	case CAUSE_WRITE:
	case CAUSE_FILE:
	case CAUSE_POLL:
	case CAUSE_PEER:
	case CAUSE_FILE_LOCK:
		find_descriptor(history, pid, call, false);
		break;
	case CAUSE_SEM:
	case CAUSE_POST:
		if (history->semaphores)
			find_semaphore(history, pid, call);
		break;
	default:
		if (!strcmp(call->type->name, "lock.sem_open"))
			name_semaphore(history, pid, call);
		break;
	}
}

void objects_find_past(struct history *history, pid_t pid, struct call *call)
{
	find_descriptor(history, pid, call, true);
	call->object = connections_joined(history, call->object);
}

void objects_fini(struct history *history)
{
	free(history->fd);
	table_fini(&history->of_fd);
	free(history->file_lock);
	free(history->popened);
	holds_fini(&history->file_holds);
	free(history->semaphore);
	table_fini(&history->of_semaphore);
}
