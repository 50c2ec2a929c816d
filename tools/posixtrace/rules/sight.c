/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sight.c - finds the gaps of a log by its system events, and the losses by its ledger. */
#include "rules/sight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"
#include "log/losses.h"
#include "log/shimloss.h"
#include "log/sysdata.h"
#include "rules/judge.h"

#define SIGHT_LIVES 65536 /* the most numbers of processes that are kept */

/* ------------------------------------------------------------------ gaps */

/* Returns true if the type is in the set. */
static bool is_among(const trace_event_set_t *set, trace_event_id_t id)
{
	int ismember;

	return !posix_trace_eventset_ismember(id, set, &ismember) && ismember;
}

/* Returns true if the filter excludes a type that is the second event of the rule. */
static bool filter_hides(const struct judge *judge, const struct rule *rule,
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
 * Processes a change of the filter. If the beginning of a stream is missing in its log, the first
 * filter is known only from the first change, which also has the filter before the change.
 */
static void filter_changed(struct judge *judge, const struct posix_trace_event_np *event)
{
	trace_event_set_t old, new;

	if (!sysdata_filter(judge->log, event, &old, &new))
		return;
	for (size_t i = 0; i < judge->rules->count; i++) {
		const struct rule *rule = &judge->rules->rule[i];
		bool was_hidden = rule->kind == RULE_EVERY && filter_hides(judge, rule, &old);
		bool is_hidden = rule->kind == RULE_EVERY && filter_hides(judge, rule, &new);

		judge->hidden[i] |= was_hidden;
		if (was_hidden != is_hidden)
			every_cut_rule(judge, i, event->time_ns);
		judge->hidden[i] = is_hidden;
	}
}

/*
 * Returns the number of a process in the field "pid", or 0. The shim and the recorder give this
 * field the form s32; a type of another program may use the name for a text or an array.
 */
static pid_t pid_in(const struct reading *reading)
{
	const struct posix_trace_schema_np *schema = reading->type->schema;
	const int field = field_index(schema, "pid");

	if (field < 0 || schema->field[field].is_array ||
	    schema->field[field].form != POSIX_TRACE_FORM_SIGNED_NP ||
	    schema->field[field].size != sizeof(int32_t))
		return 0;
	return (pid_t)field_integer(schema, "pid", &reading->event, 0);
}

/*
 * Notes the end of a process. A parent or the recorder records posixtrace_ended after it has waited
 * for the process, or has seen that the process no longer exists. A process records process.end
 * itself, as its last event, but its other threads may still record events until the kernel ends
 * them. The event process.exit is no end, because handlers of atexit() follow.
 */
static void note_ended(struct judge *judge, const struct reading *reading, bool is_over)
{
	const struct posix_trace_event_np *event = &reading->event;
	const pid_t pid = pid_in(reading);
	uint32_t index;

	/*
	 * Another program may have an event type with the name process.end. The shim's event always
	 * has the number of the process that records it, or of a child of vfork(), whose events
	 * have the number of the parent.
	 */
	if (pid <= 0 || (!is_over && pid != event->info.posix_pid))
		return;
	index = pidset_find(&judge->sight.begun, pid);
	if (index != TABLE_NONE && index < judge->sight.lives) {
		judge->sight.life[index].is_over = true;
		if (judge->sight.life[index].is_shared)
			return;
	}
	every_ended(judge, pid, is_over ? event->time_ns : INT64_MAX);
}

/*
 * Notes that fork() has made a process, or that a process has started a program. If a process with
 * this number has begun and not ended, the two processes are in PID namespaces of their own, or the
 * log lacks an end. An end of this number then proves nothing about an obligation.
 */
static void note_begun(struct judge *judge, const struct reading *reading, bool is_fork)
{
	const pid_t pid = pid_in(reading);
	struct sight *sight = &judge->sight;
	struct sight_life *life;
	const bool is_new = pidset_find(&sight->begun, pid) == TABLE_NONE;
	uint32_t index;

	/*
	 * The child of vfork() has no number of its own in its events until it starts a program.
	 * Past the limit, a number counts as that of one process only.
	 */
	if (pid <= 0 || pid != reading->event.info.posix_pid ||
	    (is_new && sight->begun.count == SIGHT_LIVES))
		return;
	index = pidset_index(&sight->begun, pid);
	if (index == TABLE_NONE || !vec_reach(&sight->life, &sight->lives, index)) {
		judge->err = ENOMEM;
		return;
	}
	life = &sight->life[index];
	if (is_fork && ((!is_new && !life->is_over) ||
			every_has(judge, pid, reading->event.time_ns)))
		life->is_shared = true;
	life->is_over = false;
}

/* Processes an event of the recorder or the shim about the begin or the end of a process. */
static void note_life(struct judge *judge, const struct reading *reading)
{
	const char *name = reading->type->name;

	if (!strcmp(name, "posixtrace_ended") || !strcmp(name, "process.end"))
		note_ended(judge, reading, !strcmp(name, "posixtrace_ended"));
	else if (!strcmp(name, "process.child") || !strcmp(name, "process.start"))
		note_begun(judge, reading, !strcmp(name, "process.child"));
}

void sight_event(struct judge *judge, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	struct sight *sight = &judge->sight;

	/*
	 * The flag shows damage before this event. RESUME and START may also follow a gap whose
	 * beginning is not in the log. In these cases events may be missing since the last event,
	 * so the obligations that were open then become undecided.
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
		filter_changed(judge, event);
		break;
	case POSIX_TRACE_FILTER:
		filter_changed(judge, event);
		break;
	default:
		/* The names of the types for note_life() begin with this letter. */
		if (*reading->type->name == 'p' && !sight->past)
			note_life(judge, reading);
		break;
	}
}

/*
 * If the log was full, it lacks the events behind its end. A log also lacks the events that were
 * still unread in the stream.
 */
bool sight_has_end(const struct judge *judge, bool is_damaged)
{
	struct posix_trace_ledger_np total;

	return !is_damaged && !sight_is_blind(&judge->sight) &&
	       !posix_trace_get_ledger_np(judge->log->trid, &total) &&
	       !total.lost[POSIX_TRACE_LOST_LOG_FULL_NP] && !total.unread;
}

bool sight_was_full(const struct judge *judge)
{
	struct posix_trace_ledger_np total;

	return posix_trace_get_ledger_np(judge->log->trid, &total) ||
	       total.lost[POSIX_TRACE_LOST_LOG_FULL_NP];
}

void sight_fini(struct sight *sight)
{
	pidset_fini(&sight->begun);
	free(sight->life);
}

/* ------------------------------------------------------------------ losses */

/* The number of lost events that a rule concerns. */
struct missing {
	uint64_t first, second;
	/* bits of the kinds of calls to which the first and the second events belong */
	unsigned first_kinds, second_kinds;
	/* second events may be missing at times that no system event shows as a gap */
	bool anywhere;
};

/* Adds a count. A sum that overflows becomes UINT64_MAX. */
static void add_saturated(uint64_t *to, uint64_t count)
{
	if (__builtin_add_overflow(*to, count, to))
		*to = UINT64_MAX;
}

/*
 * Returns true if the log shows at which times events were lost by this cause. Such times are gaps
 * that system events mark, the end of a full log, and the beginning of a log that was overwritten
 * or cleared.
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

/* Adds the losses of a type to the lost first or second events of a rule. */
static void add_losses(const struct judge *judge, struct missing *missing, bool is_second,
		       const struct posix_trace_ledger_np *line)
{
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		add_saturated(is_second ? &missing->second : &missing->first, line->lost[i]);
		missing->anywhere |= is_second && line->lost[i] && !has_place(judge, i);
	}
}

/* Adds the losses of a type to all rules that it concerns. */
static void add_type_losses(const struct judge *judge, struct missing *missing,
			    const struct judge_type *type, unsigned kinds,
			    const struct posix_trace_ledger_np *line)
{
	for (size_t u = 0; u < type->uses; u++) {
		const struct judge_use *use = &type->use[u];
		struct missing *of = &missing[use->rule - judge->rules->rule];

		add_losses(judge, of, use->is_second, line);
		*(use->is_second ? &of->second_kinds : &of->first_kinds) |= kinds;
	}
}

/*
 * Adds the calls that the shim could not trace. The types of such calls are unknown, only their
 * kinds. So each call is counted for each rule that concerns its kind.
 */
static int add_untraced(const struct judge *judge, struct missing *missing)
{
	struct shimloss loss;
	int err = shimloss_read(&loss, judge->log);

	for (size_t i = 0; !err && i < judge->rules->count; i++) {
		uint64_t second = shimloss_of(&loss, missing[i].second_kinds);

		add_saturated(&missing[i].first, shimloss_of(&loss, missing[i].first_kinds));
		add_saturated(&missing[i].second, second);
		missing[i].anywhere |= second != 0;
	}
	return err;
}

/* Computes the losses for all rules. Returns 0 or an error number. */
static int count_missing(const struct judge *judge, struct missing *missing)
{
	struct posix_trace_ledger_np rest, line;
	int err = posix_trace_get_ledger_np(judge->log->trid, &rest);

	if (err)
		return err;
	/* After this loop, "rest" has the losses that may belong to any type. */
	for (size_t i = 0; i < judge->log->types; i++) {
		trace_event_id_t id = judge->log->list[i]->id;

		if (id >= judge->ids || posix_trace_get_ledger_type_np(judge->log->trid, id, &line))
			continue;
		losses_subtract(&rest, &line);
		if (judge->by_id[id])
			add_type_losses(judge, missing, judge->by_id[id],
					shimloss_kinds(judge->log->list[i]->name), &line);
	}
	for (size_t i = 0; i < judge->rules->count; i++) {
		if (judge->rules->rule[i].first.exists)
			add_losses(judge, &missing[i], false, &rest);
		if (judge->rules->rule[i].second.exists)
			add_losses(judge, &missing[i], true, &rest);
	}
	return add_untraced(judge, missing);
}

/* Changes the violations of a rule to undecided cases. */
static void withdraw_violations(struct rule *rule)
{
	add_saturated(&rule->undecided, rule->violations);
	rule->violations = 0;
	for (int i = 0; i < RULES_REASONS; i++) {
		free(rule->reason[i]);
		rule->reason[i] = NULL;
	}
}

/* Applies the losses to the result of a rule. */
static void apply_losses(struct rule *rule, const struct missing *missing, bool is_damaged)
{
	rule->lost = missing->first;
	if (rule->kind == RULE_EVERY)
		add_saturated(&rule->lost, missing->second);
	/* Each violation may be wrong, because the awaited event may be among the lost events. */
	if (rule->kind == RULE_EVERY && missing->anywhere)
		withdraw_violations(rule);
	add_saturated(&rule->undecided, missing->first);
	if (is_damaged && !rule->undecided)
		rule->undecided = 1;
}

/* "missing" has an element for each rule, at the index of the rule. */
int sight_losses(struct judge *judge, bool is_damaged)
{
	struct missing *missing = calloc(judge->rules->count + 1, sizeof(*missing));
	int err = missing ? count_missing(judge, missing) : ENOMEM;

	for (size_t i = 0; !err && i < judge->rules->count; i++)
		apply_losses(&judge->rules->rule[i], &missing[i], is_damaged);
	free(missing);
	return err;
}
