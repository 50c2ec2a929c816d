/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.c - passes the events of a log to the rules. Each event type has a list of the rules that
 * concern it. So for most events one access to an array shows that no rule concerns them.
 */
#include "rules/judge.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/when.h"
#include "log/field.h"
#include "spans/pairing.h"

void judge_violation(struct judge *judge, struct rule *rule, int64_t time_ns, pid_t pid, pid_t tid,
		     const char *format, ...)
{
	char when[WHEN_BYTES], who[40] = "", *text = NULL, *line = NULL;
	va_list args;

	if (rule->violations++ >= RULES_REASONS) /* further violations are only counted */
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	/*
	 * Events of the stream itself belong to no process. The result of a rule "count" belongs to
	 * no process, either. While the stream is still being recorded, tid is not known.
	 */
	if (tid)
		snprintf(who, sizeof(who), " pid %d tid %d", (int)pid, (int)tid);
	else if (pid)
		snprintf(who, sizeof(who), " pid %d", (int)pid);
	if (!text ||
	    asprintf(&line, "%s%s: %s", when_string(when, time_ns, WHEN_UTC), who, text) < 0) {
		line = NULL;
		judge->err = ENOMEM;
	}
	free(text);
	rule->reason[rule->violations - 1] = line;
}

/* ------------------------------------------------------------------ event types */

/*
 * Stores the indices of the rule's fields in the type's schema. If the type lacks a field, the
 * function returns false, because the rule does not apply to such a type.
 */
static bool has_fields(const struct rule *rule, const struct log_type *type, unsigned *field)
{
	for (unsigned i = 0; i < rule->fields; i++) {
		int found = field_index(type->schema, rule->field[i]);

		if (found < 0)
			return false;
		field[i] = (unsigned)found;
	}
	return true;
}

/*
 * Returns true if the pattern matches the type. In that case it also notes that the log has such a
 * type.
 */
static bool matches_type(struct rule_event *event, const struct log_type *type)
{
	bool fits = event->pattern && !fnmatch(event->pattern, type->name, 0);

	event->exists |= fits;
	return fits;
}

/* Returns true if events of the type have the time for which a lock was held. */
static bool is_of_locks(const struct log_type *type)
{
	return pairing_time_field(type->schema) >= 0 && field_index(type->schema, "lock") >= 0 &&
	       type->name_len > 5 && !strcmp(type->name + type->name_len - 5, "_held");
}

/* Adds a rule to the list of the type, unless the type lacks a field of the rule. */
static void add_use(struct judge_type *to, struct rule *rule, const struct log_type *type,
		    bool is_second)
{
	struct judge_use *use = &to->use[to->uses];

	use->rule = rule;
	use->is_second = is_second;
	if (!has_fields(rule, type, use->field))
		return;
	(is_second ? &rule->second : &rule->first)->has_fields = true;
	to->uses++;
}

/*
 * Makes the list of a type. An event may be both the first and the second event of a rule. It must
 * not meet the obligation that it makes itself. So its entry as second event precedes its entry as
 * first event.
 */
static struct judge_type *find_rules(struct judge *judge, const struct log_type *type)
{
	struct judge_type *to =
		calloc(1, sizeof(*to) + 2 * judge->rules->count * sizeof(to->use[0]));
	struct judge_type *less;

	for (size_t i = 0; to && i < judge->rules->count; i++) {
		struct rule *rule = &judge->rules->rule[i];

		if (rule->kind == RULE_ORDER) {
			if (is_of_locks(type))
				add_use(to, rule, type, false);
			continue;
		}
		if (rule->kind == RULE_EVERY && matches_type(&rule->second, type))
			add_use(to, rule, type, true);
		if (matches_type(&rule->first, type))
			add_use(to, rule, type, false);
	}
	/*
	 * The memory was allocated for all rules, but usually few rules concern a type, so the rest
	 * is freed.
	 */
	less = to ? realloc(to, sizeof(*to) + to->uses * sizeof(to->use[0])) : NULL;
	return less ? less : to;
}

/*
 * Returns the list of a type, and makes it if necessary. If the id is out of range, as it may be in
 * a damaged log, the function sets err and returns NULL.
 */
static struct judge_type *type_of(struct judge *judge, const struct log_type *type)
{
	size_t id = type->id;

	if (id >= judge->ids) {
		judge->err = ENOMEM;
		return NULL;
	}
	if (!judge->by_id[id])
		judge->by_id[id] = find_rules(judge, type);
	if (!judge->by_id[id])
		judge->err = ENOMEM;
	return judge->by_id[id];
}

bool judge_init(struct judge *judge, struct rules *rules, struct logfile *log)
{
	memset(judge, 0, sizeof(*judge));
	judge->rules = rules;
	judge->log = log;
	/*
	 * The array has an element for each id that the format of logs permits, so a forged id does
	 * not determine its size.
	 */
	judge->ids = 65536;
	judge->last_ns = INT64_MIN;
	judge->by_id = calloc(judge->ids, sizeof(*judge->by_id));
	judge->holder = calloc(RULES_HOLDERS, sizeof(*judge->holder));
	if (!judge->by_id || !judge->holder || !every_init(judge))
		return false;
	for (size_t i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->rule[i];

		/*
		 * A rule "rate" that allows at most N events is violated if N + 1 events are within
		 * a span. So N + 1 times are kept.
		 */
		if (rule->kind == RULE_RATE) {
			rule->window = calloc(rule->number + 1, sizeof(*rule->window));
			if (!rule->window)
				return false;
		}
	}
	/*
	 * All types are examined now, also types without events. So it is known which patterns
	 * match no type, since these are probably mistyped.
	 */
	for (size_t i = 0; i < log->types; i++)
		if (log->list[i]->id < judge->ids)
			type_of(judge, log->list[i]);
	return !judge->err;
}

void judge_fini(struct judge *judge)
{
	for (size_t i = 0; judge->by_id && i < judge->ids; i++)
		free(judge->by_id[i]);
	free(judge->by_id);
	every_fini(judge);
	sight_fini(&judge->sight);
	free(judge->holder);
	table_fini(&judge->of_holder);
}

void judge_forget_type(struct judge *judge, trace_event_id_t id)
{
	if (id >= judge->ids)
		return;
	free(judge->by_id[id]);
	judge->by_id[id] = NULL;
}

/* ------------------------------------------------------------------ the other kinds of rules */

/* Judges an event of a rule "never". Each such event is a violation. */
static void never_event(struct judge *judge, struct rule *rule, const struct reading *reading)
{
	rule->cases++;
	judge_violation(judge, rule, reading->event.time_ns, reading->event.info.posix_pid,
			reading->event.tid, "%s", reading->type->shown);
}

/* Returns true if the number of events is as the rule requires. */
static bool count_holds(const struct rule *rule)
{
	switch (rule->relation) {
	case RULE_LESS:
		return rule->cases < rule->number;
	case RULE_AT_MOST:
		return rule->cases <= rule->number;
	case RULE_EQUAL:
		return rule->cases == rule->number;
	case RULE_AT_LEAST:
		return rule->cases >= rule->number;
	default:
		return rule->cases > rule->number;
	}
}

/* ------------------------------------------------------------------ events */

/* Returns true if the expression of the rule holds for the event. */
static bool holds_for_event(struct rule_event *event, const struct reading *reading)
{
	const struct posix_trace_event_np *of = &reading->event;
	struct where_event asked = {
		.name = reading->type->name, .name_len = reading->type->name_len,
		.id = of->info.posix_event_id, .pid = of->info.posix_pid, .tid = of->tid,
		.thread = (uint64_t)of->info.posix_thread_id, .time_ns = of->time_ns,
		.address = (uintptr_t)of->info.posix_prog_address, .schema = reading->type->schema,
		.data = of->data, .data_len = of->data_len,
		.has_duration = reading->durations.on && reading->durations.has,
		.duration_ns = reading->durations.ns,
	};

	return !event->where || where_holds(event->where, &asked);
}

/* Passes an event to one rule. */
static void judge_use(struct judge *judge, const struct judge_use *use,
		      const struct reading *reading)
{
	struct rule *rule = use->rule;
	size_t index = (size_t)(rule - judge->rules->rule);

	if (rule->kind != RULE_ORDER &&
	    !holds_for_event(use->is_second ? &rule->second : &rule->first, reading))
		return;
	switch (rule->kind) {
	case RULE_EVERY:
		if (use->is_second)
			every_end(judge, index, use, reading);
		else
			every_begin(judge, index, use, reading);
		break;
	case RULE_NEVER:
		never_event(judge, rule, reading);
		break;
	case RULE_ORDER:
		order_event(judge, rule, reading);
		break;
	case RULE_COUNT:
		rule->cases++;
		break;
	case RULE_RATE:
		rate_event(judge, rule, reading);
		break;
	}
}

/*
 * sight_event() is called first. It closes obligations from before a gap, so that an event behind
 * the gap does not meet them.
 */
void judge_event(struct judge *judge, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	const struct judge_type *type;

	sight_event(judge, reading);
	every_expire(judge, event->time_ns);
	if (event->time_ns > judge->last_ns)
		judge->last_ns = event->time_ns;
	if (!reading->is_wanted)
		return;
	type = type_of(judge, reading->type);
	for (size_t i = 0; type && i < type->uses; i++)
		judge_use(judge, &type->use[i], reading);
}

/*
 * Judges a rule "count". Together with the lost events, the number of events could only be greater.
 * So if the log already has more events than the rule allows, the rule is certainly violated. If
 * events were lost, any other violation is uncertain, and the rule remains undecided.
 */
static void judge_count(struct judge *judge, struct rule *rule)
{
	bool is_bound = rule->relation == RULE_LESS || rule->relation == RULE_AT_MOST ||
			rule->relation == RULE_EQUAL;

	if (count_holds(rule) || (rule->undecided && !(is_bound && rule->cases >= rule->number)))
		return;
	judge_violation(judge, rule, judge->last_ns == INT64_MIN ? 0 : judge->last_ns, 0, 0,
			"%s%llu event%s %s", rule->lost ? "at least " : "",
			(unsigned long long)rule->cases,
			text_plural(rule->cases), rule->first.pattern);
}

/*
 * The open obligations are closed before sight_losses() is called, because sight_losses() may
 * change violations to undecided cases.
 */
void judge_end(struct judge *judge, bool is_damaged)
{
	every_finish(judge, sight_has_end(judge, is_damaged), sight_was_full(judge));
	judge->err = sight_losses(judge, is_damaged);
	for (size_t i = 0; i < judge->rules->count; i++)
		if (judge->rules->rule[i].kind == RULE_COUNT)
			judge_count(judge, &judge->rules->rule[i]);
}
