/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fold.h - stacks as a tree. Each node is a stack: the frames of its parent, and one frame more.
 * Node 0 is the empty stack. A frame is the index of a name.
 */
#ifndef POSIXTRACE_CONVERT_VIEWER_FOLD_H
#define POSIXTRACE_CONVERT_VIEWER_FOLD_H

#include <stdbool.h>

#include "base/out.h"
#include "base/table.h"

struct fold {
	struct fold_node {
		uint32_t parent, frame;
		int64_t self;    /* value of this stack alone: nanoseconds, or a number of events */
	} *node;
	size_t nodes;
	struct table children;   /* finds a node by its parent and its frame */
	uint32_t *path;          /* the nodes of a line, the innermost first */
	int err;
};

/* Makes node 0 of a fold whose members are all 0. Returns false if memory is lacking. */
bool fold_begin(struct fold *fold);

/*
 * Returns the node of the parent's stack with this frame added. Makes the node if it is new. If
 * memory is lacking, or if there are too many stacks, sets err to ENOMEM and returns 0.
 */
uint32_t fold_child(struct fold *fold, uint32_t parent, uint32_t frame);

/*
 * Writes a line for each stack: its names from the outermost to the innermost, and its value. If
 * memory is lacking, sets err.
 */
void fold_put(struct fold *fold, struct out *out, char *const *name);

/* Like fold_put(), but only for stacks whose own value is not 0. */
void fold_put_own(struct fold *fold, struct out *out, char *const *name);

/* Frees the memory. */
void fold_fini(struct fold *fold);

#endif
