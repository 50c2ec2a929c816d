/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_text.c - one page of text: the cause, the chain that leads to it, the parts of the time, and
 * the evidence. The first three lines are the answer. The other lines show on what it is based.
 */
#include "why/page.h"

#include "base/brief.h"
#include "base/text.h"

/* Writes the first lines. The greatest cause is the answer. Returns 0 or ENOMEM. */
static int put_summary(const struct page *page, const struct window *window,
		       const struct why_causes *causes, const struct crowd *crowd)
{
	const struct history_thread *thread = &page->why->history.thread[window->thread];
	const struct why_node *node;
	struct groups groups;
	char text[BRIEF_BYTES];
	int err;

	page_question(page, window);
	if (!causes->count) {
		out_printf(page->out, "Cause: unknown; thread %d recorded %llu event%s, and none "
			   "of them says why.\n", (int)thread->tid,
			   (unsigned long long)thread->events, text_plural(thread->events));
		return 0;
	}
	if (crowd) {
		page_crowd(page, window, crowd);
		page_repeats(page, window);
		page_load(page, window);
		page_limit(page, window);
		return 0;
	}
	out_printf(page->out, "Cause: %.1f %% of that time (%s): ",
		   page_percent(page, causes->cause[0].ns),
		   brief_ns(text, (double)causes->cause[0].ns));
	page_cause(page, &causes->cause[0]);
	node = &page->division->node[causes->cause[0].node];
	page_often(page->out, node);
	if (node->is_end)
		page_holders(page, causes->cause[0].node);
	err = groups_find(&groups, page->why, window, page->division, causes);
	if (err)
		return err;
	if (groups.worker != HISTORY_NONE)
		out_printf(page->out, "; meanwhile all %u workers were busy", groups.busy.workers);
	page_rhythms(page, &groups, true);
	out_str(page->out, ".\nChain: ");
	page_thread(page, window->thread, page_root_pid(page));
	page_chain(page, causes->cause[0].node);
	out_str(page->out, ".\n");
	if (causes->cause[0].kind == WHY_UNKNOWN)
		page_allocator(page, causes->cause[0].node);
	page_peer(page, node);
	err = page_workers(page, window, &groups);
	page_rhythms(page, &groups, false);
	page_repeats(page, window);
	page_load(page, window);
	page_limit(page, window);
	/* The key of a running part without a call is 0. */
	if (causes->cause[0].kind != WHY_RUN || node->key)
		return err;
	if (!page->why->history.samples)
		out_str(page->out, "Functions: 'posixtrace record --sample' records which "
			"functions ran.\n");
	/* The C library makes such calls itself, so the preload library does not see them. */
	if (!page->why->history.has_states)
		out_str(page->out, "Unknown: a wait without an event, such as the write() of "
			"printf() to a full pipe, looks the same.\n");
	return err;
}


int why_text(struct out *out, const struct why *why, const struct window *window,
	     const struct division *division, const struct why_causes *causes)
{
	struct page page = {
		.out = out, .why = why, .division = division,
		.whole = (double)division->node[0].ns,
	};

	struct crowd crowd;
	bool is_crowd;
	int err = crowd_find(division, causes, &crowd, &is_crowd);

	if (!err)
		err = put_summary(&page, window, causes, is_crowd ? &crowd : NULL);
	if (err)
		return err;
	page_parts(&page);
	page_causes(&page, causes);
	page_next_step(&page, causes);
	return 0;
}
