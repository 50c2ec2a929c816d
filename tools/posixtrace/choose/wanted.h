/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wanted.h - the options by which dump and report choose events, and the choice.
 */
#ifndef POSIXTRACE_CHOOSE_WANTED_H
#define POSIXTRACE_CHOOSE_WANTED_H

#include "choose/bound.h"
#include "choose/choose.h"
#include "choose/durations.h"
#include "choose/where.h"

/*
 * An event whose writer was held up stands after younger ones. So the first event past --end does
 * not end the reading. Logs know where nothing else follows; of other formats, an event this much
 * past it ends it, or a large trace's first second would take as long as all of it.
 */
#define WANTED_LATE_NS INT64_C(1000000000)

struct wanted {
	struct choose choose;   /* its times are those of the log at hand: see wanted_begin() */
	const char *begin_text, *end_text;
	struct bound begin, end;
	struct where *where;    /* NULL: all */
	uint64_t limit;
	size_t tail;            /* 0: none */
	const char *pair[PAIRING_PAIRS]; /* for durations */
	size_t pairs;
	bool asks_duration;     /* something beside the expression does */
	bool pair_given;        /* by the option of dump and report, where it serves nothing else */
};

enum { /* values of the options */
	WANTED_PID = 1024,
	WANTED_TID,
	WANTED_BEGIN,
	WANTED_END,
	WANTED_WHERE,
	WANTED_LIMIT,
	WANTED_TAIL,
	WANTED_PAIR,
	WANTED_LAST
};

/* Of an array of struct option: those that make sense where events are counted, and all. */
#define WANTED_CHOICE_OPTIONS \
	{ "event", required_argument, NULL, 'e' }, \
	{ "exclude", required_argument, NULL, 'x' }, \
	{ "pid", required_argument, NULL, WANTED_PID }, \
	{ "tid", required_argument, NULL, WANTED_TID }, \
	{ "begin", required_argument, NULL, WANTED_BEGIN }, \
	{ "end", required_argument, NULL, WANTED_END }, \
	{ "where", required_argument, NULL, WANTED_WHERE }

#define WANTED_OPTIONS \
	WANTED_CHOICE_OPTIONS, \
	{ "limit", required_argument, NULL, WANTED_LIMIT }, \
	{ "tail", required_argument, NULL, WANTED_TAIL }, \
	{ "pair", required_argument, NULL, WANTED_PAIR }

#define WANTED_CHOICE_HELP \
	"  -e, --event GLOB     only event types whose name matches; may be repeated\n" \
	"  -x, --exclude GLOB   no event types whose name matches; may be repeated\n" \
	"      --pid N          only this process; may be repeated\n" \
	"      --tid N          only this thread (its Linux number); may be repeated\n" \
	"      --begin TIME     only events not before TIME; uses the log's index\n" \
	"      --end TIME       only events not after TIME\n" \
	"      --where EXPR     only events of which this is true: 'fd == 3 && duration > 1ms'\n"

#define WANTED_HELP \
	WANTED_CHOICE_HELP \
	"      --limit N        at most N events of each log\n" \
	"      --tail N         of those, the last N\n" \
	"      --pair BEGIN,END[,FIELD]...  for durations: these event types, too, are a span\n"

#define WANTED_TIME_HELP \
	"TIME is 2025-02-03T10:15:32.123456789, or less of that from the right; local time, " \
		"or UTC\n" \
	"with --utc or a Z behind it, or with an offset such as +01:00; seconds since 1970; " \
		"10:15 on\n" \
	"the day of the log; +1.5s behind its first event, -200ms before its last one.\n"

void wanted_init(struct wanted *wanted);
void wanted_fini(struct wanted *wanted);

/* Whether the option is one of ours; false for *good: it has been said what is wrong. */
bool wanted_option(struct wanted *wanted, int option, const char *value, bool *good);

/* When all options were seen. utc: a time without a zone is in UTC. False: it has been said. */
bool wanted_ready(struct wanted *wanted, bool utc);

/* For a log that begins and ends at these times. */
void wanted_begin(struct wanted *wanted, int64_t first_ns, int64_t last_ns);

/* No event from this one on is wanted. */
static inline bool wanted_is_past(const struct wanted *wanted, int64_t time_ns)
{
	int64_t last_ns;

	return time_ns > wanted->choose.end_ns &&
	       !__builtin_add_overflow(wanted->choose.end_ns, WANTED_LATE_NS, &last_ns) &&
	       time_ns > last_ns;
}

/* Whether it matters how long what events tell of took. */
static inline bool wanted_asks_duration(const struct wanted *wanted)
{
	return wanted->asks_duration || (wanted->where && where_asks_duration(wanted->where));
}

/* A value of --pair, which the command takes itself. False: it has been said what is wrong. */
bool wanted_pair(struct wanted *wanted, const char *text);

/*
 * Of a type that choose_type() took. address and thread are those of event->info; durations saw it.
 */
bool wanted_event(struct wanted *wanted, const struct posix_trace_event_np *event, const char *name,
		  const struct posix_trace_schema_np *schema, const struct durations *durations);

#endif
