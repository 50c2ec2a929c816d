/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults.c - estimates the time of page faults. The log has their number, but not their durations.
 *
 * Samples are taken at a known rate of CPU time. If the log has samples of the kernel, divide.c
 * does not count samples of page faults. If samples are missing in a time between calls, the thread
 * spent this time in the kernel. A thread is in the kernel without a call because of page faults or
 * interrupts. So this time is given to the page faults if the log has page faults there, and if
 * more samples are missing than chance explains.
 */
#include <string.h>

#include "why/classify.h"
#include "why/divide.h"

/* Page faults are frequent if the time from one to the next is less. A fault needs about 1 us. */
#define DENSE_FAULT_NS 10000

/*
 * Returns the index of the thread's first page fault that is not before a time, or the number of
 * faults. If the times of a log run backwards, the search may return a wrong fault, but never one
 * outside of the array.
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

	/* A sampled fault does not count: it represents several faults, whose times are unknown. */
	return next && !thread->fault[next - 1].count &&
	       (uint64_t)time_ns - (uint64_t)thread->fault[next - 1].time_ns < CLASSIFY_FAULT_NS;
}

static uint64_t number_of(const struct fault *fault)
{
	return fault->count ? fault->count : 1;
}

/*
 * An interrupt that is due while the kernel enters or leaves the handling of a page fault is taken
 * when the kernel returns to the program. The sample then has the address of the instruction that
 * caused the fault, because this instruction is executed again. Other instructions are seldom
 * interrupted at exactly this address, and only times with many page faults count.
 */
bool faults_end_at(const struct history_thread *thread, const struct sample *sample)
{
	size_t next = first_fault(thread, sample->time_ns);
	const struct fault *fault = thread->fault;

	return next && next < thread->faults &&
	       (sample->address == fault[next].address ||
		sample->address == fault[next - 1].address) &&
	       ((uint64_t)fault[next].time_ns - (uint64_t)fault[next - 1].time_ns) /
			       number_of(&fault[next]) <
		       DENSE_FAULT_NS;
}

/*
 * Adds the number of page faults of one event to the node of their function, below the part of all
 * page faults.
 */
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
 * A sample of page faults represents all faults since the sample before it. So the time before a
 * sample that represents several faults counts as a time with page faults, even if no fault was
 * recorded in this time. If the time in fact had no faults, that does no harm, because then no CPU
 * samples are missing in the time.
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

		/*
		 * If each page fault was recorded, the samples of faults are not counted, because
		 * they would count the same faults again.
		 */
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
	uint64_t counted = 0;

	for (uint32_t at = division->node[faults->parent].child; at;
	     at = division->node[at].sibling)
		if (division->node[at].kind == WHY_RUN && !division->node[at].key)
			run = &division->node[at];
	expected = (double)faults->run_ns * division->history->sample_hz / 1e9;
	missing = expected - (double)faults->samples;
	faults->samples = 0;
	/*
	 * Without states, the thread may have waited for a CPU or have been blocked. A thread has
	 * no samples in such times, so missing samples prove nothing.
	 */
	if (!division->history->has_states)
		return;
	/*
	 * Up to two standard deviations of the expected number (its square root) may be missing by
	 * chance.
	 */
	if (!run || !faults->count || missing <= 0 || missing * missing < 4 * expected)
		return;
	faults->ns = (uint64_t)((double)faults->run_ns * missing / expected);
	if (faults->ns > run->ns)
		faults->ns = run->ns;
	run->ns -= faults->ns;
	/* The longest occurrence may contain page faults of unknown length, so it is not shown. */
	run->longest_ns = 0;
	run->longest_at_ns = 0;
	for (uint32_t at = faults->child; at; at = division->node[at].sibling) {
		struct why_node *function = &division->node[at];

		const uint64_t before = faults->below_ns;

		counted += function->count;
		faults->below_ns = division_share(faults->ns, counted, faults->count);
		function->ns = faults->below_ns - before;
	}
}
