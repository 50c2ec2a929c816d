/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * every.c - judges rules "every". An event that another event must follow is called an obligation.
 * The time of an obligation is the span "within" of the rule, counted from this event.
 *
 * When the time of an obligation has passed, the obligation does not count as violated yet. The
 * writer of the awaited event may have been suspended. In this case the event follows younger
 * events in the log. Therefore the obligation is kept until an event is more than WANTED_LATE_NS
 * later than the end of this time. Until then, an event that was recorded in time still meets the
 * obligation.
 *
 * If the process of an obligation has ended, no event can meet the obligation any more, except one
 * that was recorded before the end. Such an obligation survives gaps of the log that begin later.
 *
 * An obligation is in three lists: that of its rule, in the order of the log, that of its process,
 * and that of its key. The begin or end of a process concerns only the second list. The third list
 * has the obligation that an awaited event meets. Without the last two lists, each fork, each end
 * of a process and each awaited event would cost time for all open obligations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/brief.h"
#include "base/out.h"
#include "base/table.h"
#include "log/value.h"
#include "rules/judge.h"

#define NONE       UINT32_MAX
#define KEY_BYTES  64
/* the number of lists of each kind; several processes or keys share a list */
#define LISTS      (UINT32_C(1) << 15)

/* The lists of processes and of keys. The youngest obligation is the first of a list. */
enum { BY_PID, BY_KEY, KINDS };

/* An obligation: an event that another event must follow. */
struct pending {
	uint64_t key;
	int64_t time_ns;
	pid_t pid, tid;
	/* neighbours in the list of the rule; "younger" also links the free elements */
	uint32_t older, younger;
	/* neighbours in the lists of its process and of its key, and the place in judge->list */
	struct neighbours {
		uint32_t before, after, list;
	} by[KINDS];
	uint32_t rule;           /* index */
	/* its time passed before a gap in the log, so the gap does not make it undecided */
	bool certain;
	/* the log showed the end of its process before a gap could hide events of the process */
	bool is_orphan;
	int64_t ended_ns;        /* no event of the process is later; INT64_MAX: not known */
	char text[KEY_BYTES];    /* the key as text, which the message shows */
};

bool every_init(struct judge *judge)
{
	size_t rules = judge->rules->count;

	judge->pending = calloc(RULES_PENDING, sizeof(*judge->pending));
	for (int kind = 0; kind < KINDS; kind++)
		judge->list[kind] = malloc(LISTS * sizeof(*judge->list[kind]));
	judge->first = malloc((rules + 1) * sizeof(*judge->first));
	judge->last = malloc((rules + 1) * sizeof(*judge->last));
	judge->hidden = calloc(rules + 1, sizeof(*judge->hidden));
	if (!judge->pending || !judge->list[BY_PID] || !judge->list[BY_KEY] || !judge->first ||
	    !judge->last || !judge->hidden)
		return false;
	for (size_t i = 0; i < rules; i++)
		judge->first[i] = judge->last[i] = NONE;
	for (size_t i = 0; i < LISTS; i++)
		judge->list[BY_PID][i] = judge->list[BY_KEY][i] = NONE;
	judge->free = NONE;
	return true;
}

void every_fini(struct judge *judge)
{
	free(judge->pending);
	for (int kind = 0; kind < KINDS; kind++)
		free(judge->list[kind]);
	free(judge->first);
	free(judge->last);
	free(judge->hidden);
}

/* Returns an element to the pool. */
static void every_free(struct judge *judge, uint32_t at)
{
	judge->pending[at].younger = judge->free;
	judge->free = at;
}

/* Returns the place of the list that has the obligations of a process. */
static uint32_t list_of_pid(pid_t pid)
{
	return table_fold(hash_number(HASH_BEGIN, (unsigned)pid)) % LISTS;
}

/* Returns the place of the list that has those obligations of a rule that have this key. */
static uint32_t list_of_key(size_t rule, uint64_t key)
{
	return table_fold(hash_number(key, rule)) % LISTS;
}

/* Puts an obligation at the begin of a list. */
static void every_link(struct judge *judge, uint32_t at, int kind, uint32_t list)
{
	struct neighbours *own = &judge->pending[at].by[kind];

	*own = (struct neighbours){ NONE, judge->list[kind][list], list };
	if (own->after != NONE)
		judge->pending[own->after].by[kind].before = at;
	judge->list[kind][list] = at;
}

/* Removes an obligation from its list of this kind. */
static void every_unlink(struct judge *judge, const struct pending *pending, int kind)
{
	const struct neighbours *own = &pending->by[kind];

	if (own->before == NONE)
		judge->list[kind][own->list] = own->after;
	else
		judge->pending[own->before].by[kind].after = own->after;
	if (own->after != NONE)
		judge->pending[own->after].by[kind].before = own->before;
}

/* Removes an obligation from all its lists. */
static void remove_pending(struct judge *judge, size_t rule, uint32_t index)
{
	struct pending *pending = &judge->pending[index];

	if (pending->older == NONE)
		judge->first[rule] = pending->younger;
	else
		judge->pending[pending->older].younger = pending->younger;
	if (pending->younger == NONE)
		judge->last[rule] = pending->older;
	else
		judge->pending[pending->younger].older = pending->older;
	for (int kind = 0; kind < KINDS; kind++)
		every_unlink(judge, pending, kind);
	every_free(judge, index);
}

/* Reports an obligation that no event has met. */
static void report_violation(struct judge *judge, struct rule *rule, const struct pending *pending,
			     const char *why)
{
	judge_violation(judge, rule, pending->time_ns, pending->pid, pending->tid, "%s%s: no %s%s",
			rule->first.pattern, pending->text, rule->second.pattern, why);
}

/*
 * Returns true if at time_ns the time of the obligation had passed by more than slack_ns. If the
 * rule has no "within", the time never passes.
 */
static bool is_over(const struct rule *rule, const struct pending *pending, int64_t time_ns,
		    uint64_t slack_ns)
{
	uint64_t limit_ns;

	if (!rule->within_ns || time_ns <= pending->time_ns ||
	    __builtin_add_overflow(rule->within_ns, slack_ns, &limit_ns))
		return false;
	return (uint64_t)time_ns - (uint64_t)pending->time_ns > limit_ns;
}

/* Reports an obligation as violated and removes it. */
static void close_violated(struct judge *judge, size_t index, uint32_t at)
{
	struct rule *rule = &judge->rules->rule[index];
	const struct pending *pending = &judge->pending[at];
	char span[BRIEF_BYTES], why[BRIEF_BYTES + 16];

	if (pending->is_orphan && !is_over(rule, pending, judge->last_ns, 0))
		snprintf(why, sizeof(why), " before the process ended");
	else if (rule->within_ns)
		snprintf(why, sizeof(why), " within %s", brief_ns(span, (double)rule->within_ns));
	else
		snprintf(why, sizeof(why), " up to the end of the log");
	report_violation(judge, rule, pending, why);
	remove_pending(judge, index, at);
}

/* Counts an obligation as undecided and removes it. */
static void close_undecided(struct judge *judge, size_t index, uint32_t at)
{
	judge->rules->rule[index].undecided++;
	remove_pending(judge, index, at);
}

/* Returns true if the awaited event may have occurred even if it is not in the log. */
static bool is_blind(const struct judge *judge, size_t index)
{
	return sight_is_blind(&judge->sight) || judge->hidden[index];
}

/* Returns true if an obligation whose time has passed is certainly violated. */
static bool is_proved(const struct judge *judge, size_t index, const struct pending *pending)
{
	return pending->certain || pending->is_orphan || !is_blind(judge, index);
}

/*
 * Closes the obligations of a rule whose time has passed. The list is in the order of the log, so
 * the loop ends at the first obligation whose time has not passed. An obligation behind it that is
 * older, because its event was late, is closed later.
 */
static void expire_rule(struct judge *judge, size_t index, int64_t now_ns)
{
	const struct rule *rule = &judge->rules->rule[index];

	while (judge->first[index] != NONE) {
		uint32_t at = judge->first[index];

		if (!is_over(rule, &judge->pending[at], now_ns, WANTED_LATE_NS))
			return;
		if (is_proved(judge, index, &judge->pending[at]))
			close_violated(judge, index, at);
		else
			close_undecided(judge, index, at);
	}
}

void every_expire(struct judge *judge, int64_t now_ns)
{
	for (size_t i = 0; i < judge->rules->count; i++)
		if (judge->first[i] != NONE)
			expire_rule(judge, i, now_ns);
}

/*
 * Makes room in the full pool. For each rule it closes the oldest obligation if the time of this
 * obligation has passed. Such an obligation is kept only because of events that may be late.
 */
static void free_overdue(struct judge *judge)
{
	for (size_t i = 0; i < judge->rules->count; i++) {
		uint32_t at = judge->first[i];

		if (at == NONE ||
		    !is_over(&judge->rules->rule[i], &judge->pending[at], judge->last_ns, 0))
			continue;
		if (is_proved(judge, i, &judge->pending[at]))
			close_violated(judge, i, at);
		else
			close_undecided(judge, i, at);
	}
}

/*
 * Returns false if the data of the event ends before one of the key fields, because it was
 * truncated.
 */
static bool has_key(const struct judge_use *use, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	struct posix_trace_value_np value;

	for (unsigned i = 0; i < use->rule->fields; i++)
		if (!posix_trace_field_get_np(reading->type->schema, use->field[i], 0, event->data,
					      event->data_len, 0, &value))
			return false;
	return true;
}

/*
 * Returns a hash of the key of an event. The key is the process with the fields of the rule, or
 * with the thread if the rule has no fields. If "text" is not NULL, the function also writes the
 * key there, in words.
 */
static uint64_t key_of(const struct judge *judge, const struct judge_use *use,
		       const struct reading *reading, char *text)
{
	static struct out scratch = { .fd = -1 };
	const struct posix_trace_event_np *event = &reading->event;
	uint64_t hash = hash_bytes(HASH_BEGIN, &event->info.posix_pid,
				   sizeof(event->info.posix_pid));
	struct posix_trace_value_np value;

	scratch.used = 0;
	if (!use->rule->fields) {
		hash = hash_bytes(hash, &event->tid, sizeof(event->tid));
		hash = hash_bytes(hash, &event->info.posix_thread_id,
				  sizeof(event->info.posix_thread_id));
	}
	for (unsigned i = 0; i < use->rule->fields; i++) {
		if (!posix_trace_field_get_np(reading->type->schema, use->field[i], 0, event->data,
					      event->data_len, 0, &value))
			continue;
		if (value.field->form == POSIX_TRACE_FORM_BYTES_NP)
			hash = hash_bytes(hash, value.data, value.len);
		else
			hash = hash_bytes(hash, &value.u64, sizeof(value.u64));
		if (text && scratch.used < KEY_BYTES) {
			out_printf(&scratch, " %s=", use->rule->field[i]);
			value_text(&scratch, judge->log, event, &value, WHEN_UTC);
		}
	}
	if (text) {
		size_t len = scratch.used < KEY_BYTES ? scratch.used : KEY_BYTES - 1;

		memcpy(text, scratch.bytes, len);
		text[len] = '\0';
	}
	scratch.used = 0;
	return hash;
}

/*
 * Takes an element of the pool, or returns NONE. Elements that were used before come first, so that
 * a few open obligations need only a few pages of memory.
 */
static uint32_t every_take(struct judge *judge)
{
	uint32_t at = judge->free;

	if (at != NONE)
		judge->free = judge->pending[at].younger;
	else if (judge->fresh < RULES_PENDING)
		at = judge->fresh++;
	return at;
}

void every_begin(struct judge *judge, size_t index, const struct judge_use *use,
		 const struct reading *reading)
{
	struct pending *pending;
	uint32_t at = every_take(judge);

	use->rule->cases++;
	if (at == NONE) {
		free_overdue(judge);
		at = every_take(judge);
	}
	/* If the pool has no room, or if the event lacks its key, the obligation is undecided. */
	if (at == NONE || !has_key(use, reading)) {
		use->rule->undecided++;
		if (at != NONE)
			every_free(judge, at);
		return;
	}
	pending = &judge->pending[at];
	pending->certain = pending->is_orphan = false;
	pending->ended_ns = INT64_MAX;
	pending->time_ns = reading->event.time_ns;
	pending->pid = reading->event.info.posix_pid;
	pending->tid = reading->event.tid;
	pending->key = key_of(judge, use, reading, pending->text);
	pending->rule = (uint32_t)index;
	every_link(judge, at, BY_PID, list_of_pid(pending->pid));
	every_link(judge, at, BY_KEY, list_of_key(index, pending->key));
	pending->younger = NONE;
	pending->older = judge->last[index];
	if (pending->older == NONE)
		judge->first[index] = at;
	else
		judge->pending[pending->older].younger = at;
	judge->last[index] = at;
}

void every_ended(struct judge *judge, pid_t pid, int64_t ended_ns)
{
	for (uint32_t at = judge->list[BY_PID][list_of_pid(pid)]; at != NONE;
	     at = judge->pending[at].by[BY_PID].after) {
		struct pending *pending = &judge->pending[at];

		if (pending->pid != pid || pending->time_ns > ended_ns)
			continue;
		pending->is_orphan |= !is_blind(judge, pending->rule);
		if (pending->ended_ns > ended_ns)
			pending->ended_ns = ended_ns;
	}
}

bool every_has(const struct judge *judge, pid_t pid, int64_t time_ns)
{
	for (uint32_t at = judge->list[BY_PID][list_of_pid(pid)]; at != NONE;
	     at = judge->pending[at].by[BY_PID].after)
		if (judge->pending[at].pid == pid && judge->pending[at].time_ns < time_ns &&
		    judge->pending[at].ended_ns == INT64_MAX && !judge->pending[at].is_orphan)
			return true;
	return false;
}

/*
 * Makes the obligations of a process uncertain, although its end is known: an event without its key
 * may meet any of them.
 */
static void unmark_orphans(struct judge *judge, size_t index, const struct reading *reading)
{
	const pid_t pid = reading->event.info.posix_pid;

	for (uint32_t at = judge->list[BY_PID][list_of_pid(pid)]; at != NONE;
	     at = judge->pending[at].by[BY_PID].after)
		if (judge->pending[at].pid == pid && judge->pending[at].rule == index)
			judge->pending[at].is_orphan = false;
}

void every_end(struct judge *judge, size_t index, const struct judge_use *use,
	       const struct reading *reading)
{
	const int64_t time_ns = reading->event.time_ns;
	uint64_t key;

	if (judge->last[index] == NONE)
		return;
	/*
	 * The event may belong to any of the obligations. So each obligation whose time has not
	 * passed becomes undecided.
	 */
	if (!has_key(use, reading)) {
		unmark_orphans(judge, index, reading);
		every_cut_rule(judge, index, time_ns);
		return;
	}
	key = key_of(judge, use, reading, NULL);
	/*
	 * The event meets the youngest obligation with this key whose time has not passed. If the
	 * process of the obligation ended before the event, a later process with the same number
	 * recorded the event, which then does not meet the obligation.
	 */
	for (uint32_t at = judge->list[BY_KEY][list_of_key(index, key)]; at != NONE;
	     at = judge->pending[at].by[BY_KEY].after) {
		const struct pending *pending = &judge->pending[at];

		if (pending->rule != index || pending->key != key || time_ns > pending->ended_ns ||
		    is_over(use->rule, pending, time_ns, 0))
			continue;
		remove_pending(judge, index, at);
		return;
	}
}

void every_cut_rule(struct judge *judge, size_t index, int64_t since_ns)
{
	const struct rule *rule = &judge->rules->rule[index];
	bool blind = is_blind(judge, index);
	uint32_t next;

	for (uint32_t at = judge->first[index]; at != NONE; at = next) {
		struct pending *pending = &judge->pending[at];

		next = pending->younger;
		pending->certain |= !blind && is_over(rule, pending, since_ns, 0);
		/* If the log was full, it may lack events from before the end of a process. */
		if (!pending->certain && (!pending->is_orphan || sight_was_full(judge)))
			close_undecided(judge, index, at);
	}
}

void every_cut(struct judge *judge, int64_t since_ns)
{
	for (size_t i = 0; i < judge->rules->count; i++)
		every_cut_rule(judge, i, since_ns);
}

/* "is_full" means that the log was full, so it may lack events from before the end of a process. */
void every_finish(struct judge *judge, bool is_whole, bool is_full)
{
	for (size_t i = 0; i < judge->rules->count; i++) {
		const struct rule *rule = &judge->rules->rule[i];
		bool blind = is_blind(judge, i);

		while (judge->first[i] != NONE) {
			uint32_t at = judge->first[i];
			const struct pending *pending = &judge->pending[at];

			/*
			 * If the time of the obligation had not passed, the awaited event may have
			 * occurred after the end of the log.
			 */
			if (pending->certain || (pending->is_orphan && !is_full) ||
			    (!blind && (is_over(rule, pending, judge->last_ns, 0) ||
					(!rule->within_ns && is_whole))))
				close_violated(judge, i, at);
			else
				close_undecided(judge, i, at);
		}
	}
}
