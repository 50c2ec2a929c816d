/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rules/judge.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latency/brief.h"
#include "latency/pairing.h"
#include "out.h"
#include "value.h"

#define NONE       UINT32_MAX
#define KEY_BYTES  64

/* An event that wants another. */
struct pending {
	uint64_t key;
	int64_t time_ns;
	pid_t pid, tid;
	uint32_t older, younger; /* of its rule; younger also among the free ones */
	char text[KEY_BYTES];    /* its key, to be told */
};

/* What an event type is to a rule. */
struct judge_type {
	size_t uses;
	struct judge_use {
		struct rule *rule;
		bool is_second;
		unsigned field[POSIX_TRACE_KEYS_MAX_NP];
	} use[];
};

void judge_violation(struct judge *judge, struct rule *rule, int64_t time_ns, pid_t pid, pid_t tid,
		     const char *format, ...)
{
	char when[WHEN_BYTES], *text = NULL, *line = NULL;
	va_list args;

	if (rule->violations++ >= RULES_TOLD)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text || asprintf(&line, "%s pid %d tid %d: %s", when_string(when, time_ns, WHEN_UTC),
			      (int)pid, (int)tid, text) < 0) {
		line = NULL;
		judge->err = ENOMEM;
	}
	free(text);
	rule->told[rule->violations - 1] = line;
}

/* ------------------------------------------------------------------ event types */

static int find_field(const struct posix_trace_schema_np *schema, const char *name)
{
	for (unsigned i = 0; schema && i < schema->fields; i++)
		if (!strcmp(schema->field[i].name, name))
			return (int)i;
	return -1;
}

/* A type without the fields of a rule is not what the rule means. */
static bool has_fields(const struct rule *rule, const struct log_type *type, unsigned *field)
{
	for (unsigned i = 0; i < rule->fields; i++) {
		int found = find_field(type->schema, rule->field[i]);

		if (found < 0)
			return false;
		field[i] = (unsigned)found;
	}
	return true;
}

static bool matches(struct rule_event *event, const struct log_type *type)
{
	bool fits = event->pattern && !fnmatch(event->pattern, type->name, 0);

	event->exists |= fits;
	return fits;
}

static bool is_of_locks(const struct log_type *type)
{
	return pairing_time_field(type->schema) >= 0 && find_field(type->schema, "lock") >= 0 &&
	       type->name_len > 5 && !strcmp(type->name + type->name_len - 5, "_held");
}

static void add_use(struct judge_type *to, struct rule *rule, const struct log_type *type,
		    bool is_second)
{
	struct judge_use *use = &to->use[to->uses];

	use->rule = rule;
	use->is_second = is_second;
	if (has_fields(rule, type, use->field))
		to->uses++;
}

/* Of one type, ends come before begins: an event that is both is not followed by itself. */
static struct judge_type *learn(struct judge *judge, const struct log_type *type)
{
	struct judge_type *to = calloc(1, sizeof(*to) + 2 * judge->rules->count * sizeof(to->use[0]));
	struct judge_type *less;

	for (size_t i = 0; to && i < judge->rules->count; i++) {
		struct rule *rule = &judge->rules->rule[i];

		if (rule->kind == RULE_ORDER) {
			if (is_of_locks(type))
				add_use(to, rule, type, false);
			continue;
		}
		if (rule->kind == RULE_EVERY && matches(&rule->second, type))
			add_use(to, rule, type, true);
		if (matches(&rule->first, type))
			add_use(to, rule, type, false);
	}
	/* Few rules are about one type. */
	less = to ? realloc(to, sizeof(*to) + to->uses * sizeof(to->use[0])) : NULL;
	return less ? less : to;
}

static struct judge_type *type_of(struct judge *judge, const struct log_type *type)
{
	size_t id = type->id;

	if (id >= judge->ids) {
		judge->err = ENOMEM;
		return NULL;
	}
	if (!judge->by_id[id])
		judge->by_id[id] = learn(judge, type);
	if (!judge->by_id[id])
		judge->err = ENOMEM;
	return judge->by_id[id];
}

bool judge_init(struct judge *judge, struct rules *rules, struct logfile *log)
{
	memset(judge, 0, sizeof(*judge));
	judge->rules = rules;
	judge->log = log;
	judge->ids = 65536;
	judge->by_id = calloc(judge->ids, sizeof(*judge->by_id));
	judge->pending = calloc(RULES_PENDING, sizeof(*judge->pending));
	judge->first = malloc((rules->count + 1) * sizeof(*judge->first));
	judge->last = malloc((rules->count + 1) * sizeof(*judge->last));
	judge->holder = calloc(2 * RULES_HOLDERS, sizeof(*judge->holder));
	if (!judge->by_id || !judge->pending || !judge->first || !judge->last || !judge->holder)
		return false;
	for (size_t i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->rule[i];

		judge->first[i] = judge->last[i] = NONE;
		if (rule->kind == RULE_RATE) {
			rule->window = calloc(rule->number + 1, sizeof(*rule->window));
			if (!rule->window)
				return false;
		}
	}
	for (uint32_t i = 0; i < RULES_PENDING; i++)
		judge->pending[i].younger = i + 1 < RULES_PENDING ? i + 1 : NONE;
	/* Also types that have no event: a rule that means none of them is a slip of the pen. */
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
	free(judge->pending);
	free(judge->first);
	free(judge->last);
	free(judge->holder);
}

/* ------------------------------------------------------------------ every */

static void take_out(struct judge *judge, size_t rule, uint32_t index)
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
	pending->younger = judge->free;
	judge->free = index;
}

static void too_late(struct judge *judge, struct rule *rule, const struct pending *pending,
		     const char *why)
{
	judge_violation(judge, rule, pending->time_ns, pending->pid, pending->tid, "%s%s: no %s%s",
			rule->first.pattern, pending->text, rule->second.pattern, why);
}

/* Those that have waited too long. */
static void expire(struct judge *judge, size_t index, int64_t now_ns)
{
	struct rule *rule = &judge->rules->rule[index];
	char span[BRIEF_BYTES], why[BRIEF_BYTES + 16];

	while (judge->first[index] != NONE) {
		const struct pending *pending = &judge->pending[judge->first[index]];

		if (now_ns < pending->time_ns ||
		    (uint64_t)now_ns - (uint64_t)pending->time_ns <= rule->within_ns)
			return;
		snprintf(why, sizeof(why), " within %s", brief_ns(span, (double)rule->within_ns));
		too_late(judge, rule, pending, why);
		take_out(judge, index, judge->first[index]);
	}
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* The key of an event, and how it is told. */
static uint64_t key_of(const struct judge *judge, const struct judge_use *use,
		       const struct reading *reading, char *text)
{
	static struct out scratch = { .fd = -1 };
	const struct posix_trace_event_np *event = &reading->event;
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), &event->info.posix_pid,
			    sizeof(event->info.posix_pid));
	struct posix_trace_value_np value;

	scratch.used = 0;
	if (!use->rule->fields) {
		hash = mix(hash, &event->tid, sizeof(event->tid));
		hash = mix(hash, &event->info.posix_thread_id, sizeof(event->info.posix_thread_id));
	}
	for (unsigned i = 0; i < use->rule->fields; i++) {
		if (!posix_trace_field_get_np(reading->type->schema, use->field[i], 0, event->data,
					      event->data_len, 0, &value))
			continue;
		if (value.field->form == POSIX_TRACE_FORM_BYTES_NP)
			hash = mix(hash, value.data, value.len);
		else
			hash = mix(hash, &value.u64, sizeof(value.u64));
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

static void begin(struct judge *judge, size_t index, const struct judge_use *use,
		  const struct reading *reading)
{
	struct pending *pending;
	uint32_t at = judge->free;

	use->rule->cases++;
	if (at == NONE) {
		use->rule->undecided++;
		return;
	}
	pending = &judge->pending[at];
	judge->free = pending->younger;
	pending->time_ns = reading->event.time_ns;
	pending->pid = reading->event.info.posix_pid;
	pending->tid = reading->event.tid;
	pending->key = key_of(judge, use, reading, pending->text);
	pending->younger = NONE;
	pending->older = judge->last[index];
	if (pending->older == NONE)
		judge->first[index] = at;
	else
		judge->pending[pending->older].younger = at;
	judge->last[index] = at;
}

/* The youngest that waits for it: calls in calls end from inside. */
static void end(struct judge *judge, size_t index, const struct judge_use *use,
		const struct reading *reading)
{
	uint64_t key;
	uint32_t at = judge->last[index];

	if (at == NONE)
		return;
	key = key_of(judge, use, reading, NULL);
	while (at != NONE && judge->pending[at].key != key)
		at = judge->pending[at].older;
	if (at != NONE)
		take_out(judge, index, at);
}

/* ------------------------------------------------------------------ the others */

static void rate(struct judge *judge, struct rule *rule, const struct reading *reading)
{
	size_t room = (size_t)rule->number + 1;
	int64_t now_ns = reading->event.time_ns, *oldest = &rule->window[rule->cases % room];
	char span[BRIEF_BYTES];

	*oldest = now_ns;
	if (++rule->cases < room)
		return;
	oldest = &rule->window[rule->cases % room];
	/* One more than may be, and the first of them is not older than the span. */
	if (now_ns < *oldest || (uint64_t)now_ns - (uint64_t)*oldest < rule->within_ns)
		judge_violation(judge, rule, now_ns, reading->event.info.posix_pid,
				reading->event.tid, "%s: more than %llu in %s", reading->type->shown,
				(unsigned long long)rule->number,
				brief_ns(span, (double)rule->within_ns));
}

static void never(struct judge *judge, struct rule *rule, const struct reading *reading)
{
	rule->cases++;
	judge_violation(judge, rule, reading->event.time_ns, reading->event.info.posix_pid,
			reading->event.tid, "%s", reading->type->shown);
}

static bool holds(const struct rule *rule)
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

static bool is_meant(struct rule_event *event, const struct reading *reading)
{
	const struct posix_trace_event_np *of = &reading->event;
	struct where_event asked = {
		.name = reading->type->name, .name_len = reading->type->name_len,
		.pid = of->info.posix_pid, .tid = of->tid, .time_ns = of->time_ns,
		.address = (uintptr_t)of->info.posix_prog_address, .schema = reading->type->schema,
		.data = of->data, .data_len = of->data_len,
		.has_duration = reading->durations.on && reading->durations.has,
		.duration_ns = reading->durations.ns,
	};

	return !event->where || where_holds(event->where, &asked);
}

static void judge_use(struct judge *judge, const struct judge_use *use,
		      const struct reading *reading)
{
	struct rule *rule = use->rule;
	size_t index = (size_t)(rule - judge->rules->rule);

	if (rule->kind != RULE_ORDER &&
	    !is_meant(use->is_second ? &rule->second : &rule->first, reading))
		return;
	switch (rule->kind) {
	case RULE_EVERY:
		if (use->is_second)
			end(judge, index, use, reading);
		else
			begin(judge, index, use, reading);
		break;
	case RULE_NEVER:
		never(judge, rule, reading);
		break;
	case RULE_ORDER:
		order_event(judge, rule, reading);
		break;
	case RULE_COUNT:
		rule->cases++;
		break;
	case RULE_RATE:
		rate(judge, rule, reading);
		break;
	}
}

/* What waits cannot be decided any more; what held a lock may have given it back. */
static void cut(struct judge *judge)
{
	for (size_t i = 0; i < judge->rules->count; i++)
		while (judge->first[i] != NONE) {
			judge->rules->rule[i].undecided++;
			take_out(judge, i, judge->first[i]);
		}
}

void judge_event(struct judge *judge, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	const struct judge_type *type;

	for (size_t i = 0; i < judge->rules->count; i++)
		if (judge->rules->rule[i].within_ns && judge->first[i] != NONE)
			expire(judge, i, event->time_ns);
	if (event->info.posix_event_id == POSIX_TRACE_OVERFLOW ||
	    event->info.posix_event_id == POSIX_TRACE_RESUME ||
	    event->info.posix_event_id == POSIX_TRACE_START ||
	    (event->flags & POSIX_TRACE_EVENT_GAP_NP))
		cut(judge);
	if (event->time_ns > judge->last_ns)
		judge->last_ns = event->time_ns;
	if (!reading->is_wanted)
		return;
	type = type_of(judge, reading->type);
	for (size_t i = 0; type && i < type->uses; i++)
		judge_use(judge, &type->use[i], reading);
}

void judge_end(struct judge *judge)
{
	for (size_t i = 0; i < judge->rules->count; i++) {
		struct rule *rule = &judge->rules->rule[i];

		/* With time left, the other might still have come. */
		while (judge->first[i] != NONE) {
			if (rule->within_ns)
				rule->undecided++;
			else
				too_late(judge, rule, &judge->pending[judge->first[i]],
					 " up to the end of the log");
			take_out(judge, i, judge->first[i]);
		}
		if (rule->kind == RULE_COUNT && !holds(rule))
			judge_violation(judge, rule, judge->last_ns, 0, 0, "%llu events %s",
					(unsigned long long)rule->cases, rule->first.pattern);
	}
}
