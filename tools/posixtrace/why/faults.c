/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults.c - the time of page faults, of which the log has the number but no duration.
 *
 * Samples are of user mode only, at a known rate of CPU time. The time between calls that lacks
 * samples was therefore spent in the kernel, and page faults are the reason why a thread is there
 * without a call, besides interrupts. So this time is given to the page faults where the log has
 * some, and only if more samples are missing than chance explains.
 */
#include <string.h>

#include "why/divide.h"

/* A thread that has no call and blocks so soon after a page fault waits for its page. */
#define FAULT_NS 100000

/*
 * Returns the thread's first page fault that is not before a time, or the number of them. If the
 * times of a log run backwards, the search finds another one, but none outside of the array.
 */
static size_t first_fault(const struct history_thread *thread, int64_t time_ns)
{
	size_t low = 0, high = thread->faults;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->fault[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool faults_precede(const struct history_thread *thread, int64_t time_ns)
{
	size_t next = first_fault(thread, time_ns);

	/* The time of a sampled fault says nothing about the faults before it. */
	return next && !thread->fault[next - 1].count &&
	       time_ns - thread->fault[next - 1].time_ns < FAULT_NS;
}

static uint64_t number_of(const struct fault *fault)
{
	return fault->count ? fault->count : 1;
}

/* Counts one record of page faults for its function, below the part for all. */
static void add_function(struct division *division, uint32_t part,
			 const struct history_thread *thread, const struct fault *fault)
{
	struct why_node *node;
	char text[200];
	bool is_new;

	division_function_text(division->history, thread->pid, fault->time_ns, fault->address, text,
			       sizeof(text));
	node = division_child(division, part, WHY_FAULT,
			      hash_bytes(HASH_BEGIN, text, strlen(text)), &is_new);
	if (!node)
		return;
	if (is_new)
		division_label(division, node, "page faults of %s", text);
	node->count += number_of(fault);
}

/*
 * A sample is for the faults since the sample before it. So the time up to a sample for several
 * belongs to the faults, too, even if none was recorded in it. Time without faults that is included
 * by this does no harm: it has its samples.
 */
void faults_add(struct division *division, uint32_t parent, uint32_t index, uint64_t samples,
		int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const struct history_thread *thread = &history->thread[index];
	size_t i = first_fault(thread, from_ns);
	struct why_node *node;
	uint32_t part;
	bool is_new;

	if (i == thread->faults || (thread->fault[i].time_ns >= to_ns &&
				    (history->has_each_fault || thread->fault[i].count < 2)))
		return;
	node = division_child(division, parent, WHY_FAULT, 0, &is_new);
	if (!node)
		return;
	if (is_new)
		division_label(division, node, "page faults");
	node->run_ns += (uint64_t)to_ns - (uint64_t)from_ns;
	node->samples += samples;
	part = division_index(division, node);
	for (; i < thread->faults && thread->fault[i].time_ns < to_ns; i++) {
		const struct fault *fault = &thread->fault[i];

		/* The samples count those again that were recorded themselves. */
		if (history->has_each_fault && fault->count)
			continue;
		division->node[part].count += number_of(fault);
		add_function(division, part, thread, fault);
	}
}

void faults_share(struct division *division, uint32_t index)
{
	struct why_node *faults = &division->node[index], *run = NULL;
	double expected, missing;

	for (uint32_t at = division->node[faults->parent].child; at;
	     at = division->node[at].sibling)
		if (division->node[at].kind == WHY_RUN && !division->node[at].key)
			run = &division->node[at];
	expected = (double)faults->run_ns * division->history->sample_hz / 1e9;
	missing = expected - (double)faults->samples;
	faults->samples = 0;
	/* Two standard deviations. */
	if (!run || !faults->count || missing <= 0 || missing * missing < 4 * expected)
		return;
	faults->ns = (uint64_t)((double)faults->run_ns * missing / expected);
	if (faults->ns > run->ns)
		faults->ns = run->ns;
	run->ns -= faults->ns;
	for (uint32_t at = faults->child; at; at = division->node[at].sibling) {
		struct why_node *function = &division->node[at];

		function->ns = (uint64_t)((double)faults->ns * (double)function->count /
					  (double)faults->count);
		faults->below_ns += function->ns;
	}
}
