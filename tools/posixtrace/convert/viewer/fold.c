/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fold.c - the tree of folded stacks and its lines. */
#include "convert/viewer/fold.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

/* the greatest number of stacks, which limits the memory; a further stack ends the conversion */
#define NODES_MAX (1u << 26)

bool fold_begin(struct fold *fold)
{
	if (!vec_grow(&fold->node, fold->nodes, 1))
		return false;
	fold->node[fold->nodes++] = (struct fold_node){ .self = 0 };
	return true;
}

/* For table_find(): returns whether a node and the wanted node have the same parent and frame. */
static bool is_same_node(const void *array, uint32_t index, const void *key)
{
	const struct fold_node *node = (const struct fold_node *)array + index, *wanted = key;

	return node->parent == wanted->parent && node->frame == wanted->frame;
}

uint32_t fold_child(struct fold *fold, uint32_t parent, uint32_t frame)
{
	const struct fold_node wanted = { .parent = parent, .frame = frame };
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, parent), frame);
	uint32_t found = table_find(&fold->children, hash, is_same_node, fold->node, &wanted);

	if (found != TABLE_NONE)
		return found;
	if (fold->nodes == NODES_MAX || !vec_grow(&fold->node, fold->nodes, 1) ||
	    !table_add(&fold->children, hash, (uint32_t)fold->nodes)) {
		fold->err = ENOMEM;
		return 0;
	}
	fold->node[fold->nodes] = wanted;
	return (uint32_t)fold->nodes++;
}

/*
 * Writes a name. Semicolons and control characters are replaced, since semicolons and line ends
 * have a meaning in the format.
 */
static void put_fold_name(struct out *out, const char *name)
{
	for (; *name; name++)
		out_char(out, *name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name);
}

/* Writes the line of a stack: the names of its frames, and its own value. */
static void put_fold_line(struct fold *fold, struct out *out, char *const *name, uint32_t index)
{
	size_t depth = 0;

	for (uint32_t node = index; node; node = fold->node[node].parent) {
		if (!vec_grow(&fold->path, depth, 1)) {
			fold->err = ENOMEM;
			return;
		}
		fold->path[depth++] = node;
	}
	while (depth-- > 0) {
		put_fold_name(out, name[fold->node[fold->path[depth]].frame]);
		if (depth)
			out_char(out, ';');
	}
	out_printf(out, " %lld\n", (long long)fold->node[index].self);
}

void fold_put(struct fold *fold, struct out *out, char *const *name)
{
	for (uint32_t i = 1; i < fold->nodes && !fold->err; i++)
		put_fold_line(fold, out, name, i);
}

void fold_put_own(struct fold *fold, struct out *out, char *const *name)
{
	for (uint32_t i = 1; i < fold->nodes && !fold->err; i++)
		if (fold->node[i].self)
			put_fold_line(fold, out, name, i);
}

void fold_fini(struct fold *fold)
{
	free(fold->node);
	free(fold->path);
	table_fini(&fold->children);
}
