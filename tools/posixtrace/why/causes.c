/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * causes.c - finds the reason for which a call waited, and the thread that caused the wait: the
 * holder of a lock, the thread that was joined, the child, or the writer at the other end of a
 * pipe.
 *
 * A cause is certain or probable. The log shows which thread held a lock, was joined or was the
 * child, and which calls used one object. If the kernel's tracing recorded wake-ups, the log also
 * shows which thread woke another thread. These causes are certain. If the log has no such event,
 * this file finds the cause by the times of the events and the numbers of bytes. is_guess and the
 * word "probably" mark these probable causes.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/brief.h"
#include "base/errnames.h"
#include "base/path.h"
#include "base/text.h"
#include "live/ended.h"
#include "symbols/data.h"
#include "symbols/symbols.h"
#include "why/answers.h"
#include "why/classify.h"
#include "why/divide.h"
#include "why/ender.h"
#include "why/gil.h"
#include "why/lives.h"
#include "why/nagle.h"
#include "why/circles.h"
#include "why/pools.h"
#include "why/stuck.h"
#include "why/tries.h"

/*
 * The event of a hold may have a time after the release of the lock, when the waiting thread has
 * already returned. A search therefore also uses holds that end at most this number of nanoseconds
 * after the wait.
 */
#define AFTER_NS INT64_C(1000000)
/* the most polls that add_partner() examines; each continues the poll before it */
#define AGAIN_MOST 8
/*
 * set in the key of a cause that itself waits for the waiting thread; no other cause has this bit
 */
#define CIRCLE_KEY (UINT64_C(1) << 42)
/* the key of the one part for all waits for the lock of a Python interpreter */
#define GIL_KEY  UINT64_C(0x47494c)
/* the key of the times in which this lock was free, below this part */
#define FREE_KEY (UINT64_C(1) << 35)
/* added to the key of a wait in which readers have overtaken a writer */
#define OVERTAKEN_KEY UINT64_C(1)
#define CALLERS  8   /* the most callers of a call in a label */
#define LOOK_AT  512 /* the most holds that a search for a probable cause examines */

/*
 * Writes the function that made a call, as " in FUNCTION (FILE:LINE)". If the function is unknown,
 * the text is empty. The function is looked up as of the end of the call, because a library may be
 * loaded and unloaded at one address several times. The texts are copied from the symbols
 * unchanged; the output makes them safe for a terminal.
 */
static void caller_text(const struct division *division, const struct call *call, char *text,
			size_t size)
{
	const struct history *history = division->history;
	char place[600] = "";

	if (call->address)
		symbols_place(history->log->trid, history->thread[call->thread].pid, call->address,
			      call->end_ns, false, place, sizeof(place));
	snprintf(text, size, "%s%s", *place ? " in " : "", place);
}

/*
 * Appends the functions that called the caller, if the call was recorded with its stack: at most
 * CALLERS of them, the innermost first.
 */
static void add_callers(const struct division *division, const struct call *call, char *text,
			size_t size)
{
	const struct history *history = division->history;
	size_t used = strlen(text);
	struct stacks_found stack;

	if (!call->stack || !stacks_number(&history->stacks, call->stack - 1, &stack))
		return;
	for (size_t i = 1; i < stack.count && i <= CALLERS && used < size; i++) {
		const struct symbol *symbol = symbols_at(history->log->trid,
							 history->thread[call->thread].pid,
							 stack.frame[i], call->end_ns, false);
		int len = snprintf(text + used, size - used, "%s%s",
				   i == 1 ? ", called by " : " < ", symbol ? symbol->whole : "?");

		if (len < 0 || (size_t)len >= size - used) {
			text[used] = '\0';
			return;
		}
		used += (size_t)len;
		/* The list ends with main(), because the C library calls main(). */
		if (symbol && !strcmp(symbol->name, "main"))
			return;
	}
}

/*
 * Writes the kind of a lock, and its name: the name that the program gave it, or the name of its
 * global variable. For a lock without a name, writes the address. The kind is the part behind the
 * dot in the name of the event type.
 */
static void lock_text(const struct division *division, const struct call *call, char *text,
		      size_t size)
{
	const struct history *history = division->history;
	const char *kind = strchr(call->type->name, '.');

	if (call->has_id && call->semaphore)
		snprintf(text, size, "%ssemaphore %u of the System V set %u",
			 call->change ? "" : "the value 0 of ", call->semaphore - 1,
			 (unsigned)call->key);
	else if (call->has_id)
		snprintf(text, size, "semaphores of the System V set %u", (unsigned)call->key);
	else
		data_text(history->log, history->thread[call->thread].pid, call->key, call->end_ns,
			  kind ? kind + 1 : call->type->name,
			  call->text ? history->text[call->text - 1] : NULL, text, size);
}

/*
 * Adds another thread as the cause of a part of a node's time. Below it, adds what that thread did
 * meanwhile.
 *
 * node is an index and not a pointer, because division_child() may move the nodes. 'how' and
 * is_guess have an effect only if a new node is added. Later parts with the same thread are added
 * to that node.
 */
static void add_thread_part(struct division *division, uint32_t node, const char *how,
			    uint32_t thread, bool is_guess, int64_t from_ns, int64_t to_ns)
{
	/*
	 * If is_circle is true, the two threads wait for each other, for example while data is on
	 * its way between them. The label shows this, because the chain of causes ends there. The
	 * label of a deadlock already shows it.
	 */
	const bool is_circle = !strstr(how, "deadlock") &&
			       division_is_active(division, thread, from_ns, to_ns);
	bool is_new;
	struct why_node *who;
	char text[160];

	/*
	 * Times of a hostile log may run backwards. division_add() would compute a huge time then.
	 */
	if (from_ns >= to_ns)
		return;
	who = division_child(division, node, WHY_WHO, is_circle ? CIRCLE_KEY | thread : thread,
			     &is_new);
	if (!who)
		return;
	if (is_new) {
		const struct history *history = division->history;
		const struct why_node *parent = &division->node[node];

		division_thread_text(history, thread, history->thread[parent->thread].pid, text,
				     sizeof(text));
		who->thread = thread;
		who->is_guess = is_guess;
		division_label(division, who, "%s %s%s", how, text, is_circle ?
			       ", which waited for this thread at the same time" : "");
	}
	division_add(division, who, from_ns, to_ns);
	division_thread(division, division_index(division, who), thread, from_ns, to_ns);
}

/*
 * Uses the kernel's record of a wake-up. If the waker is an interrupt, then a timer or a device has
 * ended the wait, and the interrupted thread has nothing to do with the wait. If the waker is a
 * softirq, the kernel delivered data of the network, often data that the interrupted thread had
 * sent. So this thread is only the probable cause.
 */
bool causes_add_waker(struct division *division, uint32_t node, uint32_t waker, int64_t from_ns,
		      int64_t to_ns)
{
	const struct history *history = division->history;
	const struct waker *by = waker ? &history->waker[waker - 1] : NULL;
	struct why_node *who;
	uint32_t thread;
	bool is_new;

	if (!by || from_ns >= to_ns)
		return false;
	thread = by->context == WAKER_INTERRUPT ? HISTORY_NONE :
		 history_find_at(history, by->pid, by->tid, to_ns);
	if (thread != HISTORY_NONE) {
		add_thread_part(division, node,
				by->context == WAKER_SOFTIRQ ? "probably woken by" : "woken by",
				thread, by->context == WAKER_SOFTIRQ, from_ns, to_ns);
		return true;
	}
	/*
	 * The key of this part is at least 2^32. The keys of recorded threads are their indexes,
	 * which are less.
	 */
	who = division_child(division, node, WHY_WHO, UINT64_C(1) << 32 | waker, &is_new);
	if (!who)
		return true;
	if (is_new) {
		who->is_guess = by->context == WAKER_SOFTIRQ;
		who->is_interrupt = by->context == WAKER_INTERRUPT;
		/* Without a known wait, a thread is the better name of the cause. */
		who->is_outside = who->is_interrupt ||
				  division->node[node].kind != WHY_UNKNOWN;
		if (who->is_interrupt)
			division_label(division, who, "woken by an interrupt: a timer or a device");
		else if (by->pid <= 0)
			division_label(division, who, "%swoken by thread %d of an unknown process "
				       "(%s), which was not recorded",
				       who->is_guess ? "probably " : "", (int)by->tid,
				       by->text ? history->text[by->text - 1] : "?");
		else
			division_label(division, who, "%swoken by thread %d of process %d (%s), "
				       "which was not recorded", who->is_guess ? "probably " : "",
				       (int)by->tid, (int)by->pid,
				       by->text ? history->text[by->text - 1] : "?");
	}
	division_add(division, who, from_ns, to_ns);
	return true;
}

/* ------------------------------------------------------------------ locks */

/*
 * Adds the threads that held the lock. The caller sets the lock and the process in 'wait'. is_guess
 * is true if the holds may be of another lock. Returns whether a thread was added.
 */
static bool add_holders(struct division *division, uint32_t node, const struct call *call,
			const struct holds *holds, struct hold wait, bool is_guess, int64_t from_ns,
			int64_t to_ns)
{
	struct holds_walk walk;
	const struct hold *hold;
	int64_t begin_ns, end_ns;
	bool has_found = false;

	wait.thread = call->thread;
	wait.begin_ns = call->begin_ns;
	wait.end_ns = call->end_ns;
	walk = holds_walk(holds, &wait, from_ns, to_ns);
	/*
	 * If is_guess is true, some of these holds may be of other locks. For example, a lock of a
	 * file covers a range of the file, and the log does not have the range.
	 */
	walk.may_overlap = is_guess;
	walk.steps_most = is_guess ? LOOK_AT : 0;
	while ((hold = holds_next(holds, &walk, &begin_ns, &end_ns))) {
		/*
		 * Each hold counts towards WHY_STEPS. Otherwise a log with long lists of holds
		 * could make the time quadratic.
		 */
		division->steps += walk.steps;
		walk.steps = 0;
		has_found = true;
		add_thread_part(division, node, is_guess ? "probably held by" : "held by",
				hold->thread, is_guess, begin_ns, end_ns);
	}
	division->steps += walk.steps;
	return has_found;
}

/*
 * Adds the threads that held a mutex or a read-write lock. If no thread of the process held it, the
 * lock may be in memory that several processes share. A child has the shared memory of its parent
 * at the same address, so holds of this address by other processes are probable causes. Returns
 * whether a thread was added.
 */
static bool add_lock_holders(struct division *division, uint32_t node, const struct call *call,
			     int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	struct hold wait = { .pid = history->thread[call->thread].pid, .lock = call->key };
	bool has_found = false;

	if (add_holders(division, node, call, &history->holds, wait, false, from_ns, to_ns))
		return true;
	for (size_t i = 0; i < history->threads && division->steps < WHY_STEPS; i++) {
		const struct history_thread *thread = &history->thread[i];

		division->steps++;
		if (thread->tid != thread->pid || thread->first_ns > to_ns ||
		    thread->last_ns < from_ns ||
		    thread->pid == history->thread[call->thread].pid)
			continue;
		wait.pid = thread->pid;
		has_found |= add_holders(division, node, call, &history->holds, wait, true,
					 from_ns, to_ns);
	}
	return has_found;
}

/*
 * Returns the threads that held a read-write lock while a writer waited for it, or NULL if no
 * reader has overtaken the writer. The division keeps the result, because a wait may have many
 * pieces.
 */
static const struct readers *readers_before(struct division *division, const struct call *call)
{
	if (call->cause != CAUSE_LOCK || call->is_stuck)
		return NULL;
	if (division->readers.call != call && division->steps < WHY_STEPS)
		division->err |= readers_find(division->history, call, &division->readers,
					      &division->steps);
	return division->readers.call == call && division->readers.has_overtaken ?
	       &division->readers : NULL;
}

/* Notes the readers that held a lock in one wait of a writer, from its begin to its end. */
static void note_readers(struct division *division, uint32_t node, const struct readers *readers)
{
	for (size_t i = 0; i < readers->count; i++)
		division_holder(division, node, readers->of[i].thread, readers->of[i].ns,
				readers->of[i].count);
}

/* Adds a cause that is no thread of the log. 'key' separates it from the other causes of a node. */
static void add_outside(struct division *division, uint32_t node, uint64_t key, const char *label,
			bool is_guess, int64_t from_ns, int64_t to_ns)
{
	bool is_new;
	struct why_node *who = division_child(division, node, WHY_WHO, UINT64_C(1) << 40 | key,
					      &is_new);

	if (!who)
		return;
	if (is_new) {
		who->is_guess = is_guess;
		division_label(division, who, "%s", label);
	}
	division_add(division, who, from_ns, to_ns);
}

/*
 * Adds the threads that held the lock of a Python interpreter in a part of a wait for it, and the
 * times in which the lock was free.
 */
static void add_interpreters(struct division *division, uint32_t node, const struct call *call,
			     int64_t from_ns, int64_t to_ns)
{
	struct gil_walk walk = { .wait = call, .from_ns = from_ns, .to_ns = to_ns };
	int64_t begin_ns, end_ns;
	uint32_t thread;

	while (division->steps < WHY_STEPS &&
	       gil_next(division->history, &walk, &thread, &begin_ns, &end_ns, &division->steps)) {
		if (thread == HISTORY_NONE) {
			add_outside(division, node, FREE_KEY, "released, and not taken yet: the "
				    "next thread had to wake up and get a CPU", false, begin_ns,
				    end_ns);
			continue;
		}
		division_holder(division, node, thread, (uint64_t)end_ns - (uint64_t)begin_ns, 1);
		add_thread_part(division, node, "held by", thread, false, begin_ns, end_ns);
	}
}

/*
 * Returns the thread that held a lock when the wait for it began, or HISTORY_NONE. A lock in shared
 * memory may be held by a thread of another process. The numbers of threads are unique in a PID
 * namespace, so the youngest thread with this number is probably the holder.
 */
static uint32_t lock_owner(struct division *division, const struct call *call)
{
	const struct history *history = division->history;
	uint32_t found;

	if (call->owner <= 0)
		return HISTORY_NONE;
	found = history_find_at(history, history->thread[call->thread].pid, call->owner,
				call->begin_ns);
	if (found == HISTORY_NONE)
		found = history_find_at(history, call->owner, call->owner, call->begin_ns);
	for (size_t i = history->threads; found == HISTORY_NONE && i-- > 0 &&
	     division->steps < WHY_STEPS; division->steps++)
		if (history->thread[i].tid == call->owner &&
		    history->thread[i].first_ns <= call->begin_ns)
			found = (uint32_t)i;
	return found;
}

/*
 * Adds the thread that ended a wait for a lock. If the log does not show this thread, adds the
 * thread that held the lock when the wait began. That thread probably held the lock for the whole
 * wait.
 */
static void add_owner(struct division *division, uint32_t node, const struct call *call,
		      uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	const uint32_t owner = lock_owner(division, call);
	const bool is_owner = owner != HISTORY_NONE && owner != call->thread;

	/* -owner readers held the lock. The last of them ended the wait, but is not its reason. */
	if (call->owner < -1)
		return;
	/* The kernel has released a robust mutex because its owner ended, and woken the thread. */
	if (is_owner && call->error == EOWNERDEAD)
		add_thread_part(division, node, "probably held until its end by", owner, true,
				from_ns, to_ns);
	else if (!causes_add_waker(division, node, waker, from_ns, to_ns) && is_owner)
		add_thread_part(division, node, "probably held by", owner, true, from_ns, to_ns);
}

/*
 * Adds the thread that has probably signalled a condition variable, if the log has no event of the
 * signal. This is the thread that last released the mutex of the variable, because a program
 * changes the condition while it holds the mutex. The search goes backwards from the end of the
 * wait, at most LOOK_AT holds. Returns whether a thread was added.
 */
static bool add_releaser(struct division *division, uint32_t node, const struct call *call,
			 int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	pid_t pid = history->thread[call->thread].pid;
	size_t i = holds_first(&history->holds, pid, call->mutex, call->end_ns + AFTER_NS);

	for (unsigned n = 0; i-- > 0 && n < LOOK_AT; n++) {
		const struct hold *held = &history->holds.hold[i];

		/*
		 * A thread whose hold ended before the wait began cannot have changed the condition
		 * during the wait.
		 */
		if (held->lock != call->mutex || held->pid != pid ||
		    held->end_ns <= call->begin_ns)
			break;
		/*
		 * The waiting thread holds the mutex again when its wait returns. That hold began
		 * after the signal and is skipped.
		 */
		if (held->thread == call->thread || held->begin_ns >= call->end_ns)
			continue;
		add_thread_part(division, node, "probably signalled by", held->thread, true,
				from_ns, to_ns);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ pipes, sockets, barriers */

/* Returns how a call of another thread (the partner) ended a wait, for the label of that thread. */
static const char *how_ended(const struct call *call, const struct call *partner)
{
	switch ((enum cause)partner->cause) {
	case CAUSE_READ:
		return "read by";
	case CAUSE_BARRIER:
		return "last to arrive:";
	case CAUSE_SEM:
		return "changed by";
	case CAUSE_POST:
		if (call->has_id)
			return (int64_t)partner->change > 0 ? "posted by" : "changed by";
		if (call->cause == CAUSE_COND)
			return "signalled by";
		return strcmp(call->type->name, "lock.futex") ? "posted by" : "woken by";
	case CAUSE_KILL:
		return call->cause == CAUSE_POLL ? "woken by a signal of" : "sent by";
	case CAUSE_PEER:
		return "connected by";
	default:
		return "written by";
	}
}

/*
 * Adds the thread that ended the wait by a call of its own. At a barrier, the waiting thread itself
 * may have arrived last. In this case no other thread caused the wait. If no thread ended a poll,
 * the wait may have continued in later polls. Then the thread that ended one of these polls is
 * added. Returns whether a thread was added.
 */
static bool add_partner(struct division *division, uint32_t node, const struct call *call,
			const struct call *through, int64_t from_ns, int64_t to_ns)
{
	struct ender found = ender_find(division->history, call, through);
	char how[40];

	for (unsigned n = 0; !found.call && n < AGAIN_MOST; n++) {
		call = ender_again(division->history, call);
		if (!call)
			return false;
		found = ender_find(division->history, call,
				   ender_through(division->history, call));
		found.is_certain = false;
	}
	if (!found.call ||
	    (call->cause == CAUSE_BARRIER && found.call->begin_ns <= call->begin_ns))
		return false;
	snprintf(how, sizeof(how), "%s%s", found.is_certain ? "" : "probably ",
		 how_ended(call, found.call));
	add_thread_part(division, node, how, found.call->thread, !found.is_certain, from_ns, to_ns);
	return true;
}

/*
 * Adds the thread that signalled a condition variable. If another process signalled, the log does
 * not show that it signalled this variable. It only shows that both variables have the same place
 * in a page. So a thread of the waiting process that released the mutex is preferred.
 */
static void add_signaller(struct division *division, uint32_t node, const struct call *call,
			  int64_t from_ns, int64_t to_ns)
{
	const struct ender found = ender_find(division->history, call, NULL);

	if (found.call && lives_same(division->history, found.call->thread, call->thread))
		add_partner(division, node, call, NULL, from_ns, to_ns);
	else if (!add_releaser(division, node, call, from_ns, to_ns))
		add_partner(division, node, call, NULL, from_ns, to_ns);
}

/*
 * Adds the processes that had the pipe of a read open for writing when the recorder looked at the
 * blocked read. Their writes have no events, or the processes were not recorded.
 */
static void add_writers(struct division *division, uint32_t node, const struct call *call,
			int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const struct stuck_look *look = stuck_look(history, call->thread, call->begin_ns,
						   call->end_ns);
	const pid_t own = history->thread[call->thread].pid;
	const char *names = look ? history_text_at(history, look->names) : "";
	char pids[100], others[100] = "", named[130], label[400];
	size_t used = 0;
	uint32_t main;
	unsigned count = 0;
	pid_t pid = 0;

	if (!look || look->fd != (int32_t)call->key ||
	    strncmp(history_text_at(history, look->object), "pipe:", 5) != 0)
		return;
	circles_processes(history_text_at(history, look->others), pids, sizeof(pids));
	for (char *at = pids; *at;) {
		const pid_t one = (pid_t)strtol(at, &at, 10);

		at += *at == ' ';
		if (one == own)
			continue;
		pid = one;
		used += (size_t)snprintf(others + used, sizeof(others) - used, "%s%d",
					 count++ ? " " : "", (int)one);
	}
	if (!count)
		return;
	main = count == 1 ? history_find_at(history, pid, pid, to_ns) : HISTORY_NONE;
	if (main != HISTORY_NONE) {
		add_thread_part(division, node, "probably written by", main, true, from_ns, to_ns);
		return;
	}
	/* Logs of earlier versions have no names. */
	snprintf(named, sizeof(named), "%s%.120s%s", *names ? " (" : "", names,
		 *names ? ")" : "");
	if (count == 1)
		snprintf(label, sizeof(label), "probably written by process %d%s, which was not "
			 "recorded", (int)pid, named);
	else
		snprintf(label, sizeof(label), "written by one of the processes %s%s, which had "
			 "the pipe open for writing", others, named);
	/* Other processes may have had the pipe in other waits: the label is the identity. */
	add_outside(division, node, UINT64_C(1) << 34 |
		    (uint32_t)hash_bytes(HASH_BEGIN, label, strlen(label)), label, true, from_ns,
		    to_ns);
}

/*
 * Adds the process that probably ended a wait for data, if the log has no call that ended it. A
 * read that returns no data has found the end of a pipe or connection, because the last process
 * that could write has ended. A shell waits in this way for the output of a command. The log has no
 * events of the writes that functions of <stdio.h> make. 'read' is the first read of the wait: the
 * call itself, or a read after the poll 'call', or NULL if there is none.
 */
static void add_end(struct division *division, uint32_t node, const struct call *call,
		    const struct call *read, int64_t from_ns, int64_t to_ns)
{
	uint32_t child = read && read->is_empty ? ender_child(division->history, call, 0) :
			 HISTORY_NONE;

	if (child == HISTORY_NONE && read && !read->error && division->steps < WHY_STEPS)
		child = ender_output(division->history, call, read, &division->steps);
	if (child != HISTORY_NONE)
		add_thread_part(division, node, read->is_empty ? "probably until the end of" :
				"probably written by", child, true, from_ns, to_ns);
	else if (read && !read->error)
		add_writers(division, node, read, from_ns, to_ns);
}

/* ------------------------------------------------------------------ queues of work */

/*
 * Writes a descriptor that has no path, and its kind. If the log has no call that made descriptor
 * 0, a read from this descriptor is a read from the standard input.
 */
static const char *descriptor_text(const struct call *call, char *text, size_t size)
{
	static const char *const kinds[] = {
		[FD_OTHER] = "pipe, socket or terminal", [FD_PIPE] = "pipe",
		[FD_PAIR] = "pair of sockets", [FD_EVENT] = "eventfd", [FD_TIMER] = "timerfd",
		[FD_SIGNAL] = "signalfd", [FD_QUEUE] = "message queue",
		[FD_CLIENT] = "connection of a client", [FD_COMMAND] = "pipe of popen()",
		[FD_WATCH] = "inotify or fanotify",
	};

	if (!call->key && call->fd_kind == FD_OTHER && call->cause == CAUSE_READ)
		snprintf(text, size, "standard input");
	else
		snprintf(text, size, "descriptor %d (%s)", (int)call->key,
			 call->fd_kind == FD_OTHER && !strncmp(call->type->name, "net.", 4) ?
			 "socket" : classify_needs_file(call->type) ? "file" :
			 kinds[call->fd_kind]);
	return text;
}

/* set in the key of a queue; all other keys of causes are less */
#define QUEUE_KEY    (UINT64_C(1) << 44)
/* also set if the queue is only probable */
#define PROBABLE_KEY (UINT64_C(1) << 45)
/* also set if all of several workers were busy, and not only the worker of the queue */
#define ALL_KEY      (UINT64_C(1) << 46)

/* Writes the object from which a worker takes work: "at cond 0x1040", "on descriptor 3 (pipe)". */
static void queue_text(const struct division *division, const struct call *call, char *text,
		       size_t size)
{
	char object[160];

	if (call->cause == CAUSE_COND || call->cause == CAUSE_SEM) {
		lock_text(division, call, object, sizeof(object));
		snprintf(text, size, "at %s", object);
	} else if (call->own) {
		snprintf(text, size, "at %s", history_text_at(division->history, call->own));
	} else {
		snprintf(text, size, "on %s", descriptor_text(call, object, sizeof(object)));
	}
}

/*
 * Adds the time for which the awaited work was in a queue, because all workers of a pool did other
 * work. Below it is the worker that did the awaited work afterwards. Returns the end of this time,
 * or from_ns if the log shows no such time.
 */
static int64_t add_queued(struct division *division, uint32_t node, const struct call *call,
			  const struct call *through, int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	struct pools_queued queued;
	struct why_node *part;
	char caller[600], object[200], workers[40];
	bool is_new;

	if (division->queued_call != call) {
		division->queued_call = call;
		division->is_queued = pools_find(history, call, through, &division->queued,
						 &division->steps);
	}
	queued = division->queued;
	if (!division->is_queued || queued.to_ns <= from_ns)
		return from_ns;
	if (to_ns > queued.to_ns)
		to_ns = queued.to_ns;
	part = division_child(division, node, WHY_WHO, QUEUE_KEY | queued.idle->thread |
			      (queued.is_certain ? 0 : PROBABLE_KEY) |
			      (queued.workers > 1 ? ALL_KEY : 0), &is_new);
	if (!part)
		return to_ns;
	if (is_new) {
		/* The log does not show which piece of work the worker took. */
		part->is_guess = true;
		if (queued.has_own && queued.workers > 1)
			part->pool = pools_idle(history, queued.worker);
		caller_text(division, queued.idle, caller, sizeof(caller));
		if (!*caller && queued.has_own && queued.workers > 1) {
			snprintf(caller, sizeof(caller), " on descriptors of their own");
		} else if (!*caller) {
			queue_text(division, queued.idle, object, sizeof(object));
			snprintf(caller, sizeof(caller), " %s", object);
		}
		snprintf(workers, sizeof(workers), "all %u workers were", queued.workers);
		division_label(division, part, "%sin a queue, because %s busy (the %s%s)",
			       queued.is_certain ? "" : "probably ",
			       queued.workers == 1 ? "its worker was" : workers,
			       pools_members(history, queued.worker, queued.workers), caller);
	}
	division_add(division, part, from_ns, to_ns);
	add_thread_part(division, division_index(division, part), "taken later by", queued.worker,
			false, from_ns, to_ns);
	return to_ns;
}

/* ------------------------------------------------------------------ signals */

/* The values of the member si_code of siginfo_t that the kernel sets for timers. */
enum { CODE_KERNEL = 0x80, CODE_TIMER = -2 };

/* Returns whether a timer sent the signal of a wait. */
static bool is_of_timer(const struct call *call)
{
	return call->cause == CAUSE_SIGNAL &&
	       (call->signal_code == CODE_TIMER ||
		(call->signal_code == CODE_KERNEL && call->key == SIGALRM));
}

/* Returns whether a wait for a signal reached its time limit. */
static bool is_vain_signal(const struct call *call)
{
	return call->cause == CAUSE_SIGNAL && tries_timed_out(call);
}

/*
 * Adds the timer that sent the signal of a wait. The label has the call that set the timer, if the
 * log has it, because the program chose the time there.
 */
static void add_timer(struct division *division, uint32_t node, const struct call *call,
		      int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const struct call *timer = ender_timer(history, call);
	const bool is_certain = is_of_timer(call);
	const char *probably = is_certain ? "" : "probably ";
	char label[900], caller[600], brief[BRIEF_BYTES];
	uint64_t key = 0;

	if (timer) {
		caller_text(division, timer, caller, sizeof(caller));
		snprintf(label, sizeof(label), "%ssent by a timer that the process had set to "
			 "%s%s", probably, brief_ns(brief, (double)timer->asked_ns), caller);
		key = hash_number(hash_number(HASH_BEGIN, timer->address), timer->asked_ns) >> 32;
	} else {
		snprintf(label, sizeof(label), "%ssent by a timer of the process", probably);
	}
	add_outside(division, node, key, label, !is_certain, from_ns, to_ns);
}

/*
 * Adds the cause of a signal. A call of kill() or a similar function is the best evidence. Without
 * such a call, a timer or the end of a child may have sent the signal. The event often lacks the
 * sender, because pause() and sigwait() do not return it.
 */
static void add_sender(struct division *division, uint32_t node, const struct call *call,
		       uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const bool may_be_child = call->key == SIGCHLD || !call->key;
	const bool is_unknown = !call->signal_code && !call->sender;
	uint32_t child = may_be_child ? ender_child(history, call, call->key ? call->sender : 0) :
			 HISTORY_NONE;
	char text[80];

	if (from_ns >= to_ns || is_vain_signal(call))
		return;
	if (!is_of_timer(call) && !(call->key == SIGCHLD && call->sender) &&
	    add_partner(division, node, call, NULL, from_ns, to_ns))
		return;
	if (child != HISTORY_NONE) {
		add_thread_part(division, node,
				call->sender ? "sent at the end of" : "probably sent at the end of",
				child, !call->sender, from_ns, to_ns);
	} else if (is_of_timer(call) || (is_unknown && ender_timer(history, call))) {
		add_timer(division, node, call, from_ns, to_ns);
	} else if (call->sender) {
		uint32_t main = history_find_at(history, call->sender, call->sender, to_ns);

		snprintf(text, sizeof(text), "sent by process %d, which was not recorded",
			 (int)call->sender);
		if (main != HISTORY_NONE)
			add_thread_part(division, node, "sent by the process of", main, false,
					from_ns, to_ns);
		else
			add_outside(division, node, (uint32_t)call->sender, text, false, from_ns,
				    to_ns);
	} else {
		causes_add_waker(division, node, waker, from_ns, to_ns);
	}
}

/* ------------------------------------------------------------------ parts */

/*
 * Returns the request for whose answer a poll waits, or NULL. 'through' is the call by which the
 * thread read after the poll. If this call read an answer, the poll waited for this answer: other
 * connections may have an unanswered request, but none of them ended the poll. Otherwise, if the
 * poll ended with input, the result is NULL in two cases. In the first case, the thread is a server
 * that serves several clients at a time, so it also waited for clients. In the second case, several
 * requests had no answer, or no call shows which connection was complete: the poll waited for all
 * of them.
 */
static const struct answer *request_of_poll(const struct history *history, const struct call *call,
					    const struct call *through, unsigned *others)
{
	const struct history_thread *thread = &history->thread[call->thread];
	const struct answer *request;

	*others = 0;
	if (call->cause != CAUSE_POLL)
		return NULL;
	request = through ? answers_read(history, call, through, others) : NULL;
	if (request)
		return request;
	*others = 0;
	if (thread->is_server && !thread->is_serial && !call->is_in_vain)
		return NULL;
	request = answers_connecting(history, call, others);
	if (!request && !*others)
		request = answers_during(history, call->thread, call->begin_ns, call->end_ns,
					 others);
	return *others && !call->is_in_vain ? NULL : request;
}

/*
 * Returns whether a read failed without data. At the end of a file or connection, a read has no
 * error.
 */
static bool is_vain_read(const struct call *call)
{
	return call->cause == CAUSE_READ && call->error && !call->result;
}

/*
 * Returns whether a wait reached its time limit: a wait for a semaphore, a condition, a queue or a
 * signal, or a call on a socket that has a limit.
 */
static bool is_vain_wait(const struct call *call)
{
	return tries_timed_out(call);
}

/* Returns whether a call waited for a timer that is a descriptor. */
static bool is_timer_read(const struct call *call)
{
	return call && call->cause == CAUSE_READ && call->fd_kind == FD_TIMER && !call->error;
}

/* Returns whether a call received changes of files from inotify or fanotify. */
static bool is_watch_read(const struct call *call)
{
	return call && call->cause == CAUSE_READ && call->fd_kind == FD_WATCH && !call->error;
}

/* Returns whether a call waited for io_uring. Its text is the name of the called function. */
static bool is_uring_wait(const struct call *call)
{
	return !strcmp(call->type->name, "io.uring");
}

/* Returns whether a call reads what a client sends over a connection that the server accepted. */
static bool is_client_read(const struct call *call)
{
	return call && call->cause == CAUSE_READ && call->fd_kind == FD_CLIENT;
}

/* Returns whether a call is a connect(). The text of such a call is the address. */
static bool is_connect(const struct call *call)
{
	return !strcmp(call->type->name, "net.connect");
}

/*
 * A call on a descriptor with a known path waits for the file, and so does a call that is possible
 * only on files. Another call on a descriptor without a path waits for the other end of a pipe,
 * socket or terminal. A poll that reached its time limit has waited for the time only and is a
 * sleep, unless the program waits for an answer. A wait for the lock of an interpreter may reach a
 * time limit, too: the thread then requests that the holder releases the lock. It is no sleep.
 */
static enum why_kind kind_of(const struct call *call, const struct answer *request,
			     const struct call *through, bool is_gil)
{
	/* If the call has a peer, it waited for the peer and not only for the time. */
	const bool is_vain = (is_vain_wait(call) && !call->peer && !is_connect(call)) ||
			     is_timer_read(call) ||
			     is_timer_read(through) ||
			     (call->cause == CAUSE_POLL && call->is_in_vain && !request);

	/* The thread slept before its next attempt to lock this file. */
	if (is_gil || (call->cause == CAUSE_SLEEP && call->tried_file))
		return WHY_LOCK;
	return classify_kind((enum cause)call->cause,
			     (call_uses_file(call) && !is_uring_wait(call)) ||
			     classify_needs_file(call->type), is_vain);
}

/*
 * Returns the number that separates the parts of one kind. Sleeps and polls have no object, so they
 * are separated by their place in the program. Calls on files are separated by descriptor and path,
 * because the number of a closed descriptor is used again. All other calls are separated by the
 * lock, thread or child for which they wait. The cause is part of the number, because a lock and a
 * semaphore may have the same address at different times. The function and the text are part of the
 * number if the label contains them: an fsync() of a file must not be added to its open(). The call
 * stack is part of the number for the same reason: the label contains the callers.
 */
static uint64_t key_of(const struct call *call, const struct answer *request, bool has_others,
		       const struct call *through, const struct call *failed)
{
	uint64_t key = hash_number(hash_number(HASH_BEGIN + call->is_stuck, call->cause),
				   call->stack);

	switch ((enum cause)call->cause) {
	case CAUSE_SLEEP:
	case CAUSE_POLL:
		key = hash_number(key, call->cause == CAUSE_SLEEP ? call->tried_file : 0);
		if (failed)
			key = hash_number(hash_number(key, failed->type->id), failed->text ?
					  UINT64_MAX - failed->text : failed->key) +
			      (uint64_t)failed->error;
		key = hash_number(key, call->address);
		key = hash_number(key, call->is_in_vain);
		key = hash_number(key, request ? (uint64_t)request->text * 4 + 4 +
					request->is_connect * 2 +
					(has_others && !call->is_in_vain) : 0);
		key = hash_number(key, (uint64_t)is_timer_read(through) |
				  (uint64_t)is_watch_read(through) << 1);
		key = hash_number(key, is_client_read(through));
		break;
	case CAUSE_SIGNAL:
		key = hash_number(hash_number(key, call->key), is_vain_signal(call));
		key = hash_number(key, call->address);
		break;
	case CAUSE_LOCK:
	case CAUSE_SEM:
	case CAUSE_BARRIER:
	case CAUSE_COND:
	case CAUSE_JOIN:
		key = hash_number(key, call->has_id ?
				  (uint64_t)call->semaphore << 1 | !call->change : 0);
		return hash_number(hash_number(key, call->key), is_vain_wait(call));
	default:
		/*
		 * All message types of a queue of System V are one part. The connections to one
		 * peer, the connections of one client and the calls of connect() to one address are
		 * one part each.
		 */
		key = hash_number(key, call->has_id || call->peer || call->fd_kind == FD_CLIENT ||
				       call->cause == CAUSE_PEER ? 0 : call->object);
		key = hash_number(key, call->fd_kind == FD_CLIENT ? call->client : 0);
		key = hash_number(key, call->peer ? UINT64_MAX - call->peer :
				       is_connect(call) ? 0 : call->key);
		key = hash_number(hash_number(key, (uint64_t)call->error), call->peer ?
				  call->is_empty : call->is_limited);
	}
	return hash_number(hash_number(key, call->type->id), call->text);
}

/*
 * Labels a call that sends to a peer, receives from it or connects to it. The label has the object
 * of the wait, and how the wait ended.
 */
static void label_peer(struct division *division, struct why_node *node, const struct call *call,
		       const char *verb, const char *caller)
{
	const struct history *history = division->history;
	const bool connects = is_connect(call);
	const char *peer = history->text[(connects ? call->text : call->peer) - 1];
	const bool is_late = connects && call->is_limited;
	const char *error = call->error && !call->is_begun ? errno_name(call->error) : NULL;
	const char *what = connects ? "the connection to" :
			   call->cause == CAUSE_READ ? "data from" : "room to send to";
	char end[80] = "";

	if (is_late || (error && call->error == EAGAIN))
		snprintf(end, sizeof(end), " until a time limit");
	else if (error)
		snprintf(end, sizeof(end), ", which failed (%s)", error);
	else if (call->is_empty)
		snprintf(end, sizeof(end), ", which closed the connection");
	division_label(division, node, "waiting %sfor %s %s in %s()%s%s", error || is_late ?
		       "in vain " : "", what, peer, verb, end, caller);
}

/* Labels a poll in which the program waits for the answer to a request. */
static void label_request(struct division *division, struct why_node *node, const struct call *call,
			  const struct answer *request, unsigned others, const char *verb,
			  const char *caller)
{
	const struct history *history = division->history;
	const char *peer = request->text ? history->text[request->text - 1] : "another program";
	char more[80] = "";

	/* If the poll ended with input, the answer of this peer was the first one. */
	if (others && !call->is_in_vain)
		snprintf(more, sizeof(more), ", the first answer to several requests,");
	else if (others)
		snprintf(more, sizeof(more), " and %s %u other%s",
			 request->is_connect ? "for" : "of", others, text_plural(others));
	division_label(division, node, "waiting %sfor the %s %s%s in %s()%s%s",
		       call->is_in_vain || request->end != ANSWER_READ ? "in vain " : "",
		       request->is_connect ? "connection to" : "answer of", peer, more, verb,
		       call->is_in_vain ? " until a time limit" : "", caller);
}

/* Labels a wait for a signal. If the call does not return the signal, call->key is 0. */
static void label_signal(struct division *division, struct why_node *node, const struct call *call,
			 const char *by, const char *caller)
{
	char signal[ENDED_TEXT] = "a signal";

	if (call->key)
		ended_signal(signal, (int)call->key);
	division_label(division, node, "waiting %sfor %s in %s()%s%s",
		       is_vain_signal(call) ? "in vain " : "", signal, by,
		       is_vain_signal(call) ? " until a time limit" : "", caller);
}

/*
 * Returns the name of a called function: the part of the type's name behind the dot. io.fill, by
 * which functions of <stdio.h> fill their buffers, is a read.
 */
static const char *function_name(const struct log_type *type)
{
	const char *dot = strchr(type->name, '.');

	return !strcmp(type->name, "io.fill") ? "read" : dot ? dot + 1 : type->name;
}

/* Returns whether a call looked up a name. Its error is the result, such as EAI_AGAIN. */
static bool is_lookup(const struct call *call)
{
	return !strcmp(call->type->name, "net.getaddrinfo");
}

void causes_attempt_text(const struct history *history, const struct call *call, char *text,
			 size_t size)
{
	const char *name = function_name(call->type);
	const uint32_t object = call->text ? call->text : call->peer;
	const char *error = errno_name(call->error);
	char fd[80] = "";

	if (tries_is_poll_for_child(call)) {
		snprintf(text, size, "waitpid() found no ended child");
		return;
	}
	if (is_lookup(call)) {
		snprintf(text, size, "%s() of %s failed (%s)", name,
			 history_text_at(history, call->text), gai_strerror(-call->error));
		return;
	}
	if (call->has_id)
		snprintf(fd, sizeof(fd), "the System V %s %u", call->cause == CAUSE_SEM ||
			 call->cause == CAUSE_POST ? "set" : "message queue", (unsigned)call->key);
	else if (!object && call->cause == CAUSE_PEER)
		snprintf(fd, sizeof(fd), "descriptor %d", (int)call->key);
	else if (!object && call->cause >= CAUSE_READ && call->cause <= CAUSE_PEER)
		descriptor_text(call, fd, sizeof(fd));
	snprintf(text, size, "%s()%s%s failed with %s (%s)", name,
		 call->has_id ? " of " : *fd ? " on " : !object ? "" :
		 call->cause == CAUSE_READ && call->peer ? " from " :
		 call->peer || is_connect(call) ? " to " : " of ",
		 object ? history->text[object - 1] : fd, error ? error : "an error",
		 strerror(call->error));
}

/* Labels a sleep between two attempts of a call. 'verb' is the function in which it slept. */
static void label_retry(struct division *division, struct why_node *node,
			const struct call *failed, const char *verb, const char *caller)
{
	char text[600];

	causes_attempt_text(division->history, failed, text, sizeof(text));
	division_label(division, node, "%ssleeping in %s() before the next attempt: %s%s",
		       tries_is_poll_for_child(failed) ? "polling for a child: " : "", verb, text,
		       caller);
}

/* Labels a poll that no request explains. A poll that a timerfd ended is labelled as a sleep. */
static void label_poll(struct division *division, struct why_node *node, const struct call *call,
		       const struct call *through, const char *verb, const char *caller)
{
	const struct call *failed = tries_failed(division->history, call);

	if (failed)
		label_retry(division, node, failed, verb, caller);
	else if (call->is_in_vain)
		division_label(division, node, "sleeping until a time limit in %s()%s", verb,
			       caller);
	else if (is_timer_read(through))
		division_label(division, node, "sleeping until a timer expires (timerfd) in %s()%s",
			       verb, caller);
	else if (is_watch_read(through))
		division_label(division, node, "waiting for changes of watched files in %s()%s",
			       verb, caller);
	else if (is_client_read(through))
		division_label(division, node, "waiting for a client to send something, in %s()%s",
			       verb, caller);
	else
		division_label(division, node, "waiting for input in %s()%s", verb, caller);
}

/* Labels a look-up of a name. The C library itself asks the name servers. */
static void label_lookup(struct division *division, struct why_node *node, const struct call *call,
			 const char *verb, const char *caller)
{
	const struct history *history = division->history;
	char failed[400] = "";

	if (call->error == -EAI_AGAIN)
		snprintf(failed, sizeof(failed), " without a usable answer from %s", call->silent ?
			 history_text_at(history, call->silent) : "a name server");
	division_label(division, node, "looking up %sthe address of %s in %s()%s%s",
		       call->error ? "in vain " : "", history_text_at(history, call->text), verb,
		       failed, caller);
}

/* Labels a call on a descriptor, or another call on a file. */
static void label_call(struct division *division, struct why_node *node, const struct call *call,
		       const char *verb, const char *caller)
{
	const struct history *history = division->history;
	const char *text = call->text ? history->text[call->text - 1] : NULL;
	const char *vain = call->is_limited ? "in vain " : "";
	char fd[80], error[80] = "";

	if (call->is_limited)
		snprintf(error, sizeof(error), " until a time limit");
	else if (call->error && errno_name(call->error))
		snprintf(error, sizeof(error), ", which failed (%s)", errno_name(call->error));
	if (call->is_open)
		division_label(division, node, "waiting in vain for the connection to %s in "
			       "connect(): there was no answer%s", text, caller);
	else if ((call->peer && call->cause <= CAUSE_WRITE) ||
		 (text && is_connect(call)))
		label_peer(division, node, call, verb, caller);
	else if (!strcmp(call->type->name, "net.accept") && *error)
		division_label(division, node, "waiting in vain for a client in accept() on "
			       "descriptor %d%s%s", (int)call->key, error, caller);
	else if (!strcmp(call->type->name, "net.accept") && text)
		division_label(division, node, "waiting for the client %s in accept()%s", text,
			       caller);
	else if (!strcmp(call->type->name, "net.accept"))
		division_label(division, node, "waiting for a client in accept() on descriptor "
			       "%d%s", (int)call->key, caller);
	else if (is_uring_wait(call))
		division_label(division, node, "waiting for io_uring to complete a request, in "
			       "%s()%s", text ? text : verb, caller);
	else if (is_lookup(call) && text)
		label_lookup(division, node, call, verb, caller);
	else if (is_timer_read(call))
		division_label(division, node, "sleeping until a timer expires in %s() of %s%s",
			       verb, descriptor_text(call, fd, sizeof(fd)), caller);
	else if (is_watch_read(call))
		division_label(division, node, "waiting for changes of watched files in %s() of "
			       "%s%s", verb, descriptor_text(call, fd, sizeof(fd)), caller);
	else if (call->peer)
		division_label(division, node, "%s on the connection to %s%s", verb,
			       history->text[call->peer - 1], caller);
	else if (is_client_read(call) && call->client)
		division_label(division, node, "waiting %sfor data from the client %s in %s()%s%s",
			       vain, history->text[call->client - 1], verb, error, caller);
	else if (is_client_read(call))
		division_label(division, node, "waiting %sfor data from a client in %s() on "
			       "descriptor %d%s%s", vain, verb, (int)call->key, error, caller);
	else if (call->is_limited)
		division_label(division, node, "waiting in vain for %s in %s() on %s%s%s",
			       call->cause == CAUSE_READ ? "data" : "room to send", verb,
			       descriptor_text(call, fd, sizeof(fd)), error, caller);
	else if (call->fd_kind == FD_CLIENT && call->client)
		division_label(division, node, "%s to the client %s%s%s", verb,
			       history->text[call->client - 1], error, caller);
	else if (call->has_id)
		division_label(division, node, "waiting for %s the System V message queue %u in "
			       "%s()%s", call->cause == CAUSE_READ ? "a message of" : "room in",
			       (unsigned)call->key, verb, caller);
	else if (text && call->fd_kind == FD_COMMAND)
		division_label(division, node, "waiting for the command \"%s\" to %s in %s()%s",
			       text, call->cause == CAUSE_READ ? "write its output," :
			       "read its input,", verb, caller);
	else if (text && call->fd_kind == FD_QUEUE)
		division_label(division, node, "waiting %sfor %s message queue %s in %s()%s%s",
			       is_vain_wait(call) ? "in vain " : "",
			       call->cause == CAUSE_READ ? "a message of" : "room in", text, verb,
			       is_vain_wait(call) ? " until a time limit" : "", caller);
	else if (text)
		division_label(division, node, "%s of %s%s%s", verb, text, error, caller);
	else
		division_label(division, node, "%s on %s%s%s", verb,
			       descriptor_text(call, fd, sizeof(fd)), error, caller);
}

/*
 * Returns whether a wait is one of the Java virtual machine, which has one function for the sleeps
 * and the waits of Java programs.
 */
static bool is_java_park(const char *caller)
{
	return strstr(caller, " os::PlatformEvent::park ") || strstr(caller, " Parker::park ");
}

/*
 * The kind of a part. In the last two kinds, a thread waits for a lock that usually several threads
 * held meanwhile. No single holder is the reason, so the wait itself is the end of the chain.
 */
enum part_kind { PART_OTHER, PART_GIL, PART_OVERTAKEN };

/*
 * Labels a new part, so that the user knows for what the thread waited. The label is made from the
 * first call of the part. It is right for all other calls of the part, because they have the same
 * key_of().
 */
static void label_part(struct division *division, struct why_node *node, const struct call *call,
		       const struct answer *request, unsigned others, const struct call *through,
		       enum part_kind kind)
{
	const struct history *history = division->history;
	const char *text = call->text ? history->text[call->text - 1] : NULL;
	const char *verb = function_name(call->type);
	char caller[600], lock[200];

	caller_text(division, call, caller, sizeof(caller));
	add_callers(division, call, caller, sizeof(caller));
	if (call->is_stuck) {
		stuck_label(division, node, call, caller);
		return;
	}
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
	case CAUSE_SEM:
	case CAUSE_BARRIER:
	case CAUSE_COND:
		if (call->cause == CAUSE_COND && is_vain_wait(call) && is_java_park(caller)) {
			division_label(division, node, "sleeping until a time limit, as "
				       "Thread.sleep() or a wait of Java with a time limit does,%s",
				       caller);
			break;
		}
		if (kind == PART_GIL) {
			division_label(division, node, "waiting for the lock of the Python "
				       "interpreter (GIL), which one thread at a time can hold");
			break;
		}
		lock_text(division, call, lock, sizeof(lock));
		if (kind == PART_OVERTAKEN) {
			division_label(division, node, "waiting as a writer for %s%s, while "
				       "readers that came later got it", lock, caller);
			break;
		}
		/*
		 * A wait that reached its time limit is a sleep. Each thread may have an object of
		 * its own for its sleeps, as in Java. The label omits the address of the object, so
		 * that all these sleeps are one cause.
		 */
		if (is_vain_wait(call) && !call->has_id && !strchr(lock, '"'))
			snprintf(lock, sizeof(lock), "an unnamed %s", verb);
		division_label(division, node, "waiting %sfor %s%s%s%s", is_vain_wait(call) ?
			       "in vain " : "", call->cause == CAUSE_COND ? "a signal of " : "",
			       lock, is_vain_wait(call) ? " until a time limit" : "", caller);
		break;
	case CAUSE_FILE_LOCK:
		division_label(division, node, "waiting for the lock of %s in %s()%s",
			       text ? text : "a file", verb, caller);
		break;
	case CAUSE_SIGNAL:
		label_signal(division, node, call, text ? text : verb, caller);
		break;
	case CAUSE_SLEEP:
		if (call->is_retry)
			label_retry(division, node, tries_failed(history, call),
				    text ? text : verb, caller);
		else if (call->tried_file)
			division_label(division, node, "waiting for the lock of %s: sleeping in "
				       "%s() before the next attempt%s",
				       history->text[call->tried_file - 1], text ? text : verb,
				       caller);
		else
			division_label(division, node, "sleeping: %s()%s", text ? text : verb,
				       caller);
		break;
	case CAUSE_POLL:
		if (request)
			label_request(division, node, call, request, others, verb, caller);
		else
			label_poll(division, node, call, through, verb, caller);
		break;
	case CAUSE_JOIN:
		division_label(division, node, "waiting for the end of a thread%s", caller);
		break;
	case CAUSE_CHILD:
		if (tries_is_poll_for_child(call))
			division_label(division, node, "polling for a child: waitpid() found no "
				       "ended child%s", caller);
		else if (call->key)
			division_label(division, node, "waiting for the end of process %d%s",
				       (int)call->key, caller);
		else
			division_label(division, node, "waiting for the command \"%s\"%s",
				       text ? text : "?", caller);
		break;
	default:
		label_call(division, node, call, verb, caller);
	}
}

/*
 * Adds Nagle's algorithm of TCP as the cause of a wait for an answer, if it delayed the data. The
 * time after the arrival of the data belongs to the thread that answered. Returns false if there
 * was no such delay.
 */
static bool add_delay(struct division *division, uint32_t node, const struct call *call,
		      const struct call *read, int64_t from_ns, int64_t to_ns)
{
	struct nagle_delay delay;
	const struct ender found = read && read->is_small ?
				   ender_find(division->history, call, read == call ? NULL : read) :
				   (struct ender){ .call = NULL };
	char label[240];

	if (!nagle_delayed(division->history, call, read, found.call, &delay))
		return false;
	snprintf(label, sizeof(label), "%s delayed by TCP (Nagle's algorithm): several small "
		 "writes before the read, TCP_NODELAY is not set on descriptor %d%s",
		 delay.is_measured ? "probably" : "possibly", (int)read->key, delay.is_measured ?
		 ", and the peer received the last one late" :
		 ", and the wait is as long as a delayed acknowledgement");
	if (delay.until_ns > to_ns)
		delay.until_ns = to_ns;
	if (delay.until_ns > from_ns)
		add_outside(division, node, UINT64_C(1) << 33 | (uint32_t)read->key << 1 |
			    delay.is_measured, label, true, from_ns, delay.until_ns);
	else
		delay.until_ns = from_ns;
	if (found.call)
		add_thread_part(division, node, "probably written by", found.call->thread, true,
				delay.until_ns, to_ns);
	return true;
}

/*
 * Returns how the thread 'who' is related to a call that did not return, as the begin of a label.
 */
static const char *owner_text(const struct division *division, const struct call *call,
			      uint32_t who, int64_t from_ns, int64_t to_ns)
{
	const bool is_lock = call->cause == CAUSE_LOCK;
	const enum circles_state state = circles_state(division->history, call->thread);

	if (state <= CIRCLES_IDLE || (who != call->thread &&
				      !division_is_active(division, who, from_ns, to_ns)))
		return is_lock ? "held by" : "waiting for";
	if (who == call->thread && is_lock)
		return state == CIRCLES_CERTAIN ? "a deadlock: already held by" :
		       "possibly a deadlock: already held by";
	if (state == CIRCLES_CERTAIN)
		return is_lock ? "a deadlock: held by" : "a deadlock: waiting for";
	return is_lock ? "possibly a deadlock: held by" : "possibly a deadlock: waiting for";
}

/*
 * Returns the last call of the wait to which a call belongs. The wait has the label and the cause
 * of this call. Polls are one wait only if all of them waited for the same answer.
 */
static const struct call *whole_wait(const struct history *history, const struct call *call)
{
	const struct call *last = tries_last(history, call);
	unsigned others;

	if (call != last &&
	    request_of_poll(history, call, ender_through(history, call), &others) !=
	    request_of_poll(history, last, ender_through(history, last), &others))
		return call;
	return last;
}

/* Counts the answer to a request that ended a wait. Each answer ends one wait. */
static void add_answer(struct why_node *node, const struct answer *request)
{
	node->answers++;
	node->answers_ns += answers_ns(request);
}

/* Returns whether a wait for the answer of a peer reached its time limit. */
static bool is_unanswered(const struct call *call, const struct answer *request)
{
	return call->cause == CAUSE_POLL ? call->is_in_vain && request :
	       is_vain_read(call) && call->peer && call->error == EAGAIN;
}

/* Counts a wait without an answer once, although a part of it may be added several times. */
static void add_unanswered(struct why_node *node, const struct call *call)
{
	node->vain += node->last_vain != call;
	node->last_vain = call;
}

void causes_add(struct division *division, uint32_t parent, const struct call *piece,
		uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const struct call *call = whole_wait(history, piece);
	pid_t pid = history->thread[call->thread].pid;
	unsigned others;
	const struct call *read = call->cause == CAUSE_READ ? call : ender_through(history, call);
	const struct answer *request = request_of_poll(history, call, read, &others);
	const struct answer *answered = read ? answers_read(history, call, read, &(unsigned){ 0 }) :
					NULL;
	/* The read explains a poll for an answer only if it has read this answer. */
	const struct call *through = call->cause == CAUSE_POLL &&
				     (!request || request == answered) ? read : NULL;
	const bool is_gil = !call->is_stuck && gil_waits(history, call);
	const struct readers *readers = readers_before(division, call);
	const enum part_kind kind = is_gil ? PART_GIL : readers ? PART_OVERTAKEN : PART_OTHER;
	bool is_new, is_flock, is_first;
	struct why_node *part;
	uint32_t node, who;

	/*
	 * If the wait went on after this piece, a timer has woken the thread, and the waker
	 * explains nothing.
	 */
	if (call != piece)
		waker = 0;
	part = division_child(division, parent, kind_of(call, request, through, is_gil),
			      is_gil ? GIL_KEY : key_of(call, request, others, through,
							tries_failed(history, call)) +
						 (readers ? OVERTAKEN_KEY : 0), &is_new);
	if (!part)
		return;
	part->thread = call->thread;
	part->is_end = kind != PART_OTHER;
	if (is_new)
		label_part(division, part, call, request, others, through, kind);
	division_add(division, part, from_ns, to_ns);
	if (call->cause == CAUSE_LOCK && -(int64_t)call->owner > part->readers)
		part->readers = (uint32_t)-(int64_t)call->owner;
	is_first = part->last_call != piece;
	why_count_call(part, piece);
	/* The bytes of a call are counted once, when its last piece is added. */
	if (to_ns == piece->end_ns && piece->cause >= CAUSE_READ && piece->cause <= CAUSE_FILE)
		part->bytes += piece->result;
	if (answered && to_ns == piece->end_ns && call == piece)
		add_answer(part, answered);
	if (is_unanswered(call, request))
		add_unanswered(part, call);
	/* The functions below may move the nodes, so part is invalid from here on. */
	node = division_index(division, part);
	if (call->is_stuck) {
		who = circles_owner(history, call);
		if (who != HISTORY_NONE)
			add_thread_part(division, node,
					owner_text(division, call, who, from_ns, to_ns), who,
					false, from_ns, to_ns);
		return;
	}
	if (is_gil) {
		add_interpreters(division, node, call, from_ns, to_ns);
		return;
	}
	if (readers && is_first)
		note_readers(division, node, readers);
	if (call->cause == CAUSE_COND || call->cause == CAUSE_SEM || read)
		from_ns = add_queued(division, node, call, call->cause == CAUSE_POLL ? read : NULL,
				     from_ns, to_ns);
	if (from_ns == to_ns)
		return;
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
		/*
		 * The holders explain the whole wait. The waker explains only the end of the wait,
		 * so it is used only if the log has no hold of the lock. A hold is recorded when it
		 * ends, so a thread that never released the lock has none. Calls of pthread_once()
		 * have no holds.
		 */
		if (!history->holds.count || !strcmp(call->type->name, "lock.once") ||
		    !add_lock_holders(division, node, call, from_ns, to_ns))
			add_owner(division, node, call, waker, from_ns, to_ns);
		break;
	case CAUSE_FILE_LOCK:
		is_flock = !strcmp(call->type->name, "io.flock");
		/*
		 * The events have no range of bytes, and two locks of fcntl() may be of different
		 * ranges. Processes in different folders may use one path for different files. In
		 * both cases the holders are a guess.
		 */
		if (call->text && history->file_holds.count)
			add_holders(division, node, call, &history->file_holds, (struct hold){
				.lock = history_file_lock(call->text, is_flock) },
				!is_flock || *history->text[call->text - 1] != '/', from_ns,
				to_ns);
		else
			causes_add_waker(division, node, waker, from_ns, to_ns);
		break;
	case CAUSE_SIGNAL:
		add_sender(division, node, call, waker, from_ns, to_ns);
		break;
	case CAUSE_COND:
		if (!is_vain_wait(call) &&
		    !causes_add_waker(division, node, waker, from_ns, to_ns))
			add_signaller(division, node, call, from_ns, to_ns);
		break;
	case CAUSE_SLEEP:
		/*
		 * A timer ends a sleep. Only a sleep before an attempt to lock a file has a cause:
		 * the holder of the lock. The events have no ranges of bytes, so the attempt may
		 * have failed because of another lock.
		 */
		if (call->tried_file && history->file_holds.count)
			add_holders(division, node, call, &history->file_holds, (struct hold){
				.lock = history_file_lock(call->tried_file, call->is_flock) }, true,
				from_ns, to_ns);
		break;
	case CAUSE_JOIN:
		who = history_find_pthread(history, pid, call->key);
		if (who != HISTORY_NONE)
			add_thread_part(division, node, "waiting for", who, false, from_ns, to_ns);
		break;
	case CAUSE_CHILD:
		/*
		 * The main thread of a child has the number of the process. system() and pclose()
		 * do not return the number: they end with the end of a child.
		 */
		who = call->key ? history_find_at(history, (pid_t)call->key, (pid_t)call->key,
						  to_ns) :
		      strcmp(call->type->name, "process.wait") != 0 ?
		      ender_child(history, call, 0) : HISTORY_NONE;
		if (who == HISTORY_NONE && call->key)
			who = lives_by_outer(history, pid, (pid_t)call->key);
		if (who != HISTORY_NONE)
			add_thread_part(division, node, "waiting for", who, false, from_ns, to_ns);
		break;
	case CAUSE_READ:
	case CAUSE_WRITE:
		/*
		 * No thread is the cause of a read that failed, of a wait that reached its time
		 * limit, or of a read from a timer. A read from a file or of changes of files has
		 * no such thread either, unless the kernel recorded the wake-up.
		 */
		if (!is_vain_read(call) && !is_vain_wait(call) && !is_timer_read(call) &&
		    !add_delay(division, node, call, call, from_ns, to_ns) &&
		    !causes_add_waker(division, node, waker, from_ns, to_ns) &&
		    !call_uses_file(call) && !is_watch_read(call) &&
		    !add_partner(division, node, call, NULL, from_ns, to_ns))
			add_end(division, node, call, call, from_ns, to_ns);
		break;
	case CAUSE_POLL:
		/*
		 * If the thread did not read the answer next, the log does not show which thread
		 * wrote it.
		 */
		if (!call->is_in_vain && !is_timer_read(through) &&
		    !add_delay(division, node, call, read, from_ns, to_ns) &&
		    !causes_add_waker(division, node, waker, from_ns, to_ns) &&
		    (!request || request == answered) && !is_watch_read(through) &&
		    !add_partner(division, node, call, through, from_ns, to_ns))
			add_end(division, node, call, through, from_ns, to_ns);
		break;
	case CAUSE_BARRIER:
	case CAUSE_SEM:
		if (!is_vain_wait(call) &&
		    !causes_add_waker(division, node, waker, from_ns, to_ns))
			add_partner(division, node, call, NULL, from_ns, to_ns);
		break;
	case CAUSE_FILE:
		causes_add_waker(division, node, waker, from_ns, to_ns);
		break;
	case CAUSE_PEER:
		/* If a connect fails, the peer is the cause, and not the timer that ended it. */
		if ((!call->error || call->is_begun) && !call->is_limited && !call->is_open &&
		    !causes_add_waker(division, node, waker, from_ns, to_ns) &&
		    !strcmp(call->type->name, "net.accept"))
			add_partner(division, node, call, NULL, from_ns, to_ns);
		break;
	/* Calls with another cause do not wait for a thread. */
	default:
		break;
	}
}

enum why_kind causes_looked_kind(const struct call *call)
{
	if (call->cause != CAUSE_READ && call->cause != CAUSE_WRITE)
		return WHY_UNKNOWN;
	return call_uses_file(call) ? WHY_FILE : WHY_PEER;
}

/*
 * The number of transferred bytes is not known, so a partner can be found only if the object of the
 * call is known.
 */
void causes_add_looked(struct division *division, uint32_t node, const struct call *call,
		       uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	if (!causes_add_waker(division, node, waker, from_ns, to_ns) &&
	    causes_looked_kind(call) == WHY_PEER && call->object)
		add_partner(division, node, call, NULL, from_ns, to_ns);
}
