/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_tree.c - finds the parent and the trace of each record.
 *
 * The functions visit the entries backwards, from the last end to the first. In this order a span
 * precedes all spans and events that it contains. Each lane of a thread has a stack of the spans
 * whose beginning the walk has not passed yet. The top of the stack contains the next entry of the
 * lane, because spans of one lane do not cross. A span on a further lane crosses some other span of
 * the thread. If no span of a further lane contains an entry of that lane, a span of the first lane
 * may contain the entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/otlp/otlp.h"

/* greatest number of lanes with a stack; spans of further lanes have no parents */
#define LANES_MOST (1u << 20)
/* greatest number of spans of one stack; deeper spans are not parents */
#define DEPTH_MOST 4096
#define LOOKS_MOST 64         /* greatest number of spans of another lane that are examined */
/* greatest number of identifiers from fields; a further span gets a computed identifier */
#define GIVEN_MOST (1u << 20)

/* A span that may contain the next entries of the walk. */
struct tree_span {
	int64_t begin_ns, end_ns;
	uint64_t begin;
	/* a single event has made the span, so "begin" is the number of this event */
	bool is_whole;
	uint8_t trace[TRACE_ID_BYTES], span[SPAN_ID_BYTES];
};

struct tree_lane {
	struct tree_span *span;
	size_t depth, room;
};

struct tree {
	struct threads places; /* to find lanes: the handle is a hash, the mark is index + 1 */
	struct tree_lane *lane;
	size_t lanes;
	/*
	 * The identifiers of spans from fields: the handle is a hash of trace and span, the mark is
	 * the begin of the span and not 0.
	 */
	struct threads given;
};

/*
 * Returns the lane, and makes it if it does not exist. Returns NULL if memory is lacking or if
 * there are too many lanes.
 */
static struct tree_lane *lane_at(struct tree *tree, uint64_t thread, uint32_t lane)
{
	struct thread *place = threads_of(&tree->places, 0, 0, hash_number(thread, lane));

	if (!place)
		return NULL;
	if (!place->mark) {
		if (!vec_grow(&tree->lane, tree->lanes, 1))
			return NULL;
		place->mark = ++tree->lanes;
	}
	return &tree->lane[place->mark - 1];
}

/*
 * Returns whether the span began at this moment or before. For equal times, the numbers of the
 * events are compared.
 */
static bool has_begun(const struct tree_span *span, int64_t ns, uint64_t number)
{
	return span->begin_ns != ns ? span->begin_ns < ns : span->begin < number;
}

/*
 * Returns whether the span contains the entry. If the span is whole (is_whole), an entry that began
 * at the same time and ended earlier is inside of it. If their ends are equal, too, the order of
 * the two is unknown.
 */
static bool has_inside(const struct tree_span *span, const struct otlp_entry *entry)
{
	if (span->is_whole && span->begin_ns == entry->begin_ns &&
	    entry->begin_ns < entry->end_ns && entry->end_ns < span->end_ns)
		return true;
	return has_begun(span, entry->begin_ns, entry->begin);
}

/* Removes the spans that begin behind the end of the entry. */
static void pop_spans(struct tree_lane *lane, const struct otlp_entry *entry)
{
	while (lane->depth &&
	       !has_begun(&lane->span[lane->depth - 1], entry->end_ns, entry->end))
		lane->depth--;
}

/*
 * Returns the innermost span of the lane that contains the entry, or NULL. On the entry's own lane,
 * the result is the top of the stack. On another lane the top may cross the entry, so the function
 * also examines the spans below the top.
 */
static const struct tree_span *span_around(struct tree_lane *lane, const struct otlp_entry *entry)
{
	if (!lane)
		return NULL;
	pop_spans(lane, entry);
	for (size_t i = lane->depth; i && lane->depth - i < LOOKS_MOST; i--)
		if (has_inside(&lane->span[i - 1], entry))
			return &lane->span[i - 1];
	return NULL;
}

/*
 * Completes the identifiers of an entry. Because of a field trace_id, the entry may belong to
 * another trace than the span that contains it. In this case the containing span is not the parent,
 * and a Span gets a link to it.
 */
static void join_trace(struct otlp_entry *entry, const struct tree_span *around)
{
	struct otlp_context *context = &entry->context;
	bool has_trace = otlp_has(context->trace, TRACE_ID_BYTES);
	bool is_other = around && has_trace &&
			memcmp(context->trace, around->trace, TRACE_ID_BYTES) != 0;
	uint8_t *to = entry->signal == OTLP_LOGS ? context->span : context->parent;

	if (is_other) {
		memcpy(entry->link_trace, around->trace, TRACE_ID_BYTES);
		memcpy(entry->link_span, around->span, SPAN_ID_BYTES);
	} else if (around) {
		memcpy(context->trace, around->trace, TRACE_ID_BYTES);
		/*
		 * The span of the same thread that contains the entry becomes the parent, even if
		 * the field traceparent has a span of another process.
		 */
		if (!otlp_has(to, SPAN_ID_BYTES) || (context->flags & FLAG_REMOTE))
			memcpy(to, around->span, SPAN_ID_BYTES);
		context->flags &= ~FLAG_REMOTE;
	} else if (!has_trace && entry->signal == OTLP_TRACES) {
		otlp_context_trace(context->trace, context->span);
	}
}

/*
 * A program may record its current context with every event, so several spans may have one
 * identifier in their fields. The span that ends last keeps this identifier. Each of the other
 * spans gets a computed identifier. Its parent is the span around it, or the span with the
 * identifier, if the times permit this.
 */
static void own_identifier(struct tree *tree, struct otlp_entry *entry,
			   const struct tree_span *around)
{
	struct otlp_context *context = &entry->context;
	uint64_t begin_ns = entry->begin_ns > 0 ? (uint64_t)entry->begin_ns : 1;
	struct thread *given;
	uint64_t hash;

	if (!memcmp(context->span, entry->own, SPAN_ID_BYTES))
		return;
	hash = hash_bytes(HASH_BEGIN, context->trace, TRACE_ID_BYTES);
	hash = hash_bytes(hash, context->span, SPAN_ID_BYTES);
	given = threads_of(&tree->given, 0, 0, hash);
	if (given && !given->mark) {
		given->mark = begin_ns;
		return;
	}
	if (around && !memcmp(context->trace, around->trace, TRACE_ID_BYTES)) {
		memcpy(context->parent, around->span, SPAN_ID_BYTES);
	} else if (given && given->mark <= begin_ns) {
		memcpy(context->parent, context->span, SPAN_ID_BYTES);
		context->flags &= ~FLAG_REMOTE;
	}
	memcpy(context->span, entry->own, SPAN_ID_BYTES);
}

static int push_span(struct tree_lane *lane, const struct otlp_entry *entry)
{
	struct tree_span *span;

	if (lane->depth == DEPTH_MOST)
		return 0;
	if (!vec_reserve(&lane->span, &lane->room, lane->depth, 1))
		return ENOMEM;
	span = &lane->span[lane->depth++];
	span->begin_ns = entry->begin_ns;
	span->end_ns = entry->end_ns;
	span->begin = entry->begin;
	span->is_whole = entry->begin == entry->end;
	memcpy(span->trace, entry->context.trace, TRACE_ID_BYTES);
	memcpy(span->span, entry->context.span, SPAN_ID_BYTES);
	return 0;
}

/*
 * Returns a span around the entry that began at the same time as the entry, or NULL. Such a span is
 * on the next lane: lanes order spans with the same begin by their ends, so the span and the entry
 * seem to cross.
 */
static const struct tree_span *span_of_same_begin(struct tree *tree, const struct otlp_entry *entry)
{
	const struct tree_span *around;

	if (entry->begin_ns >= entry->end_ns)
		return NULL;
	around = span_around(lane_at(tree, entry->thread, entry->lane + 1), entry);
	return around && around->is_whole && around->begin_ns == entry->begin_ns ? around : NULL;
}

/* Receives the entries from the last to the first, and completes each. */
static int place_entry(void *arg, struct otlp_entry *entry)
{
	struct tree *tree = arg;
	const struct tree_span *around = NULL, *same;
	struct tree_lane *lane = NULL;

	if (entry->thread) {
		same = span_of_same_begin(tree, entry);
		if (entry->lane)
			around = span_around(lane_at(tree, entry->thread, 0), entry);
		/*
		 * The call above may have moved the array of lanes, so the entry's own lane is
		 * found only now.
		 */
		lane = lane_at(tree, entry->thread, entry->lane);
		if (span_around(lane, entry))
			around = span_around(lane, entry);
		if (same && (!around || around->begin_ns < same->begin_ns))
			around = same;
	}
	join_trace(entry, around);
	if (entry->signal == OTLP_TRACES)
		own_identifier(tree, entry, around);
	return lane && entry->signal == OTLP_TRACES ? push_span(lane, entry) : 0;
}

int otlp_tree(struct otlp *otlp)
{
	struct tree tree = { .lane = NULL };
	int err;

	threads_init(&tree.places, true, LANES_MOST);
	threads_init(&tree.given, true, GIVEN_MOST);
	err = otlp_visit(otlp, true, place_entry, &tree);
	for (size_t i = 0; i < tree.lanes; i++)
		free(tree.lane[i].span);
	free(tree.lane);
	threads_fini(&tree.places);
	threads_fini(&tree.given);
	return err;
}
