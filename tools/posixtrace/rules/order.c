/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order.c - judges rules about the order in which a thread acquires two locks.
 *
 * An event is recorded when a lock is released. It has the duration for which the lock was held, so
 * the time when the lock was acquired is known. Either lock may be released first, so the last
 * ORDER_KEPT times of both locks are kept for each thread.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "rules/judge.h"
#include "log/field.h"
#include "spans/pairing.h"
#include "symbols/data.h"

/*
 * Returns true if the holder at this index has the rule and the thread of the key. table_find()
 * calls this function.
 */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct holder *holder = (const struct holder *)array + index, *wanted = key;

	return holder->rule == wanted->rule && holder->tid == wanted->tid &&
	       holder->thread == wanted->thread && holder->pid == wanted->pid;
}

/*
 * Returns the entry of a thread and rule and creates it if necessary. Returns NULL if there are too
 * many entries or if memory is lacking.
 */
static struct holder *find_holder(struct judge *judge, const struct rule *rule,
				  const struct posix_trace_event_np *event)
{
	struct holder wanted = { .rule = rule, .pid = event->info.posix_pid, .tid = event->tid,
				 .thread = (uint64_t)event->info.posix_thread_id };
	/*
	 * A thread has one entry for each rule. The hash uses the line of the rule to distinguish
	 * them.
	 */
	uint64_t hash = hash_number(hash_number((uint64_t)event->info.posix_pid << 32 ^
							(uint32_t)event->tid, wanted.thread),
				    rule->line);
	uint32_t index = table_find(&judge->of_holder, hash, is_at, judge->holder, &wanted);

	if (index != TABLE_NONE)
		return &judge->holder[index];
	if (judge->holders == RULES_HOLDERS ||
	    !table_add(&judge->of_holder, hash, (uint32_t)judge->holders))
		return NULL;
	judge->holder[judge->holders] = wanted;
	return &judge->holder[judge->holders++];
}

/*
 * Returns true if the pattern in the rule matches the name of the lock, or if the pattern is the
 * address of the lock.
 */
static bool is_lock(const struct judge *judge, const struct rule_event *lock,
		    const struct posix_trace_event_np *event, uint64_t pointer)
{
	struct posix_trace_object_np object;
	const char *name = data_name(judge->log, event->info.posix_pid, pointer, event->time_ns,
				     &object);
	char address[24];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)pointer);
	return !strcmp(lock->pattern, address) || (name && !fnmatch(lock->pattern, name, 0));
}

/* Reports a violation if the thread acquired the second lock while it held the first lock. */
static void compare_times(struct judge *judge, struct rule *rule, const struct holder *holder,
			  const struct held *first, const struct held *second)
{
	/* If two times are equal, the order of the two calls is unknown. */
	if (second->from_ns <= first->from_ns || second->from_ns >= first->to_ns)
		return;
	judge_violation(judge, rule, second->from_ns, holder->pid, holder->tid,
			"%s was acquired while %s was held", rule->second.pattern,
			rule->first.pattern);
}

/*
 * Compares a time for which one lock was held with the last times for which the other lock was
 * held. Then keeps the first time, too.
 */
static void add_held(struct judge *judge, struct rule *rule, struct holder *holder, int which,
		     const struct held *held)
{
	/* The array is circular and has the last ORDER_KEPT times. Older times are not compared. */
	unsigned others = holder->count[!which];

	for (unsigned i = 0; i < others && i < ORDER_KEPT; i++) {
		const struct held *other = &holder->held[!which][i];

		compare_times(judge, rule, holder, which ? other : held, which ? held : other);
	}
	holder->held[which][holder->count[which]++ % ORDER_KEPT] = *held;
}

void order_event(struct judge *judge, struct rule *rule, const struct reading *reading)
{
	const struct posix_trace_schema_np *schema = reading->type->schema;
	const struct posix_trace_event_np *event = &reading->event;
	struct posix_trace_value_np time, lock;
	struct held held = { .to_ns = event->time_ns };
	struct holder *holder;
	bool is[2];

	/* judge.c passes only events of types that have a field lock and a duration. */
	if (!posix_trace_field_get_np(schema, (unsigned)pairing_time_field(schema), 0, event->data,
				      event->data_len, 0, &time) ||
	    !field_by_name(schema, "lock", event, &lock) ||
	    lock.field->form != POSIX_TRACE_FORM_UNSIGNED_NP)
		return;
	is[0] = is_lock(judge, &rule->first, event, lock.u64);
	is[1] = is_lock(judge, &rule->second, event, lock.u64);
	rule->first.exists |= is[0];
	rule->second.exists |= is[1];
	if (!is[0] && !is[1])
		return;
	rule->cases++;
	/* In a hostile log the duration may be so long that the subtraction overflows. */
	if (time.u64 > INT64_MAX ||
	    __builtin_sub_overflow(event->time_ns, (int64_t)time.u64, &held.from_ns))
		held.from_ns = INT64_MIN;
	holder = find_holder(judge, rule, event);
	if (!holder) {
		rule->undecided++;
		return;
	}
	/*
	 * A lock that matches both patterns is ignored, because it could be either of the two
	 * locks.
	 */
	for (int which = 0; which < 2; which++)
		if (is[which] && !is[!which])
			add_held(judge, rule, holder, which, &held);
}
