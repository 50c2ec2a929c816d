/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_parts.c - the tables of an answer: the parts of the time with their evidence, and causes.
 */
#include "why/page.h"

#include "base/brief.h"
#include "base/text.h"

#define CHILDREN 12 /* the most children of one part that are printed */
#define LINES    36 /* after this number of lines, only further parts of the root are printed */
#define CAUSES   6

/*
 * Prints one line for the rest of a part: the time that no child explains, and the time of the
 * children that put_part() has not printed. 'kind' is the kind of the part.
 */
static void put_rest(struct page *page, enum why_kind kind, uint64_t rest, unsigned depth)
{
	char time[BRIEF_BYTES];

	page->lines++;
	out_printf(page->out, "%10s %5.1f %%  %*s%s\n", brief_ns(time, (double)rest),
		   page_percent(page, rest), (int)(2 * depth), "",
		   kind == WHY_WHO     ? "nothing recorded"
		   : kind == WHY_READY ? "the CPU ran something else, or was idle"
				       : "others, or between them");
}

/* Returns the time since the first event, or a limit: a hostile log may have any times. */
static int64_t since_first(const struct page *page, int64_t time_ns)
{
	int64_t since_ns;

	return __builtin_sub_overflow(time_ns, page->why->history.first_ns, &since_ns) ?
	       (time_ns < 0 ? INT64_MIN : INT64_MAX) : since_ns;
}

/*
 * Prints a part with its evidence, and the parts below it. After LINES lines, no part below another
 * one is printed, which also bounds the recursion. Parts smaller than PAGE_LEAST, and parts after
 * the first CHILDREN, are added up in one line at the end, unless LINES lines were printed before.
 */
static void put_part(struct page *page, uint32_t index, unsigned depth)
{
	const struct why_node *node = &page->division->node[index];
	char time[BRIEF_BYTES], text[BRIEF_BYTES], longest[WHEN_BYTES];
	uint32_t child[CHILDREN];
	uint64_t shown = 0;
	size_t children;

	page->lines++;
	out_printf(page->out, "%10s %5.1f %%  %*s", brief_ns(time, (double)node->ns),
		   page_percent(page, node->ns), (int)(2 * depth), "");
	page_label(page->out, node->label ? node->label : "?");
	/*
	 * The evidence follows: how often this part occurred, and where its longest occurrence is.
	 */
	if (node->kind == WHY_FAULT && !node->longest_ns) {
		out_printf(page->out, "  [%llux]", (unsigned long long)node->count);
	} else if (node->samples && (!node->child || node->is_whole)) {
		out_printf(page->out, "  [%llu sample%s]", (unsigned long long)node->samples,
			   text_plural(node->samples));
	} else if (node->kind != WHY_WHO) {
		out_printf(page->out, "  [%llux", (unsigned long long)(node->calls ? node->calls :
			   node->count));
		if (node->calls && node->count > node->calls)
			out_printf(page->out, " in %llu periods", (unsigned long long)node->count);
		if (node->count > 1 && node->longest_ns)
			out_printf(page->out, ", longest %s at %s%s",
				   brief_ns(text, (double)node->longest_ns),
				   node->longest_at_ns < page->why->history.first_ns ? "" : "+",
				   when_span_string(longest,
						    since_first(page, node->longest_at_ns)));
		if (node->bytes)
			out_printf(page->out, ", %llu byte%s", (unsigned long long)node->bytes,
				   text_plural(node->bytes));
		if (node->answers)
			out_printf(page->out, ", answer%s %s%s after the request%s",
				   text_plural(node->answers),
				   node->answers > 1 ? "on average " : "",
				   brief_ns(text, (double)node->answers_ns /
						  (double)node->answers),
				   text_plural(node->answers));
		out_char(page->out, ']');
	}
	out_char(page->out, '\n');
	children = why_children(page->division, index, child, CHILDREN);
	for (size_t i = 0; i < children && page->lines < LINES; i++) {
		const struct why_node *part = &page->division->node[child[i]];

		if (page_percent(page, part->ns) < PAGE_LEAST)
			break;
		put_part(page, child[i], depth + 1);
		shown += part->ns;
	}
	if (node->child && shown < node->ns && page_percent(page, node->ns - shown) >= PAGE_LEAST &&
	    page->lines < LINES)
		put_rest(page, node->kind, node->ns - shown, depth + 1);
}

/*
 * Prints the parts of the root. Parts that are too small are added up in one line, so that the
 * lines of the root add up to 100 %.
 */
void page_parts(struct page *page)
{
	uint32_t child[CHILDREN];
	size_t children = why_children(page->division, 0, child, CHILDREN);
	const struct why_node *root = &page->division->node[0];
	uint64_t shown = 0;
	char time[BRIEF_BYTES];

	out_str(page->out, "\n      time   share  parts of the time, and what caused them  "
		"[evidence]\n");
	for (size_t i = 0; i < children; i++) {
		const struct why_node *part = &page->division->node[child[i]];

		if (page_percent(page, part->ns) < PAGE_LEAST && i)
			break;
		put_part(page, child[i], 0);
		shown += part->ns;
	}
	if (shown < root->below_ns)
		out_printf(page->out, "%10s %5.1f %%  smaller parts\n",
			   brief_ns(time, (double)(root->below_ns - shown)),
			   page_percent(page, root->below_ns - shown));
	if (root->below_ns < root->ns)
		out_printf(page->out, "%10s %5.1f %%  unknown\n",
			   brief_ns(time, (double)division_own_ns(root)),
			   page_percent(page, division_own_ns(root)));
}

/*
 * Prints the causes, at which the chains end, if there are several. A single cause is not printed
 * again, because the second line of the page has it.
 */
void page_causes(const struct page *page, const struct why_causes *causes)
{
	char time[BRIEF_BYTES];

	if (causes->count < 2)
		return;
	out_str(page->out, "\n      time   share  causes: the ends of all chains\n");
	for (size_t i = 0; i < causes->count && i < CAUSES; i++) {
		if (page_percent(page, causes->cause[i].ns) < PAGE_LEAST)
			break;
		out_printf(page->out, "%10s %5.1f %%  ",
			   brief_ns(time, (double)causes->cause[i].ns),
			   page_percent(page, causes->cause[i].ns));
		page_cause(page, &causes->cause[i]);
		/* The second line of the page has the holders of the first cause. */
		if (i && page->division->node[causes->cause[i].node].is_end)
			page_holders(page, causes->cause[i].node);
		out_char(page->out, '\n');
	}
}
