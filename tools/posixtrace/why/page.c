/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page.c - what all parts of a page print. */
#include "why/page.h"

#include <string.h>

#include "base/text.h"

double page_percent(const struct page *page, uint64_t ns)
{
	return page->whole > 0 ? 100.0 * (double)ns / page->whole : 0;
}

pid_t page_root_pid(const struct page *page)
{
	return page->why->history.thread[page->division->node[0].thread].pid;
}

void page_label(struct out *out, const char *label)
{
	text_safe(out, label, strlen(label));
}

void page_thread(const struct page *page, uint32_t thread, pid_t pid)
{
	char text[160];

	division_thread_text(&page->why->history, thread, pid, text, sizeof(text));
	page_label(page->out, text);
}
