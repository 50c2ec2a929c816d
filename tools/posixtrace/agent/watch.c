/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.c - reads the events of a process for triggers and metrics. */
#include "agent/watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "base/when.h"
#include "live/process.h"

#define STREAM_BYTES   ((size_t)1 << 20)
#define EVENTS_AT_ONCE 200000 /* a process may record faster than the agent reads */
#define DATA_BYTES     1024   /* durations and errors are at the beginning of longer data */

/* Whether a trigger needs the events of a process. */
static bool reads_events(const struct config_trigger *trigger)
{
	return trigger->when == CONFIG_SPAN || trigger->when == CONFIG_ERRORS;
}

/*
 * A section without durations whose triggers only concern ends needs no second stream, and its
 * processes do not pay for one.
 */
bool watch_is_needed(const struct config *config, const struct config_record *record)
{
	bool needed = record->has_durations;

	for (size_t i = 0; i < config->triggers; i++)
		needed |= reads_events(config->trigger[i]) &&
			  config_matches(&config->trigger[i]->record, record->name);
	return needed;
}

/* Counts a span, and fires the triggers whose limit it exceeds. The pairing calls it. */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct watch *watch = arg;
	const char *name = span->series->name;
	size_t *index;

	(void)end;
	if (vec_reach(&watch->span_of, &watch->spans, span->series->index)) {
		index = &watch->span_of[span->series->index];
		/* The index of the metrics is found once; 0 means that it was not. */
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
			 "span %.100s took %s s in thread %d, more than %s s", name,
			 when_span_string(time, (int64_t)span->time_ns), (int)span->tid,
			 when_span_string(limit, rule->trigger->span_ns));
	}
}

/* Fires the triggers that the error of an event concerns, at the error that exceeds their limit. */
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
		 * The place that is written next has the error that is "most" errors older, if
		 * there were so many. Then one more than "most" are in the time between the two.
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

/* Returns the facts of a type, NULL without memory or for an id that no stream has. */
static struct watch_type *watch_type_of(struct watch *watch, trace_event_id_t id)
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct watch_type *type;

	if (id >= 65536 || !vec_reach(&watch->type, &watch->types, id))
		return NULL;
	type = &watch->type[id];
	if (type->asked)
		return type;
	type->asked = true;
	type->error_field = -1;
	/* The types of the log keep their schema, so a type is learned only when it has one. */
	if (!posix_trace_eventid_get_schema_np(watch->trid, id, text, sizeof(text)))
		type->described = logfile_type(&watch->log, id);
	if (type->described && !type->described->schema)
		type->described = NULL;
	for (unsigned i = 0; type->described && i < type->described->schema->fields; i++)
		if (type->described->schema->field[i].type == POSIX_TRACE_TYPE_ERRNO_NP)
			type->error_field = (int)i;
	return type;
}

/* Passes an event to the pairing and to the rules. Where events are missing, open spans are cut. */
static void take_event(struct watch *watch, const struct posix_trace_event_np *event)
{
	struct watch_type *type = watch_type_of(watch, event->info.posix_event_id);
	struct posix_trace_value_np error;

	if (pairing_is_loss(event))
		pairing_cut(&watch->pairing);
	if (!type || !type->described)
		return;
	pairing_event(&watch->pairing, type->described, event, ++watch->ordinal, true);
	/* A schema has at most one field of this type. Its value 0 is success. */
	if (type->error_field >= 0 &&
	    posix_trace_field_get_np(type->described->schema, (unsigned)type->error_field, 0,
				     event->data, event->data_len, 0, &error) &&
	    error.s64)
		take_error(watch, type, event);
}

/* Makes the rules of the triggers that concern the section. Returns false without memory. */
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
		if (trigger->when != CONFIG_ERRORS)
			continue;
		/*
		 * The number is bounded by CONFIG_ERRORS_MAX, so the window has at most half a
		 * megabyte.
		 */
		rule->window = calloc(trigger->errors, sizeof(*rule->window));
		if (!rule->window)
			return false;
	}
	return true;
}

/* Creates and starts the stream. Returns 0 or an error number, and then there is no stream. */
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

/* Frees a watch whose stream does not exist. */
static void watch_free(struct watch *watch)
{
	for (size_t i = 0; i < watch->rules; i++)
		free(watch->rule[i].window);
	free(watch->rule);
	free(watch->type);
	free(watch->span_of);
	pairing_fini(&watch->pairing);
	logfile_free_types(&watch->log);
	free(watch);
}

/*
 * The rules are complete before the stream exists, so that its first event is judged. The process
 * uses the library already: the flight recorder was created before.
 */
struct watch *watch_begin(pid_t pid, const struct config *config,
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
		err = watch->pairing.err;
		if (!err && !make_rules(watch, config, record))
			err = ENOMEM;
		if (!err)
			err = open_watch(watch, pid);
		watch->log.trid = watch->trid;
	}
	if (!err)
		return watch;
	process_say_why(pid, err);
	if (watch)
		watch_free(watch);
	return NULL;
}

/*
 * The rest of the stream is read for the metrics. Its triggers can no longer fire: a caller that
 * needs them reads the watch before this.
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

/* Stops after so many events, so that the agent also does its other work. */
void watch_read(struct watch *watch)
{
	struct posix_trace_event_np event = { .flags = 0 };
	unsigned char data[DATA_BYTES];
	int unavailable;

	/*
	 * Only the members that the pairing and the rules use are set; longer data is cut to the
	 * buffer.
	 */
	event.data = data;
	for (long n = 0; n < EVENTS_AT_ONCE; n++) {
		if (posix_trace_trygetnext_event(watch->trid, &event.info, data, sizeof(data),
						 &event.data_len, &unavailable) ||
		    unavailable)
			return;
		event.time_ns = when_timespec(&event.info.posix_timestamp);
		take_event(watch, &event);
	}
}

/*
 * Also asks again for the schemas of types that had none: a program may describe a type after its
 * first events.
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
		/* A type without a schema is looked up again at its next event. */
		type->asked = type->described != NULL;
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
