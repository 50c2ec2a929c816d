/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_cause.c - a cause of an answer, and the chain that leads to it.
 */
#include "why/page.h"

#include <string.h>

#include "base/brief.h"
#include "base/text.h"
#include "why/gil.h"

#define OFTEN      10 /* a cause that occurred at least this number of times is frequent */
#define OFTEN_VAIN 2  /* the same for waits without an answer: each is an attempt */

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
	const pid_t root = page_root_pid(page);

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
	if (thread->pid == page_root_pid(page) || thread->tid != thread->pid || thread->outer) {
		page_thread(page, node->thread, page_root_pid(page));
	} else {
		out_printf(page->out, "process %d", (int)thread->pid);
		if (*thread->name) {
			out_str(page->out, " (");
			page_label(page->out, thread->name);
			out_char(page->out, ')');
		}
	}
	if (thread->pid != page_root_pid(page))
		put_relation(page, thread->pid, node->longest_at_ns);
}

#define TAKERS 4 /* the most threads or programs that put_takers() writes */

/*
 * How a thread or program that had the CPU is written. Neighbours of one form share words. Those of
 * the last form do not, because their labels may end with a clause or a list.
 */
enum taker_form { TAKER_THREAD, TAKER_PROGRAM, TAKER_MIXED };

static enum taker_form taker_form(const struct why_node *node)
{
	return node->key == WHY_MIXED_KEY || node->key == WHY_OTHERS_KEY ? TAKER_MIXED :
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
 * labels begin with WHY_CPU_RAN, and those of programs end with WHY_UNRECORDED. Neighbours of one
 * form share these words.
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
		bool is_last; /* of the neighbours of its form */

		/* A label is missing only after an error of memory. */
		if (!label)
			return;
		form = taker_form(taker);
		if (form != TAKER_PROGRAM)
			end_programs(page, programs);
		programs = form == TAKER_PROGRAM ? programs + 1 : 0;
		is_last = i + 1 == count ||
			  taker_form(&page->division->node[child[i + 1]]) != form;
		out_str(page->out, form != before || form == TAKER_MIXED ? "; " WHY_CPU_RAN :
			is_last ? " and " : ", ");
		before = form;
		label += strlen(WHY_CPU_RAN);
		text_safe(page->out, label,
			  strlen(label) - (programs ? strlen(WHY_UNRECORDED) : 0));
	}
	end_programs(page, programs);
}

#define HOLDERS 3 /* the most threads that page_holders() writes */

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
void page_holders(const struct page *page, uint32_t node)
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
		page_thread(page, holder[i]->thread, page_root_pid(page));
		out_printf(page->out, " for %s", brief_ns(text, (double)holder[i]->ns));
		if (is_gil && did) {
			out_str(page->out, " (most of it ");
			page_label(page->out, did);
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
 * Returns the greatest of the nodes with is_outside below a node. Returns 0 if there is none, or if
 * all such nodes with the same label together have less than half of the time of the node.
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
void page_cause(const struct page *page, const struct why_cause *cause)
{
	const uint32_t outside = outside_of(page->division, cause->node);

	page_label(page->out, cause->label);
	if (cause->kind == WHY_RUN || cause->kind == WHY_READY || cause->kind == WHY_UNKNOWN) {
		out_str(page->out, ", in ");
		page_thread(page, cause->thread, page_root_pid(page));
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
	/* The interrupt that ended a known wait is no further reason. */
	if (outside && (!page->division->node[outside].is_interrupt ||
			cause->kind == WHY_UNKNOWN)) {
		out_str(page->out, ", ");
		page_label(page->out, page->division->node[outside].label);
	}
}

/*
 * Writes how often a part of the thread's own time occurred, if it occurred often: many short waits
 * need another remedy than a long one.
 */
void page_often(struct out *out, const struct why_node *node)
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
void page_chain(const struct page *page, uint32_t node)
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
		page_label(page->out, page->division->node[chain[count]].label);
		/* The line "Cause" has the evidence of the last one. */
		if (count) {
			put_readers(page->out, &page->division->node[chain[count]]);
			page_often(page->out, &page->division->node[chain[count]]);
		}
	}
	if (outside) {
		out_str(page->out, " -> ");
		page_label(page->out, page->division->node[outside].label);
	}
}
