/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arrange.c - sorts the calls of a history, so that the calls of a window of time are found
 * quickly.
 *
 * The arrays of calls contain indexes of history.call and no copies of calls. The arrays of runs
 * and of ends of processes contain the entries. A binary search in an array relies on the order of
 * the array. If an order changes, the search must change, too. The order of by_end() belongs to
 * transfers_until() in ender.c. The order of by_cpu() belongs to first_run() in divide.c, the order
 * of pieces to history_piece_at() in history.c, and the order of by_parent() to ender_child() in
 * ender.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearly.h"
#include "base/vec.h"
#include "why/history.h"

/*
 * The comparison functions of qsort() use this pointer, because qsort() passes them no argument.
 * One history exists at a time.
 */
static const struct call *calls;

/*
 * Compares two times. They are not subtracted, because the times of a hostile log could make the
 * difference overflow.
 */
static int arrange_order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Orders calls by thread, then by begin. If two calls have the same begin, the longer one is first,
 * so that an outer call is before its inner calls. If they also have the same end, the call that
 * was recorded later is the outer call.
 */
static int by_begin(const void *a, const void *b)
{
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	const struct call *x = &calls[one], *y = &calls[other];

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return arrange_order(x->begin_ns, y->begin_ns);
	if (x->end_ns != y->end_ns)
		return arrange_order(y->end_ns, x->end_ns);
	return (other > one) - (other < one);
}

/*
 * Orders transfers, which are reads and the calls that can end a wait of another thread. Only their
 * end counts, because the partner of a read may be in any thread of any process.
 */
static int by_end(const void *a, const void *b)
{
	return arrange_order(calls[*(const uint32_t *)a].end_ns,
			     calls[*(const uint32_t *)b].end_ns);
}

/*
 * Orders runs by processor, then by begin. Two runs of one processor overlap only if the log is
 * wrong.
 */
static int by_cpu(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->cpu == y->cpu ? arrange_order(x->begin_ns, y->begin_ns)
				: (int)x->cpu - (int)y->cpu;
}

/*
 * Adds a piece, unless it is empty: divide_walk() relies on pieces that have a length, in the order
 * of time. Returns false if memory is lacking.
 */
static bool add_piece(struct history *history, int64_t begin_ns, int64_t end_ns, uint32_t call)
{
	if (end_ns <= begin_ns)
		return true;
	if (!vec_grow(&history->piece, history->pieces, 1))
		return false;
	history->piece[history->pieces++] = (struct piece){ begin_ns, end_ns, call };
	return true;
}

#define NESTED 64 /* the most levels of nested calls; a deeper call gets no pieces */

/*
 * Divides the calls of one thread into pieces, so that each moment belongs to the innermost call at
 * that moment. If a call ends later than the call around it, its end is moved to the end of the
 * outer call. Such ends may occur, because the clocks of two processors may differ.
 *
 * "sorted" has the calls in the order of by_begin(). open[] contains the calls that have begun and
 * not ended, each inside the call before it. "at" is the time up to which pieces exist. The last
 * round of the loop has no call and the greatest time, so that it ends all calls that are still
 * open. Returns false if memory is lacking.
 */
static bool divide_calls(struct history *history, const uint32_t *sorted, size_t count)
{
	struct {
		uint32_t call;
		int64_t end_ns;
	} open[NESTED];
	size_t depth = 0;
	int64_t at = INT64_MIN;
	bool good = true;

	for (size_t i = 0; good && i <= count; i++) {
		const struct call *call = i < count ? &calls[sorted[i]] : NULL;
		int64_t begin = call ? call->begin_ns : INT64_MAX;
		int64_t end = call ? call->end_ns : INT64_MAX;

		/*
		 * First this loop ends the calls that end before this call begins, from the
		 * innermost outwards. Each of them gets a piece for the time since its last inner
		 * call.
		 */
		while (good && depth && open[depth - 1].end_ns <= begin) {
			depth--;
			good = add_piece(history, at, open[depth].end_ns, open[depth].call);
			at = open[depth].end_ns;
		}
		if (!call || !good)
			break;
		/*
		 * The enclosing call gets a piece for the time up to the begin of this call. From
		 * the end of this call on, the time belongs to the enclosing call again.
		 */
		if (depth)
			good = add_piece(history, at, begin, open[depth - 1].call);
		at = begin;
		if (depth && end > open[depth - 1].end_ns)
			end = open[depth - 1].end_ns;
		/*
		 * The time of a call that is nested deeper than NESTED belongs to the innermost
		 * open call. The limit bounds the array open[].
		 */
		if (depth < NESTED) {
			open[depth].call = sorted[i];
			open[depth++].end_ns = end;
		}
	}
	return good;
}

/*
 * Stores the indexes of all calls, grouped by thread. The calls of a thread keep their order.
 * Returns false if memory is lacking.
 */
static bool group_calls(const struct history *history, uint32_t *sorted)
{
	uint32_t *first = calloc(history->threads + 1, sizeof(*first)), sum = 0;

	if (!first)
		return false;
	for (size_t i = 0; i < history->calls; i++)
		first[calls[i].thread]++;
	for (size_t i = 0; i < history->threads; i++) {
		const uint32_t count = first[i];

		first[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < history->calls; i++)
		sorted[first[calls[i].thread]++] = (uint32_t)i;
	free(first);
	return true;
}

/*
 * Makes the pieces of all threads. "sorted" has room for all calls. A thread without calls keeps an
 * empty range. Returns false if memory is lacking.
 */
static bool make_pieces(struct history *history, uint32_t *sorted)
{
	const size_t count = history->calls;

	/* A thread's calls are in the log in the order of their ends, so only nested calls move. */
	if (!group_calls(history, sorted))
		return false;
	nearly_sort(sorted, count, sizeof(*sorted), by_begin);
	for (size_t i = 0, next; i < count; i = next) {
		struct history_thread *thread = &history->thread[calls[sorted[i]].thread];

		for (next = i + 1; next < count && calls[sorted[next]].thread ==
						   calls[sorted[i]].thread;)
			next++;
		thread->piece = history->pieces;
		if (!divide_calls(history, sorted + i, next - i))
			return false;
		thread->pieces = history->pieces - thread->piece;
	}
	return true;
}

/*
 * Collects the times during which threads had a processor. A thread that had a processor at the end
 * of the log keeps it up to this end, if the log has all switches. Returns false if memory is
 * lacking.
 */
static bool make_runs(struct history *history)
{
	for (size_t i = 0; i < history->threads; i++) {
		const struct history_thread *thread = &history->thread[i];

		for (size_t n = 0; n < thread->stays; n++) {
			const bool is_last = n + 1 == thread->stays;

			if (thread->stay[n].state != STATE_RUNS ||
			    (is_last && (!history->knows_end ||
					 history_lacks_after(thread, thread->stay[n].from_ns) ||
					 history->last_ns < thread->stay[n].from_ns)))
				continue;
			if (!vec_grow(&history->run, history->runs, 1))
				return false;
			history->run[history->runs++] = (struct run){
				.begin_ns = thread->stay[n].from_ns,
				.end_ns = is_last ? history->last_ns : thread->stay[n + 1].from_ns,
				.thread = (uint32_t)i, .cpu = thread->stay[n].cpu,
			};
		}
	}
	if (history->runs)
		qsort(history->run, history->runs, sizeof(*history->run), by_cpu);
	return true;
}

/* Orders ends of processes by the parent, then by time. */
static int by_parent(const void *a, const void *b)
{
	const struct child_end *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return arrange_order(x->last_ns, y->last_ns);
}

/*
 * Collects the main threads of processes whose parent is known. Returns false if memory is lacking.
 */
static bool make_children(struct history *history)
{
	for (size_t i = 0; i < history->threads; i++) {
		const struct history_thread *thread = &history->thread[i];

		if (!thread->parent || thread->tid != thread->pid)
			continue;
		if (!vec_grow(&history->child, history->children, 1))
			return false;
		history->child[history->children++] = (struct child_end){
			.parent = thread->parent, .thread = (uint32_t)i, .last_ns = thread->last_ns,
		};
	}
	if (history->children)
		qsort(history->child, history->children, sizeof(*history->child), by_parent);
	return true;
}

int history_arrange(struct history *history)
{
	/*
	 * The arrays have one element more than needed: calloc() of no bytes may return NULL, which
	 * would look like an error.
	 */
	uint32_t *sorted = calloc(history->calls + 1, sizeof(*sorted));

	history->transfer = calloc(history->calls + 1, sizeof(*history->transfer));
	if (!sorted || !history->transfer) {
		free(sorted);
		return ENOMEM;
	}
	/* No call is added from here on, so that this pointer remains valid during the sorts. */
	calls = history->call;
	for (size_t i = 0; i < history->calls; i++) {
		const struct call *call = &history->call[i];
		enum cause cause = call->cause;

		if (cause == CAUSE_READ || cause == CAUSE_WRITE || cause == CAUSE_BARRIER ||
		    cause == CAUSE_POST || cause == CAUSE_KILL || cause == CAUSE_TIMER ||
		    (cause == CAUSE_SEM && call->has_id) ||
		    (cause == CAUSE_PEER && !strcmp(call->type->name, "net.connect")))
			history->transfer[history->transfers++] = (uint32_t)i;
	}
	holds_sort(&history->holds);
	nearly_sort(history->transfer, history->transfers, sizeof(*history->transfer), by_end);
	if (!make_pieces(history, sorted) || !make_runs(history) || !make_children(history))
		history->err = ENOMEM;
	free(sorted);
	return history->err;
}
