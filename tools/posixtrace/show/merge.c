/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.c - reads several logs in one order. It keeps only the next event of each log, so the
 * memory does not depend on the lengths of the logs.
 */
#include "show/merge_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/tail.h"
#include "base/text.h"
#include "base/tool.h"
#include "log/sysdata.h"

#define FAULTS_MAX 20 /* the greatest number of faults that are printed for a damaged log */

/* ------------------------------------------------------------------ the logs */

/*
 * Opens all logs. A log that cannot be opened is skipped, and the returned status shows the error.
 */
static int open_logs(struct merge *merge, char **path, size_t paths)
{
	int status = TOOL_OK;

	merge->source = calloc(paths, sizeof(*merge->source));
	if (!merge->source) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	for (size_t i = 0; i < paths; i++) {
		struct merge_source *source = &merge->source[merge->sources];
		int opened = logfile_open(&source->log, path[i], merge->choose);
		size_t columns;

		status = tool_worse(status, opened);
		if (opened)
			continue;
		merge->sources++;
		losses_init(&source->losses, source->log.path, merge->when);
		source->error_ns = merge_error_of(merge, &source->log);
		columns = text_columns(source->log.path, strlen(source->log.path));
		if (columns > merge->path_columns)
			merge->path_columns = columns;
	}
	return status;
}

/*
 * Prints the patterns that match no type. They are compared with the types of all logs together,
 * because a type may be in only one of the logs.
 */
static void say_unknown_types(const struct merge *merge)
{
	const struct logfile **log = calloc(merge->sources + 1, sizeof(*log));

	for (size_t i = 0; log && i < merge->sources; i++)
		log[i] = &merge->source[i].log;
	if (log)
		choose_say_unknown(&merge->wanted->choose, log, merge->sources);
	free(log);
}

/*
 * Checks the names in --where and --fields. A name is probably mistyped if no type of any log has a
 * field or value of this name.
 */
static bool names_fit(struct merge *merge)
{
	struct where *where = merge->wanted->where;
	bool unknown = false;

	for (size_t s = 0; s < merge->sources; s++) {
		struct logfile *log = &merge->source[s].log;

		if (!durations_begin(&merge->source[s].durations, merge->wanted, log))
			return false;

		for (size_t i = 0; i < log->types; i++) {
			if (!log->list[i]->schema)
				continue;
			if (merge->pick)
				pick_mark_fields(merge->pick, log->list[i]->schema);
			if (where)
				where_mark_names(where, log->list[i]->schema);
		}
	}
	say_unknown_types(merge);
	if (merge->pick)
		unknown = pick_say_unknown(merge->pick);
	return !(where && where_say_unknown(where)) && !unknown;
}

/*
 * Computes the bounds of --begin and --end. Relative bounds refer to the first and the last event
 * of all logs together.
 */
static void begin_window(struct merge *merge)
{
	int64_t last_ns = INT64_MIN;

	merge->first_ns = INT64_MAX;
	for (size_t i = 0; i < merge->sources; i++) {
		const struct posix_trace_loginfo_np *info = &merge->source[i].log.info;

		if (!info->blocks) /* an empty log has no times */
			continue;
		if (info->first_ns < merge->first_ns)
			merge->first_ns = info->first_ns;
		if (info->last_ns > last_ns)
			last_ns = info->last_ns;
	}
	if (merge->first_ns == INT64_MAX)
		merge->first_ns = last_ns = 0;
	wanted_begin(merge->wanted, merge->first_ns, last_ns);
}

/* ------------------------------------------------------------------ the order */

/*
 * A source's next event may be older than a printed event that precedes it in the same log. The
 * next event then gets the place of the preceding event in time. So the order within a log never
 * changes.
 */
void merge_place(struct merge_source *source)
{
	source->has = true;
	if (!source->any || source->event.time_ns > source->key_ns)
		source->key_ns = source->event.time_ns;
}

/* Returns whether losses_event() may print a message about an event. */
static bool may_report_loss(const struct posix_trace_event_np *event)
{
	return event->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP || event->flags;
}

/* Returns whether an event is chosen and printed. */
static bool is_chosen(const struct merge *merge, struct merge_source *source)
{
	return source->type->chosen &&
	       wanted_event(merge->wanted, &source->event, source->type->name,
			    source->type->schema, &source->durations) &&
	       !(merge->hides_recorder &&
		 sysdata_is_hidden(&source->log, source->type, &source->event));
}

/*
 * Reads the source's events until one is chosen or may report a loss. This event becomes the
 * source's next event. So messages about losses have their place among the events of all logs.
 */
static void read_next(struct merge *merge, struct merge_source *source)
{
	int unavailable = 0;

	source->has = false;
	while (!(source->err = posix_trace_getnext_np(source->log.trid, &source->event,
						      &unavailable)) && !unavailable) {
		source->read++;
		meter_step(&merge->meter);
		source->type = logfile_type(&source->log, source->event.info.posix_event_id);
		durations_event(&source->durations, source->type, &source->event);
		if (merge->keeps_stacks)
			stacks_take(&source->stacks, source->type, &source->event);
		source->is_hidden = !is_chosen(merge, source);
		if (source->is_hidden && !may_report_loss(&source->event))
			continue;
		merge_place(source);
		return;
	}
}

/*
 * The number of logs is small, so the function compares all of them. Events of equal times are in
 * the order in which the command line names their logs.
 */
struct merge_source *merge_first(const struct merge *merge)
{
	struct merge_source *best = NULL;

	for (size_t i = 0; i < merge->sources; i++) {
		struct merge_source *source = &merge->source[i];

		if (source->has && (!best || source->key_ns < best->key_ns))
			best = source;
	}
	return best;
}

/* ------------------------------------------------------------------ the end */

/*
 * Prints the losses and the damage of a log. 'all' is true if the reading reached the end of the
 * log or --end. Returns an exit status.
 */
static int finish_source(const struct merge *merge, struct merge_source *source, bool all)
{
	struct logfile *log = &source->log;
	bool bounded = !logfile_ends_before(log, merge->wanted->choose.end_ns);
	struct posix_trace_ledger_np ledger;
	int status = TOOL_OK, err = source->err;

	if (all && !bounded)
		losses_end(&source->losses);
	if (!err)
		err = posix_trace_get_ledger_np(log->trid, &ledger);
	if (!err)
		err = losses_ledger(&source->losses, log->trid);
	if (err) {
		say("%s: %s", log->path, strerror(err));
		return TOOL_FAILURE;
	}
	/* The number of events is compared with the ledger only if the whole log was read. */
	all = all && !bounded && merge->wanted->choose.begin_ns == INT64_MIN;
	if (logfile_is_damaged(log) || source->losses.skipped ||
	    (all && source->read != ledger.reported)) {
		if (all)
			logfile_say_faults(log, FAULTS_MAX);
		else if (log->whole && log->info.complete && !source->losses.skipped)
			say("%s: damaged; 'posixtrace verify' says where", log->path);
		status = TOOL_DAMAGED;
	}
	if (merge->fail_on_loss && losses_count(&ledger))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

/* ------------------------------------------------------------------ the run */

struct kept { /* an event that is kept for --tail */
	struct posix_trace_event_np event;
	struct merge_source *source;
	const struct log_type *type;
};

struct showing {
	struct merge *merge;
	bool (*show)(void *arg, struct merge_source *source, const struct log_type *type,
		     const struct posix_trace_event_np *event);
	void *arg;
	struct tail tail;
	uint64_t shown;
};

/*
 * Prints the source's event, or keeps it for --tail. Returns false if no further event must be
 * shown.
 */
static bool show_event(struct showing *showing, struct merge_source *source)
{
	struct kept kept = { source->event, source, source->type };

	if (showing->shown++ == showing->merge->wanted->limit)
		return false;
	if (merge_is_unordered(showing->merge, source))
		kept.event.flags |= LINE_UNORDERED;
	if (!showing->tail.limit)
		return showing->show(showing->arg, source, source->type, &kept.event);
	if (tail_add(&showing->tail, &kept, kept.event.data, kept.event.data_len))
		return true;
	say("%s", strerror(ENOMEM));
	return false;
}

/* Prints the kept events. */
static void show_tail(struct showing *showing)
{
	const struct kept *kept;
	const void *data;

	for (size_t i = 0; showing->tail.limit && (kept = tail_at(&showing->tail, i, &data)); i++) {
		struct posix_trace_event_np event = kept->event;

		event.data = data;
		if (!showing->show(showing->arg, kept->source, kept->type, &event))
			return;
	}
}

/* Prints all events in order. Returns true if every log was read to its end or to --end. */
static bool show_all(struct showing *showing)
{
	struct merge *merge = showing->merge;
	struct merge_source *source;

	for (size_t i = 0; i < merge->sources; i++)
		read_next(merge, &merge->source[i]);
	while ((source = merge_first(merge))) {
		if (may_report_loss(&source->event))
			losses_event(&source->losses, &source->event);
		if (!source->is_hidden) {
			if (!show_event(showing, source))
				return false;
			/*
			 * The time of this event is kept, because merge_is_unordered() compares it
			 * with the next events of other logs.
			 */
			source->any = true;
			source->last_ns = source->event.time_ns;
		}
		read_next(merge, source);
	}
	return true;
}

/*
 * Restricts the reading of all logs to the bounds and starts the progress line. Returns TOOL_OK or
 * TOOL_FAILURE.
 */
static int begin_reading(struct merge *merge)
{
	uint64_t total = 0;

	for (size_t i = 0; i < merge->sources; i++) {
		struct merge_source *source = &merge->source[i];
		const struct choose *choose = &merge->wanted->choose;
		int err = merge->keeps_stacks ?
			  stacks_before(&source->stacks, &source->log, choose->begin_ns) : 0;

		if (!err)
			err = logfile_window(&source->log, choose->begin_ns, choose->end_ns);
		if (err) {
			say("%s: %s", source->log.path, strerror(err));
			return TOOL_FAILURE;
		}
		/*
		 * The number of events in an incomplete log is unknown and counts as 0, so the
		 * progress line may show 100 % too early.
		 */
		total += logfile_events(&source->log);
	}
	meter_begin(&merge->meter, total, false);
	return TOOL_OK;
}

const struct option_row merge_rows[] = {
	{ "clock-error", MERGE_CLOCK_ERROR, "SPAN",
		"with several logs, how wrong the clock of each host can be; the default is 10ms; "
		"NAME=SPAN: of this host, or of this log; may be repeated",
		/* for dump; the other commands put several logs into one order in any case */
		.needs = "merge" },
	OPTION_END
};

/* The function prints the other logs if one log cannot be opened. */
int merge_run(struct merge *merge, char **path, size_t paths,
	      bool (*show)(void *arg, struct merge_source *source,
			   const struct log_type *type, const struct posix_trace_event_np *event),
	      void *arg)
{
	struct showing showing = { .merge = merge, .show = show, .arg = arg };
	int status = open_logs(merge, path, paths);
	bool all;

	/* If no log could be opened, the errors were already printed. */
	if (!merge->sources)
		return status;
	if (!names_fit(merge))
		return TOOL_USAGE;
	begin_window(merge);
	merge_say_bounds(merge);
	if (merge->wanted->tail &&
	    !tail_init(&showing.tail, merge->wanted->tail, sizeof(struct kept))) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	if (begin_reading(merge) == TOOL_OK) {
		all = show_all(&showing);
		meter_end(&merge->meter);
		show_tail(&showing);
		for (size_t i = 0; i < merge->sources; i++)
			status = tool_worse(status, finish_source(merge, &merge->source[i], all));
	} else {
		status = TOOL_FAILURE;
	}
	tail_fini(&showing.tail);
	return status;
}

/* The array has only sources that were opened, so each of them is closed here. */
void merge_fini(struct merge *merge)
{
	for (size_t i = 0; i < merge->sources; i++) {
		durations_end(&merge->source[i].durations);
		stacks_fini(&merge->source[i].stacks);
		logfile_close(&merge->source[i].log);
	}
	free(merge->source);
	free(merge->error);
}
