/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* capture_plan.c - options that describe a capture. attach and record share them. */
#include "live/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/text.h"
#include "live/rotation.h"

struct policy {
	const char *name;
	int value;
};

/* The names that --policy accepts. log/policy.h has the names that the outputs use. */
static const struct policy stream_policies[] = {
	{ "loop", POSIX_TRACE_LOOP }, { "until-full", POSIX_TRACE_UNTIL_FULL },
	{ "flush", POSIX_TRACE_FLUSH }, { NULL, 0 }
};

/*
 * The names that --log-policy accepts. With append, which is the default, the file grows, so the
 * log is never full.
 */
static const struct policy log_policies[] = {
	{ "append", POSIX_TRACE_APPEND }, { "until-full", POSIX_TRACE_UNTIL_FULL },
	{ "loop", POSIX_TRACE_LOOP }, { NULL, 0 }
};

/* Finds a policy by name. Returns false after it printed an error. */
static bool find_policy(const char *option, const struct policy *policy, const char *name,
			int *value)
{
	char known[64] = "";

	for (const struct policy *at = policy; at->name; at++) {
		if (!strcmp(at->name, name)) {
			*value = at->value;
			return true;
		}
		strcat(strcat(known, at == policy ? "" : at[1].name ? ", " : " and "), at->name);
	}
	say("%s %s: no such policy; there are %s%s", option, text_given(name), known,
	    nearest_among(name, strlen(name), known));
	return false;
}

/*
 * Adds a pattern. Returns false after it printed an error. An empty pattern is refused: it is
 * probably an empty variable of a script, and nothing would be recorded.
 */
static bool add_pattern(struct choose_names *names, const char *glob)
{
	if (!*glob) {
		say("a pattern for event types is empty; * matches all");
		return false;
	}
	if (choose_add_name(names, glob))
		return true;
	say("%s", strerror(ENOMEM));
	return false;
}

/*
 * The function keeps the pointer "glob" and does not copy the text, because "glob" points into
 * argv.
 */
bool capture_take_event(struct capture_plan *plan, const char *glob)
{
	return add_pattern(&plan->choose.include, glob);
}

const struct option_row capture_rows[] = {
	{ "event", 'e', "GLOB",
		"only event types whose name matches; may be repeated; with a ! before the "
		"pattern: only those that do not match",
		OPTION_EVENT, CAPTURE_PATTERNS },
	{ "exclude", 'x', "GLOB",
		"no event types whose name matches; may be repeated",
		OPTION_EVENT, CAPTURE_PATTERNS },
	OPTION_END
};

bool capture_take_exclude(struct capture_plan *plan, const char *glob)
{
	return add_pattern(&plan->choose.exclude, glob);
}

bool capture_take_pattern(struct capture_plan *plan, const char *glob)
{
	return *glob == '!' ? capture_take_exclude(plan, glob + 1) :
			      capture_take_event(plan, glob);
}

bool capture_take_policy(struct capture_plan *plan, const char *name)
{
	return find_policy("--policy", stream_policies, name, &plan->stream_policy);
}

bool capture_take_log_policy(struct capture_plan *plan, const char *name)
{
	return find_policy("--log-policy", log_policies, name, &plan->log_policy);
}

bool capture_level(const char *option, const char *level, int *result)
{
	char *end;
	long number = CAPTURE_COMPRESSION;

	if (level) {
		number = strtol(level, &end, 10);
		if (end == level || *end || !number || number < POSIX_TRACE_COMPRESSION_MIN_NP ||
		    number > POSIX_TRACE_COMPRESSION_MAX_NP) {
			say("%s=%s: levels are 1 to %d, and -1 to %d", option, level,
			    POSIX_TRACE_COMPRESSION_MAX_NP, POSIX_TRACE_COMPRESSION_MIN_NP);
			return false;
		}
	}
	*result = (int)number;
	return true;
}

bool capture_take_compress(struct capture_plan *plan, const char *level)
{
	return capture_level("--compress", level, &plan->compression);
}

/* A --log-size without a policy that uses it is probably a mistake, so it is refused. */
bool capture_is_possible(const struct capture_plan *plan, const char *command)
{
	if (plan->compression && plan->log_policy == POSIX_TRACE_LOOP) {
		say("%s: --compress has no meaning with --log-policy loop: such a log is written "
		    "in place",
		    command);
		return false;
	}
	if (!rotation_is_possible(&plan->rotate, command))
		return false;
	if (!plan->log_size || plan->log_policy != POSIX_TRACE_APPEND)
		return true;
	say("%s: --log-size has no meaning for a log that is never full; see --log-policy",
	    command);
	return false;
}
