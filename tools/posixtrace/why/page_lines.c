/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_lines.c - the lines that follow the chain of an answer. Each of them adds a fact, such as
 * how busy a pool was.
 */
#include "why/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/brief.h"
#include "base/real.h"
#include "base/text.h"
#include "symbols/symbols.h"
#include "why/connections.h"
#include "why/ender.h"
#include "why/lives.h"
#include "why/repeats.h"

/*
 * Writes how busy the thread of a turn was, and whether other threads share its work. Only such
 * other threads can handle a request while the thread is busy.
 */
void page_load(const struct page *page, const struct window *window)
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
void page_limit(const struct page *page, const struct window *window)
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
void page_repeats(const struct page *page, const struct window *window)
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
	page_label(page->out, text);
	symbols_place(why->log.trid, pid, repeat.call->address, repeat.call->end_ns, false, place,
		      sizeof(place));
	out_str(page->out, *place ? ", in " : "");
	page_label(page->out, place);
	out_printf(page->out, ", on average every %s", brief_ns(text, ((double)repeat.to_ns -
		   (double)repeat.from_ns) / (double)repeat.count));
	if (repeat.call->error == EMFILE)
		why_text_leak(page->out, why, pid, repeat.call->end_ns);
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
void page_allocator(const struct page *page, uint32_t node)
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
void page_rhythms(const struct page *page, const struct groups *groups, bool is_cause)
{
	for (size_t i = 0; i < groups->rhythms; i++) {
		if (groups->rhythm[i].is_cause != is_cause)
			continue;
		out_str(page->out, is_cause ? "; " : "Timer: ");
		put_rhythm(page, &groups->rhythm[i].rhythm);
		out_str(page->out, is_cause ? "" : ".\n");
	}
}

#define WORKERS 4 /* the most workers whose work page_workers() writes */

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
		page_thread(page, worker, page_root_pid(page));
		out_printf(page->out, " %.0f %% ", division.node[0].ns ? 100 *
			   (double)causes.cause[0].ns / (double)division.node[0].ns : 0);
		page_label(page->out, causes.cause[0].label);
	}
	free(causes.cause);
	division_fini(&division);
	return err;
}

/* Writes how busy the workers of a pool were, and what they did. Returns 0 or ENOMEM. */
int page_workers(const struct page *page, const struct window *window,
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
	page_label(page->out, place);
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
void page_peer(const struct page *page, const struct why_node *node)
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
