/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * options.c - the options that the command line gives to a format.
 *
 * The functions that check a value print an error for a wrong value and set the exit status for
 * wrong usage. The format then only has to stop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/when.h"
#include "convert/flow.h"

/*
 * The function returns the last given value, so that a user can override an option in an alias of
 * the shell.
 */
const char *fmt_option(const struct fmt_flow *flow, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < flow->givens; i++)
		if (!strcmp(flow->given[i].name, name))
			value = flow->given[i].value;
	return value;
}

const char *fmt_option_at(const struct fmt_flow *flow, const char *name, size_t index)
{
	for (size_t i = 0; i < flow->givens; i++)
		if (!strcmp(flow->given[i].name, name) && !index--)
			return flow->given[i].value;
	return NULL;
}

bool fmt_option_wrong(struct fmt_flow *flow, const char *name, const char *accepted)
{
	const char *given = fmt_option(flow, name);

	say("--%s %s: must be %s%s", name, given, accepted,
	    nearest_among(given, strlen(given), accepted));
	flow->status = tool_worse(flow->status, TOOL_USAGE);
	return false;
}

bool fmt_option_number(struct fmt_flow *flow, const char *name, uint64_t min, uint64_t max,
		       uint64_t *number)
{
	const char *text = fmt_option(flow, name);
	unsigned long long value;
	char *end;

	if (!text)
		return true;
	errno = 0;
	value = strtoull(text, &end, 0);
	/*
	 * strtoull() accepts a sign and leading space, but here the value must begin with a digit.
	 * Because the base is 0, a number with 0x is hexadecimal, and a number with a leading 0 is
	 * octal.
	 */
	if (errno || *text < '0' || *text > '9' || *end || value < min || value > max) {
		say("--%s %s: not a number from %llu to %llu", name, text, (unsigned long long)min,
		    (unsigned long long)max);
		flow->status = tool_worse(flow->status, TOOL_USAGE);
		return false;
	}
	*number = value;
	return true;
}

bool fmt_option_time(struct fmt_flow *flow, const char *name, int64_t *time_ns)
{
	const char *text = fmt_option(flow, name);

	if (!text || when_parse(text, false, time_ns))
		return true;
	say("--%s %s: not a time", name, text);
	flow->status = tool_worse(flow->status, TOOL_USAGE);
	return false;
}
