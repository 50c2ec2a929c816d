/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge_clock.c - decides whether the times of events in different logs can be compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/vec.h"
#include "choose/bound.h"
#include "show/merge_part.h"

/*
 * The value is SPAN or NAME=SPAN. bound_parse() parses the span. It expects a plus sign before the
 * span, so the function adds the sign.
 */
bool merge_add_error(struct merge *merge, const char *text)
{
	const char *equals = strrchr(text, '='), *span = equals ? equals + 1 : text;
	bool has_room = vec_grow(&merge->error, merge->errors, 1);
	struct bound bound;
	char signed_span[64];

	snprintf(signed_span, sizeof(signed_span), "+%s", span);
	if (!has_room || strlen(span) > 60 || *span == '+' ||
	    !bound_parse(signed_span, true, &bound)) {
		say("--clock-error %s: %s", text,
		    has_room ? "not a time such as 2ms or 0.5s, or NAME=TIME for one log"
			     : strerror(ENOMEM));
		return false;
	}
	merge->error[merge->errors++] = (struct merge_error){
		.name = equals ? text : NULL, .name_len = equals ? (size_t)(equals - text) : 0,
		.ns = bound.ns,
	};
	return true;
}

/* Returns whether this value of --clock-error is for the host or log with this name. */
static bool is_named(const struct merge_error *error, const char *name)
{
	return strlen(name) == error->name_len && !strncmp(name, error->name, error->name_len);
}

/*
 * A value of --clock-error without a name is for all logs. A value with the name of the log or of
 * its host has precedence. If there are several such values, the last one is used.
 */
int64_t merge_error_of(const struct merge *merge, const struct logfile *log)
{
	int64_t all_ns = MERGE_HOST_NS, named_ns = -1;

	for (size_t i = 0; i < merge->errors; i++) {
		const struct merge_error *error = &merge->error[i];

		if (!error->name)
			all_ns = error->ns;
		else if (is_named(error, log->info.host) || is_named(error, log->path))
			named_ns = error->ns;
	}
	return named_ns >= 0 ? named_ns : all_ns;
}

/* Returns true if --clock-error gave a bound for this log by the name of the log. */
static bool has_own_error(const struct merge *merge, const struct logfile *log)
{
	for (size_t i = 0; i < merge->errors; i++)
		if (merge->error[i].name && is_named(&merge->error[i], log->path))
			return true;
	return false;
}

int64_t merge_bound(const struct merge *merge, const struct merge_source *a,
		    const struct merge_source *b)
{
	/*
	 * If a log has no host name, as an imported log may, its clock counts as a separate clock.
	 */
	bool one_clock = *a->log.info.host && !strcmp(a->log.info.host, b->log.info.host) &&
			 !has_own_error(merge, &a->log) && !has_own_error(merge, &b->log);
	int64_t ns;

	/* Both times come from this clock, and each reading may be wrong by MERGE_CLOCK_NS. */
	if (one_clock)
		return 2 * MERGE_CLOCK_NS;
	return __builtin_add_overflow(a->error_ns, b->error_ns, &ns) ? INT64_MAX : ns;
}

/*
 * Returns whether two times differ by at most bound_ns. If their difference overflows, they are not
 * close.
 */
static bool is_close(int64_t a_ns, int64_t b_ns, int64_t bound_ns)
{
	int64_t apart;

	if (__builtin_sub_overflow(a_ns, b_ns, &apart) || apart == INT64_MIN)
		return false;
	return (apart < 0 ? -apart : apart) <= bound_ns;
}

bool merge_is_unordered(const struct merge *merge, const struct merge_source *source)
{
	int64_t time_ns = source->event.time_ns;

	for (size_t i = 0; i < merge->sources; i++) {
		const struct merge_source *other = &merge->source[i];
		int64_t bound_ns;

		/*
		 * The closest events of the other log are the one that was printed last and the
		 * next one. So the loop compares only these two.
		 */
		if (other == source || (!other->any && !other->has))
			continue;
		bound_ns = merge_bound(merge, source, other);
		if ((other->any && is_close(time_ns, other->last_ns, bound_ns)) ||
		    (other->has && is_close(time_ns, other->event.time_ns, bound_ns)))
			return true;
	}
	return false;
}

/* Prints a name of --clock-error that no log and no host has, since it is probably mistyped. */
static void say_unknown_name(const struct merge *merge, const struct merge_error *error)
{
	char name[NEAREST_BYTES + 1];
	struct nearest nearest;

	snprintf(name, sizeof(name), "%.*s",
		 (int)(error->name_len < NEAREST_BYTES ? error->name_len : NEAREST_BYTES),
		 error->name);
	nearest_begin(&nearest, name);
	for (size_t i = 0; i < merge->sources; i++) {
		const struct logfile *log = &merge->source[i].log;

		if (is_named(error, log->info.host) || is_named(error, log->path))
			return;
		nearest_offer(&nearest, log->info.host);
		nearest_offer(&nearest, log->path);
	}
	say("--clock-error %s: no log and no host has this name%s", name, nearest_hint(&nearest));
}

/* Prints the bounds before the events, so that the user knows how far the order can be trusted. */
void merge_say_bounds(const struct merge *merge)
{
	for (size_t i = 0; i < merge->errors; i++)
		if (merge->error[i].name)
			say_unknown_name(merge, &merge->error[i]);
	for (size_t i = 0; i < merge->sources; i++) {
		const struct merge_source *source = &merge->source[i];
		int64_t least_ns = INT64_MAX, most_ns = 0;
		char least[WHEN_BYTES], most[WHEN_BYTES];

		for (size_t n = 0; n < merge->sources; n++) {
			int64_t ns = n == i ? -1 : merge_bound(merge, source, &merge->source[n]);

			if (n != i && ns < least_ns)
				least_ns = ns;
			if (n != i && ns > most_ns)
				most_ns = ns;
		}
		if (merge->sources < 2)
			continue;
		when_span_string(least, least_ns);
		when_span_string(most, most_ns);
		say("%s: host %s, clock %s: events less than %s%s%s s from those of other logs "
		    "may be in the wrong order",
		    source->log.path, *source->log.info.host ? source->log.info.host : "unknown",
		    source->log.info.clock, least, least_ns == most_ns ? "" : " to ",
		    least_ns == most_ns ? "" : most);
	}
}
