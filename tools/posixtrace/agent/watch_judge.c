/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch_judge.c - judges the events of a running process by the rules of triggers. */
#include "agent/watch_judge.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config.h"
#include "base/say.h"
#include "base/vec.h"
#include "log/equation.h"
#include "rules/judge.h"

#define VIOLATION_BYTES 320

struct watch_judge {
	struct rules rules;
	size_t *index; /* for each rule, the index that the caller gave */
	struct judge judge;
	struct wanted wanted;   /* without options: all events are judged */
	struct reading reading; /* only the members that rules use are set */
	struct logfile plain;   /* the types without a schema; only trid and the types are used */
	const struct choose *choose;
	/*
	 * the number of events lost at unknown times, and the time when the judge last read a
	 * change of this number
	 */
	uint64_t lost;
	int64_t lost_ns;
	bool has_begun, has_failed, reported_lost, reported_full;
};

/*
 * The configuration was read without an error, so the rule is valid. The function can only fail
 * because memory is lacking.
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
bool watch_judge_begin(struct watch_judge *judge, trace_id_t trid, const struct choose *choose)
{
	struct reading *reading = &judge->reading;

	judge->choose = choose;
	judge->lost_ns = INT64_MIN;
	judge->plain.trid = trid;
	for (size_t i = 0; i < judge->rules.count; i++) {
		const struct rule *rule = &judge->rules.rule[i];

		judge->wanted.uses_duration |=
			(rule->first.where && where_uses_duration(rule->first.where)) ||
			(rule->second.where && where_uses_duration(rule->second.where));
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

/* Prints that the rules are no longer judged. All other triggers of the watch continue to work. */
static void watch_judge_fail(struct watch_judge *judge)
{
	judge->has_failed = true;
	say("the triggers with rules have stopped: %s", strerror(judge->judge.err));
}

/*
 * A type without a schema has a name, which is enough for many rules. The judge keeps such types in
 * the list "plain" and not in the list of the watch. logfile_type() reads the schema of a type only
 * once, so the watch would miss a schema that the program registers later.
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
 * Checks whether the process has lost events at times that the stream does not mark. Overwritten
 * events do not count here, because the stream marks them by OVERFLOW and RESUME, and judge_event()
 * has closed the obligations at these marks.
 */
static void watch_judge_look(struct watch_judge *judge, int64_t now_ns)
{
	struct posix_trace_ledger_np total;
	uint64_t lost = UINT64_MAX;

	if (!posix_trace_get_ledger_np(judge->plain.trid, &total)) {
		total.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP] = 0;
		lost = equation_lost(&total);
	}
	if (lost != judge->lost)
		judge->lost_ns = now_ns;
	judge->lost = lost;
}

/*
 * Returns true if the section of the configuration file excludes an event type that could be the
 * second event of the rule. The stream has no events of such a type. Also returns true if the types
 * cannot be listed.
 */
static bool is_excluded(const struct watch_judge *judge, const struct rule *rule)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid = judge->plain.trid;
	trace_event_id_t id;
	int unavailable;

	if (posix_trace_eventtypelist_rewind(trid))
		return true;
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable)
		if (!posix_trace_eventid_get_name(trid, id, name) &&
		    !fnmatch(rule->second.pattern, name, 0) && !choose_type(judge->choose, name))
			return true;
	return false;
}

/*
 * Returns whether a violation is certain. A violation of a rule "every" is not certain if the
 * second event may be among lost events. An obligation that is violated now is not older than
 * within_ns plus twice the slack for late events (WANTED_LATE_NS). So losses before that time do
 * not count.
 */
static bool is_certain(struct watch_judge *judge, const struct rule *rule, int64_t now_ns)
{
	int64_t since_ns;

	if (rule->kind != RULE_EVERY)
		return true;
	if (is_excluded(judge, rule))
		return false;
	watch_judge_look(judge, now_ns);
	if (judge->lost_ns == INT64_MIN ||
	    (!__builtin_sub_overflow(now_ns, 2 * WANTED_LATE_NS, &since_ns) &&
	     !__builtin_sub_overflow(since_ns, (int64_t)rule->within_ns, &since_ns) &&
	     judge->lost_ns < since_ns))
		return true;
	if (!judge->reported_lost)
		say("rule %s: undecided, because events were lost", rule->text);
	judge->reported_lost = true;
	return false;
}

/*
 * If the violation is certain, reports the last text that the rule has. In any case, the function
 * resets the results of the rule, because a rule keeps only the texts of its first violations.
 */
static void watch_judge_report(struct watch_judge *judge, struct rule *rule, int64_t now_ns,
			       void (*report)(void *arg, size_t index, const char *text), void *arg)
{
	size_t last = (rule->violations < RULES_REASONS ? rule->violations : RULES_REASONS) - 1;
	char text[VIOLATION_BYTES];

	snprintf(text, sizeof(text), "rule %.120s: %s", rule->name ? rule->name : rule->text,
		 rule->reason[last] ? rule->reason[last] : "violated");
	if (is_certain(judge, rule, now_ns))
		report(arg, judge->index[rule - judge->rules.rule], text);
	for (size_t i = 0; i < RULES_REASONS; i++) {
		free(rule->reason[i]);
		rule->reason[i] = NULL;
	}
	rule->violations = 0;
}

/*
 * While a process runs, every_expire() waits for late events of suspended writers. After the end of
 * the process it does not wait, because no late event can follow.
 */
void watch_judge_deliver(struct watch_judge *judge, int64_t now_ns, enum watch_judge_end end,
			 void (*report)(void *arg, size_t index, const char *text), void *arg)
{
	if (judge->has_failed)
		return;
	if (end != WATCH_JUDGE_MORE)
		every_expire(&judge->judge,
			     end == WATCH_JUDGE_LAST ? now_ns + WANTED_LATE_NS : now_ns);
	if (judge->judge.fresh == RULES_PENDING && judge->judge.free == UINT32_MAX &&
	    !judge->reported_full) {
		say("more than %d events wait for an event that a trigger's rule requires; "
		    "further ones are not judged", RULES_PENDING);
		judge->reported_full = true;
	}
	for (size_t i = 0; i < judge->rules.count; i++)
		if (judge->rules.rule[i].violations)
			watch_judge_report(judge, &judge->rules.rule[i], now_ns, report, arg);
}
