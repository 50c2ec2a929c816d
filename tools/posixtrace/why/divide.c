/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * divide.c - the tree of parts, and the walk along the calls and states of a thread.
 *
 * divide_walk() walks along the pieces of a thread. add_states() divides each piece, and each time
 * between two pieces, by the states of the thread. causes_add() looks up which other thread caused
 * a wait, and division_thread() walks along that thread for the same time. So the walk is recursive
 * over threads. Four checks bound the walk for any log: those of the depth, of circles, of the
 * number of nodes and of the number of steps.
 */
#include "why/divide.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/vec.h"
#include "live/ended.h"
#include "symbols/symbols.h"
#include "why/answers.h"
#include "why/in_kernel.h"
#include "why/stops.h"
#include "why/stuck.h"

const char *division_kind_name(enum why_kind kind)
{
	static const char *const name[WHY_KINDS] = {
		[WHY_RUN] = "running", [WHY_READY] = "runnable", [WHY_LOCK] = "lock",
		[WHY_FILE] = "file", [WHY_PEER] = "peer", [WHY_SLEEP] = "sleep",
		[WHY_FAULT] = "fault", [WHY_UNKNOWN] = "unknown", [WHY_WHO] = "thread",
	};

	return name[kind];
}

void division_thread_text(const struct history *history, uint32_t thread, pid_t pid, char *text,
			  size_t size)
{
	const struct history_thread *of = &history->thread[thread];
	int used = snprintf(text, size, "thread %d", (int)of->tid);

	if (used > 0 && (size_t)used < size && of->pid != pid)
		used += snprintf(text + used, size - (size_t)used, " of process %d", (int)of->pid);
	if (used <= 0 || (size_t)used >= size)
		return;
	/* Several processes may have the same number, each in a PID namespace of its own. */
	if (of->outer && of->pid != pid)
		snprintf(text + used, size - (size_t)used, " (%s%sprocess %d outside)", of->name,
			 *of->name ? "; " : "", (int)of->outer);
	else if (*of->name)
		snprintf(text + used, size - (size_t)used, " (%s)", of->name);
}

/* ------------------------------------------------------------------ nodes */

/* set in the keys of parts in which the recorder saw from outside that the thread was blocked */
#define LOOKED_KEY (UINT64_C(1) << 43)

/*
 * The identity of a node: its parent, and its kind and key among the children of the parent. The
 * member 'key' identifies a lock, a thread or a type, or is a hash.
 */
struct node_key {
	uint32_t parent;
	enum why_kind kind;
	uint64_t key;
};

/*
 * Compares a node with the wanted key, for table_find(). The root has index 0, is not in the table
 * and is never found.
 */
static bool is_node(const void *array, uint32_t index, const void *key)
{
	const struct why_node *node = (const struct why_node *)array + index;
	const struct node_key *wanted = key;

	return node->parent == wanted->parent && node->kind == wanted->kind &&
	       node->key == wanted->key && index;
}

/*
 * Returns the index of a node. Callers keep the index and not the pointer while nodes are added,
 * because adding a node may move the array.
 */
uint32_t division_index(const struct division *division, const struct why_node *node)
{
	return (uint32_t)(node - division->node);
}

/*
 * Returns NULL at the limit WHY_NODES, and if memory is lacking. If the limit is reached, some
 * chains end early, which is no error. A lack of memory is an error. The pointer is valid until the
 * next call. The table makes the search quick for parts with many children.
 */
struct why_node *division_child(struct division *division, uint32_t parent, enum why_kind kind,
				uint64_t key, bool *is_new)
{
	struct node_key wanted = { parent, kind, key };
	uint64_t hash = hash_number(hash_number(hash_number(HASH_BEGIN, parent), kind), key);
	uint32_t index = table_find(&division->of_node, hash, is_node, division->node, &wanted);
	struct why_node *node;

	*is_new = false;
	if (index != TABLE_NONE)
		return &division->node[index];
	if (division->nodes == WHY_NODES) {
		division->is_cut = true;
		return NULL;
	}
	if (!vec_grow(&division->node, division->nodes, 1) ||
	    !table_add(&division->of_node, hash, (uint32_t)division->nodes)) {
		division->err = ENOMEM;
		return NULL;
	}
	node = &division->node[division->nodes];
	*node = (struct why_node){ .parent = parent, .kind = kind, .key = key,
				   .thread = division->node[parent].thread,
				   .is_evidence = division->node[parent].is_end ||
						  division->node[parent].is_evidence };
	/*
	 * A new child is put before the other children. Their order does not matter, because the
	 * output sorts the children.
	 */
	node->sibling = division->node[parent].child;
	division->node[parent].child = (uint32_t)division->nodes++;
	*is_new = true;
	return node;
}

/*
 * The caller makes sure that from_ns is not after to_ns. The subtraction is unsigned, so it cannot
 * overflow.
 */
void division_add(struct division *division, struct why_node *node, int64_t from_ns, int64_t to_ns)
{
	uint64_t ns = (uint64_t)to_ns - (uint64_t)from_ns;

	node->ns += ns;
	node->count++;
	if (ns > node->longest_ns) {
		node->longest_ns = ns;
		node->longest_at_ns = from_ns;
	}
	division->node[node->parent].below_ns += ns;
}

/*
 * If memory is lacking, the node remains in the tree without a label, and division_make() returns
 * the error.
 */
void division_label(struct division *division, struct why_node *node, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(&node->label, format, args) < 0) {
		node->label = NULL;
		division->err = ENOMEM;
	}
	va_end(args);
}

/* The most holders that a division keeps: a hostile log may have many nodes and threads. */
#define HOLDERS_MOST (1u << 20)

/* Compares a holder with the wanted one, for table_find(). */
static bool is_holder(const void *array, uint32_t index, const void *key)
{
	const struct why_holder *holder = (const struct why_holder *)array + index, *wanted = key;

	return holder->node == wanted->node && holder->thread == wanted->thread;
}

void division_holder(struct division *division, uint32_t node, uint32_t thread, uint64_t ns,
		     uint64_t count)
{
	const struct why_holder wanted = { .node = node, .thread = thread };
	const uint64_t hash = hash_number(hash_number(HASH_BEGIN, node), thread);
	uint32_t index = table_find(&division->of_holder, hash, is_holder, division->holder,
				    &wanted);

	if (index == TABLE_NONE) {
		if (division->holders == HOLDERS_MOST) {
			division->node[node].has_more = true;
			return;
		}
		if (!vec_grow(&division->holder, division->holders, 1) ||
		    !table_add(&division->of_holder, hash, (uint32_t)division->holders)) {
			division->err = ENOMEM;
			return;
		}
		index = (uint32_t)division->holders++;
		division->holder[index] = wanted;
		division->holder[index].next = division->node[node].holder;
		division->node[node].holder = index + 1;
	}
	division->holder[index].ns += ns;
	division->holder[index].count += count;
}

size_t division_holders(const struct division *division, uint32_t node,
			const struct why_holder *holder[], size_t size, uint64_t *holds)
{
	size_t count = 0, kept = 0;
	const struct why_holder *of;

	*holds = 0;
	/* Sorted by insertion, which is quick because size is small. */
	for (uint32_t next = division->node[node].holder; next; next = of->next) {
		size_t at;

		of = &division->holder[next - 1];
		*holds += of->count;
		count++;
		if (kept == size && (!size || holder[size - 1]->ns > of->ns ||
				     (holder[size - 1]->ns == of->ns &&
				      holder[size - 1]->thread < of->thread)))
			continue;
		at = kept < size ? kept++ : size - 1;
		for (; at && (holder[at - 1]->ns < of->ns ||
			      (holder[at - 1]->ns == of->ns &&
			       holder[at - 1]->thread > of->thread)); at--)
			holder[at] = holder[at - 1];
		holder[at] = of;
	}
	return count;
}

/* ------------------------------------------------------------------ the walk */

/*
 * Returns whether the log has the mapped files of processes. A log that was converted from a
 * foreign format has none.
 */
static bool has_files(const struct history *history)
{
	struct posix_trace_mapping_np mapping;
	int end = 0;

	return !posix_trace_mapping_rewind_np(history->log->trid) &&
	       !posix_trace_mapping_getnext_np(history->log->trid, &mapping, &end) && !end;
}

/*
 * Writes "FUNCTION (FILE)" of an address, or the module and the offset. The text has no line
 * number, because the samples of all lines of a function belong together.
 */
void division_function_text(const struct history *history, pid_t pid, int64_t time_ns,
			    uint64_t address, char *text, size_t size)
{
	const struct symbol *symbol = symbols_at(history->log->trid, pid, address, time_ns, true);
	const char *file = symbol && symbol->file ? symbol->file : NULL;

	/*
	 * [vdso] is code of the kernel in the memory of the process. The tool has no symbols of it.
	 * Most of its functions read clocks.
	 */
	if (symbol && !symbol->is_function && !strncmp(symbol->whole, "[vdso]", 6)) {
		snprintf(text, size, "[vdso], as clock_gettime() does");
		return;
	}

	if (!file && symbol && symbol->is_function && !symbol->is_recorder &&
	    strcmp(symbol->module, SYMBOLS_COMPILED) != 0)
		file = symbol->module;
	if (file)
		snprintf(text, size, "%s (%s)", symbol->name, path_last(file));
	else if (symbol)
		snprintf(text, size, "%s", symbol->whole);
	else if (history_is_bare(history))
		snprintf(text, size, "code of a file that the log does not name");
	else if (has_files(history))
		/* All such addresses are one part, because none of them has a function. */
		snprintf(text, size, "code of no file, probably compiled while the program ran");
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
}

/*
 * Returns whether a function is one of the allocator, by its file, or by its name if the debugging
 * information of the C library is not installed. 'text' has the form of division_function_text().
 */
static bool is_allocator(const char *text)
{
	static const char *const names[] = {
		"malloc (", "calloc (", "realloc (", "free (", "cfree (", "_int_malloc",
		"_int_free", "_int_realloc", "__libc_malloc", "__libc_free", "malloc_consolidate",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(text, names[i], strlen(names[i])))
			return true;
	return strstr(text, " (malloc.c)") || strstr(text, " (arena.c)");
}

/*
 * Returns the node below which the function of a sample is added. 'node' is a running part. If it
 * is a child of the root, and the sample belongs to the common function (why/common.h), the result
 * is the node of the common function. Otherwise the result is 'node' itself.
 */
static uint32_t common_node(struct division *division, uint32_t node, const struct sample *sample)
{
	struct why_node *whole;
	bool is_new;

	if (division->node[node].parent || !common_has(&division->common, sample))
		return node;
	whole = division_child(division, node, WHY_RUN, UINT64_MAX, &is_new);
	if (!whole)
		return node;
	whole->is_whole = true;
	if (is_new)
		division_label(division, whole, WHY_RUNNING "%s", division->common.label);
	whole->is_allocator = is_allocator(division->common.label);
	return division_index(division, whole);
}

/*
 * Counts the samples from from_ns to to_ns, for the functions below a node. share_samples() gives
 * the functions their times later, because the whole time of the node is known only at the end.
 * 'node' is a running part. Outside of calls, samples of page faults do not count, because
 * faults_share() computes the time of page faults from the samples that are missing.
 */
static void add_samples(struct division *division, uint32_t node, uint32_t index, bool is_call,
			int64_t from_ns, int64_t to_ns)
{
	const struct history_thread *thread = &division->history->thread[index];

	for (size_t i = history_sample_at(thread, from_ns);
	     i < thread->samples && thread->sample[i].time_ns < to_ns; i++) {
		const struct sample *sample = &thread->sample[i];
		const bool is_kernel = stacks_is_kernel(sample->address);
		char text[200];
		struct why_node *function;
		uint32_t parent;
		bool is_new;

		if (!is_call && (is_kernel ? in_kernel_is_fault(division->history, thread->pid,
								sample) :
					     faults_end_at(thread, sample)))
			continue;
		parent = common_node(division, node, sample);
		if (is_kernel)
			in_kernel_text(division->history, thread->pid, sample, text, sizeof(text));
		else
			division_function_text(division->history, thread->pid, sample->time_ns,
					       sample->address, text, sizeof(text));
		function = division_child(division, parent, WHY_RUN,
					  hash_bytes(HASH_BEGIN, text, strlen(text)), &is_new);
		if (!function)
			return;
		if (is_new)
			division_label(division, function, WHY_RUNNING "%s", text);
		function->is_allocator = is_allocator(text);
		/*
		 * division->node[node] is looked up here again, because division_child() may have
		 * moved it.
		 */
		function->samples++;
		division->node[parent].samples += parent != node;
		division->node[node].samples++;
	}
}

uint64_t division_share(uint64_t ns, uint64_t some, uint64_t all)
{
	return (uint64_t)((__extension__ (unsigned __int128)ns) * some / all);
}

/*
 * Divides the time of running nodes among their functions, by the numbers of samples. A sample has
 * no duration, so the times are estimates. The more samples there are, the smaller is their error.
 * The only children of a running node are functions and the node of the common function, so
 * below_ns is at most the time ns of the node. The page faults get their share of the time of the
 * running nodes first.
 */
static void share_samples(struct division *division)
{
	for (size_t i = 1; i < division->nodes; i++)
		if (division->node[i].kind == WHY_FAULT && !division->node[i].key)
			faults_share(division, (uint32_t)i);
	for (size_t i = 1; i < division->nodes; i++) {
		struct why_node *node = &division->node[i];

		uint64_t counted = 0;

		if (node->kind != WHY_RUN || !node->samples || !node->child)
			continue;
		for (uint32_t at = node->child; at; at = division->node[at].sibling) {
			struct why_node *function = &division->node[at];
			const uint64_t before = node->below_ns;

			/*
			 * The sum so far is rounded, and not each single time, so that all times
			 * add up to ns.
			 */
			counted += function->samples;
			node->below_ns = division_share(node->ns, counted, node->samples);
			function->ns = node->below_ns - before;
			function->count = function->samples;
		}
	}
}

/*
 * Adds a time without a call, or of a call that is not known to wait. All calls of one type are one
 * part below a node. The key of this part is the address of the type, which is valid as long as the
 * log is open. If the log has no states, the thread may also have waited for a processor, and the
 * label shows this.
 */
static void add_running(struct division *division, uint32_t node, const struct call *call,
			int64_t from_ns, int64_t to_ns)
{
	uint32_t thread, index;
	uint64_t before;
	bool is_new;
	struct why_node *run = division_child(division, node, WHY_RUN,
					      call ? (uintptr_t)call->type : 0, &is_new);

	if (run && is_new) {
		if (call)
			division_label(division, run, "in %s", call->type->name);
		else
			division_label(division, run, "%s", division->history->has_states ?
				       "running" : "running, or ready to run");
	}
	if (!run)
		return;
	division_add(division, run, from_ns, to_ns);
	thread = run->thread;
	index = division_index(division, run);
	before = run->samples;
	if (division->history->samples)
		add_samples(division, index, thread, call != NULL, from_ns, to_ns);
	if (!call)
		faults_add(division, node, thread, division->node[index].samples - before,
			   from_ns, to_ns);
}

/*
 * Returns the first run of a processor that ends after a time. If there is none, returns a run of
 * another processor or the number of runs. Runs of one processor follow each other, so in a correct
 * log their ends have the order of their begins.
 */
static size_t first_run(const struct history *history, uint16_t cpu, int64_t time_ns)
{
	size_t low = 0, high = history->runs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct run *run = &history->run[middle];

		if (run->cpu < cpu || (run->cpu == cpu && run->end_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The most programs that are kept for the labels of nodes with WHY_MIXED_KEY. */
#define TAKERS_MOST 256
/* The most names in such a label, and the least part of the node's time that a name must have. */
#define TAKER_NAMES 4
#define TAKER_PART  10

static const char mixed[] = WHY_CPU_RAN "programs that were not recorded";

/* Returns whether two threads are the same, or threads of programs with the same name. */
static bool is_same_program(const struct history *history, uint32_t one, uint32_t other)
{
	const uint32_t text = history->waker[one - 1].text;

	return one == other || (text && text == history->waker[other - 1].text);
}

/* Returns whether the processor had nothing to do. */
static bool is_idle(const struct history *history, uint32_t taker)
{
	return taker && !history->waker[taker - 1].tid;
}

/* Returns whether a thread is known, and the log has no events of it. */
static bool is_unrecorded(const struct history *history, uint32_t taker)
{
	return taker && history->waker[taker - 1].tid > 0 &&
	       history_find(history, history->waker[taker - 1].pid,
			    history->waker[taker - 1].tid) == HISTORY_NONE;
}

/*
 * Adds a program that had the processor, and of which the log has no events. All its threads with
 * the same name are one part.
 */
static void add_taker(struct division *division, uint32_t node, uint32_t taker, uint64_t ns,
		      int64_t from_ns)
{
	const struct history *history = division->history;
	const struct waker *by = &history->waker[taker - 1];
	bool is_new;
	struct why_node *who = division_child(division, node, WHY_WHO, by->text ?
					      WHY_NAMED_KEY | by->text :
					      WHY_THREAD_KEY | taker, &is_new);

	if (!who)
		return;
	if (is_new && by->text)
		division_label(division, who, WHY_CPU_RAN "%s" WHY_UNRECORDED,
			       history->text[by->text - 1]);
	else if (is_new)
		division_label(division, who, WHY_CPU_RAN "thread %d" WHY_UNRECORDED,
			       (int)by->tid);
	division_add(division, who, from_ns, (int64_t)((uint64_t)from_ns + ns));
}

/* Counts the time of a node for one of the programs that its label may name. */
static void note_taker(struct division *division, uint32_t node, uint32_t taker, uint64_t ns)
{
	for (size_t i = 0; i < division->takers; i++)
		if (division->taker[i].node == node &&
		    is_same_program(division->history, division->taker[i].waker, taker)) {
			division->taker[i].ns += ns;
			return;
		}
	if (division->takers == TAKERS_MOST)
		return;
	if (!vec_grow(&division->taker, division->takers, 1)) {
		division->err = ENOMEM;
		return;
	}
	division->taker[division->takers++] = (struct why_taker){ node, taker, ns };
}

/*
 * Adds a time in which perhaps several programs had the processor. The log has at most the first
 * and the last of them, but not how long each had the processor. A thread of the kernel, for
 * example, often gets the processor for microseconds, and then another program gets it. 'first' or
 * 'last' may be 0.
 */
static void add_mixed(struct division *division, uint32_t node, uint32_t first, uint32_t last,
			uint64_t ns, int64_t from_ns)
{
	bool is_new;
	struct why_node *who = division_child(division, node, WHY_WHO, WHY_MIXED_KEY, &is_new);
	uint32_t index;

	if (!who)
		return;
	if (is_new)
		division_label(division, who, "%s", mixed);
	division_add(division, who, from_ns, (int64_t)((uint64_t)from_ns + ns));
	index = division_index(division, who);
	if (first)
		note_taker(division, index, first, ns);
	if (last && !(first && is_same_program(division->history, first, last)))
		note_taker(division, index, last, ns);
}

/* Orders programs by node, then by time, the greatest first. */
static int by_taker_ns(const void *a, const void *b)
{
	const struct why_taker *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->waker > y->waker) - (x->waker < y->waker);
}

/* Labels the nodes with WHY_MIXED_KEY. Their programs are known only after the whole walk. */
static void label_mixed(struct division *division)
{
	const struct history *history = division->history;

	if (division->takers)
		qsort(division->taker, division->takers, sizeof(*division->taker), by_taker_ns);
	for (size_t i = 0, next; i < division->takers; i = next) {
		struct why_node *node = &division->node[division->taker[i].node];
		char names[TAKER_NAMES * 40] = "";
		size_t used = 0, count = 0;

		for (next = i; next < division->takers &&
			       division->taker[next].node == division->taker[i].node; next++) {
			const struct why_taker *taker = &division->taker[next];
			const uint32_t text = history->waker[taker->waker - 1].text;

			if (!text || count == TAKER_NAMES || taker->ns < node->ns / TAKER_PART)
				continue;
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.30s",
						 count++ ? ", " : "", history->text[text - 1]);
		}
		if (!count)
			continue;
		free(node->label);
		division_label(division, node, "%s, such as %s", mixed, names);
	}
}

/* Returns whether a limit of a cgroup has kept the process of a thread from running. */
static bool has_limit(const struct history *history, uint32_t thread)
{
	for (size_t i = 0; i < history->throttles; i++)
		if (history->throttle[i].pid == history->thread[thread].pid)
			return true;
	return false;
}

/*
 * Adds the time in which unknown threads that were not recorded had the processor. If a limit of a
 * cgroup stops a thread, the kernel records the same event as if it had preempted the thread.
 */
static void add_others(struct division *division, uint32_t node, uint64_t ns, int64_t from_ns)
{
	bool is_new;
	struct why_node *who = division_child(division, node, WHY_WHO, WHY_OTHERS_KEY, &is_new);

	if (who && is_new)
		division_label(division, who, WHY_CPU_RAN "other programs%s",
			       has_limit(division->history, division->node[node].thread) ?
			       ", or a limit of a cgroup kept the thread from running" : "");
	if (who)
		division_add(division, who, from_ns, (int64_t)((uint64_t)from_ns + ns));
}

/* The switches around a time in which a thread waited for a processor. */
struct waiting {
	/*
	 * The thread that got the processor first, and the thread that had it last. They are
	 * indexes in history.waker + 1, or 0 if the log does not have them. If the thread got
	 * another processor than the one for which it had waited, the last one is unknown.
	 */
	uint32_t first, last;
	uint16_t cpu;           /* UINT16_MAX: the log does not show for which one it waited */
	bool is_preempted;
};

/*
 * Adds the programs that had the processor and were not recorded. ns is the time that recorded
 * threads do not explain. If the log names no thread, and the kernel has preempted the thread, the
 * time belongs to unknown programs: the log has the switches of all recorded threads. A thread that
 * was woken may also wait for an idle processor to wake up. A preempted thread finds an idle
 * processor if a limit of its cgroup keeps it from running.
 */
static void add_unrecorded(struct division *division, uint32_t node, const struct waiting *waiting,
			   uint64_t ns, int64_t from_ns)
{
	const struct history *history = division->history;
	const uint32_t first = is_unrecorded(history, waiting->first) ? waiting->first : 0;
	const uint32_t last = is_unrecorded(history, waiting->last) ? waiting->last : 0;
	/* If one end was a recorded thread, the rest is probably the time of the other end. */
	const bool is_single = first && last ? is_same_program(history, first, last) :
			       first ? waiting->last : waiting->first || !waiting->is_preempted;

	if (!ns || is_idle(history, waiting->last))
		return;
	if ((first || last) && is_single)
		add_taker(division, node, first ? first : last, ns, from_ns);
	else if (first || last)
		add_mixed(division, node, first, last, ns, from_ns);
	else if (waiting->is_preempted && !waiting->first && !waiting->last &&
		 waiting->cpu != UINT16_MAX && !history->gaps)
		add_others(division, node, ns, from_ns);
}

/*
 * Adds a time in which the thread was ready but had no processor, and below it the threads and
 * programs that had the processor. If the processor is unknown, the function does not search for
 * the recorded threads that ran there.
 */
static void add_ready(struct division *division, uint32_t node, uint32_t thread,
		      const struct waiting *waiting, int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const uint16_t cpu = waiting->cpu;
	uint64_t left = (uint64_t)to_ns - (uint64_t)from_ns, ns;
	bool is_new;
	struct why_node *ready = division_child(division, node, WHY_READY, 0, &is_new);
	uint32_t index;

	if (!ready)
		return;
	if (is_new)
		division_label(division, ready, "ready to run, but without a CPU");
	division_add(division, ready, from_ns, to_ns);
	index = division_index(division, ready);
	for (size_t i = cpu == UINT16_MAX ? history->runs : first_run(history, cpu, from_ns);
	     i < history->runs && history->run[i].cpu == cpu && history->run[i].begin_ns < to_ns;
	     i++) {
		const struct run *run = &history->run[i];
		char text[160];

		if (run->thread == thread)
			continue;
		ready = division_child(division, index, WHY_WHO, run->thread, &is_new);
		if (!ready)
			return;
		division_thread_text(history, run->thread,
				     history->thread[division->node[0].thread].pid, text,
				     sizeof(text));
		if (is_new) {
			ready->thread = run->thread;
			division_label(division, ready, WHY_CPU_RAN "%s", text);
		}
		ns = ready->ns;
		division_add(division, ready, run->begin_ns > from_ns ? run->begin_ns : from_ns,
			     run->end_ns < to_ns ? run->end_ns : to_ns);
		ns = ready->ns - ns;
		left -= ns < left ? ns : left;
	}
	add_unrecorded(division, index, waiting, left, from_ns);
}

/* Writes ", until SIGTERM ended the process", or nothing. */
static const char *killed_text(const struct history_thread *thread, char *text, size_t size)
{
	char name[ENDED_TEXT];

	*text = '\0';
	if (thread->kill_signal) {
		ended_signal(name, thread->kill_signal);
		snprintf(text, size, ", until %s ended the process", name);
	}
	return text;
}

void division_until_text(const struct history_thread *thread, char *text, size_t size)
{
	killed_text(thread, text, size);
	if (!*text)
		snprintf(text, size, ", until the end of the log");
}

/* Returns what a thread probably does after its last event, as a part of a label, or "". */
static const char *last_hint(const struct history_thread *thread)
{
	const char *name = thread->last_call ? thread->last_call->name : "";

	return (thread->listens || thread->is_server) && !strncmp(name, "net.", 4) ?
	       "; probably it waited for a client" : "";
}

/*
 * Adds a time in which the thread was blocked in a call that did not return before the thread or
 * the log ended. The log has no event of the call, because a call is recorded when it returns. If
 * the thread had sent a request, the call waited for the answer. Returns false if the call may have
 * returned.
 *
 * If the thread has ended, the log does not show whether the call returned or a signal killed the
 * thread in the call. The call may also have returned without an event, because the shim does not
 * wrap it. If the ended thread has recorded no call at all, the log has no evidence, and the result
 * is false.
 */
static bool add_open_call(struct division *division, uint32_t node,
			  const struct history_thread *thread, size_t stay, int64_t from_ns,
			  int64_t to_ns)
{
	const struct history *history = division->history;
	const struct answer *asked;
	struct why_node *part;
	unsigned others;
	bool is_new, is_over;
	char killed[ENDED_TEXT + 32];

	if (!history->knows_end)
		return false;
	if (!stuck_is_last(thread, stay, &is_over))
		return false;
	if (thread->last_call ? thread->last_call_ns > from_ns : is_over)
		return false;
	if (history_lacks_after(thread, from_ns)) {
		/*
		 * The thread may have run meanwhile, so its last waker need not have ended this
		 * wait.
		 */
		part = division_child(division, node, WHY_UNKNOWN, UINT64_MAX - 2, &is_new);
		if (part && is_new)
			division_label(division, part, "blocked in an unknown call%s: not each "
				       "switch of the thread was recorded",
				       killed_text(thread, killed, sizeof(killed)));
		if (part)
			division_add(division, part, from_ns, to_ns);
		return true;
	}
	asked = answers_during(history, division->node[node].thread, from_ns, from_ns, &others);
	asked = asked && asked->end == ANSWER_NEVER ? asked : NULL;
	part = division_child(division, node, asked ? WHY_PEER : WHY_UNKNOWN,
			      asked ? UINT64_MAX - asked->text : UINT64_MAX, &is_new);
	if (!part)
		return true;
	if (is_new && asked && asked->text)
		division_label(division, part, "waiting in vain for the answer of %s, in a call "
			       "that did not return", history->text[asked->text - 1]);
	else if (is_new)
		division_label(division, part, "blocked in a call that did not return%s%s%s%s%s%s",
			       is_over && !thread->kill_signal ? ", or is not traced" : "",
			       killed_text(thread, killed, sizeof(killed)),
			       thread->last_call ? " (last event: " : "",
			       thread->last_call ? thread->last_call->name : "",
			       last_hint(thread), thread->last_call ? ")" : "");
	division_add(division, part, from_ns, to_ns);
	return true;
}

/*
 * Adds the time between the last event of a thread and the signal that ended its process. The log
 * does not show whether the thread ran or was blocked in this time.
 */
static void add_killed(struct division *division, uint32_t node,
		       const struct history_thread *thread, int64_t from_ns, int64_t to_ns)
{
	const char *last = thread->last_call ? thread->last_call->name : NULL;
	bool is_new;
	struct why_node *part = division_child(division, node, WHY_UNKNOWN, UINT64_MAX - 1,
					       &is_new);
	char killed[ENDED_TEXT + 32];

	if (!part)
		return;
	if (is_new)
		division_label(division, part,
			       "in a call that did not return, or running%s%s%s%s%s",
			       killed_text(thread, killed, sizeof(killed)),
			       last ? " (last event: " : "", last ? last : "", last_hint(thread),
			       last ? ")" : "");
	division_add(division, part, from_ns, to_ns);
}

/*
 * Adds a time in which the thread was blocked in a call that has no event. Either the shim has no
 * wrapper of the call, or the C library makes the call itself, such as the write() of printf(). The
 * recorder has seen the call from outside. 'is_known' is true if the log has the state of the
 * thread.
 */
static void add_looked(struct division *division, uint32_t node, const struct stuck_look *look,
		       bool is_known, uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	char *const *text = division->history->text;
	const char *object = look->object ? text[look->object - 1] : "";
	const struct call call = stuck_look_call(division->history, look, from_ns, to_ns);
	bool is_new;
	const uint64_t key = hash_number(hash_number(hash_number(HASH_BEGIN, look->call),
						     (uint32_t)look->fd), look->object);
	struct why_node *part = division_child(division, node, causes_looked_kind(&call),
					       LOOKED_KEY | key, &is_new);
	const bool is_pipe = !strncmp(object, "pipe:", 5);
	char fd[40] = "";

	if (!part)
		return;
	if (look->fd >= 0)
		snprintf(fd, sizeof(fd), " on descriptor %d", (int)look->fd);
	if (is_new)
		division_label(division, part, "%s in the system call %s()%s%s%s%s, which has no "
			       "event%s", is_pipe && call.cause == CAUSE_WRITE ?
			       "waiting for room in a full pipe" :
			       is_pipe && call.cause == CAUSE_READ ? "waiting for data in a pipe" :
			       "blocked",
			       text[look->call - 1], fd, *object ? " (" : "", object,
			       *object ? ")" : "",
			       is_known ? "" : ", or running before or after it");
	division_add(division, part, from_ns, to_ns);
	causes_add_looked(division, division_index(division, part), &call, waker, from_ns, to_ns);
}

/*
 * Adds a time of which the log has no state, between calls or in a call that is not known to wait.
 * If the recorder has seen the thread blocked between calls, the thread was blocked for a part of
 * this time. The log does not show when the call began and returned: the first look is later than
 * the begin, and the recorder records another look only when the wait is twice as long. So the time
 * around the looks counts as blocked, too, if it is short enough.
 */
static void add_stateless(struct division *division, uint32_t node, const struct call *call,
			  int64_t from_ns, int64_t to_ns)
{
	const struct stuck_look *look = call ? NULL :
					stuck_look(division->history, division->node[node].thread,
						   from_ns, to_ns);
	int64_t begin_ns, end_ns;
	uint64_t blocked_ns;

	if (!look) {
		add_running(division, node, call, from_ns, to_ns);
		return;
	}
	blocked_ns = (uint64_t)look->at_ns - (uint64_t)look->from_ns;
	begin_ns = look->from_ns <= from_ns ||
		   (uint64_t)look->from_ns - (uint64_t)from_ns < STUCK_LOOK_NS ? from_ns :
		   look->from_ns;
	end_ns = (uint64_t)to_ns - (uint64_t)look->at_ns <= blocked_ns + STUCK_LOOK_NS ? to_ns :
		 look->at_ns;
	if (begin_ns > from_ns)
		add_running(division, node, NULL, from_ns, begin_ns);
	if (end_ns > begin_ns)
		add_looked(division, node, look, false, 0, begin_ns, end_ns);
	if (to_ns > end_ns)
		add_running(division, node, NULL, end_ns, to_ns);
}

/*
 * Adds a time in which the thread was blocked. is_known is false if the log has no state of the
 * thread for this time. In this case it is not known whether the thread was blocked. If call is not
 * known to wait, the log does not show that the thread was blocked because of it. But the call is
 * the best hint that the log has, so the label names it.
 */
static void add_blocked(struct division *division, uint32_t node, const struct call *call,
			bool is_known, uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	const struct history_thread *thread =
		&division->history->thread[division->node[node].thread];
	struct why_node *unknown;
	bool is_new, is_fault, is_stopped;
	const struct stuck_look *look;
	uint64_t key;
	size_t stay;

	if (call && cause_waits((enum cause)call->cause)) {
		causes_add(division, node, call, waker, from_ns, to_ns);
		return;
	}
	if (!is_known) {
		int64_t quiet_ns = !call && thread->kill_signal && thread->quiet_ns < to_ns ?
				   thread->quiet_ns : to_ns;

		if (quiet_ns > from_ns)
			add_stateless(division, node, call, from_ns, quiet_ns);
		if (quiet_ns < to_ns)
			add_killed(division, node, thread,
				   quiet_ns > from_ns ? quiet_ns : from_ns, to_ns);
		return;
	}
	stay = history_stay_at(thread, from_ns);
	is_fault = !call && stay < thread->stays && thread->stay[stay].is_deep &&
		   faults_precede(thread, from_ns);
	if (!call && !is_fault && stay < thread->stays && !thread->stay[stay].is_stopped &&
	    add_open_call(division, node, thread, stay, from_ns, to_ns))
		return;
	is_stopped = !call && stay < thread->stays && thread->stay[stay].is_stopped;
	look = call || is_fault || is_stopped ? NULL :
	       stuck_look(division->history, division->node[node].thread, from_ns, to_ns);
	if (look) {
		add_looked(division, node, look, true, waker, from_ns, to_ns);
		return;
	}
	key = is_fault ? 1 : is_stopped ? UINT64_C(1) << 42 : call ? (uintptr_t)call->type : 0;
	unknown = division_child(division, node, is_fault ? WHY_FAULT : is_stopped ? WHY_PEER :
				 WHY_UNKNOWN, key, &is_new);
	if (unknown && is_new) {
		if (is_fault)
			division_label(division, unknown, "waiting for the data of a page fault");
		else if (call)
			division_label(division, unknown, "blocked in %s", call->type->name);
		else if (is_stopped)
			division_label(division, unknown, "stopped by a signal such as SIGSTOP, or "
				       "by a debugger");
		else
			division_label(division, unknown, "blocked, and no event says why");
	}
	if (!unknown)
		return;
	division_add(division, unknown, from_ns, to_ns);
	if (call)
		why_count_call(unknown, call);
	/* The thread that sends SIGCONT is not the cause of the stop. */
	if (!is_stopped)
		causes_add_waker(division, division_index(division, unknown), waker, from_ns,
				 to_ns);
}

/*
 * Adds a time in which the log lacks a switch of the thread: the thread had a CPU for only a part
 * of this time. If the call is known to wait, the whole time counts as a wait, as in a log without
 * states.
 */
static void add_gap(struct division *division, uint32_t node, const struct call *call,
		    int64_t from_ns, int64_t to_ns)
{
	struct why_node *part;
	bool is_new;

	if (call && cause_waits((enum cause)call->cause)) {
		causes_add(division, node, call, 0, from_ns, to_ns);
		return;
	}
	part = division_child(division, node, WHY_UNKNOWN, UINT64_MAX - 3, &is_new);
	if (part && is_new)
		division_label(division, part, "running or blocked: the kernel recorded no switch");
	if (part)
		division_add(division, part, from_ns, to_ns);
}

/* Adds a time in which the process of a thread was stopped by SIGSTOP. */
static void add_stop(struct division *division, uint32_t node, const struct stop *stop,
		     int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const struct history_thread *by = &history->thread[stop->by];
	bool is_new;
	struct why_node *part = division_child(division, node, WHY_PEER,
					       UINT64_C(1) << 41 | stop->by, &is_new);
	char text[160];

	if (part && is_new) {
		division_thread_text(history, stop->by, stop->pid, text, sizeof(text));
		division_label(division, part, "stopped by SIGSTOP, which %s%s sent",
			       by->pid == stop->pid ? "its own " : "", text);
	}
	if (part)
		division_add(division, part, from_ns, to_ns);
}

/*
 * Adds a time in which the thread was blocked, or in which its state is not known. If the state is
 * not known, 'stay' is NULL. The times in which SIGSTOP had stopped its process are parts of their
 * own.
 */
static void add_waiting(struct division *division, uint32_t node, const struct call *call,
			const struct stay *stay, uint32_t waker, int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	const pid_t pid = history->thread[division->node[node].thread].pid;
	const bool may_stop = !stay || stay->is_stopped || !history->knows_stopped;
	const struct stop *stop;

	while (may_stop && from_ns < to_ns && !division->err &&
	       (stop = stops_during(history, pid, from_ns, to_ns))) {
		const int64_t until_ns = stop->to_ns < to_ns ? stop->to_ns : to_ns;

		if (stop->from_ns > from_ns)
			add_blocked(division, node, call, stay != NULL, 0, from_ns,
				    stop->from_ns);
		else
			add_stop(division, node, stop, from_ns, until_ns);
		from_ns = stop->from_ns > from_ns ? stop->from_ns : until_ns;
	}
	if (from_ns < to_ns)
		add_blocked(division, node, call, stay != NULL, waker, from_ns, to_ns);
}

/*
 * Adds a time in one call, or between calls, by the states that the thread had. The loop ends: each
 * round passes one state, and the last state reaches to_ns. It also ends early after an error.
 */
static void add_states(struct division *division, uint32_t node, uint32_t index,
		       const struct call *call, int64_t from_ns, int64_t to_ns)
{
	const struct history_thread *thread = &division->history->thread[index];
	size_t i = history_stay_at(thread, from_ns);

	/*
	 * It is unknown whether the thread ran before its first state. It is always unknown if the
	 * thread has no states.
	 */
	if (i == thread->stays) {
		int64_t end = thread->stays && thread->stay[0].from_ns < to_ns ?
			      thread->stay[0].from_ns : to_ns;

		add_waiting(division, node, call, NULL, 0, from_ns, end);
		from_ns = end;
		i = 0;
	}
	for (; from_ns < to_ns && !division->err; i++) {
		const struct stay *stay = &thread->stay[i];
		const struct stay *next = i + 1 < thread->stays ? stay + 1 : NULL;
		const bool runs_next = next && next->state == STATE_RUNS;
		int64_t end = next && next->from_ns < to_ns ? next->from_ns : to_ns;

		division->steps++;
		/* Several states may have the same time. */
		if (end <= from_ns)
			continue;
		/*
		 * The calls below may move the array of nodes, but not the array of states, so stay
		 * and next remain valid. The log does not show for which CPU a woken thread waits.
		 * The CPU on which the thread runs next is used.
		 */
		if (stay->state == STATE_RUNS)
			add_running(division, node, call && !cause_waits((enum cause)call->cause) ?
				    call : NULL, from_ns, end);
		else if (stay->state == STATE_UNKNOWN)
			add_gap(division, node, call, from_ns, end);
		else if (stay->state == STATE_READY)
			add_ready(division, node, index, &(const struct waiting){
				.cpu = stay->cpu == UINT16_MAX && runs_next ? next->cpu : stay->cpu,
				.first = stay->is_preempted ? stay->waker : 0,
				.last = runs_next && (stay->cpu == UINT16_MAX ||
						      stay->cpu == next->cpu) ? next->waker : 0,
				.is_preempted = stay->is_preempted }, from_ns, end);
		else if (stay->state == STATE_BLOCKED)
			add_waiting(division, node, call, stay, next && !runs_next &&
				    !next->is_preempted ? next->waker : 0, from_ns, end);
		else
			add_blocked(division, node, call, false, 0, from_ns, end);
		from_ns = end;
	}
}

/*
 * Adds the parts of one thread's time below a node, in the order of time: from_ns is the moment up
 * to which everything was added. Each moment from from_ns to to_ns is added exactly once, in a call
 * or between calls, so that the parts add up to the whole. If the limit of steps is reached, the
 * rest of the time belongs to no part.
 */
static void divide_walk(struct division *division, uint32_t node, uint32_t index, int64_t from_ns,
			int64_t to_ns)
{
	const struct history *history = division->history;
	const struct history_thread *thread = &history->thread[index];
	size_t end = thread->piece + thread->pieces;

	for (size_t i = history_piece_at(history, thread, from_ns); i < end && from_ns < to_ns;
	     i++) {
		const struct piece *piece = &history->piece[i];
		int64_t begin = piece->begin_ns < to_ns ? piece->begin_ns : to_ns;
		int64_t last = piece->end_ns < to_ns ? piece->end_ns : to_ns;

		if (++division->steps > WHY_STEPS) {
			division->is_cut = true;
			return;
		}
		if (begin > from_ns)
			add_states(division, node, index, NULL, from_ns, begin);
		from_ns = begin > from_ns ? begin : from_ns;
		if (last > from_ns)
			add_states(division, node, index, &history->call[piece->call], from_ns,
				   last);
		from_ns = last > from_ns ? last : from_ns;
	}
	if (from_ns < to_ns)
		add_states(division, node, index, NULL, from_ns, to_ns);
}

bool division_is_active(const struct division *division, uint32_t thread, int64_t from_ns,
			int64_t to_ns)
{
	for (unsigned i = 0; i < division->depth; i++)
		if (division->active[i].thread == thread &&
		    division->active[i].from_ns < to_ns && from_ns < division->active[i].to_ns)
			return true;
	return false;
}

/*
 * This is the recursion of the division: causes.c calls this function for the thread that caused a
 * wait. active[] contains the threads and times of the divisions that are not finished, from the
 * root to this thread.
 */
void division_thread(struct division *division, uint32_t node, uint32_t thread, int64_t from_ns,
		     int64_t to_ns)
{
	const struct history_thread *of = &division->history->thread[thread];
	unsigned depth = division->depth;

	/* The log has no facts about a thread before its first event and after its last event. */
	if (from_ns < of->first_ns)
		from_ns = of->first_ns;
	if (to_ns > of->last_ns)
		to_ns = of->last_ns;
	if (from_ns >= to_ns)
		return;
	/*
	 * The limit of the depth bounds the stack. The limit of steps bounds the time, because a
	 * tree of this depth could be huge.
	 */
	if (depth == WHY_DEPTH || division->steps > WHY_STEPS) {
		division->is_cut = true;
		return;
	}
	/*
	 * The thread is already being divided for an overlapping time if threads wait for each
	 * other in a circle. The chain ends here then.
	 */
	if (division_is_active(division, thread, from_ns, to_ns))
		return;
	division->active[depth].thread = thread;
	division->active[depth].from_ns = from_ns;
	division->active[depth].to_ns = to_ns;
	division->depth++;
	divide_walk(division, node, thread, from_ns, to_ns);
	division->depth--;
}

/* ------------------------------------------------------------------ equal labels */

/* Compares a node with another one that has the same parent, for table_find(). */
static bool has_label(const void *array, uint32_t index, const void *key)
{
	const struct why_node *node = (const struct why_node *)array + index;
	const struct why_node *wanted = key;

	return node->parent == wanted->parent && node->kind == wanted->kind &&
	       node->thread == wanted->thread && node->is_guess == wanted->is_guess &&
	       node->is_whole == wanted->is_whole && node->is_end == wanted->is_end &&
	       !strcmp(node->label, wanted->label);
}

/*
 * Adds a node to an equal one and makes its children children of that node. The node itself then
 * has no time, and its parent no longer has it.
 */
static void join_node(struct division *division, uint32_t to, uint32_t from)
{
	struct why_node *into = &division->node[to], *node = &division->node[from];

	if (node->longest_ns > into->longest_ns) {
		into->longest_ns = node->longest_ns;
		into->longest_at_ns = node->longest_at_ns;
	}
	into->ns += node->ns;
	into->below_ns += node->below_ns;
	into->count += node->count;
	into->calls += node->calls;
	into->bytes += node->bytes;
	into->answers += node->answers;
	into->answers_ns += node->answers_ns;
	into->vain += node->vain;
	into->has_more |= node->has_more;
	into->readers = node->readers > into->readers ? node->readers : into->readers;
	into->samples += node->samples;
	into->run_ns += node->run_ns;
	for (uint32_t at = node->child, next; at; at = next) {
		next = division->node[at].sibling;
		division->node[at].parent = to;
		division->node[at].sibling = into->child;
		into->child = at;
	}
	node->child = 0;
	node->ns = node->below_ns = 0;
	for (uint32_t next = node->holder; next; next = division->holder[next - 1].next) {
		const struct why_holder holder = division->holder[next - 1];

		division_holder(division, to, holder.thread, holder.ns, holder.count);
	}
}

/*
 * Joins the children of a node that have the same label, then the children of each child. Their
 * keys may differ in facts that the label does not have: two calls in one line of the program, or a
 * descriptor whose number was used again for another pipe. The user could not distinguish these
 * parts. WHY_DEPTH bounds the depth of the tree, and so the recursion.
 */
static void join_labels(struct division *division, struct table *table, uint32_t parent)
{
	uint32_t *link = &division->node[parent].child;

	while (*link && !division->err) {
		const uint32_t index = *link;
		struct why_node *node = &division->node[index];
		/* A label is missing only after an error of memory. */
		const char *label = node->label ? node->label : "";
		const uint64_t hash = hash_bytes(hash_number(hash_number(HASH_BEGIN, parent),
							     node->kind), label, strlen(label));
		const uint32_t at = node->label ? table_find(table, hash, has_label,
							     division->node, node) : TABLE_NONE;

		if (at != TABLE_NONE) {
			*link = node->sibling;
			join_node(division, at, index);
			continue;
		}
		if (node->label && !table_add(table, hash, index))
			division->err = ENOMEM;
		link = &node->sibling;
	}
	for (uint32_t at = division->node[parent].child; at && !division->err;
	     at = division->node[at].sibling)
		join_labels(division, table, at);
}

/*
 * Several divisions of one history may exist. The history remains unchanged, except that looking up
 * symbols fills the cache of symbols. That cache has no lock: one thread of the tool does all
 * divisions.
 */
int division_make(struct division *division, struct history *history, uint32_t thread,
		  int64_t from_ns, int64_t to_ns)
{
	struct table table = { .used = 0 };

	memset(division, 0, sizeof(*division));
	division->history = history;
	if (!vec_grow(&division->node, 0, 1))
		return division->err = ENOMEM;
	division->nodes = 1;
	division->node[0] = (struct why_node){
		.kind = WHY_WHO, .thread = thread, .count = 1,
		.ns = (uint64_t)to_ns - (uint64_t)from_ns,
	};
	division->active[0].thread = thread;
	division->active[0].from_ns = from_ns;
	division->active[0].to_ns = to_ns;
	division->depth = 1;
	division->err = common_find(&division->common, history, thread, from_ns, to_ns);
	divide_walk(division, 0, thread, from_ns, to_ns);
	share_samples(division);
	label_mixed(division);
	join_labels(division, &table, 0);
	table_fini(&table);
	return division->err;
}

/*
 * Call this function also after an error of division_make(). Then division->node is NULL, or has
 * the nodes that were added before the error.
 */
void division_fini(struct division *division)
{
	for (size_t i = 0; i < division->nodes; i++)
		free(division->node[i].label);
	free(division->node);
	free(division->taker);
	free(division->holder);
	table_fini(&division->of_holder);
	readers_fini(&division->readers);
	common_fini(&division->common);
	table_fini(&division->of_node);
}
