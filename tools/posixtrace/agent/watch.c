/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.c - reads the events of a process for triggers and metrics. */
#include "agent/watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/say.h"
#include "base/vec.h"
#include "base/when.h"
#include "live/capture.h"
#include "live/process.h"

#define STREAM_BYTES   ((size_t)1 << 20)
/*
 * A reading ends after this number of events, since a process may record faster than the agent
 * reads.
 */
#define EVENTS_AT_ONCE 200000
/* The greatest number of open spans. It bounds the agent's memory for each process. */
#define OPEN_MOST      8191

/* Returns whether a trigger needs the events of a process. */
static bool reads_events(const struct config_trigger *trigger)
{
	return trigger->when == CONFIG_SPAN || trigger->when == CONFIG_ERRORS ||
	       trigger->when == CONFIG_RULE;
}

/*
 * A section needs no second stream if it has no durations and its triggers only concern the ends of
 * processes.
 */
bool watch_is_needed(const struct config *config, const struct config_record *record)
{
	bool needed = record->has_durations;

	for (size_t i = 0; i < config->triggers; i++)
		needed |= reads_events(config->trigger[i]) &&
			  config_matches(&config->trigger[i]->record, record->name);
	return needed;
}

/*
 * The pairing calls this function for each span. The function adds the span to the metrics. If the
 * span exceeds the limit of a trigger's rule, the function marks this rule as fired.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct watch *watch = arg;
	const char *name = span->series->name;
	size_t *index;

	(void)end;
	if (vec_reach(&watch->span_of, &watch->spans, span->series->index)) {
		index = &watch->span_of[span->series->index];
		/*
		 * The index in the metrics is searched only once. 0 means that it has not been
		 * found yet.
		 */
		if (!*index && metrics_find(&watch->metrics->spans, watch->record, name, index))
			++*index;
		if (*index)
			metrics_add_span(&watch->metrics->spans.series[*index - 1], span->time_ns);
	}
	for (size_t i = 0; i < watch->rules; i++) {
		struct watch_rule *rule = &watch->rule[i];
		char time[WHEN_BYTES], limit[WHEN_BYTES];

		if (rule->trigger->when != CONFIG_SPAN ||
		    span->time_ns <= (uint64_t)rule->trigger->span_ns ||
		    (rule->has_fired && span->time_ns <= rule->worst_ns) ||
		    fnmatch(rule->trigger->pattern, name, 0))
			continue;
		rule->has_fired = true;
		rule->worst_ns = span->time_ns;
		snprintf(rule->reason, sizeof(rule->reason),
			 "span %.100s took %s s, more than %s s", name,
			 when_span_string(time, (int64_t)span->time_ns),
			 when_span_string(limit, rule->trigger->span_ns));
	}
}

/*
 * Adds the error of an event to the rules that it concerns. If the limit of a rule is now exceeded,
 * marks this rule as fired.
 */
static void take_error(struct watch *watch, const struct watch_type *type,
		       const struct posix_trace_event_np *event)
{
	for (size_t i = 0; i < watch->rules; i++) {
		struct watch_rule *rule = &watch->rule[i];
		const size_t most = rule->trigger->errors;
		char span[WHEN_BYTES];

		if (rule->trigger->when != CONFIG_ERRORS ||
		    fnmatch(rule->trigger->pattern, type->described->name, 0))
			continue;
		/*
		 * The window has the times of the last "most" errors. If it is full, the element to
		 * be overwritten has the time of the oldest of them. If this error is at most
		 * span_ns later, more than "most" errors are within span_ns.
		 */
		if (rule->filled == most &&
		    event->time_ns - rule->window[rule->next] <= rule->trigger->span_ns) {
			rule->has_fired = true;
			snprintf(rule->reason, sizeof(rule->reason),
				 "errors %.100s: more than %zu in %s s, the last one of %.100s",
				 rule->trigger->pattern, most,
				 when_span_string(span, rule->trigger->span_ns),
				 type->described->name);
			rule->filled = rule->next = 0;
		}
		rule->window[rule->next] = event->time_ns;
		rule->next = (rule->next + 1) % most;
		rule->filled += rule->filled < most;
	}
}

/*
 * Returns the facts of a type. Returns NULL if memory is lacking, or if no stream can have this id.
 */
static struct watch_type *watch_type_of(struct watch *watch, trace_event_id_t id)
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct watch_type *type;

	if (id >= 65536 || !vec_reach(&watch->type, &watch->types, id))
		return NULL;
	type = &watch->type[id];
	if (type->was_looked_up)
		return type;
	type->was_looked_up = true;
	type->error_field = -1;
	/*
	 * logfile_type() reads the schema of a type only once, so the function calls it only if the
	 * type has a schema.
	 */
	if (!posix_trace_eventid_get_schema_np(watch->trid, id, text, sizeof(text)))
		type->described = logfile_type(&watch->log, id);
	if (type->described && !type->described->schema)
		type->described = NULL;
	if (type->described && watch->judge)
		watch_judge_described(watch->judge, id);
	for (unsigned i = 0; type->described && i < type->described->schema->fields; i++)
		if (type->described->schema->field[i].type == POSIX_TRACE_TYPE_ERRNO_NP)
			type->error_field = (int)i;
	return type;
}

/*
 * Passes an event to the pairing and to the rules. If events are missing before this event, the
 * pairing drops all open spans, because the ends of these spans may be missing.
 */
static void take_event(struct watch *watch, const struct posix_trace_event_np *event)
{
	struct watch_type *type = watch_type_of(watch, event->info.posix_event_id);
	struct posix_trace_value_np error;

	if (pairing_is_loss(event))
		pairing_cut(&watch->pairing);
	if (watch->judge)
		watch_judge_event(watch->judge, type ? type->described : NULL, event);
	if (!type || !type->described)
		return;
	pairing_event(&watch->pairing, type->described, event, ++watch->ordinal, true);
	/* The field has the error number of a call. The value 0 means that the call succeeded. */
	if (type->error_field >= 0 &&
	    posix_trace_field_get_np(type->described->schema, (unsigned)type->error_field, 0,
				     event->data, event->data_len, 0, &error) &&
	    error.s64)
		take_error(watch, type, event);
}

/*
 * Makes a rule for each trigger that reads events and concerns the section. Returns false if memory
 * is lacking.
 */
static bool make_rules(struct watch *watch, const struct config *config,
		       const struct config_record *record)
{
	for (size_t i = 0; i < config->triggers; i++) {
		const struct config_trigger *trigger = config->trigger[i];
		struct watch_rule *rule;

		if (!reads_events(trigger) || !config_matches(&trigger->record, record->name))
			continue;
		if (!vec_grow(&watch->rule, watch->rules, 1))
			return false;
		rule = &watch->rule[watch->rules++];
		rule->trigger = trigger;
		if (trigger->when == CONFIG_RULE &&
		    !watch_judge_add(&watch->judge, config->path, trigger, watch->rules - 1))
			return false;
		if (trigger->when != CONFIG_ERRORS)
			continue;
		/*
		 * CONFIG_ERRORS_MAX limits the number, so the window needs at most half a
		 * megabyte.
		 */
		rule->window = calloc(trigger->errors, sizeof(*rule->window));
		if (!rule->window)
			return false;
	}
	return true;
}

/* Creates and starts the stream. Returns 0, or an error number if there is no stream. */
static int open_watch(struct watch *watch, pid_t pid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return err;
	posix_trace_attr_setname(&attr, "posixtrace agent watch");
	err = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	/*
	 * The buffer has room for the data of every event, since keys may be at the end of the
	 * data.
	 */
	if (!err)
		err = posix_trace_attr_getmaxdatasize(&attr, &watch->data_bytes);
	if (!err && !(watch->data = malloc(watch->data_bytes)))
		err = ENOMEM;
	if (!err)
		err = posix_trace_create(pid, &attr, &watch->trid);
	/* The stream has its own copy of the attributes. */
	posix_trace_attr_destroy(&attr);
	if (err)
		return err;
	err = admit_begin(&watch->admit, watch->trid);
	if (!err)
		err = posix_trace_start(watch->trid);
	if (err)
		posix_trace_shutdown(watch->trid);
	return err;
}

/* Frees a watch. The caller must have shut down its stream before. */
static void watch_free(struct watch *watch)
{
	for (size_t i = 0; i < watch->rules; i++)
		free(watch->rule[i].window);
	free(watch->rule);
	watch_judge_free(watch->judge);
	free(watch->data);
	free(watch->type);
	free(watch->span_of);
	pairing_fini(&watch->pairing);
	logfile_free_types(&watch->log);
	free(watch);
}

/*
 * The rules are made before the stream, so that they apply to its first event, too. The process
 * already has the library, because its flight recorder exists.
 */
int watch_begin(struct watch **result, pid_t pid, const struct config *config,
		const struct config_record *record, const struct choose *choose,
		struct metrics *metrics)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int err = ENOMEM;

	if (watch) {
		watch->record = record->name;
		watch->metrics = metrics;
		watch->admit.choose = choose;
		pairing_init(&watch->pairing, take_span, watch);
		watch->pairing.most = OPEN_MOST;
		err = watch->pairing.err;
		if (!err && !make_rules(watch, config, record))
			err = ENOMEM;
		if (!err)
			err = open_watch(watch, pid);
		if (!err && watch->judge && !watch_judge_begin(watch->judge, watch->trid, choose)) {
			posix_trace_shutdown(watch->trid);
			err = ENOMEM;
		}
		watch->log.trid = watch->trid;
	}
	*result = err ? NULL : watch;
	if (!err)
		return 0;
	if (err == EAGAIN)
		capture_say_too_many(pid);
	else
		process_say_why(pid, err);
	if (watch)
		watch_free(watch);
	return err;
}

/*
 * The function reads the rest of the stream for the metrics. Rules that fire in this reading have
 * no effect. A caller that needs such rules calls watch_read() before watch_end().
 */
void watch_end(struct watch *watch)
{
	if (!watch)
		return;
	watch_read(watch);
	watch_add_counts(watch);
	posix_trace_shutdown(watch->trid);
	watch_free(watch);
}

/* If the rule of a trigger is violated, marks it as fired. */
static void take_violation(void *arg, size_t index, const char *text)
{
	struct watch_rule *rule = &((struct watch *)arg)->rule[index];

	rule->has_fired = true;
	snprintf(rule->reason, sizeof(rule->reason), "%s", text);
}

/*
 * Reads until the stream is empty. Returns false if more events may follow: a reading ends after
 * EVENTS_AT_ONCE events, so that the agent can do its other work.
 */
static bool read_events(struct watch *watch)
{
	struct posix_trace_event_np event = { .flags = 0 };
	int unavailable;

	/*
	 * Only some members are set, because the pairing and the rules do not read the other
	 * members.
	 */
	event.data = watch->data;
	for (long n = 0; n < EVENTS_AT_ONCE; n++) {
		int err = posix_trace_trygetnext_event(watch->trid, &event.info, watch->data,
						       watch->data_bytes, &event.data_len,
						       &unavailable);

		if (err || unavailable)
			return true;
		event.time_ns = when_timespec(&event.info.posix_timestamp);
		take_event(watch, &event);
	}
	return false;
}

/*
 * The function reads the clock before it reads the events. If the stream is empty afterwards, all
 * events before this time have been read. So an obligation whose time is over is violated, even if
 * no event follows.
 */
static void read_and_judge(struct watch *watch, bool is_last)
{
	int64_t now_ns = when_now();
	enum watch_judge_end end = WATCH_JUDGE_MORE;

	if (read_events(watch))
		end = is_last ? WATCH_JUDGE_LAST : WATCH_JUDGE_EMPTY;
	if (watch->judge)
		watch_judge_deliver(watch->judge, now_ns, end, take_violation, watch);
}

void watch_read(struct watch *watch)
{
	read_and_judge(watch, false);
}

void watch_read_last(struct watch *watch)
{
	read_and_judge(watch, true);
}

/*
 * For types without a schema, this function also clears was_looked_up, so that the watch reads the
 * schema again. A program may describe a type after the type's first events.
 */
void watch_add_counts(struct watch *watch)
{
	struct posix_trace_ledger_np ledger;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable;

	admit_refresh(&watch->admit, watch->trid);
	if (posix_trace_eventtypelist_rewind(watch->trid))
		return;
	while (!posix_trace_eventtypelist_getnext_id(watch->trid, &id, &unavailable) &&
	       !unavailable) {
		struct watch_type *type = watch_type_of(watch, id);

		if (!type || posix_trace_get_ledger_type_np(watch->trid, id, &ledger))
			continue;
		/*
		 * If the type has no schema, watch_type_of() tries to read the schema again at the
		 * next event.
		 */
		type->was_looked_up = type->described != NULL;
		if (!ledger.called || ledger.called <= type->before ||
		    posix_trace_eventid_get_name(watch->trid, id, name))
			continue;
		if (!type->is_known)
			type->is_known = metrics_find(&watch->metrics->types, watch->record, name,
						      &type->series);
		if (!type->is_known)
			continue;
		watch->metrics->types.series[type->series].count += ledger.called - type->before;
		type->before = ledger.called;
	}
}
