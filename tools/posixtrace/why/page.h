/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page.h - the parts of a page of text, which why_text.c puts together.
 *
 * Labels contain names from the log, and the log may be hostile. So these functions write labels
 * and names to the terminal through text_safe() and text_name() only.
 */
#ifndef POSIXTRACE_WHY_PAGE_H
#define POSIXTRACE_WHY_PAGE_H

#include "why/crowd.h"
#include "why/groups.h"
#include "why/why.h"

#define PAGE_LEAST 0.5 /* percent; smaller parts are added up in one line */

/*
 * One answer that is being printed. 'whole' is the time of the root in nanoseconds, which is 100
 * percent. 'lines' counts the lines of parts that were printed so far.
 */
struct page {
	struct out *out;
	const struct why *why;
	const struct division *division;
	double whole;
	unsigned lines;
};

/* Returns the share of the whole time in percent. */
double page_percent(const struct page *page, uint64_t ns);
/* Returns the process of the root. */
pid_t page_root_pid(const struct page *page);
/* Writes a label of the log. */
void page_label(struct out *out, const char *label);
/*
 * Writes the thread of a root or a cause. A thread of the process pid is written without its
 * process; with pid 0 the process is written for each thread.
 */
void page_thread(const struct page *page, uint32_t thread, pid_t pid);

/* ------------------------------------------------------------------ the first three lines */

/*
 * Writes the first line: the thread and its time, and whose requests or which client waited for it.
 */
void page_question(const struct page *page, const struct window *window);
/*
 * Writes the first lines if many processes together are the cause: their programs, and what they
 * did. The chain has the greatest wait of the thread.
 */
void page_crowd(const struct page *page, const struct window *window, const struct crowd *crowd);
/* Writes the label of a cause, and the thread of the cause if the label does not contain it. */
void page_cause(const struct page *page, const struct why_cause *cause);
/* Writes how often a part of the thread's own time occurred, if it occurred often. */
void page_often(struct out *out, const struct why_node *node);
/* Writes the threads that held the lock of a node with is_end for the longest times. */
void page_holders(const struct page *page, uint32_t node);
/* Writes the labels of the nodes from the root to the cause. */
void page_chain(const struct page *page, uint32_t node);
/* Writes the rhythms of an answer that are its first cause, or the others. */
void page_rhythms(const struct page *page, const struct groups *groups, bool is_cause);

/* ------------------------------------------------------------------ the lines that follow */

/*
 * If a thread was blocked without an event, and many of its samples are in the allocator, writes
 * that it probably waited for a lock of the allocator. 'node' is the time in which it was blocked.
 */
void page_allocator(const struct page *page, uint32_t node);
/* Writes that the log does not show who ended the wait of the cause, if this is so. */
void page_peer(const struct page *page, const struct why_node *node);
/* Writes how busy the workers of a pool were, and what they did. Returns 0 or ENOMEM. */
int page_workers(const struct page *page, const struct window *window,
		 const struct groups *groups);
/* Writes the call that the thread tried in vain again and again. */
void page_repeats(const struct page *page, const struct window *window);
/* Writes how busy the thread of a turn was, and whether other threads share its work. */
void page_load(const struct page *page, const struct window *window);
/* Writes for how long the CPU limit of a cgroup kept the process from running. */
void page_limit(const struct page *page, const struct window *window);

/* ------------------------------------------------------------------ the tables, and the end */

/* Prints the parts of the root with their evidence, and the parts below them. */
void page_parts(struct page *page);
/* Prints the causes, at which the chains end, if there are several. */
void page_causes(const struct page *page, const struct why_causes *causes);
/*
 * If the log lacks the reason of the greatest cause, prints which waits have no event, and how to
 * record more.
 */
void page_next_step(const struct page *page, const struct why_causes *causes);

#endif
