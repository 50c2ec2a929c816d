/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * formats/speedscope.c - the file of speedscope: for each thread the spans that nest, and the events
 * that say how long they took, as a flame graph.
 *
 * The file wants all of a thread in one place, and a trace has the threads mixed: nesting.h. Times are
 * nanoseconds since the first event, since readers take numbers as doubles.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/format.h"
#include "formats/duration.h"
#include "formats/jsontext.h"
#include "formats/lane.h"
#include "formats/spans.h"

extern const struct format format_speedscope;

#define FRAME_NAME_BYTES 4096

/* A thread with spans. */
struct track {
	uint32_t pid, tid;
	uint64_t thread;
	struct lane lane;
};

/* What is shown of a type. */
struct kind {
	uint32_t frame;
	int field; /* of how long it took; -1: none */
};

struct speedscope {
	struct fmt_flow *flow;
	struct out *out;
	struct spans spans;
	struct track **lane;
	size_t lanes, lanes_room;
	struct kind *kind;             /* by index of the type */
	size_t types;
	char **name;                   /* of frames */
	size_t frames;
	struct nesting nesting;
	bool has_base;
	int64_t base_ns, last_ns;
	uint64_t lost;
	char *trace;
	int err;
};

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct speedscope *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return ENOMEM;
	err = nesting_init(&s->nesting);
	if (err) {
		free(s);
		return err;
	}
	s->flow = flow;
	s->out = output->out;
	*context = s;
	return 0;
}

static void close_sink(void *context)
{
	struct speedscope *s = context;

	for (size_t i = 0; i < s->lanes; i++) {
		nesting_lane_fini(&s->lane[i]->lane.nesting);
		free(s->lane[i]);
	}
	for (size_t i = 0; i < s->frames; i++)
		free(s->name[i]);
	free(s->lane);
	free(s->name);
	free(s->kind);
	free(s->trace);
	spans_fini(&s->spans);
	nesting_fini(&s->nesting);
	free(s);
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct speedscope *s = context;

	s->has_base = facts->has_scan;
	s->base_ns = s->last_ns = facts->has_scan ? facts->least_ns : 0;
	s->trace = strndup(facts->name, sizeof(facts->name));
	return s->trace ? 0 : ENOMEM;
}

static int type(void *context, const struct fmt_type *type)
{
	struct speedscope *s = context;
	struct kind *kind = realloc(s->kind, (type->index + 1) * sizeof(*kind));
	char **name;

	if (!kind)
		return ENOMEM;
	s->kind = kind;
	s->types = type->index + 1;
	kind += type->index;
	kind->frame = (uint32_t)s->frames;
	kind->field = duration_field(type);
	if (type->phase != FMT_BEGIN && kind->field < 0)
		return 0;
	name = realloc(s->name, (s->frames + 1) * sizeof(*name));
	if (!name)
		return ENOMEM;
	s->name = name;
	name[s->frames] = strndup(type->phase == FMT_BEGIN ? type->span : type->name, FRAME_NAME_BYTES);
	return name[s->frames++] ? 0 : ENOMEM;
}

/* ------------------------------------------------------------------ by thread */

static struct track *new_lane(struct speedscope *s, const struct spans_thread *thread)
{
	struct track *lane;

	if (s->lanes == s->lanes_room) {
		size_t room = s->lanes_room ? 2 * s->lanes_room : 64;
		struct track **more = realloc(s->lane, room * sizeof(*more));

		if (!more)
			return NULL;
		s->lane = more;
		s->lanes_room = room;
	}
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->pid = thread->pid;
	lane->tid = thread->tid;
	lane->thread = thread->thread;
	lane_init(&lane->lane);
	s->lane[s->lanes++] = lane;
	return lane;
}

static struct track *lane_of(struct speedscope *s, struct spans_thread *thread)
{
	if (!thread->mark) {
		if (!new_lane(s, thread))
			return NULL;
		thread->mark = s->lanes;
	}
	return s->lane[thread->mark - 1];
}

static int put_duration(struct speedscope *s, const struct fmt_event *event, uint64_t took_ns)
{
	struct spans_thread *thread = spans_of(&s->spans, event);
	struct track *lane = thread ? lane_of(s, thread) : NULL;

	if (!lane)
		return thread ? ENOMEM : 0;
	return lane_add(&lane->lane, &s->nesting, s->kind[event->type->index].frame, thread->depth,
			event->time_ns, took_ns, s->base_ns);
}

static int put_span(struct speedscope *s, const struct fmt_event *event)
{
	bool ends = event->type->phase == FMT_END;
	struct spans_thread *thread = spans_of(&s->spans, event);
	unsigned depth = thread ? thread->depth : 0;
	const struct fmt_type *opened = ends && depth ? thread->open[depth - 1] : event->type;
	struct track *lane;

	if (!thread || !spans_event(&s->spans, event))
		return 0;
	lane = lane_of(s, thread);
	if (!lane)
		return ENOMEM;
	if (ends)
		return lane_end_span(&lane->lane, &s->nesting, s->kind[opened->index].frame, depth,
				     event->time_ns);
	lane_begin_span(&lane->lane, depth, event->time_ns);
	return 0;
}

static int event(void *context, const struct fmt_event *event)
{
	struct speedscope *s = context;
	uint64_t took_ns;

	if (!s->has_base)
		s->base_ns = s->last_ns = event->time_ns;
	s->has_base = true;
	if (event->time_ns > s->last_ns)
		s->last_ns = event->time_ns;
	if (event->type->nests)
		return put_span(s, event);
	return duration_of(event, s->kind[event->type->index].field, &took_ns)
		? put_duration(s, event, took_ns) : 0;
}

struct cut {
	struct speedscope *s;
	int64_t at_ns;
};

/* Nobody knows when the spans that were open really ended. */
static void cut_spans(void *arg, const struct spans_thread *thread)
{
	struct cut *cut = arg;

	for (unsigned depth = thread->depth; depth && !cut->s->err; depth--)
		cut->s->err = lane_end_span(&cut->s->lane[thread->mark - 1]->lane, &cut->s->nesting,
					    cut->s->kind[thread->open[depth - 1]->index].frame,
					    depth, cut->at_ns);
}

static int lost(void *context, const struct fmt_lost *lost)
{
	struct speedscope *s = context;
	struct cut cut = { s, lost->has_interval ? lost->end_ns : s->last_ns };

	if (lost->counted && lost->cause != POSIX_TRACE_LOST_CLEARED_NP)
		s->lost += lost->count;
	spans_clear(&s->spans, cut_spans, &cut);
	return s->err;
}

/* ------------------------------------------------------------------ the file */

struct edges {
	struct speedscope *s;
	bool any;
};

static void put_edge(void *arg, const struct edge *edge)
{
	struct edges *edges = arg;
	struct out *out = edges->s->out;
	char *p = out_room(out);

	memcpy(p, edges->any ? ",\n{" : "\n{", 3);
	p += edges->any ? 3 : 2;
	edges->any = true;
	memcpy(p, edge->closes ? "\"type\":\"C\",\"frame\":" : "\"type\":\"O\",\"frame\":", 19);
	p = put_unsigned(p + 19, edge->frame);
	memcpy(p, ",\"at\":", 6);
	p = put_unsigned(p + 6, (uint64_t)edge->at_ns - (uint64_t)edges->s->base_ns);
	*p++ = '}';
	out_done(out, p);
}

static void put_thread_name(struct speedscope *s, const struct track *lane)
{
	char known[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1], *text;
	bool has_name = fmt_object_name(s->flow, lane->pid, lane->thread, s->last_ns, known);
	int len;

	if (lane->tid)
		len = asprintf(&text, "%s%sthread %u of process %u", has_name ? known : "",
			       has_name ? ", " : "", lane->tid, lane->pid);
	else
		len = asprintf(&text, "%s%sthread %#llx of process %u", has_name ? known : "",
			       has_name ? ", " : "", (unsigned long long)lane->thread, lane->pid);
	if (len < 0) {
		s->err = ENOMEM;
		return;
	}
	json_string(s->out, text, (size_t)len);
	free(text);
}

static int put_lane(struct speedscope *s, const struct track *lane)
{
	struct edges edges = { .s = s };
	int err;

	out_str(s->out, "{\"type\":\"evented\",\"name\":");
	put_thread_name(s, lane);
	out_printf(s->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%llu,\"events\":[",
		   (unsigned long long)((uint64_t)(s->last_ns > lane->lane.last_ns ? s->last_ns : lane->lane.last_ns) -
					(uint64_t)s->base_ns));
	err = nesting_tell(&s->nesting, &lane->lane.nesting, put_edge, &edges);
	out_str(s->out, "]}");
	return err ? err : s->err;
}

static int put_name(struct speedscope *s)
{
	char *text;
	int len = s->lost ? asprintf(&text, "%s, %llu events lost", s->trace, (unsigned long long)s->lost)
			  : asprintf(&text, "%s", s->trace);

	if (len < 0)
		return ENOMEM;
	json_string(s->out, text, (size_t)len);
	free(text);
	return 0;
}

static int end(void *context, const struct fmt_end *end)
{
	struct speedscope *s = context;
	struct cut cut = { s, s->last_ns };
	struct out *out = s->out;
	int err;

	spans_clear(&s->spans, cut_spans, &cut);
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		s->lost += i == POSIX_TRACE_LOST_CLEARED_NP ? 0 : end->ledger.lost[i];
	out_str(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":");
	err = s->err ? s->err : put_name(s);
	out_printf(out, ",\"exporter\":\"posixtrace\",\"activeProfileIndex\":0,\"profiles\":[");
	for (size_t i = 0; i < s->lanes && !err; i++) {
		out_str(out, i ? ",\n" : "\n");
		err = put_lane(s, s->lane[i]);
	}
	out_str(out, "],\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < s->frames; i++) {
		out_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_string(out, s->name[i], strlen(s->name[i]));
		out_char(out, '}');
	}
	out_str(out, "]}}\n");
	if (!s->lanes)
		fmt_fault(s->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "it has no spans that nest, and no events that say how long they took: "
			  "speedscope has nothing to show");
	if (s->nesting.left_out)
		fmt_fault(s->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "%llu spans that cross another one of their thread are left out",
			  (unsigned long long)s->nesting.left_out);
	return err ? err : out->err;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.summary = "flame graphs of spans for speedscope",
	.suffix = "speedscope",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = begin,
	.type = type,
	.event = event,
	.lost = lost,
	.end = end,
	.close = close_sink,
	.scans = true,
};
