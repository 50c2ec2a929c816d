/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * folded.c - folded stacks, the text from which flame graphs are made: a line for each distinct
 * stack of spans, from the outermost to the innermost, and the time that was spent in it alone.
 *
 * 	main;serve;parse 12345
 *
 * The times of equal stacks of all threads are added. The stacks are kept as a tree, in which each
 * node is a stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"
#include "convert/viewer/tracks.h"

extern const struct format format_folded;

#define NODES_MAX (1u << 26) /* more stacks end the conversion: each costs memory */

/* A stack: that of the parent, and one span more. Node 0 is the empty stack. */
struct node {
	uint32_t parent, frame;
	int64_t self_ns;
};

struct folded {
	struct tracks *tracks;
	struct node *node;
	size_t nodes;
	struct table children;   /* by parent and frame */
	uint32_t now;            /* the present stack, between the last edge and the next */
	int64_t since_ns;
	uint32_t *path;          /* the nodes of a line, the innermost first */
	int err;
};

static bool is_same(const void *array, uint32_t index, const void *key)
{
	const struct node *node = (const struct node *)array + index, *wanted = key;

	return node->parent == wanted->parent && node->frame == wanted->frame;
}

/* Returns the node of a stack with one span more, made if it is new; 0 without memory. */
static uint32_t child_of(struct folded *folded, uint32_t parent, uint32_t frame)
{
	const struct node wanted = { .parent = parent, .frame = frame };
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, parent), frame);
	uint32_t found = table_find(&folded->children, hash, is_same, folded->node, &wanted);

	if (found != TABLE_NONE)
		return found;
	if (folded->nodes == NODES_MAX || !vec_grow(&folded->node, folded->nodes, 1) ||
	    !table_add(&folded->children, hash, (uint32_t)folded->nodes)) {
		folded->err = ENOMEM;
		return 0;
	}
	folded->node[folded->nodes] = wanted;
	return (uint32_t)folded->nodes++;
}

/* Adds the time since the last edge to the present stack. Edges nest, as nesting.h guarantees. */
static void take_edge(void *arg, const struct edge *edge)
{
	struct folded *folded = arg;

	if (folded->err)
		return;
	folded->node[folded->now].self_ns += edge->at_ns - folded->since_ns;
	folded->since_ns = edge->at_ns;
	folded->now = edge->closes ? folded->node[folded->now].parent :
				     child_of(folded, folded->now, edge->frame);
}

/*
 * Writes a name. Semicolons and control characters are replaced, since semicolons and line ends
 * have a meaning in the format.
 */
static void put_name(struct out *out, const char *name)
{
	for (; *name; name++)
		out_char(out, *name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name);
}

/* Writes the line of a stack. A stack has a line even if no time was spent in it alone. */
static void put_line(struct folded *folded, uint32_t index)
{
	struct out *out = folded->tracks->out;
	size_t depth = 0;

	for (uint32_t node = index; node; node = folded->node[node].parent) {
		if (!vec_grow(&folded->path, depth, 1)) {
			folded->err = ENOMEM;
			return;
		}
		folded->path[depth++] = node;
	}
	while (depth-- > 0) {
		put_name(out, folded->tracks->name[folded->node[folded->path[depth]].frame]);
		if (depth)
			out_char(out, ';');
	}
	out_printf(out, " %lld\n", (long long)folded->node[index].self_ns);
}

/* The format has no place for losses: a notice reports them. */
static int folded_end(void *context, const struct fmt_end *end)
{
	struct tracks *tracks = context;
	struct folded folded = { .tracks = tracks };
	int err = 0;

	tracks_end(tracks, end);
	if (!vec_grow(&folded.node, folded.nodes, 1))
		return ENOMEM;
	folded.node[folded.nodes++] = (struct node){ .self_ns = 0 };
	for (size_t i = 0; i < tracks->tracks && !err && !folded.err; i++) {
		folded.now = 0;
		folded.since_ns = tracks->base_ns;
		err = nesting_tell(&tracks->nesting, &tracks->track[i]->nesting, take_edge,
				   &folded);
	}
	for (uint32_t i = 1; i < folded.nodes && !err && !folded.err; i++)
		put_line(&folded, i);
	if (tracks->lost)
		fmt_fault(tracks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "%llu events are lost, so that times may be wrong",
			  (unsigned long long)tracks->lost);
	if (!tracks->tracks)
		fmt_fault(tracks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "it has no spans, and no events with a duration: there are no stacks");
	free(folded.node);
	free(folded.path);
	table_fini(&folded.children);
	return err ? err : folded.err ? folded.err : tracks->out->err;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "folded stacks of spans, for flame graphs: a line for each stack",
	.suffix = "folded",
	.output = FMT_TO_BYTES,
	.open = tracks_open,
	.begin = tracks_begin,
	.thread = tracks_thread,
	.event = tracks_event,
	.lost = tracks_lost,
	.end = folded_end,
	.close = tracks_close,
	.scans = FMT_SCANS_SPANS,
};
