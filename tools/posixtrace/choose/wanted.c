/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "choose/wanted.h"

#include <string.h>

#include "base/say.h"
#include "base/tail.h"
#include "base/tool.h"

void wanted_init(struct wanted *wanted)
{
	memset(wanted, 0, sizeof(*wanted));
	choose_init(&wanted->choose);
	wanted->limit = UINT64_MAX;
}

void wanted_fini(struct wanted *wanted)
{
	choose_fini(&wanted->choose);
	where_free(wanted->where);
}

static bool parse_number(const char *option, const char *text, struct choose_numbers *numbers)
{
	if (choose_add_number(numbers, text))
		return true;
	say("%s %s: not a number", option, text);
	return false;
}

static bool parse_tail(struct wanted *wanted, const char *text)
{
	uint64_t tail;

	if (!tool_number("--tail", text, &tail))
		return false;
	wanted->tail = (size_t)tail;
	if (tail && tail <= TAIL_MAX)
		return true;
	say("--tail %s: not a number from 1 to %d", text, TAIL_MAX);
	return false;
}

/* Several are all to be true; so the last one given would be a surprise. */
static bool parse_where(struct wanted *wanted, const char *text)
{
	if (wanted->where) {
		say("--where %s: give one expression; && joins two conditions", text);
		return false;
	}
	wanted->where = where_parse("--where", text);
	return wanted->where != NULL;
}

/* Of two that are given, the one that is left out would be missed too late. */
static bool take_time(const char *option, const char *text, const char **time)
{
	if (*time)
		say("%s %s: give one value only; %s was given before", option, text, *time);
	else
		*time = text;
	return *time == text;
}

/* What is wrong with it, or with all of them together, a pairing of its own finds out. */
bool wanted_pair(struct wanted *wanted, const char *text)
{
	struct pairing pairing;
	bool good;

	pairing_init(&pairing, NULL, NULL);
	for (size_t i = 0; i < wanted->pairs; i++)
		pairing_add(&pairing, wanted->pair[i]);
	good = pairing_add(&pairing, text);
	pairing_fini(&pairing);
	if (good)
		wanted->pair[wanted->pairs++] = text;
	return good;
}

bool wanted_option(struct wanted *wanted, int option, const char *value, bool *good)
{
	*good = true;
	switch (option) {
	case 'e':
		*good = choose_add_name(&wanted->choose.include, value);
		return true;
	case 'x':
		*good = choose_add_name(&wanted->choose.exclude, value);
		return true;
	case WANTED_PID:
		*good = parse_number("--pid", value, &wanted->choose.pid);
		return true;
	case WANTED_TID:
		*good = parse_number("--tid", value, &wanted->choose.tid);
		return true;
	case WANTED_BEGIN:
		*good = take_time("--begin", value, &wanted->begin_text);
		return true;
	case WANTED_END:
		*good = take_time("--end", value, &wanted->end_text);
		return true;
	case WANTED_WHERE:
		*good = parse_where(wanted, value);
		return true;
	case WANTED_LIMIT:
		*good = tool_number("--limit", value, &wanted->limit);
		return true;
	case WANTED_TAIL:
		*good = parse_tail(wanted, value);
		return true;
	case WANTED_PAIR:
		wanted->pair_given = true;
		*good = wanted_pair(wanted, value);
		return true;
	}
	return false;
}

static bool parse_time(const char *option, const char *text, bool utc, struct bound *bound)
{
	if (!text || bound_parse(text, utc, bound))
		return true;
	say("%s %s: not a time", option, text);
	return false;
}

bool wanted_ready(struct wanted *wanted, bool utc)
{
	if (wanted->pair_given && !wanted_asks_duration(wanted)) {
		say("--pair %s: nothing asks for a duration; --where 'duration > 1ms' would",
		    wanted->pair[0]);
		return false;
	}
	return parse_time("--begin", wanted->begin_text, utc, &wanted->begin) &&
	       parse_time("--end", wanted->end_text, utc, &wanted->end);
}

void wanted_begin(struct wanted *wanted, int64_t first_ns, int64_t last_ns)
{
	wanted->choose.begin_ns = bound_at(&wanted->begin, first_ns, last_ns, INT64_MIN);
	wanted->choose.end_ns = bound_at(&wanted->end, first_ns, last_ns, INT64_MAX);
}

bool wanted_event(struct wanted *wanted, const struct posix_trace_event_np *event, const char *name,
		  const struct posix_trace_schema_np *schema, const struct durations *durations)
{
	struct where_event asked;
	enum where_answer answer;

	if (!choose_event(&wanted->choose, event))
		return false;
	if (!wanted->where)
		return true;
	asked = (struct where_event){
		.name = name, .name_len = strlen(name),
		.pid = event->info.posix_pid, .tid = event->tid,
		.time_ns = event->time_ns,
		.address = (uintptr_t)event->info.posix_prog_address,
		.schema = schema,
		.data = event->data, .data_len = event->data_len,
		.has_duration = durations->on && durations->has, .duration_ns = durations->ns,
	};
	answer = where_ask(wanted->where, &asked);
	return answer == WHERE_YES || (answer == WHERE_UNKNOWN && durations->on &&
				       durations->keeps_begins && durations->is_begin);
}
