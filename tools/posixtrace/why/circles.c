/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * circles.c - finds deadlocks among the threads that did not return from their calls.
 *
 * An ender of a waiting thread is a thread that could end the wait. The search finds the set of the
 * threads in deadlocks by exclusion. At first the set has all stuck threads. The search removes
 * each thread that has an ender outside of the set, or no known ender, until all enders of the
 * remaining threads are in the set. A first search uses all facts and finds the possible deadlocks.
 * A second search uses the certain facts only and finds the certain deadlocks.
 *
 * All numbers of the log are hostile: an owner may be any thread, and a circle may have any length.
 */
#include "why/circles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "why/lives.h"
#include "why/stuck.h"

#define ROUNDS 1000 /* a limit for hostile logs: after so many rounds, no deadlock is found */

/* A process of the log. */
struct group {
	pid_t pid;
	uint32_t life;
	uint32_t known;     /* threads that have events and did not end */
	uint32_t members;   /* threads in the set */
	uint32_t first;     /* one of these members */
	/*
	 * A member waits for no particular thread: any thread of the process could end its wait.
	 * close_stalls() makes one circle of all members: 'last' is its last member so far, 'count'
	 * their number.
	 */
	bool is_stalled;
	uint32_t last, count;
	bool has_held;      /* a member waits for what other threads hold: a lock or a barrier */
	uint32_t idle;      /* threads that wait and hold nothing, as far as the log shows */
	int64_t from_ns;    /* since this time all members have been blocked */
};

struct search {
	struct history *history;
	struct group *group;
	size_t groups;
	uint32_t *by_tid;   /* the indexes of all threads, sorted by their numbers */
	bool is_strict;
};

/* qsort() passes no argument to the comparison functions. */
static const struct history *compared;

static int by_tid(const void *a, const void *b)
{
	const struct history_thread *x = &compared->thread[*(const uint32_t *)a];
	const struct history_thread *y = &compared->thread[*(const uint32_t *)b];

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

static int by_process(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->life > y->life) - (x->life < y->life);
}

static bool is_stuck(const struct history *history, size_t thread)
{
	return thread < history->stucks && history->stuck[thread].open;
}

/* Returns the call in which a thread is stuck. */
static const struct call *call_of(const struct history *history, size_t thread)
{
	return &history->call[history->stuck[thread].open - 1];
}

static struct group *group_of(const struct search *search, pid_t pid, uint32_t life)
{
	const struct group wanted = { .pid = pid, .life = life };

	return bsearch(&wanted, search->group, search->groups, sizeof(wanted), by_process);
}

/* ------------------------------------------------------------------ enders */

/* Returns the last thread with a number that began at or before a time, or HISTORY_NONE. */
static uint32_t find_tid(const struct search *search, pid_t tid, int64_t time_ns)
{
	const struct history *history = search->history;
	size_t low = 0, high = history->threads;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct history_thread *at = &history->thread[search->by_tid[middle]];

		if (at->tid < tid || (at->tid == tid && at->first_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && history->thread[search->by_tid[low - 1]].tid == tid ?
	       search->by_tid[low - 1] : HISTORY_NONE;
}

/* Returns the thread that holds the lock, or the awaited thread, or HISTORY_NONE. */
static uint32_t find_owner(const struct search *search, const struct call *call)
{
	const struct history *history = search->history;
	const struct history_thread *thread = &history->thread[call->thread];
	const pid_t tid = call->cause == CAUSE_LOCK ? call->owner : call->awaited;
	uint32_t found;

	if (tid <= 0)
		return HISTORY_NONE;
	found = history_find_at(history, thread->pid, tid, thread->last_ns);
	/* A lock in shared memory may be held by a thread of another process. */
	if (found == HISTORY_NONE && call->cause == CAUSE_LOCK)
		found = find_tid(search, tid, thread->last_ns);
	return found;
}

/*
 * Reads the next process of a text such as "12:3 15:1", with the number of its threads; 0: the text
 * does not have it. Returns false at the end of the text.
 */
static bool next_process(const char **text, pid_t *pid, uint32_t *threads)
{
	char *end;
	const long number = strtol(*text, &end, 10);

	if (number <= 0 || number > INT32_MAX || end == *text)
		return false;
	*pid = (pid_t)number;
	*threads = *end == ':' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
	*text = end;
	return true;
}

void circles_processes(const char *others, char *text, size_t size)
{
	size_t used = 0;
	uint32_t threads;
	pid_t pid;

	*text = '\0';
	while (next_process(&others, &pid, &threads)) {
		const size_t bytes = (size_t)snprintf(text + used, size - used, "%s%d",
						      used ? " " : "", (int)pid);

		/* A number without its last digits would be that of another process. */
		if (bytes >= size - used) {
			text[used] = '\0';
			return;
		}
		used += bytes;
	}
}

/* Returns the processes whose threads are the enders of a call, as a text; empty: unknown. */
static const char *enders_of(const struct history *history, const struct call *call)
{
	const struct stuck *stuck = &history->stuck[call->thread];

	return (call->cause == CAUSE_READ || call->cause == CAUSE_CHILD) && stuck->others ?
	       history->text[stuck->others - 1] : "";
}

/* Returns the process with this pid, which could end the wait, or NULL. */
static struct group *find_group(const struct search *search, const struct call *call, pid_t pid)
{
	const struct history *history = search->history;
	const uint32_t main = history_find_at(history, pid, pid,
					      history->thread[call->thread].last_ns);

	return main == HISTORY_NONE ? NULL : group_of(search, pid, history->thread[main].life);
}

/* Returns whether any thread of the process could end the call, not only a particular thread. */
static bool has_any_ender(const struct call *call)
{
	return call->cause == CAUSE_COND || call->cause == CAUSE_SEM ||
	       call->cause == CAUSE_BARRIER;
}

/*
 * Returns whether the call returns only after another thread has released a lock or arrived at a
 * barrier.
 */
static bool is_for_held(const struct call *call)
{
	return call->cause == CAUSE_LOCK || call->cause == CAUSE_BARRIER;
}

/*
 * Returns whether all threads of the process of 'call' are blocked in calls that did not return,
 * and at least one of them waits for what another one holds. Without such a thread the process may
 * be idle; see mark_idle(). The caller has checked that any thread of the process could end 'call'.
 * This is no proof of a deadlock, because a signal handler could end a wait. If the recorder had a
 * doubt, another process or a time limit could also end the wait, so the result is false.
 */
static bool all_stay(const struct search *search, const struct call *call)
{
	const struct history_thread *thread = &search->history->thread[call->thread];
	const struct group *group = group_of(search, thread->pid, thread->life);

	return !search->is_strict && !search->history->stuck[call->thread].has_doubt && group &&
	       group->has_held && group->known >= 2 && group->members >= group->known;
}

/*
 * Returns whether all enders of a call are in the set. All threads of a process are in the set if
 * the set has as many of them as the recorder saw.
 */
static bool enders_stay(const struct search *search, const struct call *call)
{
	const struct history *history = search->history;
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *text = enders_of(history, call);
	const struct stuck *owner;
	uint32_t threads;
	bool found = false;
	pid_t pid;

	if (search->is_strict && stuck->has_doubt)
		return false;
	if (has_any_ender(call))
		return all_stay(search, call);
	while (next_process(&text, &pid, &threads)) {
		const struct group *group = find_group(search, call, pid);

		found = true;
		if (!group || group->members != (threads ? threads : group->known) ||
		    (search->is_strict && (!threads || group->from_ns > stuck->fact_ns)))
			return false;
	}
	if (found || (call->cause != CAUSE_LOCK && call->cause != CAUSE_JOIN))
		return found;
	if (!stuck->ender || !is_stuck(history, stuck->ender - 1))
		return false;
	owner = &history->stuck[stuck->ender - 1];
	if (owner->state == CIRCLES_NONE)
		return false;
	if (call->cause == CAUSE_JOIN || owner == stuck)
		return true;
	/* The owner's own list of the locks that it held is the best evidence, for and against. */
	if (owner->is_waiting && stuck_holds(owner, call->key))
		return true;
	if (owner->is_waiting && owner->helds < STUCK_HELD && owner->waits_ns > stuck->fact_ns)
		return false;
	return !search->is_strict || owner->from_ns <= stuck->fact_ns;
}

/* Makes a set of the stuck threads whose state is at least 'least', and counts them by process. */
static void begin_set(struct search *search, enum circles_state least)
{
	struct history *history = search->history;

	for (size_t i = 0; i < search->groups; i++)
		search->group[i].members = 0;
	for (size_t i = 0; i < history->stucks; i++) {
		struct stuck *stuck = &history->stuck[i];
		struct group *group;

		group = group_of(search, history->thread[i].pid, history->thread[i].life);
		if (!group || !is_stuck(history, i) || stuck->state < least)
			continue;
		if (stuck->state == CIRCLES_NONE)
			stuck->state = CIRCLES_POSSIBLE;
		if (!group->members++)
			group->first = (uint32_t)i;
		group->has_held |= is_for_held(call_of(history, i));
		if (stuck->from_ns > group->from_ns)
			group->from_ns = stuck->from_ns;
	}
}

/*
 * Removes each thread with an ender outside of the set. The threads that remain are in deadlocks.
 */
static void shrink_set(struct search *search)
{
	struct history *history = search->history;
	bool is_changed = true;

	for (unsigned round = 0; is_changed; round++) {
		is_changed = false;
		for (size_t i = 0; i < history->stucks; i++) {
			struct stuck *stuck = &history->stuck[i];
			struct group *group;

			if (stuck->state == CIRCLES_NONE ||
			    (round < ROUNDS && enders_stay(search, call_of(history, i))))
				continue;
			stuck->state = CIRCLES_NONE;
			group = group_of(search, history->thread[i].pid, history->thread[i].life);
			if (group)
				group->members--;
			is_changed = true;
		}
	}
}

/*
 * Chooses the thread that the output names as the awaited thread of a call. If the call waits for
 * data of a pipe or for the end of a process, the function chooses the main thread of the other
 * process. If several other processes could write into the pipe, no thread is named.
 */
static uint32_t name_ender(const struct search *search, const struct call *call)
{
	const struct history *history = search->history;
	const struct history_thread *thread = &history->thread[call->thread];
	const char *text = enders_of(history, call);
	pid_t pid, found = call->cause == CAUSE_CHILD ? call->awaited : 0;
	uint32_t threads;

	if (call->cause == CAUSE_LOCK || call->cause == CAUSE_JOIN)
		return find_owner(search, call);
	while (call->cause == CAUSE_READ && next_process(&text, &pid, &threads)) {
		if (pid == thread->pid)
			continue;
		if (found)
			return HISTORY_NONE;
		found = pid;
	}
	return found > 0 ? history_find_at(history, found, found, thread->last_ns) : HISTORY_NONE;
}

/*
 * Chooses an ender of a thread in a deadlock. Any ender will do, because a walk from ender to ender
 * always finds a circle. The thread of name_ender() is preferred, and next a thread of another
 * process.
 */
static uint32_t circle_ender(const struct search *search, size_t thread)
{
	const struct history *history = search->history;
	const struct call *call = call_of(history, thread);
	const uint32_t named = name_ender(search, call);
	const char *text = enders_of(history, call);
	const struct group *group = NULL;
	uint32_t threads;
	pid_t pid;

	if (named != HISTORY_NONE && is_stuck(history, named) && history->stuck[named].state)
		return named;
	while (next_process(&text, &pid, &threads))
		if (!group || pid != history->thread[thread].pid)
			group = find_group(search, call, pid);
	return group && group->members ? group->first : HISTORY_NONE;
}

/* Adds a thread to the circle of all threads of its process. */
static void close_circle(struct history *history, struct group *group, uint32_t thread)
{
	if (group->count == CIRCLES_MOST)
		return;
	if (!group->count++)
		group->first = thread;
	else
		history->stuck[group->last].next = thread + 1;
	history->stuck[thread].next = group->first + 1;
	group->last = thread;
}

/*
 * Makes a circle of the threads of a process that all wait, if any thread of the process could end
 * the wait of one of them. In this circle each member waits for the next one, and the last member
 * for the first.
 */
static void close_stalls(struct search *search)
{
	struct history *history = search->history;

	for (size_t i = 0; i < history->stucks; i++) {
		struct group *group = group_of(search, history->thread[i].pid,
					       history->thread[i].life);

		if (group && history->stuck[i].state && has_any_ender(call_of(history, i)))
			group->is_stalled = true;
	}
	for (size_t i = 0; i < history->stucks; i++) {
		struct group *group = group_of(search, history->thread[i].pid,
					       history->thread[i].life);

		if (group && group->is_stalled && history->stuck[i].state)
			close_circle(history, group, (uint32_t)i);
	}
}

/*
 * Returns whether a thread waits, is in no deadlock, and waits for nothing that another thread is
 * known to hold.
 */
static bool is_idle(const struct history *history, size_t thread)
{
	const struct stuck *stuck = &history->stuck[thread];
	const struct call *call;

	if (!is_stuck(history, thread) || stuck->state || stuck->has_doubt)
		return false;
	call = call_of(history, thread);
	return (has_any_ender(call) && !is_for_held(call)) ||
	       (call->cause == CAUSE_JOIN && stuck->ender &&
		lives_same(history, (uint32_t)thread, stuck->ender - 1));
}

/*
 * Marks the threads of processes in which all threads are idle. All threads of such a process form
 * one circle.
 */
static void mark_idle(struct search *search)
{
	struct history *history = search->history;

	for (size_t i = 0; i < history->stucks; i++) {
		struct group *group = group_of(search, history->thread[i].pid,
					       history->thread[i].life);

		if (group && is_idle(history, i))
			group->idle++;
	}
	for (size_t i = 0; i < history->stucks; i++) {
		struct group *group = group_of(search, history->thread[i].pid,
					       history->thread[i].life);

		if (!group || group->known < 2 || group->idle < group->known ||
		    !is_idle(history, i))
			continue;
		close_circle(history, group, (uint32_t)i);
		history->stuck[i].state = CIRCLES_IDLE;
	}
}

/* ------------------------------------------------------------------ all of them */

/* Collects the processes of the threads, and sorts the threads by number. */
static bool begin_search(struct search *search)
{
	struct history *history = search->history;
	size_t used = 0;

	search->group = calloc(history->threads + 1, sizeof(*search->group));
	search->by_tid = calloc(history->threads + 1, sizeof(*search->by_tid));
	if (!search->group || !search->by_tid)
		return false;
	for (size_t i = 0; i < history->threads; i++) {
		search->by_tid[i] = (uint32_t)i;
		search->group[i] = (struct group){
			.pid = history->thread[i].pid, .life = history->thread[i].life,
			.known = !history_ended_itself(&history->thread[i]), .from_ns = INT64_MIN,
		};
	}
	compared = history;
	qsort(search->by_tid, history->threads, sizeof(*search->by_tid), by_tid);
	qsort(search->group, history->threads, sizeof(*search->group), by_process);
	for (size_t i = 0; i < history->threads; i++) {
		if (used && !by_process(&search->group[used - 1], &search->group[i]))
			search->group[used - 1].known += search->group[i].known;
		else
			search->group[used++] = search->group[i];
	}
	search->groups = used;
	return true;
}

void circles_find(struct history *history)
{
	struct search search = { .history = history };

	if (!history->stucks)
		return;
	if (!begin_search(&search)) {
		history->err = ENOMEM;
	} else {
		for (size_t i = 0; i < history->stucks; i++)
			if (is_stuck(history, i))
				history->stuck[i].ender =
					name_ender(&search, call_of(history, i)) + 1;
		begin_set(&search, CIRCLES_NONE);
		shrink_set(&search);
		for (size_t i = 0; i < history->stucks; i++)
			if (history->stuck[i].state)
				history->stuck[i].next = circle_ender(&search, i) + 1;
		close_stalls(&search);
		/* The certain deadlocks are among the possible ones. */
		for (size_t i = 0; i < history->stucks; i++)
			history->stuck[i].is_possible = history->stuck[i].state != CIRCLES_NONE;
		search.is_strict = true;
		begin_set(&search, CIRCLES_POSSIBLE);
		shrink_set(&search);
		for (size_t i = 0; i < history->stucks; i++) {
			struct stuck *stuck = &history->stuck[i];

			stuck->state = stuck->state ? CIRCLES_CERTAIN :
				       stuck->is_possible ? CIRCLES_POSSIBLE : CIRCLES_NONE;
			if (stuck->state == CIRCLES_CERTAIN)
				stuck->next = circle_ender(&search, i) + 1;
		}
		mark_idle(&search);
	}
	free(search.group);
	free(search.by_tid);
}

uint32_t circles_owner(const struct history *history, const struct call *call)
{
	/* HISTORY_NONE + 1 is 0. */
	return history->stuck[call->thread].ender - 1;
}

enum circles_state circles_state(const struct history *history, uint32_t thread)
{
	return thread < history->stucks ? history->stuck[thread].state : CIRCLES_NONE;
}

const char *circles_doubt(const struct history *history, const uint32_t *member, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct stuck *stuck = &history->stuck[member[i]];

		if (stuck->has_doubt)
			return stuck->doubt ? history->text[stuck->doubt - 1] :
			       "the recorder was an earlier version, which did not prove it";
	}
	for (unsigned i = 0; i < count; i++)
		if (has_any_ender(call_of(history, member[i])))
			return "a signal handler, or a thread that made no call, could end a wait";
	return "the log does not show all of these waits at the same time";
}

unsigned circles_members(const struct history *history, uint32_t first,
			 uint32_t member[CIRCLES_MOST])
{
	uint32_t at = first;
	unsigned count = 0;

	while (count < CIRCLES_MOST && circles_state(history, at)) {
		member[count++] = at;
		at = history->stuck[at].next - 1;
		if (at == first)
			return count;
		if (at == HISTORY_NONE || at < first)
			return 0;
	}
	return 0;
}
