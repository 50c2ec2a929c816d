/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "template/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/flow.h"
#include "say.h"

/* An event whose writer was held up stands behind younger ones: so much later there are none. */
#define LATE_NS INT64_C(1000000000)

struct sink_type {
	const struct template *template; /* NULL: the built-in form */
	bool chosen;
};

static struct template_sink *used;

void template_sink_use(struct template_sink *sink)
{
	used = sink;
}

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	(void)output;
	used->flow = flow;
	*context = used;
	return 0;
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct template_sink *sink = context;

	sink->big_endian = facts->big_endian;
	if (sink->header)
		columns_header(sink->out, &sink->columns);
	return sink->out->err;
}

/* What the trace calls it; without a number of its own, the one that logs know it by. */
static uint32_t number_of(const struct fmt_type *type)
{
	return type->number ? (uint32_t)type->number : type->id;
}

static int learn_type(void *context, const struct fmt_type *type)
{
	struct template_sink *sink = context;
	struct sink_type *more = realloc(sink->type, (type->index + 1) * sizeof(*more));

	if (!more)
		return ENOMEM;
	sink->type = more;
	sink->types = type->index + 1;
	more[type->index] = (struct sink_type){
		.template = templates_for_event(sink->templates, type->name, number_of(type)),
		.chosen = select_type(sink->select, type->name, number_of(type)),
	};
	return 0;
}

/* What is left does not matter: the flow is told to stop, which is no failure of ours. */
static int stop(struct template_sink *sink)
{
	sink->done = true;
	sink->status = sink->flow->status;
	return -1;
}

static void show(struct template_sink *sink, const struct sink_type *type,
		 const struct fmt_event *event)
{
	const struct template_event shown = {
		.shown = event->type->name,
		.id = number_of(event->type),
		.pid = event->pid,
		.tid = event->thread ? event->thread : event->tid,
		.address = event->address,
		.time_ns = event->time_ns,
		.truncated = (unsigned)event->truncation,
		.data = event->data,
		.data_len = event->data_len,
		.big_endian = sink->big_endian,
	};

	if (!run_event(&sink->run, type->template, &shown))
		return;
	columns_event(sink->out, &sink->columns, &shown,
		      type->template ? type->template->level : LEVEL_APPL, sink->run.prose.text,
		      sink->run.prose.len);
}

static int take(void *context, const struct fmt_event *event)
{
	struct template_sink *sink = context;
	const struct sink_type *type = &sink->type[event->type->index];
	__int128 elapsed_ns;

	if (!sink->any)
		sink->columns.first_ns = event->time_ns;
	sink->any = true;
	elapsed_ns = (__int128)event->time_ns - sink->columns.first_ns;
	if (sink->select->has_end && elapsed_ns > (__int128)sink->select->end_ns + LATE_NS)
		return stop(sink);
	if (!type->chosen ||
	    !select_event(sink->select, event->pid, event->thread ? event->thread : event->tid,
			  elapsed_ns))
		return 0;
	show(sink, type, event);
	return sink->run.stopped ? stop(sink) : sink->out->err;
}

static int lost(void *context, const struct fmt_lost *lost)
{
	struct template_sink *sink = context;
	const char *cause = posix_trace_lost_name_np(lost->cause);
	const char *path = fmt_input_name(sink->flow->input);

	if (lost->counted)
		say_warning("%s: %llu events lost: %s", path, (unsigned long long)lost->count,
			    cause ? cause : "?");
	else
		say_warning("%s: events were lost: %s", path, cause ? cause : "?");
	return 0;
}

static int end(void *context, const struct fmt_end *end)
{
	struct template_sink *sink = context;
	const struct posix_trace_ledger_np *ledger = &end->ledger;

	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (ledger->lost[i])
			say_warning("%s: %llu of %llu events lost: %s",
				    fmt_input_name(sink->flow->input),
				    (unsigned long long)ledger->lost[i],
				    (unsigned long long)ledger->called, posix_trace_lost_name_np(i));
	return sink->out->err;
}

static void close_sink(void *context)
{
	struct template_sink *sink = context;

	free(sink->type);
	sink->type = NULL;
}

const struct format template_format = {
	.name = "report",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = begin,
	.type = learn_type,
	.event = take,
	.lost = lost,
	.end = end,
	.close = close_sink,
};
