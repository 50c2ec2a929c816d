/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crowd.c - adds up the own times of the nodes of a division by process and by program. */
#include "why/crowd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define PROCESSES 4 /* the least number of processes that count as many */
#define PART      4 /* the greatest single cause has less than a fourth of their time */

/* A process, and the own times of its nodes. */
struct member {
	pid_t pid;
	uint32_t life, thread; /* thread: its main thread, or another one */
	uint64_t ns;
};

/* Orders threads of the same process next to each other. */
static int by_member(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->life != y->life)
		return x->life < y->life ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int by_program_ns(const void *a, const void *b)
{
	const struct crowd_program *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Adds a process to its program. Returns false if memory is lacking. */
static bool add_program(const struct history *history, const struct member *member,
			struct crowd_program **all, size_t *count)
{
	const uint32_t main = history_find_life(history, member->pid, member->pid, member->life);
	const char *name = history->thread[main == HISTORY_NONE ? member->thread : main].name;

	for (size_t i = 0; i < *count; i++)
		if (!strcmp((*all)[i].name, name)) {
			(*all)[i].ns += member->ns;
			(*all)[i].processes++;
			return true;
		}
	if (!vec_grow(all, *count, 1))
		return false;
	(*all)[*count] = (struct crowd_program){ .ns = member->ns, .processes = 1 };
	snprintf((*all)[*count].name, sizeof((*all)[*count].name), "%s", name);
	++*count;
	return true;
}

/* Counts the own time of a node by the state of its thread. */
static void count_state(struct crowd *crowd, const struct why_node *node, uint64_t own)
{
	if (node->kind == WHY_RUN)
		crowd->run_ns += own;
	else if (node->kind == WHY_READY)
		crowd->ready_ns += own;
	else if (node->kind == WHY_WHO)
		crowd->silent_ns += own;
}

/* Joins the times of each process, and adds them to the programs. Returns 0 or ENOMEM. */
static int add_members(const struct history *history, struct member *member, size_t members,
		       struct crowd *crowd)
{
	struct crowd_program *all = NULL;
	size_t count = 0;
	bool good = true;

	if (members)
		qsort(member, members, sizeof(*member), by_member);
	for (size_t i = 0, next; good && i < members; i = next) {
		struct member of = member[i];

		for (next = i + 1; next < members && member[next].pid == of.pid &&
				   member[next].life == of.life; next++)
			of.ns += member[next].ns;
		crowd->ns += of.ns;
		crowd->processes++;
		good = add_program(history, &of, &all, &count);
	}
	if (count)
		qsort(all, count, sizeof(*all), by_program_ns);
	crowd->programs = count;
	for (size_t i = 0; i < count && i < CROWD_PROGRAMS; i++)
		crowd->program[i] = all[i];
	free(all);
	return good ? 0 : ENOMEM;
}

int crowd_find(const struct division *division, const struct why_causes *causes,
	       struct crowd *crowd, bool *is_cause)
{
	const struct history *history = division->history;
	const uint32_t root = division->node[0].thread;
	const size_t threads = history->threads;
	uint64_t *own_of = calloc(threads + 1, sizeof(*own_of));
	struct member *member = calloc(threads + 1, sizeof(*member));
	size_t members = 0;
	int err = own_of && member ? 0 : ENOMEM;

	*crowd = (struct crowd){ .ns = 0 };
	*is_cause = false;
	for (uint32_t i = 1; !err && i < division->nodes; i++) {
		const struct why_node *node = &division->node[i];
		const struct history_thread *of = &history->thread[node->thread];
		const uint64_t own = why_own_ns(division, i);

		/* A node of the kind WHY_WHO that is no thread has the thread of its parent. */
		if (!own || (of->pid == history->thread[root].pid &&
			     of->life == history->thread[root].life))
			continue;
		own_of[node->thread] += own;
		count_state(crowd, node, own);
	}
	for (uint32_t i = 0; !err && i < threads; i++)
		if (own_of[i])
			member[members++] = (struct member){ history->thread[i].pid,
				history->thread[i].life, i, own_of[i] };
	if (!err)
		err = add_members(history, member, members, crowd);
	free(own_of);
	free(member);
	*is_cause = !err && crowd->processes >= PROCESSES &&
		    crowd->ns >= division->node[0].ns / 2 &&
		    (!causes->count || causes->cause[0].ns < crowd->ns / PART);
	return err;
}
