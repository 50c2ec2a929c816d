/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sink.c - the sink "parquet": a folder with a file of Apache Parquet for each table. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/vec.h"
#include "convert/parquet/parquet.h"
#include "log/logfile.h"
#include "query/query_columns.h"

extern const struct format format_parquet;


/*
 * The sink writes only the columns of the table "events" before this one. The columns from this one
 * on are computed by the command query.
 */
#define FIRST_COMPUTED QUERY_FUNCTION

/*
 * Chooses the compression. Without the option, the function chooses zstd if the library of zstd
 * exists.
 */
static int choose_codec(struct fmt_flow *flow, enum codec *codec)
{
	const char *name = fmt_option(flow, "compression");

	if (name && strcmp(name, "none") != 0 && strcmp(name, "zstd") != 0) {
		fmt_option_wrong(flow, "compression", "zstd or none");
		return -1;
	}
	*codec = CODEC_NONE;
	if (name && !strcmp(name, "none"))
		return 0;
	if (codec_has_zstd()) {
		*codec = CODEC_ZSTD;
	} else if (name) {
		say("--compression=zstd: libzstd is not there; install it, in Debian libzstd1");
		return -1;
	}
	return 0;
}

static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end);

static int open_events(struct parquet_sink *sink)
{
	int err = parquet_table_create(&sink->events, sink->folder, query_table_name(QUERY_EVENTS),
				       sink->codec);

	for (int i = 0; !err && i < FIRST_COMPUTED; i++)
		parquet_column(&sink->events.file, query_columns[i].name,
			       i == QUERY_DATA ? COLUMN_BLOB
			       : strcmp(query_columns[i].type, "TEXT") != 0 ? COLUMN_INTEGER
									     : COLUMN_TEXT);
	return err ? err : sink->events.file.err;
}

static void remove_files(const struct parquet_sink *sink)
{
	char path[64];

	for (int i = QUERY_EVENTS; i < QUERY_TABLES; i++) {
		snprintf(path, sizeof(path), "%s.parquet", query_table_name(i));
		unlinkat(sink->folder, path, 0);
	}
}

/*
 * May also be called for a sink that parquet_open() could not complete. output.c removes the folder
 * in this case.
 */
static void parquet_close(void *context)
{
	struct parquet_sink *sink = context;

	pairings_fini(&sink->pairings);
	free(sink->number);
	parquet_fields_free(&sink->fields);
	parquet_table_close(&sink->events);
	parquet_table_close(&sink->spans);
	parquet_counts_free(&sink->counts);
	if (!sink->has_ended)
		remove_files(sink);
	if (sink->folder >= 0)
		close(sink->folder);
	free(sink);
}

static int parquet_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct parquet_sink *sink = calloc(1, sizeof(*sink));
	int err;

	if (!sink)
		return ENOMEM;
	*context = sink;
	sink->flow = flow;
	sink->shown = output->shown;
	threads_init(&sink->counts.threads, true, 0);
	sink->folder = open(output->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = sink->folder < 0 ? errno : choose_codec(flow, &sink->codec);
	if (!err)
		err = open_events(sink);
	if (!err)
		err = parquet_table_open(&sink->spans, sink->folder, &query_schema[QUERY_SPANS],
					 sink->codec);
	return err ? err : pairings_init(&sink->pairings, flow, take_span, sink);
}

static int parquet_type(void *context, const struct fmt_type *type)
{
	struct parquet_sink *sink = context;

	return parquet_fields_add(&sink->fields, type) ? 0 : ENOMEM;
}

/* Receives a span from the pairing. query_schema[QUERY_SPANS] defines the columns. */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct parquet_sink *sink = arg;
	struct parquet *file = &sink->spans.file;
	const struct fmt_event *at = sink->pairings.at;

	(void)end;
	parquet_string(file, 0, span->series->name);
	parquet_string(file, 1, pairing_kind_name(span->series->kind));
	parquet_integer(file, 2, span->begin_ns);
	parquet_integer(file, 3, span->end_ns);
	parquet_integer(file, 4, span_signed_ns(span));
	if (span->has_cpu)
		parquet_integer(file, 5, (int64_t)span->cpu_ns);
	parquet_integer(file, 6, span->pid);
	parquet_integer(file, 7, span->tid);
	parquet_integer(file, 8, span->begin_tid);
	parquet_text(file, 9, at->type->name, at->type->name_len);
	parquet_string(file, 10, sink->pairings.log[at->source].name);
	parquet_end_row(file);
}

/* Returns the number of the event's type in its log, or 0 if the type has no number. */
static uint64_t number_of(struct parquet_sink *sink, const struct fmt_event *event)
{
	const struct fmt_type *type = event->type;
	const struct logfile *log;
	size_t place = type->index * sink->pairings.logs + event->source;

	if (type->number || !sink->flow->logs)
		return type->number;
	/* Each of several logs may have another number for the type. */
	if (!vec_reach(&sink->number, &sink->numbers, place))
		return 0;
	log = sink->flow->logs[event->source];
	for (size_t i = 0; !sink->number[place] && i < log->types; i++)
		if (log->list[i]->name_len == type->name_len &&
		    !memcmp(log->list[i]->name, type->name, type->name_len))
			sink->number[place] = log->list[i]->id;
	return sink->number[place];
}

/*
 * Writes a row of the table "events". The number of the type is NULL if the type has none in the
 * log. The level is NULL if the type has none.
 */
static void put_event(struct parquet_sink *sink, const struct fmt_event *event)
{
	struct parquet *file = &sink->events.file;
	const struct fmt_type *type = event->type;
	bool truncated = event->truncation != POSIX_TRACE_NOT_TRUNCATED;
	bool late = event->flags & POSIX_TRACE_EVENT_LATE_NP;
	uint64_t number = number_of(sink, event);

	parquet_integer(file, QUERY_TIME, event->time_ns);
	parquet_text(file, QUERY_NAME, type->name, type->name_len);
	if (number)
		parquet_integer(file, QUERY_TYPE, (int64_t)number);
	parquet_integer(file, QUERY_PID, event->pid);
	parquet_integer(file, QUERY_TID, event->tid);
	parquet_integer(file, QUERY_THREAD, (int64_t)event->thread);
	parquet_integer(file, QUERY_ADDRESS, (int64_t)event->address);
	if (type->level > 0)
		parquet_integer(file, QUERY_LEVEL, type->level);
	parquet_integer(file, QUERY_LEN, (int64_t)event->data_len);
	parquet_bytes(file, QUERY_DATA, event->data, event->data_len);
	parquet_string(file, QUERY_FLAGS, query_flags(truncated, late));
	parquet_string(file, QUERY_LOG, sink->pairings.log[event->source].name);
	parquet_fields_put(&sink->fields, file, event);
}

static int parquet_event(void *context, const struct fmt_event *event)
{
	struct parquet_sink *sink = context;
	int err;

	parquet_fields_make(&sink->fields, &sink->events.file);
	put_event(sink, event);
	err = parquet_end_row(&sink->events.file);
	if (!err)
		err = pairings_event(&sink->pairings, event, true);
	if (!err)
		err = sink->spans.file.err;
	/*
	 * The result of this call is not checked, because a thread beyond the limit of threads.h
	 * gets no row.
	 */
	if (!err && !parquet_has_logs(sink))
		threads_of(&sink->counts.threads, event->pid, event->tid, event->thread);
	return err;
}

static int parquet_unwanted(void *context, const struct fmt_event *event)
{
	struct parquet_sink *sink = context;
	int err = pairings_event(&sink->pairings, event, false);

	return err ? err : sink->spans.file.err;
}

static int parquet_object(void *context, const struct fmt_object *object)
{
	struct parquet_sink *sink = context;

	return sink->flow->logs ? 0 : parquet_counts_object(sink, object);
}

static int parquet_lost(void *context, const struct fmt_lost *lost)
{
	struct parquet_sink *sink = context;

	pairings_cut(&sink->pairings, lost->source);
	return parquet_has_logs(sink) ? 0 : parquet_counts_lost(&sink->counts, lost);
}

static int parquet_end(void *context, const struct fmt_end *end)
{
	struct parquet_sink *sink = context;
	int err;

	parquet_fields_make(&sink->fields, &sink->events.file);
	err = parquet_table_end(&sink->events);
	if (!err)
		err = parquet_table_end(&sink->spans);
	if (!err && sink->flow->logs)
		err = parquet_logs(sink);
	if (!err && !parquet_has_logs(sink))
		err = parquet_counts_end(sink, end);
	sink->has_ended = !err;
	return err;
}

static const struct option_row option_rows[] = {
	{ "compression", FMT_SINK_OPTION, "CODEC",
		"zstd or none; without this option zstd, if libzstd is there",
		OPTION_CHOICE, "zstd none" },
	OPTION_END
};

const struct format format_parquet = {
	.name = "parquet",
	.summary = "tables of Apache Parquet, a folder",
	.suffix = "parquet",
	.output = FMT_TO_FOLDER,
	.options = option_rows,
	.open = parquet_open,
	.type = parquet_type,
	.object = parquet_object,
	.event = parquet_event,
	.unwanted = parquet_unwanted,
	.lost = parquet_lost,
	.end = parquet_end,
	.close = parquet_close,
};
