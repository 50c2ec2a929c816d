/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crowd.c - adds up the own times of the nodes of a division by process and by program. */
#include "why/crowd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES 4 /* the least number of processes that count as many */
#define PART      4 /* the greatest single cause has less than a fourth of their time */

/* A process, and the own times of its nodes. */
struct member {
	pid_t pid;
	uint32_t life, thread; /* thread: its main thread, or another one */
	uint64_t ns;
	const char *name;      /* of its program */
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

static int by_name(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool is_before(const struct crowd_program *one, const struct crowd_program *other)
{
	return one->ns != other->ns ? one->ns > other->ns : strcmp(one->name, other->name) < 0;
}

/* Counts a program, and keeps it if it is one of the greatest so far. */
static void keep_program(struct crowd *crowd, const struct crowd_program *program)
{
	size_t at = crowd->programs < CROWD_PROGRAMS ? crowd->programs : CROWD_PROGRAMS;

	crowd->programs++;
	for (; at && is_before(program, &crowd->program[at - 1]); at--)
		if (at < CROWD_PROGRAMS)
			crowd->program[at] = crowd->program[at - 1];
	if (at < CROWD_PROGRAMS)
		crowd->program[at] = *program;
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

/* Joins the members of each process, and returns the number of processes. */
static size_t join_processes(const struct history *history, struct member *member, size_t members)
{
	size_t count = 0;

	qsort(member, members, sizeof(*member), by_member);
	for (size_t i = 0, next; i < members; i = next) {
		struct member of = member[i];
		uint32_t main;

		for (next = i + 1; next < members && member[next].pid == of.pid &&
				   member[next].life == of.life; next++)
			of.ns += member[next].ns;
		main = history_find_life(history, of.pid, of.pid, of.life);
		of.name = history->thread[main == HISTORY_NONE ? of.thread : main].name;
		member[count++] = of;
	}
	return count;
}

/* Adds the processes to the crowd, and joins them by program. */
static void add_processes(struct crowd *crowd, struct member *process, size_t count)
{
	qsort(process, count, sizeof(*process), by_name);
	for (size_t i = 0; i < count;) {
		struct crowd_program program = { .ns = 0 };

		snprintf(program.name, sizeof(program.name), "%s", process[i].name);
		for (const char *name = process[i].name;
		     i < count && !strcmp(process[i].name, name); i++) {
			program.ns += process[i].ns;
			program.processes++;
		}
		crowd->ns += program.ns;
		keep_program(crowd, &program);
	}
	crowd->processes = count;
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
				history->thread[i].life, i, own_of[i], NULL };
	if (members)
		add_processes(crowd, member, join_processes(history, member, members));
	free(own_of);
	free(member);
	*is_cause = !err && crowd->processes >= PROCESSES &&
		    crowd->ns >= division->node[0].ns / 2 &&
		    (!causes->count || causes->cause[0].ns < crowd->ns / PART);
	return err;
}
