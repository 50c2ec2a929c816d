/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choose.c - the choice of events by names, processes, threads and times. The lists are short, so
 * the functions search them from the beginning to the end.
 */
#include "choose/choose.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"
#include "log/logfile.h"

void choose_init(struct choose *choose)
{
	/* Without bounds, events of all times are chosen. */
	*choose = (struct choose){ .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
}

/* The patterns are not freed, because they are arguments of the command line. */
void choose_fini(struct choose *choose)
{
	free(choose->include.glob);
	free(choose->exclude.glob);
	free(choose->pid.number);
	free(choose->tid.number);
}

bool choose_add_name(struct choose_names *names, const char *glob)
{
	const char **more;

	if (!vec_grow(&names->glob, names->count, 1))
		return false;
	more = names->glob;
	more[names->count++] = glob;
	return true;
}

bool choose_add_number(struct choose_numbers *numbers, const char *text)
{
	char *end;
	long value;
	pid_t *more;

	/*
	 * Only numbers that can be the id of a process or thread are accepted. 0 is accepted, too,
	 * because events of imported logs may have the id 0.
	 */
	errno = 0;
	/*
	 * An id fits into an int. A greater number is refused, because its conversion to pid_t
	 * would produce the id of another process.
	 */
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > INT_MAX)
		return false;
	if (!vec_grow(&numbers->number, numbers->count, 1))
		return false;
	more = numbers->number;
	more[numbers->count++] = (pid_t)value;
	return true;
}

/* Returns true if a pattern of the list matches. */
static bool any_matches(const struct choose_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!fnmatch(names->glob[i], name, 0))
			return true;
	return false;
}

/* A type is also excluded if its name matches patterns of both -e and -x. */
bool choose_excludes(const struct choose *choose, const char *name)
{
	return any_matches(&choose->exclude, name);
}

bool choose_type(const struct choose *choose, const char *name)
{
	return (!choose->include.count || any_matches(&choose->include, name)) &&
	       !choose_excludes(choose, name);
}

/* Returns true if the list has the number, or if the list is empty, which means any number. */
static bool is_among(const struct choose_numbers *numbers, pid_t number)
{
	for (size_t i = 0; i < numbers->count; i++)
		if (numbers->number[i] == number)
			return true;
	return !numbers->count;
}

bool choose_event(const struct choose *choose, const struct posix_trace_event_np *event)
{
	return event->time_ns >= choose->begin_ns && event->time_ns <= choose->end_ns &&
	       is_among(&choose->pid, event->info.posix_pid) &&
	       is_among(&choose->tid, event->tid);
}

/*
 * Prints each pattern that matches no type of the logs, with the most similar name of a type. The
 * message is only a warning, because the type may occur in other logs of a series.
 */
static void say_unknown(const char *option, const struct choose_names *names,
			const struct logfile *const *log, size_t logs)
{
	for (size_t i = 0; i < names->count; i++) {
		struct nearest nearest;
		bool found = false;

		nearest_begin(&nearest, names->glob[i]);
		for (size_t l = 0; l < logs; l++)
			for (size_t t = 0; t < log[l]->types; t++) {
				found |= !fnmatch(names->glob[i], log[l]->list[t]->name, 0);
				nearest_offer(&nearest, log[l]->list[t]->name);
			}
		/* Other options have lists with commas. Here a comma is a part of the name. */
		if (!found)
			say("%s %s: no event type of %s has this name%s", option,
			    text_given(names->glob[i]),
			    logs == 1 ? log[0]->path : "these logs",
			    strchr(names->glob[i], ',') ? "; repeat the option for each name" :
							  nearest_hint(&nearest));
	}
}

void choose_say_unknown(const struct choose *choose, const struct logfile *const *log, size_t logs)
{
	say_unknown("-e", &choose->include, log, logs);
	say_unknown("-x", &choose->exclude, log, logs);
}
