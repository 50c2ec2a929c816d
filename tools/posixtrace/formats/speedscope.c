/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * formats/speedscope.c - the file of speedscope: for each thread the spans that nest, as a flame graph.
 *
 * The file wants all of a thread in one place, and a trace has the threads mixed. So what opens and
 * closes goes into a temporary file first, in blocks of one thread each, which are then written thread
 * by thread. Times are nanoseconds since the first event, since readers take numbers as doubles.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/format.h"
#include "formats/jsontext.h"
#include "formats/spans.h"
#include "spool.h"

extern const struct format format_speedscope;

#define BLOCK_EDGES 32

struct edge { /* a span opens or closes */
	int64_t at_ns;
	uint32_t frame;
	bool closes;
};

/* A thread with spans. */
struct lane {
	uint32_t pid, tid;
	uint64_t thread;
	int64_t last_ns;
	struct edge edge[BLOCK_EDGES]; /* not yet in the file */
	size_t edges;
	uint64_t *block;               /* those in the file */
	size_t blocks, room;
};

struct speedscope {
	struct fmt_flow *flow;
	struct out *out;
	struct spans spans;
	struct lane **lane;
	size_t lanes, lanes_room;
	uint32_t *frame;               /* by index of a type that begins spans */
	size_t types;
	char **name;                   /* of frames */
	size_t frames;
	int spool;
	uint64_t spooled;              /* blocks */
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
	err = spool_create(&s->spool);
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
		free(s->lane[i]->block);
		free(s->lane[i]);
	}
	for (size_t i = 0; i < s->frames; i++)
		free(s->name[i]);
	free(s->lane);
	free(s->name);
	free(s->frame);
	free(s->trace);
	spans_fini(&s->spans);
	close(s->spool);
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
	uint32_t *frame = realloc(s->frame, (type->index + 1) * sizeof(*frame));
	char **name;

	if (!frame)
		return ENOMEM;
	s->frame = frame;
	s->types = type->index + 1;
	frame[type->index] = (uint32_t)s->frames;
	if (type->phase != FMT_BEGIN)
		return 0;
	name = realloc(s->name, (s->frames + 1) * sizeof(*name));
	if (!name)
		return ENOMEM;
	s->name = name;
	name[s->frames] = strdup(type->span);
	return name[s->frames++] ? 0 : ENOMEM;
}

/* ------------------------------------------------------------------ by thread */

static int write_block(struct speedscope *s, struct lane *lane)
{
	size_t len = sizeof(lane->edge);

	if (lane->blocks == lane->room) {
		size_t room = lane->room ? 2 * lane->room : 16;
		uint64_t *more = realloc(lane->block, room * sizeof(*more));

		if (!more)
			return ENOMEM;
		lane->block = more;
		lane->room = room;
	}
	if (pwrite(s->spool, lane->edge, len, (off_t)(s->spooled * len)) != (ssize_t)len)
		return errno ? errno : ENOSPC;
	lane->block[lane->blocks++] = s->spooled++;
	lane->edges = 0;
	return 0;
}

static struct lane *new_lane(struct speedscope *s, const struct spans_thread *thread)
{
	struct lane *lane;

	if (s->lanes == s->lanes_room) {
		size_t room = s->lanes_room ? 2 * s->lanes_room : 64;
		struct lane **more = realloc(s->lane, room * sizeof(*more));

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
	lane->last_ns = INT64_MIN;
	s->lane[s->lanes++] = lane;
	return lane;
}

/* A thread's time never goes back there: what does stands where the one before stood. */
static int put_edge(struct speedscope *s, struct lane *lane, uint32_t frame, int64_t at_ns, bool closes)
{
	struct edge *edge = &lane->edge[lane->edges++];

	if (at_ns < lane->last_ns)
		at_ns = lane->last_ns;
	lane->last_ns = at_ns;
	memset(edge, 0, sizeof(*edge));
	edge->at_ns = at_ns;
	edge->frame = frame;
	edge->closes = closes;
	return lane->edges == BLOCK_EDGES ? write_block(s, lane) : 0;
}

static int event(void *context, const struct fmt_event *event)
{
	struct speedscope *s = context;
	bool closes = event->type->phase == FMT_END;
	struct spans_thread *thread;
	const struct fmt_type *opened;
	struct lane *lane;

	if (!s->has_base)
		s->base_ns = s->last_ns = event->time_ns;
	s->has_base = true;
	if (event->time_ns > s->last_ns)
		s->last_ns = event->time_ns;
	if (!event->type->nests)
		return 0;
	thread = spans_of(&s->spans, event);
	opened = thread && closes && thread->depth ? thread->open[thread->depth - 1] : event->type;
	if (!thread || !spans_event(&s->spans, event))
		return 0;
	if (!thread->mark) {
		if (!new_lane(s, thread))
			return ENOMEM;
		thread->mark = s->lanes;
	}
	lane = s->lane[thread->mark - 1];
	return put_edge(s, lane, s->frame[opened->index], event->time_ns, closes);
}

struct cut {
	struct speedscope *s;
	int64_t at_ns;
};

/* Nobody knows when the spans that were open really ended. */
static void cut_spans(void *arg, const struct spans_thread *thread)
{
	struct cut *cut = arg;

	for (unsigned i = thread->depth; i-- && !cut->s->err;)
		cut->s->err = put_edge(cut->s, cut->s->lane[thread->mark - 1],
				       cut->s->frame[thread->open[i]->index], cut->at_ns, true);
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

static void put_edges(struct speedscope *s, const struct edge *edge, size_t edges, bool *first)
{
	for (size_t i = 0; i < edges; i++) {
		char *p = out_room(s->out);

		memcpy(p, *first ? "\n{" : ",\n{", 3);
		p += *first ? 2 : 3;
		*first = false;
		memcpy(p, edge[i].closes ? "\"type\":\"C\",\"frame\":" : "\"type\":\"O\",\"frame\":", 19);
		p = put_unsigned(p + 19, edge[i].frame);
		memcpy(p, ",\"at\":", 6);
		p = put_unsigned(p + 6, (uint64_t)edge[i].at_ns - (uint64_t)s->base_ns);
		*p++ = '}';
		out_done(s->out, p);
	}
}

static void put_thread_name(struct speedscope *s, const struct lane *lane)
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

static int put_lane(struct speedscope *s, const struct lane *lane)
{
	struct edge block[BLOCK_EDGES];
	bool first = true;

	out_str(s->out, "{\"type\":\"evented\",\"name\":");
	put_thread_name(s, lane);
	out_printf(s->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%llu,\"events\":[",
		   (unsigned long long)((uint64_t)(s->last_ns > lane->last_ns ? s->last_ns : lane->last_ns) -
					(uint64_t)s->base_ns));
	for (size_t i = 0; i < lane->blocks; i++) {
		if (pread(s->spool, block, sizeof(block), (off_t)(lane->block[i] * sizeof(block))) !=
		    (ssize_t)sizeof(block))
			return EIO;
		put_edges(s, block, BLOCK_EDGES, &first);
	}
	put_edges(s, lane->edge, lane->edges, &first);
	out_str(s->out, "]}");
	return s->err;
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
			  "it has no spans that nest: speedscope has nothing to show");
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
