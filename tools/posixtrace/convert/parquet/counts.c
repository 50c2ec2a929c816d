/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counts.c - makes the tables types, threads and losses from the flow, if the source is not a log
 * or if events are selected. If the source is not a log, also makes the table objects. The values
 * equal those in the database that the sink "sqlite" writes.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "convert/parquet/parquet.h"
#include "log/equation.h"
#include "log/losses.h"

int parquet_counts_lost(struct parquet_counts *counts, const struct fmt_lost *lost)
{
	size_t i = 0;

	if (!lost->counted)
		return 0;
	while (i < counts->losses &&
	       (counts->loss[i].cause != lost->cause || counts->loss[i].type != lost->type))
		i++;
	if (i == counts->losses) {
		if (!vec_grow(&counts->loss, counts->losses, 1))
			return ENOMEM;
		counts->loss[counts->losses++] = (struct parquet_loss){ .cause = lost->cause,
									.type = lost->type };
	}
	counts->loss[i].count += lost->count;
	return 0;
}

void parquet_counts_free(struct parquet_counts *counts)
{
	threads_fini(&counts->threads);
	parquet_table_close(&counts->objects);
	free(counts->loss);
}

/*
 * Sets the name of the log if the input is a single log. A row for several logs together has no
 * name of a log.
 */
static void put_log(const struct parquet_sink *sink, struct parquet *file, unsigned column)
{
	if (sink->flow->sources == 1)
		parquet_string(file, column, sink->pairings.log[0].name);
}

/*
 * Sets the columns "events", "called" and "lost". If there is no line, "events" and "called" are
 * unknown.
 */
static void put_line(struct parquet *file, unsigned column,
		     const struct posix_trace_ledger_np *line)
{
	if (line) {
		parquet_integer(file, column, (int64_t)line->reported);
		parquet_integer(file, column + 1, (int64_t)line->called);
	}
	parquet_integer(file, column + 2, line ? (int64_t)equation_lost(line) : 0);
}

static int open_counts(const struct parquet_sink *sink, struct parquet_table *table,
		       enum query_tables number)
{
	return table->is_open ? 0 : parquet_table_open(table, sink->folder, &query_schema[number],
						       sink->codec);
}

int parquet_counts_object(struct parquet_sink *sink, const struct fmt_object *object)
{
	struct parquet *file = &sink->counts.objects.file;
	int err = open_counts(sink, &sink->counts.objects, QUERY_OBJECTS);

	/*
	 * An object of this kind is a note about a child process and not an object of the program,
	 * so it gets no row.
	 */
	if (err || object->number == POSIX_TRACE_OBJECT_CHILD_NP)
		return err;
	parquet_string(file, 0, object->kind);
	parquet_integer(file, 1, object->pid);
	parquet_integer(file, 2, (int64_t)object->pointer);
	parquet_text(file, 3, object->name, object->name_len);
	if (object->has_since)
		parquet_integer(file, 4, object->since_ns);
	put_log(sink, file, 5);
	return parquet_end_row(file);
}

/* ------------------------------------------------------------------ the end */

static const struct posix_trace_ledger_np *line_of(const struct fmt_end *end,
						   const struct fmt_type *type)
{
	for (size_t i = 0; i < end->types; i++)
		if (end->type[i].type == type)
			return &end->type[i].ledger;
	return NULL;
}

static int write_types(const struct parquet_sink *sink, const struct fmt_end *end,
		       struct parquet_table *table)
{
	struct parquet *file = &table->file;
	int err = open_counts(sink, table, QUERY_TYPES);

	for (size_t i = 0; !err && i < fmt_types(sink->flow); i++) {
		const struct fmt_type *type = fmt_type_at(sink->flow, i);
		const struct posix_trace_ledger_np *line = line_of(end, type);

		if (type->number)
			parquet_integer(file, 0, (int64_t)type->number);
		parquet_text(file, 1, type->name, type->name_len);
		put_line(file, 2, end->has_ledger ? line : NULL);
		if (type->level > 0)
			parquet_integer(file, 5, type->level);
		if (type->phase != FMT_MARK) {
			parquet_string(file, 6, type->phase == FMT_BEGIN ? "begin" : "end");
			parquet_string(file, 7, type->span);
		}
		parquet_string(file, 8, type->schema);
		put_log(sink, file, 9);
		err = parquet_end_row(file);
	}
	return err ? err : parquet_table_end(table);
}

static int write_thread(const struct parquet_sink *sink, struct parquet *file, uint32_t pid,
			uint32_t tid, uint64_t handle, const struct posix_trace_ledger_np *line)
{
	parquet_integer(file, 0, pid);
	parquet_integer(file, 1, tid);
	parquet_integer(file, 2, (int64_t)handle);
	put_line(file, 3, line);
	put_log(sink, file, 6);
	return parquet_end_row(file);
}

/*
 * Writes the threads of the ledger, and then the threads that have events but no line in the
 * ledger. A thread with a line has a mark.
 */
static int write_threads(struct parquet_sink *sink, const struct fmt_end *end,
			 struct parquet_table *table)
{
	struct threads *threads = &sink->counts.threads;
	int err = open_counts(sink, table, QUERY_THREADS);

	for (size_t i = 0; !err && end->has_ledger && i < end->threads; i++) {
		const struct posix_trace_thread_np *who = &end->thread[i].thread;
		struct thread *thread = threads_of(threads, (uint32_t)who->pid, (uint32_t)who->tid,
						   (uint64_t)who->thread);

		if (thread)
			thread->mark = 1;
		err = write_thread(sink, &table->file, (uint32_t)who->pid, (uint32_t)who->tid,
				   (uint64_t)who->thread, &end->thread[i].ledger);
	}
	for (size_t i = 0; !err && i < threads->count; i++) {
		const struct thread *thread = threads->thread[i];

		if (!thread->mark)
			err = write_thread(sink, &table->file, thread->pid, thread->tid,
					   thread->handle, NULL);
	}
	return err ? err : parquet_table_end(table);
}

static int write_loss(const struct parquet_sink *sink, struct parquet *file,
		      const struct fmt_type *type, int cause, uint64_t count)
{
	if (type)
		parquet_text(file, 0, type->name, type->name_len);
	parquet_string(file, 1, posix_trace_lost_name_np(cause));
	parquet_integer(file, 2, (int64_t)count);
	put_log(sink, file, 3);
	return parquet_end_row(file);
}

/*
 * Writes the losses of events of unknown type, with the empty name. Only the total of the ledger
 * counts them.
 */
static int write_unknown(const struct parquet_sink *sink, const struct fmt_end *end,
			 struct parquet_table *table)
{
	static const struct fmt_type unknown = { .name = "" };
	struct posix_trace_ledger_np rest = end->ledger;
	int err = 0;

	for (size_t i = 0; i < end->types; i++)
		losses_subtract(&rest, &end->type[i].ledger);
	for (int cause = 0; !err && cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		if (rest.lost[cause])
			err = write_loss(sink, &table->file, &unknown, cause, rest.lost[cause]);
	return err;
}

/*
 * Writes the losses of the ledger. Without a ledger, writes the counted losses that the source has
 * passed.
 */
static int write_losses(const struct parquet_sink *sink, const struct fmt_end *end,
			struct parquet_table *table)
{
	const struct parquet_counts *counts = &sink->counts;
	int err = open_counts(sink, table, QUERY_LOSSES);

	for (size_t i = 0; !err && end->has_ledger && i < end->types; i++)
		for (int cause = 0; !err && cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
			if (end->type[i].ledger.lost[cause])
				err = write_loss(sink, &table->file, end->type[i].type, cause,
						 end->type[i].ledger.lost[cause]);
	if (!err && end->has_ledger)
		err = write_unknown(sink, end, table);
	for (size_t i = 0; !err && !end->has_ledger && i < counts->losses; i++)
		err = write_loss(sink, &table->file, counts->loss[i].type, counts->loss[i].cause,
				 counts->loss[i].count);
	return err ? err : parquet_table_end(table);
}

int parquet_counts_end(struct parquet_sink *sink, const struct fmt_end *end)
{
	struct parquet_table types = { .fd = -1 }, threads = { .fd = -1 }, losses = { .fd = -1 };
	int err = write_types(sink, end, &types);

	if (!err)
		err = write_threads(sink, end, &threads);
	if (!err)
		err = write_losses(sink, end, &losses);
	if (!err && !sink->flow->logs)
		err = open_counts(sink, &sink->counts.objects, QUERY_OBJECTS);
	if (!err && !sink->flow->logs)
		err = parquet_table_end(&sink->counts.objects);
	parquet_table_close(&types);
	parquet_table_close(&threads);
	parquet_table_close(&losses);
	return err;
}
