/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_text.c - one page of text: the cause, the way to it, the parts of the time, the evidence.
 *
 * Labels contain names from the log, and the log is hostile. So labels and names are written to the
 * terminal through text_safe() and text_name() only. The first three lines answer the question, the
 * rest shows why to believe it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/brief.h"
#include "base/errnames.h"
#include "base/real.h"
#include "base/text.h"
#include "live/families.h"
#include "symbols/symbols.h"
#include "why/connections.h"
#include "why/crowd.h"
#include "why/ender.h"
#include "why/gil.h"
#include "why/groups.h"
#include "why/interpreter.h"
#include "why/lives.h"
#include "why/pools.h"
#include "why/repeats.h"
#include "why/served.h"
#include "why/why.h"

#define CHILDREN  12   /* the most children of one part that are printed */
#define LINES     36   /* after this number of lines, only further parts of the root are printed */
#define CAUSES    6
#define OFTEN     10   /* a cause that occurred at least this number of times is frequent */
#define OFTEN_VAIN 2   /* the same for waits without an answer: each is an attempt */
#define LEAST     0.5  /* percent; smaller parts are added up in one line */

/*
 * One answer that is being printed. 'whole' is the time of the root in nanoseconds, which is 100
 * percent. 'lines' counts the lines of parts that were printed so far.
 */
struct page {
	struct out *out;
	const struct why *why;
	const struct division *division;
	double whole;
	unsigned lines;
};

static double why_text_percent(const struct page *page, uint64_t ns)
{
	return page->whole > 0 ? 100.0 * (double)ns / page->whole : 0;
}

static void put_label(struct out *out, const char *label)
{
	text_safe(out, label, strlen(label));
}

/*
 * Writes the thread of a root or a cause. A thread of the process pid is written without its
 * process; with pid 0 the process is written for each thread.
 */
static void put_thread(const struct page *page, uint32_t thread, pid_t pid)
{
	char text[160];

	division_thread_text(&page->why->history, thread, pid, text, sizeof(text));
	put_label(page->out, text);
}

/* ------------------------------------------------------------------ the first three lines */

static pid_t root_pid(const struct page *page)
{
	return page->why->history.thread[page->division->node[0].thread].pid;
}

/*
 * Returns whether the log has no event of a recorded thread in the longest occurrence of a cause:
 * the thread began later, or it had ended.
 */
static bool is_silent(const struct page *page, const struct why_cause *cause)
{
	const struct why_node *node = &page->division->node[cause->node];
	const struct history_thread *thread = &page->why->history.thread[node->thread];

	if (node->key >= page->why->history.threads)
		return false;
	/* The subtraction is unsigned: the times of a hostile log may be far apart. */
	return node->longest_at_ns >= thread->last_ns ||
	       (node->longest_at_ns < thread->first_ns &&
		(uint64_t)thread->first_ns - (uint64_t)node->longest_at_ns >= node->longest_ns);
}

#define ANCESTORS 16 /* the most ancestors that put_relation() looks at: a log may have a circle */

/* Writes ", a child of process 10", if the process of the root has started the process pid. */
static void put_relation(const struct page *page, pid_t pid, int64_t time_ns)
{
	const struct history *history = &page->why->history;
	const pid_t root = root_pid(page);

	for (unsigned i = 0; i < ANCESTORS; i++) {
		const uint32_t found = history_find_at(history, pid, pid, time_ns);

		pid = found == HISTORY_NONE ? 0 : history->thread[found].parent;
		if (pid <= 0)
			return;
		if (pid != root)
			continue;
		out_printf(page->out, ", %s process %d", i ? "which descends from" : "a child of",
			   (int)root);
		return;
	}
}

/*
 * Writes the thread of a cause, unless it is the thread of the root: "in thread 11 (writer)" or "in
 * process 12 (sleep), a child of process 10". The label of the cause does not name the thread. If
 * the cause occurred in several threads, the one with the greatest part is written.
 */
static void put_place(const struct page *page, const struct why_cause *cause)
{
	const struct why_node *node = &page->division->node[cause->node];
	const struct history_thread *thread = &page->why->history.thread[node->thread];

	if (node->thread == page->division->node[0].thread)
		return;
	out_str(page->out, !cause->is_mixed ? ", in " :
		cause->place_ns > cause->ns / 2 ? ", most of it in " :
						  ", in several threads, for example in ");
	if (thread->pid == root_pid(page) || thread->tid != thread->pid || thread->outer) {
		put_thread(page, node->thread, root_pid(page));
	} else {
		out_printf(page->out, "process %d", (int)thread->pid);
		if (*thread->name) {
			out_str(page->out, " (");
			put_label(page->out, thread->name);
			out_char(page->out, ')');
		}
	}
	if (thread->pid != root_pid(page))
		put_relation(page, thread->pid, node->longest_at_ns);
}

#define TAKERS 4 /* the most threads or programs that put_takers() writes */

/* How a thread or program that had the CPU is written. Neighbours of one form share words. */
enum taker_form { TAKER_THREAD, TAKER_PROGRAM, TAKER_MIXED };

static enum taker_form taker_form(const struct why_node *node)
{
	return node->key == WHY_MIXED_KEY ? TAKER_MIXED :
	       node->key & (WHY_NAMED_KEY | WHY_THREAD_KEY) ? TAKER_PROGRAM : TAKER_THREAD;
}

/* Ends a list of programs whose labels were written without their last words. */
static void end_programs(const struct page *page, unsigned programs)
{
	if (programs)
		out_str(page->out, programs > 1 ? ", which were not recorded" : WHY_UNRECORDED);
}

/*
 * Writes the threads or programs that each had the CPU for at least a tenth of the time in which
 * the thread was ready to run, if together they had it for more than half of this time. All their
 * labels begin with WHY_CPU_RAN, and those of programs end with WHY_UNRECORDED. Neighbours share
 * these words.
 */
static void put_takers(const struct page *page, uint32_t node)
{
	const uint64_t whole = page->division->node[node].ns;
	uint32_t child[TAKERS];
	const size_t children = why_children(page->division, node, child, TAKERS);
	enum taker_form before = TAKER_MIXED;
	unsigned programs = 0;
	uint64_t sum = 0;
	size_t count = 0;

	while (count < children && page->division->node[child[count]].ns >= whole / 10)
		sum += page->division->node[child[count++]].ns;
	for (size_t i = 0; sum > whole / 2 && i < count; i++) {
		const struct why_node *taker = &page->division->node[child[i]];
		const char *label = taker->label;
		enum taker_form form;

		/* A label is missing only after an error of memory. */
		if (!label)
			return;
		form = taker_form(taker);
		if (form != TAKER_PROGRAM)
			end_programs(page, programs);
		programs = form == TAKER_PROGRAM ? programs + 1 : 0;
		out_str(page->out, form == before && form != TAKER_MIXED ? ", " :
			"; " WHY_CPU_RAN);
		before = form;
		label += strlen(WHY_CPU_RAN);
		text_safe(page->out, label,
			  strlen(label) - (programs ? strlen(WHY_UNRECORDED) : 0));
	}
	end_programs(page, programs);
}

#define HOLDERS 3 /* the most threads that put_holders() writes */

/*
 * Returns the label of the innermost part that has at least half of a node's time, or NULL. Node 0
 * means that there is no node.
 */
static const char *greatest_part(const struct division *division, uint32_t node)
{
	const uint64_t least = division->node[node].ns / 2;
	uint32_t child;
	const char *label = NULL;

	while (node && why_children(division, node, &child, 1)) {
		if (!division->node[child].label || division->node[child].ns < least)
			break;
		label = division->node[child].label;
		/* The other programs that had the CPU meanwhile did nothing for the thread. */
		if (division->node[child].kind == WHY_READY)
			break;
		node = child;
	}
	return label;
}

/* Returns the part below a node that has a thread as a cause, or 0. */
static uint32_t part_of(const struct division *division, uint32_t node, uint32_t thread)
{
	for (uint32_t at = division->node[node].child; at; at = division->node[at].sibling)
		if (division->node[at].kind == WHY_WHO && division->node[at].thread == thread)
			return at;
	return 0;
}

/*
 * Writes the threads that held the lock of a node with is_end for the longest times. For the lock
 * of an interpreter, also writes what the first of them did.
 */
static void put_holders(const struct page *page, uint32_t node)
{
	const struct division *division = page->division;
	const bool is_gil = division->node[node].kind == WHY_LOCK &&
			    gil_waits(&page->why->history, division->node[node].last_call);
	const bool has_more = division->node[node].has_more;
	const uint64_t waits = division->node[node].calls;
	const struct why_holder *holder[HOLDERS];
	uint64_t holds;
	const size_t count = division_holders(division, node, holder, HOLDERS, &holds);
	char text[BRIEF_BYTES];

	if (!count)
		return;
	if (is_gil)
		out_str(page->out, "; meanwhile it was held by ");
	else
		/* The explained time may have only a part of the wait. */
		out_printf(page->out, "; during the whole wait%s, %s%zu readers held it %s%llu "
			   "times: ", text_plural(waits), has_more ? "at least " : "", count,
			   has_more ? "at least " : "", (unsigned long long)holds);
	for (size_t i = 0; i < count && i < HOLDERS; i++) {
		const char *did = i ? NULL : greatest_part(division, part_of(division, node,
									     holder[i]->thread));

		out_str(page->out, i ? ", " : "");
		put_thread(page, holder[i]->thread, root_pid(page));
		out_printf(page->out, " for %s", brief_ns(text, (double)holder[i]->ns));
		if (is_gil && did) {
			out_str(page->out, " (most of it ");
			put_label(page->out, did);
			out_char(page->out, ')');
		}
	}
	if (count > HOLDERS || has_more)
		out_str(page->out, ", and others");
}

/*
 * Writes how many readers held a read-write lock, unless the holds of the lock show the readers
 * themselves.
 */
static void put_readers(struct out *out, const struct why_node *node)
{
	if (node->readers && !node->is_end)
		out_printf(out, " (%s%u reader%s held it when %s wait began)",
			   node->calls > 1 ? "up to " : "", (unsigned)node->readers,
			   text_plural(node->readers), node->calls > 1 ? "a" : "the");
}

/*
 * Returns the node with is_outside below a node whose label has the most time, if this is at least
 * half of the time of the node, or 0.
 */
static uint32_t outside_of(const struct division *division, uint32_t node)
{
	uint32_t most = 0;
	uint64_t ns = 0;

	for (uint32_t at = division->node[node].child; at; at = division->node[at].sibling)
		if (division->node[at].is_outside && division->node[at].label &&
		    (!most || division->node[at].ns > division->node[most].ns))
			most = at;
	for (uint32_t at = most ? division->node[node].child : 0; at;
	     at = division->node[at].sibling)
		if (division->node[at].is_outside && division->node[at].label &&
		    !strcmp(division->node[at].label, division->node[most].label))
			ns += division->node[at].ns;
	return ns >= division->node[node].ns / 2 ? most : 0;
}

/*
 * Writes the label of a cause. The labels of a thread that ran, was ready to run, or was blocked
 * for an unknown reason do not contain the thread, so it is added. The label of a node of the kind
 * WHY_WHO contains it.
 */
static void put_cause(const struct page *page, const struct why_cause *cause)
{
	const uint32_t outside = outside_of(page->division, cause->node);

	put_label(page->out, cause->label);
	if (cause->kind == WHY_RUN || cause->kind == WHY_READY || cause->kind == WHY_UNKNOWN) {
		out_str(page->out, ", in ");
		put_thread(page, cause->thread, root_pid(page));
	} else if (cause->kind != WHY_WHO) {
		put_place(page, cause);
	}
	/*
	 * The chain ends at a thread and not at a part of its time, because the log has no event of
	 * the thread at that time: it has not begun, or it has ended.
	 */
	if (cause->kind == WHY_WHO && is_silent(page, cause))
		out_str(page->out, ", which has no event at that time");
	if (cause->kind == WHY_READY)
		put_takers(page, cause->node);
	put_readers(page->out, &page->division->node[cause->node]);
	/* The chain has it in any case. An interrupt is no further reason for a known wait. */
	if (outside && (!page->division->node[outside].is_interrupt ||
			cause->kind == WHY_UNKNOWN)) {
		out_str(page->out, ", ");
		put_label(page->out, page->division->node[outside].label);
	}
}

/*
 * Writes how often a part of the thread's own time occurred, if it occurred often: many short waits
 * need another remedy than a long one.
 */
static void put_often(struct out *out, const struct why_node *node)
{
	char text[BRIEF_BYTES];
	const uint64_t times = node->calls ? node->calls : node->count;
	const uint64_t count = node->vain ? node->vain : times;
	uint64_t bytes;

	if (node->parent || count < (node->vain ? OFTEN_VAIN : OFTEN) || node->kind == WHY_RUN ||
	    node->kind == WHY_READY || node->kind == WHY_FAULT)
		return;
	out_printf(out, " (%llu %s", (unsigned long long)count, node->calls || node->vain ?
		   "times" : "periods");
	if (!node->vain && node->calls && node->count > node->calls)
		out_printf(out, " in %llu periods", (unsigned long long)node->count);
	out_printf(out, ", on average %s", brief_ns(text, (double)node->ns / (double)count));
	bytes = (node->bytes + times / 2) / times;
	if (node->bytes)
		out_printf(out, " and %llu byte%s", (unsigned long long)bytes, text_plural(bytes));
	out_char(out, ')');
}

/*
 * Writes the labels of the nodes from the root to the cause. A chain has at most three nodes for
 * each of WHY_DEPTH threads: the wait, a queue, and the thread that caused it. At its end it has at
 * most a running part and its functions.
 */
static void put_chain(const struct page *page, uint32_t node)
{
	uint32_t chain[3 * WHY_DEPTH + 3];
	const uint32_t outside = outside_of(page->division, node);
	size_t count = 0;

	while (node && count < sizeof(chain) / sizeof(*chain)) {
		chain[count++] = node;
		node = page->division->node[node].parent;
	}
	while (count-- > 0) {
		out_str(page->out, " -> ");
		put_label(page->out, page->division->node[chain[count]].label);
		/* The line "Cause" has the evidence of the last one. */
		if (count) {
			put_readers(page->out, &page->division->node[chain[count]]);
			put_often(page->out, &page->division->node[chain[count]]);
		}
	}
	if (outside) {
		out_str(page->out, " -> ");
		put_label(page->out, page->division->node[outside].label);
	}
}

/*
 * Writes the name of the upstream for whose answer the server waited, and the connection. An
 * address in a log may have any characters.
 */
static void put_upstream(const struct page *page, const struct window *window)
{
	const char *text = window->text ? page->why->history.text[window->text - 1] : "";

	out_str(page->out, " for the answer of ");
	if (*text)
		text_name(page->out, text, strlen(text));
	else
		out_str(page->out, "another server");
	out_printf(page->out, " on descriptor %d", (int)window->fd);
	if (window->end == ANSWER_READ)
		return;
	out_str(page->out, ", which did not come: ");
	if (window->end == ANSWER_BROKEN && window->error && errno_name(window->error))
		out_printf(page->out, "the connection broke (%s)", errno_name(window->error));
	else if (window->end == ANSWER_BROKEN)
		out_str(page->out, "the other side closed the connection");
	else if (window->end == ANSWER_CLOSED)
		out_str(page->out, "the thread gave up and closed the connection");
	else
		out_str(page->out, "the log ends before it");
}

/*
 * Finds the client for whose request the thread worked in the window. A turn begins with a wait for
 * input, so its request cannot have been read before.
 */
static struct served_client client_of(const struct why *why, const struct window *window)
{
	if (window->kind == WINDOW_THREAD || window->kind == WINDOW_UPSTREAM)
		return (struct served_client){ .fd = -1 };
	if (window->kind == WINDOW_SERVED)
		return (struct served_client){ window->text, window->fd };
	return served_client(&why->history, window->thread, window->from_ns, window->to_ns,
			     window->kind == WINDOW_SPAN);
}

const char *why_client(const struct why *why, const struct window *window, int32_t *fd)
{
	const struct served_client client = client_of(why, window);

	*fd = client.fd;
	return client.text ? why->history.text[client.text - 1] : "";
}

/*
 * Writes the address of a client. Programs that accept connections without asking for the address
 * leave it unknown: the descriptor identifies the client then.
 */
static void put_client(struct out *out, const char *address, int32_t fd)
{
	if (*address)
		put_label(out, address);
	else
		out_printf(out, "on descriptor %d", (int)fd);
}

/*
 * Writes the first line: the thread and its time, and whose requests or which client waited for it.
 */
static void put_question(const struct page *page, const struct window *window)
{
	const bool is_turn = window->kind == WINDOW_TURN || window->kind == WINDOW_BUSY;
	char text[BRIEF_BYTES], when[WHEN_BYTES];
	int32_t fd;
	const char *client = why_client(page->why, window, &fd);

	if (is_turn) {
		/*
		 * If neither number shows that input was waiting, perhaps no request arrived
		 * meanwhile, or the log ends there.
		 */
		out_str(page->out, window->ready || window->parts > 1 ? "Requests waited: " :
			"Requests would have waited: ");
	} else if (window->kind == WINDOW_UPSTREAM) {
		out_str(page->out, "Requests waited: ");
	} else if (window->kind == WINDOW_SERVED && fd >= 0) {
		out_str(page->out, "The client ");
		put_client(page->out, client, fd);
		out_str(page->out, " waited for its answer: ");
	} else if (window->kind == WINDOW_SERVED) {
		out_str(page->out, "A client waited for its answer: ");
	} else if (window->name) {
		out_str(page->out, "The span ");
		text_name(page->out, window->name, strlen(window->name));
		out_str(page->out, " of ");
	}
	put_thread(page, window->thread, 0);
	out_printf(page->out, " %s %s", is_turn ? "was busy for" :
		   window->kind == WINDOW_UPSTREAM ? "waited" : "took",
		   brief_ns(text, (double)window_ns(window)));
	if (window->kind == WINDOW_UPSTREAM)
		put_upstream(page, window);
	else if (window->kind == WINDOW_SERVED)
		out_str(page->out, " for its request");
	else if (fd >= 0) {
		out_str(page->out, is_turn ? ", most of it for the request of the client " :
			", most of it for the client ");
		put_client(page->out, client, fd);
	}
	out_printf(page->out, ", from %s",
		   when_string(when, window->from_ns, page->why->form));
	if (window->ready)
		out_printf(page->out, "; then input was ready on %llu descriptor%s",
			   (unsigned long long)window->ready, text_plural(window->ready));
	out_str(page->out, ".\n");
}

/*
 * Writes how busy the thread of a turn was, and whether other threads share its work. Only such
 * other threads can handle a request while the thread is busy.
 */
static void put_load(const struct page *page, const struct window *window)
{
	const struct history *history = &page->why->history;
	struct turns turns;
	size_t servers = 0;
	double all;

	if (window->kind != WINDOW_TURN && window->kind != WINDOW_BUSY)
		return;
	for (size_t i = 0; i < history->threads; i++)
		servers += history->thread[i].is_server;
	turns_sum(history, window->thread, &turns);
	all = (double)turns.to_ns - (double)turns.from_ns;
	if (!turns.count || all <= 0)
		return;
	out_printf(page->out, "Load: the thread was busy for %.1f %% of the time, in %llu turn%s. ",
		   100 * (double)turns.ns / all, (unsigned long long)turns.count,
		   text_plural(turns.count));
	if (servers > 1)
		out_printf(page->out, "%zu threads accept connections.\n", servers);
	else
		out_str(page->out, "No other thread accepts connections.\n");
}

/*
 * Returns the share of an event's time that is in the window. The event describes the time between
 * two looks of the recorder. The last look is after the end of the process, so the time ends with
 * the last event of the process. In an old log the event lacks the time of the earlier look, and
 * the result is 1 or 0: whether the event itself is in the window.
 */
static double share_of(const struct throttle *throttle, const struct window *window,
		       int64_t last_ns)
{
	const int64_t end_ns = last_ns < throttle->time_ns ? last_ns : throttle->time_ns;
	const int64_t from_ns = throttle->since_ns > window->from_ns ? throttle->since_ns :
								       window->from_ns;
	const int64_t to_ns = end_ns < window->to_ns ? end_ns : window->to_ns;

	if (!throttle->since_ns || throttle->since_ns >= end_ns)
		return throttle->time_ns >= window->from_ns && throttle->time_ns <= window->to_ns;
	return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)(end_ns - throttle->since_ns)
			       : 0;
}

const char *why_limit(const struct why *why, const struct window *window, uint64_t *ns,
		      uint64_t *periods, bool *is_estimate)
{
	const struct history *history = &why->history;
	const pid_t pid = history->thread[window->thread].pid;
	const int64_t last_ns = lives_last_ns(history, window->thread);
	uint32_t path = 0;

	*ns = *periods = 0;
	*is_estimate = false;
	for (size_t i = 0; i < history->throttles; i++) {
		const struct throttle *throttle = &history->throttle[i];
		const double share = throttle->pid == pid ? share_of(throttle, window, last_ns) : 0;

		if (share <= 0)
			continue;
		*is_estimate |= share < 1;
		*ns += real_unsigned((double)throttle->ns * share);
		*periods += real_unsigned((double)throttle->periods * share + 0.5);
		path = throttle->text;
	}
	/* A part of one period is one period in which the limit applied. */
	*periods += *ns && !*periods;
	return path ? history->text[path - 1] : "";
}

/* Writes for how long the CPU limit of a cgroup kept the process from running. */
static void put_limit(const struct page *page, const struct window *window)
{
	uint64_t ns, periods;
	bool is_estimate;
	const char *path = why_limit(page->why, window, &ns, &periods, &is_estimate);
	char text[BRIEF_BYTES];

	if (!periods)
		return;
	out_str(page->out, "Limit: the cgroup ");
	text_name(page->out, path, strlen(path));
	out_printf(page->out, " used up its CPU limit (cpu.max) in %s%llu period%s, and its "
		   "threads could not run for %s%s, the sum of all CPUs.\n",
		   is_estimate ? "about " : "", (unsigned long long)periods, text_plural(periods),
		   is_estimate ? "about " : "", brief_ns(text, (double)ns));
}

/*
 * Writes the call that the thread tried in vain again and again. Between the attempts it slept or
 * ran, which does not show the reason.
 */
static void put_repeats(const struct page *page, const struct window *window)
{
	const struct why *why = page->why;
	const struct repeat repeat = repeats_find(&why->history, window->thread, window->from_ns,
						  window->to_ns);
	const pid_t pid = why->history.thread[window->thread].pid;
	char text[600], place[300];

	if (!repeat.call)
		return;
	causes_attempt_text(&why->history, repeat.call, text, sizeof(text));
	out_printf(page->out, "Attempts in vain: %llu times ", (unsigned long long)repeat.count);
	put_label(page->out, text);
	symbols_place(why->log.trid, pid, repeat.call->address, repeat.call->end_ns, false, place,
		      sizeof(place));
	out_str(page->out, *place ? ", in " : "");
	put_label(page->out, place);
	out_printf(page->out, ", on average every %s", brief_ns(text, ((double)repeat.to_ns -
		   (double)repeat.from_ns) / (double)repeat.count));
	if (repeat.call->error == EMFILE)
		why_text_leak(page->out, why, pid, repeat.call->end_ns);
	out_str(page->out, ".\n");
}

/*
 * Returns the greatest part of the root's time that other threads caused; 0: there is none. *count
 * becomes the number of such parts.
 */
static uint32_t greatest_wait(const struct division *division, size_t *count)
{
	uint32_t found = 0;

	*count = 0;
	for (uint32_t at = division->node[0].child; at; at = division->node[at].sibling) {
		const struct why_node *node = &division->node[at];

		if (!node->child || !node->label || node->kind == WHY_RUN ||
		    node->kind == WHY_READY || node->kind == WHY_FAULT)
			continue;
		++*count;
		if (!found || node->ns > division->node[found].ns)
			found = at;
	}
	return found;
}

/*
 * Writes the first lines if many processes together are the cause: their programs, and what they
 * did. The chain has the greatest wait of the thread.
 */
static void put_crowd(const struct page *page, const struct window *window,
		      const struct crowd *crowd)
{
	char text[BRIEF_BYTES], each[BRIEF_BYTES];
	size_t waits;
	const uint32_t part = greatest_wait(page->division, &waits);

	out_printf(page->out, "Cause: %.1f %% of that time (%s): %zu processes, each with a small "
		   "part, on average %s: ", why_text_percent(page, crowd->ns),
		   brief_ns(text, (double)crowd->ns), crowd->processes,
		   brief_ns(each, (double)crowd->ns / (double)crowd->processes));
	for (size_t i = 0; i < CROWD_PROGRAMS && i < crowd->programs; i++) {
		const struct crowd_program *program = &crowd->program[i];

		out_printf(page->out, "%s%zu of ", i ? ", " : "", program->processes);
		put_label(page->out, *program->name ? program->name : "an unknown program");
		out_printf(page->out, " (%.1f %%)", why_text_percent(page, program->ns));
	}
	out_printf(page->out, "%s.\nChain: ", crowd->programs > CROWD_PROGRAMS ?
		   ", and others" : "");
	put_thread(page, window->thread, root_pid(page));
	if (part) {
		out_str(page->out, " -> ");
		if (waits > 1)
			out_printf(page->out, "%zu waits, such as ", waits);
		put_label(page->out, page->division->node[part].label);
		put_often(page->out, &page->division->node[part]);
	}
	out_printf(page->out, " -> these processes.\nProcesses: they ran%s for %.1f %% of that "
		   "time", page->why->history.has_states ? "" : ", or were ready to run,",
		   why_text_percent(page, crowd->run_ns));
	if (page->why->history.has_states)
		out_printf(page->out, " and had no CPU for %.1f %%",
			   why_text_percent(page, crowd->ready_ns));
	if (why_text_percent(page, crowd->silent_ns) >= LEAST)
		out_printf(page->out, "; %.1f %% have no event, such as their begin and end",
			   why_text_percent(page, crowd->silent_ns));
	out_str(page->out, ".\n");
}

#define HINT_SAMPLES 10 /* the least number of samples for a hint */
#define HINT_PART    3  /* at least a third of the samples are in the allocator */

/*
 * The library does not see the locks of the allocator. If a thread was blocked without an event,
 * and a great part of its samples is in the allocator, writes that it probably waited for such a
 * lock. 'node' is the part of the time in which it was blocked. The samples are those of the same
 * thread and the same time.
 */
static void put_allocator(const struct page *page, uint32_t node)
{
	const struct division *division = page->division;
	const uint32_t parent = division->node[node].parent;
	uint64_t all = 0, found = 0;

	if (division->node[node].key)
		return;
	for (uint32_t at = division->node[parent].child; at; at = division->node[at].sibling) {
		const struct why_node *run = &division->node[at];

		for (uint32_t of = run->kind == WHY_RUN && !run->key ? run->child : 0; of;
		     of = division->node[of].sibling) {
			all += division->node[of].samples;
			found += division->node[of].is_allocator ? division->node[of].samples : 0;
		}
	}
	if (all >= HINT_SAMPLES && found * HINT_PART >= all)
		out_printf(page->out, "Hint: %.0f %% of the thread's samples are in malloc() and "
			   "free(): it probably waited for a lock of the allocator, which threads "
			   "share.\n", 100.0 * (double)found / (double)all);
}

/* Writes the rhythm of a loop that sleeps, or of a timerfd. */
static void put_rhythm(const struct page *page, const struct rhythm *rhythm)
{
	const double by = rhythm->period_ns - rhythm->asked_ns;
	char asked[BRIEF_BYTES], period[BRIEF_BYTES], late[BRIEF_BYTES], all[BRIEF_BYTES];

	brief_ns(asked, rhythm->asked_ns);
	brief_ns(period, rhythm->period_ns);
	if (rhythm->is_timer)
		out_printf(page->out, "the timer expired every %s, but the thread read it every %s "
			   "on average: about %.0f of %.0f expirations had no read of their own",
			   asked, period, groups_missed(rhythm),
			   rhythm->all_ns / rhythm->asked_ns);
	else
		out_printf(page->out, "the loop asked for %s%s each time, but its period was %s on "
			   "average: it drifts by %s (%.1f %%) in each round, by %s in %llu rounds",
			   rhythm->is_estimate ? "about " : "", asked, period,
			   brief_ns(late, by), 100 * by / rhythm->asked_ns,
			   brief_ns(all, by * (double)(rhythm->rounds - 1)),
			   (unsigned long long)rhythm->rounds);
}

/* Writes the rhythms of an answer that are its first cause, or the others. */
static void put_rhythms(const struct page *page, const struct groups *groups, bool is_cause)
{
	for (size_t i = 0; i < groups->rhythms; i++) {
		if (groups->rhythm[i].is_cause != is_cause)
			continue;
		out_str(page->out, is_cause ? "; " : "Timer: ");
		put_rhythm(page, &groups->rhythm[i].rhythm);
		out_str(page->out, is_cause ? "" : ".\n");
	}
}

#define WORKERS 4 /* the most workers whose work put_workers() writes */

/* Writes the greatest cause of a worker's time. Returns 0 or ENOMEM. */
static int put_work(const struct page *page, uint32_t worker, int64_t from_ns, int64_t to_ns)
{
	const struct history_thread *thread = &page->why->history.thread[worker];
	const int64_t begin_ns = thread->first_ns > from_ns ? thread->first_ns : from_ns;
	const int64_t end_ns = thread->last_ns < to_ns ? thread->last_ns : to_ns;
	struct division division;
	struct why_causes causes = { .count = 0 };
	int err;

	if (begin_ns >= end_ns)
		return 0;
	err = division_make(&division, page->division->history, worker, begin_ns, end_ns);
	if (!err && !why_causes(&causes, &division))
		err = ENOMEM;
	if (!err && causes.count) {
		out_str(page->out, "; ");
		put_thread(page, worker, root_pid(page));
		out_printf(page->out, " %.0f %% ", division.node[0].ns ? 100 *
			   (double)causes.cause[0].ns / (double)division.node[0].ns : 0);
		put_label(page->out, causes.cause[0].label);
	}
	free(causes.cause);
	division_fini(&division);
	return err;
}

/* Writes how busy the workers of a pool were, and what they did. Returns 0 or ENOMEM. */
static int put_workers(const struct page *page, const struct window *window,
		       const struct groups *groups)
{
	const struct pools_busy *busy = &groups->busy;
	const struct history *history = &page->why->history;
	uint32_t worker[WORKERS];
	char place[300], all[BRIEF_BYTES];
	size_t count;
	int err = 0;

	if (groups->worker == HISTORY_NONE)
		return 0;
	count = pools_workers(history, groups->worker, worker, WORKERS);
	symbols_place(page->why->log.trid, history->thread[busy->idle->thread].pid,
		      busy->idle->address, busy->idle->end_ns, false, place, sizeof(place));
	out_printf(page->out, "Workers: all %u %s", busy->workers,
		   pools_members(history, groups->worker, busy->workers));
	out_str(page->out, *place ? " in " : "");
	put_label(page->out, place);
	out_printf(page->out, " were busy for %.1f %% of %s",
		   100 - 100 * (double)busy->idle_ns / (double)busy->all_ns,
		   brief_ns(all, (double)busy->all_ns));
	for (size_t i = 0; !err && i < count && i < WORKERS; i++)
		err = put_work(page, worker[i], window->from_ns, window->to_ns);
	out_printf(page->out, "%s.\n", count > WORKERS ? "; and others" : "");
	return err;
}

/*
 * Returns whether the log shows that the other end of a wait is on this machine: the wait is for a
 * pipe, or for a socket with such an address. A terminal and a socket of another machine have no
 * process that could be recorded here.
 */
static bool is_local(const struct history *history, const struct call *call)
{
	const struct call *used = call->cause == CAUSE_POLL ? ender_through(history, call) : call;
	const char *address;

	if (!used)
		return false;
	if (used->fd_kind == FD_PIPE || used->fd_kind == FD_PAIR || used->fd_kind == FD_COMMAND)
		return true;
	address = history_text_at(history, used->cause == CAUSE_PEER ? used->text :
				  used->fd_kind == FD_CLIENT ? used->client :
				  used->peer ? used->peer : used->own);
	return connections_is_loopback(address) || !strncmp(address, "unix:", 5) ||
	       !strncmp(address, "of the socket ", 14);
}

/*
 * Writes that the log does not show who ended the wait, if the greatest cause is a wait for the
 * other end of a pipe or socket, and how to record this end if that is possible. A log with wakers
 * was recorded in this way already.
 */
static void put_peer(const struct page *page, const struct why_node *node)
{
	const struct call *call = node->last_call;

	/* A time limit has ended a poll in vain. */
	if (node->kind != WHY_PEER || node->child || !call || call->is_stuck || call->error ||
	    (call->cause == CAUSE_POLL && call->is_in_vain) || page->why->history.wakers ||
	    page->why->history.gaps)
		return;
	if (call->cause != CAUSE_POLL &&
	    ((call->cause != CAUSE_READ && call->cause != CAUSE_WRITE) || call->has_id ||
	     (call->fd_kind != FD_OTHER && call->fd_kind != FD_PIPE && call->fd_kind != FD_PAIR &&
	      call->fd_kind != FD_CLIENT && call->fd_kind != FD_COMMAND)))
		return;
	out_str(page->out, "Peer: the log does not show which process ended this wait.");
	if (is_local(&page->why->history, call))
		out_str(page->out, " 'posixtrace record --sched' of a privileged user, with "
			"POSIXTRACE_KERNEL=tracefs, records it. If the process was not recorded, "
			"'posixtrace attach' also records its calls.");
	out_char(page->out, '\n');
}

/* Writes the first lines. The greatest cause is the answer. Returns 0 or ENOMEM. */
static int put_summary(const struct page *page, const struct window *window,
		       const struct why_causes *causes, const struct crowd *crowd)
{
	const struct history_thread *thread = &page->why->history.thread[window->thread];
	const struct why_node *node;
	struct groups groups;
	char text[BRIEF_BYTES];
	int err;

	put_question(page, window);
	if (!causes->count) {
		out_printf(page->out, "Cause: unknown; thread %d recorded %llu event%s, and none "
			   "of them says why.\n", (int)thread->tid,
			   (unsigned long long)thread->events, text_plural(thread->events));
		return 0;
	}
	if (crowd) {
		put_crowd(page, window, crowd);
		put_repeats(page, window);
		put_load(page, window);
		put_limit(page, window);
		return 0;
	}
	out_printf(page->out, "Cause: %.1f %% of that time (%s): ",
		   why_text_percent(page, causes->cause[0].ns),
		   brief_ns(text, (double)causes->cause[0].ns));
	put_cause(page, &causes->cause[0]);
	node = &page->division->node[causes->cause[0].node];
	put_often(page->out, node);
	if (node->is_end)
		put_holders(page, causes->cause[0].node);
	err = groups_find(&groups, page->why, window, page->division, causes);
	if (err)
		return err;
	if (groups.worker != HISTORY_NONE)
		out_printf(page->out, "; meanwhile all %u workers were busy", groups.busy.workers);
	put_rhythms(page, &groups, true);
	out_str(page->out, ".\nChain: ");
	put_thread(page, window->thread, root_pid(page));
	put_chain(page, causes->cause[0].node);
	out_str(page->out, ".\n");
	if (causes->cause[0].kind == WHY_UNKNOWN)
		put_allocator(page, causes->cause[0].node);
	put_peer(page, node);
	err = put_workers(page, window, &groups);
	put_rhythms(page, &groups, false);
	put_repeats(page, window);
	put_load(page, window);
	put_limit(page, window);
	/* The key of a running part without a call is 0. */
	if (causes->cause[0].kind != WHY_RUN || node->key)
		return err;
	if (!page->why->history.samples)
		out_str(page->out, "Functions: 'posixtrace record --sample' records which "
			"functions ran.\n");
	/* The C library makes such calls itself, so the preload library does not see them. */
	if (!page->why->history.has_states)
		out_str(page->out, "Unknown: a wait without an event, such as the write() of "
			"printf() to a full pipe, looks the same.\n");
	return err;
}

/* ------------------------------------------------------------------ parts */

/*
 * Prints one line for the rest of a part: the time that no child explains, and the time of the
 * children that put_part() has not printed. 'kind' is the kind of the part.
 */
static void put_rest(struct page *page, enum why_kind kind, uint64_t rest, unsigned depth)
{
	char time[BRIEF_BYTES];

	page->lines++;
	out_printf(page->out, "%10s %5.1f %%  %*s%s\n", brief_ns(time, (double)rest),
		   why_text_percent(page, rest), (int)(2 * depth), "",
		   kind == WHY_WHO     ? "nothing recorded"
		   : kind == WHY_READY ? "the CPU ran something else, or was idle"
				       : "others, or between them");
}

/* Returns the time since the first event, or a limit: a hostile log may have any times. */
static int64_t since_first(const struct page *page, int64_t time_ns)
{
	int64_t since_ns;

	return __builtin_sub_overflow(time_ns, page->why->history.first_ns, &since_ns) ?
	       (time_ns < 0 ? INT64_MIN : INT64_MAX) : since_ns;
}

/*
 * Prints a part with its evidence, and the parts below it. After LINES lines, no part below another
 * one is printed, which also bounds the recursion. Parts smaller than LEAST, and parts after the
 * first CHILDREN, are added up in one line at the end, unless LINES lines were printed before.
 */
static void put_part(struct page *page, uint32_t index, unsigned depth)
{
	const struct why_node *node = &page->division->node[index];
	char time[BRIEF_BYTES], text[BRIEF_BYTES], longest[WHEN_BYTES];
	uint32_t child[CHILDREN];
	uint64_t shown = 0;
	size_t children;

	page->lines++;
	out_printf(page->out, "%10s %5.1f %%  %*s", brief_ns(time, (double)node->ns),
		   why_text_percent(page, node->ns), (int)(2 * depth), "");
	put_label(page->out, node->label ? node->label : "?");
	/*
	 * The evidence follows: how often this part occurred, and where its longest occurrence is.
	 */
	if (node->kind == WHY_FAULT && !node->longest_ns) {
		out_printf(page->out, "  [%llux]", (unsigned long long)node->count);
	} else if (node->samples && (!node->child || node->is_whole)) {
		out_printf(page->out, "  [%llu sample%s]", (unsigned long long)node->samples,
			   text_plural(node->samples));
	} else if (node->kind != WHY_WHO) {
		out_printf(page->out, "  [%llux", (unsigned long long)(node->calls ? node->calls :
			   node->count));
		if (node->calls && node->count > node->calls)
			out_printf(page->out, " in %llu periods", (unsigned long long)node->count);
		if (node->count > 1 && node->longest_ns)
			out_printf(page->out, ", longest %s at %s%s",
				   brief_ns(text, (double)node->longest_ns),
				   node->longest_at_ns < page->why->history.first_ns ? "" : "+",
				   when_span_string(longest,
						    since_first(page, node->longest_at_ns)));
		if (node->bytes)
			out_printf(page->out, ", %llu byte%s", (unsigned long long)node->bytes,
				   text_plural(node->bytes));
		if (node->answers)
			out_printf(page->out, ", answer%s %s%s after the request%s",
				   text_plural(node->answers),
				   node->answers > 1 ? "on average " : "",
				   brief_ns(text, (double)node->answers_ns /
						  (double)node->answers),
				   text_plural(node->answers));
		out_char(page->out, ']');
	}
	out_char(page->out, '\n');
	children = why_children(page->division, index, child, CHILDREN);
	for (size_t i = 0; i < children && page->lines < LINES; i++) {
		const struct why_node *part = &page->division->node[child[i]];

		if (why_text_percent(page, part->ns) < LEAST)
			break;
		put_part(page, child[i], depth + 1);
		shown += part->ns;
	}
	if (node->child && shown < node->ns && why_text_percent(page, node->ns - shown) >= LEAST &&
	    page->lines < LINES)
		put_rest(page, node->kind, node->ns - shown, depth + 1);
}

/*
 * Prints the parts of the root. Parts that are too small are added up in one line, so that the
 * lines of the root add up to 100 %.
 */
static void put_parts(struct page *page)
{
	uint32_t child[CHILDREN];
	size_t children = why_children(page->division, 0, child, CHILDREN);
	const struct why_node *root = &page->division->node[0];
	uint64_t shown = 0;
	char time[BRIEF_BYTES];

	out_str(page->out, "\n      time   share  parts of the time, and what caused them  "
		"[evidence]\n");
	for (size_t i = 0; i < children; i++) {
		const struct why_node *part = &page->division->node[child[i]];

		if (why_text_percent(page, part->ns) < LEAST && i)
			break;
		put_part(page, child[i], 0);
		shown += part->ns;
	}
	if (shown < root->below_ns)
		out_printf(page->out, "%10s %5.1f %%  smaller parts\n",
			   brief_ns(time, (double)(root->below_ns - shown)),
			   why_text_percent(page, root->below_ns - shown));
	if (root->below_ns < root->ns)
		out_printf(page->out, "%10s %5.1f %%  unknown\n",
			   brief_ns(time, (double)division_own_ns(root)),
			   why_text_percent(page, division_own_ns(root)));
}

/*
 * Prints the causes, at which the chains end, if there are several. A single cause is not printed
 * again, because the second line of the page has it.
 */
static void put_causes(const struct page *page, const struct why_causes *causes)
{
	char time[BRIEF_BYTES];

	if (causes->count < 2)
		return;
	out_str(page->out, "\n      time   share  causes: the ends of all chains\n");
	for (size_t i = 0; i < causes->count && i < CAUSES; i++) {
		if (why_text_percent(page, causes->cause[i].ns) < LEAST)
			break;
		out_printf(page->out, "%10s %5.1f %%  ",
			   brief_ns(time, (double)causes->cause[i].ns),
			   why_text_percent(page, causes->cause[i].ns));
		put_cause(page, &causes->cause[i]);
		/* The second line of the page has the holders of the first cause. */
		if (i && page->division->node[causes->cause[i].node].is_end)
			put_holders(page, causes->cause[i].node);
		out_char(page->out, '\n');
	}
}

/* Returns whether other programs had the CPU for a tenth of the time of a part at least. */
static bool has_others(const struct page *page, uint32_t node)
{
	const struct division *division = page->division;

	for (uint32_t at = division->node[node].child; at; at = division->node[at].sibling)
		if (division->node[at].key == WHY_OTHERS_KEY)
			return division->node[at].ns >= division->node[node].ns / 10;
	return false;
}

/*
 * Prints the families of calls that the user has left out of the recording, although such calls may
 * wait. Returns false if there is none. A log without any family may be one of a program that did
 * not load the shim, and the types of another program show nothing about families.
 */
static bool put_left_out(const struct page *page)
{
	const struct logfile *log = &page->why->log;
	const unsigned left = families_left_out(log);
	bool is_recorded = false, has_any = false;

	for (size_t i = 0; i < log->types && !is_recorded; i++)
		is_recorded = !strcmp(log->list[i]->name, "posixtrace_record") ||
			      !strcmp(log->list[i]->name, "posixtrace_attached");
	for (unsigned rest = is_recorded ? left : 0; rest; rest &= rest - 1) {
		out_printf(page->out, "%s%s", has_any ? ", " : "\nBlocked without an event: the "
			   "recording has left out calls of these families: ",
			   families_word((unsigned)__builtin_ctz(rest)));
		has_any = true;
	}
	if (has_any)
		out_str(page->out, ".\n'--trace default' of record and attach records them, and "
			"with them the reason of such a wait.\n");
	return has_any;
}

/*
 * If the thread was mostly blocked and no event says why, prints which families of calls the log
 * lacks. If it lacks none, prints which waits have no event, and how to record more. If the thread
 * was mostly ready to run while other programs had the CPU, prints how to record their names. A log
 * with wakers was recorded in this way already.
 */
static void put_next_step(const struct page *page, const struct why_causes *causes)
{
	const struct history *history = &page->why->history;

	if (causes->count && causes->cause[0].kind == WHY_UNKNOWN && history->has_states &&
	    !put_left_out(page) && !history->wakers && !history->gaps)
		out_str(page->out, "\nBlocked without an event: the preload library does not see "
			"waits inside of the C library,\nsuch as those of printf() and malloc(). "
			"'record --sched' of a privileged user with\nPOSIXTRACE_KERNEL=tracefs "
			"also records the thread that ends such a wait.\n");
	if (causes->count && causes->cause[0].kind == WHY_READY && !history->wakers &&
	    has_others(page, causes->cause[0].node))
		out_str(page->out, "\nThe log does not name the other programs that had the CPU: "
			"'record --sched' of a privileged\nuser with POSIXTRACE_KERNEL=tracefs "
			"also records them.\n");
}

int why_text(struct out *out, const struct why *why, const struct window *window,
	     const struct division *division, const struct why_causes *causes)
{
	struct page page = {
		.out = out, .why = why, .division = division,
		.whole = (double)division->node[0].ns,
	};

	struct crowd crowd;
	bool is_crowd;
	int err = crowd_find(division, causes, &crowd, &is_crowd);

	if (!err)
		err = put_summary(&page, window, causes, is_crowd ? &crowd : NULL);
	if (err)
		return err;
	put_parts(&page);
	put_causes(&page, causes);
	put_next_step(&page, causes);
	return 0;
}

/*
 * If the recorded program ended, and a process that it started went on, prints that process: a
 * daemon, or a command in the background. Its last event must be later than the window by at least
 * a tenth of the window's length.
 */
static void put_later(struct out *out, const struct why *why)
{
	const struct history *history = &why->history;
	const struct window *window = why->window;
	const struct history_thread *last = NULL;
	char text[160], time[BRIEF_BYTES];

	if (why->is_part || why->windows != 1 || window->kind != WINDOW_THREAD ||
	    history->thread[window->thread].tid != why->log.info.pid)
		return;
	for (size_t i = 0; i < history->threads; i++) {
		const struct history_thread *thread = &history->thread[i];

		if (thread->tid == thread->pid && thread->parent > 0 &&
		    thread->last_ns > window->to_ns && (!last || thread->last_ns > last->last_ns))
			last = thread;
	}
	if (!last || (uint64_t)last->last_ns - (uint64_t)window->to_ns < window_ns(window) / 10)
		return;
	/* Without an event of its end, the program may also wait in a call that did not return. */
	if (lives_has(history, why->log.info.pid, window->from_ns, last->last_ns))
		return;
	division_thread_text(history, (uint32_t)(last - history->thread), last->pid, text,
			     sizeof(text));
	out_printf(out, "The program ended, but ");
	text_safe(out, text, strlen(text));
	out_printf(out, " went on for %s: --thread %d explains it.\n",
		   brief_ns(time, (double)((uint64_t)last->last_ns - (uint64_t)window->to_ns)),
		   (int)last->tid);
}

/*
 * Prints on which evidence the answer is based, and each reason why it may be incomplete. For each
 * reason it names the option of the recorder that would have helped.
 */
void why_text_end(struct out *out, const struct why *why, bool is_cut)
{
	const struct history *history = &why->history;
	/* A recording by why itself has all holders, if threads waited for locks. */
	const bool has_holders = why->is_live || history->holds.count || history->has_waiting;
	const char *advice = interpreter_advice(history);

	out_printf(out, "\nEvidence: %llu event%s, %llu of them calls with a duration, of %zu "
		   "thread%s; %llu event%s lost",
		   (unsigned long long)history->events, text_plural(history->events),
		   (unsigned long long)(history->calls + history->holds.count), history->threads,
		   text_plural(history->threads), (unsigned long long)why->lost,
		   text_plural(why->lost));
	/* record prints the same two numbers, with the reasons of the second one. */
	if (why->untraced)
		out_printf(out, ", %llu call%s not traced", (unsigned long long)why->untraced,
			   text_plural(why->untraced));
	out_str(out, ".\n");
	if (!history->has_states)
		out_str(out, "The log does not say when threads had a CPU: a call counts as a wait "
			"for its whole time,\nand the time between calls as running. 'posixtrace "
			"record --sched' records it.\n");
	if (history->has_states && history->clock_error_ns >= 0)
		out_printf(out, "The times at which threads had a CPU have an error of %lld ns.\n",
			   (long long)history->clock_error_ns);
	if (history->gaps)
		out_printf(out, "The kernel recorded no switch at %llu place%s (sched.gap); there "
			   "the states of threads are unknown.\n",
			   (unsigned long long)history->gaps, text_plural(history->gaps));
	if (history->samples)
		out_printf(out, "Functions: %llu sample%s of running threads.\n",
			   (unsigned long long)history->samples, text_plural(history->samples));
	if (advice)
		out_printf(out, "%s\n", advice);
	if (!has_holders && history->has_owners)
		out_str(out, "The log has only the first holder of a lock during a wait: "
			"'posixtrace record --trace\ndefault,lock-hold' records all of them.\n");
	else if (!has_holders)
		out_str(out, "The log does not show who held a lock: 'posixtrace record --trace "
			"default,lock-hold' records it.\n");
	put_later(out, why);
	if (why->overwritten)
		out_printf(out, "The log has the end of the recording: %llu older event%s "
			   "overwritten.\n", (unsigned long long)why->overwritten,
			   why->overwritten == 1 ? " was" : "s were");
	if (why->lost > why->overwritten || why->untraced)
		out_printf(out, "Parts may be wrong where %s.\n",
			   why->lost <= why->overwritten ? "calls were not traced" :
			   why->untraced ? "events were lost or calls not traced" :
					   "events were lost");
	if (lives_shared(history))
		out_printf(out, "Several processes had the number %d at the same time, as in PID "
			   "namespaces of their own: their\ndescriptors are not distinguished.\n",
			   (int)lives_shared(history));
	if (history->dropped)
		out_printf(out, "Only the first %u calls were examined: the time of %llu further "
			   "call%s counts as time\nwithout a call.\n", (unsigned)HISTORY_CALLS,
			   (unsigned long long)history->dropped, text_plural(history->dropped));
	if (is_cut)
		out_str(out, "Some chains are longer than shown: a limit was reached.\n");
}
