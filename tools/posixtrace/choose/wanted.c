/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wanted.c - parses the options that choose events, and decides for each event. */
#include "choose/wanted.h"

#include <string.h>

#include "base/say.h"
#include "base/tail.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/when.h"

const struct option_row wanted_time_rows[] = {
	{ "begin", WANTED_BEGIN, "TIME", "only events not before TIME; uses the index of the log" },
	{ "end", WANTED_END, "TIME", "only events not after TIME" },
	OPTION_END
};

const struct option_row wanted_choice_rows[] = {
	{ "event", 'e', "GLOB",
		"only event types whose name matches; may be repeated", OPTION_EVENT },
	{ "exclude", 'x', "GLOB",
		"no event types whose name matches; may be repeated", OPTION_EVENT },
	{ "pid", WANTED_PID, "N", "only this process; may be repeated" },
	{ "tid", WANTED_TID, "N", "only this thread (its Linux number); may be repeated" },
	{ .rows = wanted_time_rows },
	{ "where", WANTED_WHERE, "EXPR",
		"only events for which this is true: 'fd == 3 && duration > 1ms'" },
	OPTION_END
};

const struct option_row wanted_rows[] = {
	{ .rows = wanted_choice_rows },
	{ "limit", WANTED_LIMIT, "N", "at most N events of each log" },
	{ "tail", WANTED_TAIL, "N",
		"the last N of the chosen events, or of those that --limit leaves" },
	{ "pair", WANTED_PAIR, "BEGIN,END[,FIELD]...",
		"for durations, these event types begin and end a span, too", OPTION_PAIR },
	OPTION_END
};

void wanted_init(struct wanted *wanted)
{
	/*
	 * The default of every option is zero, except for the limit and the bounds that
	 * choose_init() sets.
	 */
	memset(wanted, 0, sizeof(*wanted));
	choose_init(&wanted->choose);
	/* Without --limit the limit is never reached. */
	wanted->limit = UINT64_MAX;
}

void wanted_fini(struct wanted *wanted)
{
	choose_fini(&wanted->choose);
	where_free(wanted->where);
}

/* Adds a value of --pid or --tid. An event is chosen if it has any one of the values. */
static bool parse_number(const char *option, const char *text, struct choose_numbers *numbers)
{
	if (choose_add_number(numbers, text))
		return true;
	say("%s %s: not a number from 0 to 2147483647", option, text_given(text));
	return false;
}

/* The number of events is limited, because they are kept in memory. */
static bool parse_tail(struct wanted *wanted, const char *text)
{
	uint64_t tail;

	if (!tool_number_within("--tail", text, 1, TAIL_MAX, &tail))
		return false;
	wanted->tail = (size_t)tail;
	return true;
}

/*
 * Parses --where. A second expression is refused, because it would be unclear whether both must
 * hold or only the last one.
 */
static bool parse_where(struct wanted *wanted, const char *text)
{
	if (wanted->where) {
		say("--where %s: give one expression; && joins two conditions", text);
		return false;
	}
	wanted->where = where_parse("--where", text);
	return wanted->where != NULL;
}

/*
 * Stores the text of --begin or --end. wanted_ready() parses it later, when it is known whether
 * --utc is given. A second value is refused, because otherwise the user would not notice that the
 * first value has no effect.
 */
static bool keep_time(const char *option, const char *text, const char **time)
{
	if (*time)
		say("%s %s: give one value only; %s was given before", option, text, *time);
	else
		*time = text;
	return *time == text;
}

/*
 * Checks a value of --pair and stores it. For the check the function makes a temporary pairing with
 * this pair and the pairs that were given before it.
 */
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
		*good = keep_time("--begin", value, &wanted->begin_text);
		return true;
	case WANTED_END:
		*good = keep_time("--end", value, &wanted->end_text);
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
	bound_say_wrong(option, text);
	return false;
}

bool wanted_ready(struct wanted *wanted, bool utc)
{
	if (wanted->pair_given && !wanted_uses_duration(wanted)) {
		say("--pair %s: has no effect without a duration in --where, such as "
		    "'duration > 1ms'", wanted->pair[0]);
		return false;
	}
	return parse_time("--begin", wanted->begin_text, utc, &wanted->begin) &&
	       parse_time("--end", wanted->end_text, utc, &wanted->end);
}

/*
 * Prints that a bound is beyond the events of the log. The message has the time of the nearest
 * event in the form that --begin and --end accept.
 */
static void say_beyond(const char *option, const char *text, const char *relation, int64_t event_ns)
{
	char time[WHEN_BYTES];

	when_string(time, event_ns, WHEN_UTC);
	say("%s %s is %s, %s: no event is selected", option, text_given(text), relation, time);
}

/*
 * Prints a warning if no event of any log can be between the bounds. The result of the command is
 * then correct, but probably not the intended one.
 */
static void say_outside(struct wanted *wanted, int64_t first_ns, int64_t last_ns)
{
	const int64_t begin_ns = wanted->choose.begin_ns, end_ns = wanted->choose.end_ns;
	/* If both times are equal, the log has one event, or its last event is not known yet. */
	const bool reverse = first_ns < last_ns && begin_ns > end_ns;
	const bool late = first_ns < last_ns && begin_ns > last_ns, early = end_ns < first_ns;

	wanted->has_inside |= !reverse && !late && !early;
	/*
	 * The calls for a second reading of the logs follow those for the first reading of all logs
	 * (wanted.h). So the count is equal to the number of logs only once, and the warning is
	 * printed once, when it is known that no log has an event between the bounds.
	 */
	if (wanted->has_inside || ++wanted->outside != (wanted->logs ? wanted->logs : 1))
		return;
	if (reverse)
		say("--begin %s is later than --end %s: no event is between them",
		    text_given(wanted->begin_text), text_given(wanted->end_text));
	else if (late)
		say_beyond("--begin", wanted->begin_text, "later than the last event", last_ns);
	else
		say_beyond("--end", wanted->end_text, "earlier than the first event", first_ns);
}

void wanted_begin(struct wanted *wanted, int64_t first_ns, int64_t last_ns)
{
	/*
	 * Bounds such as +SPAN and -SPAN depend on the log, so a command calls this function for
	 * each log.
	 */
	wanted->choose.begin_ns = bound_at(&wanted->begin, first_ns, last_ns, INT64_MIN);
	wanted->choose.end_ns = bound_at(&wanted->end, first_ns, last_ns, INT64_MAX);
	say_outside(wanted, first_ns, last_ns);
	wanted->is_all = wanted->choose.begin_ns == INT64_MIN &&
			 wanted->choose.end_ns == INT64_MAX && !wanted->choose.pid.count &&
			 !wanted->choose.tid.count && !wanted->where;
}

bool wanted_examine(struct wanted *wanted, const struct posix_trace_event_np *event,
		    const char *name, const struct posix_trace_schema_np *schema,
		    const struct durations *durations)
{
	struct where_event asked;
	enum where_answer answer;

	/*
	 * choose_event() tests the process, the thread and the time. These tests cost less than the
	 * expression of --where, so they precede it.
	 */
	if (!choose_event(&wanted->choose, event))
		return false;
	if (!wanted->where)
		return true;
	asked = (struct where_event){
		.name = name, .name_len = strlen(name),
		.id = event->info.posix_event_id,
		.pid = event->info.posix_pid, .tid = event->tid,
		.thread = (uint64_t)event->info.posix_thread_id,
		.time_ns = event->time_ns,
		.address = (uintptr_t)event->info.posix_prog_address,
		.schema = schema,
		.data = event->data, .data_len = event->data_len,
		.has_duration = durations->on && durations->has, .duration_ns = durations->ns,
	};
	/*
	 * An event that begins a span has no duration yet, so the answer may be unknown. Such an
	 * event is chosen if the caller can discard it later (keeps_begins).
	 */
	answer = where_match(wanted->where, &asked);
	return answer == WHERE_YES || (answer == WHERE_UNKNOWN && durations->on &&
				       durations->keeps_begins && durations->is_begin);
}
