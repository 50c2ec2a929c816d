/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top_states.c - for how long each thread of the shown process ran, was ready to run without a
 * processor, or was blocked.
 *
 * The kernel counts the time on a processor and the time without one in
 * /proc/PID/task/TID/schedstat. The third number of the file says how often the thread got a
 * processor. The rest of the time between two looks is the time in which the thread was blocked.
 * Every user who can see the process can read this file, and the reading does not delay the
 * process.
 *
 * The kernel adds a wait for a processor when the wait ends, and the time on a processor at the
 * latest at its next clock tick. A wait that goes on is only known in one case: the thread was
 * ready or running at both looks and did not get a processor between them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/until.h"
#include "base/vec.h"
#include "top/top.h"

/* the greatest number of threads of one look */
#define THREADS 16384

/* Orders states by process and thread. */
static int order_states(const void *a, const void *b)
{
	const struct top_state *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

const struct top_state *top_states_find(const struct top_states *states, pid_t pid, pid_t tid)
{
	const struct top_state key = { .pid = pid, .tid = tid };

	if (!states->count)
		return NULL;
	return bsearch(&key, states->state, states->count, sizeof(key), order_states);
}

/*
 * Reads the counts and the state of a thread. Returns false if the thread has ended. Also returns
 * false if the kernel does not count: the file then has only zeros, although each thread has had a
 * processor at least once.
 */
static bool read_counts(struct top_state *state)
{
	unsigned long long ran, waited, turns;
	struct procfile_stat stat;
	char path[64], text[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)state->seen_pid,
		 (int)state->seen_tid);
	if (!procfile_read(path, text, sizeof(text)) ||
	    sscanf(text, "%llu %llu %llu", &ran, &waited, &turns) != 3 || !turns ||
	    !procfile_stat(state->seen_tid, &stat))
		return false;
	state->ran_ns = ran;
	state->waited_ns = waited;
	state->turns = turns;
	state->start = stat.start;
	state->letter = stat.state;
	state->looked_ns = until_now_ns();
	return true;
}

/* Returns what was added to a count, at most "most". A count that fell adds nothing. */
static uint64_t count_added(uint64_t now, uint64_t before, uint64_t most)
{
	uint64_t more = now > before ? now - before : 0;

	return more < most ? more : most;
}

/* Divides the time since the look before; see the top of this file. */
static void divide_time(struct top_state *now, const struct top_state *before)
{
	uint64_t all, ran, waited, rest;

	/* The kernel gives the number of a thread that has ended to a new thread. */
	if (!before || before->start != now->start || now->looked_ns <= before->looked_ns)
		return;
	all = (uint64_t)(now->looked_ns - before->looked_ns);
	ran = count_added(now->ran_ns, before->ran_ns, all);
	waited = count_added(now->waited_ns, before->waited_ns, all - ran);
	rest = all - ran - waited;
	if (now->letter == 'R' && before->letter == 'R' && now->turns == before->turns) {
		waited += rest;
		rest = 0;
	}
	now->is_known = true;
	now->running = (double)ran / (double)all;
	now->ready = (double)waited / (double)all;
	now->blocked = (double)rest / (double)all;
}

/*
 * Adds the threads of a process. "inner" is the number that the process has in its events; it
 * differs from the number "pid" if the process is in another namespace of process IDs.
 */
static void add_process(struct top_states *next, const struct top_states *before, pid_t pid,
			pid_t inner)
{
	DIR *threads = procfile_threads(pid);
	pid_t tid;

	while (next->count < THREADS && (tid = procfile_next_thread(threads))) {
		struct top_state state = { .pid = inner, .tid = tid, .seen_pid = pid,
					   .seen_tid = tid };

		if (inner != pid)
			state.tid = procfile_inner_id(pid, state.seen_tid);
		if (!read_counts(&state) || !vec_grow(&next->state, next->count, 1))
			continue;
		divide_time(&state, top_states_find(before, state.pid, state.tid));
		next->state[next->count++] = state;
	}
	procfile_end_threads(threads);
}

/* Returns the child with this number, or NULL if no look has examined it. */
static struct top_child *find_child(const struct top_states *states, pid_t pid)
{
	for (size_t i = 0; i < states->children; i++)
		if (states->child[i].pid == pid)
			return &states->child[i];
	return NULL;
}

bool top_states_has_child(const struct top_states *states, pid_t pid)
{
	const struct top_child *child = find_child(states, pid);

	return child && child->start != 0;
}

/* Returns the number of events of all threads whose process has this number. */
static uint64_t events_of(const struct top *top, pid_t pid)
{
	uint64_t events = 0;

	for (size_t i = 0; i < top->threads; i++)
		if (top->thread[i].pid == pid)
			events += top->thread[i].events;
	return events;
}

/*
 * The child has ended, and the process that has its number began at "start"; 0: there is none.
 * Returns whether this process has recorded events. "top" has counts from a time between the look
 * before and this look. At the first look that finds this process, the process may be younger than
 * the counts. At each later look it is older than the counts. So if these later counts grow, this
 * process has recorded the difference.
 */
static bool is_later_child(struct top_child *child, const struct top *top,
			   unsigned long long start)
{
	bool has_recorded;
	uint64_t events;

	if (!start || start != child->later) {
		child->later = start;
		child->has_counted = false;
		return false;
	}
	events = events_of(top, child->pid);
	has_recorded = child->has_counted && events > child->events;
	child->events = events;
	child->has_counted = true;
	return has_recorded;
}

/*
 * Returns whether the number belongs to a child that recorded events. The first look at a child
 * notes when the process began. Without memory for that, the child counts as ended. Each look
 * examines a child once, although the function is called for each of its threads: is_later_child()
 * compares looks.
 */
static bool is_child(struct top_states *states, const struct top *top, pid_t pid)
{
	struct top_child *child = find_child(states, pid);
	struct procfile_stat stat;
	unsigned long long start;

	if (child && child->look == states->looks)
		return child->start != 0;
	start = procfile_stat(pid, &stat) ? stat.start : 0;
	if (!child) {
		if (!vec_grow(&states->child, states->children, 1))
			return false;
		child = &states->child[states->children++];
		*child = (struct top_child){ .pid = pid, .start = start };
	} else if (child->start != start || !start) {
		child->start = is_later_child(child, top, start) ? start : 0;
	}
	child->look = states->looks;
	return child->start != 0;
}

void top_states_look(struct top_states *states, pid_t pid, const struct top *top)
{
	struct top_states next = { .state = NULL };
	const bool is_near = procfile_same_ids(pid, getpid());

	states->looks++;
	add_process(&next, states, pid, is_near ? pid : procfile_inner_id(pid, pid));
	/*
	 * The numbers of the children come from their events. If the process is in another
	 * namespace, these numbers mean other processes here, so the children are omitted. In
	 * next.state the threads of a process follow each other. So the search from the end soon
	 * finds a process that was added already.
	 */
	for (size_t i = 0; is_near && i < top->threads; i++) {
		const pid_t child = top->thread[i].pid;
		bool is_there = child == pid || child == getpid() || child <= 0;

		for (size_t j = next.count; j > 0 && !is_there; j--)
			is_there = next.state[j - 1].pid == child;
		if (!is_there && is_child(states, top, child))
			add_process(&next, states, child, child);
	}
	if (next.count)
		qsort(next.state, next.count, sizeof(*next.state), order_states);
	free(states->state);
	states->state = next.state;
	states->count = next.count;
}

void top_states_fini(struct top_states *states)
{
	free(states->state);
	free(states->child);
	memset(states, 0, sizeof(*states));
}
