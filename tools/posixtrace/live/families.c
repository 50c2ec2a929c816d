/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * families.c - compares the patterns of --event and --exclude with the families of the preload
 * library. The library's own file decides which families a list chooses.
 */
#include "../../../lib/preload/types.h"
#include "../../../lib/preload/choose.h"

#include "live/families.h"

#include <fnmatch.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/text.h"
#include "live/preload.h"
#include "live/untraced.h"
#include "log/preload_types.h"

#include "../../../lib/preload/choose.c"

/*
 * Returns whether a pattern is for types of the recorder, such as posixtrace_ended. The commands
 * add such patterns themselves.
 */
static bool is_own(const char *glob)
{
	return !strncmp(glob, "posixtrace_", 11) || !strncmp(glob, "crash.", 6) ||
	       !strcmp(glob, UNTRACED_EVENT);
}

const char *families_word(unsigned family)
{
	size_t i = 0;

	while (!(names[i].bits >> family & 1))
		i++;
	return names[i].name;
}

/* Returns a bit for each family that has a type whose name matches. */
static unsigned families_of(const char *glob)
{
	unsigned bits = 0;

	for (int type = 0; type < SHIM_TYPE_COUNT; type++)
		if (!fnmatch(glob, shim_name_of((enum shim_type)type), 0))
			bits |= 1u << shim_family_of((enum shim_type)type);
	return bits;
}

/*
 * Returns the families that a pattern needs and that are not chosen; 0 if one of its types is of a
 * chosen family. So lock.* does not add lock-hold, which would record many events.
 */
static unsigned missing_families(const char *glob, unsigned chosen)
{
	const unsigned bits = families_of(glob);

	return bits & chosen ? 0 : bits;
}

bool families_add_needed(const char **families, const struct choose *choose)
{
	unsigned missing = 0;

	if (*families)
		return true;
	for (size_t i = 0; i < choose->include.count; i++)
		missing |= missing_families(choose->include.glob[i], shim_families(NULL));
	if (missing && !preload_take_families(families, "default"))
		return false;
	for (unsigned family = 0; family < FAMILY_COUNT; family++)
		if (missing >> family & 1 &&
		    !preload_take_families(families, families_word(family)))
			return false;
	return true;
}

unsigned families_left_out(const struct logfile *log)
{
	const unsigned always = 1u << FAMILY_SHIM;
	unsigned listed = 0;

	for (size_t i = 0; i < log->types; i++)
		for (int type = 0; type < SHIM_TYPE_COUNT; type++)
			if (!strcmp(log->list[i]->name, shim_name_of((enum shim_type)type)))
				listed |= 1u << shim_family_of((enum shim_type)type);
	listed &= ~always;
	return listed ? shim_families(NULL) & ~always & ~listed : 0;
}

/*
 * Returns whether a type of the log matches. The recorder registers a pattern without wildcards as
 * a type, so such a type counts only if it has events.
 */
static bool is_recorded(const struct logfile *log, const char *glob)
{
	struct posix_trace_ledger_np ledger;

	for (size_t i = 0; i < log->types; i++)
		if (!fnmatch(glob, log->list[i]->name, 0) &&
		    (strcmp(glob, log->list[i]->name) ||
		     (!posix_trace_get_ledger_type_np(log->trid, log->list[i]->id, &ledger) &&
		      ledger.called)))
			return true;
	return false;
}

/* Finds the name that a pattern probably means, among the types of the library and of the log. */
static void find_nearest(struct nearest *nearest, const struct logfile *log, const char *glob)
{
	nearest_begin(nearest, glob);
	for (const char *const *name = preload_types; *name; name++)
		nearest_offer(nearest, *name);
	for (size_t i = 0; i < log->types; i++)
		if (strcmp(glob, log->list[i]->name))
			nearest_offer(nearest, log->list[i]->name);
}

/*
 * Prints why a pattern of --event matched no event. Prints nothing if the calls were traced, but
 * the program made none.
 */
static void say_include(const struct logfile *log, const char *glob, unsigned chosen)
{
	const unsigned missing = missing_families(glob, chosen);
	struct nearest nearest;

	if (is_own(glob) || is_recorded(log, glob))
		return;
	if (missing) {
		say("-e %s: these calls were not traced; add %s to --trace", text_given(glob),
		    families_word((unsigned)__builtin_ctz(missing)));
		return;
	}
	if (families_of(glob))
		return;
	find_nearest(&nearest, log, glob);
	say("-e %s: no event of such a type was recorded%s", text_given(glob),
	    nearest_hint(&nearest));
}

/*
 * Prints a pattern of --exclude that is probably mistyped. An excluded type of the program has no
 * events, so a pattern is wrong only if another name is near.
 */
static void say_exclude(const struct logfile *log, const char *glob)
{
	struct nearest nearest;

	if (families_of(glob) || is_recorded(log, glob))
		return;
	/*
	 * A pattern without a dot may be a type of the program whose name is near to the last part
	 * of a name of the library.
	 */
	find_nearest(&nearest, log, glob);
	if (nearest.name && strchr(glob, '.'))
		say("-x %s: no event type has this name%s", text_given(glob),
		    nearest_hint(&nearest));
}

void families_say_unmatched(const char *families, const struct choose *choose,
			    const struct logfile *log)
{
	const unsigned chosen = shim_families(families);

	for (size_t i = 0; i < choose->include.count; i++)
		say_include(log, choose->include.glob[i], chosen);
	for (size_t i = 0; i < choose->exclude.count; i++)
		say_exclude(log, choose->exclude.glob[i]);
}
