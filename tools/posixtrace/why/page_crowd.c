/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_crowd.c - the first lines of an answer if many processes together are the cause.
 */
#include "why/page.h"

#include "base/brief.h"

/*
 * Returns the greatest part of the root's time that other threads caused; 0: there is none. *count
 * becomes the number of such parts.
 */
static uint32_t greatest_wait(const struct division *division, size_t *count)
{
	uint32_t found = 0;

	*count = 0;
	for (uint32_t at = division->node[0].child; at; at = division->node[at].sibling) {
		const struct why_node *node = &division->node[at];

		if (!node->child || !node->label || node->kind == WHY_RUN ||
		    node->kind == WHY_READY || node->kind == WHY_FAULT)
			continue;
		++*count;
		if (!found || node->ns > division->node[found].ns)
			found = at;
	}
	return found;
}

/*
 * Writes the first lines if many processes together are the cause: their programs, and what they
 * did. The chain has the greatest wait of the thread.
 */
void page_crowd(const struct page *page, const struct window *window, const struct crowd *crowd)
{
	char text[BRIEF_BYTES], each[BRIEF_BYTES];
	size_t waits;
	const uint32_t part = greatest_wait(page->division, &waits);

	out_printf(page->out, "Cause: %.1f %% of that time (%s): %zu processes, each with a small "
		   "part, on average %s: ", page_percent(page, crowd->ns),
		   brief_ns(text, (double)crowd->ns), crowd->processes,
		   brief_ns(each, (double)crowd->ns / (double)crowd->processes));
	for (size_t i = 0; i < CROWD_PROGRAMS && i < crowd->programs; i++) {
		const struct crowd_program *program = &crowd->program[i];

		out_printf(page->out, "%s%zu of ", i ? ", " : "", program->processes);
		page_label(page->out, *program->name ? program->name : "an unknown program");
		out_printf(page->out, " (%.1f %%)", page_percent(page, program->ns));
	}
	out_printf(page->out, "%s.\nChain: ", crowd->programs > CROWD_PROGRAMS ?
		   ", and others" : "");
	page_thread(page, window->thread, page_root_pid(page));
	if (part) {
		out_str(page->out, " -> ");
		if (waits > 1)
			out_printf(page->out, "%zu waits, such as ", waits);
		page_label(page->out, page->division->node[part].label);
		page_often(page->out, &page->division->node[part]);
	}
	out_printf(page->out, " -> these processes.\nProcesses: they ran%s for %.1f %% of that "
		   "time", page->why->history.has_states ? "" : ", or were ready to run,",
		   page_percent(page, crowd->run_ns));
	if (page->why->history.has_states)
		out_printf(page->out, " and had no CPU for %.1f %%",
			   page_percent(page, crowd->ready_ns));
	if (page_percent(page, crowd->silent_ns) >= PAGE_LEAST)
		out_printf(page->out, "; %.1f %% have no event, such as their begin and end",
			   page_percent(page, crowd->silent_ns));
	out_str(page->out, ".\n");
}
