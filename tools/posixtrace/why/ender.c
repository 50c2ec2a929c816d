/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ender.c - the calls that end the waits of other threads.
 *
 * If the log shows that two calls used the same pipe, queue or semaphore, this is a fact. For other
 * calls only the times, the numbers of bytes and the addresses are known, so the partner is only
 * probable.
 */
#include "why/ender.h"

#include <string.h>

#include "why/connections.h"
#include "why/lives.h"
#include "why/objects.h"

#define AGAIN 16 /* the most calls after a poll that ender_again() examines */
#define NEXT 8 /* the most calls after a poll that ender_through() examines */
/* the greatest error of the times of different threads */
#define ENDER_AFTER_NS INT64_C(1000000)

#define PAGE 4096 /* the smallest page of all processors of Linux */

/* A wait, for which the call that ended it (the partner) is searched. */
struct wait {
	const struct history *history; /* NULL: there is none, and 'pid' is not set */
	const struct call *call;
	const struct call *used; /* the call itself, or the read after a poll */
	enum cause wanted;   /* the cause of the partner */
	uint32_t object;     /* 0: unknown */
	uint64_t signal;     /* of CAUSE_KILL: the signal that ended the wait; 0: unknown */
	bool is_second;
	bool is_socket;
	bool is_connection;  /* both ends must be known */
	uint8_t fd_kind;
	bool has_bytes;      /* the member 'result' of both calls is a number of bytes */
	pid_t pid;
};

/* The calls among which a partner is searched, in the order of their ends. */
struct transfers {
	const struct call *call;
	const uint32_t *order; /* indexes in call; NULL: the calls themselves have the order */
	size_t count;
};

static struct transfers transfers_of(const struct history *history)
{
	return (struct transfers){ history->call, history->transfer, history->transfers };
}

static const struct call *transfer_at(const struct transfers *transfers, size_t i)
{
	return &transfers->call[transfers->order ? transfers->order[i] : i];
}

/*
 * Returns the number of transfers that end at or before a time. If the time is the end of a wait,
 * the last of these transfers is the nearest to this end.
 */
static size_t transfers_until(const struct transfers *transfers, int64_t time_ns)
{
	size_t low = 0, high = transfers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (transfer_at(transfers, middle)->end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t ender_until(const struct history *history, int64_t time_ns)
{
	const struct transfers transfers = transfers_of(history);

	return transfers_until(&transfers, time_ns);
}

/* Returns whether a call is known to use a socket. */
static bool uses_socket(const struct call *call)
{
	return call->fd_kind == FD_CLIENT || call->peer ||
	       (call->cause != CAUSE_POLL && !strncmp(call->type->name, "net.", strlen("net.")));
}

/* Returns whether a call is known to use a pipe or an eventfd. No socket is connected to these. */
static bool uses_pipe(uint8_t fd_kind)
{
	return fd_kind == FD_PIPE || fd_kind == FD_EVENT || fd_kind == FD_COMMAND;
}

/* Returns whether a call uses an end of a connection that a program connected or accepted. */
static bool uses_connection(const struct call *call)
{
	return call->cause != CAUSE_POLL && (call->peer || call->fd_kind == FD_CLIENT);
}

/* Returns whether a kind of descriptor has two ends with one object. */
static bool has_ends(uint8_t fd_kind)
{
	return fd_kind == FD_PAIR || fd_kind == FD_CLIENT || fd_kind == FD_OTHER;
}

/*
 * Returns whether both calls are known to use sockets that no server accepted, and the addresses of
 * both sides of a message may be known. Two such sockets have no connection with each other, but
 * may exchange datagrams.
 */
static bool is_datagram(const struct wait *wait, const struct call *other)
{
	const struct call *used = wait->used;

	return wait->history && wait->is_socket && uses_socket(other) &&
	       used->fd_kind == FD_OTHER && other->fd_kind == FD_OTHER &&
	       (used->peer || used->own) && (other->peer || other->own) &&
	       (used->cause == CAUSE_READ || used->cause == CAUSE_WRITE);
}

/*
 * Returns whether both calls used one object: 1 yes, 0 no, -1 unknown. The two ends of a connection
 * or pair of sockets have one object, and a read from one end receives the data that was written to
 * the other end. If the wait is for a connection, the result is not -1, because no other connection
 * can end the wait. In one process, two locks without a name are the same if their addresses are
 * equal. In two processes, they may be one lock in shared memory if their places in a page are
 * equal.
 */
static int same_object(const struct wait *wait, const struct call *other)
{
	const struct history_thread *thread;
	pid_t pid;

	if (wait->call->has_id || other->has_id) {
		if (wait->call->has_id != other->has_id || other->key != wait->call->key)
			return 0;
		/* A message of any type makes room in a full queue when it is read. */
		if (wait->wanted == CAUSE_READ)
			return 1;
		if (!wait->object || !other->object)
			return -1;
		return wait->object == other->object;
	}
	switch (wait->wanted) {
	case CAUSE_BARRIER:
	case CAUSE_POST:
		if (wait->object || other->object)
			return wait->object == other->object;
		if (wait->history->thread[other->thread].pid == wait->pid)
			return other->key == wait->call->key;
		/* Processes may map shared memory at different addresses, but only whole pages. */
		return (other->key ^ wait->call->key) % PAGE ? 0 : -1;
	case CAUSE_KILL:
		thread = &wait->history->thread[wait->call->thread];
		pid = wait->history->thread[other->thread].pid;
		/* Signal 0 is no signal: kill() with 0 only checks whether the process exists. */
		if (!other->key || (wait->signal && other->key != wait->signal))
			return 0;
		if (wait->call->sender && wait->call->sender != pid)
			return 0;
		/* A signal to one thread ends no wait of another thread. */
		if ((other->target_tid && other->target_tid != (uint32_t)thread->tid) ||
		    (other->target_pthread && other->target_pthread != thread->pthread))
			return 0;
		/* A negative number is a group of processes; 0 is the group of the sender. */
		if ((int32_t)other->target_pid <= 0)
			return -1;
		if ((pid_t)other->target_pid != wait->pid)
			return 0;
		/* If the signal that ended the wait is unknown, it may be another signal. */
		return wait->signal ? 1 : -1;
	case CAUSE_PEER:
		return connections_fit(wait->history, other->object, wait->object);
	default:
		/*
		 * Servers accepted both connections, so neither call is that of the client of the
		 * other.
		 */
		if (wait->fd_kind == FD_CLIENT && other->fd_kind == FD_CLIENT)
			return 0;
		if ((wait->is_socket && uses_pipe(other->fd_kind)) ||
		    (uses_pipe(wait->fd_kind) && uses_socket(other)))
			return 0;
		if ((!wait->object || !other->object) && is_datagram(wait, other))
			return connections_datagram(wait->history, wait->wanted == CAUSE_WRITE ?
						    wait->used : other, wait->wanted ==
						    CAUSE_WRITE ? other : wait->used);
		if (!wait->object || !other->object)
			return wait->is_connection ? 0 : -1;
		return wait->object == other->object &&
		       (!has_ends(other->fd_kind) || other->is_second != wait->is_second);
	}
}

/*
 * Returns whether a call may end waits for a semaphore of System V. A call of semop() with several
 * operations has the cause CAUSE_SEM, because it may also wait. A wait for the value 0 ends when
 * the semaphore is decreased.
 */
static bool is_semaphore_change(const struct wait *wait, const struct call *other)
{
	if (other->cause != CAUSE_SEM || !other->has_id)
		return false;
	return !other->semaphore || (!wait->call->change && (int64_t)other->change < 0);
}

/*
 * Returns true if a call of another thread may have ended this wait, because the two calls overlap
 * in time. A call with a path reads or writes a file, and so does not wake a thread that waits for
 * a pipe or socket.
 */
static bool is_partner(const struct wait *wait, const struct call *other)
{
	const struct call *call = wait->call;

	if (other->thread == call->thread || other->begin_ns > call->end_ns ||
	    other->end_ns <= call->begin_ns)
		return false;
	if (other->cause != wait->wanted &&
	    !(call->cause == CAUSE_SEM && call->has_id && is_semaphore_change(wait, other)))
		return false;
	/* A call that failed has changed nothing, except a connect that continues. */
	if (other->error && wait->wanted != CAUSE_BARRIER && !other->is_begun)
		return false;
	if ((wait->wanted == CAUSE_READ || wait->wanted == CAUSE_WRITE) && call_uses_file(other))
		return false;
	return same_object(wait, other) != 0;
}

/*
 * Returns true if the call 'other' is a better partner than 'found', which may be NULL. A call with
 * the same object is better than any other call. For a semaphore, a call with the same address is
 * better: a child has the shared memory of its parent at the same address. For a read or write, a
 * call with the same number of bytes is better. Among equals, the call that began last is better.
 */
static bool is_better(const struct wait *wait, const struct call *other, const struct call *found)
{
	const uint64_t bytes = wait->call->result;

	if (!found)
		return true;
	if ((same_object(wait, other) > 0) != (same_object(wait, found) > 0))
		return same_object(wait, other) > 0;
	if (wait->wanted == CAUSE_POST && (other->key == wait->call->key) !=
					  (found->key == wait->call->key))
		return other->key == wait->call->key;
	if (wait->has_bytes && (other->result == bytes) != (found->result == bytes))
		return other->result == bytes;
	return other->begin_ns > found->begin_ns;
}

/*
 * Examines a call that may be the partner. If calls of two threads used the same object during the
 * wait, the log does not show which thread ended the wait. For example, both may have posted a
 * semaphore for which several threads waited, or both may have written before the reader had a CPU.
 * At a barrier, the thread that arrived last ended it.
 */
static void examine_call(const struct wait *wait, const struct call *other, struct ender *found,
			 uint32_t *certain, uint32_t *same_bytes)
{
	if (!is_partner(wait, other))
		return;
	if (same_object(wait, other) > 0 && wait->wanted != CAUSE_BARRIER) {
		found->has_rivals |= *certain != HISTORY_NONE && *certain != other->thread;
		*certain = other->thread;
	}
	if (wait->has_bytes && other->result == wait->call->result) {
		found->has_twins |= *same_bytes != HISTORY_NONE && *same_bytes != other->thread;
		*same_bytes = other->thread;
	}
	if (is_better(wait, other, found->call))
		found->call = other;
}

/*
 * Returns whether the log rules out that another thread than the found one has ended a read, write
 * or poll: the object is the same, or only the found thread has transferred as many bytes during
 * the wait. If the result is false, the found call may be of another object, and the real partner
 * unrecorded.
 */
static bool is_supported(const struct wait *wait, const struct ender *found)
{
	if ((wait->wanted != CAUSE_READ && wait->wanted != CAUSE_WRITE) ||
	    same_object(wait, found->call) > 0)
		return true;
	return wait->has_bytes && found->call->result == wait->call->result && !found->has_twins;
}

/* Returns the cause of the calls that may end a wait. */
static enum cause wanted_of(const struct call *call, const struct call *through)
{
	switch ((enum cause)call->cause) {
	case CAUSE_BARRIER:
		return CAUSE_BARRIER;
	case CAUSE_WRITE:
		return CAUSE_READ;
	case CAUSE_SEM:
	case CAUSE_COND:
		return CAUSE_POST;
	case CAUSE_SIGNAL:
		return CAUSE_KILL;
	case CAUSE_PEER:
		return CAUSE_PEER;
	default:
		return through && through->cause == CAUSE_PEER ? CAUSE_PEER :
		       (through ? through : call)->fd_kind == FD_SIGNAL ? CAUSE_KILL : CAUSE_WRITE;
	}
}

/*
 * A call with the same number of bytes is preferred, because the log does not always identify a
 * pipe: its two ends have different descriptors. Among these calls, the call that began last is
 * preferred. For a barrier, only this second rule applies. A writing thread may lose its CPU to the
 * reading thread before the write ends, so calls that end after the wait are examined, too. At most
 * ENDER_LOOK_AT calls are examined before the end of the wait, and as many after it.
 */
static struct ender search_ender(const struct wait *wait, const struct transfers *transfers)
{
	const struct call *call = wait->call;
	const size_t at = transfers_until(transfers, call->end_ns);
	struct ender found = { .call = NULL };
	uint32_t certain = HISTORY_NONE, same_bytes = HISTORY_NONE;

	for (size_t n = 0; at + n < transfers->count && n < ENDER_LOOK_AT; n++)
		examine_call(wait, transfer_at(transfers, at + n), &found, &certain, &same_bytes);
	for (size_t n = 1; n <= at && n <= ENDER_LOOK_AT; n++) {
		const struct call *other = transfer_at(transfers, at - n);

		/*
		 * The transfers are in the order of their ends, so all transfers before this one
		 * also ended before the wait began.
		 */
		if (other->end_ns <= call->begin_ns)
			break;
		examine_call(wait, other, &found, &certain, &same_bytes);
	}
	found.is_certain = found.call && same_object(wait, found.call) > 0 && !found.has_rivals;
	return found;
}

/* Returns a wait without its history and pid, which ender_find() adds. */
static struct wait wait_of(const struct call *call, const struct call *through)
{
	const struct call *used = call->cause == CAUSE_POLL && through ? through : call;

	return (struct wait){
		.call = call, .used = used, .wanted = wanted_of(call, through),
		.object = used->object, .is_second = used->is_second, .fd_kind = used->fd_kind,
		.is_socket = uses_socket(used), .is_connection = uses_connection(used),
		.signal = call->cause == CAUSE_SIGNAL ? call->key : 0,
		.has_bytes = call->cause == CAUSE_READ || call->cause == CAUSE_WRITE,
	};
}

struct ender ender_find(const struct history *history, const struct call *call,
			const struct call *through)
{
	const struct transfers transfers = transfers_of(history);
	struct wait wait = wait_of(call, through);
	struct ender found;

	wait.history = history;
	wait.pid = history->thread[call->thread].pid;
	found = search_ender(&wait, &transfers);
	if (found.call && !is_supported(&wait, &found))
		found = (struct ender){ .call = NULL };
	return found;
}

const struct call *ender_among(const struct call *calls, size_t count, const struct call *call)
{
	const struct transfers transfers = { .call = calls, .count = count };
	const struct wait wait = wait_of(call, NULL);

	return search_ender(&wait, &transfers).call;
}

/* The next calls of a thread after one of its calls. */
struct later {
	const struct history *history;
	const struct call *call;
	size_t at, end; /* indexes of history.piece */
};

/* Begins a walk along the next calls, which examines at most a number of pieces. */
static struct later later_begin(const struct history *history, const struct call *call,
				size_t most)
{
	const struct history_thread *thread = &history->thread[call->thread];
	const size_t at = history_piece_at(history, thread, call->end_ns);
	const size_t left = thread->piece + thread->pieces - at;

	return (struct later){ history, call, at, at + (left < most ? left : most) };
}

/* Returns the next call, or NULL. Skips the call itself, the calls in it and those around it. */
static const struct call *later_next(struct later *later)
{
	while (later->at < later->end) {
		const struct call *next =
			&later->history->call[later->history->piece[later->at++].call];

		if (next->begin_ns >= later->call->end_ns)
			return next;
	}
	return NULL;
}

const struct call *ender_through(const struct history *history, const struct call *call)
{
	struct later later = later_begin(history, call, NEXT);
	const struct call *next;

	if (call->cause != CAUSE_POLL || call->is_in_vain)
		return NULL;
	while ((next = later_next(&later)) && (next->cause != CAUSE_POLL || next->is_try))
		if (next->cause == CAUSE_READ ||
		    (next->cause == CAUSE_PEER && !next->error &&
		     !strcmp(next->type->name, "net.accept")))
			return next;
	return NULL;
}

const struct call *ender_again(const struct history *history, const struct call *call)
{
	struct later later = later_begin(history, call, AGAIN);
	const struct call *next;

	if (call->cause != CAUSE_POLL || call->is_in_vain)
		return NULL;
	while ((next = later_next(&later))) {
		if (next->is_try)
			continue;
		if (next->cause == CAUSE_POLL)
			return next->address == call->address && next->stack == call->stack ?
			       next : NULL;
		if (next->fd_kind == FD_CLIENT || next->peer ||
		    (next->cause == CAUSE_PEER &&
		     strncmp(next->type->name, "net.epoll_", 10) != 0))
			return NULL;
	}
	return NULL;
}

const struct call *ender_timer(const struct history *history, const struct call *call)
{
	const struct transfers transfers = transfers_of(history);
	const pid_t pid = history->thread[call->thread].pid;
	const size_t at = transfers_until(&transfers, call->end_ns);

	for (size_t n = 1; n <= at && n <= ENDER_LOOK_AT; n++) {
		const struct call *timer = transfer_at(&transfers, at - n);
		int64_t at_ns;

		if (timer->cause != CAUSE_TIMER || timer->error ||
		    history->thread[timer->thread].pid != pid)
			continue;
		/*
		 * If the timer was set to an absolute time and not to an interval, the sum is after
		 * any wait.
		 */
		if (timer->asked_ns && timer->asked_ns <= INT64_MAX &&
		    !__builtin_add_overflow(timer->begin_ns, (int64_t)timer->asked_ns, &at_ns) &&
		    at_ns >= call->begin_ns && at_ns <= call->end_ns)
			return timer;
	}
	return NULL;
}

uint32_t ender_child(const struct history *history, const struct call *call, pid_t child)
{
	const pid_t pid = history->thread[call->thread].pid;
	size_t low = 0, high = history->children;
	int64_t until_ns;

	if (child) {
		const uint32_t found = history_find_at(history, child, child, call->end_ns);

		return found != HISTORY_NONE && history->thread[found].parent == pid ? found :
		       HISTORY_NONE;
	}
	if (__builtin_add_overflow(call->end_ns, ENDER_AFTER_NS, &until_ns))
		until_ns = INT64_MAX;
	/* Finds the last child in the order of the array that ended at or before until_ns. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct child_end *end = &history->child[middle];

		if (end->parent < pid || (end->parent == pid && end->last_ns <= until_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || history->child[low - 1].parent != pid ||
	    history->child[low - 1].last_ns <= call->begin_ns)
		return HISTORY_NONE;
	return history->child[low - 1].thread;
}

/* The processes whose output a read may have received. */
#define OUTPUTS_MOST 16
#define OUTPUT_ANCESTORS 8

struct outputs {
	struct output {
		uint32_t thread;    /* the main thread */
		int64_t last_ns;    /* until when it could write */
	} of[OUTPUTS_MOST];
	unsigned count;
};

/* Returns whether a process of the list descends from another process of the list. */
static bool is_descendant(const struct history *history, const struct outputs *outputs,
			  unsigned of, unsigned ancestor)
{
	const pid_t pid = history->thread[outputs->of[ancestor].thread].pid;
	uint32_t at = outputs->of[of].thread;

	for (unsigned n = 0; of != ancestor && n < OUTPUT_ANCESTORS && at != HISTORY_NONE; n++) {
		const pid_t parent = history->thread[at].parent;

		if (parent == pid)
			return true;
		at = parent > 0 ? history_find_at(history, parent, parent,
						  history->thread[at].first_ns) : HISTORY_NONE;
	}
	return false;
}

/*
 * Returns whether a process began in the second half of a wait. Such a process is not the reason
 * for most of the wait, whether it has written or not: before its begin, the reader waited for an
 * ancestor of the process.
 */
static bool began_late(const struct history *history, const struct outputs *outputs, unsigned of,
		       int64_t begin_ns, int64_t end_ns)
{
	const int64_t first_ns = history->thread[outputs->of[of].thread].first_ns;

	/* The process began before end_ns. The times of a hostile log may be far apart. */
	return first_ns > begin_ns && (uint64_t)first_ns - (uint64_t)begin_ns >
				      ((uint64_t)end_ns - (uint64_t)begin_ns) / 2;
}

/*
 * Returns whether a process of the list does not count as the writer, because another one does. A
 * shell and the command for which it waits have the same output, but only the command writes. After
 * the end of the command, the shell itself may write, for example by its built-in echo. The command
 * may also have begun after this echo, and before the reader had a CPU.
 */
static bool is_superseded(const struct history *history, const struct outputs *outputs,
			  unsigned of, int64_t begin_ns, int64_t end_ns)
{
	const bool is_late = began_late(history, outputs, of, begin_ns, end_ns);

	for (unsigned i = 0; i < outputs->count; i++)
		if ((is_late && is_descendant(history, outputs, of, i)) ||
		    (outputs->of[i].last_ns >= end_ns &&
		     !began_late(history, outputs, i, begin_ns, end_ns) &&
		     is_descendant(history, outputs, i, of)))
			return true;
	return false;
}

/*
 * Returns until when the standard output or standard error of a process could write to the object
 * of the read: the last event of the process, or INT64_MIN if they could not. Many programs close
 * both when they exit, and by this write their last bytes. For such a program, the result is the
 * time of the later close.
 */
static int64_t writes_until(const struct history *history, uint32_t thread,
			    const struct call *read)
{
	const struct history_thread *main = &history->thread[thread];
	/* The C library writes the last bytes after the last event of the process. */
	const int64_t at_ns = main->last_ns < read->end_ns ? main->last_ns : read->end_ns;
	int64_t until_ns = INT64_MIN;

	for (int32_t fd = 1; fd <= 2; fd++)
		if (objects_is_other_end(history, main->pid, fd, read, at_ns))
			return lives_last_ns(history, thread);
	for (int32_t fd = 1; main->last_ns <= read->end_ns && fd <= 2; fd++) {
		const int64_t closed_ns = objects_closed_ns(history, main->pid, fd, at_ns);

		if (closed_ns > until_ns &&
		    objects_is_other_end(history, main->pid, fd, read, closed_ns - 1))
			until_ns = closed_ns;
	}
	return until_ns;
}

/*
 * Finds the processes that ran after from_ns, and whose standard output or standard error could
 * write to the object of the read. Returns false if there are too many.
 */
static bool find_outputs(const struct history *history, const struct call *read, int64_t from_ns,
			 struct outputs *outputs, uint64_t *steps)
{
	*steps += history->threads;
	for (uint32_t i = 0; i < history->threads; i++) {
		const struct history_thread *main = &history->thread[i];
		int64_t last_ns;

		if (main->tid != main->pid || main->first_ns > read->end_ns ||
		    lives_same(history, i, read->thread))
			continue;
		last_ns = writes_until(history, i, read);
		if (last_ns == INT64_MIN)
			continue;
		*steps += history->threads;
		if (last_ns <= from_ns)
			continue;
		if (outputs->count == OUTPUTS_MOST)
			return false;
		outputs->of[outputs->count++] = (struct output){ i, last_ns };
	}
	return true;
}

uint32_t ender_output(const struct history *history, const struct call *call,
		      const struct call *read, uint64_t *steps)
{
	struct outputs outputs = { .count = 0 };
	const struct output *last = NULL;
	uint32_t found = HISTORY_NONE;
	int64_t until_ns;

	if (!read->object || (read->fd_kind != FD_PIPE && read->fd_kind != FD_COMMAND &&
			      read->fd_kind != FD_PAIR) ||
	    !find_outputs(history, read, call->begin_ns, &outputs, steps))
		return HISTORY_NONE;
	if (__builtin_add_overflow(read->end_ns, ENDER_AFTER_NS, &until_ns))
		until_ns = INT64_MAX;
	for (unsigned i = 0; i < outputs.count; i++) {
		const struct output *output = &outputs.of[i];

		if (!last || output->last_ns > last->last_ns)
			last = output;
		if (read->is_empty || output->last_ns < read->end_ns ||
		    is_superseded(history, &outputs, i, call->begin_ns, read->end_ns))
			continue;
		/* Each of two processes may have written, and the log does not say which did. */
		if (found != HISTORY_NONE)
			return HISTORY_NONE;
		found = output->thread;
	}
	if (found != HISTORY_NONE || !last)
		return found;
	/* The last process to end has written its last bytes, or closed the pipe. */
	return last->last_ns <= until_ns ? last->thread : HISTORY_NONE;
}
