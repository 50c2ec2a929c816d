/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rate.c - how many events a span of time has.
 *
 * Of a rate of at most N, the last N + 1 times are kept in their order: a ring, whose oldest place
 * is cases % (N + 1). An event whose writer was held up comes after younger ones and is put into
 * its place.
 */
#include "base/brief.h"
#include "rules/judge.h"

static int64_t *at(const struct rule *rule, uint64_t from, uint64_t index)
{
	return &rule->window[(from + index) % (rule->number + 1)];
}

static bool is_within(const struct rule *rule, int64_t from_ns, int64_t to_ns)
{
	return (uint64_t)to_ns - (uint64_t)from_ns < rule->within_ns;
}

/*
 * The N + 1 times are full; the oldest of them goes. True: with it, or without it, they are too
 * many.
 */
static bool replace(struct rule *rule, int64_t time_ns)
{
	uint64_t oldest = rule->cases % (rule->number + 1), index = rule->number;
	int64_t gone_ns = *at(rule, oldest, 0);
	bool too_many;

	/* What spans the times that went before have is not known any more. */
	if (rule->number && time_ns < gone_ns) {
		rule->undecided++;
		return false;
	}
	/*
	 * Of N + 2 times in order the first N + 1 were looked at before, unless this one is among
	 * them.
	 */
	too_many = rule->number && time_ns < *at(rule, oldest, rule->number) &&
		   is_within(rule, gone_ns, *at(rule, oldest, rule->number - 1) > time_ns ?
			     *at(rule, oldest, rule->number - 1) : time_ns);
	oldest++;
	rule->cases++;
	for (; index && *at(rule, oldest, index - 1) > time_ns; index--)
		*at(rule, oldest, index) = *at(rule, oldest, index - 1);
	*at(rule, oldest, index) = time_ns;
	return too_many || is_within(rule, *at(rule, oldest, 0), *at(rule, oldest, rule->number));
}

/* There is room. True: they are full now, and too many. */
static bool add(struct rule *rule, int64_t time_ns)
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

	if (!(rule->cases <= rule->number ? add(rule, time_ns) : replace(rule, time_ns)))
		return;
	judge_violation(judge, rule, time_ns, reading->event.info.posix_pid, reading->event.tid,
			"%s: more than %llu in %s", reading->type->shown,
			(unsigned long long)rule->number, brief_ns(span, (double)rule->within_ns));
}
