/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rules/sight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/losses.h"
#include "log/shimloss.h"
#include "log/sysdata.h"
#include "rules/judge.h"

/* ------------------------------------------------------------------ gaps */

static bool is_among(const trace_event_set_t *set, trace_event_id_t id)
{
	int ismember;

	return !posix_trace_eventset_ismember(id, set, &ismember) && ismember;
}

/* Whether the filter keeps out a type that must follow in this rule. */
static bool hides(const struct judge *judge, const struct rule *rule,
		  const trace_event_set_t *filter)
{
	for (size_t i = 0; i < judge->log->types; i++) {
		trace_event_id_t id = judge->log->list[i]->id;
		const struct judge_type *type = id < judge->ids ? judge->by_id[id] : NULL;

		for (size_t u = 0; type && u < type->uses; u++)
			if (type->use[u].rule == rule && type->use[u].is_second &&
			    is_among(filter, id))
				return true;
	}
	return false;
}

/*
 * A log that begins in its stream's middle tells its first filter only when that ends: as the old
 * one.
 */
static void filter(struct judge *judge, const struct posix_trace_event_np *event)
{
	trace_event_set_t old, new;

	if (!sysdata_filter(judge->log, event, &old, &new))
		return;
	for (size_t i = 0; i < judge->rules->count; i++) {
		const struct rule *rule = &judge->rules->rule[i];
		bool was_hidden = rule->kind == RULE_EVERY && hides(judge, rule, &old);
		bool is_hidden = rule->kind == RULE_EVERY && hides(judge, rule, &new);

		judge->hidden[i] |= was_hidden;
		if (was_hidden != is_hidden)
			every_cut_rule(judge, i, event->time_ns);
		judge->hidden[i] = is_hidden;
	}
}

void sight_event(struct judge *judge, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	struct sight *sight = &judge->sight;

	/*
	 * A damaged part, and a gap whose beginning is not in the log: since the event before, at
	 * most.
	 */
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		every_cut(judge, judge->last_ns);
	if (event->time_ns > reading->wanted->choose.end_ns && !sight->past) {
		every_cut(judge, reading->wanted->choose.end_ns);
		sight->past = true;
	}
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		every_cut(judge, event->time_ns);
		sight->stopped = true;
		sight->has_marks |= losses_is_automatic(event);
		break;
	case POSIX_TRACE_ERROR:
		every_cut(judge, event->time_ns);
		break;
	case POSIX_TRACE_OVERFLOW:
		every_cut(judge, event->time_ns);
		sight->overflowed = sight->has_marks = true;
		break;
	case POSIX_TRACE_RESUME:
		every_cut(judge, judge->last_ns);
		sight->overflowed = false;
		sight->has_marks = true;
		break;
	case POSIX_TRACE_START:
		every_cut(judge, judge->last_ns);
		sight->stopped = sight->overflowed = false;
		filter(judge, event);
		break;
	case POSIX_TRACE_FILTER:
		filter(judge, event);
		break;
	}
}

bool sight_has_end(const struct judge *judge, bool is_damaged)
{
	struct posix_trace_ledger_np total;

	return !is_damaged && !sight_is_blind(&judge->sight) &&
	       !posix_trace_get_ledger_np(judge->log->trid, &total) &&
	       !total.lost[POSIX_TRACE_LOST_LOG_FULL_NP] && !total.unread;
}

/* ------------------------------------------------------------------ losses */

/* What is lost of the events that a rule is about. */
struct missing {
	uint64_t first, second;
	unsigned first_kinds, second_kinds; /* of what the preloaded library could not trace */
	bool anywhere; /* of the second: perhaps where no mark tells of a gap */
};

static void sum(uint64_t *to, uint64_t count)
{
	if (__builtin_add_overflow(*to, count, to))
		*to = UINT64_MAX;
}

/*
 * The marks of a gap tell of these; a full log lacks its end, one that loops or was cleared its
 * beginning.
 */
static bool has_place(const struct judge *judge, int cause)
{
	switch (cause) {
	case POSIX_TRACE_LOST_OVERWRITTEN_NP:
	case POSIX_TRACE_LOST_STREAM_FULL_NP:
		return judge->sight.has_marks;
	case POSIX_TRACE_LOST_LOG_FULL_NP:
	case POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP:
	case POSIX_TRACE_LOST_CLEARED_NP:
		return true;
	default:
		return false;
	}
}

static void miss(const struct judge *judge, struct missing *missing, bool is_second,
		 const struct posix_trace_ledger_np *line)
{
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		sum(is_second ? &missing->second : &missing->first, line->lost[i]);
		missing->anywhere |= is_second && line->lost[i] && !has_place(judge, i);
	}
}

static void miss_type(const struct judge *judge, struct missing *missing,
		      const struct judge_type *type, unsigned kinds,
		      const struct posix_trace_ledger_np *line)
{
	for (size_t u = 0; u < type->uses; u++) {
		const struct judge_use *use = &type->use[u];
		struct missing *of = &missing[use->rule - judge->rules->rule];

		miss(judge, of, use->is_second, line);
		*(use->is_second ? &of->second_kinds : &of->first_kinds) |= kinds;
	}
}

/* What the total has and no type's line: it may be of any type. */
static void subtract(struct posix_trace_ledger_np *rest, const struct posix_trace_ledger_np *line)
{
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		rest->lost[i] -= line->lost[i] < rest->lost[i] ? line->lost[i] : rest->lost[i];
}

/* Each such call is one event of a rule, whichever of the rule's types it would have had. */
static int miss_untraced(const struct judge *judge, struct missing *missing)
{
	struct shimloss loss;
	int err = shimloss_read(&loss, judge->log);

	for (size_t i = 0; !err && i < judge->rules->count; i++) {
		uint64_t second = shimloss_of(&loss, missing[i].second_kinds);

		sum(&missing[i].first, shimloss_of(&loss, missing[i].first_kinds));
		sum(&missing[i].second, second);
		missing[i].anywhere |= second != 0;
	}
	return err;
}

static int count_missing(const struct judge *judge, struct missing *missing)
{
	struct posix_trace_ledger_np rest, line;
	int err = posix_trace_get_ledger_np(judge->log->trid, &rest);

	if (err)
		return err;
	for (size_t i = 0; i < judge->log->types; i++) {
		trace_event_id_t id = judge->log->list[i]->id;

		if (id >= judge->ids || posix_trace_get_ledger_type_np(judge->log->trid, id, &line))
			continue;
		subtract(&rest, &line);
		if (judge->by_id[id])
			miss_type(judge, missing, judge->by_id[id],
				  shimloss_kinds(judge->log->list[i]->name), &line);
	}
	for (size_t i = 0; i < judge->rules->count; i++) {
		if (judge->rules->rule[i].first.exists)
			miss(judge, &missing[i], false, &rest);
		if (judge->rules->rule[i].second.exists)
			miss(judge, &missing[i], true, &rest);
	}
	return miss_untraced(judge, missing);
}

static void take_back(struct rule *rule)
{
	sum(&rule->undecided, rule->violations);
	rule->violations = 0;
	for (int i = 0; i < RULES_TOLD; i++) {
		free(rule->told[i]);
		rule->told[i] = NULL;
	}
}

static void weigh(struct rule *rule, const struct missing *missing, bool is_damaged)
{
	rule->lost = missing->first;
	if (rule->kind == RULE_EVERY)
		sum(&rule->lost, missing->second);
	/* An event that seems to be missing may be one of those that were lost. */
	if (rule->kind == RULE_EVERY && missing->anywhere)
		take_back(rule);
	sum(&rule->undecided, missing->first);
	if (is_damaged && !rule->undecided)
		rule->undecided = 1;
}

int sight_losses(struct judge *judge, bool is_damaged)
{
	struct missing *missing = calloc(judge->rules->count + 1, sizeof(*missing));
	int err = missing ? count_missing(judge, missing) : ENOMEM;

	for (size_t i = 0; !err && i < judge->rules->count; i++)
		weigh(&judge->rules->rule[i], &missing[i], is_damaged);
	free(missing);
	return err;
}
