/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cause_list.c - collects the nodes of a division at which chains of causes end, and adds up the
 * times of nodes with the same label.
 *
 * The own time of a node is the part of its time that no child explains. So the times of all causes
 * add up to the explained time, and no moment is counted twice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "why/why.h"

/* The identity of a cause. The label belongs to the division, which outlives the list. */
struct cause_key {
	enum why_kind kind;
	const char *label;
	uint32_t thread;
};

/*
 * Returns whether causes of this kind are separate for each thread. They are separate if the thread
 * runs, waits for a CPU, or is blocked for an unknown reason.
 */
static bool has_thread(enum why_kind kind)
{
	return kind == WHY_RUN || kind == WHY_READY || kind == WHY_UNKNOWN;
}

/*
 * Compares the labels and not the keys of nodes, because a lock has a node below each thread that
 * waited for it.
 */
static bool is_cause(const void *array, uint32_t index, const void *key)
{
	const struct why_cause *cause = (const struct why_cause *)array + index;
	const struct cause_key *wanted = key;

	return cause->kind == wanted->kind && !strcmp(cause->label, wanted->label) &&
	       (!has_thread(cause->kind) || cause->thread == wanted->thread);
}

/*
 * Orders causes by time, the greatest first. Causes with equal times are in the order of their
 * labels, so that the output is the same each time.
 */
static int by_ns(const void *a, const void *b)
{
	const struct why_cause *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->label, y->label);
}

/*
 * The whole time of a READY node is its own: the time belongs to the thread without a processor.
 * The threads that had the processor meanwhile are skipped, so that no time is counted twice. In
 * the same way the whole time of the common function is its own, and the functions that it calls
 * are skipped. The nodes below a node with is_end are skipped, too. The time of a node with
 * is_outside belongs to the wait above it.
 */
uint64_t why_own_ns(const struct division *division, uint32_t index)
{
	const struct why_node *node = &division->node[index];
	uint64_t own;

	if (node->is_evidence || node->is_outside || division->node[node->parent].is_whole ||
	    (node->kind == WHY_WHO && division->node[node->parent].kind == WHY_READY))
		return 0;
	if (node->kind == WHY_READY || node->is_whole || node->is_end)
		return node->ns;
	own = division_own_ns(node);
	for (uint32_t at = node->child; at; at = division->node[at].sibling)
		own += division->node[at].is_outside ? division->node[at].ns : 0;
	return own;
}

/* Adds the own time of a node to the cause with its label. Returns false if memory is lacking. */
static bool add_node(struct why_causes *causes, struct table *table,
		     const struct division *division, uint32_t index)
{
	const struct why_node *node = &division->node[index];
	const uint64_t own = why_own_ns(division, index);
	struct cause_key key = { node->kind, node->label, node->thread };
	uint64_t hash;
	uint32_t at;

	/* A label is missing only after an error of memory, which the division reports. */
	if (!own || !node->label)
		return true;
	hash = hash_bytes(hash_number(HASH_BEGIN, key.kind), key.label, strlen(key.label));
	if (has_thread(key.kind))
		hash = hash_number(hash, key.thread);
	at = table_find(table, hash, is_cause, causes->cause, &key);
	if (at == TABLE_NONE) {
		at = (uint32_t)causes->count;
		if (!vec_grow(&causes->cause, causes->count, 1) || !table_add(table, hash, at))
			return false;
		causes->cause[causes->count++] = (struct why_cause){
			.kind = key.kind, .label = key.label, .thread = key.thread,
		};
	}
	causes->cause[at].is_mixed |= node->thread != causes->cause[at].thread;
	causes->cause[at].ns += own;
	causes->cause[at].count += node->count;
	/* The chain that is printed for a cause leads to the node that contributes most to it. */
	if (own > causes->cause[at].place_ns) {
		causes->cause[at].place_ns = own;
		causes->cause[at].node = index;
	}
	return true;
}

bool why_causes(struct why_causes *causes, const struct division *division)
{
	struct table table = { .used = 0 };
	bool good = true;

	*causes = (struct why_causes){ .count = 0 };
	for (size_t i = 1; good && i < division->nodes; i++)
		good = add_node(causes, &table, division, (uint32_t)i);
	table_fini(&table);
	if (causes->count)
		qsort(causes->cause, causes->count, sizeof(*causes->cause), by_ns);
	return good;
}

size_t why_children(const struct division *division, uint32_t node, uint32_t *child, size_t size)
{
	size_t count = 0;

	/*
	 * The children with the greatest times are kept, sorted by insertion. This is quick because
	 * size is small.
	 */
	for (uint32_t at = division->node[node].child; at; at = division->node[at].sibling) {
		size_t i = count < size ? count++ : size;

		if (i == size && division->node[child[--i]].ns >= division->node[at].ns)
			continue;
		for (; i && division->node[child[i - 1]].ns < division->node[at].ns; i--)
			child[i] = child[i - 1];
		child[i] = at;
	}
	return count;
}
