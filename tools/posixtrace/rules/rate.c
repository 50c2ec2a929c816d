/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rate.c - judges rules about the number of events in a span of time.
 *
 * If a rule allows at most N events, the last N + 1 times are kept in a circular array, sorted from
 * the oldest to the youngest. The index of the oldest time is rule->cases modulo N + 1. An event
 * whose writer was suspended arrives after younger events, and its time is inserted at the right
 * place.
 */
#include "base/brief.h"
#include "rules/judge.h"

/*
 * Returns the address of a time. "index" is counted from the oldest time, and "from" is the index
 * of the oldest time in the array.
 */
static int64_t *time_at(const struct rule *rule, uint64_t from, uint64_t index)
{
	return &rule->window[(from + index) % (rule->number + 1)];
}

/*
 * Returns whether the time from from_ns to to_ns is less than the span of the rule. to_ns must not
 * be less than from_ns.
 */
static bool is_within(const struct rule *rule, int64_t from_ns, int64_t to_ns)
{
	return (uint64_t)to_ns - (uint64_t)from_ns < rule->within_ns;
}

/*
 * Adds a time to the full array and removes the oldest time. Returns true if there are too many
 * events in a span. These events may include the one whose time is removed.
 */
static bool replace_oldest(struct rule *rule, int64_t time_ns)
{
	uint64_t oldest = rule->cases % (rule->number + 1), index = rule->number;
	int64_t gone_ns = *time_at(rule, oldest, 0);
	bool too_many;

	/*
	 * This event is older than all times in the array. The times before them are no longer
	 * known, so the case is undecided.
	 */
	if (rule->number && time_ns < gone_ns) {
		rule->undecided++;
		return false;
	}
	/*
	 * Together with the new time there are N + 2 times. If the new time is the last of them,
	 * the first N + 1 times have been examined before. Otherwise they must be examined now,
	 * because the new time is one of them.
	 */
	too_many = rule->number && time_ns < *time_at(rule, oldest, rule->number) &&
		   is_within(rule, gone_ns, *time_at(rule, oldest, rule->number - 1) > time_ns ?
			     *time_at(rule, oldest, rule->number - 1) : time_ns);
	oldest++;
	rule->cases++;
	for (; index && *time_at(rule, oldest, index - 1) > time_ns; index--)
		*time_at(rule, oldest, index) = *time_at(rule, oldest, index - 1);
	*time_at(rule, oldest, index) = time_ns;
	return too_many ||
	       is_within(rule, *time_at(rule, oldest, 0), *time_at(rule, oldest, rule->number));
}

/*
 * Adds a time to an array that is not full. Returns true if the array has become full and all its
 * times are within a span.
 */
static bool add_first(struct rule *rule, int64_t time_ns)
{
	uint64_t index = rule->cases++;

	for (; index && rule->window[index - 1] > time_ns; index--)
		rule->window[index] = rule->window[index - 1];
	rule->window[index] = time_ns;
	return rule->cases == rule->number + 1 &&
	       is_within(rule, rule->window[0], rule->window[rule->number]);
}

void rate_event(struct judge *judge, struct rule *rule, const struct reading *reading)
{
	int64_t time_ns = reading->event.time_ns;
	char span[BRIEF_BYTES];

	if (!(rule->cases <= rule->number ? add_first(rule, time_ns) :
					    replace_oldest(rule, time_ns)))
		return;
	judge_violation(judge, rule, time_ns, reading->event.info.posix_pid, reading->event.tid,
			"%s: more than %llu in %s", reading->type->shown,
			(unsigned long long)rule->number, brief_ns(span, (double)rule->within_ns));
}
