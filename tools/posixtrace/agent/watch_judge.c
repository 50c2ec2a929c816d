/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch_judge.c - judges the events of a running process by the rules of triggers. */
#include "agent/watch_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config.h"
#include "base/say.h"
#include "base/vec.h"
#include "rules/judge.h"

#define VIOLATION_BYTES 320

struct watch_judge {
	struct rules rules;
	size_t *index; /* for each rule, the index that the caller gave */
	struct judge judge;
	struct wanted wanted;   /* without options: all events are judged */
	struct reading reading; /* only the members that rules use are set */
	struct logfile plain;   /* the types without a schema; only trid and the types are used */
	bool has_begun, has_failed;
};

/*
 * The configuration was read without an error, so the rule is valid. It can only fail for want of
 * memory.
 */
bool watch_judge_add(struct watch_judge **result, const char *path,
		     const struct config_trigger *trigger, size_t index)
{
	struct watch_judge *judge = *result;

	if (!judge) {
		*result = judge = calloc(1, sizeof(*judge));
		if (!judge)
			return false;
		wanted_init(&judge->wanted);
	}
	if (!vec_grow(&judge->index, judge->rules.count, 1))
		return false;
	judge->index[judge->rules.count] = index;
	return rules_add(&judge->rules, path, trigger->line, trigger->rule);
}

/* Durations cost time for every event, so they are computed only if an expression contains one. */
bool watch_judge_begin(struct watch_judge *judge, trace_id_t trid)
{
	struct reading *reading = &judge->reading;

	judge->plain.trid = trid;
	for (size_t i = 0; i < judge->rules.count; i++) {
		const struct rule *rule = &judge->rules.rule[i];

		judge->wanted.asks_duration |=
			(rule->first.where && where_asks_duration(rule->first.where)) ||
			(rule->second.where && where_asks_duration(rule->second.where));
	}
	reading->log = &judge->plain;
	reading->wanted = &judge->wanted;
	reading->is_wanted = true;
	wanted_begin(&judge->wanted, INT64_MIN, INT64_MAX);
	durations_begin_open(&reading->durations, &judge->wanted);
	judge->has_begun = true;
	return judge_init(&judge->judge, &judge->rules, &judge->plain);
}

void watch_judge_free(struct watch_judge *judge)
{
	if (!judge)
		return;
	if (judge->has_begun) {
		durations_end(&judge->reading.durations);
		judge_fini(&judge->judge);
	}
	rules_fini(&judge->rules);
	wanted_fini(&judge->wanted);
	logfile_free_types(&judge->plain);
	free(judge->index);
	free(judge);
}

/* Reports that the rules are no longer judged. The other triggers of the watch go on. */
static void watch_judge_fail(struct watch_judge *judge)
{
	judge->has_failed = true;
	say("triggers on rules end: %s", strerror(judge->judge.err));
}

/*
 * A type without a schema has a name, which is enough for many rules. Such types are kept apart
 * from those of the watch, because the watch asks for their schemas again.
 */
void watch_judge_event(struct watch_judge *judge, const struct log_type *described,
		       const struct posix_trace_event_np *event)
{
	struct reading *reading = &judge->reading;

	if (judge->has_failed)
		return;
	reading->event = *event;
	reading->type = described ? described
				  : logfile_type(&judge->plain, event->info.posix_event_id);
	durations_event(&reading->durations, reading->type, &reading->event);
	judge_event(&judge->judge, reading);
	if (judge->judge.err)
		watch_judge_fail(judge);
}

void watch_judge_described(struct watch_judge *judge, trace_event_id_t id)
{
	judge_forget_type(&judge->judge, id);
}

/*
 * Returns true if the process has lost events at times that the stream does not mark. The event
 * that a rule "every" awaits may be one of them. Overwritten events are between OVERFLOW and
 * RESUME, where judge_event() has closed the obligations.
 */
static bool has_hidden_losses(const struct watch_judge *judge)
{
	struct posix_trace_ledger_np total;

	if (posix_trace_get_ledger_np(judge->plain.trid, &total))
		return true;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (total.lost[i] && i != POSIX_TRACE_LOST_OVERWRITTEN_NP)
			return true;
	return false;
}

/*
 * The results of the rule are reset, so that the next violation is kept as a text, too. A rule
 * keeps only its first texts.
 */
static void watch_judge_report(const struct watch_judge *judge, struct rule *rule,
			       void (*report)(void *arg, size_t index, const char *text), void *arg)
{
	size_t last = (rule->violations < RULES_TOLD ? rule->violations : RULES_TOLD) - 1;
	char text[VIOLATION_BYTES];

	snprintf(text, sizeof(text), "rule %.120s: %s", rule->name ? rule->name : rule->text,
		 rule->told[last] ? rule->told[last] : "violated");
	if (rule->kind != RULE_EVERY || !has_hidden_losses(judge))
		report(arg, judge->index[rule - judge->rules.rule], text);
	for (size_t i = 0; i < RULES_TOLD; i++) {
		free(rule->told[i]);
		rule->told[i] = NULL;
	}
	rule->violations = 0;
}

void watch_judge_settle(struct watch_judge *judge, int64_t now_ns,
			void (*report)(void *arg, size_t index, const char *text), void *arg)
{
	if (judge->has_failed)
		return;
	if (now_ns != INT64_MIN)
		every_expire(&judge->judge, now_ns);
	for (size_t i = 0; i < judge->rules.count; i++)
		if (judge->rules.rule[i].violations)
			watch_judge_report(judge, &judge->rules.rule[i], report, arg);
}
