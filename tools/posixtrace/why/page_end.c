/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_end.c - the end of the page: how to record more, and the evidence of all answers.
 */
#include "why/page.h"

#include <string.h>

#include "base/brief.h"
#include "base/text.h"
#include "live/families.h"
#include "why/interpreter.h"
#include "why/lives.h"

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
void page_next_step(const struct page *page, const struct why_causes *causes)
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
